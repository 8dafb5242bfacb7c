//! Conversations in the form of the API, and the labels that a team puts on them
//! (docs/contract/channel-conversations.md#conversation).

use std::collections::{BTreeSet, HashMap};

use api::channel_conversations::{
    ChatLabel, Conversation, ConversationAnalysis, ConversationBusiness, ConversationCustomer,
    ConversationMessage, ConversationOutcome, ConversationStatus, MAX_LABELS, NewChatLabel,
};
use app::limits::pages;
use app::operator_log::{self, Trace};
use app::{App, Failure, access};
use domain::chat::{Channel, Reading, State};
use domain::ids::{self, Chat, Id};
use domain::tenant::{Mode, Tenant};
use store::channel_campaigns;
use store::channel_conversations::{self, ChannelChatRow, Filter, LabelRow};
use store::chats::{self, ChatRow};
use store::{TenantTx, Tx};

/// Optional parts of a conversation (`include`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Include {
    pub messages: bool,
    pub analysis: bool,
}

impl Include {
    /// Reads `messages,analysis`.
    ///
    /// # Errors
    /// 400 for another word.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let mut include = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "messages" => include.messages = true,
                "analysis" => include.analysis = true,
                _ => return Err(Failure::field("include", "must be messages, analysis, or both")),
            }
        }
        Ok(include)
    }
}

/// Conversations, newest first, with the cursor of the next page. Empty for a test key, whose conversations are not
/// stored.
pub async fn list(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    filter: Filter,
    below: Option<String>,
    limit: i64,
) -> Result<(Vec<Conversation>, Option<String>), Failure> {
    if mode == Mode::Test {
        return Ok((Vec::new(), None));
    }
    let page = app.store.read(move |tx| {
        let read = |tx: &mut Tx<'_>, limit: i64, below: Option<&str>| {
            let rows = channel_conversations::list(&mut tx.of(tenant), &filter, below, limit)?;
            let next = pages::last(&rows, limit, |row| row.id.to_string());
            Ok::<_, Failure>((views(&mut tx.of(tenant), rows)?, next))
        };
        pages::views(tx, limit, below.clone(), read, |view: &Conversation| view.id.to_string())
    });
    page.await
}

/// One conversation.
///
/// # Errors
/// 404, for chats of other channels and for a test key, too.
pub async fn get(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    id: Id<Chat>,
    include: Include,
) -> Result<Conversation, Failure> {
    app.store
        .read(move |tx| {
            let row = chats::get(&mut tx.of(tenant), id)?
                .filter(|row| mode == Mode::Live && row.channel == Channel::Chatapp)
                .ok_or_else(|| Failure::not_found("conversation"))?;
            let analysed = row.analysis == Some(Reading::Done);
            let analysis = ConversationAnalysis {
                summary: row.summary.clone(),
                extracted: row.extracted.clone(),
                disposition: row.outcome.clone(),
            };
            let failed = match include.messages {
                true => ::chats::undelivered(tx, &row)?,
                false => BTreeSet::new(),
            };
            let mut shown = one(&mut tx.of(tenant), row)?;
            if include.messages {
                let messages = chats::messages(&mut tx.of(tenant), id, 0)?;
                let told = |message: chats::MessageRow| ConversationMessage {
                    failed: failed.contains(&message.seq),
                    role: message.role,
                    text: message.text,
                    agent_name: message.agent_name,
                    timestamp: message.at,
                };
                shown.messages = Some(messages.into_iter().map(told).collect());
            }
            if include.analysis {
                shown.analysis = Some(analysed.then_some(analysis));
            }
            Ok(shown)
        })
        .await
}

/// The view of a chat that is known to be a conversation of the channel.
pub(crate) fn one(tx: &mut TenantTx, row: ChatRow) -> Result<Conversation, Failure> {
    views(tx, vec![row])?.pop().ok_or_else(|| Failure::not_found("conversation"))
}

fn views(tx: &mut TenantTx, rows: Vec<ChatRow>) -> Result<Vec<Conversation>, Failure> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Id<Chat>> = rows.iter().map(|row| row.id).collect();
    let mut carried: HashMap<Id<Chat>, ChannelChatRow> =
        channel_conversations::of_chats(tx, &ids)?.into_iter().map(|row| (row.chat, row)).collect();
    let mut labels: HashMap<Id<Chat>, Vec<ChatLabel>> = HashMap::new();
    for (chat, id, name, color) in channel_conversations::labels_of(tx, &ids)? {
        labels.entry(chat).or_default().push(ChatLabel { id, name, color });
    }
    let people: Vec<Id<ids::Contact>> = carried.values().map(|row| row.contact).collect();
    let list_rows: Vec<Id<ids::ListRow>> = carried.values().filter_map(|row| row.list_row).collect();
    let campaigns: HashMap<Id<ids::ListRow>, Id<ids::Campaign>> =
        channel_campaigns::campaigns_of(tx, &list_rows)?.into_iter().collect();
    let mut boards: Vec<String> = rows.iter().map(|row| row.agent.to_string()).collect();
    boards.extend(campaigns.values().map(ToString::to_string));
    let columns: HashMap<(String, Id<ids::Contact>), String> =
        channel_conversations::board_columns(tx, &boards, &people)?
            .into_iter()
            .map(|(owner, person, column)| ((owner, person), column))
            .collect();
    let mut shown = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(carried) = carried.remove(&row.id) else { continue };
        // What came of a campaign stands on its board.
        let campaign = carried.list_row.and_then(|list_row| campaigns.get(&list_row));
        let board = campaign.map_or_else(|| row.agent.to_string(), ToString::to_string);
        let column = columns.get(&(board, carried.contact)).cloned();
        let labels = labels.remove(&row.id).unwrap_or_default();
        shown.push(view(row, carried, labels, column));
    }
    Ok(shown)
}

fn view(
    row: ChatRow,
    carried: ChannelChatRow,
    labels: Vec<ChatLabel>,
    column: Option<String>,
) -> Conversation {
    Conversation {
        id: row.id,
        agent_id: row.agent,
        contact_id: carried.contact,
        external_ref: row.external_ref,
        customer: ConversationCustomer {
            phone: carried.phone,
            name: carried.name,
            user_id: carried.user_id,
            username: carried.username,
        },
        business: ConversationBusiness { phone: carried.business, phone_number_id: carried.phone_number_id },
        status: if row.state == State::Ended {
            ConversationStatus::Ended
        } else {
            ConversationStatus::Active
        },
        end_cause: row.end_cause,
        origin: carried.origin,
        message_count: row.messages,
        is_test: false,
        started_at: row.created_at,
        ended_at: row.ended_at,
        outcome: ConversationOutcome { disposition: row.outcome, board_column: column },
        labels,
        assigned_to: row.teammate,
        ad_referral: carried.ad_referral,
        metadata: row.metadata,
        messages: None,
        analysis: None,
    }
}

fn shown(row: LabelRow) -> ChatLabel {
    ChatLabel { id: row.id, name: row.name, color: row.color }
}

/// The labels of a workspace.
///
/// # Errors
/// 404 without the workspace.
pub async fn labels(app: &App, tenant: Tenant) -> Result<Vec<ChatLabel>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            Ok::<_, Failure>(channel_conversations::labels(tx)?.into_iter().map(shown).collect())
        })
        .await
}

/// Makes a label.
///
/// # Errors
/// 400 for an invalid colour; 409 when the name is taken, or there are too many labels.
pub async fn make_label(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    body: NewChatLabel,
) -> Result<ChatLabel, Failure> {
    let digits =
        body.color.strip_prefix('#').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if digits.is_none_or(|digits| digits.len() != 6) {
        return Err(Failure::field("color", "must be # and six hexadecimal digits"));
    }
    let name = body.name.trim().to_owned();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Failure::field("name", "must not be blank"));
    }
    let context = app.context();
    let row = LabelRow { id: context.ids.make(), name, color: body.color.to_ascii_lowercase() };
    app.of(tenant)
        .tx(move |tx| {
            access::workspace_for_update(tx)?;
            if channel_conversations::labels(tx)?.len() >= MAX_LABELS {
                return Err(Failure::conflict(format!(
                    "the workspace has {MAX_LABELS} labels, which is the limit; delete one first"
                )));
            }
            if !channel_conversations::insert_label(tx, &row)? {
                return Err(Failure::conflict("name belongs to another label; choose another name"));
            }
            operator_log::append(tx, &context, &trace, Some(tenant), &row.id.to_string())?;
            Ok(shown(row.clone()))
        })
        .await
}

/// Removes a label.
///
/// # Errors
/// 404.
pub async fn delete_label(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    id: Id<ids::ChatLabel>,
) -> Result<(), Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            if !channel_conversations::delete_label(tx, id)? {
                return Err(Failure::not_found("label"));
            }
            Ok(operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?)
        })
        .await
}

/// Gives a chat these labels and no others.
///
/// # Errors
/// 404 without the chat; 400 for a label that is not there.
pub async fn set_labels(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    id: Id<Chat>,
    wanted: Vec<String>,
) -> Result<Vec<ChatLabel>, Failure> {
    let context = app.context();
    app.store
        .tx(move |tx| {
            chats::get_for_update(&mut tx.of(tenant), id)?.ok_or_else(|| Failure::not_found("chat"))?;
            let known = channel_conversations::labels(&mut tx.of(tenant))?;
            let mut given: Vec<LabelRow> = Vec::new();
            for (at, text) in wanted.iter().enumerate() {
                let label = known.iter().find(|label| label.id.to_string() == *text).ok_or_else(|| {
                    Failure::field(&format!("labelIds[{at}]"), "must be a label of the workspace")
                })?;
                if !given.contains(label) {
                    given.push(label.clone());
                }
            }
            let ids: Vec<Id<ids::ChatLabel>> = given.iter().map(|label| label.id).collect();
            channel_conversations::set_labels(&mut tx.of(tenant), id, &ids)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            Ok(given.into_iter().map(shown).collect())
        })
        .await
}
