//! A message is taken: every check, and the row that waits to be sent
//! (docs/contract/channel-messages.md#acceptance).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use api::error_codes as codes;
use app::contact_policy::{self, Bar, Standing};
use app::events::{self, NewEvent};
use app::{App, Context, Failure, decision_log, topics};
use domain::channel::consent::Wish;
use domain::channel::content::MAX_TEXT;
use domain::channel::limits::{Pace, TIER_TIME, tier_people};
use domain::channel::notification::Received;
use domain::channel::{
    Category, Content, Direction, LocalError, MessageStatus, Recipient, Source, Template, TemplateStatus,
    Times, window,
};
use domain::decision_log::{Chain, Channel as LogChannel, Decision, Entry};
use domain::ids::{Agent, Campaign, ChannelMessage, Chat, Consent, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, SECOND, Timestamp};
use serde_json::{Value, json};
use store::channel_messages::{self, MessageRow, ThreadRow};
use store::contacts::{self, ContactRow};
use store::{Tx, channel_consents, workspaces};

use crate::followers::{self, MessageFact};
use crate::numbers::Number;
use crate::slots::Slot;
use crate::view;

/// Most messages of a workspace that wait to be sent.
pub const MAX_WAITING: i64 = 200_000;
/// Within this distance of the ceiling the waiting messages are counted for each new one. All nodes together add fewer in a
/// second.
const NEAR: i64 = MAX_WAITING / 4;
/// Workspaces whose waiting messages a node remembers to have counted.
const COUNTED: usize = 10_000;
/// How long somebody who sends a message has for storing the outcome.
pub(crate) const LEASE: i64 = 120 * SECOND;
/// People who are forgotten at once.
const FORGOTTEN: i64 = 5_000;
/// How far ahead a message of a request may take a slot of its number.
const MOST_WAIT: i64 = SECOND;

/// Most people that the account of a number may write to in 24 hours without being asked.
pub(crate) fn people_of(number: &Number) -> Option<i64> {
    tier_people(number.tier.as_deref())
}

/// What people are counted against: the account, whatever number sends.
pub(crate) fn account_of(number: &Number) -> String {
    number.account.to_string()
}

/// A message that somebody wants to send.
#[derive(Debug, Clone)]
pub struct New {
    /// Who sends it.
    pub source: Source,
    /// From which number.
    pub number: Number,
    /// Whom it is for; none when a contact is to be made.
    pub contact: Option<ContactRow>,
    /// Where it is to go.
    pub to: Recipient,
    /// What it says.
    pub content: Content,
    /// The template of it.
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
    /// Whether a refusal is kept as a message that failed.
    pub keep_refused: bool,
}

/// A person's consent to marketing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptIn {
    /// How it was given.
    pub source: String,
    /// When.
    pub captured_at: Timestamp,
}

/// Why a message is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// One of the local codes, with the word for the log.
    Local(LocalError, &'static str),
    /// The account has written to as many people as it may.
    TierLimit,
    /// The customer's id cannot receive it.
    RecipientUnsupported,
}

impl Refusal {
    fn local(error: LocalError) -> Self {
        Self::Local(error, error.title())
    }

    /// The gate that stopped it, for the decision log.
    fn gate(&self) -> &'static str {
        match self {
            Self::Local(error, _) => error.title(),
            Self::TierLimit => "tier_limit_reached",
            Self::RecipientUnsupported => "recipient_unsupported",
        }
    }

    /// Code, title and detail of a message that failed for it.
    pub fn error(&self) -> (i64, String, String) {
        match self {
            Self::Local(error, _) => (error.code(), error.title().to_owned(), error.detail().to_owned()),
            Self::TierLimit => {
                (131_048, "tier_limit_reached".into(), codes::TIER_LIMIT_REACHED.meaning.into())
            }
            Self::RecipientUnsupported => {
                (131_062, "recipient_unsupported".into(), codes::RECIPIENT_UNSUPPORTED.meaning.into())
            }
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Local(error, reason) => match error {
                LocalError::ContactOptedOut => {
                    Failure::plain(codes::CONTACT_OPTED_OUT).with_meta(json!({"reason": reason}))
                }
                LocalError::OptInRequired => Failure::plain(codes::OPT_IN_REQUIRED),
                LocalError::WindowClosed => Failure::plain(codes::WINDOW_CLOSED),
                LocalError::TemplateUnavailable => Failure::plain(codes::TEMPLATE_UNAVAILABLE),
                LocalError::TemplateNotFound => Failure::plain(codes::TEMPLATE_NOT_FOUND),
                LocalError::TextTooLong => Failure::field("text", error.detail()),
                LocalError::InvalidMessage => Failure::new(codes::INVALID_REQUEST, error.detail()),
            },
            Refusal::TierLimit => Failure::plain(codes::TIER_LIMIT_REACHED),
            Refusal::RecipientUnsupported => Failure::plain(codes::RECIPIENT_UNSUPPORTED),
        }
    }
}

/// What became of a message that somebody wants to send.
#[derive(Debug, Clone)]
pub enum Placed {
    /// It waits, and a job sends it.
    Queued(Box<MessageRow>),
    /// The caller sends it after the commit, with [`crate::send::deliver`].
    Claimed(Box<Claim>),
    /// It was refused, and kept as a message that failed.
    Failed(Box<MessageRow>),
    /// It was refused, and nothing of it was kept but the decision.
    Refused(Refusal),
}

impl Placed {
    /// The message that was stored.
    pub fn message(&self) -> Option<&MessageRow> {
        match self {
            Self::Queued(row) | Self::Failed(row) => Some(row),
            Self::Claimed(claim) => Some(&claim.message),
            Self::Refused(_) => None,
        }
    }
}

/// The right to hand a message to the provider, once.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The message.
    pub message: MessageRow,
    /// Where it goes out.
    pub number: Number,
    /// The moment of its slot.
    pub at: Timestamp,
}

/// Decisions on messages that a transaction has made. They are written to the log late in it, since the log is held from
/// then on ([`Decisions::write`]).
#[derive(Default)]
pub(crate) struct Decisions(Vec<Entry>);

impl Decisions {
    /// Writes them to the log, in their order.
    pub(crate) fn write(self, tx: &mut Tx<'_>, context: &Context, tenant: Tenant) -> Result<(), Failure> {
        let mut chains = decision_log::Chains::default();
        for entry in self.0 {
            chains.record(tenant, Chain::Audit, entry);
        }
        chains.finish(tx, context)
    }

    pub(crate) fn add(&mut self, entry: Entry) {
        self.0.push(entry);
    }
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
            refusal = Some(Refusal::TierLimit);
        }
    }
    if let Some(refusal) = refusal {
        if !new.keep_refused {
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
        return Ok(Placed::Failed(Box::new(row)));
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
            channel_messages::wake_line(tx, tenant, &row.phone_number_id, at)?;
            stored(app, tx, &row, contact.external_ref.as_deref(), None, None)?;
            tx.wake(topics::CHANNEL_SENDS);
            Ok(Placed::Queued(Box::new(row)))
        }
    }
}

/// How many messages of a workspace wait, as this node last counted and has added since.
#[derive(Default)]
struct Waiting(Mutex<HashMap<Tenant, (Timestamp, i64)>>);

/// Whether so many messages wait that no more are taken. They are counted once a second, and each time when they may be
/// near their ceiling: counting all of them takes long when there are many.
fn too_many_wait(app: &App, tx: &mut Tx<'_>, tenant: Tenant) -> Result<bool, Failure> {
    let (waiting, now) = (app.kept.of(Waiting::default), app.clock.now());
    let known = |waiting: &Waiting| {
        let mut known = waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, count) = known.get_mut(&tenant)?;
        *count += 1;
        (now.0 - at.0 < SECOND && *count < MAX_WAITING - NEAR).then_some(())
    };
    if known(&waiting).is_some() {
        return Ok(false);
    }
    let count = channel_messages::waiting(tx, tenant)?;
    let mut known = waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= COUNTED {
        known.clear();
    }
    known.insert(tenant, (now, count + 1));
    Ok(count >= MAX_WAITING)
}

/// Every check of a message that somebody wants to send; nothing is stored.
///
/// # Errors
/// Those of the store.
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
    Ok((!room).then_some(Refusal::TierLimit))
}

/// Why a message may not go to a person who stands like this.
fn judge(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    new: &New,
    standing: &Standing,
    open: bool,
) -> Result<Option<Refusal>, Failure> {
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

/// The last moment of a slot that a message of a request may wait for. Nobody waits for a clock that stands still.
pub(crate) fn latest_slot(app: &App) -> Timestamp {
    let now = app.clock.now();
    if app.clock.is_manual() { now } else { now.plus(MOST_WAIT) }
}

/// Whether an account may write to a person without being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// To as many as it likes; nobody counts.
    Unlimited,
    /// To this person, too; the count is held until the transaction ends.
    Free {
        /// Whether the person is one more.
        is_new: bool,
    },
    /// To nobody new.
    Full,
}

/// Whether the account may write to one more person, with the count held until the transaction ends.
pub(crate) fn room_for(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    number: &Number,
    to: &Recipient,
) -> Result<Room, Failure> {
    let Some(most) = people_of(number) else { return Ok(Room::Unlimited) };
    let reached = channel_messages::reached(tx, tenant, &account_of(number), context.now.plus(-TIER_TIME))?;
    let person = contact_policy::person_hash(&context.keyring, &to.text());
    let is_new = !channel_messages::is_reached(tx, tenant, &account_of(number), &person)?;
    Ok(if is_new && reached >= most { Room::Full } else { Room::Free { is_new } })
}

/// The same for a look that changes nothing.
fn has_room_now(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    number: &Number,
    to: &Recipient,
) -> Result<bool, Failure> {
    let Some(most) = people_of(number) else { return Ok(true) };
    let after = context.now.plus(-TIER_TIME);
    let person = contact_policy::person_hash(&context.keyring, &to.text());
    Ok(channel_messages::count_reached(tx, tenant, &account_of(number), after)? < most
        || channel_messages::is_reached(tx, tenant, &account_of(number), &person)?)
}

/// Notes that the account writes to a person without being asked, where it has room.
pub(crate) fn reach(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    number: &Number,
    row: &MessageRow,
    room: Room,
) -> Result<(), Failure> {
    let person = contact_policy::person_hash(&context.keyring, &address(row).unwrap_or_default());
    let account = account_of(number);
    match room {
        Room::Free { is_new } => channel_messages::reach(tx, tenant, &account, &person, is_new, context.now)?,
        Room::Unlimited | Room::Full => {
            channel_messages::reach_uncounted(tx, tenant, &account, &person, context.now)?
        }
    }
    Ok(())
}

/// Forgets whom accounts without a limit wrote to more than a day ago; whether there may be more.
pub(crate) async fn forget_reached(app: &App) -> Result<bool, Failure> {
    let before = app.clock.now().plus(-TIER_TIME);
    let gone = app
        .store
        .tx(move |tx| Ok::<_, Failure>(channel_messages::forget_reached(tx, before, FORGOTTEN)?))
        .await?;
    Ok(i64::try_from(gone).unwrap_or(i64::MAX) >= FORGOTTEN)
}

/// Where a message goes: the number if it is known.
pub(crate) fn address(row: &MessageRow) -> Option<String> {
    row.customer.clone().or_else(|| row.customer_user_id.clone())
}

/// Takes a slot of the number, unless there is one, and of the pair: the moment of it, or the moment at which to
/// come again.
fn take_slot(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    number: &Number,
    mut thread: ThreadRow,
    now: Timestamp,
    latest: Timestamp,
    slot: Option<&Slot>,
) -> Result<Result<Timestamp, Timestamp>, Failure> {
    let (at, line) = match slot {
        Some(slot) => (slot.at.max(now), None),
        None => {
            let mut line = channel_messages::line_for_update(tx, tenant, &number.phone_number_id)?;
            match slot_of_number(number, line.used, now, latest) {
                Ok((at, used)) => {
                    line.used = used;
                    (at, Some(line))
                }
                Err(at) => return Ok(Err(at)),
            }
        }
    };
    match Pace::of_pair().take(thread.used, at) {
        Err(again) => Ok(Err(again)),
        Ok(pair) => {
            thread.used = pair;
            thread.last_at = now;
            channel_messages::save_thread(tx, tenant, &thread)?;
            if let Some(line) = line {
                channel_messages::save_line(tx, &line)?;
            }
            Ok(Ok(at))
        }
    }
}

/// The next slot of a number up to `latest`, with the pace afterwards; or the moment at which there is one.
pub(crate) fn slot_of_number(
    number: &Number,
    used: i64,
    now: Timestamp,
    latest: Timestamp,
) -> Result<(Timestamp, i64), Timestamp> {
    let pace = Pace::of_number(number.rate);
    match pace.take(used, now) {
        Ok(used) => Ok((now, used)),
        Err(at) if at <= latest => pace.take(used, at).map(|used| (at, used)),
        Err(at) => Err(at),
    }
}

/// What the moment of sending says of a message that waited.
pub(crate) enum Turn {
    /// It goes.
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
        Err(error) => return Ok(Turn::Refuse(Refusal::local(error))),
    };
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

/// The contact of a message; made when there is none.
fn person(tx: &mut Tx<'_>, context: &Context, tenant: Tenant, new: &New) -> Result<ContactRow, Failure> {
    match &new.contact {
        Some(contact) => Ok(contact.clone()),
        // Nobody was found a moment ago.
        None => crate::people::make(tx, context, tenant, &new.to, None),
    }
}

/// The row of a message that nobody has decided on yet, and its thread.
fn fresh(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    new: &New,
    contact: &ContactRow,
) -> Result<(MessageRow, ThreadRow), Failure> {
    let number = &new.number;
    let thread = channel_messages::thread_for_update(
        tx,
        tenant,
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
    let words = match (&new.content, &new.template) {
        (Content::Template(filled), Some(template)) => Some(template.words(filled)),
        (content, _) => content.words().map(str::to_owned),
    };
    let (customer, user) = match &new.to {
        Recipient::Phone(number) => (Some(number.to_string()), contact.chatapp_user_id.clone()),
        Recipient::UserId(id) => (None, Some(id.clone())),
    };
    let row = MessageRow {
        id: context.ids.make(),
        workspace: tenant,
        thread: thread.id,
        contact: contact.id,
        chat: new.chat,
        agent: new.agent,
        campaign: new.campaign,
        direction: Direction::Outbound,
        source: new.source,
        kind: new.content.kind().to_owned(),
        words,
        content: Some(serde_json::to_value(&new.content).map_err(|why| Failure::internal(why.to_string()))?),
        template_name: new.template.as_ref().map(|template| template.name.clone()),
        template: new.template.as_ref().map(|template| {
            json!({
                "id": template.id,
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
        phone_number_id: number.phone_number_id.clone(),
        business: number.e164,
        customer,
        customer_user_id: user,
        customer_username: contact.chatapp_username.clone(),
        provider_id: None,
        status: MessageStatus::Queued,
        error: None,
        times: Times::default(),
        rank: i64::from(new.campaign.is_some()),
        next_at: None,
        lease_until: None,
        attempts: 0,
        created_at: context.now,
        updated_at: context.now,
    };
    Ok((row, thread))
}

/// The message as it would be, for a test key: nothing of it is stored.
///
/// # Errors
/// Those of serialisation.
pub fn simulated(app: &App, tenant: Tenant, new: &New) -> Result<MessageRow, Failure> {
    let context = app.context();
    let words = match (&new.content, &new.template) {
        (Content::Template(filled), Some(template)) => Some(template.words(filled)),
        (content, _) => content.words().map(str::to_owned),
    };
    let contact = new.contact.as_ref();
    let (customer, user) = match &new.to {
        Recipient::Phone(number) => {
            (Some(number.to_string()), contact.and_then(|row| row.chatapp_user_id.clone()))
        }
        Recipient::UserId(id) => (None, Some(id.clone())),
    };
    let id: Id<ChannelMessage> = context.ids.make();
    Ok(MessageRow {
        id,
        workspace: tenant,
        thread: context.ids.make(),
        contact: contact.map_or_else(|| context.ids.make(), |contact| contact.id),
        chat: new.chat,
        agent: new.agent,
        campaign: None,
        direction: Direction::Outbound,
        source: Source::Test,
        kind: new.content.kind().to_owned(),
        words,
        content: None,
        template_name: new.template.as_ref().map(|template| template.name.clone()),
        template: new.template.as_ref().map(|template| {
            json!({
                "id": template.id,
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
        provider_id: Some(format!("TEST_{}", id.to_string().trim_start_matches("camsg_"))),
        status: MessageStatus::Sent,
        error: None,
        times: Times { sent: Some(context.now), ..Times::default() },
        rank: 0,
        next_at: None,
        lease_until: None,
        attempts: 0,
        created_at: context.now,
        updated_at: context.now,
    })
}

/// Records that a person allows marketing, with its proof.
///
/// # Errors
/// Those of the store.
pub fn record_opt_in(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    contact: &ContactRow,
    to: &Recipient,
    opt_in: &OptIn,
) -> Result<(), Failure> {
    let id: Id<Consent> = context.ids.make();
    let person = contact_policy::person_hash(&context.keyring, &to.text());
    let now = context.now;
    if channel_consents::opt_in(tx, tenant, &person, &opt_in.source, opt_in.captured_at, id, now)? {
        let about = json!({"source": opt_in.source, "capturedAt": opt_in.captured_at, "channel": "chatapp"});
        app::do_not_call::record_consent(
            tx,
            context,
            tenant,
            contact,
            Decision::Allowed,
            "given",
            &about,
            id,
        )?;
    }
    Ok(())
}

/// The row of the log for a decision on a message.
pub(crate) fn entry(
    context: &Context,
    about: String,
    agent: Option<Id<Agent>>,
    gate: Option<&'static str>,
    proof: Option<Id<Consent>>,
) -> Entry {
    Entry {
        timestamp: context.now,
        interaction_id: about,
        decision: if gate.is_some() { Decision::Blocked } else { Decision::Allowed },
        blocked_by: gate.map(str::to_owned),
        gate_results: json!({"request": "message", "channel": "chatapp"}).to_string(),
        outcome: None,
        recording_ref: None,
        consent_ref: proof.map(|proof| proof.to_string()),
        is_test: false,
        channel: LogChannel::Chat,
        agent_id: agent.map(|agent| agent.to_string()),
    }
}

/// Tells of a message that was stored, or that moved on: its event, and who follows.
pub(crate) fn stored(
    app: &App,
    tx: &mut Tx<'_>,
    row: &MessageRow,
    external_ref: Option<&str>,
    before: Option<MessageStatus>,
    received: Option<(&Received, Option<Wish>)>,
) -> Result<(), Failure> {
    let (received, wish) = received.map_or((None, None), |(received, wish)| (Some(received), wish));
    followers::tell(app, tx, &MessageFact { message: row, before, received, wish })?;
    let Some(kind) = row.status.event() else { return Ok(()) };
    // Who follows says to which conversation a received message belongs.
    let known = match received {
        Some(_) => channel_messages::get(tx, row.workspace, row.id)?,
        None => None,
    };
    let row = known.as_ref().unwrap_or(row);
    let contact = row.contact.to_string();
    let agent = row.agent.map(|agent| agent.to_string());
    let event = NewEvent {
        kind,
        mode: Mode::Live,
        agent: agent.as_deref(),
        contact: Some(&contact),
        data: view::of_event(row, external_ref)?,
    };
    events::emit(tx, &app.context(), row.workspace, event)?;
    Ok(())
}

/// The same for one whose contact has to be looked up.
pub(crate) fn moved(
    app: &App,
    tx: &mut Tx<'_>,
    row: &MessageRow,
    before: MessageStatus,
) -> Result<(), Failure> {
    let contact = contacts::get(tx, row.workspace, row.contact)?;
    let reference = contact.and_then(|contact| contact.external_ref);
    stored(app, tx, row, reference.as_deref(), Some(before), None)
}
