//! Settings of the store.

use std::path::PathBuf;

use domain::secret::Secret;

use super::error::DbError;
use super::postgres;

/// Which database holds the data.
#[derive(Debug, Clone)]
pub enum Settings {
    /// The embedded store: a file, created when missing.
    Sqlite {
        /// Path of the database file.
        file: PathBuf,
    },
    /// A PostgreSQL database shared by any number of nodes.
    Postgres {
        /// Connection string, `postgres://user:password@host:port/database`.
        url: Secret,
        /// Connections for writes; the pool for reads has as many.
        connections: usize,
        /// Certificates (PEM) to trust beside the well-known ones, for `sslmode=require`.
        ca: Option<PathBuf>,
        /// How this node is notified of commits of other nodes.
        wake: Wake,
        /// Connection string of a standby for [`Store::read_far`].
        replica: Option<Secret>,
    },
}

impl Settings {
    /// Checks what can be checked without opening anything: connection strings, and the file of certificates.
    ///
    /// # Errors
    /// The setting that is wrong, and why.
    pub fn check(&self) -> Result<(), DbError> {
        if let Self::Postgres { url, ca, replica, .. } = self {
            postgres::Server::new("database_url", url, ca.as_deref())?;
            if let Some(replica) = replica {
                postgres::Server::new("database_replica_url", replica, ca.as_deref())?;
            }
        }
        Ok(())
    }
}

/// How a node is notified of commits of other nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wake {
    /// By LISTEN and NOTIFY.
    #[default]
    Listen,
    /// By polling at short intervals.
    Poll,
}
