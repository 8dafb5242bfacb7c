//! The tenant: the workspace, and the mode (live or test) of the API key.

use crate::ids::{Id, Workspace};

/// The workspace that a request or a job acts for. Every store function takes it first.
pub type Tenant = Id<Workspace>;

closed_sets::words! {
    /// The two modes of a workspace (docs/contract/README.md#modes): a key of one mode never sees objects of the other
    /// mode.
    #[derive(PartialOrd, Ord)]
    pub enum Mode {
        /// Real calls, real money; `livemode: true`.
        Live = "live",
        /// Simulated; `livemode: false`.
        Test = "test",
    }
}

impl Mode {
    /// What events and objects show as `livemode`.
    pub fn livemode(self) -> bool {
        self == Mode::Live
    }
}

closed_sets::words! {
    /// What a member of a workspace may do; each role may do what those before it may (docs/contract/members.md#roles).
    #[derive(PartialOrd, Ord)]
    pub enum Role {
        /// Reads, with masked numbers and without sound.
        Viewer = "viewer",
        /// Answers chats and edits agents, flows, campaigns and boards.
        Editor = "editor",
        /// Publishes, launches, and administers keys, endpoints and members.
        Admin = "admin",
        /// Erases people, deletes for good, and makes owners.
        Owner = "owner",
    }
}
