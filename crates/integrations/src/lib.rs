//! The use cases of connected systems (docs/contract/integrations.md): accounts that the operator connects, streams
//! that are polled, and calls that are written back.
//!
//! | file | holds |
//! |---|---|
//! | `accounts` | connecting, repairing and disconnecting an account |
//! | `passes` | the access token of an account, renewed once for all who need it |
//! | `checks` | polling a stream |
//! | `pushes` | writing calls back to a connected system |
//! | `erasure` | erasure |

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

/// Dependencies of the jobs of this crate.
pub struct ConnectedSystems {
    app: Arc<App>,
    systems: Systems,
    renewals: Renewals,
    /// A spreadsheet is in memory as a whole during a check.
    sheets: Semaphore,
}

/// Concurrent spreadsheets of a node.
const SHEETS: usize = 2;

impl ConnectedSystems {
    /// The connected of a service.
    ///
    /// # Errors
    /// The invalid settings.
    pub fn open(app: &Arc<App>) -> Result<Arc<Self>, String> {
        Ok(Self::with(app, Systems::new(&app.config.integrations)?))
    }

    /// The same with another client.
    pub fn with(app: &Arc<App>, systems: Systems) -> Arc<Self> {
        Arc::new(Self {
            app: app.clone(),
            systems,
            renewals: Renewals::default(),
            sheets: Semaphore::new(SHEETS),
        })
    }
}
