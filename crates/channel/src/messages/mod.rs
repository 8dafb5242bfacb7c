//! A message is taken: every check, and the row that waits to be sent
//! (docs/contract/channel-messages.md#acceptance).
//!
//! | file | holds |
//! |---|---|
//! | here | a message that somebody wants to send, and what becomes of it |
//! | `refusal` | why a message is not taken |
//! | `checks` | the checks, when it is taken and again at its turn |
//! | `room` | to how many people an account may write without being asked |
//! | `pace` | slots of a number and of a pair |
//! | `waiting` | how many messages wait |
//! | `rows` | the row of a message |
//! | `decisions` | the log of decisions, and consent that comes along |
//! | `telling` | who hears of a message |

mod checks;
mod decisions;
mod pace;
mod refusal;
mod room;
mod rows;
mod telling;
mod waiting;

pub use checks::check;
pub(crate) use checks::{Turn, at_its_turn};
pub use decisions::record_opt_in;
pub(crate) use decisions::{Decisions, entry};
pub(crate) use pace::{MOST_WAIT, latest_slot, slot_of_number};
pub use refusal::Refusal;
pub(crate) use room::{account_of, forget_reached, people_of, reach};
pub(crate) use rows::address;
pub use rows::simulated;
pub(crate) use telling::{Incoming, moved, stored};
pub use waiting::MAX_WAITING;

use api::error_codes as codes;
use app::contact_policy;
use app::{App, Failure, topics};
use domain::channel::{Content, MessageStatus, Recipient, Source, Template, window};
use domain::ids::{Agent, Campaign, Chat, Id};
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use store::Tx;
use store::channel_messages::{self, MessageRow};
use store::contacts::{self, ContactRow};

use self::checks::{judge, tier_limit};
use self::pace::take_slot;
use self::room::{Room, room_for};
use self::rows::{fresh, person};
use self::waiting::too_many_wait;
use crate::numbers::Number;
use crate::slots::Slot;

/// How long somebody who sends a message has for storing the outcome.
pub(crate) const LEASE: i64 = 120 * SECOND;

/// A message that somebody wants to send.
#[derive(Debug, Clone)]
pub struct New {
    pub source: Source,
    pub number: Number,
    /// Whom it is for; none when a contact is to be made.
    pub contact: Option<ContactRow>,
    /// Where it is to go.
    pub to: Recipient,
    pub content: Content,
    pub template: Option<Template>,
    /// The provider's id of the message that it answers.
    pub reply_to: Option<String>,
    /// The chat that it belongs to.
    pub chat: Option<Id<Chat>>,
    /// The agent of the chat or the campaign.
    pub agent: Option<Id<Agent>>,
    /// The campaign that sends it.
    pub campaign: Option<Id<Campaign>>,
    /// The opt-in that comes along with it.
    pub opt_in: Option<OptIn>,
    /// Whether the caller sends it itself, at once: [`Placed::Claimed`] where there is room for it now.
    pub at_once: bool,
    /// Whether a refusal is kept as a message that failed. Nothing is kept of somebody who was erased, and nobody
    /// becomes a contact by it.
    pub keep_refused: bool,
}

/// A person's consent to marketing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptIn {
    pub source: String,
    pub captured_at: Timestamp,
}

/// What became of a message that somebody wants to send.
#[derive(Debug, Clone)]
pub enum Placed {
    /// It waits, and a job sends it.
    Queued(Box<MessageRow>),
    /// The caller sends it after the commit, with [`crate::send::deliver`].
    Claimed(Box<Claim>),
    /// It was refused for this, and kept as a message that failed.
    Failed(Box<MessageRow>, Refusal),
    /// It was refused, and nothing of it was kept but the decision.
    Refused(Refusal),
}

impl Placed {
    /// The message that was stored.
    pub fn message(&self) -> Option<&MessageRow> {
        match self {
            Self::Queued(row) | Self::Failed(row, _) => Some(row),
            Self::Claimed(claim) => Some(&claim.message),
            Self::Refused(_) => None,
        }
    }
}

/// The right to hand a message to the provider, once.
#[derive(Debug, Clone)]
pub struct Claim {
    pub message: MessageRow,
    /// Where it goes out.
    pub number: Number,
    /// The moment of its slot.
    pub at: Timestamp,
}

/// Takes a message. It is stored with a status, or refused.
///
/// # Errors
/// Those of the store; `rate_limited` when too many messages wait.
pub fn put(app: &App, tx: &mut Tx<'_>, tenant: Tenant, new: &New) -> Result<Placed, Failure> {
    let mut decisions = Decisions::default();
    let placed = put_into(app, tx, tenant, new, None, &mut decisions)?;
    decisions.write(tx, &app.context(), tenant)?;
    Ok(placed)
}

/// The same for a message of a request that may have a slot of its number already. The caller writes the decisions.
///
/// # Errors
/// Those of [`put`].
pub(crate) fn put_into(
    app: &App,
    tx: &mut Tx<'_>,
    tenant: Tenant,
    new: &New,
    slot: Option<&Slot>,
    decisions: &mut Decisions,
) -> Result<Placed, Failure> {
    let context = app.context();
    let now = context.now;
    let standing = contact_policy::standing(tx, &context, tenant, new.contact.as_ref(), Some(&new.to))?;
    let thread = match &new.contact {
        Some(contact) => channel_messages::thread_of(tx, tenant, contact.id, &new.number.phone_number_id)?,
        None => None,
    };
    let open = window::is_open(thread.and_then(|thread| thread.received_at), now);
    let mut refusal = judge(tx, tenant, new, &standing, open)?;
    let mut room = Room::Unlimited;
    if refusal.is_none() && new.at_once && !open && people_of(&new.number).is_some() {
        // The line of the number before the people of the account, in the order of those who send what waits.
        channel_messages::line_for_update(tx, tenant, &new.number.phone_number_id)?;
        room = room_for(tx, &context, tenant, &new.number, &new.to)?;
        if room == Room::Full {
            refusal = Some(tier_limit(tx, &context, tenant, &new.number)?);
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
        let contact = person(tx, &context, tenant, new)?;
        let (mut row, _) = fresh(tx, &context, tenant, new, &contact)?;
        row.status = MessageStatus::Failed;
        row.error = Some(refusal.error());
        row.times.failed = Some(now);
        channel_messages::insert(tx, &row)?;
        stored(app, tx, &row, contact.external_ref.as_deref(), None, None)?;
        decisions.add(entry(&context, row.id.to_string(), row.agent, Some(refusal.gate()), None));
        return Ok(Placed::Failed(Box::new(row), refusal));
    }
    let contact = person(tx, &context, tenant, new)?;
    if let Some(opt_in) = &new.opt_in {
        record_opt_in(tx, &context, tenant, &contact, &new.to, opt_in)?;
    }
    let (mut row, thread) = fresh(tx, &context, tenant, new, &contact)?;
    contacts::touch(tx, tenant, contact.id, now)?;
    let slot = if new.at_once {
        let latest = latest_slot(app);
        let slot = slot.filter(|slot| slot.number == row.phone_number_id);
        take_slot(tx, tenant, &new.number, thread, now, latest, slot)?
    } else {
        Err(now)
    };
    match slot {
        Ok(at) => {
            row.lease_until = Some(now.plus(LEASE));
            row.attempts = 1;
            channel_messages::insert(tx, &row)?;
            if !open {
                reach(tx, &context, tenant, &new.number, &row, room)?;
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
            if new.campaign.is_none() && too_many_wait(app, tx, tenant)? {
                let why = "too many messages of this workspace wait to be sent";
                return Err(Failure::new(codes::RATE_LIMITED, why));
            }
            row.next_at = Some(at);
            channel_messages::insert(tx, &row)?;
            channel_messages::wake_line(tx, tenant, &row.phone_number_id, row.id, at)?;
            stored(app, tx, &row, contact.external_ref.as_deref(), None, None)?;
            tx.wake(topics::CHANNEL_SENDS);
            Ok(Placed::Queued(Box::new(row)))
        }
    }
}
