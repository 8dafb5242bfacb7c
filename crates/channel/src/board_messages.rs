//! Messages that the columns of boards send (docs/contract/boards.md#automations).

use app::board_messages::{BoardMessage, Sent};
use app::contact_view::saved_values;
use app::{App, Failure, access};
use domain::channel::campaign::{PersonFields, params};
use domain::channel::template::{TemplateRef, fill};
use domain::channel::{Recipient, Source};
use serde_json::Value;
use store::Tx;

use crate::messages::{self, New, Placed};
use crate::numbers::{Which, sending_number};
use crate::templates;

/// Queues the message of a column, from the default number. Consent, window and limit are those of every message.
pub fn send(app: &App, tx: &mut Tx<'_>, wanted: &BoardMessage<'_>) -> Result<Sent, Failure> {
    let (tenant, contact) = (wanted.tenant, wanted.contact);
    if !access::feature_on(&access::workspace(&mut tx.of(tenant))?, "chatappChannel") {
        return Ok(Sent::Refused("chatapp_disabled"));
    }
    let number = match sending_number(&mut tx.of(tenant), Which::Default) {
        Ok(number) => number,
        Err(failure) if failure.error.status < 500 => return Ok(Sent::Refused(failure.error.code)),
        Err(failure) => return Err(failure),
    };
    let template = match templates::find(&mut tx.of(tenant), &TemplateRef::Id(wanted.template)) {
        Ok(template) => template,
        Err(failure) if failure.error.status < 500 => return Ok(Sent::Refused(failure.error.code)),
        Err(failure) => return Err(failure),
    };
    let address = contact.phone.as_deref().or(contact.chatapp_user_id.as_deref());
    let Some(to) = address.and_then(Recipient::parse) else { return Ok(Sent::Refused("no_number")) };
    let saved = saved_values(contact);
    let known = PersonFields {
        variables: &saved,
        name: wanted.name.as_deref(),
        email: contact.email.as_deref(),
        phone: contact.phone.as_deref(),
        attributes: Some(&contact.attributes).filter(|known| **known != Value::Null),
    };
    let content =
        params(&template, &wanted.mapping, &known).ok().and_then(|params| fill(&template, &params).ok());
    let Some(content) = content else { return Ok(Sent::Refused("missing_params")) };
    let new = New {
        source: Source::BoardAction,
        number,
        contact: Some(contact.clone()),
        to,
        content,
        template: Some(template),
        reply_to: None,
        chat: None,
        agent: None,
        campaign: None,
        opt_in: None,
        at_once: false,
        keep_refused: true,
    };
    Ok(match messages::put(app, &mut tx.of(tenant), &new)? {
        Placed::Queued(_) | Placed::Claimed(_) => Sent::Queued,
        Placed::Failed(_, refusal) | Placed::Refused(refusal) => Sent::Refused(refusal.word()),
    })
}
