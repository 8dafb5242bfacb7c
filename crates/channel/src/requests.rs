//! Messages over the API (docs/contract/channel-messages.md#sending-over-the-api).

use std::sync::Arc;

use api::channel_messages::{ChannelMessage as View, NewChannelMessage, NewInteractive, NewMedia};
use api::channel_templates::TemplateUse;
use api::error_codes as codes;
use app::access::Caller;
use app::idempotency::{Answer, Claim as Key, Once, TakenKey};
use app::limits::pages;
use app::{App, Failure};
use domain::channel::content::Misfit;
use domain::channel::template::{self, Params, TemplateRef};
use domain::channel::{
    Ask, Button, Content, Interactive, ListRow, ListSection, Location, Media, MediaKind, MediaSource,
    Recipient, Source, Template,
};
use domain::ids::{ChannelMessage, Id};
use domain::phone::E164;
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use domain::trace::TraceContext;
use runtime::traces;
use serde_json::{Value, json};
use store::channel_messages::{self, Filter, MessageRow};
use store::{TenantTx, Tx, channel_accounts, contacts};

use crate::deliver::deliver;
use crate::messages::{self, Claim, Decisions, New, OptIn, Placed};
use crate::numbers::{Number, Which, sending_number};
use crate::request_batches;
use crate::settle::Delivered;
use crate::slots::Slot;
use crate::{people, providers, slots, templates, view};

/// The result of a request's first transaction.
pub(crate) enum Intent {
    /// The answer is final.
    Given(Answer),
    /// Refused; the decision is logged.
    Refused(Failure),
    /// The message is claimed: send it now.
    Send(Box<Claim>, Option<String>),
}

/// A request whose body is valid by itself.
pub(crate) struct Request {
    mode: Mode,
    pub(crate) to: Recipient,
    from: Option<String>,
    reply_to: Option<String>,
    opt_in: Option<OptIn>,
    pub(crate) wanted: MessageRequest,
    pub(crate) once: Once,
    /// The slot of its number, if there is one.
    pub(crate) slot: Option<Slot>,
    /// The trace of the request, whose message may be accepted in the task of another request.
    pub(crate) trace: Option<TraceContext>,
}

impl Request {
    /// Whether it may be batched: it refers to nothing but its recipient and its content.
    fn is_simple(&self) -> bool {
        let plain = matches!(self.wanted, MessageRequest::Template(_) | MessageRequest::Content(_));
        plain && self.opt_in.is_none() && self.reply_to.is_none()
    }

    pub(crate) fn number(&self, tx: &mut TenantTx) -> Result<Number, Failure> {
        number_of(tx, self.from.as_deref())
    }

    /// Its message from this number.
    pub(crate) fn message(&self, tx: &mut TenantTx, number: Number) -> Result<New, Failure> {
        let contact = people::find(tx, &self.to)?;
        let (content, template) = self.wanted.content(tx)?;
        Ok(New {
            source: Source::Api,
            number,
            contact,
            to: self.to.clone(),
            content,
            template,
            reply_to: quoted(tx, self.reply_to.as_deref())?,
            chat: None,
            agent: None,
            campaign: None,
            opt_in: self.opt_in.clone(),
            at_once: true,
            keep_refused: false,
        })
    }
}

/// `POST /v1/chatapp/messages`.
///
/// # Errors
/// docs/contract/channel-messages.md#errors
pub async fn send(
    app: &Arc<App>,
    caller: &Caller,
    once: Once,
    body: NewChannelMessage,
) -> Result<Answer, Failure> {
    templates::need_channel(caller)?;
    let to = recipient(&body.to)?;
    let opt_in = opt_in_of(app, body.opt_in.as_ref())?;
    let wanted = MessageRequest::of(&body)?;
    let (tenant, mode) = (caller.tenant(), caller.mode());
    let request = Request {
        mode,
        to,
        from: body.from,
        reply_to: body.reply_to,
        opt_in,
        wanted,
        once,
        slot: None,
        trace: traces::current(),
    };
    if mode == Mode::Test {
        let (keeper, request) = (app.clone(), Arc::new(request));
        let intent = app.of(tenant).tx(move |tx| begin(&keeper, tx, &request)).await?;
        return match intent {
            Intent::Given(answer) => Ok(answer),
            Intent::Refused(failure) => Err(failure),
            Intent::Send(..) => Err(Failure::internal("a message of a test key was to be sent")),
        };
    }
    // In a task of its own: a client that goes away stops neither its message nor those that share its transaction, and
    // the manual clock waits for it.
    let (done, sent) = tokio::sync::oneshot::channel();
    let sender = app.clone();
    app.clock.spawn(async move {
        let trace = request.trace;
        let answer = Box::pin(go(&sender, tenant, request));
        let _ = done.send(traces::within(trace, answer).await);
    });
    sent.await.unwrap_or_else(|_| Err(Failure::internal("a message ended without an outcome")))
}

/// Accepts the message of a request and sends it. Returns the answer.
async fn go(app: &Arc<App>, tenant: Tenant, request: Request) -> Result<Answer, Failure> {
    let named = request.from.clone().unwrap_or_default();
    let slot = slots::take(app, tenant, &named, messages::latest_slot(app)).await;
    let request = Arc::new(Request { slot: slot.clone(), ..request });
    let intent = take(app, tenant, &request).await;
    if let Ok(Intent::Send(claim, _)) = &intent {
        slots::learn(app, tenant, &named, &claim.number);
    } else if let Some(slot) = &slot {
        slots::give_back(app, tenant, &named, slot);
    }
    match intent? {
        Intent::Given(answer) => Ok(answer),
        Intent::Refused(failure) => Err(failure),
        Intent::Send(claim, reference) => {
            let outcome = deliver(app, *claim, move |tx, delivered| {
                answer(tx, &request.once, delivered, reference.clone())
            });
            outcome.await.map(|(_, answer)| answer)
        }
    }
}

/// Accepts the message of a request: in a batch where possible, else by itself.
async fn take(app: &Arc<App>, tenant: Tenant, request: &Arc<Request>) -> Result<Intent, Failure> {
    if app.store.shared()
        && request.is_simple()
        && let Some(intent) = request_batches::take(app, tenant, request.clone()).await
    {
        return intent;
    }
    let (keeper, request) = (app.clone(), request.clone());
    app.of(tenant).tx(move |tx| begin(&keeper, tx, &request)).await
}

fn begin(app: &App, tx: &mut TenantTx, request: &Request) -> Result<Intent, Failure> {
    let once = &request.once;
    if let Key::Given(answer) = once.reserve(tx, app.clock.now())? {
        return Ok(Intent::Given(answer));
    }
    let number = request.number(tx)?;
    let new = request.message(tx, number)?;
    if request.mode == Mode::Test {
        return simulate(app, tx, once, &new);
    }
    let mut decisions = Decisions::default();
    let placed = messages::put_into(app, tx, &new, request.slot.as_ref(), &mut decisions)?;
    let intent = match placed {
        Placed::Refused(refusal) => {
            once.free(tx)?;
            Intent::Refused(refusal.into())
        }
        Placed::Claimed(claim) => {
            hold(tx, once, &claim)?;
            let reference = reference_of(tx, &claim.message)?;
            Intent::Send(claim, reference)
        }
        Placed::Queued(row) | Placed::Failed(row, _) => {
            let reference = reference_of(tx, &row)?;
            Intent::Given(taken(tx, once, &row, reference)?)
        }
    };
    decisions.write(tx, &app.context())?;
    Ok(intent)
}

/// The result of a message that was accepted in a batch, and its idempotency key, to be stored with the others'.
pub(crate) fn intended(
    tx: &mut Tx<'_>,
    now: Timestamp,
    once: &Once,
    placed: Placed,
) -> Result<(Intent, Option<TakenKey>), Failure> {
    Ok(match placed {
        Placed::Refused(refusal) => (Intent::Refused(refusal.into()), None),
        Placed::Claimed(claim) => {
            let row = &claim.message;
            let failure = unknown(row);
            let until = row.lease_until.ok_or_else(|| Failure::internal("a claim without a lease"))?;
            let told = (failure.error.status, &failure.body());
            let taken = once.held_until(until, told, &row.contact.to_string());
            let reference = reference_of(tx, row)?;
            (Intent::Send(claim, reference), taken)
        }
        Placed::Queued(row) | Placed::Failed(row, _) => {
            let reference = reference_of(tx, &row)?;
            let body = json!({"data": view::sent(&row, reference, true)});
            let (answer, taken) = once.done(now, 201, &body, &row.contact.to_string())?;
            (Intent::Given(answer), taken)
        }
    })
}

/// Dry run for a test key: every check, and the simulated answer. Only the idempotency key is stored.
fn simulate(app: &App, tx: &mut TenantTx, once: &Once, new: &New) -> Result<Intent, Failure> {
    let tenant = tx.tenant();
    if let Some(refusal) = messages::check(app, tx, new)? {
        return Err(refusal.into());
    }
    let row = messages::simulated(app, tenant, new);
    let reference = new.contact.as_ref().and_then(|contact| contact.external_ref.clone());
    let body = json!({"data": view::sent(&row, reference, false)});
    let contact = new.contact.as_ref().map(|contact| contact.id.to_string());
    Ok(Intent::Given(once.finish(tx, 201, &body, contact.as_deref())?))
}

/// The answer of a request, stored with its idempotency key, whether it was sent, refused or of unknown outcome.
fn answer(
    tx: &mut Tx<'_>,
    once: &Once,
    delivered: &Delivered,
    reference: Option<String>,
) -> Result<Answer, Failure> {
    let row = delivered.message();
    match delivered {
        Delivered::Sent(_) | Delivered::Waits(_) => taken(tx, once, row, reference),
        Delivered::Refused(_, error) => {
            let unsupported = error.effect() == domain::channel::Effect::RecipientUnsupported;
            let code = if unsupported { codes::RECIPIENT_UNSUPPORTED } else { codes::DELIVERY_FAILED };
            let meta = json!({"messageId": row.id, "error": providers::shown(error)});
            kept(tx, once, row, &Failure::plain(code).with_meta(meta))
        }
        Delivered::Unknown(_) => kept(tx, once, row, &unknown(row)),
    }
}

/// Reserves the idempotency key of a claimed message. If the outcome is never stored, message and answer become unknown
/// when the lease ends.
fn hold(tx: &mut Tx<'_>, once: &Once, claim: &Claim) -> Result<(), Failure> {
    let row = &claim.message;
    let failure = unknown(row);
    let until = row.lease_until.ok_or_else(|| Failure::internal("a claim without a lease"))?;
    once.hold_until(tx, until, (failure.error.status, &failure.body()), &row.contact.to_string())
}

fn unknown(row: &MessageRow) -> Failure {
    let why = "the channel gave no clear answer in time; the message may still arrive and is not sent again";
    Failure::new(codes::PROVIDER_UNAVAILABLE, why).with_meta(json!({"messageId": row.id, "chatId": row.chat}))
}

fn taken(
    tx: &mut Tx<'_>,
    once: &Once,
    row: &MessageRow,
    reference: Option<String>,
) -> Result<Answer, Failure> {
    let body = json!({"data": view::sent(row, reference, true)});
    once.finish(tx, 201, &body, Some(&row.contact.to_string()))
}

fn kept(tx: &mut Tx<'_>, once: &Once, row: &MessageRow, failure: &Failure) -> Result<Answer, Failure> {
    once.finish(tx, failure.error.status, &failure.body(), Some(&row.contact.to_string()))
}

fn reference_of(tx: &mut Tx<'_>, row: &MessageRow) -> Result<Option<String>, Failure> {
    Ok(contacts::get(&mut tx.of(row.workspace), row.contact)?.and_then(|contact| contact.external_ref))
}

/// Parses the recipient of a request.
///
/// # Errors
/// 422 `invalid_number`.
pub fn recipient(to: &str) -> Result<Recipient, Failure> {
    Recipient::written(to).ok_or_else(|| Failure::plain(codes::INVALID_NUMBER))
}

/// The opt-in of a request.
///
/// # Errors
/// 422 `invalid_opt_in`.
pub fn opt_in_of(
    app: &App,
    given: Option<&api::channel_messages::NewOptIn>,
) -> Result<Option<OptIn>, Failure> {
    let Some(given) = given else { return Ok(None) };
    if given.captured_at > app.clock.now() {
        return Err(Failure::plain(codes::INVALID_OPT_IN).with_meta(json!({"field": "optIn.capturedAt"})));
    }
    Ok(Some(OptIn { source: given.source.clone(), captured_at: given.captured_at }))
}

/// The sending number of a request: by phone number, by the provider's id, or the default one.
fn number_of(tx: &mut TenantTx, from: Option<&str>) -> Result<Number, Failure> {
    let Some(from) = from else { return sending_number(tx, Which::Default) };
    if let Ok(number) = E164::parse(from)
        && let Some(row) = channel_accounts::numbers(tx)?.into_iter().find(|row| row.number == number)
    {
        return sending_number(tx, Which::Number(row.id));
    }
    sending_number(tx, Which::Provider(from)).map_err(|failure| {
        match failure.error == codes::CHATAPP_NOT_CONNECTED {
            true => Failure::field(
                "from",
                "must be a business number of this workspace, see GET /v1/chatapp/numbers",
            ),
            false => failure,
        }
    })
}

/// The provider's id of a message, which a request may name by our id.
fn quoted(tx: &mut TenantTx, named: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(named) = named else { return Ok(None) };
    Ok(Some(at_provider(tx, "replyTo", named)?))
}

fn at_provider(tx: &mut TenantTx, field: &str, named: &str) -> Result<String, Failure> {
    let unknown = || Failure::field(field, "must be the id of a message on the channel");
    let Ok(id) = named.parse::<Id<ChannelMessage>>() else {
        // What looks like an id from here and is none would be refused by the channel.
        return if named.starts_with("camsg_") { Err(unknown()) } else { Ok(named.to_owned()) };
    };
    channel_messages::get(tx, id)?.and_then(|row| row.provider_id).ok_or_else(unknown)
}

/// The content of a request, as far as it is known before the store is read.
#[derive(Clone)]
pub(crate) enum MessageRequest {
    Template(Box<TemplateUse>),
    Content(Box<Content>),
    Reaction { message: String, emoji: String },
}

impl MessageRequest {
    fn of(body: &NewChannelMessage) -> Result<Self, Failure> {
        let given = [
            body.template.is_some(),
            body.text.is_some(),
            body.media.is_some(),
            body.interactive.is_some(),
            body.location.is_some(),
            body.reaction.is_some(),
            body.contacts.is_some(),
        ];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err(Failure::field(
                "text",
                "or exactly one of template, media, interactive, location, reaction and contacts must be given",
            ));
        }
        if let Some(template) = &body.template {
            return Ok(Self::Template(Box::new(template.clone())));
        }
        if let Some(reaction) = &body.reaction {
            return Ok(Self::Reaction {
                message: reaction.message_id.clone(),
                emoji: reaction.emoji.clone(),
            });
        }
        let content = if let Some(text) = &body.text {
            Content::Text(text.clone())
        } else if let Some(media) = &body.media {
            media_of(media)?
        } else if let Some(interactive) = &body.interactive {
            Content::Interactive(interactive_of(interactive)?)
        } else if let Some(place) = &body.location {
            Content::Location(Location {
                latitude: place.latitude,
                longitude: place.longitude,
                name: place.name.clone(),
                address: place.address.clone(),
            })
        } else {
            let cards = body.contacts.iter().flatten().map(|card| Value::Object(card.0.clone()));
            Content::Contacts(cards.collect())
        };
        content.check().map_err(misfit)?;
        Ok(Self::Content(Box::new(content)))
    }

    /// The content to send, with its template.
    fn content(&self, tx: &mut TenantTx) -> Result<(Content, Option<Template>), Failure> {
        match self {
            Self::Content(content) => Ok((Content::clone(content), None)),
            Self::Reaction { message, emoji } => {
                let message = at_provider(tx, "reaction.messageId", message)?;
                let content = Content::Reaction { message, emoji: emoji.clone() };
                content.check().map_err(misfit)?;
                Ok((content, None))
            }
            Self::Template(wanted) => filled(tx, wanted).map(|(content, template)| (content, Some(template))),
        }
    }
}

fn misfit(misfit: Misfit) -> Failure {
    Failure::field(&misfit.field, misfit.must)
}

/// A template filled in with the values of a request.
///
/// # Errors
/// 400 `template_not_found`; 422 `template_unavailable` and `template_params_invalid`.
pub fn filled(tx: &mut TenantTx, wanted: &TemplateUse) -> Result<(Content, Template), Failure> {
    let template = templates::find(tx, &template_ref(wanted)?)?;
    if template.status != domain::channel::TemplateStatus::Approved {
        return Err(Failure::plain(codes::TEMPLATE_UNAVAILABLE).with_meta(json!({"status": template.status})));
    }
    let params: Params = wanted.params.clone().map(Into::into).unwrap_or_default();
    match template::fill(&template, &params) {
        Ok(content) => Ok((content, template)),
        Err(issues) => {
            Err(Failure::plain(codes::TEMPLATE_PARAMS_INVALID).with_meta(json!({"issues": issues})))
        }
    }
}

/// How a request names a template.
///
/// # Errors
/// 400: neither an id nor a name with a language; an id of another form names no template.
pub fn template_ref(wanted: &TemplateUse) -> Result<TemplateRef, Failure> {
    match (&wanted.id, &wanted.name, &wanted.language) {
        (Some(id), None, None) => {
            id.parse().map(TemplateRef::Id).map_err(|_| Failure::plain(codes::TEMPLATE_NOT_FOUND))
        }
        (None, Some(name), Some(language)) => {
            Ok(TemplateRef::Name { name: name.clone(), language: language.clone() })
        }
        (None, Some(_), None) => Err(Failure::field("template.language", "is required with name")),
        (None, None, _) => Err(Failure::field("template.id", "or template.name is required")),
        (Some(_), ..) => Err(Failure::field("template.id", "cannot be combined with name and language")),
    }
}

fn media_of(media: &NewMedia) -> Result<Content, Failure> {
    let kind = MediaKind::parse(&media.r#type)
        .ok_or_else(|| Failure::field("media.type", "must be image, video, document or audio"))?;
    Ok(Content::Media(Media {
        kind,
        source: MediaSource::Link(media.url.clone()),
        caption: media.caption.clone(),
        filename: media.filename.clone(),
    }))
}

fn interactive_of(given: &NewInteractive) -> Result<Interactive, Failure> {
    let need = |field: &str| {
        Failure::field(&format!("interactive.{field}"), format!("is required with {}", given.r#type))
    };
    let strange = |field: &str| {
        Failure::field(&format!("interactive.{field}"), format!("must be left out with {}", given.r#type))
    };
    let allowed: &[&str] = match given.r#type.as_str() {
        "buttons" => &["buttons"],
        "list" => &["button", "sections"],
        _ => &["displayText", "url"],
    };
    for (field, is_given) in [
        ("buttons", given.buttons.is_some()),
        ("button", given.button.is_some()),
        ("sections", given.sections.is_some()),
        ("displayText", given.display_text.is_some()),
        ("url", given.url.is_some()),
    ] {
        match (allowed.contains(&field), is_given) {
            (true, false) => return Err(need(field)),
            (false, true) => return Err(strange(field)),
            _ => {}
        }
    }
    let ask = match given.r#type.as_str() {
        "buttons" => Ask::Buttons {
            buttons: given
                .buttons
                .iter()
                .flatten()
                .map(|button| Button { id: button.id.clone(), title: button.title.clone() })
                .collect(),
        },
        "list" => Ask::List {
            button: given.button.clone().unwrap_or_default(),
            sections: given
                .sections
                .iter()
                .flatten()
                .map(|section| ListSection {
                    title: section.title.clone(),
                    rows: section
                        .rows
                        .iter()
                        .map(|row| ListRow {
                            id: row.id.clone(),
                            title: row.title.clone(),
                            description: row.description.clone(),
                        })
                        .collect(),
                })
                .collect(),
        },
        _ => Ask::CtaUrl {
            display_text: given.display_text.clone().unwrap_or_default(),
            url: given.url.clone().unwrap_or_default(),
        },
    };
    Ok(Interactive {
        header: given.header.clone(),
        body: given.body.clone(),
        footer: given.footer.clone(),
        ask,
    })
}

/// A page of messages, newest first. A test key has none: what it sends is not stored.
pub async fn list(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    filter: Filter,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<View>, Option<String>), Failure> {
    if mode == Mode::Test {
        return Ok((Vec::new(), None));
    }
    let page = app.store.read(move |tx| {
        let read = |tx: &mut Tx<'_>, limit: i64, before: Option<&str>| {
            let rows = channel_messages::page(&mut tx.of(tenant), &filter, before, limit)?;
            let next = pages::last(&rows, limit, |row| row.id.to_string());
            let ids: Vec<_> = rows.iter().map(|row| row.contact).collect();
            let references =
                if ids.is_empty() { Vec::new() } else { contacts::references(&mut tx.of(tenant), &ids)? };
            let reference =
                |id| references.iter().find(|(known, _)| *known == id).and_then(|(_, text)| text.clone());
            let views = rows.iter().map(|row| view::of(row, reference(row.contact))).collect();
            Ok::<_, Failure>((views, next))
        };
        pages::views(tx, limit, before.clone(), read, |view: &View| view.message_id.to_string())
    });
    page.await
}

/// One message.
///
/// # Errors
/// 404.
pub async fn get(app: &App, tenant: Tenant, mode: Mode, id: Id<ChannelMessage>) -> Result<View, Failure> {
    app.of(tenant)
        .read(move |tx| {
            let row = channel_messages::get(tx, id)?.filter(|_| mode == Mode::Live);
            let row = row.ok_or_else(|| Failure::not_found("message"))?;
            let reference = reference_of(tx, &row)?;
            Ok(view::of(&row, reference))
        })
        .await
}
