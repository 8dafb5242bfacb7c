//! Claims on due rows: on PostgreSQL a node claims a batch for a while, so that other nodes take other rows. A claim is
//! advisory and only avoids duplicate work: the row is locked when it is worked. Saving a row ends its claim.

use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::Value;
use crate::db::row::FromRow;
use crate::db::{DbError, TenantTx, Tx, any_of};
use crate::params;

/// A table with claims on its due rows; it has the columns `workspace` and `claimed_until`.
pub(crate) struct Claimed {
    pub table: &'static str,
    /// The column that says when a row is due; null when it is not.
    pub due: &'static str,
    /// The columns of its key, as they are returned and ordered; `workspace` is the first.
    pub key: &'static str,
}

impl Claimed {
    /// Across workspaces: keys of up to `limit` due rows without a claim, longest due first, except those of the
    /// workspaces in `without`. On PostgreSQL they are locked until the transaction ends, and locked ones are skipped.
    pub fn due<T: FromRow>(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        without: &[Tenant],
        limit: i64,
    ) -> Result<Vec<T>, DbError> {
        let Self { table, due, key } = self;
        let mut values = vec![now.into(), limit.into()];
        let others = if without.is_empty() {
            String::new()
        } else {
            let list = any_of(&mut values, without.iter().map(|tenant| (*tenant).into()));
            format!("and workspace not in {list}")
        };
        let sql = format!(
            "select {key} from {table} where {due} is not null and {due} <= ?1 and (claimed_until is null or claimed_until <= ?1) {others} \
             order by {due}, {key} limit ?2 /*pg for update skip locked*/"
        );
        tx.all(&sql, &values)
    }

    /// Claims a row until `until`; `key` is the rest of its key after the workspace. Does nothing on SQLite, which has
    /// one node.
    pub fn claim(&self, tx: &mut TenantTx, key: &[Value<'_>], until: Timestamp) -> Result<(), DbError> {
        if !tx.shared() {
            return Ok(());
        }
        let places: Vec<String> = (3..3 + key.len()).map(|place| format!("?{place}")).collect();
        let sql = format!(
            "update {} set claimed_until = ?2 where ({}) = (?1, {})",
            self.table,
            self.key,
            places.join(", ")
        );
        let values: Vec<Value<'_>> = [until.into()].into_iter().chain(key.iter().cloned()).collect();
        tx.later(&sql, &values)
    }

    /// Across workspaces: when the next row without a claim is due; if all due rows are claimed, the end of the first
    /// claim.
    pub fn next_due(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
        let Self { table, due, .. } = self;
        let free: Option<Timestamp> = tx.one(
            &format!(
                "select {due} from {table} where {due} is not null and (claimed_until is null or claimed_until <= ?1) order by {due} limit 1"
            ),
            params![now],
        )?;
        if !tx.shared() || free.is_some_and(|at| at <= now) {
            return Ok(free);
        }
        let claimed = tx.one::<Option<Timestamp>>(
            &format!("select min(claimed_until) from {table} where {due} is not null and {due} <= ?1 and claimed_until > ?1"),
            params![now],
        )?;
        Ok(free.into_iter().chain(claimed.flatten()).min())
    }
}
