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
