//! Inspects backup files of SQLite without opening them as a store.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};

use super::error::DbError;
use super::sqlite::statement::classify;
use crate::kept_objects::{KeptNoun, KeptObject};

fn open(file: &Path) -> Result<Connection, DbError> {
    Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(classify)
}

/// Counts the rows of each table of a backup, which is checked for corruption.
///
/// # Errors
/// If it is no database, or corrupt.
pub fn tables_of_copy(file: &Path) -> Result<BTreeMap<String, i64>, DbError> {
    let copy = open(file)?;
    let verdict: String = copy.query_row("pragma quick_check(1)", [], |row| row.get(0)).map_err(classify)?;
    if verdict != "ok" {
        return Err(DbError::Internal(format!("the copy of the store is damaged: {verdict}")));
    }
    let names =
        "select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'";
    let mut names = copy.prepare(names).map_err(classify)?;
    let names = names.query_map([], |row| row.get::<_, String>(0)).map_err(classify)?;
    let mut tables = BTreeMap::new();
    for name in names {
        let name = name.map_err(classify)?;
        let count = format!("select count(*) from \"{}\"", name.replace('"', "\"\""));
        let rows: i64 = copy.query_row(&count, [], |row| row.get(0)).map_err(classify)?;
        tables.insert(name, rows);
    }
    Ok(tables)
}

/// Calls `each` with every object in the bucket that a backup references.
///
/// # Errors
/// If it is no store, or corrupt.
pub fn objects_of_copy(file: &Path, mut each: impl FnMut(KeptObject)) -> Result<(), DbError> {
    let copy = open(file)?;
    for noun in KeptNoun::ALL {
        let mut objects = copy.prepare(noun.page_sql()).map_err(classify)?;
        let objects = objects.query_map(params!["", 0, i64::MAX], |row| {
            Ok(KeptObject { noun, name: row.get(0)?, bytes: row.get(1)? })
        });
        for object in objects.map_err(classify)? {
            each(object.map_err(classify)?);
        }
    }
    Ok(())
}
