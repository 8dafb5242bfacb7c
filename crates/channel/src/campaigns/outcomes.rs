//! Outcomes of people, and pauses of campaigns, as they follow from messages and account events
//! (docs/contract/campaigns.md#outcomes, #pauses).

use app::contact_policy::{self, Bar};
use app::{App, Context, Failure, bell};
use domain::campaign::{CountedState, RowState, Status, Tally};
use domain::channel::campaign::{Outcome, PauseReason, RECENT, Verdict, fails_too_often, verdict};
use domain::channel::consent::StopWord;
use domain::channel::{Direction, LocalError, Recipient, TemplateStatus};
use domain::ids::{Campaign, Id};

use domain::time::{DAY, Timestamp};
use domain::topic::NotificationKind;
use store::campaigns::blocks::{self, Moves};
use store::campaigns::list::{self as lists, EntryRow};
use store::campaigns::progress::{self, Delta};
use store::campaigns::{self as rows, due};
use store::channel_campaigns::{self, BlockRow, CampaignPersonRow};
use store::channel_messages::MessageRow;
use store::{TenantTx, Tx, channel_accounts, channel_messages, contacts};

use crate::events::{AccountEvent, MessageEvent};

/// How long the funnel of a campaign is updated after its end.
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
    entry.standing = CountedState { state, retryable: false, blocked: false };
    entry.dial_status = word.map(str::to_owned);
    entry.look_at = None;
    let (tenant, campaign, list) = (entry.workspace, entry.campaign, entry.list);
    let mut moves = Moves::default();
    due::save_row(tx, &entry, before.state, &mut moves)?;
    let change = Tally::moved(before, entry.standing);
    if !change.is_zero() {
        progress::count(&mut tx.of(tenant), campaign, &Delta { list, rows: change, ..Delta::default() })?;
    }
    Ok(blocks::count(&mut tx.of(tenant), campaign, list, &moves)?)
}

/// Observes every message that is stored or whose status changes.
pub fn on_message(app: &App, tx: &mut Tx<'_>, event: &MessageEvent<'_>) -> Result<(), Failure> {
    let context = app.context();
    match event.message.direction {
        Direction::Inbound if event.before.is_none() => wrote(tx, &context, event),
        Direction::Outbound if event.message.campaign.is_some() => moved(tx, &context, event.message),
        Direction::Inbound | Direction::Outbound => Ok(()),
    }
}

/// A customer's message counts as the reply to the newest campaign message of the last week.
fn wrote(tx: &mut Tx<'_>, context: &Context, event: &MessageEvent<'_>) -> Result<(), Failure> {
    let message = event.message;
    let since = context.now.plus(-FUNNEL);
    let Some(mut person) =
        channel_campaigns::newest_to(&mut tx.of(message.workspace), message.contact, since)?
    else {
        return Ok(());
    };
    if is_closed(tx, &person, context.now)? {
        return Ok(());
    }
    person.standing = Outcome::Sent.as_str().to_owned();
    person.step = 3;
    person.opted_out |= matches!(event.stop_word, Some(StopWord::StopMessages | StopWord::StopAll));
    channel_campaigns::save_person(tx, &person)?;
    if let Some(entry) = lists::get(&mut tx.of(person.workspace), person.campaign, person.list_row)? {
        move_row(tx, entry, RowState::Reached, Some("replied"))?;
    }
    Ok(())
}

/// Whether the funnel of a campaign is closed.
fn is_closed(tx: &mut Tx<'_>, person: &CampaignPersonRow, now: Timestamp) -> Result<bool, Failure> {
    let block = channel_campaigns::get(&mut tx.of(person.workspace), person.campaign)?;
    Ok(block.is_none_or(|block| block.finished_at.is_some_and(|end| now.0 - end.0 > FUNNEL)))
}

/// The status of a campaign's message changed.
fn moved(tx: &mut Tx<'_>, context: &Context, message: &MessageRow) -> Result<(), Failure> {
    let tenant = message.workspace;
    let code = message.error.as_ref().map(|(code, ..)| *code);
    let verdict = verdict(message.status, code);
    if verdict == Verdict::Nothing {
        return Ok(());
    }
    let Some(mut person) = channel_campaigns::of_message(&mut tx.of(tenant), message.id)? else {
        return Ok(());
    };
    if is_closed(tx, &person, context.now)? {
        return Ok(());
    }
    let entry = lists::get(&mut tx.of(tenant), person.campaign, person.list_row)?;
    let verdict = match verdict {
        // Nobody resumes it, so nobody would wait for anything.
        Verdict::Pause(_) if is_over(&mut tx.of(tenant), person.campaign)? => Verdict::Is(Outcome::Failed, 0),
        verdict => verdict,
    };
    let (state, word) = match verdict {
        Verdict::Nothing => return Ok(()),
        Verdict::Pause(reason) => {
            wait_on(tx, &person, entry)?;
            return pause(&mut tx.of(tenant), context, person.campaign, reason);
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
        let block = super::block(&mut tx.of(tenant), person.campaign)?;
        let (messages, failures) = channel_campaigns::recent_failures(
            &mut tx.of(tenant),
            person.campaign,
            block.counted_from,
            RECENT,
        )?;
        if fails_too_often(messages, failures) {
            pause(&mut tx.of(tenant), context, person.campaign, PauseReason::HighFailureRate)?;
        }
    }
    Ok(())
}

/// Whether a campaign cannot be resumed any more.
fn is_over(tx: &mut TenantTx, id: Id<Campaign>) -> Result<bool, Failure> {
    let campaign = rows::get(tx, id)?;
    Ok(campaign.is_none_or(|campaign| matches!(campaign.status, Status::Completed | Status::Archived)))
}

/// The message to a person was certainly not sent: they stay queued, and get it when the campaign is resumed.
fn wait_on(tx: &mut Tx<'_>, person: &CampaignPersonRow, entry: Option<EntryRow>) -> Result<(), Failure> {
    channel_campaigns::forget_person(&mut tx.of(person.workspace), person.list_row)?;
    match entry {
        Some(entry) => move_row(tx, entry, RowState::Queued, None),
        None => Ok(()),
    }
}

/// The person of a message is erased before its outcome is known. A queued message is not sent; a leased one may have
/// been. Either way the campaign no longer waits for them.
pub(crate) fn erased(tx: &mut Tx<'_>, message: &MessageRow) -> Result<(), Failure> {
    let Some(mut person) = channel_campaigns::of_message(&mut tx.of(message.workspace), message.id)? else {
        return Ok(());
    };
    if person.standing != Outcome::Sending.as_str() {
        return Ok(());
    }
    let outcome = if message.lease_until.is_some() { Outcome::DeliveryUnknown } else { Outcome::Skipped };
    person.reason = (outcome == Outcome::Skipped).then(|| Bar::Erased.as_str().to_owned());
    person.standing = outcome.as_str().to_owned();
    channel_campaigns::save_person(tx, &person)?;
    match lists::get(&mut tx.of(person.workspace), person.campaign, person.list_row)? {
        Some(entry) => move_row(tx, entry, RowState::Unreached, Some(outcome.as_str())),
        None => Ok(()),
    }
}

/// Withdraws a queued message for a reason that pauses its campaign: the message is deleted, and its person stays queued.
/// Returns `false`, and changes nothing, when no person of a campaign belongs to it.
pub(crate) fn take_back(
    tx: &mut Tx<'_>,
    context: &Context,
    message: &MessageRow,
    reason: PauseReason,
) -> Result<bool, Failure> {
    let tenant = message.workspace;
    let Some(person) = channel_campaigns::of_message(&mut tx.of(tenant), message.id)? else {
        return Ok(false);
    };
    let entry = lists::get(&mut tx.of(tenant), person.campaign, person.list_row)?;
    wait_on(tx, &person, entry)?;
    channel_messages::remove(&mut tx.of(tenant), message.id)?;
    pause(&mut tx.of(tenant), context, person.campaign, reason)?;
    Ok(true)
}

/// Why the person of a message may not be written to, as a code of the preflight.
fn barred(tx: &mut Tx<'_>, context: &Context, message: &MessageRow) -> Result<Option<Bar>, Failure> {
    let tenant = message.workspace;
    let contact = contacts::get(&mut tx.of(tenant), message.contact)?;
    let to = crate::people::address(message).and_then(|address| Recipient::parse(&address));
    let standing = contact_policy::standing(&mut tx.of(tenant), context, contact.as_ref(), to.as_ref())?;
    Ok(standing.bars_messages(true))
}

/// Pauses a campaign, if it is active.
pub(super) fn pause(
    tx: &mut TenantTx,
    context: &Context,
    id: Id<Campaign>,
    reason: PauseReason,
) -> Result<(), Failure> {
    let Some(mut campaign) = rows::get_for_update(tx, id)? else { return Ok(()) };
    if campaign.status != Status::Active {
        return Ok(());
    }
    campaign.status = Status::Paused;
    campaign.updated_at = context.now;
    ::campaigns::save(tx, &campaign)?;
    let mut block = super::block_for_update(tx, id)?;
    block.paused_reason = Some(reason.as_str().to_owned());
    block.next_at = None;
    channel_campaigns::save(tx, &block)?;
    bell::tell_launcher(tx, context, id, NotificationKind::CampaignPaused)
}

/// Observes events of templates, numbers and the account: pauses the campaigns that they stop.
pub fn on_account_event(app: &App, tx: &mut TenantTx, event: &AccountEvent<'_>) -> Result<(), Failure> {
    let context = app.context();
    for block in channel_campaigns::active(tx)? {
        if let Some(reason) = stopped(tx, &block, event)? {
            pause(tx, &context, block.campaign, reason)?;
        }
    }
    Ok(())
}

fn stopped(
    tx: &mut TenantTx,
    block: &BlockRow,
    event: &AccountEvent<'_>,
) -> Result<Option<PauseReason>, Failure> {
    Ok(match event {
        AccountEvent::Template { template, became_marketing } if template.id == block.template => {
            if template.status != TemplateStatus::Approved {
                Some(PauseReason::TemplateUnavailable)
            } else {
                (*became_marketing && !block.marketing_accepted).then_some(PauseReason::TemplateRecategorised)
            }
        }
        AccountEvent::Quality { number, quality: "RED" } if !block.quality_accepted => {
            let known = channel_accounts::number(tx, *number)?;
            let same = known.is_some_and(|known| block.sends_from.as_ref() == Some(&known.phone_number_id));
            same.then_some(PauseReason::QualityRed)
        }
        AccountEvent::NumberGone(number) => {
            let known = channel_accounts::number(tx, *number)?;
            let same = known.is_some_and(|known| block.sends_from.as_ref() == Some(&known.phone_number_id));
            same.then_some(PauseReason::NotConnected)
        }
        AccountEvent::Restricted(true) => Some(PauseReason::AccountRestricted),
        AccountEvent::Token { accepted: false } => Some(PauseReason::TokenInvalid),
        AccountEvent::Disconnected => Some(PauseReason::NotConnected),
        AccountEvent::Template { .. }
        | AccountEvent::Quality { .. }
        | AccountEvent::Restricted(false)
        | AccountEvent::Token { accepted: true } => None,
    })
}
