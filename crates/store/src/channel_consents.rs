//! What people allow on the messaging channel, by keyed hash of their number or of their id there, so that it
//! outlives an erasure.

use const_format::formatcp;
use domain::ids::{Consent, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, TenantTx};
use crate::params;

row! {
    /// What a person allows.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct ConsentRow in "channel_consents" {
        /// No messages since then.
        stopped_at: Option<Timestamp>,
        /// Who said so: `chatapp`, or `provider`.
        stop_source: Option<String>,
        /// No marketing since then.
        marketing_stopped_at: Option<Timestamp>,
        /// When marketing was allowed.
        opted_in_at: Option<Timestamp>,
        opt_in_source: Option<String>,
        /// The proof of it.
        opt_in_consent: Option<Id<Consent>>,
        /// When a STOP was confirmed.
        confirmed_at: Option<Timestamp>,
        /// When the person was erased and has not written since.
        erased_at: Option<Timestamp>,
    }
    insert with { workspace: Tenant, person: String, updated_at: Timestamp }
}

const COLUMNS: &str = ConsentRow::COLUMNS;

/// The cache key of a person's consent.
fn name(tenant: Tenant, person: &str) -> String {
    format!("consent {tenant} {person}")
}

fn forget(tx: &mut TenantTx, person: &str) {
    if tx.has_cached_rows() {
        tx.uncache(&name(tx.tenant(), person));
    }
}

/// Reads and caches the consents of these hashes, with one statement.
pub fn prefetch(tx: &mut TenantTx, people: &[String]) -> Result<(), DbError> {
    let tenant = tx.tenant();
    if people.is_empty() {
        return Ok(());
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, people.iter().map(|person| person.as_str().into()));
    let sql =
        format!("select person, {COLUMNS} from channel_consents where workspace = ?1 and person in {list}");
    let rows: Vec<(String, ConsentRow)> = tx.all(&sql, &params)?;
    for person in people {
        tx.cache_row(name(tenant, person), None::<ConsentRow>);
    }
    for (person, row) in rows {
        tx.cache_row(name(tenant, &person), Some(row));
    }
    Ok(())
}

/// Merges the consents of several hashes of one person: a refusal outweighs a permission.
pub fn of(tx: &mut TenantTx, people: &[String]) -> Result<ConsentRow, DbError> {
    let tenant = tx.tenant();
    if people.is_empty() {
        return Ok(ConsentRow::default());
    }
    if tx.has_cached_rows() {
        let known: Option<Vec<Option<ConsentRow>>> =
            people.iter().map(|person| tx.cached(&name(tenant, person))).collect();
        if let Some(known) = known {
            return Ok(known.into_iter().flatten().fold(ConsentRow::default(), joined));
        }
    }
    let mut params = Vec::new();
    let list = tx.any_of(&mut params, people.iter().map(|person| person.as_str().into()));
    let sql = format!("select {COLUMNS} from channel_consents where workspace = ?1 and person in {list}");
    let rows: Vec<ConsentRow> = tx.all(&sql, &params)?;
    Ok(rows.into_iter().fold(ConsentRow::default(), joined))
}

fn joined(one: ConsentRow, other: ConsentRow) -> ConsentRow {
    let (source, at) = match (one.stopped_at, other.stopped_at) {
        (None, at) => (other.stop_source, at),
        (at, None) => (one.stop_source, at),
        (Some(first), Some(second)) if second < first => (other.stop_source, Some(second)),
        (at, Some(_)) => (one.stop_source, at),
    };
    let (allowed, how, proof) = match one.opted_in_at.max(other.opted_in_at) {
        at if at == one.opted_in_at => (at, one.opt_in_source, one.opt_in_consent),
        at => (at, other.opt_in_source, other.opt_in_consent),
    };
    ConsentRow {
        stopped_at: at,
        stop_source: source,
        marketing_stopped_at: one.marketing_stopped_at.max(other.marketing_stopped_at),
        opted_in_at: allowed,
        opt_in_source: how,
        opt_in_consent: proof,
        confirmed_at: one.confirmed_at.max(other.confirmed_at),
        erased_at: one.erased_at.max(other.erased_at),
    }
}

fn ensure(tx: &mut TenantTx, person: &str, now: Timestamp) -> Result<(), DbError> {
    const SQL: &str = formatcp!("{} on conflict (workspace, person) do nothing", ConsentRow::INSERT);
    forget(tx, person);
    tx.exec(SQL, &ConsentRow::default().values(person.to_owned(), now)).map(|_| ())
}

/// Stops messages to a person; `false` when they were stopped.
pub fn stop(tx: &mut TenantTx, person: &str, source: &str, now: Timestamp) -> Result<bool, DbError> {
    ensure(tx, person, now)?;
    let sql = "update channel_consents set stopped_at = ?3, stop_source = ?4, updated_at = ?3
        where workspace = ?1 and person = ?2 and stopped_at is null";
    Ok(tx.exec(sql, params![person, now, source])? > 0)
}

/// Lifts a stop; `false` if there was none.
pub fn start(tx: &mut TenantTx, person: &str, now: Timestamp) -> Result<bool, DbError> {
    forget(tx, person);
    let sql = "update channel_consents set stopped_at = null, stop_source = null, updated_at = ?3
        where workspace = ?1 and person = ?2 and stopped_at is not null";
    Ok(tx.exec(sql, params![person, now])? > 0)
}

/// Notes that a STOP is confirmed; `false` when one was before.
pub fn confirm(tx: &mut TenantTx, person: &str, now: Timestamp) -> Result<bool, DbError> {
    ensure(tx, person, now)?;
    let sql = "update channel_consents set confirmed_at = ?3, updated_at = ?3
        where workspace = ?1 and person = ?2 and confirmed_at is null";
    Ok(tx.exec(sql, params![person, now])? > 0)
}

/// Stops or allows marketing, as the provider reports; older reports than the stored one are ignored.
pub fn marketing(
    tx: &mut TenantTx,
    person: &str,
    stopped: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), DbError> {
    ensure(tx, person, now)?;
    let sql = "update channel_consents set marketing_stopped_at = ?3, updated_at = ?4 where workspace = ?1 and person = ?2";
    tx.exec(sql, params![person, stopped, now]).map(|_| ())
}

/// Records that a person allows marketing, unless something newer is recorded; whether it was.
pub fn opt_in(
    tx: &mut TenantTx,
    person: &str,
    source: &str,
    captured: Timestamp,
    consent: Id<Consent>,
    now: Timestamp,
) -> Result<bool, DbError> {
    ensure(tx, person, now)?;
    let sql = "update channel_consents set opted_in_at = ?3, opt_in_source = ?4, opt_in_consent = ?5, updated_at = ?6
        where workspace = ?1 and person = ?2 and (opted_in_at is null or opted_in_at < ?3)";
    Ok(tx.exec(sql, params![person, captured, source, consent, now])? > 0)
}

/// What an erasure leaves: that the person is erased, and what they stopped.
pub fn erase(tx: &mut TenantTx, person: &str, now: Timestamp) -> Result<(), DbError> {
    ensure(tx, person, now)?;
    let sql = "update channel_consents set opted_in_at = null, opt_in_source = null, opt_in_consent = null, erased_at = ?3, updated_at = ?3
        where workspace = ?1 and person = ?2";
    tx.exec(sql, params![person, now]).map(|_| ())
}

/// Copies the consents of a person's other addresses to this one, which keeps its own. Permissions are copied with
/// `allows` only.
pub fn carry(
    tx: &mut TenantTx,
    said: &ConsentRow,
    person: &str,
    allows: bool,
    now: Timestamp,
) -> Result<(), DbError> {
    let allowed = said.opted_in_at.filter(|_| allows);
    if said.stopped_at.or(said.marketing_stopped_at).or(said.erased_at).or(allowed).is_none() {
        return Ok(());
    }
    ensure(tx, person, now)?;
    let sql = "update channel_consents set
            stop_source = case when stopped_at is null then ?4 else stop_source end,
            stopped_at = coalesce(stopped_at, ?3),
            marketing_stopped_at = coalesce(marketing_stopped_at, ?5),
            confirmed_at = coalesce(confirmed_at, ?6),
            erased_at = coalesce(erased_at, ?7),
            updated_at = ?8
        where workspace = ?1 and person = ?2";
    tx.exec(
        sql,
        params![
            person,
            said.stopped_at,
            said.stop_source.clone(),
            said.marketing_stopped_at,
            said.confirmed_at,
            said.erased_at,
            now
        ],
    )?;
    if let (Some(allowed), Some(source), Some(proof)) = (allowed, &said.opt_in_source, said.opt_in_consent) {
        opt_in(tx, person, source, allowed, proof, now)?;
    }
    Ok(())
}

/// Notes that an erased person has written of their own accord.
pub fn came_back(tx: &mut TenantTx, person: &str, now: Timestamp) -> Result<(), DbError> {
    if tx.has_cached_rows()
        && let Some(known) = tx.cached::<Option<ConsentRow>>(&name(tx.tenant(), person))
        && known.is_none_or(|row| row.erased_at.is_none())
    {
        return Ok(());
    }
    forget(tx, person);
    let sql = "update channel_consents set erased_at = null, updated_at = ?3
        where workspace = ?1 and person = ?2 and erased_at is not null";
    tx.later(sql, params![person, now])
}
