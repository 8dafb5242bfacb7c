//! Test links of agents, and the chats that are opened with one (docs/contract/chats.md#test-chats). Strangers hold these links,
//! so everything that they can make grow has a ceiling: by address, by link and by day.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use api::chats::{ChatReply, ChatSession};
use api::error_codes as codes;
use api::events::Event;
use api::test_links::{
    ADDRESS_REQUESTS, CHATS_A_DAY, LINK_REQUESTS, MAX_LINKS, MESSAGES_A_DAY, MadeTestLink, NewTestLink,
    OpenedTestChat, TestLink, WORKSPACE_REQUESTS,
};
use app::access::network_of;
use app::limits::rates;
use app::{App, Failure, access, published_flows};
use domain::actor::Actor;
use domain::agent::Channel as AgentChannel;
use domain::chat::{Channel, TurnKind};
use domain::ids::{self, Agent, Chat, Id};
use domain::tenant::Tenant;
use domain::time::{DAY, MINUTE, Timestamp};
use store::flow_visits::day_of;
use store::test_links::{self, TestLinkAuth, TestLinkRow, Use};
use store::{TenantTx, agents, chats};

use crate::feed::Feed;
use crate::open::{check_flow_of, fresh};
use crate::read::session_of;
use crate::session::{Claim, Env, begin_turn, emit, standing};
use crate::{reply, send};

fn view(row: TestLinkRow, today: i64) -> TestLink {
    let of_today = |count: i64| if row.day == today { count } else { 0 };
    TestLink {
        chats_today: of_today(row.chats),
        messages_today: of_today(row.messages),
        id: row.id,
        agent_id: row.agent,
        name: row.name,
        draft: row.draft,
        created_by: row.author,
        created_at: row.created_at,
        expires_at: row.expires_at,
    }
}

/// `POST /v1/agents/{id}/test-links`.
///
/// # Errors
/// 404; 403 `chat_not_enabled` for an agent that speaks; 409 `conflict` at the ceiling.
pub async fn make(
    app: &App,
    tenant: Tenant,
    agent: Id<Agent>,
    by: Actor,
    body: NewTestLink,
) -> Result<MadeTestLink, Failure> {
    let now = app.clock.now();
    let token = app.ids.random_text(40);
    let hash = app.keyring.hash(&token);
    let row = TestLinkRow {
        id: app.ids.make(),
        agent,
        name: body.name.unwrap_or_default().trim().to_owned(),
        draft: body.draft.unwrap_or(false),
        author: by.to_string(),
        created_at: now,
        expires_at: now.plus(body.expires_in_days.unwrap_or(7).saturating_mul(DAY)),
        day: 0,
        chats: 0,
        messages: 0,
    };
    let made = app
        .of(tenant)
        .tx(move |tx| {
            // Orders those who make links at the same moment.
            let found = app::agents::find_for_update(tx, agent)?;
            if found.channel != AgentChannel::Chat {
                return Err(Failure::plain(codes::CHAT_NOT_ENABLED));
            }
            if test_links::list(tx, agent, now)?.len() >= MAX_LINKS {
                return Err(Failure::conflict(format!(
                    "the agent has {MAX_LINKS} test links; revoke one first"
                )));
            }
            test_links::forget(tx, agent, Some(now))?;
            test_links::insert(tx, &row, &hash)?;
            Ok(view(row.clone(), day_of(now)))
        })
        .await?;
    Ok(MadeTestLink { url: format!("{}/test/{token}", app.config.public_url), link: made })
}

/// `GET /v1/agents/{id}/test-links`.
///
/// # Errors
/// 404.
pub async fn links(app: &App, tenant: Tenant, agent: Id<Agent>) -> Result<Vec<TestLink>, Failure> {
    let now = app.clock.now();
    app.of(tenant)
        .read(move |tx| {
            app::agents::find(tx, agent)?;
            let rows = test_links::list(tx, agent, now)?;
            Ok(rows.into_iter().map(|row| view(row, day_of(now))).collect())
        })
        .await
}

/// `DELETE /v1/agents/{id}/test-links/{link}`.
///
/// # Errors
/// 404.
pub async fn revoke(
    app: &App,
    tenant: Tenant,
    agent: Id<Agent>,
    link: Id<ids::TestLink>,
) -> Result<(), Failure> {
    let removed = app.of(tenant).tx(move |tx| test_links::remove(tx, agent, link)).await?;
    if removed { Ok(()) } else { Err(Failure::not_found("test link")) }
}

/// Networks whose requests of this minute a node counts; more than that begin again.
const REMEMBERED: usize = 10_000;

/// Requests of strangers in the current minute, by network, on this node.
#[derive(Default)]
struct Visitors(Mutex<(i64, HashMap<IpAddr, u32>)>);

impl Visitors {
    /// Counts a request; whether the network had as many as it may in this minute.
    fn admit(&self, address: IpAddr, now: Timestamp) -> bool {
        let minute = now.0.div_euclid(MINUTE);
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.0 != minute || seen.1.len() >= REMEMBERED {
            *seen = (minute, HashMap::new());
        }
        let count = seen.1.entry(network_of(address)).or_insert(0);
        *count = count.saturating_add(1);
        *count <= ADDRESS_REQUESTS
    }
}

fn too_many(message: &str) -> Failure {
    Failure { retry_after: Some(60), ..Failure::new(codes::RATE_LIMITED, message) }
}

/// Lets in who has the token of a test link.
///
/// # Errors
/// 401 for a token of no link, 403 of a suspended workspace, 429.
async fn admit(app: &App, token: &str, address: IpAddr) -> Result<TestLinkAuth, Failure> {
    let now = app.clock.now();
    if !app.state.of(Visitors::default).admit(address, now) {
        return Err(too_many("too many requests from this address; try again in a minute"));
    }
    let hash = app.keyring.hash(token);
    let wanted = hash.clone();
    let look_up =
        async { Ok::<_, Failure>(app.store.read(move |tx| test_links::by_token(tx, &wanted, now)).await?) };
    let link = app.admit_secret(&hash, address, look_up, "the test link is not valid, or has ended").await?;
    if link.suspended {
        return Err(Failure::plain(codes::WORKSPACE_SUSPENDED));
    }
    let classes = vec![
        ("test_chats".to_owned(), WORKSPACE_REQUESTS),
        (format!("test_link:{}", link.id), LINK_REQUESTS),
    ];
    rates::take(app, link.workspace, classes, now).await.1?;
    Ok(link)
}

/// `POST /test-chats/{token}`: the agent's first message is the answer.
///
/// # Errors
/// docs/contract/chats.md#test-chats
pub async fn open(app: &Arc<App>, token: &str, address: IpAddr) -> Result<OpenedTestChat, Failure> {
    let link = admit(app, token, address).await?;
    let tenant = link.workspace;
    let room = reply::take_room(app, tenant)?;
    // A large graph is read before the transaction, which then finds it read.
    let (agent, draft) = (link.agent, link.draft);
    app.of(tenant)
        .read(move |tx| match agents::get(tx, agent)? {
            Some(row) => published_flows::flow_of_id(tx, flow_of(&row, draft)).map(drop),
            None => Ok(()),
        })
        .await?;
    let env = Env::of(app);
    let id = env.context.ids.make::<Chat>();
    let (claim, agent_name) = app.of(tenant).tx(move |tx| begin(tx, &env, &link, id)).await?;
    let reply = reply::wait(reply::start(app, claim, Feed::silent(), room)).await?;
    Ok(OpenedTestChat { chat_id: id, agent_name, reply: reply.reply, ended: reply.ended })
}

fn flow_of(row: &store::agents::AgentRow, draft: bool) -> &str {
    if draft { &row.draft_flow } else { &row.published_flow }
}

fn begin(
    tx: &mut TenantTx,
    env: &Env,
    link: &TestLinkAuth,
    id: Id<Chat>,
) -> Result<(Claim, String), Failure> {
    let workspace = access::workspace(tx)?;
    if !access::feature_on(&workspace, "chat") {
        return Err(Failure::new(codes::FEATURE_DISABLED, "chats are off for this workspace"));
    }
    // Kept from changing, so that the flow is still there when the chat is stored.
    let agent = agents::get_shared(tx, link.agent)?
        .filter(|row| row.channel == AgentChannel::Chat)
        .ok_or_else(|| Failure::plain(codes::AGENT_UNAVAILABLE))?;
    let flow = published_flows::flow_of_id(tx, flow_of(&agent, link.draft))?;
    check_flow_of(env, &flow)?;
    if !test_links::count(tx, link.id, Use::Chat, day_of(env.context.now), CHATS_A_DAY)? {
        return Err(too_many("the link has had as many chats today as it may; try again tomorrow"));
    }
    let mut row = fresh(env, link.workspace, id, &agent, Channel::Web, 0);
    row.test_link = Some(link.id);
    if link.draft {
        row.flow.clone_from(&agent.draft_flow);
        row.flow_version = None;
    }
    let claim = begin_turn(env, &mut row, TurnKind::Opening);
    row.next_at = domain::chat::look_at(&standing(&row), env.limits(row.channel));
    chats::insert(tx, &row)?;
    tx.wake(app::topics::CHATS);
    emit(tx, env, &row, Event::ChatStarted)?;
    Ok((claim, agent.name))
}

/// `POST /test-chats/{token}/{chat}/messages`.
///
/// # Errors
/// docs/contract/chats.md#test-chats
pub async fn say(
    app: &Arc<App>,
    token: &str,
    address: IpAddr,
    chat: Id<Chat>,
    text: String,
) -> Result<ChatReply, Failure> {
    let link = admit(app, token, address).await?;
    let counted = move |tx: &mut TenantTx, now: Timestamp| {
        if test_links::count(tx, link.id, Use::Message, day_of(now), MESSAGES_A_DAY)? {
            Ok(())
        } else {
            Err(too_many("the link has had as many messages today as it may; try again tomorrow"))
        }
    };
    send::send_in_test(app, link.workspace, chat, link.id, counted, text).await
}

/// `GET /test-chats/{token}/{chat}`.
///
/// # Errors
/// 401, 404, 429.
pub async fn read(app: &App, token: &str, address: IpAddr, chat: Id<Chat>) -> Result<ChatSession, Failure> {
    let link = admit(app, token, address).await?;
    app.of(link.workspace)
        .read(move |tx| {
            let row = chats::get(tx, chat)?.filter(|row| row.test_link == Some(link.id));
            session_of(tx, row.ok_or_else(|| Failure::not_found("test chat"))?)
        })
        .await
}
