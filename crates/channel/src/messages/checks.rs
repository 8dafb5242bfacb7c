//! The checks of a message: at acceptance, and again before it is sent.

use app::contact_policy::{self, Bar, OptOuts};
use app::{App, Context, Failure};
use domain::channel::campaign::PauseReason;
use domain::channel::content::MAX_TEXT;
use domain::channel::limits::{Pace, TIER_TIME};
use domain::channel::{Category, Content, LocalError, Recipient, Source, TemplateStatus, window};
use domain::ids::{Consent, Id};

use domain::time::{DAY, SECOND, Timestamp};
use serde_json::Value;
use store::channel_messages::{self, MessageRow, ThreadRow};
use store::{TenantTx, channel_campaigns, contacts, workspaces};

use super::Refusal;
use super::new::New;
use super::room::{Room, account_of, has_room_now, room_for};
use crate::numbers::Number;
use crate::people::address;

/// Dry run of the checks at acceptance; stores nothing.
pub fn check(app: &App, tx: &mut TenantTx, new: &New) -> Result<Option<Refusal>, Failure> {
    let context = app.context();
    let standing = contact_policy::standing(tx, &context, new.contact.as_ref(), Some(&new.to))?;
    let thread = match &new.contact {
        Some(contact) => channel_messages::thread_of(tx, contact.id, &new.number.phone_number_id)?,
        None => None,
    };
    let open = window::is_open(thread.and_then(|thread| thread.received_at), context.now);
    if let Some(refusal) = judge(tx, new, &standing, open)? {
        return Ok(Some(refusal));
    }
    let room = open || has_room_now(tx, &context, &new.number, &new.to)?;
    Ok(if room { None } else { Some(tier_limit(tx, &context, &new.number)?) })
}

/// The refusal of an account at its messaging tier; the first person counted makes room after a day.
pub(super) fn tier_limit(tx: &mut TenantTx, context: &Context, number: &Number) -> Result<Refusal, Failure> {
    let first = channel_messages::first_reached(tx, &account_of(number))?;
    let wait = first.map(|first| (first.plus(TIER_TIME).0 - context.now.0 + SECOND - 1).max(SECOND) / SECOND);
    Ok(Refusal::TierLimit(wait))
}

/// Why a message may not be sent to a person with this consent.
pub(super) fn judge(
    tx: &mut TenantTx,
    new: &New,
    standing: &OptOuts,
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
    may_send(tx, standing, category, open, allowed, new.source)
}

/// The checks that are repeated before sending: the person, the 24-hour window, the opt-in.
fn may_send(
    tx: &mut TenantTx,
    standing: &OptOuts,
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
        let rule = workspaces::get(tx)?.is_none_or(|workspace| workspace.marketing_opt_in_rule);
        if rule {
            return Ok(Some(Refusal::local(LocalError::OptInRequired)));
        }
    }
    Ok(None)
}

/// Whether a queued message may be sent now.
pub(crate) enum SendDecision {
    /// It may be sent.
    Go {
        /// The proof of the person's opt-in.
        proof: Option<Id<Consent>>,
        /// Whether the 24-hour window is open: then the person does not count against the tier.
        open: bool,
        /// Outside of the window: the room of the tier.
        room: Room,
        /// Its thread, with the recipient's slot taken.
        thread: ThreadRow,
    },
    /// Not before this moment.
    Wait(Timestamp),
    Refuse(Refusal),
    /// Its campaign pauses; the message is withdrawn, and the person waits for the campaign to resume.
    TakeBack(PauseReason),
}

/// Repeats the checks of a queued message before it is sent. The slot of its recipient is taken in the returned thread,
/// which the caller stores.
pub(crate) fn recheck(
    tx: &mut TenantTx,
    context: &Context,
    number: &Number,
    row: &MessageRow,
    at: Timestamp,
) -> Result<SendDecision, Failure> {
    let contact = contacts::get(tx, row.contact)?;
    let to = address(row).and_then(|address| Recipient::parse(&address));
    let standing = contact_policy::standing(tx, context, contact.as_ref(), to.as_ref())?;
    let Some(mut thread) = channel_messages::thread_by_id(tx, row.thread)? else {
        return Err(Failure::internal("a message without a thread"));
    };
    let open = window::is_open(thread.received_at, context.now);
    let category = match template_now(tx, row)? {
        Ok(category) => category,
        Err(error) => {
            let refusal = Refusal::local(error);
            return Ok(match refusal.pauses().filter(|_| row.campaign.is_some()) {
                Some(reason) => SendDecision::TakeBack(reason),
                None => SendDecision::Refuse(refusal),
            });
        }
    };
    if became_marketing(tx, row, category)? {
        return Ok(SendDecision::TakeBack(PauseReason::TemplateRecategorised));
    }
    // What came along with the message was recorded when it was taken, so it counts here, too.
    if let Some(refusal) = may_send(tx, &standing, category, open, false, row.source)? {
        return Ok(SendDecision::Refuse(refusal));
    }
    let room = match (open, &to) {
        (false, Some(to)) => room_for(tx, context, number, to)?,
        _ => Room::Unlimited,
    };
    if room == Room::Full {
        let first = channel_messages::first_reached(tx, &account_of(number))?;
        let again = first.map_or(context.now.plus(DAY), |first| first.plus(TIER_TIME));
        return Ok(SendDecision::Wait(again.max(context.now.plus(SECOND))));
    }
    match Pace::of_pair().take(thread.used, at) {
        Err(again) => Ok(SendDecision::Wait(again)),
        Ok(used) => {
            thread.used = used;
            thread.last_at = context.now;
            Ok(SendDecision::Go { proof: standing.consent.opt_in_consent, open, room, thread })
        }
    }
}

/// Whether the template of a campaign's message was recategorised as marketing after it was queued, and nobody has
/// accepted that for the campaign.
fn became_marketing(
    tx: &mut TenantTx,
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
    let block = channel_campaigns::get(tx, campaign)?;
    Ok(block.is_some_and(|block| !block.marketing_accepted))
}

/// The current category of a message's template; `None` for a message without one.
fn template_now(
    tx: &mut TenantTx,
    row: &MessageRow,
) -> Result<Result<Option<Category>, LocalError>, Failure> {
    let Some(id) = row.template.as_ref().and_then(|template| template.get("id")).and_then(Value::as_str)
    else {
        return Ok(Ok(None));
    };
    let found = match id.parse() {
        Ok(id) => store::channel_templates::get(tx, id)?,
        Err(_) => None,
    };
    Ok(match found {
        None => Err(LocalError::TemplateNotFound),
        Some(template) if template.status != TemplateStatus::Approved => Err(LocalError::TemplateUnavailable),
        Some(template) => Ok(Some(template.category)),
    })
}
