//! What clients, the operator and outside systems do with data streams. They are planned apart from everything
//! else, and feed campaigns of their own and others.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use ::streams::{attachments, ingest, stream};
use dastak::app::operator_log::Trace;
use dastak::app::{App, Failure};
use domain::ids::{Campaign, DataStream, Id, Integration, StreamRecord};
use domain::phone::Phone;
use domain::stream::{Outcome, Status};
use domain::time::{HOUR, MINUTE, SECOND, Timestamp};
use integrations::accounts;
use serde_json::{Value, json};

use crate::campaigns::{self, CampaignAct};
use crate::carrier::World;
use crate::clients::{Act, Customer, Log, Promise, checked, people};
use crate::random::Random;
use crate::sources::credentials;

/// Something done with streams, or in a system that one is read from. Those that are not made pick one that is.
#[derive(Debug, Clone)]
pub enum StreamAct {
    /// Make it, and let it feed a campaign of its own.
    Open {
        kind: &'static str,
        /// Whether the rows that a spreadsheet has already are taken.
        existing: bool,
        settings: Value,
        name: String,
    },
    /// Send records.
    Send(u64, Value),
    Pause(u64),
    Resume(u64),
    Rotate(u64),
    Attach(u64, u64),
    Detach(u64, u64),
    /// Read other contacts of the CRM from now on.
    Point(u64, bool),
    /// A contact is made in the CRM.
    Contact(String, &'static str),
    /// A row is written into the spreadsheet, over another one or below all.
    Row(String, Option<u64>),
    /// The systems' access is withdrawn.
    Withdraw,
    /// New credentials, and streams that stopped are made active again.
    Mend,
    /// The systems answer nothing of use for so many minutes.
    Away(i64),
}

/// A stream as its owner knows it.
#[derive(Debug, Clone)]
pub struct StreamKnown {
    pub customer: usize,
    pub id: Id<DataStream>,
    pub kind: &'static str,
    pub name: String,
    pub existing: bool,
    token: Option<String>,
}

/// A record that was answered with `accepted`.
#[derive(Debug, Clone)]
pub struct Taken {
    pub stream: Id<DataStream>,
    pub record: Id<StreamRecord>,
}

/// A number as people write it, most of them callable.
fn written(random: &mut Random) -> String {
    let phone = random.pick(&people()).to_string();
    let digits = phone.trim_start_matches("+91");
    match random.range(0, 99) {
        0..=39 => phone,
        40..=59 => format!("0{digits}"),
        60..=79 => format!("{} {}", &digits[..5], &digits[5..]),
        80..=89 => "12345".to_owned(),
        90..=94 => "+14155550123".to_owned(),
        _ => String::new(),
    }
}

/// The person of a number that can be called.
fn person(written: &str) -> Option<Phone> {
    Phone::normalize(written).ok()
}

fn record(random: &mut Random, ids: i64) -> Value {
    let mut record = json!({"phone": written(random), "name": "Asha Rao", "city": "Pune"});
    if random.percent(70) {
        record["id"] = json!(random.range(1, ids));
    }
    record
}

/// What happens with streams in a run.
pub fn plan(seed: u64, from: Timestamp) -> Vec<(Timestamp, Act)> {
    let mut random = Random::named(seed, "streams");
    let mut acts = Vec::new();
    if random.percent(30) {
        return acts;
    }
    for number in 0..random.range(1, 3) {
        let customer = random.range(0, 1) as usize;
        let kind =
            *random.pick(&["webhook", "webhook", "api", "crm_1", "crm_1", "spreadsheet", "spreadsheet"]);
        let at = from.plus(random.range(0, 20 * 60) * MINUTE);
        let act = |at: Timestamp, act: StreamAct| (at, Act::Stream { customer, act });
        let settings =
            json!({"retryCount": random.range(0, 2), "cooldownMinutes": *random.pick(&[0, 10, 60, 600])});
        let open = StreamAct::Open {
            kind,
            existing: random.percent(60),
            settings,
            name: format!("stream-{number}"),
        };
        for _ in 0..random.range(0, 4) {
            // What is there before the stream.
            let before = at.plus(-random.range(0, 60) * MINUTE);
            acts.extend(at_the_source(&mut random, kind).map(|done| act(before, done)));
        }
        acts.push(act(at, open));
        for _ in 0..random.range(3, 10) {
            let soon =
                if random.percent(60) { random.range(0, 45) * MINUTE } else { random.range(0, 26) * HOUR };
            let at = at.plus(soon + random.range(0, 90_000));
            match at_the_source(&mut random, kind) {
                Some(done) => acts.push(act(at, done)),
                None => {
                    let records: Vec<Value> =
                        (0..random.range(1, 5)).map(|_| record(&mut random, 12)).collect();
                    let send = StreamAct::Send(random.next(), Value::from(records));
                    if random.percent(35) {
                        // The sender repeats it, perhaps before the first one has gone through.
                        let again = random.range(0, 1) * random.range(1, 7_200) * SECOND;
                        acts.push(act(at.plus(again), send.clone()));
                    }
                    acts.push(act(at, send));
                }
            }
        }
        for _ in 0..random.range(0, 4) {
            let at = at.plus(random.range(0, 30 * 60) * MINUTE + random.range(0, 90_000));
            let later = at.plus(random.range(1, 600) * MINUTE);
            let (pick, other) = (random.next(), random.next());
            match random.range(0, 99) {
                0..=24 => {
                    acts.push(act(at, StreamAct::Pause(pick)));
                    acts.push(act(later, StreamAct::Resume(pick)));
                }
                25..=34 => acts.push(act(at, StreamAct::Rotate(pick))),
                35..=54 => acts.push(act(at, StreamAct::Attach(pick, other))),
                55..=64 => acts.push(act(at, StreamAct::Detach(pick, other))),
                65..=74 => acts.push(act(at, StreamAct::Point(pick, random.percent(50)))),
                75..=87 => {
                    acts.push(act(at, StreamAct::Withdraw));
                    acts.push(act(later, StreamAct::Mend));
                }
                _ => {
                    acts.push(act(at, StreamAct::Away(random.range(10, 600))));
                    acts.push(act(later, StreamAct::Mend));
                }
            }
        }
    }
    acts
}

/// Something new in the system of a stream of this kind; nothing for one that is sent to.
fn at_the_source(random: &mut Random, kind: &str) -> Option<StreamAct> {
    match kind {
        "crm_1" => Some(StreamAct::Contact(written(random), random.pick(&["lead", "customer"]))),
        "spreadsheet" => {
            let over = random.percent(25).then(|| random.next());
            Some(StreamAct::Row(written(random), over))
        }
        _ => None,
    }
}

fn trace() -> Trace {
    Trace { operation: "simulation", request_id: "simulation".into() }
}

/// Does one thing.
pub async fn attempt(
    app: &Arc<App>,
    world: &World,
    whose: (usize, &Customer),
    act: &StreamAct,
    known: &(dyn Fn(&mut dyn FnMut(&mut Log)) + Sync),
    promise: &(dyn Fn(Promise, bool) + Sync),
) -> Result<(), Failure> {
    let (customer, with) = whose;
    let tenant = with.tenant;
    let streams = || {
        let mut found = Vec::new();
        known(&mut |log| {
            found = log.streams.iter().filter(|stream| stream.customer == customer).cloned().collect();
        });
        found
    };
    let chosen = |pick: u64, fits: &dyn Fn(&StreamKnown) -> bool| {
        let own: Vec<StreamKnown> = streams().into_iter().filter(|stream| fits(stream)).collect();
        own.get((pick % (own.len().max(1) as u64)) as usize).cloned()
    };
    let campaign = |pick: u64| {
        let mut own: Vec<Id<Campaign>> = Vec::new();
        known(&mut |log| {
            own = log.campaigns.iter().filter(|(of, ..)| *of == customer).map(|(_, id, _)| *id).collect();
        });
        own.get((pick % (own.len().max(1) as u64)) as usize).copied()
    };
    match act {
        StreamAct::Open { kind, existing, settings, name } => {
            known(&mut |log| {
                log.first_rows
                    .entry((customer, name.clone()))
                    .or_insert_with(|| world.sources().accounts[customer].written);
            });
            let id = open(app, world, whose, (kind, *existing, name), known).await?;
            let begin = CampaignAct::Begin {
                settings: settings.clone(),
                people: people()[..1].to_vec(),
                name: format!("of-{name}-{customer}"),
            };
            campaigns::attempt(app, whose, &begin, known, promise).await?;
            let mut own = None;
            known(&mut |log| {
                let name = format!("of-{name}-{customer}");
                own = log.campaigns.iter().find(|(.., known)| *known == name).map(|(_, id, _)| *id);
            });
            if let Some(campaign) = own {
                attach(app, tenant, campaign, id).await?;
            }
        }
        StreamAct::Send(pick, records) => {
            let fits = |stream: &StreamKnown| matches!(stream.kind, "webhook" | "api");
            let Some(to) = chosen(*pick, &fits) else { return Ok(()) };
            let body = records.to_string();
            let answer = if to.kind == "api" {
                ingest::push(app, tenant, to.id, body.as_bytes()).await?
            } else {
                let address = IpAddr::V4(Ipv4Addr::from(0x0a00_0000 | (*pick as u32 & 0xffff)));
                let admitted = ingest::admit(app, &to.id.to_string(), to.token.as_deref(), address).await.1?;
                ingest::send(app, admitted, body.as_bytes()).await?
            };
            let sent = records.as_array().map_or(1, Vec::len);
            known(&mut |log| {
                if answer.received != sent || answer.results.len() != sent {
                    log.defects.push(format!(
                        "{sent} records were sent, {} received, {} answered",
                        answer.received,
                        answer.results.len()
                    ));
                }
                let new = answer.results.iter().filter(|result| result.status == Outcome::Accepted);
                log.taken.extend(new.map(|result| Taken { stream: to.id, record: result.record_id }));
            });
        }
        StreamAct::Pause(pick) => {
            let Some(stream) = chosen(*pick, &|_| true) else { return Ok(()) };
            stream::update(app, tenant, stream.id, checked("updateDataStream", json!({"status": "paused"})))
                .await?;
            promise(Promise::StreamPaused(stream.id, true), true);
        }
        StreamAct::Resume(pick) => {
            let Some(stream) = chosen(*pick, &|_| true) else { return Ok(()) };
            resume(app, whose, stream.id, promise).await?;
        }
        StreamAct::Rotate(pick) => {
            let Some(stream) = chosen(*pick, &|stream| stream.kind == "webhook") else { return Ok(()) };
            rotate(app, whose, stream.id, known).await?;
        }
        StreamAct::Attach(pick, other) => {
            let (Some(stream), Some(campaign)) = (chosen(*pick, &|_| true), campaign(*other)) else {
                return Ok(());
            };
            attach(app, tenant, campaign, stream.id).await?;
        }
        StreamAct::Detach(pick, other) => {
            let (Some(stream), Some(campaign)) = (chosen(*pick, &|_| true), campaign(*other)) else {
                return Ok(());
            };
            attachments::detach(app, tenant, campaign, stream.id).await?;
        }
        StreamAct::Point(pick, leads) => {
            let Some(stream) = chosen(*pick, &|stream| stream.kind == "crm_1") else { return Ok(()) };
            let stage = if *leads { json!("lead") } else { Value::Null };
            let body = json!({"config": {"lifecycleStage": stage}});
            stream::update(app, tenant, stream.id, checked("updateDataStream", body)).await?;
        }
        StreamAct::Contact(phone, stage) => world.add_contact(customer, phone, person(phone), stage),
        StreamAct::Row(phone, over) => world.write_row(customer, phone, person(phone), *over),
        StreamAct::Withdraw => world.sources().accounts[customer].withdrawn = true,
        StreamAct::Away(minutes) => {
            let now = world.passed();
            world.sources().accounts[customer].away = Some((now, now.plus(minutes * MINUTE)));
        }
        StreamAct::Mend => {
            let consent = {
                let account = &mut world.sources().accounts[customer];
                account.consent += 1;
                account.withdrawn = false;
                account.consent
            };
            for integration in accounts::list(app, tenant).await? {
                let body = json!({"credentials": credentials(customer, consent)});
                let change = checked("updateIntegration", body);
                accounts::update(app, trace(), tenant, integration.id, change).await?;
            }
            for stream in streams() {
                resume(app, whose, stream.id, promise).await?;
            }
        }
    }
    Ok(())
}

async fn resume(
    app: &Arc<App>,
    (_, with): (usize, &Customer),
    id: Id<DataStream>,
    promise: &(dyn Fn(Promise, bool) + Sync),
) -> Result<(), Failure> {
    if stream::get(app, with.tenant, id).await?.stream.status == Status::Active {
        return Ok(());
    }
    // It may go on from here on, whenever the answer comes.
    promise(Promise::StreamPaused(id, false), false);
    stream::update(app, with.tenant, id, checked("updateDataStream", json!({"status": "active"}))).await?;
    Ok(())
}

async fn rotate(
    app: &Arc<App>,
    (_, with): (usize, &Customer),
    id: Id<DataStream>,
    known: &(dyn Fn(&mut dyn FnMut(&mut Log)) + Sync),
) -> Result<(), Failure> {
    let token = stream::rotate_token(app, with.tenant, id).await?.token;
    known(&mut |log| {
        for stream in log.streams.iter_mut().filter(|stream| stream.id == id) {
            stream.token = Some(token.clone());
        }
    });
    Ok(())
}

async fn attach(
    app: &Arc<App>,
    tenant: domain::tenant::Tenant,
    campaign: Id<Campaign>,
    id: Id<DataStream>,
) -> Result<(), Failure> {
    // Earlier records are put on the list, too: then it has all of them.
    let body = json!({"variableMapping": {"city": "city"}, "backfillDays": 30, "transliterate": false});
    attachments::attach(app, tenant, (campaign, id), checked("attachStream", body)).await.map(|_| ())
}

/// Makes a stream, or finds the one whose answer was lost.
async fn open(
    app: &Arc<App>,
    world: &World,
    whose: (usize, &Customer),
    (kind, existing, name): (&'static str, bool, &str),
    known: &(dyn Fn(&mut dyn FnMut(&mut Log)) + Sync),
) -> Result<Id<DataStream>, Failure> {
    let (customer, with) = whose;
    let tenant = with.tenant;
    let mut found = None;
    known(&mut |log| {
        let own = log.streams.iter().find(|stream| stream.customer == customer && stream.name == name);
        found = own.map(|stream| stream.id);
    });
    if let Some(id) = found {
        return Ok(id);
    }
    let mut body = json!({"name": name, "kind": kind, "fieldMap": {"externalId": "id"}});
    let provider = match kind {
        "crm_1" => Some("hubspot"),
        "spreadsheet" => Some("google_sheets"),
        _ => None,
    };
    if let Some(provider) = provider {
        body["fieldMap"] = json!({});
        body["integrationId"] = json!(integration(app, world, whose, provider).await?);
    }
    if kind == "spreadsheet" {
        body["config"] = json!({"spreadsheetId": format!("sheet-{customer}"), "includeExisting": existing});
    }
    let there = stream::list(app, tenant).await?.into_iter().find(|stream| stream.name == name);
    let (id, token) = match there {
        Some(there) => (there.id, None),
        None => {
            let made = stream::create(app, tenant, checked("createDataStream", body)).await?;
            (made.stream.id, made.token)
        }
    };
    let lost = kind == "webhook" && token.is_none();
    let stream = StreamKnown { customer, id, kind, name: name.to_owned(), existing, token };
    known(&mut |log| log.streams.push(stream.clone()));
    if lost {
        rotate(app, whose, id, known).await?;
    }
    Ok(id)
}

/// The account of a customer in a system, connected when it is first needed.
async fn integration(
    app: &Arc<App>,
    world: &World,
    (customer, with): (usize, &Customer),
    provider: &str,
) -> Result<Id<Integration>, Failure> {
    let there = accounts::list(app, with.tenant).await?;
    if let Some(there) = there.into_iter().find(|there| there.provider.as_str() == provider) {
        return Ok(there.id);
    }
    let consent = world.sources().accounts[customer].consent;
    let mut body = json!({"provider": provider, "credentials": credentials(customer, consent)});
    if provider == "hubspot" {
        body["push"] = json!({"calls": "all"});
    }
    Ok(accounts::create(app, trace(), with.tenant, checked("createIntegration", body)).await?.id)
}
