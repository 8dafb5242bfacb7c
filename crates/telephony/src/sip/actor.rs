//! The task (actor) of a leg: handles all messages, commands and timers of one dialog in order.

use std::ops::ControlFlow;
use std::sync::Arc;

use domain::call::{EndCause, Fact};
use domain::ports::{EndedBy, LegEnd};
use rsipstack::sip::{Header, Method, Request, Response, StatusCodeKind};
use rsipstack::transaction::Transaction;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::address::Hop;
use super::core::Core;
use super::dialog::Dialog;
use super::goodbye::Goodbye;
use super::leg::{Command, LegEvent};
use super::mail::{Mail, Sent};
use super::message::{ALLOW, SUPPORTED, header, made_up, parameter, sdp_body, sdp_of, uri_of, value};
use super::offers::Offers;
use super::signalling::Signalling;
use super::sound::{Settled, Sound};
use super::timers::{Session, SessionTimer, until};
use super::transfer::Transfer;
use super::trunk::{Slot, Trunk};

/// Messages that wait for the task of one leg; what does not fit is dropped, and its sender repeats it.
const MAILBOX: usize = 64;

/// What the task of a leg does next, before the call is answered.
pub(super) enum Next {
    /// It goes on waiting for the answer.
    Wait,
    /// The call is answered.
    Talk,
    /// The leg is over.
    Over,
}

/// What the task of a leg takes up.
pub(super) enum Input {
    Mail(Mail),
    /// None once the owner of the leg has dropped it.
    Command(Option<Command>),
    /// A time that was asked for has come.
    Time,
}

/// Where messages and commands wait for the task of a leg.
pub(super) struct Inbox {
    mailbox: mpsc::Receiver<Mail>,
    commands: mpsc::UnboundedReceiver<Command>,
    owned: bool,
}

impl Inbox {
    /// Waits for the next input, until `due` at most.
    pub async fn next(&mut self, due: Option<Instant>) -> Input {
        tokio::select! {
            Some(mail) = self.mailbox.recv() => Input::Mail(mail),
            command = self.commands.recv(), if self.owned => {
                self.owned = command.is_some();
                Input::Command(command)
            }
            () = until(due) => Input::Time,
        }
    }
}

/// One side of a call, from its INVITE to its end.
pub(super) struct Actor {
    pub core: Arc<Core>,
    pub inbox: Inbox,
    pub signalling: Signalling,
    pub sound: Arc<Sound>,
    pub session: SessionTimer,
    pub goodbye: Goodbye,
    pub offers: Offers,
    pub transfer: Transfer,
    /// Status of the INVITE.
    pub status: Option<u16>,
    slot: Option<Slot>,
    events: mpsc::UnboundedSender<LegEvent>,
}

impl Actor {
    /// A leg before its first message. `slot` is its channel of the trunk, `hop` where its INVITE goes or came
    /// from.
    pub fn start(
        core: &Arc<Core>,
        trunk: &Arc<Trunk>,
        slot: Slot,
        sound: Arc<Sound>,
        dialog: Dialog,
        hop: Hop,
        commands: mpsc::UnboundedReceiver<Command>,
    ) -> (Self, mpsc::UnboundedReceiver<LegEvent>) {
        let (mail, mailbox) = mpsc::channel(MAILBOX);
        let (events, receiver) = mpsc::unbounded_channel();
        let actor = Self {
            core: core.clone(),
            inbox: Inbox { mailbox, commands, owned: true },
            signalling: Signalling::new(core, trunk, dialog, hop, mail),
            sound,
            session: SessionTimer::default(),
            goodbye: Goodbye::default(),
            offers: Offers::default(),
            transfer: Transfer::default(),
            status: None,
            slot: Some(slot),
            events,
        };
        (actor, receiver)
    }

    /// Tells the owner of the leg.
    pub fn tell(&self, event: LegEvent) {
        drop(self.events.send(event));
    }

    /// Tells the end, once. Sound, port and channel are given back here.
    pub fn end(&mut self, by: EndedBy, cause: Option<u16>, fact: Fact) {
        if !self.goodbye.tell() {
            return;
        }
        self.sound.close();
        self.slot = None;
        // If the other side left, it was handed over: that is how most carriers end a transfer.
        self.transfer_over(if by == EndedBy::Them { Ok(()) } else { Err(408) });
        self.tell(LegEvent::Ended(LegEnd { status: self.status, q850: cause, by, fact }));
    }

    /// Headers of a message that starts or refreshes a session.
    pub fn session_headers(&self) -> Vec<Header> {
        vec![header("Allow", ALLOW), header("Supported", SUPPORTED)]
    }

    /// Ends an answered call with BYE.
    pub fn bye(&mut self, by: EndedBy, cause: Option<u16>, fact: Fact) {
        if self.goodbye.begin(Instant::now()) {
            self.send_bye();
        }
        self.end(by, cause, fact);
    }

    fn send_bye(&mut self) {
        self.signalling.request(Sent::Bye, Method::Bye, vec![], vec![]);
    }

    /// The other side cannot be reached any more, or does not know the call.
    fn lost(&mut self) {
        self.bye(EndedBy::Timeout, None, Fact::Ended(EndCause::Error));
    }

    /// The call is answered: everything until its end. The caller has sent [`LegEvent::Answered`].
    pub async fn talk(&mut self) {
        loop {
            let due = [self.session.due(), self.offers.due(), self.transfer.due(), self.goodbye.due()];
            let flow = match self.inbox.next(due.into_iter().flatten().min()).await {
                Input::Mail(mail) => self.on_mail(mail).await,
                Input::Command(command) => {
                    self.on_command(command);
                    ControlFlow::Continue(())
                }
                Input::Time => self.on_time(),
            };
            if flow.is_break() {
                return;
            }
        }
    }

    async fn on_mail(&mut self, mail: Mail) -> ControlFlow<()> {
        match mail {
            Mail::Answer(_, response) => self.on_late_answer(&response),
            Mail::Request(transaction) => {
                self.on_request(*transaction).await;
                if self.goodbye.complete() {
                    return ControlFlow::Break(());
                }
            }
            Mail::Reply(Sent::Bye, _) => return ControlFlow::Break(()),
            Mail::Reply(sent, answer) => self.on_reply(sent, answer),
            Mail::Acked(ack) => self.on_ack(&ack),
            Mail::Stop => self.bye(EndedBy::Us, None, Fact::Ended(EndCause::ApiHangup)),
            Mail::Gone(_) | Mail::Cancelled => {}
        }
        ControlFlow::Continue(())
    }

    fn on_command(&mut self, command: Option<Command>) {
        match command {
            None => self.bye(EndedBy::Us, None, Fact::Ended(EndCause::ApiHangup)),
            Some(Command::HangUp(done)) => {
                self.bye(EndedBy::Us, None, Fact::Ended(EndCause::ApiHangup));
                let _: Result<(), ()> = done.send(());
            }
            Some(Command::Refer(to)) if !self.goodbye.told() => self.refer(&to),
            Some(Command::Hold(hold)) if !self.goodbye.told() => {
                self.sound.set_hold(hold);
                if self.offers.hold(hold, Instant::now()) {
                    self.reinvite();
                }
            }
            Some(Command::Refer(_) | Command::Hold(_) | Command::Decide(_)) => {}
        }
    }

    fn reinvite(&mut self) {
        self.offers.invite();
        let hold = self.offers.holding();
        let (kind, body) = sdp_body(self.sound.offer_again(hold));
        let mut headers = self.session_headers();
        headers.push(kind);
        headers.extend(self.session.header());
        self.signalling.request(Sent::Reinvite(hold), Method::Invite, headers, body);
    }

    fn refer(&mut self, to: &str) {
        let Some(target) = self.signalling.refer_target(to) else {
            self.tell(LegEvent::TransferDone(Err(484)));
            return;
        };
        if !self.transfer.begin(Instant::now()) {
            self.tell(LegEvent::TransferDone(Err(491)));
            return;
        }
        let by = uri_of(&self.signalling.dialog().local).unwrap_or_default();
        let headers =
            vec![header("Refer-To", format!("<{target}>")), header("Referred-By", format!("<{by}>"))];
        self.signalling.request(Sent::Refer, Method::Refer, headers, vec![]);
    }

    /// Tells how the transfer ended, if one is under way.
    pub fn transfer_over(&mut self, result: Result<(), u16>) {
        if self.transfer.end() {
            self.tell(LegEvent::TransferDone(result));
        }
    }

    fn on_reply(&mut self, sent: Sent, answer: Result<Box<Response>, String>) {
        let code = answer.as_ref().map_or(408, |answer| answer.status_code.code());
        let gone = answer.as_ref().map_or(true, |answer| made_up(answer)) || code == 481;
        match sent {
            Sent::Bye | Sent::Other => {}
            Sent::Refer if code >= 300 => self.transfer_over(Err(code)),
            // A 2xx says only that it is being tried; NOTIFY says the rest.
            Sent::Refer => {}
            Sent::Refresh | Sent::Reinvite(_) => {
                if let Sent::Reinvite(_) = sent {
                    self.offers.answered();
                }
                if gone {
                    // RFC 3261 section 12.2.1.2.
                    self.lost();
                } else if let Ok(answer) = &answer {
                    self.on_refreshed(sent, code, answer);
                }
            }
        }
    }

    fn on_refreshed(&mut self, sent: Sent, code: u16, answer: &Response) {
        match code {
            200..=299 => {
                self.signalling.dialog_mut().retarget(answer);
                self.signalling.hear_peer();
                self.session.refreshed(answer, Instant::now());
                if let (Sent::Reinvite(_), Some(sdp)) = (sent, sdp_of(answer, &answer.body))
                    && let Ok(settled) = self.sound.on_answer(&sdp)
                {
                    self.on_settled(settled);
                }
                if matches!(sent, Sent::Reinvite(hold) if hold != self.offers.holding()) {
                    self.reinvite();
                }
            }
            491 if sent != Sent::Refresh => self.offers.clashed(Instant::now()),
            _ => {
                tracing::info!(call = %self.signalling.dialog().call_id, status = code, "re-INVITE refused")
            }
        }
    }

    /// Tells the owner when the other side has put us on hold, or taken us back.
    pub fn on_settled(&mut self, settled: Settled) {
        if let Some(held) = settled.held {
            self.tell(LegEvent::Held(held));
        }
    }

    fn on_ack(&mut self, ack: &Request) {
        self.signalling.proven();
        if self.goodbye.ack_is_settled() {
            return self.send_bye();
        }
        if self.offers.take_offer_in_answer() {
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
        let dialog = self.signalling.dialog();
        let tag = value(response, "To").and_then(|to| parameter(to, "tag"));
        if response.status_code.kind() == StatusCodeKind::Successful && !dialog.is_of(tag) {
            let mut other = dialog.clone();
            other.learn(response);
            self.signalling.send(Sent::Other, other.ask(Method::Bye, vec![], vec![]));
        }
    }

    fn on_time(&mut self) -> ControlFlow<()> {
        let now = Instant::now();
        if self.goodbye.given_up(now) {
            return ControlFlow::Break(());
        }
        if self.goodbye.ack_by().is_some_and(|by| by <= now) {
            if self.goodbye.ack_is_settled() {
                self.send_bye();
            } else {
                self.lost();
            }
        }
        if self.transfer.given_up(now) {
            self.transfer_over(Err(408));
        }
        if self.offers.again(now) && !self.goodbye.told() {
            self.reinvite();
        }
        if self.session.expired(now) {
            match self.session.to_refresh() {
                Some(session) if !self.goodbye.told() => self.refresh(session, now),
                _ => self.lost(),
            }
        }
        ControlFlow::Continue(())
    }

    fn refresh(&mut self, session: Session, now: Instant) {
        if self.session.takes_update() {
            let mut headers = self.session_headers();
            headers.push(session.header());
            self.signalling.request(Sent::Refresh, Method::Update, headers, vec![]);
        } else if !self.offers.inviting() {
            self.reinvite();
        }
        self.session.await_refresh(now);
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
