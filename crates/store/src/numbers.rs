//! Phone numbers that workspaces own.

use const_format::formatcp;
use domain::ids::{Agent, Id, Number};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::topic::Topic;

use crate::changes;
use crate::db::row::row;
use crate::db::{DbError, TenantTx, Tx, Value};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct NumberRow {
        id: Id<Number>,
        /// E.164.
        number: String,
        /// `active` or `released`.
        status: String,
        /// The agent that answers it.
        inbound_agent: Option<Id<Agent>>,
        /// The carrier that calls from it go out on; `None` for the first one of the settings.
        carrier: Option<String>,
    }
}

const COLUMNS: &str = NumberRow::COLUMNS;

/// Gives a number to a workspace; `false` when another one (or this one) already owns it.
pub fn insert(
    tx: &mut TenantTx,
    id: Id<Number>,
    number: &str,
    carrier: Option<&str>,
    now: Timestamp,
) -> Result<bool, DbError> {
    changes::note(tx, now, None, Topic::Numbers, Some(&id.to_string()))?;
    let added = tx.exec(
        "insert into numbers (workspace, id, number, status, created_at, carrier) values (?1, ?2, ?3, 'active', ?4, ?5) \
         on conflict (number) where status = 'active' do nothing",
        params![id, number, now, carrier],
    )?;
    Ok(added > 0)
}

/// The active numbers of a workspace, the first one first.
pub fn list(tx: &mut TenantTx) -> Result<Vec<NumberRow>, DbError> {
    tx.all(
        formatcp!("select {COLUMNS} from numbers where workspace = ?1 and status = 'active' order by id"),
        &[],
    )
}

/// Across workspaces: the workspace that owns an active number. An incoming call names nothing else.
pub fn owner(tx: &mut Tx<'_>, number: &str) -> Result<Option<(Tenant, NumberRow)>, DbError> {
    let sql = formatcp!("select workspace, {COLUMNS} from numbers where number = ?1 and status = 'active'");
    tx.one(sql, params![number])
}

pub fn get(tx: &mut TenantTx, id: Id<Number>) -> Result<Option<NumberRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from numbers where workspace = ?1 and id = ?2 and status = 'active'"),
        params![id],
    )
}

/// Locks active numbers, which blocks their release until the transaction ends. Returns those that exist.
pub fn lock(tx: &mut TenantTx, numbers: &[String]) -> Result<Vec<String>, DbError> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = Vec::new();
    let list = tx.any_of(&mut values, numbers.iter().map(Value::from));
    tx.all(
        &format!(
            "select number from numbers where workspace = ?1 and status = 'active' and number in {list} order by number /*pg for update*/"
        ),
        &values,
    )
}

/// One active number, locked until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<Number>) -> Result<Option<NumberRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from numbers where workspace = ?1 and id = ?2 and status = 'active' /*pg for update*/"
        ),
        params![id],
    )
}

/// Sets or clears the agent that answers a number.
pub fn set_inbound_agent(
    tx: &mut TenantTx,
    id: Id<Number>,
    agent: Option<Id<Agent>>,
) -> Result<Option<NumberRow>, DbError> {
    tx.one(
        formatcp!("update numbers set inbound_agent = ?3 where workspace = ?1 and id = ?2 and status = 'active' returning {COLUMNS}"),
        params![id, agent])
}

/// Sets the carrier that calls from a number go out on; `None` for the first one. `None` when the workspace does not have
/// the number.
pub fn set_carrier(
    tx: &mut TenantTx,
    id: Id<Number>,
    carrier: Option<&str>,
) -> Result<Option<NumberRow>, DbError> {
    tx.one(
        formatcp!("update numbers set carrier = ?3 where workspace = ?1 and id = ?2 and status = 'active' returning {COLUMNS}"),
        params![id, carrier])
}

/// The carrier that calls from an active number of the workspace go out on; `None` for the first one.
pub fn carrier_of(tx: &mut TenantTx, number: &str) -> Result<Option<String>, DbError> {
    let found = tx.one::<Option<String>>(
        "select carrier from numbers where workspace = ?1 and number = ?2 and status = 'active'",
        params![number],
    )?;
    Ok(found.flatten())
}

/// Across workspaces: the carriers that active numbers name, each with how many numbers do.
pub fn carriers(tx: &mut Tx<'_>) -> Result<Vec<(String, i64)>, DbError> {
    tx.all(
        "select carrier, count(*) from numbers where status = 'active' and carrier is not null group by carrier \
         order by carrier",
        &[],
    )
}

/// Numbers that an agent answers.
pub fn answered_by(tx: &mut TenantTx, agent: Id<Agent>) -> Result<Vec<NumberRow>, DbError> {
    tx.all(
        formatcp!("select {COLUMNS} from numbers where workspace = ?1 and status = 'active' and inbound_agent = ?2 order by id"),
        params![agent])
}

/// Takes a number away from a workspace; `None` when the workspace does not have it.
pub fn release(tx: &mut TenantTx, id: Id<Number>, now: Timestamp) -> Result<Option<NumberRow>, DbError> {
    changes::note(tx, now, None, Topic::Numbers, Some(&id.to_string()))?;
    tx.one(
        formatcp!(
            "update numbers set status = 'released', inbound_agent = null, released_at = ?3 \
             where workspace = ?1 and id = ?2 and status = 'active' returning {COLUMNS}"
        ),
        params![id, now],
    )
}
