//! Members beside everything else: they come, are seen and go, take chats, give them to each other and back, while
//! customers ask for people. In most workspaces round robin is on. They are planned apart from the rest, so that a seed
//! stays as it is.

use std::sync::Arc;

use dastak::app::{App, Failure, members, presence};
use domain::actor::Actor;
use domain::ids::{Id, User};
use domain::tenant::Tenant;
use domain::time::{MINUTE, SECOND, Timestamp};
use serde_json::json;

use crate::chats::ChatAct;
use crate::clients::{Act, Customer, Log, checked, trace};
use crate::random::Random;

/// Open chats of a member from which on round robin gives no more: that of the workspace, and that of the second member.
pub const CEILING: usize = 2;
pub const LOW_CEILING: usize = 1;
/// Members of a workspace; the first one takes chats over in other plans, too.
const MEMBERS: usize = 3;

/// Something that a member does, by their place. Chats are picked among those that are known.
#[derive(Debug, Clone)]
pub enum InboxAct {
    Come(usize),
    See(usize),
    Go(usize),
    Take(usize, u64),
    Write(usize, u64, String),
    /// Gives a chat to the second one.
    Assign(usize, usize, u64),
    HandBack(usize, u64),
    End(usize, u64),
}

/// What a member was asked to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Came,
    Seen,
    Went,
}

/// A change of a member's presence: when it was asked for, and when it was answered.
#[derive(Debug, Clone)]
pub struct Told {
    pub member: Id<User>,
    pub what: Presence,
    pub asked: Timestamp,
    pub answered: Option<Timestamp>,
}

/// What happens with members in a run.
pub fn plan(seed: u64, from: Timestamp) -> Vec<(Timestamp, Act)> {
    let mut random = Random::named(seed, "members");
    let mut acts = Vec::new();
    for round in 0..random.range(2, 4) {
        let customer = random.range(0, 1) as usize;
        let at = from.plus(random.range(0, 40 * 60) * MINUTE);
        let chats = random.range(2, 5);
        for _ in 0..chats {
            acts.push((at, Act::Chat { customer, act: ChatAct::Open }));
        }
        // What a slow model or store held up in the first wave happens in the next one.
        for wave in 0..random.range(2, 4) {
            let at = at.plus(MINUTE + wave * random.range(2, 20) * MINUTE);
            acts.extend(members_come(&mut random, customer, at));
            for number in 0..chats {
                let words = format!("person-{round}-{wave}-{number}");
                let chat = Act::Chat { customer, act: ChatAct::Say(random.next(), words) };
                acts.push((near(&mut random, at, 120), chat));
            }
            for number in 0..random.range(1, 5) {
                let words = format!("member-{round}-{wave}-{number}");
                acts.extend(member_does(&mut random, customer, at, words));
            }
        }
    }
    acts
}

/// A nearby moment, often the same one.
fn near(random: &mut Random, at: Timestamp, most: i64) -> Timestamp {
    at.plus(if random.percent(30) { 0 } else { random.range(0, most * SECOND) })
}

/// Members come, are seen, and some go.
fn members_come(random: &mut Random, customer: usize, at: Timestamp) -> Vec<(Timestamp, Act)> {
    let mut acts = Vec::new();
    let act = |act: InboxAct| Act::Inbox { customer, act };
    for member in 0..MEMBERS {
        if random.percent(30) {
            continue;
        }
        let comes = near(random, at, 90);
        acts.push((comes, act(InboxAct::Come(member))));
        for _ in 0..random.range(0, 4) {
            acts.push((comes.plus(random.range(5, 300) * SECOND), act(InboxAct::See(member))));
        }
        if random.percent(50) {
            acts.push((comes.plus(random.range(0, 200) * SECOND), act(InboxAct::Go(member))));
        }
    }
    acts
}

/// A member does something with a chat; some meet a colleague who wants the same chat at the same moment.
fn member_does(random: &mut Random, customer: usize, at: Timestamp, words: String) -> Vec<(Timestamp, Act)> {
    let (member, pick) = (random.range(0, MEMBERS as i64 - 1) as usize, random.next());
    let what = match random.range(0, 99) {
        0..=24 => InboxAct::Take(member, pick),
        25..=44 => InboxAct::Write(member, pick, words),
        45..=64 => InboxAct::Assign(member, random.range(0, MEMBERS as i64 - 1) as usize, pick),
        65..=89 => InboxAct::HandBack(member, pick),
        _ => InboxAct::End(member, pick),
    };
    let when = near(random, at, 200);
    let mut acts = Vec::new();
    if random.percent(25) {
        acts.push((when, Act::Inbox { customer, act: InboxAct::Take((member + 1) % MEMBERS, pick) }));
    }
    acts.push((when, Act::Inbox { customer, act: what }));
    acts
}

/// The members of a workspace beside the first, and in most workspaces round robin.
pub async fn set_up(
    app: &App,
    seed: u64,
    number: usize,
    tenant: Tenant,
    first: Id<User>,
) -> Result<Vec<Id<User>>, Failure> {
    let mut team = vec![first];
    for name in ["Kavya", "Meera"].into_iter().take(MEMBERS - 1) {
        let email = format!("{}@example.in", name.to_lowercase());
        let body = json!({"email": email, "name": name, "role": "editor"});
        team.push(members::create(app, trace(), tenant, checked("createMember", body)).await?.id);
    }
    if Random::named(seed, &format!("inbox {number}")).percent(75) {
        let body = json!({"assignment": "round_robin", "maxOpenPerMember": CEILING});
        chats::inbox::set_assignment(app, tenant, checked("setInboxSettings", body)).await?;
        let body = checked("setInboxCeiling", json!({"maxOpen": LOW_CEILING}));
        chats::inbox::set_ceiling(app, tenant, team[1], body).await?;
    }
    Ok(team)
}

/// Does one thing.
pub async fn attempt(
    app: &Arc<App>,
    whose: (usize, &Customer),
    act: &InboxAct,
    known: &(dyn Fn(&mut dyn FnMut(&mut Log)) + Sync),
) -> Result<(), Failure> {
    let (customer, whose) = whose;
    let (tenant, team) = (whose.tenant, &whose.team);
    let chosen = |pick: u64| {
        let mut found = None;
        known(&mut |log| {
            let own: Vec<_> =
                log.chats.opened.iter().filter(|(of, _)| *of == customer).map(|(_, id)| *id).collect();
            found = own.get((pick % (own.len().max(1) as u64)) as usize).copied();
        });
        found
    };
    match act {
        InboxAct::Come(member) | InboxAct::See(member) | InboxAct::Go(member) => {
            let member = team[*member];
            let what = match act {
                InboxAct::Come(_) => Presence::Came,
                InboxAct::Go(_) => Presence::Went,
                _ => Presence::Seen,
            };
            let asked = app.clock.now();
            let mut place = 0;
            known(&mut |log| {
                place = log.presence.len();
                log.presence.push(Told { member, what, asked, answered: None });
            });
            match what {
                Presence::Seen => presence::touch(app, tenant, member).await?,
                Presence::Came | Presence::Went => {
                    let comes = what == Presence::Came;
                    chats::inbox::available(app, tenant, member, comes).await?;
                }
            }
            let answered = Some(app.clock.now());
            known(&mut |log| log.presence[place].answered = answered);
        }
        InboxAct::Take(member, pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            chats::inbox::take(app, tenant, team[*member], id).await?;
            known(&mut |log| log.chats.taken.push(id));
        }
        InboxAct::Write(member, pick, words) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            chats::inbox::write(app, tenant, team[*member], id, words.clone()).await?;
            known(&mut |log| log.chats.written.push((id, words.clone())));
        }
        InboxAct::Assign(by, to, pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            let by = Actor::Member(team[*by]);
            chats::inbox::assign(app, tenant, by, id, team[*to].to_string()).await?;
            known(&mut |log| log.chats.taken.push(id));
        }
        InboxAct::HandBack(member, pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            chats::inbox::hand_back(app, tenant, team[*member], id).await?;
            known(&mut |log| log.chats.given_back.push(id));
        }
        InboxAct::End(member, pick) => {
            let Some(id) = chosen(*pick) else { return Ok(()) };
            chats::inbox::end(app, tenant, team[*member], id).await?;
        }
    }
    Ok(())
}
