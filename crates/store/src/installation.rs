//! Small facts about the installation as a whole.

use crate::db::{DbError, Tx};
use crate::params;

/// Across workspaces: the fact with this name.
pub fn get(tx: &mut Tx<'_>, name: &str) -> Result<Option<String>, DbError> {
    tx.one("select value from installation where name = ?1", params![name])
}

/// Across workspaces: inserts a setting unless it exists, and returns the stored one.
pub fn get_or_insert(tx: &mut Tx<'_>, name: &str, value: &str) -> Result<String, DbError> {
    tx.exec(
        "insert into installation (name, value) values (?1, ?2) on conflict (name) do nothing",
        params![name, value],
    )?;
    Ok(get(tx, name)?.unwrap_or_else(|| value.to_owned()))
}

/// Across workspaces: writes a fact, whether or not it is there.
pub fn set(tx: &mut Tx<'_>, name: &str, value: &str) -> Result<(), DbError> {
    let sql = "insert into installation (name, value) values (?1, ?2) on conflict (name) do update set value = excluded.value";
    tx.exec(sql, params![name, value]).map(|_| ())
}

/// Across workspaces: the fact with this name, locked until the transaction ends.
pub fn get_for_update(tx: &mut Tx<'_>, name: &str) -> Result<Option<String>, DbError> {
    tx.one("select value from installation where name = ?1 /*pg for update*/", params![name])
}

/// A column with sealed secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedColumn {
    table: &'static str,
    key: &'static str,
    column: &'static str,
    /// What the secrets are bound to, before the row's key.
    pub purpose: &'static str,
}

/// All columns with sealed secrets, which are re-encrypted when the master key is rotated; settings of this table among
/// them.
pub const SEALED: &[SealedColumn] = &[
    SealedColumn { table: "webhook_endpoints", key: "id", column: "secret", purpose: "webhook:" },
    SealedColumn { table: "tools", key: "id", column: "config", purpose: "tool:" },
    SealedColumn { table: "integrations", key: "id", column: "credentials", purpose: "integration:" },
    SealedColumn { table: "integrations", key: "id", column: "token", purpose: "integration-token:" },
    SealedColumn { table: "installation", key: "name", column: "value", purpose: "" },
];

/// Facts of the installation that are sealed, each for its own name.
const SEALED_FACTS: &str = "('demo_workspace')";

impl SealedColumn {
    fn only(self) -> String {
        match self.table {
            "installation" => format!("name in {SEALED_FACTS}"),
            _ => format!("{} <> ''", self.column),
        }
    }

    /// Across workspaces: keys and sealed secrets of rows after this key, in order, at most `limit`.
    pub fn page(self, tx: &mut Tx<'_>, after: &str, limit: i64) -> Result<Vec<(String, String)>, DbError> {
        let Self { table, key, column, .. } = self;
        let sql = format!(
            "select {key}, {column} from {table} where {key} > ?1 and {} order by {key} limit ?2",
            self.only()
        );
        tx.all(&sql, params![after, limit])
    }

    /// Across workspaces: replaces one sealed text.
    pub fn put(self, tx: &mut Tx<'_>, of: &str, sealed: &str) -> Result<(), DbError> {
        let Self { table, key, column, .. } = self;
        tx.later(&format!("update {table} set {column} = ?2 where {key} = ?1"), params![of, sealed])
    }
}
