//! The use cases of connected systems (docs/contract/integrations.md): accounts that the operator connects,
//! streams that are read from them, and calls that are written back.
//!
//! | file | holds |
//! |---|---|
//! | `accounts` | connecting, mending and disconnecting an account |
//! | `passes` | the access token of an account, and renewing it once for all who need it |
//! | `checks` | a check of a stream: what is asked, what is taken, and when it is looked at again |
//! | `pushes` | what is owed to a connected system after a call |
//! | `erasure` | what is forgotten with a person |

pub mod accounts;
pub mod checks;
pub mod erasure;
mod passes;
pub mod pushes;

use std::sync::Arc;

use app::App;
use providers::connectors::Systems;

use tokio::sync::Semaphore;

use passes::Renewals;

/// What the jobs of this crate work with.
pub struct Desk {
    app: Arc<App>,
    systems: Systems,
    renewals: Renewals,
    /// A spreadsheet is in memory as a whole while it is checked.
    sheets: Semaphore,
}

/// Spreadsheets that a node has in memory.
const SHEETS: usize = 2;

impl Desk {
    /// The desk of a service.
    ///
    /// # Errors
    /// What the settings have wrong.
    pub fn open(app: &Arc<App>) -> Result<Arc<Self>, String> {
        Ok(Self::with(app, Systems::new(&app.config.integrations)?))
    }

    /// The same with these systems.
    pub fn with(app: &Arc<App>, systems: Systems) -> Arc<Self> {
        Arc::new(Self {
            app: app.clone(),
            systems,
            renewals: Renewals::default(),
            sheets: Semaphore::new(SHEETS),
        })
    }
}
