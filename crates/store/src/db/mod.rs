//! The database engine: one interface for SQLite and PostgreSQL.
//!
//! `store.tx(|tx| …).await` runs a synchronous closure in a transaction. On SQLite one writer thread runs many closures
//! in one transaction (group commit), each in a savepoint, and answers after the commit; a very large closure has a
//! transaction of its own, whose writes a second thread pipelines. On PostgreSQL each of a few threads owns a connection
//! and retries a closure after a serialization failure or a deadlock. So a closure has no side effects: those go through
//! [`Tx::after_commit`] and [`Tx::wake`].
//!
//! | files | hold |
//! |---|---|
//! | `error`, `settings`, `metrics`, `commit_effects`, `faults` | what both engines and their callers share |
//! | `value`, `row`, `counters`, `dialect` | parameters, rows, SQL text |
//! | `sqlite::{statement, pipelined_writer}`, `postgres::{tx, add_batch, …}` | statements on one engine |
//! | `tx`, `row_cache`, `tenant` | a transaction on either engine |
//! | `work`, `tx_trace`, `companion` | type-erased closures, their faults and traces, what writes along in them |
//! | `sqlite`, `postgres` | threads and connections that run closures |
//! | `store` | the handle: entry points, dispatch |
//! | `migrate`, `online`, `copies` | the schema, backups |
//!
//! A file uses those of its own row and of the rows above.

mod commit_effects;
mod companion;
mod copies;
mod counters;
mod dialect;
mod error;
mod faults;
mod metrics;
mod migrate;
mod online;
mod postgres;
pub(crate) mod row;
mod row_cache;
mod settings;
mod sqlite;
mod store;
mod tenant;
mod tx;
mod tx_trace;
mod value;
mod work;

pub use commit_effects::{OnWake, WakeSet};
pub use companion::{Companion, accompanied, is_accompanied};
pub use copies::{objects_of_copy, tables_of_copy};
pub use counters::{CampaignCounter, Counter, Fold};
pub(crate) use dialect::PLANNED_ANEW;
pub use error::{DbError, Must};
pub use faults::{CallSite, Fate, Faults, Pause};
pub use metrics::StoreMetrics;
pub use migrate::{Migration, Progress};
pub use postgres::{Probe, ReplicaStatus};
pub use row::{FromRow, Row};
pub use settings::{Settings, Wake};
pub use store::{OfTenant, Store, backup_sqlite, probe};
pub use tenant::TenantTx;
pub use tx::{ROWS, Tx};
pub use tx_trace::{TxReport, TxSpan, TxTracer};
pub(crate) use value::placeholders;
pub use value::{Column, Field, Value, any_of, column_of};
