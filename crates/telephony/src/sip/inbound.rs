//! Calls that come in.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use domain::call::{EndCause, Fact};
use rsipstack::sip::{Request, Response};
use rsipstack::transaction::Transaction;
use rsipstack::transaction::transaction::{TransactionEvent, TransactionEventSender};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::actor::{Actor, Mail, serve, until};
use super::address::Hop;
use super::dialog::Dialog;
use super::leg::{Command, Decision, EndedBy, Leg, LegControl, LegEvent};
use super::message::{cseq, header, lists, new_tag, parameter, sdp_body, sdp_of, uri_of, user_of, value, values};
use super::net::REQUEST_LIMIT;
use super::phone::Core;
use super::sound::{Connection, Sound};
use super::timers::Session;
use super::trunk::{Trunk, unknown_demands};
use crate::media::{Ear, Line};
use crate::settings::{Codec, Encryption, Transport};

/// How long a decision may take before the caller is told that its INVITE arrived (RFC 3261 section 17.2.1).
const TRYING_AFTER: Duration = Duration::from_millis(200);

/// Takes calls that come in.
pub trait Inbound: Send + Sync {
    /// A trunk sends a call. Called on the task that reads messages: take it over and return. A call that is dropped without a decision is answered 480.
    fn invite(&self, call: IncomingCall);
}

/// Why a call could not be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFailed {
    /// The caller has hung up.
    Gone,
    /// There is no sound that both sides can do; the caller got 488.
    NoMedia,
}

/// A call that comes in.
#[derive(Debug)]
pub struct IncomingCall {
    control: LegControl,
    events: mpsc::UnboundedReceiver<LegEvent>,
    from: String,
    to: String,
}

impl IncomingCall {
    /// The caller's number as the trunk writes it: `P-Asserted-Identity`, else `From`. Empty when withheld.
    pub fn from(&self) -> &str {
        &self.from
    }

    /// The number that was called, as the trunk writes it: of the request line, or of `To` when the trunk calls the name we registered.
    pub fn to(&self) -> &str {
        &self.to
    }

    /// The Call-ID.
    pub fn id(&self) -> &str {
        self.control.provider_call()
    }

    /// The trunk it comes over.
    pub fn trunk(&self) -> Option<&str> {
        self.control.trunk()
    }

    /// Says that it rings (180).
    pub async fn ring(&self) {
        self.control.decide(Decision::Ring);
    }

    /// Sends sound before the answer (183). `None` when the caller has gone, made no offer, or demands reliable provisional answers.
    pub async fn early_media(&self, ear: Box<dyn Ear>) -> Option<Line> {
        let (sent, told) = oneshot::channel();
        self.control.decide(Decision::Early(sent));
        match told.await {
            Ok(true) => self.control.connect(ear),
            _ => None,
        }
    }

    /// Waits until the caller hangs up before the answer.
    pub async fn cancelled(&mut self) {
        while let Some(event) = self.events.recv().await {
            if let LegEvent::Ended(_) = event {
                return;
            }
        }
    }

    /// Declines it with a final status from 300 on; another one counts as 480.
    pub async fn reject(self, status: u16) {
        self.control.decide(Decision::Reject(status));
    }

    /// Picks up. The first event of the leg is [`LegEvent::Answered`]. `ear` hears it, unless one listens since [`IncomingCall::early_media`].
    ///
    /// # Errors
    /// [`AnswerFailed`]: there is no call any more.
    pub async fn answer(self, ear: Box<dyn Ear>) -> Result<Leg, AnswerFailed> {
        let (answered, told) = oneshot::channel();
        self.control.decide(Decision::Answer(answered));
        told.await.unwrap_or(Err(AnswerFailed::Gone))?;
        drop(self.control.connect(ear));
        Ok(Leg { control: self.control, events: self.events })
    }

    /// Never answers anything, as a carrier that lost it. To be called within [`Inbound::invite`]: later the caller has been told that it arrived.
    pub fn ignore(self) {
        self.control.decide(Decision::Ignore);
    }
}

/// A new INVITE from a trunk.
pub(super) async fn invite(core: &Arc<Core>, trunk: &Arc<Trunk>, mut transaction: Transaction) {
    let request = transaction.original.clone();
    let refusal = match check(core, &request) {
        Err(refusal) => Some(refusal),
        Ok(()) => match trunk.slot() {
            Some(slot) => match begin(core, trunk, slot, &mut transaction, &request) {
                Ok((actor, call)) => {
                    let (events, mail) = (transaction.tu_sender.clone(), actor.mail.clone());
                    let mut coming = Coming::new(actor, events, request);
                    coming.actor.work.spawn(serve(transaction, mail));
                    // A panic there must not stop the task that reads messages; the call is then dropped, which declines it.
                    if catch_unwind(AssertUnwindSafe(|| core.inbound.invite(call))).is_err() {
                        tracing::error!("taking over a call that came in panicked");
                    }
                    core.clone().spawn_leg(coming.run());
                    return;
                }
                Err(status) => Some((status, None)),
            },
            None => Some((503, Some(("Retry-After", "5".to_owned())))),
        },
    };
    if let Some((status, more)) = refusal {
        let headers = more.map(|(name, value)| header(name, value)).into_iter().collect();
        core.answer_outside(transaction, status, headers);
    }
}

type Refusal = (u16, Option<(&'static str, String)>);

/// What is wrong with an INVITE on its face.
fn check(core: &Core, request: &Request) -> Result<(), Refusal> {
    if core.stopping() {
        return Err((503, None));
    }
    if let Some(unknown) = unknown_demands(request) {
        return Err((420, Some(("Unsupported", unknown))));
    }
    let kind = value(request, "Content-Type").unwrap_or("application/sdp");
    if !request.body.is_empty() && !kind.to_ascii_lowercase().starts_with("application/sdp") {
        return Err((415, Some(("Accept", "application/sdp".into()))));
    }
    if let Err(least) = Session::answer(request) {
        return Err((422, Some(("Min-SE", least.to_string()))));
    }
    let complete = value(request, "Contact").and_then(uri_of).is_some() && value(request, "From").and_then(|from| parameter(from, "tag")).is_some();
    if complete { Ok(()) } else { Err((400, None)) }
}

/// Sets up the leg of a call that comes in. An error is the status to refuse it with.
fn begin(
    core: &Arc<Core>,
    trunk: &Arc<Trunk>,
    slot: super::trunk::Slot,
    transaction: &mut Transaction,
    request: &Request,
) -> Result<(Actor, IncomingCall), u16> {
    let connection = transaction.connection.clone().ok_or(500u16)?;
    let address = connection.get_remote_addr().and_then(|from| from.get_socketaddr().ok()).ok_or(400u16)?;
    let transport = match connection.transport() {
        rsipstack::sip::Transport::Tcp => Transport::Tcp,
        rsipstack::sip::Transport::Tls => Transport::Tls,
        _ => Transport::Udp,
    };
    let hop = Hop { transport, address, host: address.ip().to_string() };
    let (bind, shown_ip) = (core.net.local_ip(address), core.net.shown_ip(address));
    let codecs: &[Codec] = &trunk.settings.codecs;
    // Encryption is taken where it is offered; a trunk that demands it is refused without.
    let encryption = if trunk.settings.encryption == Encryption::Required { Encryption::Required } else { Encryption::WhenOffered };
    let sound = Sound::open(&core.engine, bind, shown_ip, codecs, encryption).map_err(|error| {
        tracing::warn!(trunk = %trunk.settings.name, %error, "no port for a call that comes in");
        503u16
    })?;
    let sound = Arc::new(sound);
    let dialog = dialog_of(request, &core.net.shown(&hop), transport).ok_or(400u16)?;
    let (control, commands) = LegControl::new(dialog.call_id.clone(), Some(trunk.settings.name.clone()), sound.clone());
    let (mut actor, events) = Actor::start(core, Some(trunk.clone()), Some(slot), sound, dialog, hop, commands);
    actor.flow = connection.is_reliable().then_some(connection);
    actor.learn_abilities(request);
    let (from, to) = (caller(request), called(request, trunk));
    Ok((actor, IncomingCall { control, events, from, to }))
}

fn dialog_of(request: &Request, shown: &str, transport: Transport) -> Option<Dialog> {
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

fn caller(request: &Request) -> String {
    let of = |name| value(request, name).and_then(uri_of).and_then(user_of).filter(|user| !user.eq_ignore_ascii_case("anonymous"));
    of("P-Asserted-Identity").or_else(|| of("From")).unwrap_or_default().to_owned()
}

fn called(request: &Request, trunk: &Trunk) -> String {
    let line = request.uri.user().filter(|user| Some(*user) != trunk.settings.username.as_deref());
    let to = || value(request, "To").and_then(uri_of).and_then(user_of);
    line.or_else(to).unwrap_or_default().to_owned()
}

/// An INVITE that came in, until the answer.
struct Coming {
    actor: Actor,
    transaction: TransactionEventSender,
    request: Request,
    trying_at: Option<Instant>,
    /// The answer in a 183, which the 200 repeats.
    sdp: Option<String>,
    /// Refused: only the ACK is waited for.
    over_by: Option<Instant>,
    ignored: bool,
    /// Waits for the ACK that carries the caller's answer to our offer.
    answering: Option<oneshot::Sender<Result<(), AnswerFailed>>>,
}

enum Step {
    On,
    Talk,
    Over,
}

impl Coming {
    fn new(actor: Actor, transaction: TransactionEventSender, request: Request) -> Self {
        let trying_at = Some(Instant::now() + TRYING_AFTER);
        Self { actor, transaction, request, trying_at, sdp: None, over_by: None, ignored: false, answering: None }
    }

    async fn run(mut self) {
        loop {
            let due = [self.trying_at, self.over_by, self.actor.ack_by].into_iter().flatten().min();
            let step = tokio::select! {
                mail = self.actor.mailbox.recv() => match mail {
                    Some(mail) => self.on_mail(mail).await,
                    None => Step::Over,
                },
                command = self.actor.commands.recv(), if self.actor.commands_open => self.on_command(command),
                () = until(due) => self.on_time(),
            };
            match step {
                Step::On => {}
                Step::Talk => return self.actor.talk().await,
                Step::Over => return,
            }
        }
    }

    fn respond(&self, status: u16, more: Vec<rsipstack::sip::Header>, body: Vec<u8>) {
        let answer: Response = super::message::response(&self.request, status, &self.actor.dialog.local_tag, &self.actor.core.agent, more, body);
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

    async fn on_mail(&mut self, mail: Mail) -> Step {
        match mail {
            Mail::Cancelled => self.refuse(487, EndedBy::Them, Fact::Ended(EndCause::CallerHangup)),
            Mail::Acked(_) if self.over_by.is_some() => return Step::Over,
            Mail::Acked(ack) => {
                if let Some(answering) = self.answering.take() {
                    return self.on_offer_answered(&ack, answering);
                }
            }
            Mail::Stop => self.refuse(503, EndedBy::Us, Fact::Ended(EndCause::ApiHangup)),
            Mail::Request(transaction) => {
                self.actor.on_request(*transaction).await;
                if self.actor.ended && self.over_by.is_none() {
                    // A BYE before the answer; the INVITE is still owed one.
                    self.refuse(487, EndedBy::Them, Fact::Ended(EndCause::CallerHangup));
                }
            }
            Mail::Answer(..) | Mail::Gone(_) | Mail::Reply(..) => {}
        }
        Step::On
    }

    fn on_command(&mut self, command: Option<Command>) -> Step {
        match command {
            None => {
                self.actor.commands_open = false;
                if !self.ignored {
                    self.refuse(480, EndedBy::Us, Fact::Ended(EndCause::ApiHangup));
                }
            }
            Some(Command::HangUp(done)) => {
                self.refuse(480, EndedBy::Us, Fact::Ended(EndCause::ApiHangup));
                let _: Result<(), ()> = done.send(());
            }
            Some(Command::Refer(_) | Command::Hold(_)) => {}
            Some(Command::Decide(decision)) => return self.on_decision(decision),
        }
        Step::On
    }

    fn on_decision(&mut self, decision: Decision) -> Step {
        let open = self.over_by.is_none() && self.answering.is_none();
        match decision {
            Decision::Answer(answered) if open => return self.answer(answered),
            Decision::Answer(answered) => drop(answered.send(Err(AnswerFailed::Gone)).ok()),
            Decision::Early(sent) => drop(sent.send(open && self.early())),
            Decision::Ring if open && !self.reliable() => {
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
        Step::On
    }

    /// The caller demands that provisional answers be acknowledged. There are none then; the final answer is allowed at once (RFC 3262 section 3).
    fn reliable(&self) -> bool {
        lists(&self.request, "Require", "100rel")
    }

    fn early(&mut self) -> bool {
        if self.reliable() {
            return false;
        }
        let Some(Ok((text, _))) = sdp_of(&self.request, &self.request.body).map(|offer| self.actor.sound.on_offer(&offer)) else { return false };
        self.trying_at = None;
        self.sdp = Some(text.clone());
        let (kind, body) = sdp_body(text);
        let contact = header("Contact", &self.actor.dialog.contact);
        self.respond(183, vec![contact, kind], body);
        true
    }

    fn answer(&mut self, answered: oneshot::Sender<Result<(), AnswerFailed>>) -> Step {
        let offer = sdp_of(&self.request, &self.request.body);
        let text = match (self.sdp.take(), &offer) {
            (Some(text), _) => Ok(text),
            (None, Some(offer)) => self.actor.sound.on_offer(offer).map(|(text, _)| text),
            (None, None) => Ok(self.actor.sound.offer()),
        };
        let Ok(text) = text else {
            answered.send(Err(AnswerFailed::NoMedia)).ok();
            self.refuse(488, EndedBy::Us, Fact::AgentFailed);
            return Step::On;
        };
        let mut headers = self.actor.session_headers();
        headers.push(header("Contact", &self.actor.dialog.contact));
        let (kind, body) = sdp_body(text);
        headers.push(kind);
        if let Ok(Some((session, more))) = Session::answer(&self.request) {
            headers.extend(more);
            self.actor.refreshed(Some(session));
        }
        self.trying_at = None;
        self.actor.status = Some(200);
        self.actor.ack_by = Some(Instant::now() + REQUEST_LIMIT);
        self.respond(200, headers, body);
        match self.actor.sound.connection() {
            Some(connection) if offer.is_some() => self.talk(connection, answered),
            _ => {
                self.answering = Some(answered);
                Step::On
            }
        }
    }

    fn talk(&mut self, connection: Connection, answered: oneshot::Sender<Result<(), AnswerFailed>>) -> Step {
        self.actor.tell(LegEvent::Answered(connection));
        answered.send(Ok(())).ok();
        Step::Talk
    }

    fn on_offer_answered(&mut self, ack: &Request, answered: oneshot::Sender<Result<(), AnswerFailed>>) -> Step {
        self.actor.ack_by = None;
        match sdp_of(ack, &ack.body).and_then(|sdp| self.actor.sound.on_answer(&sdp).ok()) {
            Some(settled) => self.talk(settled.connection, answered),
            None => {
                answered.send(Err(AnswerFailed::NoMedia)).ok();
                self.actor.bye(EndedBy::Us, None, Fact::AgentFailed);
                Step::Talk
            }
        }
    }

    fn on_time(&mut self) -> Step {
        let now = Instant::now();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.over_by) {
            return Step::Over;
        }
        if due(self.trying_at) {
            self.trying_at = None;
            self.respond(100, vec![], vec![]);
        }
        if due(self.actor.ack_by) {
            self.actor.ack_by = None;
            drop(self.answering.take());
            self.actor.bye(EndedBy::Timeout, None, Fact::Ended(EndCause::Error));
            return Step::Talk;
        }
        Step::On
    }
}
