//! The outbox: events and their deliveries, written in the transaction in which they happened.

use std::borrow::Cow;
use std::sync::Arc;

use api::events::Event as EventData;
use bytes::Bytes;
use domain::chat::Role;
use domain::ids::{Event, Id, WebhookEndpoint};
use domain::tenant::Mode;
use domain::time::Timestamp;
use domain::trace::TraceContext;
use serde::Serialize;
use store::deliveries::{self, FailedReplay, Key, NewDelivery};
use store::events::{self, NewEventRow, TranscriptRef};
use store::{DbError, TenantTx, Tx, erasure, webhooks};

use super::engine::Engine;
use super::pending::{LEASE, PendingAttempt, REDACTED};
use super::record::note;

/// Something that happened, before it has an id.
#[derive(Debug, Clone)]
pub struct NewEvent<'a> {
    /// The payload.
    pub event: EventData,
    /// The mode in which it happened and is seen.
    pub mode: Mode,
    /// The agent it is about, for the endpoints' filter.
    pub agent: Option<&'a str>,
    /// The person it is about, for erasure.
    pub contact: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    id: Id<Event>,
    r#type: &'a str,
    created_at: Timestamp,
    livemode: bool,
    data: &'a EventData,
}

/// Who receives an event.
pub enum Audience {
    /// Every endpoint that subscribes to it.
    Subscribed,
    /// This endpoint, whatever it subscribes to.
    Only(Id<WebhookEndpoint>),
}

impl Engine {
    /// Writes an event with this id and time into the outbox, together with its deliveries, which this node makes after
    /// the commit. A transcript is inserted into the data when the event is sent or read. Returns how many endpoints
    /// get it.
    pub fn emit(
        self: &Arc<Self>,
        tx: &mut TenantTx,
        (id, now): (Id<Event>, Timestamp),
        (event, transcript): (NewEvent<'_>, Option<TranscriptRef>),
        livemode: bool,
        audience: &Audience,
    ) -> Result<usize, DbError> {
        let tenant = tx.tenant();
        let (kind, mode) = (event.event.name(), event.mode);
        let envelope = Envelope { id, r#type: kind, created_at: now, livemode, data: &event.event };
        let envelope = serde_json::to_string(&envelope).map_err(|why| DbError::Internal(why.to_string()))?;
        let row = NewEventRow {
            id,
            kind,
            mode,
            agent: event.agent,
            contact: event.contact,
            envelope: &envelope,
            transcript: transcript.as_ref(),
            created_at: now,
        };
        let trace = tx.trace();
        events::insert(tx, row)?;
        let endpoints: Vec<Id<WebhookEndpoint>> = match audience {
            Audience::Subscribed => self
                .endpoints(tx)?
                .iter()
                .filter(|endpoint| endpoint.wants(kind, event.agent))
                .map(|endpoint| endpoint.id)
                .collect(),
            Audience::Only(endpoint) => vec![*endpoint],
        };
        let (mut items, mut in_line) = (Vec::new(), Vec::new());
        let (body, transcript) = (Bytes::from(envelope), transcript.map(Arc::new));
        for endpoint in &endpoints {
            let lease = self.has_room(*endpoint).then(|| now.plus(LEASE));
            deliveries::insert(
                tx,
                NewDelivery { endpoint: *endpoint, event: id, kind, mode, created_at: now, lease },
            )?;
            let key = Key { tenant, endpoint: *endpoint, id: deliveries::id_of(id, *endpoint) };
            match lease {
                Some(lease) => items.push(PendingAttempt {
                    key,
                    kind: kind.into(),
                    body: body.clone(),
                    transcript: transcript.clone(),
                    round: 0,
                    round_at: now,
                    made: 0,
                    created_at: now,
                    lease,
                    trace,
                }),
                None => in_line.push(*endpoint),
            }
        }
        // Readers are looked up after the commit: one that arrives before it has not seen this event.
        let engine = self.clone();
        tx.after_commit(move || {
            engine.take(items, &in_line);
            engine.readers.announce(tenant, mode);
        });
        Ok(endpoints.len())
    }

    /// Begins a new round of attempts of a delivery, now. Returns whether it exists.
    pub fn replay(
        self: &Arc<Self>,
        tx: &mut Tx<'_>,
        now: Timestamp,
        key: Key,
        replayed: Replayed,
    ) -> Result<bool, DbError> {
        let lease = self.has_room(key.endpoint).then(|| now.plus(LEASE));
        let Some(round) = deliveries::replay(tx, key, now, lease)? else { return Ok(false) };
        let items: Vec<PendingAttempt> = lease
            .map(|lease| PendingAttempt {
                key,
                kind: kind_of(replayed.kind),
                body: replayed.envelope.into(),
                transcript: replayed.transcript.map(Arc::new),
                round,
                round_at: now,
                made: 0,
                created_at: replayed.created_at,
                lease,
                trace: replayed.trace,
            })
            .into_iter()
            .collect();
        let in_line = if lease.is_none() { vec![key.endpoint] } else { Vec::new() };
        let engine = self.clone();
        tx.after_commit(move || engine.take(items, &in_line));
        Ok(true)
    }

    /// Begins new rounds of attempts of the failed deliveries of an endpoint in a range of ids, now. They wait in line for the
    /// endpoint, as those do for which there is no room.
    pub fn replay_failed(
        self: &Arc<Self>,
        tx: &mut TenantTx,
        now: Timestamp,
        endpoint: Id<WebhookEndpoint>,
        mode: Mode,
        between: (&str, &str),
    ) -> Result<FailedReplay, DbError> {
        let replay = deliveries::replay_failed(tx, endpoint, mode, between, now)?;
        if replay.replayed > 0 {
            let engine = self.clone();
            tx.after_commit(move || engine.take(Vec::new(), &[endpoint]));
        }
        Ok(replay)
    }

    /// Empties the payloads of these events and returns how many deliveries that affects. Pending ones are given up
    /// rather than sent without content.
    pub fn redact(
        self: &Arc<Self>,
        tx: &mut TenantTx,
        now: Timestamp,
        events: &[Id<Event>],
    ) -> Result<u64, DbError> {
        let tenant = tx.tenant();
        let endpoints = webhooks::list(tx)?;
        let note = note(now, None, 0, Some(REDACTED.to_owned()));
        let (mut count, mut stopped) = (0, Vec::new());
        for event in events {
            for endpoint in &endpoints {
                let key = Key { tenant, endpoint: endpoint.id, id: deliveries::id_of(*event, endpoint.id) };
                count += u64::from(deliveries::exists(tx, key)?);
                if deliveries::stop(tx, key, &note)? {
                    stopped.push(key);
                }
            }
            erasure::empty_event(tx, *event)?;
        }
        self.forget(tx, stopped);
        Ok(count)
    }
}

/// What a replay sends again.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// Type of the event.
    pub kind: String,
    /// The envelope as it is stored.
    pub envelope: String,
    /// Reference to the transcript that belongs to it.
    pub transcript: Option<TranscriptRef>,
    /// When the delivery was made.
    pub created_at: Timestamp,
    /// The trace in which the event was written.
    pub trace: Option<TraceContext>,
}

/// An envelope as it is sent and shown: with its transcript, which is read from the chat.
///
/// # Errors
/// Those of the store; internal if the envelope is not valid.
pub fn complete(
    tx: &mut TenantTx,
    envelope: String,
    transcript: Option<&TranscriptRef>,
) -> Result<String, DbError> {
    let Some(transcript) = transcript else { return Ok(envelope) };
    // The data is the last member of the envelope, and the transcript becomes the last of the data.
    let open = envelope
        .strip_suffix("}}")
        .ok_or_else(|| DbError::Internal("an envelope does not end with its data".into()))?;
    let lines = events::transcript(tx, transcript)?;
    let lines: Vec<Line<'_>> = lines
        .iter()
        .map(|(role, text, delivered)| Line { role: *role, text, failed: (!delivered).then_some(true) })
        .collect();
    let lines = serde_json::to_string(&lines).map_err(|why| DbError::Internal(why.to_string()))?;
    let comma = if open.ends_with('{') { "" } else { "," };
    Ok(format!("{open}{comma}\"transcript\":{lines}}}}}"))
}

/// A message in the format of a transcript.
#[derive(Serialize)]
struct Line<'a> {
    role: Role,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<bool>,
}

/// The name of an event type; a static string if it is in the catalog.
pub(super) fn kind_of(kind: String) -> Cow<'static, str> {
    api::events::find(&kind).map_or(kind.into(), |kind| kind.name.into())
}
