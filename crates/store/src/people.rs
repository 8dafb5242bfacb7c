//! People who sign in. Where they are members, and with which role, is in `members`.

use const_format::formatcp;
use domain::ids::{Id, Person};
use domain::person::InterfaceLanguage;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, Tx};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct PersonRow in "people" as "p" {
        id: Id<Person>,
        /// Address to sign in with, lower case; unique.
        email: String,
        name: String,
        /// Language of the console.
        language: InterfaceLanguage,
        /// Whether the operator's rows may be called in a session.
        operator: bool,
        /// Since when the address is known to be the person's: the operator vouches for it, or it was proven.
        verified_at: Option<Timestamp>,
        created_at: Timestamp,
    }
    insert with { password_hash: Option<&'v str> }
}

const COLUMNS: &str = PersonRow::COLUMNS;

/// Across workspaces: adds a person; `false` when the address is somebody's.
pub fn insert(tx: &mut Tx<'_>, row: &PersonRow, password_hash: Option<&str>) -> Result<bool, DbError> {
    const SQL: &str = formatcp!("{} on conflict (email) do nothing", PersonRow::INSERT);
    Ok(tx.exec(SQL, &row.values(password_hash))? > 0)
}

/// Across workspaces: one person.
pub fn get(tx: &mut Tx<'_>, id: Id<Person>) -> Result<Option<PersonRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from people where id = ?1"), params![id])
}

/// Across workspaces: one person, locked until the transaction ends.
pub fn get_for_update(tx: &mut Tx<'_>, id: Id<Person>) -> Result<Option<PersonRow>, DbError> {
    tx.one(formatcp!("select {COLUMNS} from people where id = ?1 /*pg for no key update*/"), params![id])
}

/// Across workspaces: the person with this address (lower case), and the hash of the password.
pub fn by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<(PersonRow, Option<String>)>, DbError> {
    const SQL: &str = formatcp!("select {COLUMNS}, password_hash from people where email = ?1");
    tx.one(SQL, params![email])
}

/// Across workspaces: the hash of a person's password.
pub fn password_hash(tx: &mut Tx<'_>, id: Id<Person>) -> Result<Option<String>, DbError> {
    let found = tx.one("select password_hash from people where id = ?1", params![id])?;
    Ok(found.flatten())
}

/// Across workspaces: sets a password.
pub fn set_password(tx: &mut Tx<'_>, id: Id<Person>, hash: &str) -> Result<(), DbError> {
    tx.exec("update people set password_hash = ?2 where id = ?1", params![id, hash]).map(|_| ())
}

/// Across workspaces: replaces a hash by one of the same password; not if the password has changed meanwhile.
pub fn rehash(tx: &mut Tx<'_>, id: Id<Person>, old: &str, new: &str) -> Result<(), DbError> {
    let sql = "update people set password_hash = ?3 where id = ?1 and password_hash = ?2";
    tx.exec(sql, params![id, old, new]).map(|_| ())
}

/// Across workspaces: sets the name and the language; the name, in all workspaces of the person.
pub fn set_profile(
    tx: &mut Tx<'_>,
    id: Id<Person>,
    name: &str,
    language: InterfaceLanguage,
) -> Result<(), DbError> {
    tx.exec("update people set name = ?2, language = ?3 where id = ?1", params![id, name, language])?;
    tx.exec("update members set name = ?2 where person = ?1", params![id, name]).map(|_| ())
}

/// Across workspaces: notes that the address is known to be the person's.
pub fn verify(tx: &mut Tx<'_>, id: Id<Person>, now: Timestamp) -> Result<(), DbError> {
    let sql = "update people set verified_at = ?2 where id = ?1 and verified_at is null";
    tx.exec(sql, params![id, now]).map(|_| ())
}

/// Across workspaces: takes a person's password away, its sessions, its memberships and its identities: somebody else may
/// have made them in its name.
pub fn reset(tx: &mut Tx<'_>, id: Id<Person>, now: Timestamp) -> Result<(), DbError> {
    tx.exec("update people set password_hash = null where id = ?1", params![id])?;
    tx.exec("update sessions set ends_at = ?2 where person = ?1 and ends_at > ?2", params![id, now])?;
    tx.exec("update members set removed_at = ?2 where person = ?1 and removed_at is null", params![id, now])?;
    tx.exec("delete from identities where person = ?1", params![id]).map(|_| ())
}

/// Across workspaces: makes a person an operator, or no more.
pub fn set_operator(tx: &mut Tx<'_>, id: Id<Person>, operator: bool) -> Result<(), DbError> {
    tx.exec("update people set operator = ?2 where id = ?1", params![id, operator]).map(|_| ())
}

/// A member that a node of a version before made, without a person.
type Orphan = (String, String, Option<String>, Timestamp);

/// Across workspaces: gives members that have no person one by their address, at most `limit` of them, oldest first; the
/// number of these. The password of the oldest member with that address becomes the person's, if it has none. Served by
/// `members_without_person`.
pub fn adopt(tx: &mut Tx<'_>, limit: i64, mut new_id: impl FnMut() -> Id<Person>) -> Result<usize, DbError> {
    let found: Vec<Orphan> = tx.all(
        "select email, name, password_hash, created_at from members where person is null order by id limit ?1",
        params![limit],
    )?;
    for (email, name, hash, created_at) in &found {
        let row = PersonRow {
            id: new_id(),
            email: email.clone(),
            name: name.clone(),
            language: InterfaceLanguage::English,
            operator: false,
            verified_at: Some(*created_at),
            created_at: *created_at,
        };
        if !insert(tx, &row, hash.as_deref())? && hash.is_some() {
            let sql = "update people set password_hash = ?2 where email = ?1 and password_hash is null";
            tx.exec(sql, params![email, hash.as_deref()])?;
        }
        tx.exec(
            "update members set person = (select id from people where email = ?1), password_hash = null \
             where email = ?1 and person is null",
            params![email],
        )?;
    }
    Ok(found.len())
}
