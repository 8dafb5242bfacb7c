//! Ingesting records (docs/contract/streams.md#sending-records). Records are parsed outside of the transaction; the
//! transaction stores all records of a request with a few statements, and adds people to lists.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use api::data_streams::{Ingested, IngestedRecord};
use api::error_codes::{MALFORMED_JSON, STREAM_PAUSED, UNAUTHORIZED, WORKSPACE_SUSPENDED};
use api::events::data_streams::RejectedRecord;
use app::events::{self, Event, NewEvent};
use app::limits::pages::bytes_of;
use app::limits::rates::{self, Budget};
use app::{App, Context, Failure};
use domain::ids::{DataStream, Id, StreamRecord};
use domain::stream::body::{BodyError, parse};
use domain::stream::{Arrival, Outcome, Reading, Reason, RecordStatus, Status, read};
use domain::tenant::{Mode, Tenant};
use runtime::crypto::{Keyring, same};
use store::Tx;
use store::streams::{self, RecordRow, StreamRow};

use crate::people::{self, Person};
use crate::room::{day_of, room};
use crate::{find, missing};

/// Requests a minute of one stream, and of all streams of a workspace.
const STREAM_REQUESTS: i64 = 600;
const WORKSPACE_REQUESTS: i64 = 3_000;
/// Overhead of a record beside its fields, bytes.
const OVERHEAD: usize = 256;
/// Hexadecimal digits of a stored identity: 128 bits.
const IDENTITY: usize = 32;

/// The stream behind a token.
#[derive(Debug, Clone, Copy)]
pub struct StreamAuth {
    pub tenant: Tenant,
    pub stream: Id<DataStream>,
}

/// Authenticates the sender with the token of a stream, before the body is read: token, workspace, limits and status,
/// in this order.
///
/// # Errors
/// 401, 403 `workspace_suspended`, 429, 409 `stream_paused`.
pub async fn admit(
    app: &App,
    id: &str,
    token: Option<&str>,
    address: IpAddr,
) -> (Option<Budget>, Result<StreamAuth, Failure>) {
    let found = match behind(app, id, token, address).await {
        Ok(found) => found,
        Err(failure) => return (None, Err(failure)),
    };
    let (auth, status) = found;
    let (budget, admitted) = count(app, auth.tenant, auth.stream).await;
    let admitted = admitted.and_then(|()| open(status)).map(|()| auth);
    (Some(budget), admitted)
}

async fn behind(
    app: &App,
    id: &str,
    token: Option<&str>,
    address: IpAddr,
) -> Result<(StreamAuth, Status), Failure> {
    let Some(token) = token else {
        return Err(Failure::new(UNAUTHORIZED, "send the stream's token as Authorization: Bearer"));
    };
    let hash = app.keyring.hash(token);
    let stream: Option<Id<DataStream>> = id.parse().ok();
    let look_up = async {
        let Some(stream) = stream else { return Ok(None) };
        let row = app.store.read(move |tx| streams::auth(tx, stream)).await?;
        let known = |row: &streams::StreamAuthRow| {
            row.token_hash.as_ref().is_some_and(|known| same(known.as_bytes(), hash.as_bytes()))
        };
        Ok(row.filter(known).map(|row| (stream, row)))
    };
    let (stream, row) =
        app.admit_secret(&hash, address, look_up, "the token is not that of this stream").await?;
    if row.suspended {
        return Err(Failure::new(
            WORKSPACE_SUSPENDED,
            "the workspace is suspended; ask the operator to lift the suspension",
        ));
    }
    Ok((StreamAuth { tenant: row.workspace, stream }, row.status))
}

/// Counts a request toward the limits of streams.
async fn count(app: &App, tenant: Tenant, stream: Id<DataStream>) -> (Budget, Result<(), Failure>) {
    let classes =
        vec![("streams".to_owned(), WORKSPACE_REQUESTS), (format!("stream:{stream}"), STREAM_REQUESTS)];
    rates::take(app, tenant, classes, app.clock.now()).await
}

fn open(status: Status) -> Result<(), Failure> {
    match status {
        Status::Active => Ok(()),
        Status::Paused | Status::Error => Err(Failure::plain(STREAM_PAUSED)),
    }
}

/// `POST /ingest/streams/{id}`, after authentication.
///
/// # Errors
/// 400 for a body that is not records, 404 when the stream was deleted meanwhile, 409 `stream_paused`, 429 when the
/// stream or the workspace has stored enough.
pub async fn send(app: &App, auth: StreamAuth, body: &[u8]) -> Result<Ingested, Failure> {
    let arrivals = parse(body).map_err(|why| match why {
        BodyError::Malformed(why) => Failure::new(MALFORMED_JSON, format!("the body is not JSON: {why}")),
        BodyError::Misfit(field, must) => Failure::field(&field, must),
    })?;
    let StreamAuth { tenant, stream } = auth;
    let row = app.of(tenant).read(move |tx| find(tx, stream)).await?;
    room(app, tenant, stream, body.len()).await?;
    let received = arrivals.len();
    let ready = prepare(&app.keyring, &row, arrivals);
    let context = app.context();
    let taken = app
        .of(tenant)
        .tx(move |tx| {
            let held = streams::get_for_records(tx, stream)?.ok_or_else(missing)?;
            open(held.status)?;
            if held.version == row.version {
                return take(tx, &context, &held, &ready);
            }
            // Its settings were changed meanwhile.
            let again = ready.iter().map(|ready| ready.arrival.clone()).collect();
            take(tx, &context, &held, &prepare(&context.keyring, &held, again))
        })
        .await?;
    let count = |wanted| taken.results.iter().filter(|result| result.status == wanted).count();
    Ok(Ingested {
        received,
        accepted: count(Outcome::Accepted),
        invalid: count(Outcome::Invalid),
        duplicate: count(Outcome::Duplicate),
        queued: taken.queued,
        results: taken.results,
    })
}

/// `POST /v1/data-streams/{id}/records`.
///
/// # Errors
/// 404, 400 for a stream that is not pushed to, 429, and those of [`send`].
pub async fn push(
    app: &App,
    tenant: Tenant,
    stream: Id<DataStream>,
    body: &[u8],
) -> Result<Ingested, Failure> {
    let row = app.of(tenant).read(move |tx| find(tx, stream)).await?;
    if !row.kind.takes_pushes() {
        return Err(Failure::field(
            "kind",
            format!("is {}; records can be sent to streams of the kinds api and webhook only", row.kind),
        ));
    }
    count(app, tenant, stream).await.1?;
    open(row.status)?;
    send(app, StreamAuth { tenant, stream }, body).await
}

/// A parsed record.
#[derive(Debug, Clone)]
pub struct Ready {
    arrival: Arrival,
    reading: Reading,
    /// Keyed hashes of its identity and of its number, or of the text in its place.
    identity: Option<String>,
    phone_hash: Option<String>,
}

/// Parses records with the settings of a stream. It takes time, so it belongs before the transaction.
pub fn prepare(keyring: &Keyring, stream: &StreamRow, arrivals: Vec<Arrival>) -> Vec<Ready> {
    let ready = |arrival: Arrival| {
        let reading = read(&arrival, &stream.field_map, stream.config.country());
        let identity = reading.identity.as_ref().map(|identity| {
            let mut hash = keyring.hash(&format!("record:{}:{identity}", stream.id));
            hash.truncate(IDENTITY);
            hash
        });
        let phone_hash = match (&reading.phone, &reading.written) {
            (Ok(phone), _) => Some(keyring.hash_phone(phone)),
            // So that an erasure finds it.
            (Err(_), Some(written)) => keyring.hash_written(written),
            (Err(_), None) => None,
        };
        Ready { arrival, reading, identity, phone_hash }
    };
    arrivals.into_iter().map(ready).collect()
}

/// The results of records.
#[derive(Debug, Clone)]
pub struct IngestedRecords {
    /// Each of them, in their order.
    pub results: Vec<IngestedRecord>,
    /// Records that were added to at least one list.
    pub queued: usize,
}

/// Stores records of a stream, sends events of those that cannot be called, and adds the others to the lists of the
/// campaigns that the stream feeds. The caller has locked the stream ([`streams::get_for_records`] or stronger).
pub fn take(
    tx: &mut Tx<'_>,
    context: &Context,
    stream: &StreamRow,
    records: &[Ready],
) -> Result<IngestedRecords, Failure> {
    let tenant = stream.workspace;
    let chosen = choose(records);
    let rows: Vec<Option<RecordRow>> = records
        .iter()
        .zip(&chosen)
        .enumerate()
        .map(|(at, (ready, stored_at))| (*stored_at == at).then(|| fresh(context, stream, ready)))
        .collect();
    let new: Vec<RecordRow> = rows.iter().flatten().cloned().collect();
    streams::put(&mut tx.of(tenant), &new)?;
    let identities: Vec<&str> = new.iter().map(|row| row.identity.as_str()).collect();
    let stored: HashMap<String, Id<StreamRecord>> =
        streams::of_identities(&mut tx.of(tenant), stream.id, &identities)?.into_iter().collect();
    let mut results = Vec::with_capacity(records.len());
    let mut people = Vec::new();
    let mut came_first: HashSet<&str> = HashSet::new();
    for (at, ready) in records.iter().enumerate() {
        let Some(own) = rows[chosen[at]].as_ref() else {
            return Err(Failure::internal("a record stands for another one that is not stored"));
        };
        let id = *stored.get(&own.identity).ok_or_else(|| Failure::internal("a record was not stored"))?;
        let reason = ready.reading.phone.err();
        // Of those that cannot be called, the first has an event, unless one that can came before it.
        let first = chosen[at] == at
            || reason.is_some() && came_first.insert(own.identity.as_str()) && at < chosen[at];
        let status = match reason {
            _ if id != own.id || !first => Outcome::Duplicate,
            Some(_) => Outcome::Invalid,
            None => Outcome::Accepted,
        };
        match (status, reason) {
            (Outcome::Invalid, Some(reason)) => reject(tx, context, stream, ready, id, reason)?,
            (Outcome::Accepted, _) => people.push(at),
            _ => {}
        }
        let reason = reason.filter(|_| status == Outcome::Invalid);
        results.push(IngestedRecord { index: at, status, record_id: id, reason });
    }
    let stored_bytes: usize = new
        .iter()
        .filter(|row| stored.get(&row.identity) == Some(&row.id))
        // A rejected one is stored a second time, in its event.
        .map(|row| bytes_of(&row.payload) * if row.reason.is_some() { 2 } else { 1 } + OVERHEAD)
        .sum();
    if stored_bytes > 0 {
        let bytes = i64::try_from(stored_bytes).unwrap_or(i64::MAX);
        streams::add_bytes(&mut tx.of(tenant), stream.id, day_of(context.now), bytes)?;
    }
    let queued = queue(tx, context, stream, records, &people)?;
    Ok(IngestedRecords { results, queued })
}

/// For each record the stored one: itself, or the first of the same identity. One that can be called has precedence.
fn choose(records: &[Ready]) -> Vec<usize> {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(records.len());
    for (at, ready) in records.iter().enumerate() {
        let Some(identity) = ready.identity.as_deref() else { continue };
        first
            .entry(identity)
            .and_modify(|known| {
                if records[*known].reading.phone.is_err() && ready.reading.phone.is_ok() {
                    *known = at;
                }
            })
            .or_insert(at);
    }
    let of = |(at, ready): (usize, &Ready)| {
        ready.identity.as_deref().and_then(|identity| first.get(identity)).copied().unwrap_or(at)
    };
    records.iter().enumerate().map(of).collect()
}

fn fresh(context: &Context, stream: &StreamRow, ready: &Ready) -> RecordRow {
    let id: Id<StreamRecord> = context.ids.make();
    let reading = &ready.reading;
    let (status, reason) = match reading.phone {
        Ok(_) => (RecordStatus::Accepted, None),
        Err(reason) => (RecordStatus::Invalid, Some(reason)),
    };
    RecordRow {
        id,
        workspace: stream.workspace,
        stream: stream.id,
        // A record without an identity is one by itself.
        identity: ready.identity.clone().unwrap_or_else(|| id.to_string()),
        status,
        reason,
        external_id: reading.external_id.clone(),
        phone: reading.phone.ok().map(|phone| phone.to_string()).or_else(|| reading.written.clone()),
        phone_hash: ready.phone_hash.clone(),
        name: reading.name.clone(),
        payload: Some(ready.arrival.fields.clone()),
        received_at: context.now,
    }
}

fn reject(
    tx: &mut Tx<'_>,
    context: &Context,
    stream: &StreamRow,
    ready: &Ready,
    id: Id<StreamRecord>,
    reason: Reason,
) -> Result<(), Failure> {
    let event = Event::RecordRejected(RejectedRecord {
        stream_id: stream.id,
        stream_name: stream.name.clone(),
        record_id: id,
        reason,
        payload: ready.arrival.fields.clone(),
        received_at: context.now,
    });
    let contact = ready.phone_hash.as_deref();
    let event = NewEvent { event, mode: Mode::Live, agent: None, contact };
    events::emit(&mut tx.of(stream.workspace), context, event)?;
    Ok(())
}

/// Adds people to the list of every campaign that the stream feeds; returns how many were added to one.
fn queue(
    tx: &mut Tx<'_>,
    context: &Context,
    stream: &StreamRow,
    records: &[Ready],
    people: &[usize],
) -> Result<usize, Failure> {
    if people.is_empty() {
        return Ok(0);
    }
    let mut queued = vec![false; people.len()];
    for feed in streams::feeds(&mut tx.of(stream.workspace), stream.id)? {
        let row = |at: &usize| {
            let ready = &records[*at];
            Some(people::row(
                &Person {
                    phone: ready.reading.phone.ok()?,
                    name: ready.reading.name.as_deref(),
                    name_fields: &ready.reading.name_fields,
                    fields: &ready.arrival.fields,
                },
                &feed,
            ))
        };
        let rows: Vec<_> = people.iter().filter_map(row).collect();
        let added = crate::attachments::put_on_list(tx, context, &feed.attachment, rows)?;
        for (queued, row) in queued.iter_mut().zip(added) {
            *queued |= row.is_some();
        }
    }
    Ok(queued.into_iter().filter(|queued| *queued).count())
}
