//! Sessions of signed-in people: only a keyed hash of the token is stored.

use const_format::formatcp;
use domain::ids::{Id, Person, Session};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, Tx};
use crate::params;
use crate::people::PersonRow;

row! {
    #[derive(Debug, Clone)]
    pub struct SessionRow in "sessions" as "s" {
        id: Id<Session>,
        person: Id<Person>,
        created_at: Timestamp,
        /// Written at most once a minute.
        last_seen_at: Timestamp,
        /// The earlier of the idle and the absolute end; the moment of a revocation.
        ends_at: Timestamp,
        /// From where it was begun.
        address: String,
        /// What the browser calls itself.
        user_agent: String,
    }
    insert with { hash: &'v str }
}

/// Across workspaces: adds a session.
pub fn insert(tx: &mut Tx<'_>, row: &SessionRow, hash: &str) -> Result<(), DbError> {
    tx.exec(SessionRow::INSERT, &row.values(hash)).map(|_| ())
}

/// Across workspaces: the session with this hash and its person, whether or not it has ended. The secret that was hashed
/// is the proof.
pub fn by_hash(tx: &mut Tx<'_>, hash: &str) -> Result<Option<(SessionRow, PersonRow)>, DbError> {
    const SQL: &str = formatcp!(
        "select {}, {} from sessions s join people p on p.id = s.person where s.hash = ?1",
        SessionRow::SELECT,
        PersonRow::SELECT
    );
    tx.one(SQL, params![hash])
}

/// Across workspaces: open sessions of a person, newest first. Served by `sessions_of_person`.
pub fn open(tx: &mut Tx<'_>, person: Id<Person>, now: Timestamp) -> Result<Vec<SessionRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from sessions where person = ?1 and ends_at > ?2 order by id desc limit 200",
        SessionRow::COLUMNS
    );
    tx.all(SQL, params![person, now])
}

/// Across workspaces: notes a request of a session, and its end. A session that has ended stays so.
pub fn seen(tx: &mut Tx<'_>, id: Id<Session>, now: Timestamp, ends_at: Timestamp) -> Result<(), DbError> {
    let sql = "update sessions set last_seen_at = ?2, ends_at = ?3 where id = ?1 and ends_at > ?2 and last_seen_at < ?2";
    tx.exec(sql, params![id, now, ends_at]).map(|_| ())
}

/// Across workspaces: ends a session of a person; whether it was open.
pub fn revoke(tx: &mut Tx<'_>, person: Id<Person>, id: Id<Session>, now: Timestamp) -> Result<bool, DbError> {
    let sql = "update sessions set ends_at = ?3 where person = ?1 and id = ?2 and ends_at > ?3";
    Ok(tx.exec(sql, params![person, id, now])? > 0)
}

/// Across workspaces: ends all sessions of a person but one; how many.
pub fn revoke_others(
    tx: &mut Tx<'_>,
    person: Id<Person>,
    but: Option<Id<Session>>,
    now: Timestamp,
) -> Result<u64, DbError> {
    let but = but.map(|id| id.to_string()).unwrap_or_default();
    let sql = "update sessions set ends_at = ?3 where person = ?1 and id <> ?2 and ends_at > ?3";
    tx.exec(sql, params![person, but, now])
}

/// Across workspaces: deletes sessions that ended before this, at most `limit`; how many. Served by `sessions_by_end`.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64, DbError> {
    let sql = "delete from sessions where id in (select id from sessions where ends_at < ?1 order by ends_at limit ?2)";
    tx.exec(sql, params![before, limit])
}

/// Across workspaces: deletes all sessions, sign-in links and invitations: after a restore, those that were revoked since the
/// backup was made would open again.
pub fn delete_all(tx: &mut Tx<'_>) -> Result<(), DbError> {
    tx.exec("delete from sessions", &[])?;
    tx.exec("delete from sign_in_links", &[])?;
    tx.exec("delete from invitations", &[]).map(|_| ())
}
