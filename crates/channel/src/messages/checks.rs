//! Every check of a message, when it is taken and again at its turn.

use app::contact_policy::{self, Bar, Standing};
use app::{App, Context, Failure};
use domain::channel::campaign::PauseReason;
use domain::channel::content::MAX_TEXT;
use domain::channel::limits::{Pace, TIER_TIME};
use domain::channel::{Category, Content, LocalError, Recipient, Source, TemplateStatus, window};
use domain::ids::{Consent, Id};
use domain::tenant::Tenant;
use domain::time::{DAY, SECOND, Timestamp};
use serde_json::Value;
use store::channel_messages::{self, MessageRow, ThreadRow};
use store::{Tx, channel_campaigns, contacts, workspaces};

use super::room::{Room, account_of, has_room_now, room_for};
use super::rows::address;
use super::{New, Refusal};
use crate::numbers::Number;

/// Every check of a message that somebody wants to send; nothing is stored.
pub fn check(app: &App, tx: &mut Tx<'_>, tenant: Tenant, new: &New) -> Result<Option<Refusal>, Failure> {
    let context = app.context();
    let standing = contact_policy::standing(tx, &context, tenant, new.contact.as_ref(), Some(&new.to))?;
    let thread = match &new.contact {
        Some(contact) => channel_messages::thread_of(tx, tenant, contact.id, &new.number.phone_number_id)?,
        None => None,
    };
    let open = window::is_open(thread.and_then(|thread| thread.received_at), context.now);
    if let Some(refusal) = judge(tx, tenant, new, &standing, open)? {
        return Ok(Some(refusal));
    }
    let room = open || has_room_now(tx, &context, tenant, &new.number, &new.to)?;
    Ok(if room { None } else { Some(tier_limit(tx, &context, tenant, &new.number)?) })
}

/// The account has written to as many people as it may; the first of them makes room a day after.
pub(super) fn tier_limit(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    number: &Number,
) -> Result<Refusal, Failure> {
    let first = channel_messages::first_reached(tx, tenant, &account_of(number))?;
    let wait = first.map(|first| (first.plus(TIER_TIME).0 - context.now.0 + SECOND - 1).max(SECOND) / SECOND);
    Ok(Refusal::TierLimit(wait))
}

/// Why a message may not go to a person who stands like this.
pub(super) fn judge(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    new: &New,
    standing: &Standing,
    open: bool,
) -> Result<Option<Refusal>, Failure> {
    if !new.number.is_connected() {
        return Ok(Some(Refusal::NotConnected));
    }
    if new.content.check().is_err() {
        let long = matches!(&new.content, Content::Text(text) if text.chars().count() > MAX_TEXT);
        let error = if long { LocalError::TextTooLong } else { LocalError::InvalidMessage };
        return Ok(Some(Refusal::local(error)));
    }
    let category = match &new.template {
        Some(template) if template.status != TemplateStatus::Approved => {
            return Ok(Some(Refusal::local(LocalError::TemplateUnavailable)));
        }
        Some(template) if matches!(new.to, Recipient::UserId(_)) && !template.takes_user_ids() => {
            return Ok(Some(Refusal::RecipientUnsupported));
        }
        Some(template) => Some(template.category),
        None if new.content.is_template() => return Ok(Some(Refusal::local(LocalError::TemplateNotFound))),
        None => None,
    };
    let allowed = new.opt_in.is_some();
    may_send(tx, tenant, standing, category, open, allowed, new.source)
}

/// The part of the checks that is asked again at the moment of sending: the person, the window, the opt-in.
fn may_send(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    standing: &Standing,
    category: Option<Category>,
    open: bool,
    allowed: bool,
    source: Source,
) -> Result<Option<Refusal>, Failure> {
    let marketing = category == Some(Category::Marketing);
    match standing.bars_messages(marketing) {
        // The one confirmation of a STOP goes to the person who said it.
        Some(Bar::Stopped | Bar::DoNotCall) if source == Source::System => {}
        Some(bar) => return Ok(Some(Refusal::Local(LocalError::ContactOptedOut, bar.as_str()))),
        None => {}
    }
    if category.is_none() && !open {
        return Ok(Some(Refusal::local(LocalError::WindowClosed)));
    }
    if marketing && !allowed && standing.opted_in_at().is_none() {
        let rule = workspaces::get(tx, tenant)?.is_none_or(|workspace| workspace.marketing_opt_in_rule);
        if rule {
            return Ok(Some(Refusal::local(LocalError::OptInRequired)));
        }
    }
    Ok(None)
}

/// What the moment of sending says of a message that waited.
pub(crate) enum Turn {
    Go {
        /// The proof of the person's opt-in.
        proof: Option<Id<Consent>>,
        /// Whether the window is open: nobody is counted then.
        open: bool,
        /// Where it is not: the room that the person has.
        room: Room,
        /// Its thread, whose pair has a slot taken.
        thread: ThreadRow,
    },
    /// It does not, now.
    Wait(Timestamp),
    /// It never does.
    Refuse(Refusal),
    /// It does not while its campaign stands so: the campaign pauses, and the person waits on.
    TakeBack(PauseReason),
}

/// Asks everything again for a message that waited. The slot of the pair is taken, not yet stored.
pub(crate) fn at_its_turn(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    number: &Number,
    row: &MessageRow,
    at: Timestamp,
) -> Result<Turn, Failure> {
    let contact = contacts::get(tx, tenant, row.contact)?;
    let to = address(row).and_then(|address| Recipient::parse(&address));
    let standing = contact_policy::standing(tx, context, tenant, contact.as_ref(), to.as_ref())?;
    let Some(mut thread) = channel_messages::thread_by_id(tx, tenant, row.thread)? else {
        return Err(Failure::internal("a message without a thread"));
    };
    let open = window::is_open(thread.received_at, context.now);
    let category = match template_now(tx, tenant, row)? {
        Ok(category) => category,
        Err(error) => {
            let refusal = Refusal::local(error);
            return Ok(match refusal.pauses().filter(|_| row.campaign.is_some()) {
                Some(reason) => Turn::TakeBack(reason),
                None => Turn::Refuse(refusal),
            });
        }
    };
    if became_marketing(tx, tenant, row, category)? {
        return Ok(Turn::TakeBack(PauseReason::TemplateRecategorised));
    }
    // What came along with the message was recorded when it was taken, so it counts here, too.
    if let Some(refusal) = may_send(tx, tenant, &standing, category, open, false, row.source)? {
        return Ok(Turn::Refuse(refusal));
    }
    let room = match (open, &to) {
        (false, Some(to)) => room_for(tx, context, tenant, number, to)?,
        _ => Room::Unlimited,
    };
    if room == Room::Full {
        let first = channel_messages::first_reached(tx, tenant, &account_of(number))?;
        let again = first.map_or(context.now.plus(DAY), |first| first.plus(TIER_TIME));
        return Ok(Turn::Wait(again.max(context.now.plus(SECOND))));
    }
    match Pace::of_pair().take(thread.used, at) {
        Err(again) => Ok(Turn::Wait(again)),
        Ok(used) => {
            thread.used = used;
            thread.last_at = context.now;
            Ok(Turn::Go { proof: standing.consent.opt_in_consent, open, room, thread })
        }
    }
}

/// Whether the template of a campaign's message became marketing after the message was handed over, and nobody has
/// accepted that for the campaign.
fn became_marketing(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    row: &MessageRow,
    category: Option<Category>,
) -> Result<bool, Failure> {
    let Some(campaign) = row.campaign.filter(|_| category == Some(Category::Marketing)) else {
        return Ok(false);
    };
    let before = row.template.as_ref().and_then(|template| template.get("category")).and_then(Value::as_str);
    if before.is_none_or(|before| before == Category::Marketing.as_str()) {
        return Ok(false);
    }
    let block = channel_campaigns::get(tx, tenant, campaign)?;
    Ok(block.is_some_and(|block| !block.marketing_accepted))
}

/// The category of a message's template by now; none of a message without one.
fn template_now(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    row: &MessageRow,
) -> Result<Result<Option<Category>, LocalError>, Failure> {
    let Some(id) = row.template.as_ref().and_then(|template| template.get("id")).and_then(Value::as_str)
    else {
        return Ok(Ok(None));
    };
    let found = match id.parse() {
        Ok(id) => store::channel_templates::get(tx, tenant, id)?,
        Err(_) => None,
    };
    Ok(match found {
        None => Err(LocalError::TemplateNotFound),
        Some(template) if template.status != TemplateStatus::Approved => Err(LocalError::TemplateUnavailable),
        Some(template) => Ok(Some(template.category)),
    })
}
