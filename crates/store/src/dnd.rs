//! The platform's do-not-call registry: the newest finished import, and numbers that the operator adds one by one. An
//! import fills a generation of its own, which is activated by one update of `dnd_state`.

use domain::phone::Phone;
use domain::time::Timestamp;

use crate::db::{DbError, Tx, Value, any_of};
use crate::params;

/// Numbers in one statement of an import.
const ROWS: usize = 500;
/// The operator's own additions.
const BY_HAND: i64 = 0;

/// The twelve digits of an E.164 text as the number that is stored; texts that are none are in no registry.
fn digits(phone: &str) -> i64 {
    phone.strip_prefix('+').and_then(|digits| digits.parse().ok()).unwrap_or(-1)
}

/// Across workspaces: adds a number; `false` when it is already there.
pub fn add(tx: &mut Tx<'_>, phone: &str) -> Result<bool, DbError> {
    if contains(tx, phone)? {
        return Ok(false);
    }
    let added = tx.exec(
        "insert into dnd_registry (generation, phone) values (?1, ?2) on conflict do nothing",
        params![BY_HAND, digits(phone)],
    )?;
    Ok(added > 0)
}

/// Across workspaces: removes a number; `false` if it was not there.
pub fn remove(tx: &mut Tx<'_>, phone: &str) -> Result<bool, DbError> {
    let removed = tx.exec(
        "delete from dnd_registry where phone = ?1 and generation in (0, (select current from dnd_state where id = 1))",
        params![digits(phone)],
    )?;
    Ok(removed > 0)
}

/// Across workspaces: whether a number is on the registry: two key lookups, for any length.
pub fn contains(tx: &mut Tx<'_>, phone: &str) -> Result<bool, DbError> {
    Ok(contains_each(tx, &[phone])?.contains(&true))
}

/// Across workspaces: whether each of these numbers is on the registry, in their order.
pub fn contains_each(tx: &mut Tx<'_>, phones: &[impl AsRef<str>]) -> Result<Vec<bool>, DbError> {
    let numbers: Vec<i64> = phones.iter().map(|phone| digits(phone.as_ref())).collect();
    let mut params = Vec::new();
    let list = any_of(&mut params, numbers.iter().copied().map(Value::from));
    let sql = format!(
        "select phone from dnd_registry where generation in (0, (select current from dnd_state where id = 1)) and phone in {list}"
    );
    let found: Vec<i64> = tx.all(&sql, &params)?;
    Ok(numbers.iter().map(|number| found.contains(number)).collect())
}

/// Across workspaces: starts an import and returns its number; `None` while another one was active after
/// `stale`.
pub fn start_import(tx: &mut Tx<'_>, now: Timestamp, stale: Timestamp) -> Result<Option<i64>, DbError> {
    tx.one(
        "update dnd_state set newest = newest + 1, importing = newest + 1, touched_at = ?1 \
         where id = 1 and (importing is null or touched_at < ?2) returning importing",
        params![now, stale],
    )
}

/// Across workspaces: adds numbers to an import and returns how many were new in it; `None` when it is not
/// the import under way.
pub fn import(
    tx: &mut Tx<'_>,
    import: i64,
    phones: &[Phone],
    now: Timestamp,
) -> Result<Option<u64>, DbError> {
    if tx
        .exec("update dnd_state set touched_at = ?2 where id = 1 and importing = ?1", params![import, now])?
        == 0
    {
        return Ok(None);
    }
    let mut added = 0;
    for chunk in phones.chunks(ROWS) {
        let mut sql = String::from("insert into dnd_registry (generation, phone) values ");
        let mut values = vec![Value::Int(import)];
        for (place, phone) in chunk.iter().enumerate() {
            sql.push_str(if place == 0 { "" } else { ", " });
            sql.push_str(&format!("(?1, ?{})", place + 2));
            values.push(Value::Int(phone.as_u64() as i64));
        }
        sql.push_str(" on conflict do nothing");
        added += tx.exec(&sql, &values)?;
    }
    Ok(Some(added))
}

/// Across workspaces: puts an import in force; `false` when it is not the import under way.
pub fn finish_import(tx: &mut Tx<'_>, import: i64) -> Result<bool, DbError> {
    let switched =
        tx.exec("update dnd_state set current = importing, importing = null, touched_at = null where id = 1 and importing = ?1", params![import])?;
    Ok(switched > 0)
}

/// Across workspaces: abandons an import; `false` when it is not the import under way.
pub fn cancel_import(tx: &mut Tx<'_>, import: i64) -> Result<bool, DbError> {
    Ok(tx.exec(
        "update dnd_state set importing = null, touched_at = null where id = 1 and importing = ?1",
        params![import],
    )? > 0)
}

/// Across workspaces: drops up to `limit` numbers of imports that are neither in force nor under way, and
/// returns how many.
pub fn sweep(tx: &mut Tx<'_>, limit: i64) -> Result<u64, DbError> {
    let (current, importing) = tx
        .one::<(i64, Option<i64>)>("select current, importing from dnd_state where id = 1", &[])?
        .ok_or_else(|| DbError::Internal("dnd_state is empty".into()))?;
    // Generations are few: step from one to the next by key.
    let mut generation = BY_HAND;
    loop {
        let next = tx
            .one("select min(generation) from dnd_registry where generation > ?1", params![generation])?
            .flatten();
        match next {
            None => return Ok(0),
            Some(kept) if kept == current || Some(kept) == importing => generation = kept,
            Some(old) => {
                return tx.exec(
                    "delete from dnd_registry where generation = ?1 and phone in (select phone from dnd_registry where generation = ?1 order by phone limit ?2)",
                    params![old, limit],
                );
            }
        }
    }
}
