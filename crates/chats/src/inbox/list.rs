//! Views of the inbox: chats of all channels in one list, and one chat.

use std::collections::HashMap;

use api::channel_conversations::ChatLabel;
use api::events::chats::Teammate;
use api::inbox::{InboxCounts, InboxEntry, InboxEntryDetail, InboxMessage, InboxPreview};
use app::limits::pages;
use app::{App, Failure, access};
use domain::channel::window::WINDOW;
use domain::chat::inbox::{MAX_COUNT, PREVIEW, View, response_due};
use domain::chat::{Channel, State};
use domain::ids::{Agent, Chat, Id, User};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use store::channel_conversations::{self, ChannelChatRow};
use store::chats::{self, MessageRow};
use store::inbox::{self, EntryRow, LastMessage, Position};
use store::{TenantTx, Tx};

use super::team;
use crate::session::customer;
use crate::undelivered::undelivered;

/// What the list shows beside the rows of chats, read for a whole page.
struct Around {
    agents: HashMap<Id<Agent>, String>,
    members: HashMap<Id<User>, String>,
    carried: HashMap<Id<Chat>, ChannelChatRow>,
    windows: HashMap<Id<Chat>, Timestamp>,
    last: HashMap<Id<Chat>, LastMessage>,
    labels: HashMap<Id<Chat>, Vec<ChatLabel>>,
    /// Of the member who asks, if it is one.
    read: Option<HashMap<Id<Chat>, i64>>,
    response_minutes: Option<i64>,
}

impl Around {
    fn of(tx: &mut TenantTx, rows: &[EntryRow], member: Option<Id<User>>) -> Result<Self, Failure> {
        let ids: Vec<Id<Chat>> = rows.iter().map(|row| row.id).collect();
        let on_channel: Vec<Id<Chat>> =
            rows.iter().filter(|row| row.channel == Channel::Chatapp).map(|row| row.id).collect();
        let agents: Vec<Id<Agent>> = rows.iter().map(|row| row.agent).collect();
        let members: Vec<Id<User>> = rows.iter().filter_map(|row| row.teammate).collect();
        let mut around = Self {
            agents: inbox::agent_names(tx, &distinct(agents))?.into_iter().collect(),
            members: HashMap::new(),
            carried: HashMap::new(),
            windows: HashMap::new(),
            last: HashMap::new(),
            labels: HashMap::new(),
            read: None,
            response_minutes: team::settings(tx)?.response_minutes,
        };
        if !members.is_empty() {
            around.members = inbox::member_names(tx, &distinct(members))?.into_iter().collect();
        }
        if !on_channel.is_empty() {
            let carried = channel_conversations::of_chats(tx, &on_channel)?;
            around.carried = carried.into_iter().map(|row| (row.chat, row)).collect();
            around.windows = inbox::windows(tx, &on_channel)?.into_iter().collect();
        }
        // One more than are shown tells whether there are more.
        let last = inbox::last_messages(tx, &ids, PREVIEW as i64 + 1)?;
        around.last = last.into_iter().map(|message| (message.chat, message)).collect();
        for (chat, id, name, color) in channel_conversations::labels_of(tx, &ids)? {
            around.labels.entry(chat).or_default().push(ChatLabel { id, name, color });
        }
        if let Some(member) = member {
            around.read = Some(inbox::marks(tx, member, &ids)?.into_iter().collect());
        }
        Ok(around)
    }

    fn view(&mut self, row: EntryRow) -> InboxEntry {
        let carried = self.carried.remove(&row.id);
        let held = row.state == State::Human;
        let helpdesk = carried.as_ref().filter(|carried| held && carried.helpdesk);
        let helpdesk = helpdesk.map(|carried| carried.helpdesk_name.clone().unwrap_or_default());
        let waits = row.state == State::AwaitingHuman;
        let open_hand_off = row.handoff_at.filter(|_| row.state.with_person());
        let read = self.read.as_ref();
        InboxEntry {
            id: row.id,
            channel: row.channel,
            agent_id: row.agent,
            agent_name: self.agents.get(&row.agent).cloned().unwrap_or_default(),
            contact_id: row.contact,
            external_ref: row.external_ref,
            customer: carried.as_ref().map(customer),
            state: row.state,
            end_cause: row.end_cause,
            assigned_to: row.teammate.map(|user_id| Teammate {
                user_id,
                name: self.members.get(&user_id).cloned().unwrap_or_default(),
            }),
            assigned_at: row.taken_at.filter(|_| held),
            helpdesk,
            waiting_since: row.handoff_at.filter(|_| waits),
            handoff_reason: row.handoff_reason,
            first_response_due_at: response_due(open_hand_off, row.human_at, self.response_minutes),
            last_message: self.last.remove(&row.id).map(preview),
            window_ends_at: self.windows.get(&row.id).map(|at| at.plus(WINDOW)),
            unread: read.map(|read| (row.customer_messages - read.get(&row.id).copied().unwrap_or(0)).max(0)),
            labels: self.labels.remove(&row.id).unwrap_or_default(),
            message_count: row.messages,
            started_at: row.created_at,
            last_message_at: row.last_at,
            ended_at: row.ended_at,
        }
    }
}

fn distinct<T: Ord>(mut ids: Vec<T>) -> Vec<T> {
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn preview(message: LastMessage) -> InboxPreview {
    let text = match message.text.char_indices().nth(PREVIEW) {
        Some((end, _)) => format!("{}…", &message.text[..end]),
        None => message.text,
    };
    InboxPreview { role: message.role, text, at: message.at }
}

fn views(
    tx: &mut TenantTx,
    rows: Vec<EntryRow>,
    member: Option<Id<User>>,
) -> Result<Vec<InboxEntry>, Failure> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut around = Around::of(tx, &rows, member)?;
    Ok(rows.into_iter().map(|row| around.view(row)).collect())
}

/// One chat as the member sees it in a list.
///
/// # Errors
/// 404.
pub(super) fn one(tx: &mut TenantTx, id: Id<Chat>, member: Option<Id<User>>) -> Result<InboxEntry, Failure> {
    let missing = || Failure::not_found("chat");
    let row = inbox::entry(tx, id)?.ok_or_else(missing)?;
    views(tx, vec![row], member)?.pop().ok_or_else(missing)
}

/// The key of a chat's position in a view: its time and its id.
fn key(view: View, entry: &InboxEntry) -> String {
    let at = match view {
        View::Waiting => entry.waiting_since,
        View::Mine | View::Open => None,
        View::Ended => entry.ended_at,
    };
    format!("{view}:{}:{}", at.unwrap_or(Timestamp(0)).0, entry.id)
}

/// Reads what [`key`] wrote for this view.
///
/// # Errors
/// 400 `invalid_cursor` for the key of another view.
fn position(view: View, key: &str) -> Result<Position, Failure> {
    let wrong = || {
        Failure::new(api::error_codes::INVALID_CURSOR, "cursor is of another view; start again without it")
    };
    let mut parts = key.splitn(3, ':');
    let (of, at, id) = (parts.next(), parts.next(), parts.next());
    let at = at.and_then(|at| at.parse().ok()).map(Timestamp);
    match (of == Some(view.as_str()), at, id) {
        (true, Some(at), Some(id)) => Ok(Position { at, id: id.to_owned() }),
        _ => Err(wrong()),
    }
}

/// `GET /v1/inbox`: chats of a view with the cursor of the next page. Empty for a test key, whose chats are not stored.
///
/// # Errors
/// 400 for `mine` without a member, and for a cursor of another view; 404 without the workspace.
pub async fn list(
    app: &App,
    (tenant, mode, member): (Tenant, Mode, Option<Id<User>>),
    view: View,
    after: Option<String>,
    limit: i64,
) -> Result<(Vec<InboxEntry>, Option<String>), Failure> {
    if view == View::Mine && member.is_none() {
        return Err(Failure::field("view", "must not be mine with an API key: a key has no chats"));
    }
    if let Some(after) = &after {
        position(view, after)?;
    }
    if mode == Mode::Test {
        return Ok((Vec::new(), None));
    }
    let page = app.store.read(move |tx| {
        access::workspace(&mut tx.of(tenant))?;
        let read = |tx: &mut Tx<'_>, limit: i64, after: Option<&str>| {
            let after = after.map(|after| position(view, after)).transpose()?;
            let rows = inbox::entries(&mut tx.of(tenant), view, member, after.as_ref(), limit)?;
            let shown = views(&mut tx.of(tenant), rows, member)?;
            let next = pages::last(&shown, limit, |entry| key(view, entry));
            Ok::<_, Failure>((shown, next))
        };
        pages::views(tx, limit, after.clone(), read, |entry: &InboxEntry| key(view, entry))
    });
    page.await
}

/// `GET /v1/inbox/counts`.
///
/// # Errors
/// 404 without the workspace.
pub async fn counts(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    member: Option<Id<User>>,
) -> Result<InboxCounts, Failure> {
    app.of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            let mut count = |view| match mode {
                Mode::Test => Ok(0),
                Mode::Live => inbox::count(tx, view, member, MAX_COUNT),
            };
            Ok::<_, Failure>(InboxCounts {
                waiting: count(View::Waiting)?,
                mine: count(View::Mine)?,
                open: count(View::Open)?,
                ended: count(View::Ended)?,
                limit: MAX_COUNT,
            })
        })
        .await
}

/// `GET /v1/inbox/{id}`.
///
/// # Errors
/// 404, for a test key, too.
pub async fn detail(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    member: Option<Id<User>>,
    id: Id<Chat>,
) -> Result<InboxEntryDetail, Failure> {
    app.of(tenant)
        .read(move |tx| {
            let row = chats::get(tx, id)?
                .filter(|row| mode == Mode::Live && row.test_link.is_none())
                .ok_or_else(|| Failure::not_found("chat"))?;
            let messages = chats::messages(tx, id, 0)?;
            let failed = undelivered(tx, &row)?;
            let authors = distinct(messages.iter().filter_map(|message| message.author).collect());
            let names: HashMap<Id<User>, String> = match authors.is_empty() {
                true => HashMap::new(),
                false => inbox::member_names(tx, &authors)?.into_iter().collect(),
            };
            let message = |message: MessageRow| InboxMessage {
                seq: message.seq,
                role: message.role,
                text: message.text,
                author: message.author.map(|user_id| Teammate {
                    user_id,
                    name: names.get(&user_id).cloned().unwrap_or_default(),
                }),
                agent_name: message.agent_name,
                at: message.at,
                failed: failed.contains(&message.seq),
            };
            Ok(InboxEntryDetail {
                entry: one(tx, id, member)?,
                messages: messages.into_iter().map(message).collect(),
                summary: row.summary,
                outcome: row.outcome,
                sentiment: row.sentiment,
                extracted: row.extracted,
            })
        })
        .await
}

#[cfg(test)]
mod tests {
    use domain::chat::Role;

    use super::*;

    #[test]
    fn a_long_message_is_cut_at_120_characters() {
        let shown = |text: &str| {
            let (chat, at) = (Id::new(1, 1), Timestamp(0));
            preview(LastMessage { chat, role: Role::User, text: text.to_owned(), at }).text
        };
        assert_eq!(shown(&"क".repeat(120)), "क".repeat(120));
        assert_eq!(shown(&"क".repeat(121)), format!("{}…", "क".repeat(120)));
        assert_eq!(shown(""), "");
    }

    #[test]
    fn a_cursor_is_of_its_view() {
        let id = Id::<Chat>::new(1, 1);
        let read = position(View::Ended, &format!("ended:17:{id}")).unwrap();
        assert_eq!(read, Position { at: Timestamp(17), id: id.to_string() });
        for key in ["", "ended", "ended:x:y", "waiting:17:chatsess_1"] {
            assert_eq!(position(View::Ended, key).unwrap_err().error.code, "invalid_cursor", "{key}");
        }
    }
}
