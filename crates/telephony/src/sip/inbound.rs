//! Incoming INVITEs (UAS) until the answer is acknowledged.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use domain::call::{EndCause, Fact};
use domain::ports::{AnswerFailed, EndedBy};
use rsipstack::sip::{Header, Request};
use rsipstack::transaction::Transaction;
use rsipstack::transaction::transaction::{TransactionEvent, TransactionEventSender};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::actor::{Actor, Input, Next, serve};
use super::address::Hop;
use super::core::Core;
use super::dialog::Dialog;
use super::incoming::IncomingCall;
use super::leg::{Command, Decision, LegControl, LegEvent};
use super::mail::Mail;
use super::message::{
    cseq, header, lists, new_tag, parameter, plain_uri, sdp_body, sdp_of, uri_of, user_of, value, values,
};
use super::net::{REQUEST_LIMIT, carried_by};
use super::nonces::Denied;
use super::share;
use super::sound::Sound;
use super::timers::Session;
use super::trunk::{Knock, Slot, Trunk, unknown_demands};
use crate::settings::{Codec, Encryption, Transport};

/// How long a decision may take before the caller gets `100 Trying` for its INVITE (RFC 3261 section 17.2.1).
const TRYING_AFTER: Duration = Duration::from_millis(200);

/// Takes a new INVITE from a trunk. One that is refused at once is given back, to be answered statelessly: its
/// sender may be forged.
pub(super) fn invite(
    core: &Arc<Core>,
    trunk: &Arc<Trunk>,
    transaction: Transaction,
) -> Option<(Transaction, Refusal)> {
    if let Err(refusal) = check(core, trunk, &transaction.original) {
        return Some((transaction, refusal));
    }
    let Some(knock) = trunk.knock() else { return Some((transaction, busy())) };
    if let Some(slot) = trunk.slot() {
        return take(core, trunk, (slot, knock), transaction);
    }
    if !trunk.channels.may_ask() {
        return Some((transaction, busy()));
    }
    // Another node may give a channel. Meanwhile the transaction takes what the caller repeats.
    let (core, trunk) = (core.clone(), trunk.clone());
    tokio::spawn(async move {
        let refused = match share::channel(&trunk).await {
            Some(slot) => take(&core, &trunk, (slot, knock), transaction),
            None => Some((transaction, busy())),
        };
        if let Some((transaction, (status, headers))) = refused {
            core.answer_outside(transaction, status, headers).await;
        }
    });
    None
}

/// All channels are in use.
fn busy() -> Refusal {
    (503, vec![header("Retry-After", "5")])
}

/// Sets up a call that came in, unless that cannot be done.
fn take(
    core: &Arc<Core>,
    trunk: &Arc<Trunk>,
    places: (Slot, Knock),
    mut transaction: Transaction,
) -> Option<(Transaction, Refusal)> {
    let request = transaction.original.clone();
    let (actor, call) = match begin(core, trunk, places, &mut transaction, &request) {
        Ok(begun) => begun,
        Err(status) => return Some((transaction, (status, vec![]))),
    };
    let (events, mail) = (transaction.tu_sender.clone(), actor.signalling.mail());
    let mut coming = Coming::new(actor, events, request);
    coming.actor.signalling.spawn(serve(transaction, mail));
    // A panic there must not stop the task that reads messages; the call is then dropped, which declines it.
    if catch_unwind(AssertUnwindSafe(|| core.inbound.invite(call))).is_err() {
        tracing::error!("taking over a call that came in panicked");
    }
    core.clone().spawn_leg(coming.run());
    None
}

/// The status of a refusal, and further headers of it.
pub(super) type Refusal = (u16, Vec<Header>);

/// Checks an INVITE before anything is set up for it.
fn check(core: &Core, trunk: &Trunk, request: &Request) -> Result<(), Refusal> {
    if core.draining() {
        return Err((503, vec![]));
    }
    if trunk.settings.inbound_auth {
        let now = std::time::Instant::now();
        // Without a password nobody can prove anything.
        let proven = trunk
            .login
            .as_ref()
            .map_or(Err(Denied::Unproven), |login| core.nonces.check(request, login, now));
        match proven {
            Ok(()) => {}
            Err(Denied::Crowded) => return Err((503, vec![header("Retry-After", "5")])),
            Err(denied) => return Err((401, core.nonces.challenge(request, denied == Denied::Stale, now))),
        }
    }
    if let Some(unknown) = unknown_demands(request) {
        return Err((420, vec![header("Unsupported", unknown)]));
    }
    let kind = value(request, "Content-Type").unwrap_or("application/sdp");
    if !request.body.is_empty() && !kind.to_ascii_lowercase().starts_with("application/sdp") {
        return Err((415, vec![header("Accept", "application/sdp")]));
    }
    if let Err(least) = Session::answer(request) {
        return Err((422, vec![header("Min-SE", least.to_string())]));
    }
    let complete = value(request, "Contact").and_then(uri_of).is_some()
        && value(request, "From").and_then(|from| parameter(from, "tag")).is_some();
    if complete { Ok(()) } else { Err((400, vec![])) }
}

/// Sets up the leg of a call that comes in. An error is the status to refuse it with.
fn begin(
    core: &Arc<Core>,
    trunk: &Arc<Trunk>,
    (slot, knock): (Slot, Knock),
    transaction: &mut Transaction,
    request: &Request,
) -> Result<(Actor, IncomingCall), u16> {
    let connection = transaction.connection.clone().ok_or(500u16)?;
    let address = connection.get_remote_addr().and_then(|from| from.get_socketaddr().ok()).ok_or(400u16)?;
    let transport = carried_by(&connection);
    let hop = Hop { transport, address, host: address.ip().to_string() };
    let (bind, shown_ip) = (core.net.local_ip(address), core.net.shown_ip(address));
    let codecs: &[Codec] = &trunk.settings.codecs;
    // Encryption is taken where it is offered; a trunk that demands it is refused without.
    let encryption = if trunk.settings.encryption == Encryption::Required {
        Encryption::Required
    } else {
        Encryption::WhenOffered
    };
    let sound = Sound::open(&core.engine, bind, shown_ip, trunk.sources(address.ip()), codecs, encryption)
        .map_err(|error| {
            tracing::warn!(trunk = %trunk.settings.name, %error, "no port for a call that comes in");
            503u16
        })?;
    let sound = Arc::new(sound);
    let dialog = dialog_of(request, &core.net.shown(&hop), transport).ok_or(400u16)?;
    let (control, commands) = LegControl::new(dialog.call_id.clone(), &trunk.settings, sound.clone());
    let (mut actor, events) = Actor::start(core, trunk, slot, sound, dialog, hop, commands);
    actor.signalling.travels_on(connection);
    actor.signalling.unproven(knock);
    actor.signalling.hear_peer();
    actor.session.learn(request);
    let (from, to) = (caller(request), called(request, trunk));
    Ok((actor, IncomingCall { control, events, from, to }))
}

/// The dialog that an INVITE begins; `shown` is our address. None if a header is missing.
pub(super) fn dialog_of(request: &Request, shown: &str, transport: Transport) -> Option<Dialog> {
    let (from, to) = (value(request, "From")?, value(request, "To")?);
    let tag = new_tag();
    let user = request.uri.user().map_or_else(|| "dastak".to_owned(), super::address::safe_user);
    Some(Dialog {
        call_id: value(request, "Call-ID")?.to_owned(),
        local: format!("{to};tag={tag}"),
        local_tag: tag,
        remote: from.to_owned(),
        remote_tag: parameter(from, "tag").map(str::to_owned),
        target: uri_of(value(request, "Contact")?)?.to_owned(),
        routes: values(request, "Record-Route"),
        contact: format!("<sip:{user}@{shown}{}>", transport.parameter()),
        remote_seq: cseq(request).map(|(number, _)| number),
    })
}

/// The caller's number as the trunk writes it; empty if there is none, or if it is not to be shown.
pub(super) fn caller(request: &Request) -> String {
    if is_private(request) {
        return String::new();
    }
    // The carrier vouches for what it asserts, the caller alone for `From`.
    let asserted = values(request, "P-Asserted-Identity");
    let user = |value: &str| uri_of(value).and_then(user_of).map(plain_uri);
    let number = asserted.iter().find_map(|value| user(value)).or_else(|| user(value(request, "From")?));
    number.filter(|user| !user.eq_ignore_ascii_case("anonymous")).unwrap_or_default()
}

/// Whether the caller wants not to be identified (RFC 3323 section 4.2, RFC 3325 section 9.3).
fn is_private(request: &Request) -> bool {
    let wanted = values(request, "Privacy");
    let mut words = wanted.iter().flat_map(|value| value.split(';')).map(str::trim);
    words.any(|word| ["id", "user", "header"].iter().any(|hidden| word.eq_ignore_ascii_case(hidden)))
}

fn called(request: &Request, trunk: &Trunk) -> String {
    let line = request.uri.user().filter(|user| Some(*user) != trunk.settings.username.as_deref());
    let to = || value(request, "To").and_then(uri_of).and_then(user_of);
    plain_uri(line.or_else(to).unwrap_or_default())
}

/// An INVITE that came in, until the answer.
struct Coming {
    actor: Actor,
    transaction: TransactionEventSender,
    request: Request,
    trying_at: Option<Instant>,
    /// Refused: only the ACK is waited for.
    over_by: Option<Instant>,
    ignored: bool,
    /// The 200 is on its way: the owner, who answered, waits for the ACK.
    answering: Option<oneshot::Sender<Result<(), AnswerFailed>>>,
}

impl Coming {
    fn new(actor: Actor, transaction: TransactionEventSender, request: Request) -> Self {
        let trying_at = Some(Instant::now() + TRYING_AFTER);
        Self { actor, transaction, request, trying_at, over_by: None, ignored: false, answering: None }
    }

    async fn run(mut self) {
        loop {
            let due = [self.trying_at, self.over_by, self.actor.goodbye.ack_by()];
            let next = match self.actor.inbox.next(due.into_iter().flatten().min()).await {
                Input::Mail(mail) => self.on_mail(mail).await,
                Input::Command(command) => self.on_command(command),
                Input::Time => self.on_time(),
            };
            match next {
                Next::Wait => {}
                Next::Talk => return self.actor.talk().await,
                Next::Over => return,
            }
        }
    }

    fn respond(&self, status: u16, more: Vec<Header>, body: Vec<u8>) {
        let answer = self.actor.signalling.response(&self.request, status, more, body);
        drop(self.transaction.send(TransactionEvent::Respond(answer)));
    }

    /// Refuses, and waits for the ACK.
    fn refuse(&mut self, status: u16, by: EndedBy, fact: Fact) {
        if self.over_by.is_some() {
            return;
        }
        self.trying_at = None;
        self.over_by = Some(Instant::now() + REQUEST_LIMIT);
        if !self.ignored {
            self.respond(status, vec![], vec![]);
        }
        self.actor.status = Some(status);
        self.actor.end(by, None, fact);
    }

    async fn on_mail(&mut self, mail: Mail) -> Next {
        match mail {
            // The CANCEL crossed our 200; the caller ends the call with a BYE.
            Mail::Cancelled if self.answering.is_some() => {}
            Mail::Cancelled => self.refuse(487, EndedBy::Them, Fact::Ended(EndCause::CallerHangup)),
            // A forged ACK to a refusal may carry the right branch, but not the tag of our answer (RFC 3261
            // section 17.1.1.3).
            Mail::Acked(ack) if !self.is_ours(&ack) => {}
            Mail::Acked(_) if self.over_by.is_some() => return Next::Over,
            Mail::Acked(ack) => {
                if let Some(answering) = self.answering.take() {
                    return self.on_acknowledged(&ack, answering);
                }
            }
            Mail::Stop => return self.hang_up(503),
            Mail::Request(transaction) => {
                self.actor.on_request(*transaction).await;
                if self.actor.goodbye.told() && self.over_by.is_none() {
                    // It was a BYE. Before our 200 the INVITE must still be answered, after it nothing.
                    if self.answering.take().is_some() {
                        return Next::Over;
                    }
                    self.refuse(487, EndedBy::Them, Fact::Ended(EndCause::CallerHangup));
                }
            }
            Mail::Answer(..) | Mail::Gone(_) | Mail::Reply(..) => {}
        }
        Next::Wait
    }

    fn is_ours(&self, ack: &Request) -> bool {
        value(ack, "To").and_then(|to| parameter(to, "tag"))
            == Some(self.actor.signalling.dialog().local_tag.as_str())
    }

    /// Ends it from our side: a refusal, or after the 200 a BYE, which waits for the ACK.
    fn hang_up(&mut self, status: u16) -> Next {
        let fact = Fact::Ended(EndCause::ApiHangup);
        if self.answering.take().is_some() {
            self.actor.bye(EndedBy::Us, None, fact);
            return Next::Talk;
        }
        self.refuse(status, EndedBy::Us, fact);
        Next::Wait
    }

    fn on_command(&mut self, command: Option<Command>) -> Next {
        match command {
            None if self.ignored => Next::Wait,
            None => self.hang_up(480),
            Some(Command::HangUp(done)) => {
                let next = self.hang_up(480);
                let _: Result<(), ()> = done.send(());
                next
            }
            Some(Command::Refer(_) | Command::Hold(_)) => Next::Wait,
            Some(Command::Decide(decision)) => {
                self.on_decision(decision);
                Next::Wait
            }
        }
    }

    fn on_decision(&mut self, decision: Decision) {
        let open = self.over_by.is_none() && self.answering.is_none();
        match decision {
            Decision::Answer(answered) if open => self.answer(answered),
            Decision::Answer(answered) => drop(answered.send(Err(AnswerFailed::Gone)).ok()),
            // A caller that demands that provisional answers be acknowledged gets none; the final one is
            // allowed at once (RFC 3262 section 3).
            Decision::Ring if open && !lists(&self.request, "Require", "100rel") => {
                self.trying_at = None;
                self.respond(180, vec![], vec![]);
            }
            Decision::Ring => {}
            Decision::Reject(status) => {
                let status = if (300..700).contains(&status) { status } else { 480 };
                self.refuse(status, EndedBy::Us, Fact::Ended(EndCause::ApiHangup));
            }
            Decision::Ignore if open => {
                self.ignored = true;
                self.refuse(480, EndedBy::Us, Fact::Lost);
            }
            Decision::Ignore => {}
        }
    }

    fn answer(&mut self, answered: oneshot::Sender<Result<(), AnswerFailed>>) {
        let text = match sdp_of(&self.request, &self.request.body) {
            Some(offer) => self.actor.sound.on_offer(&offer).map(|(text, _)| text),
            None => Ok(self.actor.sound.offer()),
        };
        let Ok(text) = text else {
            answered.send(Err(AnswerFailed::NoMedia)).ok();
            return self.refuse(488, EndedBy::Us, Fact::AgentFailed);
        };
        let mut headers = self.actor.session_headers();
        headers.push(header("Contact", &self.actor.signalling.dialog().contact));
        let (kind, body) = sdp_body(text);
        headers.push(kind);
        if let Ok(Some((session, more))) = Session::answer(&self.request) {
            headers.extend(more);
            self.actor.session.start(Some(session), Instant::now());
        }
        self.trying_at = None;
        self.actor.status = Some(200);
        self.actor.goodbye.await_ack(Instant::now());
        self.answering = Some(answered);
        self.respond(200, headers, body);
    }

    /// The ACK: the caller is where the INVITE came from. It carries the caller's answer when the offer was
    /// ours.
    fn on_acknowledged(
        &mut self,
        ack: &Request,
        answered: oneshot::Sender<Result<(), AnswerFailed>>,
    ) -> Next {
        self.actor.goodbye.ack_is_settled();
        self.actor.signalling.proven();
        let agreed = || {
            sdp_of(ack, &ack.body)
                .and_then(|sdp| self.actor.sound.on_answer(&sdp).ok())
                .map(|settled| settled.connection)
        };
        match self.actor.sound.connection().or_else(agreed) {
            Some(connection) => {
                self.actor.tell(LegEvent::Answered(connection));
                answered.send(Ok(())).ok();
            }
            None => {
                answered.send(Err(AnswerFailed::NoMedia)).ok();
                self.actor.bye(EndedBy::Us, None, Fact::AgentFailed);
            }
        }
        Next::Talk
    }

    fn on_time(&mut self) -> Next {
        let now = Instant::now();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.over_by) {
            return Next::Over;
        }
        if due(self.trying_at) {
            self.trying_at = None;
            self.respond(100, vec![], vec![]);
        }
        if due(self.actor.goodbye.ack_by()) {
            self.actor.goodbye.ack_is_settled();
            if let Some(answering) = self.answering.take() {
                answering.send(Err(AnswerFailed::NotAcknowledged)).ok();
            }
            self.actor.bye(EndedBy::Timeout, None, Fact::Ended(EndCause::Error));
            return Next::Talk;
        }
        Next::Wait
    }
}
