//! Staged lists of the API: generations of rows with `staged = 3` that grow in pieces, are edited, and become the current
//! list or expire (docs/contract/campaigns.md#staged-lists). The dialler and every count read the current list only.

use const_format::formatcp;
use domain::actor::Actor;
use domain::campaign::{InvalidReason, RowState};
use domain::ids::{Campaign, Id};
use domain::time::Timestamp;

use super::list::{EntryRow, NUMBER_IN_LIST};
use crate::db::row::{row, update};
use crate::db::{DbError, PLANNED_ANEW, TenantTx};
use crate::params;

/// The value of `campaign_lists.staged`.
const OPEN: i64 = 3;

row! {
    /// A staged list.
    #[derive(Debug, Clone)]
    pub struct StagedListRow in "campaign_lists" {
        campaign: Id<Campaign>,
        list: i64,
        length: i64,
        /// Rows that can be dialled.
        valid: i64,
        /// Bytes of its variables.
        bytes: i64,
        /// Pieces that came.
        pieces: i64,
        /// Grows with every piece and every edit.
        version: i64,
        /// Who opened it.
        opened_by: Option<Actor>,
        opened_at: Option<Timestamp>,
        /// When the last piece or edit came.
        touched_at: Timestamp,
    }
    insert with { workspace: Tenant, staged: i64 }
}

const COLUMNS: &str = StagedListRow::COLUMNS;

/// Opens a staged list. The caller has locked the campaign.
pub fn open(tx: &mut TenantTx, row: &StagedListRow) -> Result<(), DbError> {
    tx.later(StagedListRow::INSERT, &row.values(OPEN))
}

/// The staged lists of a campaign, oldest first: a range of the index `campaign_lists_open`.
pub fn of_campaign(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Vec<StagedListRow>, DbError> {
    tx.all(
        formatcp!(
            "select {COLUMNS} from campaign_lists where workspace = ?1 and campaign = ?2 and staged = {OPEN} order by list"
        ),
        params![campaign],
    )
}

/// How many staged lists a workspace has: a range of the index `campaign_lists_open`, or of all lists that are staged now.
pub fn count(tx: &mut TenantTx) -> Result<i64, DbError> {
    let sql = formatcp!("select count(*) from campaign_lists where workspace = ?1 and staged = {OPEN}");
    Ok(tx.one(sql, &[])?.unwrap_or(0))
}

/// One staged list, by the primary key.
pub fn get(tx: &mut TenantTx, campaign: Id<Campaign>, list: i64) -> Result<Option<StagedListRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from campaign_lists where workspace = ?1 and campaign = ?2 and list = ?3 and staged = {OPEN}"
        ),
        params![campaign, list],
    )
}

/// One staged list, locked: neither an erasure nor the job that discards lists changes it until the transaction ends.
pub fn get_for_update(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
) -> Result<Option<StagedListRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from campaign_lists where workspace = ?1 and campaign = ?2 and list = ?3 and staged = {OPEN} /*pg for update*/"
        ),
        params![campaign, list],
    )
}

/// Saves a staged list that the caller has locked.
pub fn save(tx: &mut TenantTx, row: &StagedListRow) -> Result<(), DbError> {
    tx.later(
        "update campaign_lists set length = ?4, valid = ?5, bytes = ?6, pieces = ?7, touched_at = ?8, version = version + 1 \
         where workspace = ?1 and campaign = ?2 and list = ?3",
        params![row.campaign, row.list, row.length, row.valid, row.bytes, row.pieces, row.touched_at],
    )
}

/// Discards a staged list, whose rows are then deleted. Returns whether it was there.
pub fn discard(tx: &mut TenantTx, campaign: Id<Campaign>, list: i64) -> Result<bool, DbError> {
    let sql = formatcp!(
        "update campaign_lists set staged = 0 where workspace = ?1 and campaign = ?2 and list = ?3 and staged = {OPEN}"
    );
    Ok(tx.exec(sql, params![campaign, list])? > 0)
}

/// Discards all staged lists of a campaign.
pub fn discard_all(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<(), DbError> {
    let sql = formatcp!(
        "update campaign_lists set staged = 0 where workspace = ?1 and campaign = ?2 and staged = {OPEN}"
    );
    tx.later(sql, params![campaign])
}

/// Up to `limit` rows of a list after a place in it, in order: a range of the index `campaign_rows_in_order`. Positions have
/// no gaps, so the range is bounded on both sides: without statistics PostgreSQL would else sort the whole list.
pub fn rows_after(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    position: i64,
    limit: i64,
) -> Result<Vec<EntryRow>, DbError> {
    tx.all(
        formatcp!(
            "select {} from campaign_rows where workspace = ?1 and campaign = ?2 and list = ?3 and position > ?4 and position <= ?5 \
             order by position {PLANNED_ANEW}",
            EntryRow::COLUMNS
        ),
        params![campaign, list, position, position.saturating_add(limit)],
    )
}

/// A row of a list by its place: a look-up in the index `campaign_rows_in_order`.
pub fn row_at(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    position: i64,
) -> Result<Option<EntryRow>, DbError> {
    tx.one(
        formatcp!(
            "select {} from campaign_rows where workspace = ?1 and campaign = ?2 and list = ?3 and position = ?4 /*pg for update*/",
            EntryRow::COLUMNS
        ),
        params![campaign, list, position],
    )
}

/// The row of a list that is valid with this number (a keyed hash): a look-up in the index `campaign_row_by_number`.
pub fn valid_with(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    hash: &str,
) -> Result<Option<EntryRow>, DbError> {
    tx.one(
        formatcp!(
            "select {} from campaign_rows where workspace = ?1 and {NUMBER_IN_LIST} and valid = 1 and phone_hash = ?4",
            EntryRow::COLUMNS
        ),
        params![campaign, list, hash],
    )
}

/// The first duplicate with this number (a keyed hash) of a list: a range of the index `campaign_rows_flagged_by_number`. The
/// sum keeps SQLite from reading the list in order instead.
pub fn first_duplicate(
    tx: &mut TenantTx,
    campaign: Id<Campaign>,
    list: i64,
    hash: &str,
) -> Result<Option<EntryRow>, DbError> {
    tx.one(
        formatcp!(
            "select {} from campaign_rows where workspace = ?1 and {NUMBER_IN_LIST} and valid = 0 and phone_hash = ?4 \
             and invalid_reason = '{}' order by position + 0 limit 1",
            EntryRow::COLUMNS,
            DUPLICATE
        ),
        params![campaign, list, hash],
    )
}

/// The word of [`InvalidReason::Duplicate`], for a constant statement; a test compares them.
const DUPLICATE: &str = "duplicate";

/// What an edit gives a row.
#[derive(Debug, Clone)]
pub struct EditedRow {
    pub phone: Option<String>,
    pub phone_hash: Option<String>,
    pub name: Option<String>,
    pub search: Option<String>,
    /// Values of the conversation, a JSON object.
    pub variables: String,
    pub valid: bool,
    pub invalid_reason: Option<InvalidReason>,
}

/// Saves an edited row, whose staged list the caller has locked. It is queued if it is valid.
pub fn save_row(tx: &mut TenantTx, row: &EntryRow, edited: &EditedRow) -> Result<(), DbError> {
    let state = if edited.valid { RowState::Queued } else { RowState::Invalid };
    let (sql, values) = update!(
        "campaign_rows" of tenant set {
            phone: edited.phone.as_deref(),
            phone_hash: edited.phone_hash.as_deref(),
            name: edited.name.as_deref(),
            search: edited.search.as_deref(),
            variables: edited.variables.as_str(),
            valid: edited.valid,
            invalid_reason: edited.invalid_reason,
            state: state,
            look_at: edited.valid.then_some(Timestamp(0)),
        } and "version = version + 1"
        where "id = ?2", row.id
    );
    tx.later(sql, &values)
}

/// Flags a row as valid or as a duplicate; its number stays.
pub fn flag(tx: &mut TenantTx, row: &EntryRow, duplicate: bool) -> Result<(), DbError> {
    let (reason, state, look_at) = match duplicate {
        true => (Some(InvalidReason::Duplicate), RowState::Invalid, None),
        false => (None, RowState::Queued, Some(Timestamp(0))),
    };
    tx.later(
        "update campaign_rows set valid = ?3, invalid_reason = ?4, state = ?5, look_at = ?6, version = version + 1 \
         where workspace = ?1 and id = ?2",
        params![row.id, !duplicate, reason, state, look_at],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_duplicates_is_that_of_the_rules() {
        assert_eq!(DUPLICATE, InvalidReason::Duplicate.as_str());
    }
}
