//! What clients and people do on the messaging channel. They are planned apart from everything else.

use std::sync::Arc;

use api::error_codes as codes;
use channel::campaigns::settings;
use channel::{connections, numbers, requests, templates};
use dastak::app::idempotency::Once;
use dastak::app::{App, Failure};
use domain::campaign::Status;
use domain::ids::{Agent, Campaign, Id};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use domain::time::{HOUR, MINUTE, Timestamp};
use serde_json::{Value, json};

use crate::carrier::World;
use crate::clients::{Act, Customer, Log, checked, people, trace};
use crate::cloud::{self, TEMPLATES};
use crate::faults::UNCOUNTED;
use crate::random::Random;

/// Something done on the channel. What is done with campaigns picks one that is known.
#[derive(Debug, Clone)]
pub enum ChannelAct {
    /// These words, each sent once in a run; with a key they are the key, too.
    Send {
        to: Phone,
        words: String,
        template: Option<usize>,
        keyed: bool,
    },
    /// A person writes, or taps.
    Write {
        from: Phone,
        words: String,
        id: String,
        tap: bool,
    },
    /// Make a campaign, give it a list, publish it.
    Begin {
        people: Vec<Phone>,
        name: String,
        template: usize,
        rate: i64,
    },
    Pause(u64),
    Resume(u64),
    Complete(u64),
    /// The access is withdrawn.
    Withdraw,
    /// The operator brings a new token.
    Mend,
    /// The API answers nothing of use for so many minutes.
    Away(i64),
}

/// What clients know.
#[derive(Clone, Default)]
pub struct Known {
    pub campaigns: Vec<(usize, Id<Campaign>, String)>,
    /// Words that were sent with a key.
    pub keyed: Vec<String>,
}

/// What happens on the channel in a run.
pub fn plan(seed: u64, from: Timestamp) -> Vec<(Timestamp, Act)> {
    let mut random = Random::named(seed, "channel");
    let people = people();
    let mut acts = Vec::new();
    let mut number = 0;
    let mut words = |kind: &str| {
        number += 1;
        format!("{kind}-{number}")
    };
    let act = |customer: usize, act: ChannelAct| Act::Channel { customer, act };
    // People who write in bursts, are answered by the agent and by clients, and change their mind.
    for _ in 0..random.range(2, 5) {
        let customer = random.range(0, 1) as usize;
        let person = *random.pick(&people);
        let mut at = from.plus(random.range(0, 40 * 60) * MINUTE);
        for _ in 0..random.range(2, 8) {
            at = at.plus(match random.range(0, 9) {
                0..=1 => 0,
                2..=6 => random.range(1, 9_000),
                7..=8 => random.range(1, 30) * MINUTE,
                _ => random.range(1, 26) * HOUR,
            });
            let id = words("wamid.in");
            let write = |said: String, tap: bool| ChannelAct::Write {
                from: person,
                words: said,
                id: id.clone(),
                tap,
            };
            let done = match random.range(0, 99) {
                0..=59 => write(words("ask"), false),
                60..=67 => write("STOP".into(), random.percent(40)),
                68..=73 => write("START".into(), false),
                74..=75 => write("stop all".into(), false),
                _ => ChannelAct::Send {
                    to: person,
                    words: words("say"),
                    template: None,
                    keyed: random.percent(70),
                },
            };
            acts.push((at, act(customer, done)));
        }
    }
    // Clients who send templates, many at one moment.
    for _ in 0..random.range(0, 3) {
        let customer = random.range(0, 1) as usize;
        let at = from.plus(random.range(0, 40 * 60) * MINUTE);
        for _ in 0..random.range(1, 6) {
            let send = ChannelAct::Send {
                to: *random.pick(&people),
                words: words("note"),
                template: Some(usize::from(random.percent(30))),
                keyed: random.percent(70),
            };
            acts.push((at.plus(random.range(0, 1) * random.range(0, 5_000)), act(customer, send.clone())));
            if random.percent(25) {
                // The client repeats it, perhaps before the first one has gone through.
                acts.push((at.plus(random.range(0, 1) * random.range(1, 60_000)), act(customer, send)));
            }
        }
    }
    for _ in 0..random.range(0, 2) {
        let customer = random.range(0, 1) as usize;
        let at = from.plus(random.range(0, 36 * 60) * MINUTE);
        let begin = ChannelAct::Begin {
            people: (0..random.range(3, 10)).map(|_| *random.pick(&people)).collect(),
            name: words("sale"),
            template: usize::from(random.percent(30)),
            rate: *random.pick(&[1, 6, 60, 600]),
        };
        acts.push((at, act(customer, begin)));
        for _ in 0..random.range(0, 4) {
            let soon = at.plus(if random.percent(60) {
                random.range(0, 120_000)
            } else {
                random.range(0, 600) * MINUTE
            });
            let pick = random.next();
            let done = match random.range(0, 99) {
                0..=39 => {
                    let later = soon.plus(random.range(0, 200) * MINUTE);
                    acts.push((later, act(customer, ChannelAct::Resume(pick))));
                    ChannelAct::Pause(pick)
                }
                40..=49 => ChannelAct::Complete(pick),
                _ => ChannelAct::Write {
                    from: *random.pick(&people),
                    words: random.pick(&["STOP", "yes", "STOP"]).to_string(),
                    id: words("wamid.in"),
                    tap: true,
                },
            };
            acts.push((soon, act(customer, done)));
        }
    }
    if random.percent(50) {
        let customer = random.range(0, 1) as usize;
        let at = from.plus(random.range(0, 40 * 60) * MINUTE);
        let (done, later) = match random.percent(50) {
            true => (ChannelAct::Withdraw, at.plus(random.range(1, 600) * MINUTE)),
            false => (ChannelAct::Away(random.range(10, 600)), at.plus(601 * MINUTE)),
        };
        acts.push((at, act(customer, done)));
        acts.push((later, act(customer, ChannelAct::Mend)));
    }
    acts
}

/// Connects the account of a customer, with a number that an agent answers, and reads its templates. The id of the
/// connection is what notifications are sent to.
pub async fn set_up(
    app: &Arc<App>,
    number: usize,
    tenant: Tenant,
    key: &str,
    agent: Id<Agent>,
) -> Result<String, Failure> {
    let account = checked("putChannelConnection", cloud::credentials(number, 0));
    let connection = connections::put(app, trace(), tenant, account).await?;
    let (id, e164) = cloud::number_of(number);
    let bound = checked("bindChannelNumber", json!({"phoneNumberId": id, "number": e164, "agentId": agent}));
    numbers::bind(app, trace(), tenant, bound).await?;
    let caller = app.authenticate(key).await?.expect("a key");
    templates::sync(app, &caller).await?;
    Ok(connection.id.to_string())
}

fn once(tenant: Tenant, words: &str, keyed: bool) -> Once {
    let text = || words.to_owned();
    if !keyed {
        return Once::unkeyed();
    }
    Once::keyed(
        tenant.to_string(),
        Mode::Live,
        "sendChannelMessage",
        text(),
        text(),
        format!("holder-{words}"),
    )
}

/// What a client does about a refusal that passes: it asks again.
fn again(failure: Failure) -> Failure {
    if failure.error == codes::IDEMPOTENCY_IN_PROGRESS { Failure::plain(codes::UNAVAILABLE) } else { failure }
}

/// The id of a template in the workspace.
async fn template(app: &App, tenant: Tenant, which: usize) -> Result<Option<String>, Failure> {
    let name = TEMPLATES[which].1;
    let wanted = domain::channel::template::TemplateRef::Name { name: name.into(), language: "en".into() };
    let found = app.of(tenant).read(move |tx| templates::find(tx, &wanted)).await;
    match found {
        Ok(template) => Ok(Some(template.id.to_string())),
        Err(failure) if failure.error == codes::UNAVAILABLE => Err(failure),
        Err(_) => Ok(None),
    }
}

/// Does one thing.
pub async fn attempt(
    app: &Arc<App>,
    world: &World,
    whose: (usize, &Customer),
    act: &ChannelAct,
    known: &(dyn Fn(&mut dyn FnMut(&mut Log)) + Sync),
) -> Result<(), Failure> {
    let (customer, whose) = whose;
    let tenant = whose.tenant;
    // The third key is never revoked.
    let key = &whose.keys[2].0;
    let chosen = |pick: u64| {
        let mut found = None;
        known(&mut |log| {
            let all = &log.channel.campaigns;
            let own: Vec<Id<Campaign>> =
                all.iter().filter(|(of, ..)| *of == customer).map(|(_, id, _)| *id).collect();
            found = own.get((pick % (own.len().max(1) as u64)) as usize).copied();
        });
        found
    };
    let status = async |id: Id<Campaign>, status: &str| {
        let Some(caller) = app.authenticate(key).await? else { return Ok(()) };
        let body = checked("setCampaignStatus", json!({"status": status}));
        settings::set_status(app, &caller, id, body).await.map(|_| ())
    };
    match act {
        ChannelAct::Send { to, words, template, keyed } => {
            let Some(caller) = app.authenticate(key).await? else { return Ok(()) };
            let mut body = json!({"to": to.to_string()});
            match template {
                Some(which) => {
                    body["template"] =
                        json!({"name": TEMPLATES[*which].1, "language": "en", "params": {"body": [words]}})
                }
                None => body["text"] = json!(words),
            }
            let body = checked("sendChannelMessage", body);
            if *keyed {
                known(&mut |log| log.channel.keyed.push(words.clone()));
            }
            let (sender, once) = (app.clone(), once(tenant, words, *keyed));
            let sent = tokio::spawn(
                UNCOUNTED.scope((), async move { requests::send(&sender, &caller, once, body).await }),
            );
            // A client that waits for a slow provider is no work of the service; this one goes away.
            tokio::select! {
                biased;
                sent = sent => sent.expect("no panic").map(|_| ()).map_err(again),
                () = world.is_slow() => Ok(()),
            }?;
        }
        ChannelAct::Write { from, words, id, tap } => world.write(customer, *from, id, words, *tap),
        ChannelAct::Begin { people, name, template: which, rate } => {
            let Some(caller) = app.authenticate(key).await? else { return Ok(()) };
            let mut made = None;
            known(&mut |log| {
                made = log.channel.campaigns.iter().find(|(.., known)| known == name).map(|(_, id, _)| *id);
            });
            let id = match made {
                Some(id) => id,
                None => {
                    let Some(template) = template(app, tenant, *which).await? else { return Ok(()) };
                    let body = json!({"name": name, "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
                        "chatapp": {"templateId": template, "ratePerMinute": rate,
                            "paramMapping": {"body.1": {"source": "static", "value": name}}}});
                    let id = settings::create(app, &caller, checked("createCampaign", body)).await?.id;
                    known(&mut |log| log.channel.campaigns.push((customer, id, name.clone())));
                    id
                }
            };
            if settings::get(app, &caller, id).await?.status != Status::Draft {
                return Ok(());
            }
            let rows: Vec<Value> = people
                .iter()
                .map(|phone| json!({"phone": phone.to_string(), "variables": {"chatapp_opt_in": "yes"}}))
                .collect();
            let rows: api::campaigns::NewCallingList =
                checked("setCampaignContacts", json!({"contacts": rows}));
            campaigns::list::replace(app, tenant, id, rows.contacts).await?;
            status(id, "active").await?;
        }
        ChannelAct::Pause(pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            status(id, "paused").await?;
        }
        ChannelAct::Resume(pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            status(id, "active").await?;
        }
        ChannelAct::Complete(pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            status(id, "completed").await?;
        }
        ChannelAct::Withdraw => world.cloud().accounts[customer].withdrawn = true,
        ChannelAct::Away(minutes) => {
            let now = world.passed();
            world.cloud().accounts[customer].away = Some((now, now.plus(minutes * MINUTE)));
        }
        ChannelAct::Mend => {
            let consent = {
                let account = &mut world.cloud().accounts[customer];
                account.consent += 1;
                account.withdrawn = false;
                account.consent
            };
            let body = checked("putChannelConnection", cloud::credentials(customer, consent));
            let (mender, tenant) = (app.clone(), tenant);
            let mended = tokio::spawn(
                UNCOUNTED.scope((), async move { connections::put(&mender, trace(), tenant, body).await }),
            );
            // The operator tries again what the API did not answer.
            let mended = tokio::select! {
                biased;
                mended = mended => mended.expect("no panic"),
                () = world.is_slow() => return Err(Failure::plain(codes::UNAVAILABLE)),
            };
            let passes = [codes::PROVIDER_UNAVAILABLE, codes::PROVIDER_REFUSED, codes::CONFLICT];
            mended.map(|_| ()).map_err(|failure| match passes.contains(&failure.error) {
                true => Failure::plain(codes::UNAVAILABLE),
                false => failure,
            })?;
        }
    }
    Ok(())
}
