//! How nodes share the channels of SIP trunks and the registration there (docs/contract/telephony.md#nodes). PostgreSQL
//! only, since SQLite has one node.
//!
//! The granted channels of all processes never exceed those of the trunk. A process without a renewal for [`LEASE`], by
//! the clock of the database, loses its grant; it adds no call after that time itself. The rows of trunks are locked in
//! the order of their names.

use const_format::formatcp;
use domain::time::SECOND;

use crate::db::{DbError, Tx, any_of};
use crate::params;

/// Lease of grants without a renewal, milliseconds: the same as that of live calls.
pub const LEASE: i64 = 45 * SECOND;

/// The request of a process for channels of one trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareRequest {
    pub trunk: String,
    /// The channels of the trunk, as configured on this node.
    pub channels: i64,
    /// The part of its grant that the process keeps. It must not use more before the response.
    pub held: i64,
    /// Channels that its calls need, with those that wait.
    pub needed: i64,
    /// Additional channels, so that the next call needs no request.
    pub spare: i64,
    /// Whether the trunk needs a registration, and this node's part in it.
    pub registrar: Option<RegistrarRequest>,
}

/// A node's part in the registration at a trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrarRequest {
    /// Whether the node accepts calls.
    pub takes: bool,
    /// The contact of its registration, if it has one.
    pub contact: Option<String>,
}

/// The grant of a process for one trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedShare {
    /// Granted channels.
    pub channels: i64,
    /// How many of them others need, or exceed the trunk's.
    pub asked_back: i64,
    /// Whether to notify other nodes: this one is short, or has returned channels.
    pub tell: bool,
    /// Whether this node is the registrar there, and the contact that it replaces.
    pub registrar: Option<Option<String>>,
}

const NOW: &str = "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";

/// A trunk: name, registrar, milliseconds since the registrar's renewal, whether it yields, contact.
type TrunkRow = (String, Option<String>, Option<i64>, i64, Option<String>);
/// A grant: trunk, process, channels, requested channels, milliseconds since the renewal.
type GrantRow = (String, String, i64, i64, i64);

/// Across workspaces: updates the grants of a process, in the order of its requests. `patient`: expired grants of
/// others are revoked, since the store was available for their renewal.
pub fn settle(
    tx: &mut Tx<'_>,
    holder: &str,
    node: &str,
    asks: &[ShareRequest],
    patient: bool,
) -> Result<Vec<GrantedShare>, DbError> {
    let trunks = locked(tx, asks)?;
    let mut names = Vec::new();
    let among = any_of(&mut names, asks.iter().map(|ask| ask.trunk.as_str().into()));
    // After the lock, to see the writes of its previous holders.
    let grants: Vec<GrantRow> = tx.all(
        &format!(
            "select trunk, holder, channels, wanted, {NOW} - seen_at from trunk_grants where trunk in {among}"
        ),
        &names,
    )?;
    let mut given = Vec::with_capacity(asks.len());
    for ask in asks {
        let of_trunk = grants.iter().filter(|(trunk, ..)| *trunk == ask.trunk);
        let (mut others, mut missed, mut before) = (0, 0, None);
        for (_, other, channels, wanted, age) in of_trunk {
            if other == holder {
                before = Some(*channels);
            } else if patient && *age > LEASE {
                tracing::warn!(trunk = %ask.trunk, process = %other, channels, "the channels of a process that is gone are free");
                tx.later(
                    "delete from trunk_grants where trunk = ?1 and holder = ?2",
                    params![ask.trunk.as_str(), other.as_str()],
                )?;
            } else {
                others += channels;
                missed += (wanted - channels).max(0);
            }
        }
        let free = (ask.channels - others - ask.held).max(0);
        // While others wait for channels, no process keeps spare ones.
        let spare = if missed > 0 { 0 } else { ask.spare };
        let channels = ask.held + (ask.needed + spare - ask.held).clamp(0, free);
        let wanted = channels.max(ask.needed);
        const GRANT: &str = formatcp!(
            "insert into trunk_grants (trunk, holder, node, channels, wanted, seen_at) values (?1, ?2, ?3, ?4, ?5, {NOW}) \
             on conflict (trunk, holder) do update set channels = excluded.channels, wanted = excluded.wanted, seen_at = excluded.seen_at"
        );
        tx.later(GRANT, params![ask.trunk.as_str(), holder, node, channels, wanted])?;
        let registrar = match (&ask.registrar, trunks.iter().find(|(name, ..)| *name == ask.trunk)) {
            (Some(asked), Some(row)) => registrar(tx, node, asked, row, patient)?,
            _ => None,
        };
        given.push(GrantedShare {
            channels,
            asked_back: missed.max(others + channels - ask.channels).max(0),
            tell: wanted > channels || before.is_some_and(|before| before > channels),
            registrar,
        });
    }
    Ok(given)
}

fn locked(tx: &mut Tx<'_>, asks: &[ShareRequest]) -> Result<Vec<TrunkRow>, DbError> {
    let mut names = Vec::new();
    let among = any_of(&mut names, asks.iter().map(|ask| ask.trunk.as_str().into()));
    let sql = format!(
        "select name, registrar, {NOW} - registrar_at, yields, contact from trunks where name in {among} order by name for update"
    );
    let found: Vec<TrunkRow> = tx.all(&sql, &names)?;
    if found.len() == asks.len() {
        return Ok(found);
    }
    let mut sorted: Vec<&str> = asks.iter().map(|ask| ask.trunk.as_str()).collect();
    sorted.sort_unstable();
    for name in sorted {
        tx.exec(
            "insert into trunks (name, yields) values (?1, 0) on conflict (name) do nothing",
            params![name],
        )?;
    }
    tx.all(&sql, &names)
}

/// Returns whether this node is the registrar, and the contact that it replaces.
fn registrar(
    tx: &mut Tx<'_>,
    node: &str,
    ask: &RegistrarRequest,
    (trunk, registrar, age, yields, contact): &TrunkRow,
    patient: bool,
) -> Result<Option<Option<String>>, DbError> {
    let ours = registrar.as_deref() == Some(node);
    let gone = registrar.is_none() || (patient && age.is_none_or(|age| age > LEASE));
    if !ours && !(ask.takes && (gone || *yields == 1)) {
        return Ok(None);
    }
    if !ours {
        tracing::info!(%trunk, before = registrar.as_deref(), "this node registers at a trunk from now on");
    }
    // Until this node has a contact, the next registrar replaces the one before.
    let (known, replaces) = match &ask.contact {
        Some(own) => (Some(own), contact.as_ref().filter(|known| *known != own && !ours)),
        None => (contact.as_ref(), contact.as_ref()),
    };
    const KEEP: &str = formatcp!(
        "update trunks set registrar = ?2, registrar_at = {NOW}, yields = ?3, contact = ?4 where name = ?1"
    );
    tx.later(KEEP, params![trunk.as_str(), node, i64::from(!ask.takes), known.map(String::as_str)])?;
    Ok(Some(replaces.cloned()))
}

/// Across workspaces: releases all grants of a process that ends without calls.
pub fn release(tx: &mut Tx<'_>, holder: &str, node: &str) -> Result<(), DbError> {
    tx.exec("delete from trunk_grants where holder = ?1", params![holder])?;
    tx.later("update trunks set registrar = null where registrar = ?1", params![node])
}
