//! Links that sign a person in once, and who a person is at identity providers. Only keyed hashes of tokens are stored.

use domain::ids::{Id, Person, SignInLink};
use domain::time::Timestamp;

use crate::db::{DbError, Tx};
use crate::params;

/// Across workspaces: adds a link of a person, whose older ones end.
pub fn insert(
    tx: &mut Tx<'_>,
    id: Id<SignInLink>,
    person: Id<Person>,
    hash: &str,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), DbError> {
    tx.exec("delete from sign_in_links where person = ?1", params![person])?;
    let sql =
        "insert into sign_in_links (id, hash, person, created_at, expires_at) values (?1, ?2, ?3, ?4, ?5)";
    tx.exec(sql, params![id, hash, person, now, expires_at]).map(|_| ())
}

/// Across workspaces: uses a link up and returns whose it was. Of two requests with one link, one finds it.
pub fn take(tx: &mut Tx<'_>, hash: &str, now: Timestamp) -> Result<Option<Id<Person>>, DbError> {
    tx.one(
        "delete from sign_in_links where hash = ?1 and expires_at > ?2 returning person",
        params![hash, now],
    )
}

/// Across workspaces: whether there is such a link.
pub fn exists(tx: &mut Tx<'_>, hash: &str, now: Timestamp) -> Result<bool, DbError> {
    tx.exists("select 1 from sign_in_links where hash = ?1 and expires_at > ?2", params![hash, now])
}

/// Across workspaces: ends the links of a person.
pub fn revoke(tx: &mut Tx<'_>, person: Id<Person>) -> Result<(), DbError> {
    tx.exec("delete from sign_in_links where person = ?1", params![person]).map(|_| ())
}

/// Across workspaces: deletes links that are over, at most `limit`; how many. Served by `sign_in_links_by_end`.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<u64, DbError> {
    let sql = "delete from sign_in_links where id in \
               (select id from sign_in_links where expires_at < ?1 order by expires_at limit ?2)";
    tx.exec(sql, params![now, limit])
}

/// Across workspaces: the person with this subject at this issuer.
pub fn identity(tx: &mut Tx<'_>, issuer: &str, subject: &str) -> Result<Option<Id<Person>>, DbError> {
    tx.one("select person from identities where issuer = ?1 and subject = ?2", params![issuer, subject])
}

/// Across workspaces: whether a person has an identity at this issuer already.
pub fn has_identity(tx: &mut Tx<'_>, issuer: &str, person: Id<Person>) -> Result<bool, DbError> {
    tx.exists("select 1 from identities where person = ?1 and issuer = ?2", params![person, issuer])
}

/// Across workspaces: links a subject at an issuer to a person; `false` when somebody has it.
pub fn add_identity(
    tx: &mut Tx<'_>,
    issuer: &str,
    subject: &str,
    person: Id<Person>,
    now: Timestamp,
) -> Result<bool, DbError> {
    let sql = "insert into identities (issuer, subject, person, created_at) values (?1, ?2, ?3, ?4) \
               on conflict (issuer, subject) do nothing";
    Ok(tx.exec(sql, params![issuer, subject, person, now])? > 0)
}
