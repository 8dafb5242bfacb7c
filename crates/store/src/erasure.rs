//! Personal data beyond the contact itself: calls and events that name a number, under any contact. They are found by
//! indexes and emptied.

use const_format::formatcp;
use domain::ids::{Call, Chat, Contact, Event, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{DbError, ROWS, TenantTx, Tx};
use crate::params;

/// Replaces an erased number.
pub const ERASED: &str = "[erased]";

/// Replaces the number of a call that is older than calls are kept.
pub const EXPIRED: &str = "[expired]";

/// Whether what a call says of its person is gone, since the person was erased or the call has expired.
pub fn is_emptied(number: &str) -> bool {
    number == ERASED || number == EXPIRED
}

row! {
    /// A call with data about a person.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PersonCall {
        id: Id<Call>,
        mode: Mode,
        contact: Option<Id<Contact>>,
        /// The number that was called, or that called.
        number: String as "case when direction = 'inbound' then from_number else to_number end",
        /// Whether it is not over yet.
        live: bool as "cast(case when phase is null then 1 else 0 end as bigint)",
        /// Whether it has a transcript.
        transcript: bool as "cast(case when transcript is null then 0 else 1 end as bigint)",
    }
}

const COLUMNS: &str = PersonCall::COLUMNS;

/// Calls of a contact in both modes. Where an erasure has emptied one, the number is [`ERASED`]; where it has expired,
/// [`EXPIRED`].
pub fn calls_of_contact(tx: &mut TenantTx, contact: Id<Contact>) -> Result<Vec<PersonCall>, DbError> {
    let sql = formatcp!(
        "select {COLUMNS} from calls where workspace = ?1 and contact = ?2 and mode in ('live', 'test')"
    );
    tx.all(sql, params![contact])
}

/// Calls to a number and from it in both modes, for any contact.
pub fn calls_of_number(tx: &mut TenantTx, number: &str) -> Result<Vec<PersonCall>, DbError> {
    let mut calls = Vec::new();
    // One index each.
    for wanted in [
        "to_number = ?2 and mode = 'live' and block_reason is null and direction = 'outbound'",
        "to_number = ?2 and direction = 'outbound' and (mode = 'test' or block_reason is not null)",
        "from_number = ?2 and direction = 'inbound'",
    ] {
        calls.extend(tx.all::<PersonCall>(
            &format!("select {COLUMNS} from calls where workspace = ?1 and {wanted}"),
            params![number],
        )?);
    }
    Ok(calls)
}

/// Across workspaces: calls that began before a moment and are over, after this one, oldest first; `(workspace, id)`.
pub fn over_before(
    tx: &mut Tx<'_>,
    after: Id<Call>,
    before: Id<Call>,
    limit: i64,
) -> Result<Vec<(Tenant, Id<Call>)>, DbError> {
    let sql = "select workspace, id from calls where id > ?1 and id < ?2 and phase is not null order by id limit ?3";
    tx.all(sql, params![after, before, limit])
}

/// Those of these calls that are not emptied yet, locked until the transaction ends.
pub fn filled(tx: &mut TenantTx, calls: &[Id<Call>]) -> Result<Vec<Id<Call>>, DbError> {
    let mut found = Vec::new();
    for some in calls.chunks(ROWS) {
        let mut values = Vec::new();
        let ids = tx.any_of(&mut values, some.iter().map(|id| (*id).into()));
        let sql = format!(
            "select id from calls where workspace = ?1 and id in {ids} and to_number not in ('{ERASED}', '{EXPIRED}') \
             and from_number not in ('{ERASED}', '{EXPIRED}') order by id /*pg for update*/"
        );
        found.extend(tx.all::<Id<Call>>(&sql, &values)?);
    }
    Ok(found)
}

/// Erases the personal data of these calls and writes `word` for their numbers; the proof that they took place (times,
/// money, causes) stays. Live calls are due at once.
pub fn empty_calls(
    tx: &mut TenantTx,
    calls: &[Id<Call>],
    word: &'static str,
    now: Timestamp,
) -> Result<(), DbError> {
    for some in calls.chunks(ROWS) {
        let mut values = params![now].to_vec();
        let ids = tx.any_of(&mut values, some.iter().map(|id| (*id).into()));
        let sql = format!(
            "update calls set to_number = case when direction = 'outbound' then '{word}' else to_number end, \
             from_number = case when direction = 'inbound' then '{word}' else from_number end, external_ref = null, variables = '{{}}', metadata = '{{}}', \
             transcript = null, extracted = null, summary = null, connector_pushes = null, recording = null, turns = null, latency = null, turn_details = null, \
             full_turns = null, full_status = null, version = version + 1, \
             next_step_at = case when next_step_at is null then null else cast(?2 as bigint) end \
             where workspace = ?1 and id in {ids}"
        );
        tx.later(&sql, &values)?;
    }
    Ok(())
}

/// Events about a person that still have a payload, after `after`, at most `limit`.
pub fn events_of_subject(
    tx: &mut TenantTx,
    subject: &str,
    after: &str,
    limit: i64,
) -> Result<Vec<Id<Event>>, DbError> {
    tx.all(
        "select id from events where workspace = ?1 and contact = ?2 and id > ?3 and envelope is not null order by id limit ?4",
        params![subject, after, limit])
}

/// Events about another person that contain a number.
pub fn events_naming(tx: &mut TenantTx, subject: &str, number: &str) -> Result<Vec<Id<Event>>, DbError> {
    let sql = "select id from events where workspace = ?1 and contact = ?2 and envelope is not null \
         and (envelope like '%' || ?3 || '%' or exists (select 1 from chat_messages m where m.workspace = ?1 \
         and m.chat = substr(events.transcript, 1, ?4) and m.words like '%' || ?3 || '%'))";
    let chat = Id::<Chat>::from_bits(0).stored().len() as i64;
    tx.all(sql, params![subject, number, chat])
}

/// Events of calls that were transferred to a number.
pub fn transfers_to(tx: &mut TenantTx, number: &str) -> Result<Vec<Id<Event>>, DbError> {
    let sql = "select id from events where workspace = ?1 and type = 'call.transferred' and envelope like '%' || ?2 || '%'";
    tx.all(sql, params![number])
}

/// Empties the payload of an event.
pub fn empty_event(tx: &mut TenantTx, id: Id<Event>) -> Result<(), DbError> {
    tx.later("update events set envelope = null where workspace = ?1 and id = ?2", params![id])
}

/// Reassigns the events and stored answers of a deleted contact to the keyed hash of its number, which stays in use.
pub fn hand_over(tx: &mut TenantTx, contact: Id<Contact>, phone_hash: &str) -> Result<(), DbError> {
    tx.later(
        "update events set contact = ?3 where workspace = ?1 and contact = ?2",
        params![contact, phone_hash],
    )?;
    tx.later(
        "update idempotency_keys set contact = ?3 where workspace = ?1 and contact = ?2",
        params![contact, phone_hash],
    )
}
