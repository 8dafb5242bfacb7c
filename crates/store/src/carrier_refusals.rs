//! Consecutive refusals of carriers, counted over all nodes (docs/contract/nudges.md#when-it-is-due): one row for each
//! carrier that has ever refused. An accepted call writes only if there is a count to reset.

use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, Tx};
use crate::params;

row! {
    /// What a carrier has refused.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RefusalsRow in "carrier_refusals" {
        carrier: String,
        /// Refusals since it last took a call.
        in_a_row: i64,
        /// Until when it is left alone; once that is over, it waits for the outcome of the next dial.
        paused_until: Option<Timestamp>,
        /// The node that may probe it after the pause.
        prober: Option<String>,
        probe_until: Option<Timestamp>,
    }
}

const COLUMNS: &str = RefusalsRow::COLUMNS;

/// Across workspaces: what a carrier has refused.
pub fn get(tx: &mut Tx<'_>, carrier: &str) -> Result<Option<RefusalsRow>, DbError> {
    tx.one(
        const_format::formatcp!("select {COLUMNS} from carrier_refusals where carrier = ?1"),
        params![carrier],
    )
}

/// Across workspaces: what every carrier has refused; a row for each carrier that ever refused a call.
pub fn all(tx: &mut Tx<'_>) -> Result<Vec<RefusalsRow>, DbError> {
    tx.all(const_format::formatcp!("select {COLUMNS} from carrier_refusals order by carrier"), &[])
}

/// Across workspaces: counts a refusal. From `most` consecutive ones on the carrier is not used until a timestamp.
pub fn refused(
    tx: &mut Tx<'_>,
    carrier: &str,
    most: i64,
    until: Timestamp,
) -> Result<Option<RefusalsRow>, DbError> {
    const SQL: &str = const_format::formatcp!(
        "insert into carrier_refusals (carrier, in_a_row) values (?1, 1) on conflict (carrier) do update set \
         in_a_row = carrier_refusals.in_a_row + 1, prober = null, probe_until = null, \
         paused_until = case when carrier_refusals.in_a_row + 1 >= cast(?2 as bigint) then cast(?3 as bigint) end \
         returning {COLUMNS}"
    );
    tx.one(SQL, params![carrier, most, until])
}

/// Across workspaces: the carrier has taken a call. Whether there was something to reset.
pub fn took(tx: &mut Tx<'_>, carrier: &str) -> Result<bool, DbError> {
    let reset = tx.exec(
        "update carrier_refusals set in_a_row = 0, paused_until = null, prober = null, probe_until = null \
         where carrier = ?1 and in_a_row > 0",
        params![carrier],
    )?;
    Ok(reset > 0)
}

/// Across workspaces: lets one node probe the carrier after the pause, until `until`. Returns whether this node is it.
pub fn probe(
    tx: &mut Tx<'_>,
    carrier: &str,
    node: &str,
    now: Timestamp,
    until: Timestamp,
) -> Result<bool, DbError> {
    let claimed = tx.exec(
        "update carrier_refusals set prober = ?2, probe_until = ?4 where carrier = ?1 and paused_until <= ?3 \
         and (probe_until is null or probe_until <= ?3)",
        params![carrier, node, now, until],
    )?;
    Ok(claimed > 0)
}
