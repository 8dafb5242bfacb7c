//! The task of a leg: everything that concerns one dialog happens here, one thing after the other.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use domain::call::{EndCause, Fact};
use rsipstack::sip::{HasHeaders, Header, Method, Request, Response, StatusCodeKind};
use rsipstack::transaction::Transaction;
use rsipstack::transport::SipConnection;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::address::Hop;
use super::dialog::Dialog;
use super::door::Registered;
use super::leg::{Command, EndedBy, LegEnd, LegEvent};
use super::message::{
    ALLOW, SUPPORTED, header, lists, made_up, parameter, safe_uri, sdp_body, sdp_of, value,
};
use super::net::{Ask, REQUEST_LIMIT};
use super::phone::Core;
use super::sound::{Settled, Sound};
use super::timers::Session;
use super::trunk::{Knock, Slot, Trunk};

/// How long news of a transfer is waited for.
const TRANSFER_LIMIT: Duration = Duration::from_secs(60);
/// How long after a clash of two re-INVITEs ours is tried again (RFC 3261 section 14.1: 2.1 to 4 s for the
/// side that began the call).
const CLASH_PAUSE: Duration = Duration::from_millis(2_500);

/// What reaches the task of a leg.
pub(super) enum Mail {
    /// An answer to the INVITE of this attempt.
    Answer(u32, Box<Response>),
    /// The transaction of this attempt is over.
    Gone(u32),
    /// A request inside of the dialog.
    Request(Box<Transaction>),
    /// The final answer to a request of ours.
    Reply(Sent, Result<Box<Response>, String>),
    /// The ACK of a 2xx of ours.
    Acked(Box<Request>),
    /// The INVITE that came in was cancelled.
    Cancelled,
    /// The phone stops.
    Stop,
}

/// Which request of ours an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    Bye,
    Refer,
    /// With what it makes of hold.
    Reinvite(bool),
    Refresh,
    /// Its answer changes nothing.
    Other,
}

/// What ends a phase of a leg.
pub(super) enum Turn {
    On,
    Over,
}

pub(super) struct Actor {
    pub core: Arc<Core>,
    pub trunk: Option<Arc<Trunk>>,
    pub slot: Option<Slot>,
    /// The INVITE came in, and its answer is not acknowledged: nothing is sent but to where it came from,
    /// whatever it names.
    pub knock: Option<Knock>,
    pub sound: Arc<Sound>,
    pub dialog: Dialog,
    pub registered: Registered,
    /// Where the INVITE went or came from.
    pub hop: Hop,
    /// The connection that it travelled on, when that is a stream.
    pub flow: Option<SipConnection>,
    pub seq: Arc<AtomicU32>,
    pub mail: mpsc::Sender<Mail>,
    pub mailbox: mpsc::Receiver<Mail>,
    pub commands: mpsc::UnboundedReceiver<Command>,
    pub commands_open: bool,
    pub events: mpsc::UnboundedSender<LegEvent>,
    pub work: JoinSet<()>,
    /// Status of the INVITE.
    pub status: Option<u16>,
    /// Whether this side sent the INVITE.
    pub client: bool,
    pub ended: bool,
    pub session: Option<Session>,
    pub session_at: Option<Instant>,
    /// A refresh of ours is on its way.
    pub refreshing: bool,
    pub takes_update: bool,
    /// Our side holds.
    pub holding: bool,
    /// A re-INVITE of ours is on its way.
    pub inviting: bool,
    pub again_at: Option<Instant>,
    pub transfer_at: Option<Instant>,
    pub transfer: bool,
    /// A 2xx of ours carried an offer: its ACK carries the answer.
    pub offered: bool,
    /// Until when the ACK of our 2xx must come.
    pub ack_by: Option<Instant>,
    /// A BYE that waits for the ACK.
    pub bye_owed: bool,
    /// Until when the answer to our BYE is waited for.
    pub leave_by: Option<Instant>,
}

impl Actor {
    pub fn tell(&self, event: LegEvent) {
        drop(self.events.send(event));
    }

    /// The end, told once. Sound and port are given back here.
    pub fn end(&mut self, by: EndedBy, cause: Option<u16>, fact: Fact) {
        if self.ended {
            return;
        }
        self.ended = true;
        self.sound.close();
        self.slot = None;
        if self.transfer {
            self.transfer = false;
            // The other side was handed over and left: that is how most carriers end a transfer.
            self.tell(LegEvent::TransferDone(if by == EndedBy::Them { Ok(()) } else { Err(408) }));
        }
        self.tell(LegEvent::Ended(LegEnd { status: self.status, q850: cause, by, fact }));
    }

    /// Sends a request inside of the dialog from a task of its own; the answer comes as [`Mail::Reply`].
    pub fn send(&mut self, sent: Sent, ask: Ask) {
        let (core, seq, flow, first, mail) =
            (self.core.clone(), self.seq.clone(), self.flow.clone(), self.hop.clone(), self.mail.clone());
        let login = self.trunk.as_ref().and_then(|trunk| trunk.login.clone());
        let (dialog, proven) = (self.dialog.clone(), self.knock.is_none());
        self.work.spawn(async move {
            let sending = async {
                // A stream that carried the INVITE carries the rest, too: the other side's Contact is often
                // not one that can be connected to.
                let open = flow
                    .as_ref()
                    .is_some_and(|flow| !flow.cancel_token().is_some_and(|token| token.is_cancelled()));
                let hop = if open || !proven {
                    first
                } else {
                    dialog.hop(&core.net, &first).await.unwrap_or(first)
                };
                core.net.ask(&ask, &hop, flow, &seq, login.as_ref(), REQUEST_LIMIT).await
            };
            let answer = sending.await.map(Box::new);
            drop(mail.send(Mail::Reply(sent, answer)).await);
        });
    }

    /// Lets whoever the other side has named speak for it: the nearest proxy of its route, or itself.
    pub fn hear_peer(&mut self) {
        if let Some(ip) = self.dialog.next_ip() {
            return self.registered.allow(ip);
        }
        let (core, dialog, first, allow) =
            (self.core.clone(), self.dialog.clone(), self.hop.clone(), self.registered.allower());
        self.work.spawn(async move {
            if let Ok(hop) = dialog.hop(&core.net, &first).await {
                allow(hop.address.ip());
            }
        });
    }

    /// Answers a request. A connection that takes nothing is not waited for.
    pub async fn reply(&self, transaction: &mut Transaction, status: u16, more: Vec<Header>, body: Vec<u8>) {
        let answer = super::message::response(
            &transaction.original,
            status,
            &self.dialog.local_tag,
            &self.core.agent,
            more,
            body,
        );
        drop(tokio::time::timeout(Duration::from_secs(5), transaction.respond(answer)).await);
    }

    /// Headers of a message that starts or refreshes a session.
    pub fn session_headers(&self) -> Vec<Header> {
        vec![header("Allow", ALLOW), header("Supported", SUPPORTED)]
    }

    /// Says goodbye to an answered call.
    pub fn bye(&mut self, by: EndedBy, cause: Option<u16>, fact: Fact) {
        if self.leave_by.is_none() && !self.ended {
            self.leave_by = Some(Instant::now() + 2 * REQUEST_LIMIT);
            // Whoever was called may not end a call before its answer is acknowledged (RFC 3261 section 15).
            self.bye_owed = !self.client && self.ack_by.is_some();
            if !self.bye_owed {
                self.send_bye();
            }
        }
        self.end(by, cause, fact);
    }

    fn send_bye(&mut self) {
        self.bye_owed = false;
        let ask = self.dialog.ask(Method::Bye, vec![], vec![]);
        self.send(Sent::Bye, ask);
    }

    /// Starts or restarts the session timer.
    pub fn refreshed(&mut self, session: Option<Session>) {
        self.refreshing = false;
        self.session = session;
        self.session_at = session.map(|session| Instant::now() + session.due_after());
    }

    /// The call is answered: everything until its end. The caller has told [`LegEvent::Answered`].
    pub async fn talk(&mut self) {
        loop {
            let due = [self.session_at, self.again_at, self.transfer_at, self.ack_by, self.leave_by]
                .into_iter()
                .flatten()
                .min();
            let turn = tokio::select! {
                mail = self.mailbox.recv() => match mail {
                    Some(mail) => self.on_mail(mail).await,
                    None => Turn::Over,
                },
                command = self.commands.recv(), if self.commands_open => { self.on_command(command); Turn::On }
                () = until(due) => self.on_time(),
            };
            if let Turn::Over = turn {
                return;
            }
        }
    }

    async fn on_mail(&mut self, mail: Mail) -> Turn {
        match mail {
            Mail::Answer(_, response) => self.on_late_answer(&response),
            Mail::Request(transaction) => {
                self.on_request(*transaction).await;
                // After a BYE from the other side nothing is left to wait for.
                if self.ended && self.leave_by.is_none() {
                    return Turn::Over;
                }
            }
            Mail::Reply(sent, answer) => return self.on_reply(sent, answer),
            Mail::Acked(ack) => self.on_ack(&ack),
            Mail::Stop => self.bye(EndedBy::Us, None, Fact::Ended(EndCause::ApiHangup)),
            Mail::Gone(_) | Mail::Cancelled => {}
        }
        Turn::On
    }

    pub fn on_command(&mut self, command: Option<Command>) {
        match command {
            None => {
                self.commands_open = false;
                self.bye(EndedBy::Us, None, Fact::Ended(EndCause::ApiHangup));
            }
            Some(Command::HangUp(done)) => {
                self.bye(EndedBy::Us, None, Fact::Ended(EndCause::ApiHangup));
                let _: Result<(), ()> = done.send(());
            }
            Some(Command::Refer(to)) if !self.ended => self.refer(&to),
            Some(Command::Hold(hold)) if !self.ended => {
                self.sound.set_hold(hold);
                self.holding = hold;
                if self.inviting {
                    self.again_at = Some(Instant::now() + CLASH_PAUSE)
                } else {
                    self.reinvite()
                }
            }
            Some(Command::Refer(_) | Command::Hold(_) | Command::Decide(_)) => {}
        }
    }

    fn reinvite(&mut self) {
        self.inviting = true;
        self.again_at = None;
        let (kind, body) = sdp_body(self.sound.offer_again(self.holding));
        let mut headers = self.session_headers();
        headers.push(kind);
        headers.extend(self.session.map(Session::header));
        let ask = self.dialog.ask(Method::Invite, headers, body);
        self.send(Sent::Reinvite(self.holding), ask);
    }

    fn refer(&mut self, to: &str) {
        let Some(target) = self.refer_target(to) else {
            self.tell(LegEvent::TransferDone(Err(484)));
            return;
        };
        if self.transfer {
            self.tell(LegEvent::TransferDone(Err(491)));
            return;
        }
        self.transfer = true;
        self.transfer_at = Some(Instant::now() + TRANSFER_LIMIT);
        let by = super::message::uri_of(&self.dialog.local).unwrap_or_default().to_owned();
        let headers =
            vec![header("Refer-To", format!("<{target}>")), header("Referred-By", format!("<{by}>"))];
        let ask = self.dialog.ask(Method::Refer, headers, vec![]);
        self.send(Sent::Refer, ask);
    }

    /// The address to transfer to: a SIP address as it is, a number in the trunk's form at the trunk.
    fn refer_target(&self, to: &str) -> Option<String> {
        if to.starts_with("sip:") || to.starts_with("sips:") {
            return safe_uri(to);
        }
        let (user, host) = match &self.trunk {
            Some(trunk) => (trunk.user(to), trunk.domain().to_owned()),
            None => (super::address::safe_user(to), self.hop.address.to_string()),
        };
        (!user.is_empty()).then(|| format!("sip:{user}@{host}"))
    }

    pub fn transfer_over(&mut self, result: Result<(), u16>) {
        if self.transfer {
            self.transfer = false;
            self.transfer_at = None;
            self.tell(LegEvent::TransferDone(result));
        }
    }

    fn on_reply(&mut self, sent: Sent, answer: Result<Box<Response>, String>) -> Turn {
        let code = answer.as_ref().map_or(408, |answer| answer.status_code.code());
        let gone = answer.as_ref().map_or(true, |answer| made_up(answer)) || code == 481;
        match sent {
            Sent::Bye => return Turn::Over,
            Sent::Other => {}
            Sent::Refer if code >= 300 => self.transfer_over(Err(code)),
            // A 2xx says only that it is being tried; NOTIFY says the rest.
            Sent::Refer => {}
            Sent::Refresh | Sent::Reinvite(_) => {
                if let Sent::Reinvite(_) = sent {
                    self.inviting = false;
                }
                if gone {
                    // The other side does not know the call any more, or cannot be reached (RFC 3261 section
                    // 12.2.1.2).
                    self.bye(EndedBy::Timeout, None, Fact::Ended(EndCause::Error));
                } else if let Ok(answer) = &answer {
                    self.on_refreshed(sent, code, answer);
                }
            }
        }
        Turn::On
    }

    fn on_refreshed(&mut self, sent: Sent, code: u16, answer: &Response) {
        match code {
            200..=299 => {
                self.dialog.retarget(answer);
                self.hear_peer();
                if self.session.is_some() {
                    self.refreshed(Session::settled(answer, true).or(self.session));
                }
                if let (Sent::Reinvite(_), Some(sdp)) = (sent, sdp_of(answer, &answer.body))
                    && let Ok(settled) = self.sound.on_answer(&sdp)
                {
                    self.on_settled(settled);
                }
                if matches!(sent, Sent::Reinvite(hold) if hold != self.holding) {
                    self.reinvite();
                }
            }
            491 if sent != Sent::Refresh => self.again_at = Some(Instant::now() + CLASH_PAUSE),
            _ => tracing::info!(call = %self.dialog.call_id, status = code, "re-INVITE refused"),
        }
    }

    pub fn on_settled(&mut self, settled: Settled) {
        if let Some(held) = settled.held {
            self.tell(LegEvent::Held(held));
        }
    }

    fn on_ack(&mut self, ack: &Request) {
        self.ack_by = None;
        self.knock = None;
        if self.bye_owed {
            return self.send_bye();
        }
        if std::mem::take(&mut self.offered) {
            let settled = sdp_of(ack, &ack.body).and_then(|sdp| self.sound.on_answer(&sdp).ok());
            match settled {
                Some(settled) => self.on_settled(settled),
                None => self.bye(EndedBy::Us, None, Fact::Ended(EndCause::Error)),
            }
        }
    }

    /// A further answer to our INVITE after the first 2xx: another phone of a forked call picked up as well,
    /// and is hung up. A repeated 2xx has been acknowledged by the transaction.
    fn on_late_answer(&mut self, response: &Response) {
        let tag = value(response, "To").and_then(|to| parameter(to, "tag"));
        if response.status_code.kind() == StatusCodeKind::Successful && !self.dialog.is_of(tag) {
            let mut other = self.dialog.clone();
            other.learn(response);
            let ask = other.ask(Method::Bye, vec![], vec![]);
            self.send(Sent::Other, ask);
        }
    }

    fn on_time(&mut self) -> Turn {
        let now = Instant::now();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.leave_by) {
            return Turn::Over;
        }
        if due(self.ack_by) {
            self.ack_by = None;
            if self.bye_owed {
                self.send_bye();
            } else {
                self.bye(EndedBy::Timeout, None, Fact::Ended(EndCause::Error));
            }
        }
        if due(self.transfer_at) {
            self.transfer_over(Err(408));
            self.transfer_at = None;
        }
        if due(self.again_at) {
            self.again_at = None;
            if !self.ended && !self.inviting {
                self.reinvite();
            }
        }
        if due(self.session_at) {
            self.session_at = None;
            match self.session {
                Some(session) if session.ours && !self.refreshing && !self.ended => self.refresh(session),
                _ => self.bye(EndedBy::Timeout, None, Fact::Ended(EndCause::Error)),
            }
        }
        Turn::On
    }

    fn refresh(&mut self, session: Session) {
        if self.takes_update {
            let mut headers = self.session_headers();
            headers.push(session.header());
            let ask = self.dialog.ask(Method::Update, headers, vec![]);
            self.send(Sent::Refresh, ask);
        } else if !self.inviting {
            self.reinvite();
        }
        // Should the refresh go unanswered, the call ends with the interval.
        self.refreshing = true;
        self.session_at = Some(Instant::now() + Duration::from_millis(u64::from(session.seconds) * 500));
    }

    /// What the other side's INVITE or 2xx says of it.
    pub fn learn_abilities(&mut self, message: &impl HasHeaders) {
        self.takes_update = lists(message, "Allow", "UPDATE");
    }
}

/// Waits until a time; without one, for ever.
pub(super) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Carries the answers of a client transaction to the task of the leg.
pub(super) async fn pump(mut transaction: Transaction, attempt: u32, mail: mpsc::Sender<Mail>) {
    while let Some(message) = transaction.receive().await {
        if let rsipstack::sip::SipMessage::Response(response) = message
            && mail.send(Mail::Answer(attempt, Box::new(response))).await.is_err()
        {
            return;
        }
    }
    drop(mail.send(Mail::Gone(attempt)).await);
}

/// Carries the ACK or CANCEL of a server transaction to the task of the leg, and lets the transaction repeat
/// what was answered.
pub(super) async fn serve(mut transaction: Transaction, mail: mpsc::Sender<Mail>) {
    while let Some(message) = transaction.receive().await {
        let rsipstack::sip::SipMessage::Request(request) = message else { continue };
        let mail_of = match request.method {
            Method::Ack => Mail::Acked(Box::new(request)),
            Method::Cancel => Mail::Cancelled,
            _ => continue,
        };
        if mail.send(mail_of).await.is_err() {
            return;
        }
    }
}
