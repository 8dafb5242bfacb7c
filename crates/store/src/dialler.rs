//! The dialler's check before a round.

use const_format::formatcp;
use domain::time::Timestamp;

use crate::campaigns::due;
use crate::db::{DbError, Tx};
use crate::nudges;

/// What there is for the dialler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outlook {
    /// Whether nudges of revoked keys wait to be cancelled.
    pub revoked: bool,
    /// How many queues have nudges that wait for a line.
    pub queues_without_line: i64,
    /// How many campaigns wait for a line.
    pub campaigns_without_line: i64,
    /// When the next queue or campaign is due.
    pub next_look: Option<Timestamp>,
}

/// Across workspaces: whether there is work for the dialler, with one statement, since most checks find none.
pub fn outlook(tx: &mut Tx<'_>) -> Result<Outlook, DbError> {
    const SQL: &str = formatcp!(
        "select ({}), ({}), ({}), ({}), ({})",
        nudges::REVOKED,
        nudges::WAITING,
        due::WAITING,
        nudges::NEXT_LOOK,
        due::NEXT_LOOK
    );
    let found: Option<(i64, i64, i64, Option<Timestamp>, Option<Timestamp>)> = tx.one(SQL, &[])?;
    let Some((revoked, queues_without_line, campaigns_without_line, of_queues, of_campaigns)) = found else {
        return Ok(Outlook::default());
    };
    let next_look = of_queues.into_iter().chain(of_campaigns).min();
    Ok(Outlook { revoked: revoked > 0, queues_without_line, campaigns_without_line, next_look })
}
