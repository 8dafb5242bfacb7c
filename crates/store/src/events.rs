//! The outbox of events.

use std::fmt;

use const_format::formatcp;
use domain::chat::Role;
use domain::ids::{Call, Chat, Contact, Event, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;

use crate::db::row::row;
use crate::db::{Column, DbError, Field, TenantTx, Tx, Value};
use crate::params;

row! {
    #[derive(Debug, Clone)]
    pub struct EventRow {
        /// Its id, the same in every delivery.
        id: Id<Event>,
        /// Its type, such as `call.started`.
        kind: String as "type",
        /// The mode in which it is visible. A sample event has the mode of the requesting key, although its envelope
        /// says `livemode: false`.
        mode: Mode,
        /// The agent it is about.
        agent: Option<String>,
        /// The person it is about.
        contact: Option<String>,
        /// The whole envelope as it is sent; `None` once the person is erased.
        envelope: Option<String>,
        /// The transcript that belongs into the envelope.
        transcript: Option<TranscriptRef>,
        created_at: Timestamp,
    }
}

const COLUMNS: &str = EventRow::COLUMNS;

/// A reference to the transcript of an event: the messages of a chat up to the newest one at that time. The text is
/// stored with the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptRef {
    pub chat: Id<Chat>,
    /// The newest message.
    pub last: i64,
    /// Characters of all messages.
    pub characters: i64,
    /// Messages that had not been delivered, in order.
    pub failed: Vec<i64>,
}

impl TranscriptRef {
    /// Its size in an envelope, bytes, if no character needs escaping.
    pub fn most_bytes(&self) -> usize {
        usize::try_from(self.characters * 4 + self.last * 64).unwrap_or(0)
    }
}

/// `<chat> <newest message> <characters>`, and the messages that were not delivered.
impl fmt::Display for TranscriptRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.chat.stored(), self.last, self.characters)?;
        self.failed.iter().try_for_each(|seq| write!(f, " {seq}"))
    }
}

impl From<&TranscriptRef> for Value<'_> {
    fn from(transcript: &TranscriptRef) -> Self {
        transcript.to_string().into()
    }
}

impl Column for TranscriptRef {
    fn store(&self) -> Value<'_> {
        self.into()
    }

    fn load(field: Field<'_>) -> Result<Self, String> {
        let Field::Text(text) = field else { return field.wrong("the place of a transcript") };
        let mut parts = text.split(' ');
        let chat = parts.next().and_then(|id| id.parse().ok());
        let numbers: Option<Vec<i64>> = parts.map(|number| number.parse().ok()).collect();
        match (chat, numbers.as_deref()) {
            (Some(chat), Some([last, characters, failed @ ..])) => {
                Ok(Self { chat, last: *last, characters: *characters, failed: failed.to_vec() })
            }
            _ => Err("no place of a transcript".to_owned()),
        }
    }
}

/// The words of a transcript, oldest first: who wrote them, and whether they were delivered. None are left once the person
/// is erased or the chat deleted.
pub fn transcript(tx: &mut TenantTx, of: &TranscriptRef) -> Result<Vec<(Role, String, bool)>, DbError> {
    let messages: Vec<(i64, Role, String)> = tx.all(
        "select seq, role, words from chat_messages where workspace = ?1 and chat = ?2 and seq <= ?3 order by seq",
        params![of.chat, of.last],
    )?;
    let line = |(seq, role, text): (i64, Role, String)| (role, text, of.failed.binary_search(&seq).is_err());
    Ok(messages.into_iter().map(line).collect())
}

/// An event to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewEventRow<'a> {
    pub id: Id<Event>,
    pub kind: &'a str,
    /// The mode that it is shown in.
    pub mode: Mode,
    /// The agent it is about.
    pub agent: Option<&'a str>,
    /// The person it is about.
    pub contact: Option<&'a str>,
    /// The envelope, without the transcript.
    pub envelope: &'a str,
    /// The transcript that belongs into it.
    pub transcript: Option<&'a TranscriptRef>,
    pub created_at: Timestamp,
}

/// Adds an event, in the trace of this transaction.
pub fn insert(tx: &mut TenantTx, row: NewEventRow<'_>) -> Result<(), DbError> {
    let trace = tx.trace();
    tx.add(
        "insert into events (workspace, id, type, mode, agent, contact, envelope, created_at, trace, transcript) \
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            row.id,
            row.kind,
            row.mode,
            row.agent,
            row.contact,
            row.envelope,
            row.created_at,
            trace,
            row.transcript
        ],
    )
}

/// Events of a workspace after `after`, oldest first.
pub fn list_after(tx: &mut TenantTx, after: &str, limit: i64) -> Result<Vec<EventRow>, DbError> {
    let sql = formatcp!("select {COLUMNS} from events where workspace = ?1 and id > ?2 order by id limit ?3");
    tx.all(sql, params![after, limit])
}

/// Events of one mode after `after` and before `before`, oldest first, and where the next page begins when
/// this one ended for another reason than that there are no more. At most `examined` events are looked at:
/// live events are found past those of test mode.
pub fn page(
    tx: &mut TenantTx,
    mode: Mode,
    (after, before): (&str, &str),
    limit: i64,
    examined: i64,
) -> Result<(Vec<EventRow>, Option<String>), DbError> {
    let values = params![after, before, limit, examined].to_vec();
    if mode == Mode::Test {
        let sql = formatcp!(
            "select {COLUMNS} from events where workspace = ?1 and id > ?2 and id < ?3 and mode = 'test' order by id limit ?4"
        );
        let rows: Vec<EventRow> = tx.all(sql, &values[..3])?;
        let next = rows.last().filter(|_| rows.len() as i64 >= limit).map(|row| row.id.to_string());
        return Ok((rows, next));
    }
    let sql = formatcp!(
        "select {COLUMNS} from (select {COLUMNS} from events where workspace = ?1 and id > ?2 and id < ?3 order by id limit ?5) as walk \
         where mode = 'live' order by id limit ?4"
    );
    let rows: Vec<EventRow> = tx.all(sql, &values)?;
    if rows.len() as i64 >= limit {
        let next = rows.last().map(|row| row.id.to_string());
        return Ok((rows, next));
    }
    let sql =
        "select id from events where workspace = ?1 and id > ?2 and id < ?3 order by id limit 1 offset ?4";
    let next = tx.one(sql, params![after, before, examined - 1])?;
    Ok((rows, next))
}

/// Events that are examined for a call without a contact, from its beginning on.
const EXAMINED_OF_CALL: i64 = 5_000;

/// Events about a call, oldest first, at most `limit`; those whose payload was emptied are left out. The index
/// `events_of_contact` finds them among the person's, from the beginning of the call on. A call without a contact has the
/// first [`EXAMINED_OF_CALL`] events of the workspace after its beginning examined, by the primary key.
pub fn of_call(
    tx: &mut TenantTx,
    call: Id<Call>,
    contact: Option<Id<Contact>>,
    limit: i64,
) -> Result<Vec<Id<Event>>, DbError> {
    let first = Id::<Event>::new(call.unix_ms(), 0).to_string();
    let Some(contact) = contact else {
        const WALK: &str = formatcp!(
            "select id from (select id, envelope from events where workspace = ?1 and id >= ?2 order by id limit {EXAMINED_OF_CALL}) as walk \
             where envelope like '%' || ?3 || '%' order by id limit ?4"
        );
        return tx.all(WALK, params![first, call, limit]);
    };
    tx.all(
        "select id from events where workspace = ?1 and contact = ?2 and id >= ?3 and envelope like '%' || ?4 || '%' order by id limit ?5",
        params![contact, first, call, limit],
    )
}

/// Drops up to `limit` events of a workspace whose ids are below `before`; how many. `table` is the whole outbox or a
/// part of it ([`crate::partitions`]).
pub fn sweep(tx: &mut TenantTx, table: &str, before: &str, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        &format!(
            "delete from {table} where workspace = ?1 and id in \
             (select id from {table} where workspace = ?1 and id < ?2 order by id limit ?3)"
        ),
        params![before, limit],
    )
}

/// Across workspaces: the next workspace after `after` that has an event, with its oldest event. `table` is the whole
/// outbox or a part of it ([`crate::partitions`]).
pub fn next_workspace(
    tx: &mut Tx<'_>,
    table: &str,
    after: &str,
) -> Result<Option<(Tenant, Id<Event>)>, DbError> {
    tx.one(
        &format!("select workspace, id from {table} where workspace > ?1 order by workspace, id limit 1"),
        params![after],
    )
}

/// The event of a workspace, below `before`, after which new events of a mode will come: the newest of test
/// mode, or the newest of all for live keys.
pub fn newest(tx: &mut TenantTx, mode: Mode, before: &str) -> Result<Option<Id<Event>>, DbError> {
    let world = if mode == Mode::Test { " and mode = 'test'" } else { "" };
    let sql =
        format!("select id from events where workspace = ?1 and id < ?2{world} order by id desc limit 1");
    tx.one(&sql, params![before])
}
