//! What agents and teammates say on the channel: in chats, and in the middle of calls
//! (docs/contract/channel-conversations.md#replies).

use std::sync::Arc;

use api::channel_templates::TemplateUse;
use api::error_codes::{self as codes, ErrorCode};
use app::chat_words::{Carried, ChatWords, Words, Writer};
use app::{App, Failure};
use domain::channel::content::FilledTemplate;
use domain::channel::template::{self, TemplateRef};
use domain::channel::{Content, LocalError, Params, Recipient, Source, Template};
use domain::ids::{Call, Id};
use domain::tenant::{Mode, Tenant};
use serde_json::Value;
use store::{TenantTx, Tx, calls, channel_accounts, channel_conversations, chats, contacts};

use crate::messages::{self, New, Placed, Refusal};
use crate::numbers::{Which, sending_number};
use crate::templates;

/// Parses a template reference as a flow or a model writes it.
///
/// # Errors
/// 400 naming what is missing.
fn reference(named: &TemplateUse) -> Result<TemplateRef, Failure> {
    if let Some(id) = &named.id {
        let id = id.parse().map_err(|_| Failure::plain(codes::TEMPLATE_NOT_FOUND))?;
        return Ok(TemplateRef::Id(id));
    }
    match (&named.name, &named.language) {
        (Some(name), Some(language)) => {
            Ok(TemplateRef::Name { name: name.clone(), language: language.clone() })
        }
        (Some(_), None) => Err(Failure::field("template.language", "is required with template.name")),
        (None, _) => Err(Failure::field("template", "must have an id, or a name and a language")),
    }
}

/// Fills in a template as a flow or a model requests it. The inner error is why it cannot be sent.
fn filled(
    tx: &mut TenantTx,
    value: &Value,
) -> Result<Result<(Template, Content), &'static ErrorCode>, Failure> {
    let Ok(named) = serde_json::from_value::<TemplateUse>(value.clone()) else {
        return Ok(Err(codes::TEMPLATE_NOT_FOUND));
    };
    let Ok(which) = reference(&named) else { return Ok(Err(codes::TEMPLATE_NOT_FOUND)) };
    let template = match templates::find(tx, &which) {
        Ok(template) => template,
        Err(failure) if failure.error.status >= 500 => return Err(failure),
        Err(_) => return Ok(Err(codes::TEMPLATE_NOT_FOUND)),
    };
    let params = named.params.map_or_else(Params::default, Params::from);
    let content = template::fill(&template, &params).map_err(|_| codes::TEMPLATE_UNAVAILABLE);
    Ok(content.map(|content| (template, content)))
}

/// The content of an unknown template, which is stored as a failed message.
fn nobodys(value: &Value) -> Content {
    let word =
        |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().chars().take(512).collect();
    Content::Template(FilledTemplate {
        name: word("name"),
        language: word("language"),
        components: Vec::new(),
    })
}

/// A refusal in the form that chats understand.
fn refused(refusal: &Refusal) -> Carried {
    match refusal {
        Refusal::Local(LocalError::ContactOptedOut, _) => Carried::OptedOut,
        Refusal::Local(LocalError::WindowClosed, _) => Carried::WindowClosed,
        Refusal::Local(error, _) => Carried::Refused(error.title().to_owned()),
        Refusal::TierLimit(_) | Refusal::NotConnected => Carried::Refused("number_unavailable".to_owned()),
        Refusal::RecipientUnsupported => Carried::Refused("recipient_unsupported".to_owned()),
    }
}

/// Sends what is written in a chat, in the transaction that stores it.
pub fn carry(app: &Arc<App>, tx: &mut Tx<'_>, said: &ChatWords<'_>) -> Result<Carried, Failure> {
    let tenant = said.tenant;
    let unavailable = || Ok(Carried::Refused("number_unavailable".to_owned()));
    let Some(row) = chats::get(&mut tx.of(tenant), said.chat)? else { return unavailable() };
    let Some(carried) = channel_conversations::get(&mut tx.of(tenant), said.chat)? else {
        return unavailable();
    };
    let number = match sending_number(&mut tx.of(tenant), Which::Number(carried.number)) {
        Ok(number) => number,
        Err(failure) if failure.error.status >= 500 => return Err(failure),
        Err(_) => return unavailable(),
    };
    let contact =
        contacts::get(&mut tx.of(tenant), carried.contact)?.filter(|contact| contact.erased_at.is_none());
    let Some(contact) = contact else { return Ok(Carried::OptedOut) };
    let address = carried.phone.as_deref().or(carried.user_id.as_deref());
    let Some(to) = address.and_then(Recipient::parse) else { return unavailable() };
    let (content, template) = match said.words {
        Words::Text(text) => (Content::Text(text.to_owned()), None),
        Words::Template(value) => match filled(&mut tx.of(tenant), value)? {
            Ok((template, content)) => (content, Some(template)),
            // It is kept as a message that failed.
            Err(why) if why == codes::TEMPLATE_NOT_FOUND => (nobodys(value), None),
            Err(why) => return Ok(Carried::Refused(why.code.to_owned())),
        },
    };
    let source = match said.writer {
        Writer::Agent => Source::Agent,
        Writer::Teammate(_) => Source::Human,
    };
    let new = New {
        source,
        number,
        contact: Some(contact),
        to,
        content,
        template,
        reply_to: None,
        chat: Some(said.chat),
        agent: Some(row.agent),
        campaign: None,
        opt_in: None,
        at_once: false,
        keep_refused: true,
    };
    Ok(match messages::put(app, &mut tx.of(tenant), &new)? {
        Placed::Queued(message) => taken(&message),
        Placed::Claimed(claim) => taken(&claim.message),
        Placed::Failed(_, refusal) | Placed::Refused(refusal) => refused(&refusal),
    })
}

fn taken(message: &store::channel_messages::MessageRow) -> Carried {
    Carried::Taken(message.id, message.words.clone().unwrap_or_else(|| format!("[{}]", message.kind)))
}

/// Sends a message in the middle of a call to the person on it: from the number that its agent answers on, else from
/// the default one. A simulated call sends nothing.
///
/// # Errors
/// Why the message is refused.
pub async fn during_call(
    app: &Arc<App>,
    tenant: Tenant,
    call: Id<Call>,
    template: Option<Value>,
    text: String,
) -> Result<(), Failure> {
    let sender = app.clone();
    app.store
        .tx(move |tx| {
            let Some(row) = calls::get(&mut tx.of(tenant), Mode::Live, call)? else {
                return Ok(());
            };
            let workspace = app::access::workspace(&mut tx.of(tenant))?;
            if !app::access::feature_on(&workspace, "chatappChannel") {
                return Err(Failure::plain(codes::CHATAPP_DISABLED));
            }
            let own = match row.agent {
                Some(agent) => channel_accounts::number_of_agent(&mut tx.of(tenant), agent)?,
                None => None,
            };
            let which = own.map_or(Which::Default, |number| Which::Number(number.id));
            let number = sending_number(&mut tx.of(tenant), which)?;
            let Some(contact) = row.contact else { return Ok(()) };
            let contact =
                contacts::get(&mut tx.of(tenant), contact)?.filter(|contact| contact.erased_at.is_none());
            let Some(contact) = contact else { return Ok(()) };
            let address = contact.phone.as_deref().or(contact.chatapp_user_id.as_deref());
            let to =
                address.and_then(Recipient::parse).ok_or_else(|| Failure::plain(codes::INVALID_NUMBER))?;
            let (content, template) = match &template {
                Some(value) => match filled(&mut tx.of(tenant), value)? {
                    Ok((template, content)) => (content, Some(template)),
                    // It is kept as a message that failed.
                    Err(why) if why == codes::TEMPLATE_NOT_FOUND => (nobodys(value), None),
                    Err(why) => return Err(Failure::plain(why)),
                },
                None => (Content::Text(text.clone()), None),
            };
            let new = New {
                source: Source::VoiceTool,
                number,
                contact: Some(contact),
                to,
                content,
                template,
                reply_to: None,
                chat: None,
                agent: row.agent,
                campaign: None,
                opt_in: None,
                at_once: false,
                keep_refused: true,
            };
            let placed = messages::put(&sender, &mut tx.of(tenant), &new)?;
            if let Some(message) = placed.message() {
                channel_conversations::note_call(&mut tx.of(tenant), message.id, call, message.contact)?;
            }
            Ok(())
        })
        .await
}
