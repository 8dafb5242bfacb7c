//! A message is accepted: every check passes, and its row is stored, either claimed by the caller or queued.

use api::error_codes as codes;
use app::contact_policy;
use app::{App, Failure, topics};
use domain::channel::{MessageStatus, window};

use store::TenantTx;
use store::channel_messages::{self};
use store::contacts;

use super::checks::{judge, tier_limit};
use super::decisions::{Decisions, entry, record_opt_in};
use super::dispatch::stored;
use super::new::{Claim, LEASE, New, Placed};
use super::pace::{latest_slot, take_slot};
use super::room::{Room, people_of, reach, room_for};
use super::rows::{fresh, person};
use super::waiting::too_many_wait;
use crate::slots::Slot;

/// Accepts a message: it is stored with a status, or refused.
///
/// # Errors
/// `rate_limited` when too many messages are queued.
pub fn put(app: &App, tx: &mut TenantTx, new: &New) -> Result<Placed, Failure> {
    let mut decisions = Decisions::default();
    let placed = put_into(app, tx, new, None, &mut decisions)?;
    decisions.write(tx, &app.context())?;
    Ok(placed)
}

/// [`put`] with a reserved slot, if there is one. The caller writes the decisions to the log.
///
/// # Errors
/// Those of [`put`].
pub(crate) fn put_into(
    app: &App,
    tx: &mut TenantTx,
    new: &New,
    slot: Option<&Slot>,
    decisions: &mut Decisions,
) -> Result<Placed, Failure> {
    let context = app.context();
    let now = context.now;
    let standing = contact_policy::standing(tx, &context, new.contact.as_ref(), Some(&new.to))?;
    let thread = match &new.contact {
        Some(contact) => channel_messages::thread_of(tx, contact.id, &new.number.phone_number_id)?,
        None => None,
    };
    let open = window::is_open(thread.and_then(|thread| thread.received_at), now);
    let mut refusal = judge(tx, new, &standing, open)?;
    let mut room = Room::Unlimited;
    if refusal.is_none() && new.at_once && !open && people_of(&new.number).is_some() {
        // The line of the number before the people of the account, in the order of those who send what waits.
        channel_messages::send_queue_for_update(tx, &new.number.phone_number_id)?;
        room = room_for(tx, &context, &new.number, &new.to)?;
        if room == Room::Full {
            refusal = Some(tier_limit(tx, &context, &new.number)?);
        }
    }
    if let Some(refusal) = refusal {
        // What stops a campaign is no refusal of the person, who waits on.
        let pauses = new.campaign.is_some() && refusal.pauses().is_some();
        let kept = new.keep_refused && new.contact.is_some() && !refusal.is_of_erased() && !pauses;
        if !kept {
            let about = new.contact.as_ref().map_or_else(String::new, |contact| contact.id.to_string());
            decisions.add(entry(&context, about, new.agent, Some(refusal.gate()), None));
            return Ok(Placed::Refused(refusal));
        }
        let contact = person(tx, &context, new)?;
        let (mut row, _) = fresh(tx, &context, new, &contact)?;
        row.status = MessageStatus::Failed;
        row.error = Some(refusal.error());
        row.times.failed = Some(now);
        channel_messages::insert(tx, &row)?;
        stored(app, tx, &row, contact.external_ref.as_deref(), None, None)?;
        decisions.add(entry(&context, row.id.to_string(), row.agent, Some(refusal.gate()), None));
        return Ok(Placed::Failed(Box::new(row), refusal));
    }
    let contact = person(tx, &context, new)?;
    if let Some(opt_in) = &new.opt_in {
        record_opt_in(tx, &context, &contact, &new.to, opt_in)?;
    }
    let (mut row, thread) = fresh(tx, &context, new, &contact)?;
    contacts::touch(tx, contact.id, now)?;
    let slot = if new.at_once {
        let latest = latest_slot(app);
        let slot = slot.filter(|slot| slot.number == row.phone_number_id);
        take_slot(tx, &new.number, thread, now, latest, slot)?
    } else {
        Err(now)
    };
    match slot {
        Ok(at) => {
            row.lease_until = Some(now.plus(LEASE));
            row.attempts = 1;
            channel_messages::insert(tx, &row)?;
            if !open {
                reach(tx, &context, &new.number, &row, room)?;
            }
            stored(app, tx, &row, contact.external_ref.as_deref(), None, None)?;
            let proof = standing.consent.opt_in_consent;
            decisions.add(entry(&context, row.id.to_string(), row.agent, None, proof));
            // If this node dies, a job takes care of the message. Where nodes share a store, that job looks every few
            // seconds without being woken.
            if !app.store.shared() || app.clock.is_manual() {
                tx.wake(topics::CHANNEL_SENDS);
            }
            Ok(Placed::Claimed(Box::new(Claim { message: row, number: new.number.clone(), at })))
        }
        Err(at) => {
            // A campaign has its own bound of messages that wait.
            if new.campaign.is_none() && too_many_wait(app, tx)? {
                let why = "too many messages of this workspace are queued; try again later";
                return Err(Failure::new(codes::RATE_LIMITED, why));
            }
            row.next_at = Some(at);
            channel_messages::insert(tx, &row)?;
            channel_messages::wake_send_queue(tx, &row.phone_number_id, row.id, at)?;
            stored(app, tx, &row, contact.external_ref.as_deref(), None, None)?;
            tx.wake(topics::CHANNEL_SENDS);
            Ok(Placed::Queued(Box::new(row)))
        }
    }
}
