//! The tenant: the workspace, and the mode (live or test) of the API key.

use crate::ids::{Id, Workspace};

/// The workspace that a request or a job acts for. Every store function takes it first.
pub type Tenant = Id<Workspace>;

/// The two modes of a workspace (docs/contract/README.md#modes): a key of one mode never sees objects of the other
/// mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Real calls, real money; `livemode: true`.
    Live,
    /// Simulated; `livemode: false`.
    Test,
}

impl Mode {
    pub const ALL: [Mode; 2] = [Mode::Live, Mode::Test];

    /// `live` or `test`, as in keys and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Live => "live",
            Mode::Test => "test",
        }
    }

    /// What events and objects show as `livemode`.
    pub fn livemode(self) -> bool {
        self == Mode::Live
    }

    /// Reads `live` or `test`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "live" => Some(Mode::Live),
            "test" => Some(Mode::Test),
            _ => None,
        }
    }
}
