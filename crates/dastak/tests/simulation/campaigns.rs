//! What clients do with campaigns. They are planned apart from everything else.

use std::sync::Arc;

use campaigns::{campaign, list, run};
use dastak::app::{App, Failure};
use domain::actor::Actor;
use domain::campaign::Status;
use domain::ids::{Campaign, Id};
use domain::phone::Phone;
use domain::time::{DAY, HOUR, MINUTE, Timestamp};
use serde_json::{Map, Value, json};

use crate::boards;
use crate::clients::{Act, Customer, Log, Promise, checked, people};
use crate::random::Random;

/// Something done with a campaign. Those that are not made pick one that is.
#[derive(Debug, Clone)]
pub enum CampaignAct {
    /// Make it, give it a list, publish it.
    Begin {
        settings: Value,
        people: Vec<Phone>,
        name: String,
    },
    Pause(u64),
    Resume(u64),
    Complete(u64),
    Run(u64),
    /// Put one more person on its list.
    Add(u64, Phone),
}

/// What happens with campaigns in a run.
pub fn plan(seed: u64, from: Timestamp) -> Vec<(Timestamp, Act)> {
    let mut random = Random::named(seed, "campaigns");
    let mut acts = Vec::new();
    for number in 0..random.range(0, 3) {
        let customer = random.range(0, 1) as usize;
        let at = from.plus(random.range(0, 30 * 60) * MINUTE);
        let people = (0..random.range(2, 8)).map(|_| *random.pick(&people())).collect();
        let begin = CampaignAct::Begin {
            settings: settings(&mut random, at),
            people,
            name: format!("campaign-{number}"),
        };
        acts.push((at, Act::Campaign { customer, act: begin }));
        for _ in 0..random.range(0, 5) {
            let soon =
                if random.percent(60) { random.range(0, 30) * MINUTE } else { random.range(0, 40) * HOUR };
            let at = at.plus(soon + random.range(0, 90_000));
            let pick = random.next();
            let act = match random.range(0, 99) {
                0..=24 => {
                    let later = at.plus(random.range(0, 300) * MINUTE);
                    acts.push((later, Act::Campaign { customer, act: CampaignAct::Resume(pick) }));
                    CampaignAct::Pause(pick)
                }
                25..=49 => CampaignAct::Run(pick),
                50..=89 => CampaignAct::Add(pick, *random.pick(&crate::clients::people())),
                _ => CampaignAct::Complete(pick),
            };
            acts.push((at, Act::Campaign { customer, act }));
        }
    }
    acts.extend(together(seed, from));
    acts
}

/// One person whom two campaigns, a nudge and a scheduled call want at one moment.
fn together(seed: u64, from: Timestamp) -> Vec<(Timestamp, Act)> {
    let mut random = Random::named(seed, "together");
    let mut acts = Vec::new();
    if random.percent(45) {
        return acts;
    }
    let (customer, people) = (random.range(0, 1) as usize, people());
    let to = *random.pick(&people);
    let at = from.plus(random.range(0, 1) * DAY + random.range(0, 8) * HOUR);
    let soon = |random: &mut Random| at.plus(if random.percent(50) { 0 } else { random.range(0, 40_000) });
    for number in 0..2 {
        let settings = json!({"retryCount": random.range(0, 2), "cooldownMinutes": *random.pick(&[0, 10])});
        let mut list = vec![to, *random.pick(&people)];
        list.rotate_left(random.range(0, 1) as usize);
        let act = CampaignAct::Begin { settings, people: list, name: format!("together-{number}") };
        acts.push((soon(&mut random), Act::Campaign { customer, act }));
    }
    let retry = json!({"maxRetries": 1, "on": ["no_answer", "busy"], "delayMinutes": 10});
    let body = json!({"outsideWindow": "queue", "retry": retry});
    let nudge = Act::Nudge { customer, key: 2, test: false, to, body, name: "together-nudge".into() };
    acts.push((soon(&mut random), nudge));
    if random.percent(50) {
        let due = at.plus(random.range(1, 40) * 1_000);
        acts.push((at, Act::Schedule { customer, to, at: due, name: "together-scheduled".into() }));
    }
    acts
}

fn settings(random: &mut Random, at: Timestamp) -> Value {
    let mut settings = json!({
        "retryCount": random.range(0, 3),
        "cooldownMinutes": *random.pick(&[0, 10, 60, 600]),
        "emailNotifications": ["asha@example.in"],
    });
    if random.percent(30) {
        settings["dailyFrom"] = json!(format!("{:02}:30", random.range(8, 12)));
        settings["dailyTo"] = json!(format!("{:02}:15", random.range(13, 22)));
    }
    if random.percent(25) {
        settings["endAt"] = json!(at.plus(random.range(1, 3 * 24) * HOUR));
    }
    if random.percent(20) {
        settings["startAt"] = json!(at.plus(-DAY + random.range(0, 40) * HOUR).min(at.plus(HOUR - 1)));
    }
    if random.percent(30) {
        settings["maxConcurrentCalls"] = json!(random.range(1, 2));
    }
    settings
}

/// Does one thing.
pub async fn attempt(
    app: &Arc<App>,
    whose: (usize, &Customer),
    act: &CampaignAct,
    known: &(dyn Fn(&mut dyn FnMut(&mut Log)) + Sync),
    promise: &(dyn Fn(Promise, bool) + Sync),
) -> Result<(), Failure> {
    let (customer, whose) = whose;
    let chosen = |pick: u64| {
        let mut found = None;
        known(&mut |log| {
            let own: Vec<Id<Campaign>> =
                log.campaigns.iter().filter(|(of, ..)| *of == customer).map(|(_, id, _)| *id).collect();
            found = own.get((pick % (own.len().max(1) as u64)) as usize).copied();
        });
        found
    };
    match act {
        CampaignAct::Begin { settings, people, name } => {
            let mut made = None;
            known(&mut |log| {
                made = log.campaigns.iter().find(|(.., known)| known == name).map(|(_, id, _)| *id)
            });
            let id = match made {
                Some(id) => id,
                None => {
                    // A revoked key makes nothing.
                    let Some(caller) = app.authenticate(&whose.keys[2].0).await? else { return Ok(()) };
                    let body = json!({"name": name, "agentId": whose.agent, "settings": settings});
                    let id =
                        campaign::create(app, caller.tenant(), checked("createCampaign", body)).await?.id;
                    known(&mut |log| log.campaigns.push((customer, id, name.clone())));
                    id
                }
            };
            let rows: Vec<Value> = people
                .iter()
                .map(|phone| json!({"phone": phone.to_string(), "variables": {"due": "5"}}))
                .collect();
            let rows: api::campaigns::NewCallingList =
                checked("setCampaignContacts", json!({"contacts": rows}));
            if campaign::get(app, whose.tenant, id).await?.status == Status::Draft {
                let mut earlier = None;
                known(&mut |log| {
                    let own = log.campaigns.iter().filter(|(of, known, _)| *of == customer && *known != id);
                    earlier = own.map(|(_, id, _)| *id).next();
                });
                boards::automate(app, whose.tenant, id, earlier).await?;
                list::replace(app, whose.tenant, id, rows.contacts).await?;
                campaign::set_status(app, (whose.tenant, Actor::Operator), id, Status::Active).await?;
            }
        }
        CampaignAct::Pause(pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            campaign::set_status(app, (whose.tenant, Actor::Operator), id, Status::Paused).await?;
            promise(Promise::Paused(id, true), true);
        }
        CampaignAct::Resume(pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            // It may go on from here on, whenever the answer comes.
            promise(Promise::Paused(id, false), false);
            campaign::set_status(app, (whose.tenant, Actor::Operator), id, Status::Active).await?;
            promise(Promise::Paused(id, false), true);
        }
        CampaignAct::Complete(pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            campaign::set_status(app, (whose.tenant, Actor::Operator), id, Status::Completed).await?;
            promise(Promise::Completed(id), true);
        }
        CampaignAct::Run(pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            run::start(app, whose.tenant, id).await?;
        }
        CampaignAct::Add(pick, phone) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            let (context, tenant, phone) = (app.context(), whose.tenant, phone.to_string());
            app.of(tenant)
                .tx(move |tx| {
                    let row = list::NewRow {
                        phone: phone.clone(),
                        name: None,
                        variables: Map::new(),
                        stream: None,
                    };
                    list::add(tx, &context, id, vec![row])
                })
                .await?;
        }
    }
    Ok(())
}
