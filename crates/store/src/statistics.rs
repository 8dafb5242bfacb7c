//! Planner statistics of PostgreSQL. A table that has grown since its last ANALYZE is planned for as if it were small,
//! and a prepared statement keeps that plan: it may scan a whole board for one row. Autovacuum runs once a minute,
//! which is late for a burst.

use crate::db::{DbError, Store, Tx};

/// Changed rows below which a table is small, whatever the plan.
const FEW: i64 = 500;

/// Across workspaces: tables of which more than half changed since their last ANALYZE. A partitioned table counts no
/// changes of its own: it is stale when its partitions have twice or half as many rows as then.
fn stale(tx: &mut Tx<'_>) -> Result<Vec<String>, DbError> {
    tx.all(
        "select quote_ident(schemaname) || '.' || quote_ident(relname) from pg_stat_user_tables \
         where n_mod_since_analyze >= ?1 and n_mod_since_analyze > n_live_tup / 2 \
         union all select cast(p.oid::regclass as text) from pg_class p join pg_inherits i on i.inhparent = p.oid \
         join pg_class c on c.oid = i.inhrelid where p.relkind = 'p' and c.relkind = 'r' group by p.oid, p.reltuples \
         having greatest(sum(greatest(c.reltuples, 0)), p.reltuples) >= ?1 \
         and (sum(greatest(c.reltuples, 0)) > 2 * greatest(p.reltuples, 0) \
         or sum(greatest(c.reltuples, 0)) < p.reltuples / 2) order by 1",
        crate::params![FEW],
    )
}

/// Runs ANALYZE on stale tables, except those that are being analyzed. PostgreSQL only.
pub async fn refresh(store: &Store) -> Result<(), DbError> {
    for table in store.read(stale).await? {
        store.tx(move |tx| tx.exec(&format!("analyze (skip_locked) {table}"), &[]).map(|_| ())).await?;
    }
    Ok(())
}
