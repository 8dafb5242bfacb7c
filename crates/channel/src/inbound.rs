//! Inbound messages of customers (docs/contract/channel-messages.md#received). Each function runs in the transaction that
//! removes its notification from the queue.

use api::events::contacts::OptedOutContact;
use app::contact_policy;
use app::events::{self, Event, NewEvent};
use app::{App, Context, Failure, do_not_call, topics};
use domain::channel::consent::{self, StopWord};
use domain::channel::notification::{Echo, Person, Preference, Received, ReceivedContent};
use domain::channel::{Content, Direction, Happened, MessageStatus, Recipient, Source, Times};
use domain::decision_log::Decision;
use domain::ids::{Consent, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, Timestamp};
use serde_json::json;
use store::channel_messages::{self, MessageRow, ThreadRow};
use store::contacts::{self, ContactRow};
use store::{TenantTx, channel_consents, channel_conversations};

use crate::events::MessageEvent;
use crate::messages::{self, Incoming, New};
use crate::numbers::Number;
use crate::{media, people, unkept};

/// Longest stored text of a message, in characters. The channel's own limit is lower.
const MAX_WORDS: usize = 65_536;

/// Stores a customer's message, once, and applies stop words.
pub fn message(
    app: &App,
    tx: &mut TenantTx,
    number: &Number,
    received_at: Timestamp,
    received: &Received,
) -> Result<(), Failure> {
    let tenant = tx.tenant();
    let context = app.context();
    let known = channel_messages::at_provider_for_update(tx, &number.phone_number_id, &received.id)?;
    if known.is_some() {
        return Ok(());
    }
    match &received.what {
        ReceivedContent::Edit { original, text } => {
            return edited(app, tx, &context, number, received, original, text.as_deref());
        }
        ReceivedContent::Revoke { original } => {
            return revoked(app, tx, &context, number, received, original);
        }
        ReceivedContent::System { phone, user_id, .. } => {
            if let Some(contact) = people::who_wrote(tx, &context, &received.from)? {
                people::moved(tx, &context, contact.id, *phone, user_id.clone())?;
            }
            return Ok(());
        }
        _ => {}
    }
    let Some(contact) = people::who_wrote(tx, &context, &received.from)? else { return Ok(()) };
    let to = received.from.address();
    let mut standing = contact_policy::standing(tx, &context, Some(&contact), to.as_ref())?;
    if standing.consent.erased_at.is_some() {
        for person in contact_policy::hashes(&context.keyring, Some(&contact), to.as_ref()) {
            channel_consents::came_back(tx, &person, context.now)?;
        }
        standing.consent.erased_at = None;
    }
    // By the provider's clock, but never ahead of ours: it opens the window.
    let at = received.at.min(received_at);
    let mut thread = thread(tx, &context, number, contact.id)?;
    thread.received_at = thread.received_at.max(Some(at));
    thread.last_at = context.now;
    channel_messages::save_thread(tx, &thread)?;
    contacts::touch(tx, contact.id, context.now)?;
    let received = &with_own_ids(tx, number, received)?;
    let shown = unkept::shown(app, tx, number, contact.id, received)?;
    let row = row_of(&context, tenant, number, &contact, &thread, &shown, at)?;
    if !channel_messages::insert(tx, &row)? {
        return Ok(());
    }
    if row.media_at.is_some() {
        tx.wake(topics::CHANNEL_SENDS);
    }
    let stop_word = said(&received.what, answers(tx, &context, number, &contact, received)?);
    // Before the message is dispatched, so that its handlers see the person's current consent.
    if let Some(stop_word) = stop_word {
        obey(app, tx, &context, number, &contact, to.as_ref(), stop_word)?;
        standing = contact_policy::standing(tx, &context, Some(&contact), to.as_ref())?;
    }
    let incoming = Incoming { received: &shown, stop_word, barred: standing.bars_messages(false).is_some() };
    messages::stored(app, tx, &row, contact.external_ref.as_deref(), None, Some(incoming))
}

/// Replaces the provider's ids of the messages that it replies or reacts to with our ids, where known.
fn with_own_ids(tx: &mut TenantTx, number: &Number, received: &Received) -> Result<Received, Failure> {
    let mut received = received.clone();
    let mut named = |id: &mut String| -> Result<(), Failure> {
        if let Some(known) = channel_messages::id_at_provider(tx, &number.phone_number_id, id)? {
            *id = known.to_string();
        }
        Ok(())
    };
    if let Some(id) = &mut received.reply_to {
        named(id)?;
    }
    if let ReceivedContent::Reaction { message, .. } = &mut received.what {
        named(message)?;
    }
    Ok(received)
}

/// A message that somebody of the business wrote in the provider's own app.
pub fn echo(app: &App, tx: &mut TenantTx, number: &Number, echo: &Echo) -> Result<(), Failure> {
    let tenant = tx.tenant();
    let context = app.context();
    let known = channel_messages::at_provider_for_update(tx, &number.phone_number_id, &echo.id)?;
    if known.is_some() {
        return Ok(());
    }
    let Some(contact) = people::who_wrote(tx, &context, &echo.to)? else { return Ok(()) };
    let thread = thread(tx, &context, number, contact.id)?;
    let received = Received {
        from: echo.to.clone(),
        id: echo.id.clone(),
        at: echo.at,
        reply_to: None,
        forwarded: false,
        referral: None,
        what: echo.what.clone(),
    };
    let mut row = row_of(&context, tenant, number, &contact, &thread, &received, echo.at.min(context.now))?;
    row.direction = Direction::Outbound;
    row.source = Source::System;
    row.status = MessageStatus::Sent;
    row.times.sent = Some(echo.at);
    row.content = None;
    row.media = None;
    row.media_at = None;
    if channel_messages::insert(tx, &row)? {
        messages::stored(app, tx, &row, contact.external_ref.as_deref(), None, None)?;
    }
    Ok(())
}

/// A customer stopped or allowed marketing with the provider.
pub fn preference(app: &App, tx: &mut TenantTx, told: &Preference) -> Result<(), Failure> {
    let context = app.context();
    let Some(to) = told.person.address() else { return Ok(()) };
    let contact = people::find(tx, &to)?;
    let stopped = told.stopped.then(|| told.at.min(context.now));
    for person in contact_policy::hashes(&context.keyring, contact.as_ref(), Some(&to)) {
        channel_consents::marketing(tx, &person, stopped, context.now)?;
    }
    Ok(())
}

/// How long a customer's message counts as the answer to a question of the business.
const ANSWERED: i64 = 3 * DAY;

/// Whether an ambiguous stop word answers a question of the business, or quotes one of its messages.
fn answers(
    tx: &mut TenantTx,
    context: &Context,
    number: &Number,
    contact: &ContactRow,
    received: &Received,
) -> Result<bool, Failure> {
    let words = match &received.what {
        ReceivedContent::Text { body } => body,
        ReceivedContent::Edit { text: Some(text), .. } => text,
        _ => return Ok(false),
    };
    if !consent::is_ambiguous(words) {
        return Ok(false);
    }
    if received.reply_to.is_some() {
        return Ok(true);
    }
    let since = context.now.plus(-ANSWERED);
    let last = channel_conversations::last_sent(tx, contact.id, &number.phone_number_id, since)?;
    let asked = last.and_then(|(_, _, words)| words);
    Ok(asked.is_some_and(|words| words.contains(['?', '？', '؟'])))
}

/// The stop word of a message: in its text, its caption, or the label or payload of a tapped button. `answers`: the text
/// answers a question.
fn said(what: &ReceivedContent, answers: bool) -> Option<StopWord> {
    let found = match what {
        ReceivedContent::Text { body } => [consent::stop_word(body, answers), None],
        ReceivedContent::Media(media) => {
            [media.caption.as_deref().and_then(|words| consent::stop_word(words, answers)), None]
        }
        ReceivedContent::Button { payload, text } => {
            [consent::stop_word(text, true), payload.as_deref().and_then(consent::stop_word_of_button)]
        }
        ReceivedContent::Reply { id, title, .. } => {
            [consent::stop_word(title, true), consent::stop_word_of_button(id)]
        }
        _ => return None,
    };
    // Of two the one that asks for less contact.
    [
        StopWord::StopAll,
        StopWord::StopMessages,
        StopWord::StopMarketing,
        StopWord::Start,
        StopWord::StartMarketing,
    ]
    .into_iter()
    .find(|stop_word| found.contains(&Some(*stop_word)))
}

/// Applies a stop word: opt-out or opt-in, decision log, confirmation (docs/contract/channel-messages.md#stop-words).
#[allow(clippy::too_many_arguments, reason = "the parts of one message")]
fn obey(
    app: &App,
    tx: &mut TenantTx,
    context: &Context,
    number: &Number,
    contact: &ContactRow,
    to: Option<&Recipient>,
    stop_word: StopWord,
) -> Result<(), Failure> {
    let people = contact_policy::hashes(&context.keyring, Some(contact), to);
    if let StopWord::StopMarketing | StopWord::StartMarketing = stop_word {
        let (stopped, decision, outcome) = match stop_word {
            StopWord::StopMarketing => (Some(context.now), Decision::Blocked, "withdrawn"),
            _ => (None, Decision::Allowed, "restored"),
        };
        let before = channel_consents::of(tx, &people)?.marketing_stopped_at.is_some();
        for person in &people {
            channel_consents::marketing(tx, person, stopped, context.now)?;
        }
        if before != stopped.is_some() {
            let about = json!({"source": "chatapp", "channel": "chatapp", "scope": "marketing"});
            let id: Id<Consent> = context.ids.make();
            do_not_call::record_consent(tx, context, contact, decision, outcome, &about, id)?;
        }
        return Ok(());
    }
    if stop_word == StopWord::Start {
        let mut started = false;
        for person in &people {
            started |= channel_consents::start(tx, person, context.now)?;
        }
        if started {
            prove(tx, context, contact, Decision::Allowed, "restored")?;
        }
        return Ok(());
    }
    let mut stopped = false;
    for person in &people {
        stopped |= channel_consents::stop(tx, person, "chatapp", context.now)?;
    }
    let now = contacts::get_for_update(tx, contact.id)?;
    // An opt-out of everything is published and recorded once, since it forbids calls, too.
    let told_by_calls = stop_word == StopWord::StopAll
        && now.as_ref().is_some_and(|now| !now.opt_out && now.erased_at.is_none());
    if stopped && !told_by_calls {
        opted_out(tx, context, contact)?;
        prove(tx, context, contact, Decision::Blocked, "withdrawn")?;
    }
    if stop_word == StopWord::StopAll {
        let contact = now.as_ref().unwrap_or(contact);
        do_not_call::opt_out_contact(tx, context, contact, do_not_call::Source::Chatapp)?;
    }
    // One confirmation, ever, whichever of the person's addresses it was.
    let mut first = false;
    for (at, person) in people.iter().enumerate() {
        let fresh = channel_consents::confirm(tx, person, context.now)?;
        first = if at == 0 { fresh } else { first && fresh };
    }
    if let (true, Some(to)) = (first, to) {
        let confirmation = New {
            source: Source::System,
            number: number.clone(),
            contact: Some(contact.clone()),
            to: to.clone(),
            content: Content::Text(confirmation(&contact.preferred_language, stop_word).to_owned()),
            template: None,
            reply_to: None,
            chat: None,
            agent: None,
            campaign: None,
            opt_in: None,
            at_once: false,
            keep_refused: true,
        };
        messages::put(app, tx, &confirmation)?;
    }
    Ok(())
}

/// The text that confirms a STOP.
fn confirmation(language: &str, stop_word: StopWord) -> &'static str {
    match (language, stop_word) {
        ("hi", StopWord::StopAll) => {
            "आपको अब हमारी ओर से कोई मैसेज या कॉल नहीं आएगा। मैसेज फिर से पाने के लिए START लिखें।"
        }
        ("hi", _) => "आपको अब हमारी ओर से मैसेज नहीं आएंगे। फिर से पाने के लिए START लिखें।",
        (_, StopWord::StopAll) => {
            "You will get no more messages or calls from us. Reply START to get messages again."
        }
        _ => "You will get no more messages from us. Reply START to get them again.",
    }
}

fn opted_out(tx: &mut TenantTx, context: &Context, contact: &ContactRow) -> Result<(), Failure> {
    let event = Event::ContactOptedOut(OptedOutContact {
        contact_id: contact.id,
        external_ref: contact.external_ref.clone(),
        phone: contact.phone.clone(),
        source: "chatapp".to_owned(),
        call_id: None,
        channel: Some(Some("chatapp".to_owned())),
    });
    let id = contact.id.to_string();
    let event = NewEvent { event, mode: Mode::Live, agent: None, contact: Some(&id) };
    events::emit(tx, context, event)?;
    Ok(())
}

fn prove(
    tx: &mut TenantTx,
    context: &Context,
    contact: &ContactRow,
    decision: Decision,
    outcome: &str,
) -> Result<(), Failure> {
    let about = json!({"source": "chatapp", "channel": "chatapp"});
    let id: Id<Consent> = context.ids.make();
    do_not_call::record_consent(tx, context, contact, decision, outcome, &about, id)
}

fn thread(
    tx: &mut TenantTx,
    context: &Context,
    number: &Number,
    contact: Id<domain::ids::Contact>,
) -> Result<ThreadRow, Failure> {
    let new = ThreadRow {
        id: context.ids.make(),
        phone_number_id: number.phone_number_id.clone(),
        contact,
        received_at: None,
        last_at: context.now,
        used: 0,
        created_at: context.now,
    };
    Ok(channel_messages::thread_for_update(tx, &new)?)
}

/// The type of a received message, and its text.
fn words(what: &ReceivedContent) -> (String, Option<String>) {
    let (kind, words) = match what {
        ReceivedContent::Text { body } => ("text", Some(body.clone())),
        ReceivedContent::Media(media) => (media.kind.as_str(), media.caption.clone()),
        ReceivedContent::Location { place, .. } => {
            ("location", place.name.clone().or_else(|| place.address.clone()))
        }
        ReceivedContent::Contacts { .. } => ("contacts", None),
        ReceivedContent::Button { text, .. } => ("button", Some(text.clone())),
        ReceivedContent::Reply { title, .. } => ("interactive", Some(title.clone())),
        ReceivedContent::Form { body, .. } => ("interactive", body.clone()),
        ReceivedContent::Reaction { emoji, .. } => ("reaction", emoji.clone()),
        ReceivedContent::Order { .. } => ("order", None),
        ReceivedContent::System { body, .. } => ("system", body.clone()),
        ReceivedContent::Edit { text, .. } => ("edit", text.clone()),
        ReceivedContent::Revoke { .. } => ("revoke", None),
        ReceivedContent::Unsupported { .. } => ("unsupported", None),
    };
    (kind.to_owned(), words.map(|words| words.chars().take(MAX_WORDS).collect()))
}

fn row_of(
    context: &Context,
    tenant: Tenant,
    number: &Number,
    contact: &ContactRow,
    thread: &ThreadRow,
    received: &Received,
    at: Timestamp,
) -> Result<MessageRow, Failure> {
    let (kind, words) = words(&received.what);
    let media = match &received.what {
        ReceivedContent::Media(media) => Some(media),
        _ => None,
    };
    Ok(MessageRow {
        id: context.ids.make(),
        workspace: tenant,
        thread: thread.id,
        contact: contact.id,
        chat: None,
        agent: None,
        campaign: None,
        direction: Direction::Inbound,
        source: Source::Customer,
        kind,
        words,
        content: Some(
            serde_json::to_value(&received.what).map_err(|why| Failure::internal(why.to_string()))?,
        ),
        template_name: None,
        template: None,
        media: media.map(|media| json!({"type": media.kind, "mimeType": media.mime_type, "id": media.id, "voice": media.voice})),
        media_object: None,
        media_bytes: None,
        media_at: media.map(|_| context.now),
        media_attempts: 0,
        reply_to: received.reply_to.clone(),
        phone_number_id: number.phone_number_id.clone(),
        business: number.e164,
        customer: received.from.phone.map(|phone| phone.to_string()),
        customer_user_id: received.from.user_id.clone(),
        customer_username: received.from.username.clone(),
        provider_id: Some(received.id.clone()),
        status: MessageStatus::Received,
        error: None,
        times: Times::default(),
        rank: 0,
        next_at: None,
        lease_until: None,
        attempts: 0,
        created_at: at,
        updated_at: context.now,
        trace: None,
    })
}

/// The contact of the author of an edited or deleted message; none is added.
fn author(tx: &mut TenantTx, context: &Context, person: &Person) -> Result<Option<ContactRow>, Failure> {
    let addresses = [person.phone.map(Recipient::Phone), person.user_id.clone().map(Recipient::UserId)];
    for address in addresses.into_iter().flatten() {
        if people::find(tx, &address)?.is_some() {
            return people::who_wrote(tx, context, person);
        }
    }
    Ok(None)
}

/// The message, if this person wrote it: others' messages are not theirs to change.
fn own(
    tx: &mut TenantTx,
    number: &Number,
    author: &ContactRow,
    original: &str,
) -> Result<Option<MessageRow>, Failure> {
    let row = channel_messages::at_provider_for_update(tx, &number.phone_number_id, original)?;
    Ok(row.filter(|row| row.direction == Direction::Inbound && row.contact == author.id))
}

/// The customer edited an earlier message. A stop word in the new text applies, even when the message itself is unknown.
#[allow(clippy::too_many_arguments, reason = "the parts of one message")]
fn edited(
    app: &App,
    tx: &mut TenantTx,
    context: &Context,
    number: &Number,
    received: &Received,
    original: &str,
    text: Option<&str>,
) -> Result<(), Failure> {
    let author = author(tx, context, &received.from)?;
    let answers = match &author {
        Some(author) => answers(tx, context, number, author, received)?,
        None => false,
    };
    let stop_word = text.and_then(|text| consent::stop_word(text, answers));
    let author = match author {
        None if stop_word.is_some() => people::who_wrote(tx, context, &received.from)?,
        known => known,
    };
    let Some(author) = author else { return Ok(()) };
    let row = own(tx, number, &author, original)?;
    let mut row = row.filter(|row| row.status == MessageStatus::Received);
    if let Some(row) = &mut row {
        let shown = match text {
            Some(text) => Some(unkept::shown_text(tx, number, author.id, text)?),
            None => None,
        };
        row.words = shown.map(|text| text.chars().take(MAX_WORDS).collect());
        row.updated_at = context.now;
        channel_messages::save(tx, row)?;
    }
    let Some(stop_word) = stop_word else { return Ok(()) };
    obey(app, tx, context, number, &author, received.from.address().as_ref(), stop_word)?;
    match &row {
        // Their conversation ends, as it does with a message.
        Some(message) if matches!(stop_word, StopWord::StopMessages | StopWord::StopAll) => {
            let stop_word = Some(stop_word);
            let event = MessageEvent { message, before: None, received: None, stop_word, barred: true };
            messages::observe(app, tx, &event)
        }
        _ => Ok(()),
    }
}

/// The customer deleted an earlier message.
fn revoked(
    app: &App,
    tx: &mut TenantTx,
    context: &Context,
    number: &Number,
    received: &Received,
    original: &str,
) -> Result<(), Failure> {
    let Some(author) = author(tx, context, &received.from)? else { return Ok(()) };
    let Some(mut row) = own(tx, number, &author, original)? else { return Ok(()) };
    let before = row.status;
    let Some(status) = row.status.after(Happened::Removed) else { return Ok(()) };
    row.status = status;
    row.words = None;
    row.content = None;
    media::forget(tx, &mut row, context.now)?;
    row.updated_at = context.now;
    channel_messages::save(tx, &row)?;
    messages::moved(app, tx, &row, before)
}
