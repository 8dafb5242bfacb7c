//! Answers that a team keeps to write them again.

use const_format::formatcp;
use domain::actor::Actor;
use domain::ids::{Id, SavedAnswer};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct SavedAnswerRow in "saved_answers" {
        id: Id<SavedAnswer>,
        /// Unique within the workspace.
        shortcut: String,
        text: String as "words",
        /// Who last changed it: a member, a key or the operator.
        changed_by: Actor,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = SavedAnswerRow::COLUMNS;

/// How many answers a workspace keeps; counted in the index `saved_answers_of_workspace`.
pub fn count_saved_answers(tx: &mut TenantTx) -> Result<i64, DbError> {
    Ok(tx.one("select count(*) from saved_answers where workspace = ?1", &[])?.unwrap_or(0))
}

/// Adds an answer; `false` when another one has the shortcut.
pub fn insert_saved_answer(tx: &mut TenantTx, row: &SavedAnswerRow) -> Result<bool, DbError> {
    const SQL: &str = formatcp!("{} on conflict do nothing", SavedAnswerRow::INSERT);
    Ok(tx.exec(SQL, &row.values())? > 0)
}

/// One answer.
pub fn saved_answer(tx: &mut TenantTx, id: Id<SavedAnswer>) -> Result<Option<SavedAnswerRow>, DbError> {
    const SQL: &str = formatcp!("select {COLUMNS} from saved_answers where workspace = ?1 and id = ?2");
    tx.one(SQL, params![id])
}

/// Saves an answer; `false` when another one has the shortcut. The caller has locked the workspace.
pub fn save_saved_answer(tx: &mut TenantTx, row: &SavedAnswerRow) -> Result<bool, DbError> {
    let taken = tx.exists(
        "select 1 from saved_answers where workspace = ?1 and shortcut = ?2 and id <> ?3",
        params![row.shortcut.as_str(), row.id],
    )?;
    if taken {
        return Ok(false);
    }
    tx.later(
        "update saved_answers set shortcut = ?3, words = ?4, changed_by = ?5, updated_at = ?6 where workspace = ?1 and id = ?2",
        params![row.id, row.shortcut.as_str(), row.text.as_str(), row.changed_by, row.updated_at],
    )?;
    Ok(true)
}

/// Answers after `after`, oldest first, from the index `saved_answers_of_workspace`.
pub fn saved_answers(
    tx: &mut TenantTx,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<SavedAnswerRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {COLUMNS} from saved_answers where workspace = ?1 and id > ?2 order by id limit ?3"
    );
    tx.all(SQL, params![after.unwrap_or_default(), limit])
}

/// Deletes an answer; `false` when there is none.
pub fn delete_saved_answer(tx: &mut TenantTx, id: Id<SavedAnswer>) -> Result<bool, DbError> {
    Ok(tx.exec("delete from saved_answers where workspace = ?1 and id = ?2", params![id])? > 0)
}
