//! What becomes of people, and what pauses a campaign (docs/contract/campaigns.md#outcomes, #pauses).

use app::contact_policy::{self, Bar};
use app::{App, Context, Failure};
use domain::campaign::{RowState, Standing, Status, Tally};
use domain::channel::campaign::{Outcome, PauseReason, RECENT, Verdict, fails_too_often, verdict};
use domain::channel::consent::Wish;
use domain::channel::{Direction, LocalError, Recipient, TemplateStatus};
use domain::ids::{Campaign, Id};
use domain::tenant::Tenant;
use domain::time::{DAY, Timestamp};
use store::campaigns::blocks::{self, Moves};
use store::campaigns::list::{self as lists, EntryRow};
use store::campaigns::progress::{self, Delta};
use store::campaigns::{self as rows, due};
use store::channel_campaigns::{self, BlockRow, PersonRow};
use store::channel_messages::MessageRow;
use store::{Tx, channel_accounts, channel_messages, contacts};

use crate::facts::Fact;
use crate::followers::MessageFact;

/// How long the funnel of a campaign goes on after its end.
const FUNNEL: i64 = 7 * DAY;

/// Moves a row of a list, with the counters of its list.
pub(super) fn move_row(
    tx: &mut Tx<'_>,
    mut entry: EntryRow,
    state: RowState,
    word: Option<&str>,
) -> Result<(), Failure> {
    let before = entry.standing;
    // Who was erased is in no state of sending any more.
    if before.state == RowState::Invalid {
        return Ok(());
    }
    entry.standing = Standing { state, retryable: false, blocked: false };
    entry.dial_status = word.map(str::to_owned);
    entry.look_at = None;
    let (tenant, campaign, list) = (entry.workspace, entry.campaign, entry.list);
    let mut moves = Moves::default();
    due::save_row(tx, &entry, before.state, &mut moves)?;
    let change = Tally::moved(before, entry.standing);
    if !change.is_zero() {
        progress::count(tx, tenant, campaign, &Delta { list, rows: change, ..Delta::default() })?;
    }
    Ok(blocks::count(tx, tenant, campaign, list, &moves)?)
}

/// Called for every message that is stored or moves on.
pub fn heard(app: &App, tx: &mut Tx<'_>, fact: &MessageFact<'_>) -> Result<(), Failure> {
    let context = app.context();
    match fact.message.direction {
        Direction::Inbound if fact.before.is_none() => wrote(tx, &context, fact),
        Direction::Outbound if fact.message.campaign.is_some() => moved(tx, &context, fact.message),
        Direction::Inbound | Direction::Outbound => Ok(()),
    }
}

/// A person writes: it is a reply to the newest campaign message of the last week.
fn wrote(tx: &mut Tx<'_>, context: &Context, fact: &MessageFact<'_>) -> Result<(), Failure> {
    let message = fact.message;
    let since = context.now.plus(-FUNNEL);
    let Some(mut person) = channel_campaigns::newest_to(tx, message.workspace, message.contact, since)?
    else {
        return Ok(());
    };
    if is_closed(tx, &person, context.now)? {
        return Ok(());
    }
    person.standing = Outcome::Sent.as_str().to_owned();
    person.step = 3;
    person.opted_out |= matches!(fact.wish, Some(Wish::StopMessages | Wish::StopAll));
    channel_campaigns::save_person(tx, &person)?;
    if let Some(entry) = lists::get(tx, person.workspace, person.campaign, person.list_row)? {
        move_row(tx, entry, RowState::Reached, Some("replied"))?;
    }
    Ok(())
}

/// Whether the funnel of a campaign does not move any more.
fn is_closed(tx: &mut Tx<'_>, person: &PersonRow, now: Timestamp) -> Result<bool, Failure> {
    let block = channel_campaigns::get(tx, person.workspace, person.campaign)?;
    Ok(block.is_none_or(|block| block.finished_at.is_some_and(|end| now.0 - end.0 > FUNNEL)))
}

/// A message of a campaign moves on.
fn moved(tx: &mut Tx<'_>, context: &Context, message: &MessageRow) -> Result<(), Failure> {
    let tenant = message.workspace;
    let code = message.error.as_ref().map(|(code, ..)| *code);
    let verdict = verdict(message.status, code);
    if verdict == Verdict::Nothing {
        return Ok(());
    }
    let Some(mut person) = channel_campaigns::of_message(tx, tenant, message.id)? else { return Ok(()) };
    if is_closed(tx, &person, context.now)? {
        return Ok(());
    }
    let entry = lists::get(tx, tenant, person.campaign, person.list_row)?;
    let verdict = match verdict {
        // Nobody resumes it, so nobody would wait for anything.
        Verdict::Pause(_) if is_over(tx, tenant, person.campaign)? => Verdict::Is(Outcome::Failed, 0),
        verdict => verdict,
    };
    let (state, word) = match verdict {
        Verdict::Nothing => return Ok(()),
        Verdict::Pause(reason) => {
            wait_on(tx, &person, entry)?;
            return pause(tx, context, tenant, person.campaign, reason);
        }
        Verdict::Skip(reason) => {
            person.standing = Outcome::Skipped.as_str().to_owned();
            // The code says that the person may not be written to; why, says how they stand.
            let barred = match code == Some(LocalError::ContactOptedOut.code()) {
                true => barred(tx, context, message)?,
                false => None,
            };
            person.reason = Some(barred.map_or(reason, Bar::as_str).to_owned());
            (RowState::Unreached, "skipped")
        }
        Verdict::Is(outcome, step) => {
            person.standing = outcome.as_str().to_owned();
            person.step = person.step.max(step);
            person.code = (outcome == Outcome::Failed).then_some(code).flatten();
            match outcome {
                Outcome::Sent if person.step >= 3 => (RowState::Reached, "replied"),
                Outcome::Sent => (RowState::Reached, message.status.as_str()),
                other => (RowState::Unreached, other.as_str()),
            }
        }
    };
    channel_campaigns::save_person(tx, &person)?;
    if let Some(entry) = entry {
        move_row(tx, entry, state, Some(word))?;
    }
    if person.standing == Outcome::Failed.as_str() {
        let block = super::block(tx, tenant, person.campaign)?;
        let (messages, failures) =
            channel_campaigns::recent_failures(tx, tenant, person.campaign, block.counted_from, RECENT)?;
        if fails_too_often(messages, failures) {
            pause(tx, context, tenant, person.campaign, PauseReason::HighFailureRate)?;
        }
    }
    Ok(())
}

/// Whether a campaign cannot be resumed any more.
fn is_over(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Campaign>) -> Result<bool, Failure> {
    let campaign = rows::get(tx, tenant, id)?;
    Ok(campaign.is_none_or(|campaign| matches!(campaign.status, Status::Completed | Status::Archived)))
}

/// The message to a person was certainly not sent: they wait on, and get it when the campaign is resumed.
fn wait_on(tx: &mut Tx<'_>, person: &PersonRow, entry: Option<EntryRow>) -> Result<(), Failure> {
    channel_campaigns::forget_person(tx, person.workspace, person.list_row)?;
    match entry {
        Some(entry) => move_row(tx, entry, RowState::Queued, None),
        None => Ok(()),
    }
}

/// The person of a message is erased before the provider has told of it. What waits is not sent; what is being handed
/// over may have been sent. In both cases nobody waits for them any more.
pub(crate) fn erased(tx: &mut Tx<'_>, message: &MessageRow) -> Result<(), Failure> {
    let Some(mut person) = channel_campaigns::of_message(tx, message.workspace, message.id)? else {
        return Ok(());
    };
    if person.standing != Outcome::Sending.as_str() {
        return Ok(());
    }
    let outcome = if message.lease_until.is_some() { Outcome::DeliveryUnknown } else { Outcome::Skipped };
    person.reason = (outcome == Outcome::Skipped).then(|| Bar::Erased.as_str().to_owned());
    person.standing = outcome.as_str().to_owned();
    channel_campaigns::save_person(tx, &person)?;
    match lists::get(tx, person.workspace, person.campaign, person.list_row)? {
        Some(entry) => move_row(tx, entry, RowState::Unreached, Some(outcome.as_str())),
        None => Ok(()),
    }
}

/// Takes back a message that waits and may not go out for a reason that stops its campaign: the message is as if it had
/// never been, its person waits on, and the campaign pauses. Returns whether there was such a person; if not, nothing
/// happened.
pub(crate) fn take_back(
    tx: &mut Tx<'_>,
    context: &Context,
    message: &MessageRow,
    reason: PauseReason,
) -> Result<bool, Failure> {
    let tenant = message.workspace;
    let Some(person) = channel_campaigns::of_message(tx, tenant, message.id)? else { return Ok(false) };
    let entry = lists::get(tx, tenant, person.campaign, person.list_row)?;
    wait_on(tx, &person, entry)?;
    channel_messages::remove(tx, tenant, message.id)?;
    pause(tx, context, tenant, person.campaign, reason)?;
    Ok(true)
}

/// Why the person of a message may not be written to, in the words of the preflight.
fn barred(tx: &mut Tx<'_>, context: &Context, message: &MessageRow) -> Result<Option<Bar>, Failure> {
    let tenant = message.workspace;
    let contact = contacts::get(tx, tenant, message.contact)?;
    let to = crate::messages::address(message).and_then(|address| Recipient::parse(&address));
    let standing = contact_policy::standing(tx, context, tenant, contact.as_ref(), to.as_ref())?;
    Ok(standing.bars_messages(true))
}

/// Pauses a campaign that is sending; another one stays as it is.
pub(super) fn pause(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    id: Id<Campaign>,
    reason: PauseReason,
) -> Result<(), Failure> {
    let Some(mut campaign) = rows::get_for_update(tx, tenant, id)? else { return Ok(()) };
    if campaign.status != Status::Active {
        return Ok(());
    }
    campaign.status = Status::Paused;
    campaign.updated_at = context.now;
    ::campaigns::campaign::save(tx, &campaign)?;
    let mut block = super::block_for_update(tx, tenant, id)?;
    block.paused_reason = Some(reason.as_str().to_owned());
    block.next_at = None;
    Ok(channel_campaigns::save(tx, &block)?)
}

/// Called for what happens to templates, numbers and the account: pauses the campaigns that it stops.
pub fn told(app: &App, tx: &mut Tx<'_>, tenant: Tenant, fact: &Fact<'_>) -> Result<(), Failure> {
    let context = app.context();
    for block in channel_campaigns::active(tx, tenant)? {
        if let Some(reason) = stopped(tx, tenant, &block, fact)? {
            pause(tx, &context, tenant, block.campaign, reason)?;
        }
    }
    Ok(())
}

fn stopped(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    block: &BlockRow,
    fact: &Fact<'_>,
) -> Result<Option<PauseReason>, Failure> {
    Ok(match fact {
        Fact::Template { template, became_marketing } if template.id == block.template => {
            if template.status != TemplateStatus::Approved {
                Some(PauseReason::TemplateUnavailable)
            } else {
                (*became_marketing && !block.marketing_accepted).then_some(PauseReason::TemplateRecategorised)
            }
        }
        Fact::Quality { number, quality: "RED" } if !block.quality_accepted => {
            let known = channel_accounts::number(tx, tenant, *number)?;
            let same = known.is_some_and(|known| block.sends_from.as_ref() == Some(&known.phone_number_id));
            same.then_some(PauseReason::QualityRed)
        }
        Fact::NumberGone(number) => {
            let known = channel_accounts::number(tx, tenant, *number)?;
            let same = known.is_some_and(|known| block.sends_from.as_ref() == Some(&known.phone_number_id));
            same.then_some(PauseReason::NotConnected)
        }
        Fact::Restricted(true) => Some(PauseReason::AccountRestricted),
        Fact::Token { accepted: false } => Some(PauseReason::TokenInvalid),
        Fact::Disconnected => Some(PauseReason::NotConnected),
        Fact::Template { .. }
        | Fact::Quality { .. }
        | Fact::Restricted(false)
        | Fact::Token { accepted: true } => None,
    })
}
