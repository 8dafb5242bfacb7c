//! The row of a message, its thread and its contact.

use app::{App, Context, Failure};
use domain::channel::{Content, Direction, MessageStatus, Recipient, Source, Times};
use domain::ids::{ChannelMessage, ChannelThread, Contact, Id};
use domain::tenant::Tenant;
use serde_json::json;
use store::TenantTx;
use store::channel_messages::{self, MessageRow, ThreadRow};
use store::contacts::ContactRow;

use super::new::New;

/// The contact of a message, added if there is none.
pub(super) fn person(tx: &mut TenantTx, context: &Context, new: &New) -> Result<ContactRow, Failure> {
    match &new.contact {
        Some(contact) => Ok(contact.clone()),
        // Nobody was found a moment ago.
        None => crate::people::make(tx, context, &new.to),
    }
}

/// The row of a new message, and its thread.
pub(super) fn fresh(
    tx: &mut TenantTx,
    context: &Context,
    new: &New,
    contact: &ContactRow,
) -> Result<(MessageRow, ThreadRow), Failure> {
    let tenant = tx.tenant();
    let number = &new.number;
    let thread = channel_messages::thread_for_update(
        tx,
        &ThreadRow {
            id: context.ids.make(),
            phone_number_id: number.phone_number_id.clone(),
            contact: contact.id,
            received_at: None,
            last_at: context.now,
            used: 0,
            created_at: context.now,
        },
    )?;
    let mut row = row_of(tenant, context, new, context.ids.make(), (thread.id, contact.id), Some(contact));
    row.content = Some(serde_json::to_value(&new.content).map_err(|why| Failure::internal(why.to_string()))?);
    row.rank = i64::from(new.campaign.is_some());
    row.trace = tx.trace();
    Ok((row, thread))
}

/// The simulated message of a test key; stores nothing.
pub fn simulated(app: &App, tenant: Tenant, new: &New) -> MessageRow {
    let context = app.context();
    let (contact, ids) = (new.contact.as_ref(), &context.ids);
    let (id, thread) = (ids.make::<ChannelMessage>(), ids.make());
    let who = contact.map_or_else(|| ids.make(), |contact| contact.id);
    MessageRow {
        campaign: None,
        source: Source::Test,
        provider_id: Some(format!("TEST_{}", id.to_string().trim_start_matches("camsg_"))),
        status: MessageStatus::Sent,
        times: Times { sent: Some(context.now), ..Times::default() },
        ..row_of(tenant, &context, new, id, (thread, who), contact)
    }
}

/// A queued message that is not stored yet, without its content.
fn row_of(
    tenant: Tenant,
    context: &Context,
    new: &New,
    id: Id<ChannelMessage>,
    (thread, who): (Id<ChannelThread>, Id<Contact>),
    contact: Option<&ContactRow>,
) -> MessageRow {
    let words = match (&new.content, &new.template) {
        (Content::Template(filled), Some(template)) => Some(template.words(filled)),
        (content, _) => content.words().map(str::to_owned),
    };
    let (customer, user) = match &new.to {
        Recipient::Phone(number) => {
            (Some(number.to_string()), contact.and_then(|contact| contact.chatapp_user_id.clone()))
        }
        Recipient::UserId(id) => (None, Some(id.clone())),
    };
    MessageRow {
        id,
        workspace: tenant,
        thread,
        contact: who,
        chat: new.chat,
        agent: new.agent,
        campaign: new.campaign,
        direction: Direction::Outbound,
        source: new.source,
        kind: new.content.kind().to_owned(),
        words,
        content: None,
        template_name: new.template.as_ref().map(|template| template.name.clone()),
        template: new.template.as_ref().map(|template| {
            json!({
                "id": template.id.stored(),
                "name": template.name,
                "language": template.language,
                "category": template.category,
            })
        }),
        media: None,
        media_object: None,
        media_bytes: None,
        media_at: None,
        media_attempts: 0,
        reply_to: new.reply_to.clone(),
        phone_number_id: new.number.phone_number_id.clone(),
        business: new.number.e164,
        customer,
        customer_user_id: user,
        customer_username: contact.and_then(|contact| contact.chatapp_username.clone()),
        provider_id: None,
        status: MessageStatus::Queued,
        error: None,
        times: Times::default(),
        rank: 0,
        next_at: None,
        lease_until: None,
        attempts: 0,
        created_at: context.now,
        updated_at: context.now,
        trace: None,
    }
}
