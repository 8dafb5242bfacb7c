//! How nodes share the channels of trunks and the registration there (docs/contract/telephony.md#nodes). For PostgreSQL
//! only: an embedded store has one node.
//!
//! The channels that are granted to all processes together are never more than the trunk has. A grant is taken from a
//! process that has not been heard of for [`LEASE`], by the clock of the database; the process itself adds no call
//! after that time. The rows of trunks are locked in the order of their names.

use const_format::formatcp;
use domain::time::SECOND;

use crate::db::{DbError, Tx, any_of};
use crate::params;

/// For how long a process keeps its grants without a word, milliseconds: as long as calls are held for a node.
pub const LEASE: i64 = 45 * SECOND;

/// What a process asks of one trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    pub trunk: String,
    /// Its channels, as this node knows them.
    pub channels: i64,
    /// What the process keeps of its grant. It must not use more before it is told what it was given.
    pub held: i64,
    /// What its calls need, those that wait included.
    pub needed: i64,
    /// What it would have in addition, so that the next call need not ask.
    pub spare: i64,
    /// Whether somebody is to register there, and what the node has to say about it.
    pub registrar: Option<RegistrarAsk>,
}

/// What a node says of the registration at a trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrarAsk {
    /// Whether the node takes calls.
    pub takes: bool,
    /// The contact of its registration, if it has one.
    pub contact: Option<String>,
}

/// What a process is given of one trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// How many channels it has now.
    pub channels: i64,
    /// How many of them others would have, or are too many.
    pub asked_back: i64,
    /// Whether other nodes are to look: this one is short, or has given something back.
    pub tell: bool,
    /// Whether this node keeps us registered there, and the contact that it replaces.
    pub registrar: Option<Option<String>>,
}

const NOW: &str = "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";

/// A trunk: its name, its registrar, milliseconds since that was heard of, whether it yields, the contact.
type TrunkRow = (String, Option<String>, Option<i64>, i64, Option<String>);
/// A grant: trunk, process, channels, channels wanted, milliseconds since it was heard of.
type GrantRow = (String, String, i64, i64, i64);

/// Across workspaces: settles what a process has of these trunks, in the order of the asks. `patient`: processes that
/// have not been heard of may be given up, because the store was there for them to say something.
pub fn settle(
    tx: &mut Tx<'_>,
    holder: &str,
    node: &str,
    asks: &[Ask],
    patient: bool,
) -> Result<Vec<Given>, DbError> {
    let trunks = locked(tx, asks)?;
    let mut names = Vec::new();
    let among = any_of(&mut names, asks.iter().map(|ask| ask.trunk.as_str().into()));
    // After the lock, so that it sees what those who held it before have written.
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
        // While others wait for channels, nobody keeps spare ones.
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
        given.push(Given {
            channels,
            asked_back: missed.max(others + channels - ask.channels).max(0),
            tell: wanted > channels || before.is_some_and(|before| before > channels),
            registrar,
        });
    }
    Ok(given)
}

fn locked(tx: &mut Tx<'_>, asks: &[Ask]) -> Result<Vec<TrunkRow>, DbError> {
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

/// Says whether this node keeps us registered, and the contact that it is to replace.
fn registrar(
    tx: &mut Tx<'_>,
    node: &str,
    ask: &RegistrarAsk,
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

/// Across workspaces: gives back everything that a process has, because it ends and has no calls any more.
pub fn release(tx: &mut Tx<'_>, holder: &str, node: &str) -> Result<(), DbError> {
    tx.exec("delete from trunk_grants where holder = ?1", params![holder])?;
    tx.later("update trunks set registrar = null where registrar = ?1", params![node])
}
