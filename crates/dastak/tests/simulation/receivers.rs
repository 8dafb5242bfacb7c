//! The receivers of webhooks: one that is well, one that fails now and then in every way, one that is down
//! for a spell. They outlive the service's crashes and remember every request that reached them, signature
//! and all.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::tenant::Tenant;
use domain::time::{HOUR, SECOND, Timestamp};
use http::{HeaderMap, StatusCode};
use providers::guarded_client::{Limits, Phase, Request, Response, SendError, Sending, Transport};
use ring::hmac;

use crate::carrier::World;
use crate::faults::Side;
use crate::random::Random;
use crate::sight::EventSeen;

/// A give-up needs this much time between an event and its last attempt: the schedule's last gaps are eight
/// hours.
const PATIENCE: i64 = 15 * HOUR;
/// No delivery is pending for longer than this, milliseconds: a day of attempts and the waits for a store
/// that was down.
const OVER: i64 = 26 * HOUR;

/// How a receiver is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    Well,
    Flaky,
    /// Unreachable from the first moment to the second.
    Down(Timestamp, Timestamp),
}

/// An endpoint as its owner knows it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub tenant: Tenant,
    pub id: String,
    pub host: String,
    pub secret: String,
    /// Types that it picked; empty for all.
    pub picked: Vec<String>,
    pub health: Health,
}

/// A request that arrived.
#[derive(Debug, Clone)]
struct Receipt {
    host: String,
    event: String,
    delivery: String,
    body: Bytes,
}

#[derive(Default)]
pub struct Post {
    endpoints: Vec<Endpoint>,
    receipts: Vec<Receipt>,
    asked: HashMap<(String, String), u64>,
    broken: Vec<String>,
}

impl Post {
    pub fn add(&mut self, endpoint: Endpoint) {
        self.endpoints.push(endpoint);
    }
}

/// What a receiver does with a request.
enum Manner {
    Accept,
    AcceptLate(i64),
    /// It takes the request and closes before its answer: the same comes again.
    TakeAndClose,
    Refuse,
    Fail,
    /// It takes the request and never answers.
    Hang,
}

/// Holds a request against what was promised about it: signed, whole, of this receiver.
fn read(
    endpoint: &Endpoint,
    request: &Request,
    now: Timestamp,
    was_set: impl Fn(Timestamp) -> bool,
) -> Result<Receipt, String> {
    let text = |name: &str| {
        request.headers.get(name).and_then(|value| value.to_str().ok()).ok_or(format!("no {name}"))
    };
    let (signature, kind, delivery) =
        (text("x-service-signature")?, text("x-service-event")?, text("x-service-delivery")?);
    let (t, v1) = signature
        .split_once(",v1=")
        .and_then(|(t, v1)| Some((t.strip_prefix("t=")?, v1)))
        .ok_or("a signature of another form")?;
    let signed = t.parse::<i64>().map_err(|why| why.to_string())?;
    let age = now.unix_seconds() - signed;
    // A clock that is set, or a node that stood still, between the signature and the request.
    if age != 0 && !was_set(Timestamp(signed * SECOND)) {
        return Err(format!("signed {age} s ago"));
    }
    let key = hmac::Key::new(hmac::HMAC_SHA256, endpoint.secret.as_bytes());
    let tag: Vec<u8> =
        (0..v1.len() / 2).filter_map(|at| u8::from_str_radix(&v1[2 * at..2 * at + 2], 16).ok()).collect();
    hmac::verify(&key, format!("{t}.{}", String::from_utf8_lossy(&request.body)).as_bytes(), &tag)
        .map_err(|_| "a wrong signature")?;
    let body: serde_json::Value = serde_json::from_slice(&request.body).map_err(|why| why.to_string())?;
    if body["type"] != kind {
        return Err(format!("the header says {kind}, the body {}", body["type"]));
    }
    let event = body["id"].as_str().ok_or("no id")?.to_owned();
    Ok(Receipt {
        host: endpoint.host.clone(),
        event,
        delivery: delivery.to_owned(),
        body: request.body.clone(),
    })
}

impl World {
    /// What becomes of a request, by the seed: the receiver, the event, and how often it was sent.
    fn receive(&self, request: &Request) -> Manner {
        let now = self.now();
        let mut post = self.post();
        let host = request.target.host();
        let Some(endpoint) = post.endpoints.iter().find(|endpoint| endpoint.host == host).cloned() else {
            post.broken.push(format!("a request to {host}"));
            return Manner::Refuse;
        };
        let receipt =
            match read(&endpoint, request, now, |signed| self.is_threaded() && self.was_set_since(signed)) {
                Ok(receipt) => receipt,
                Err(why) => {
                    post.broken.push(format!("a request to {host}: {why}"));
                    return Manner::Fail;
                }
            };
        let asked = post.asked.entry((host.clone(), receipt.event.clone())).or_default();
        *asked += 1;
        let mut random = Random::named(self.seed(), &format!("post {host} {} {asked}", receipt.event));
        let roll = random.range(0, 99);
        let manner = match endpoint.health {
            Health::Well if roll < 5 => Manner::AcceptLate(random.range(1, 9_000)),
            Health::Well => Manner::Accept,
            Health::Down(from, to) if from <= now && now < to => match roll {
                0..=69 => Manner::Refuse,
                70..=89 => Manner::Fail,
                _ => Manner::Hang,
            },
            Health::Down(..) => Manner::Accept,
            Health::Flaky => match roll {
                0..=9 => Manner::Refuse,
                10..=19 => Manner::Fail,
                20..=26 => Manner::Hang,
                27..=33 => Manner::TakeAndClose,
                34..=43 => Manner::AcceptLate(random.range(1, 9_900)),
                _ => Manner::Accept,
            },
        };
        if !matches!(manner, Manner::Refuse | Manner::Fail) {
            post.receipts.push(receipt);
        }
        manner
    }
}

/// The way to the receivers.
pub struct Mail(pub Arc<World>);

impl Transport for Mail {
    fn send(&self, request: Request, limits: Limits) -> Sending<'_> {
        Box::pin(async move {
            if self.0.dies_at("webhook attempt", Side::Before) {
                std::future::pending::<()>().await;
            }
            let answer = match self.0.receive(&request) {
                Manner::Accept => Ok(200),
                Manner::AcceptLate(ms) => {
                    self.0.wait(ms).await;
                    Ok(204)
                }
                Manner::TakeAndClose => Err(SendError::Closed(Phase::Head)),
                Manner::Refuse => Err(SendError::ConnectFailed(std::io::ErrorKind::ConnectionRefused)),
                Manner::Fail => Ok(500),
                Manner::Hang => {
                    self.0.wait(limits.deadline.as_millis() as i64).await;
                    Err(SendError::Timeout(Phase::Head))
                }
            };
            if self.0.dies_at("webhook attempt", Side::After) {
                std::future::pending::<()>().await;
            }
            let status = StatusCode::from_u16(answer?).expect("a status");
            Ok(Response {
                status,
                headers: HeaderMap::new(),
                body: Bytes::new(),
                truncated: false,
                duration: Duration::ZERO,
            })
        })
    }
}

/// A delivery as the store has it.
pub struct DeliverySeen {
    pub endpoint: String,
    pub event: String,
    pub status: String,
    pub attempts: String,
    pub created_at: Timestamp,
    /// Whether its payload was emptied by an erasure.
    pub emptied: bool,
}

/// What is broken of the promises about webhooks.
pub fn broken(
    world: &World,
    events: &[EventSeen],
    deliveries: &[DeliverySeen],
    end: Timestamp,
) -> Vec<String> {
    let post = world.post();
    let mut broken = post.broken.clone();
    let known: HashSet<&str> = events.iter().map(|event| event.id.as_str()).collect();
    let mut bodies: HashMap<&str, &Bytes> = HashMap::new();
    let mut named: HashMap<(&str, &str), &str> = HashMap::new();
    let mut arrived: HashSet<(&str, &str)> = HashSet::new();
    for receipt in &post.receipts {
        let event = receipt.event.as_str();
        if !known.contains(event) {
            broken.push(format!("{} got {event}, which never happened", receipt.host));
        }
        if bodies.insert(event, &receipt.body).is_some_and(|before| *before != receipt.body) {
            broken.push(format!("{event} was sent with two bodies"));
        }
        let delivery = named.entry((&receipt.host, event)).or_insert(&receipt.delivery);
        if *delivery != receipt.delivery {
            broken
                .push(format!("{event} came to {} as {delivery} and as {}", receipt.host, receipt.delivery));
        }
        arrived.insert((&receipt.host, event));
    }
    let mut stored: HashMap<(&str, &str), &DeliverySeen> = HashMap::new();
    for delivery in deliveries {
        stored.insert((&delivery.endpoint, &delivery.event), delivery);
    }
    for endpoint in &post.endpoints {
        for event in events.iter().filter(|event| event.tenant == endpoint.tenant) {
            let named = endpoint.picked.contains(&event.kind);
            let must_be_named = || api::events::find(&event.kind).is_some_and(|kind| kind.pick_only);
            if !named && (!endpoint.picked.is_empty() || must_be_named()) {
                continue;
            }
            let came = arrived.contains(&(&endpoint.host, &event.id));
            let what = format!("{} {} to {}", event.kind, event.id, endpoint.host);
            let Some(delivery) = stored.get(&(endpoint.id.as_str(), event.id.as_str())) else {
                broken.push(format!("{what}: no delivery"));
                continue;
            };
            match delivery.status.as_str() {
                "succeeded" if came => {}
                "pending" if end.0 - delivery.created_at.0 < OVER => {}
                "failed" if delivery.emptied => {}
                "failed" if endpoint.health != Health::Well && tried_long(world, delivery) => {}
                status => broken.push(format!(
                    "{what}: {status}, {}, {}",
                    if came { "it came" } else { "it never came" },
                    delivery.attempts
                )),
            }
        }
    }
    broken
}

/// Whether its attempts went on for as long as the schedule says. It asks when an attempt ended, which is later than it began
/// by as much as the clock was set forward meanwhile.
fn tried_long(world: &World, delivery: &DeliverySeen) -> bool {
    let attempts: Vec<serde_json::Value> =
        serde_json::from_str(&format!("[{}]", delivery.attempts)).unwrap_or_default();
    let last = attempts.last().and_then(|attempt| Timestamp::parse(attempt["at"].as_str()?));
    let least = PATIENCE - world.jumped_since(delivery.created_at);
    last.is_some_and(|last| last.0 - delivery.created_at.0 >= least)
}

/// The receivers of one customer: a spell is anywhere in the first two days.
pub fn health(random: &mut Random, number: usize, from: Timestamp) -> Health {
    match number {
        0 => Health::Well,
        1 => Health::Flaky,
        _ => {
            let start = from.plus(random.range(0, 40) * HOUR);
            Health::Down(start, start.plus(random.range(1, 40 * 3600) * SECOND))
        }
    }
}
