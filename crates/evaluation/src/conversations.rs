//! The conversations that are graded: their transcript, and the lock against erasures.

use api::error_codes as codes;
use app::Failure;
use app::owed_steps::person_is_erased;
use chats::undelivered;
use domain::call::Stage;
use domain::chat::{EndCause, Reading, Role as ChatRole, State};
use domain::conversation::{Role, Turn};
use domain::evaluation::{Graded, Line, Speaker};
use domain::ids::{Agent, Call, Chat, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use store::chats::ChatRow;
use store::{Tx, calls, contacts};

/// A finished conversation.
pub(crate) struct Conversation {
    pub(crate) agent: Id<Agent>,
    pub(crate) began_at: Timestamp,
    pub(crate) language: String,
    /// What was said; empty when the customer said nothing, or nothing is left.
    pub(crate) lines: Vec<Line>,
}

fn not_found(kind: Graded) -> Failure {
    Failure::not_found(kind.as_str())
}

fn not_finished() -> Failure {
    Failure::new(
        codes::CONFLICT,
        "the conversation is not over, or is still being analysed; it can be graded afterwards",
    )
}

/// Lines in which the customer says something; none otherwise.
fn with_customer(lines: Vec<Line>) -> Vec<Line> {
    let spoke = lines.iter().any(|line| line.speaker == Speaker::Customer && !line.text.trim().is_empty());
    if spoke { lines } else { Vec::new() }
}

/// A finished chat or live call with its transcript.
///
/// # Errors
/// 404; 409 while it is not over.
pub(crate) fn read(tx: &mut Tx<'_>, tenant: Tenant, kind: Graded, id: &str) -> Result<Conversation, Failure> {
    match kind {
        Graded::Chat => chat(tx, tenant, id.parse().map_err(|_| not_found(kind))?),
        Graded::Call => call(tx, tenant, id.parse().map_err(|_| not_found(kind))?),
    }
}

fn chat(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Chat>) -> Result<Conversation, Failure> {
    let row = store::chats::get(&mut tx.of(tenant), id)?.filter(|row| row.test_link.is_none());
    let row = row.ok_or_else(|| not_found(Graded::Chat))?;
    if row.state != State::Ended || row.analysis == Some(Reading::Pending) {
        return Err(not_finished());
    }
    let failed = undelivered(tx, &row)?;
    let messages = store::chats::messages(&mut tx.of(tenant), id, 0)?;
    let delivered = messages.into_iter().filter(|message| !failed.contains(&message.seq));
    let line = |message: store::chats::MessageRow| Line {
        speaker: match message.role {
            ChatRole::User => Speaker::Customer,
            ChatRole::Agent => Speaker::Agent,
            ChatRole::Human => Speaker::Team,
        },
        text: message.text,
    };
    Ok(Conversation {
        agent: row.agent,
        began_at: row.created_at,
        language: row.language,
        lines: with_customer(delivered.map(line).collect()),
    })
}

fn call(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Call>) -> Result<Conversation, Failure> {
    let tx = &mut tx.of(tenant);
    let row = calls::get_taken(tx, Mode::Live, id)?.ok_or_else(|| not_found(Graded::Call))?;
    let agent = row.agent.ok_or_else(|| not_found(Graded::Call))?;
    if row.progress.status.stage() != Stage::Ended {
        return Err(not_finished());
    }
    let content = calls::content(tx, id)?;
    if content.analysis.as_deref() == Some("pending") {
        return Err(not_finished());
    }
    let turns: Vec<Turn> = match content.transcript {
        // A call in which no person was met has no conversation.
        Some(transcript) if content.analysis.is_some() => serde_json::from_value(transcript)
            .map_err(|why| Failure::internal(format!("a stored transcript: {why}")))?,
        Some(_) | None => Vec::new(),
    };
    let line = |turn: Turn| Line {
        speaker: if turn.role == Role::Customer { Speaker::Customer } else { Speaker::Agent },
        text: turn.text,
    };
    Ok(Conversation {
        agent,
        began_at: row.started_at,
        language: row.language.unwrap_or_default(),
        lines: with_customer(turns.into_iter().map(line).collect()),
    })
}

/// A conversation that is locked against erasures until the transaction ends.
pub(crate) enum Held {
    Chat(Box<ChatRow>),
    Call,
}

/// Locks a conversation against erasures; `None` when it is deleted, or its person is erased.
pub(crate) fn hold(tx: &mut Tx<'_>, tenant: Tenant, kind: Graded, id: &str) -> Result<Option<Held>, Failure> {
    match kind {
        Graded::Chat => {
            let Ok(id) = id.parse::<Id<Chat>>() else { return Ok(None) };
            let tx = &mut tx.of(tenant);
            let Some(row) = store::chats::get(tx, id)? else { return Ok(None) };
            if let Some(contact) = row.contact {
                let contact = contacts::get_for_update(tx, contact)?;
                if contact.is_some_and(|contact| contact.erased_at.is_some()) {
                    return Ok(None);
                }
            }
            Ok((row.end_cause != Some(EndCause::Erased)).then(|| Held::Chat(Box::new(row))))
        }
        Graded::Call => {
            let Ok(id) = id.parse::<Id<Call>>() else { return Ok(None) };
            let Some(row) = calls::get_for_update(&mut tx.of(tenant), id)? else { return Ok(None) };
            Ok((!person_is_erased(tx, &row)?).then_some(Held::Call))
        }
    }
}
