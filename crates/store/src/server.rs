//! The state of the PostgreSQL server: its clock, and whether a standby that takes over in a failover has all
//! acknowledged commits.

use domain::time::Timestamp;

use crate::db::{DbError, Tx};

/// A snapshot of the server's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    pub now: Timestamp,
    /// `synchronous_commit` of our sessions.
    pub synchronous_commit: String,
    /// `synchronous_standby_names`.
    pub named: String,
    /// Connected standbys. A base backup, `pg_receivewal` and a logical subscription do not count, since they are never
    /// promoted.
    pub standbys: i64,
    /// Those of them of which we may see whether they are synchronous; the user needs `pg_read_all_stats` for it.
    pub shown: i64,
    /// Those of them for which a commit waits.
    pub synchronous: i64,
}

/// Across workspaces: what the server says now. For PostgreSQL only.
pub fn look(tx: &mut Tx<'_>) -> Result<Server, DbError> {
    let found = tx.one::<(i64, String, String, i64, i64, i64)>(
        "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint), current_setting('synchronous_commit'), \
         current_setting('synchronous_standby_names'), count(r.pid), count(r.sync_state), \
         count(*) filter (where r.sync_state in ('sync', 'quorum')) \
         from (select pid, sync_state from pg_stat_replication where coalesce(state, '') <> 'backup' \
         and coalesce(application_name, '') <> 'pg_receivewal' and not exists (select 1 from pg_replication_slots s \
         where s.active_pid = pg_stat_replication.pid and s.slot_type = 'logical')) r",
        &[],
    )?;
    let (now, synchronous_commit, named, standbys, shown, synchronous) =
        found.ok_or_else(|| DbError::Internal("the server says nothing of itself".into()))?;
    Ok(Server { now: Timestamp(now), synchronous_commit, named, standbys, shown, synchronous })
}
