//! An outgoing INVITE (UAC) until its final response: provisional responses, early media, CANCEL, digest retry.

use std::time::Duration;

use domain::call::{EndCause, Fact};
use domain::ports::EndedBy;
use rsipstack::sip::{Header, Method, Request, Response, StatusCodeKind};
use rsipstack::transaction::Transaction;
use rsipstack::transaction::transaction::{TransactionEvent, TransactionEventSender};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::actor::{Actor, Input, Next, pump};
use super::leg::{Command, First, LegEvent};
use super::mail::{Mail, Sent};
use super::message::{header, lists, made_up, parameter, q850, retry_after, sdp_body, sdp_of, value};
use super::net::REQUEST_LIMIT;
use super::outcome;
use super::timers::{ASKED, SHORTEST, Session, min_se};

/// How long a request waits for the 2xx that it may have overtaken: the 2xx takes the longer way, through its
/// transaction.
const OVERTAKEN: Duration = Duration::from_millis(150);
/// A trunk that has sent a 100 and nothing since counts as having taken the call after this.
const TAKEN_AFTER: Duration = Duration::from_secs(20);

/// The INVITE until its final answer.
pub(super) struct Calling {
    actor: Actor,
    identity: Vec<Header>,
    first: Option<oneshot::Sender<First>>,
    /// Number of INVITEs sent: one more for each challenge.
    attempt: u32,
    invite: Option<Request>,
    events: Option<TransactionEventSender>,
    challenged: bool,
    /// The session interval that is asked for, and the shortest that the other side accepts, seconds.
    interval: (u32, u32),
    /// Something has answered.
    heard: bool,
    rang: bool,
    early: bool,
    /// Why the call is given up.
    given_up: Option<EndedBy>,
    cancelled: bool,
    answered_reliably: Option<u32>,
    response_by: Option<Instant>,
    taken_by: Option<Instant>,
    ring_by: Option<Instant>,
    /// Requests that may have overtaken the answer, and how long they wait for it.
    waiting: Vec<Transaction>,
    waiting_by: Option<Instant>,
    /// When a call that was given up ends, whatever is missing.
    end_by: Option<Instant>,
}

impl Calling {
    /// A call; `first` is notified once it is known whether the trunk accepts it. It rings for `ring` at most.
    pub fn new(actor: Actor, identity: Vec<Header>, first: oneshot::Sender<First>, ring: Duration) -> Self {
        let now = Instant::now();
        let response_by = Some(now + actor.core.settings.response_timeout);
        Self {
            actor,
            identity,
            first: Some(first),
            attempt: 0,
            invite: None,
            events: None,
            challenged: false,
            interval: (ASKED, SHORTEST),
            heard: false,
            rang: false,
            early: false,
            given_up: None,
            cancelled: false,
            answered_reliably: None,
            response_by,
            taken_by: None,
            ring_by: Some(now + ring),
            end_by: None,
            waiting: Vec::new(),
            waiting_by: None,
        }
    }

    /// Sends the INVITE and holds the leg until its end.
    pub async fn run(mut self) {
        if let Err(reason) = self.invite(&[]).await {
            self.answer_first(First::Refused { status: None, reason, after: None });
            return;
        }
        loop {
            let due = [self.response_by, self.taken_by, self.ring_by, self.end_by, self.waiting_by]
                .into_iter()
                .flatten()
                .min();
            let next = match self.actor.inbox.next(due).await {
                Input::Mail(mail) => self.on_mail(mail).await,
                Input::Command(command) => {
                    self.on_command(command).await;
                    Next::Wait
                }
                Input::Time => self.on_time().await,
            };
            match next {
                Next::Wait => {}
                Next::Talk => {
                    for transaction in std::mem::take(&mut self.waiting) {
                        self.actor.on_request(transaction).await;
                    }
                    // A BYE among them ends it, unless an answer to ours is waited for.
                    if !self.actor.goodbye.complete() {
                        self.actor.talk().await;
                    }
                    return;
                }
                Next::Over => return,
            }
        }
    }

    fn answer_first(&mut self, outcome: First) -> bool {
        self.first.take().is_some_and(|first| first.send(outcome).is_ok())
    }

    /// Sends the INVITE, with these credentials.
    async fn invite(&mut self, credentials: &[Header]) -> Result<(), String> {
        let actor = &mut self.actor;
        let (kind, body) = sdp_body(actor.sound.offer());
        let mut headers = actor.session_headers();
        headers.extend(self.identity.iter().cloned());
        headers.push(header("Session-Expires", self.interval.0.to_string()));
        headers.push(header("Min-SE", self.interval.1.to_string()));
        headers.push(kind);
        let ask = actor.signalling.dialog().ask(Method::Invite, headers, body);
        let (request, mut transaction) = actor.signalling.begin(&ask, credentials).await?;
        self.attempt += 1;
        self.invite = Some(request);
        self.events = Some(transaction.tu_sender.clone());
        transaction.send().await.map_err(|error| error.to_string())?;
        actor.signalling.spawn(pump(transaction, self.attempt, actor.signalling.mail()));
        Ok(())
    }

    async fn on_mail(&mut self, mail: Mail) -> Next {
        match mail {
            Mail::Answer(attempt, _) | Mail::Gone(attempt) if attempt != self.attempt => Next::Wait,
            Mail::Answer(_, response) => self.on_answer(*response).await,
            Mail::Gone(_) => self.over(None, EndedBy::Transport, None, Fact::Sip(503)),
            Mail::Request(transaction) => {
                self.waiting.push(*transaction);
                self.waiting_by.get_or_insert(Instant::now() + OVERTAKEN);
                Next::Wait
            }
            Mail::Stop => {
                self.give_up(EndedBy::Us).await;
                Next::Wait
            }
            Mail::Reply(..) | Mail::Acked(_) | Mail::Cancelled => Next::Wait,
        }
    }

    async fn on_answer(&mut self, response: Response) -> Next {
        let code = response.status_code.code();
        if made_up(&response) {
            // A made-up 100 is our own ([`Calling::fall_silent`]).
            return if code == 100 { Next::Wait } else { self.on_silence(code) };
        }
        self.actor.signalling.trunk().alive();
        self.heard = true;
        self.response_by = None;
        match response.status_code.kind() {
            StatusCodeKind::Provisional => self.on_provisional(&response).await,
            StatusCodeKind::Successful => self.on_success(&response),
            _ => self.on_refusal(&response).await,
        }
    }

    /// The stack gave up: no answer, or a connection that broke while the INVITE was written.
    fn on_silence(&mut self, code: u16) -> Next {
        if self.given_up.is_some() || self.heard {
            return self.over(
                None,
                self.given_up.unwrap_or(EndedBy::Timeout),
                None,
                self.fact_given_up().unwrap_or(Fact::Sip(code)),
            );
        }
        let outcome = match code {
            // A message that could not be written completely was not read.
            503 => First::Refused { status: None, reason: "the connection broke".into(), after: None },
            _ => First::Uncertain,
        };
        self.answer_first(outcome);
        Next::Over
    }

    async fn on_provisional(&mut self, response: &Response) -> Next {
        let code = response.status_code.code();
        if code > 100 {
            let tag = value(response, "To").and_then(|to| parameter(to, "tag"));
            let signalling = &mut self.actor.signalling;
            let routes = signalling.dialog().routes.clone();
            if tag.is_some() {
                signalling.dialog_mut().learn(response);
                signalling.hear_peer();
            }
            self.acknowledge_provisional(response);
            if let Some(sdp) = sdp_of(response, &response.body)
                && let Ok(settled) = self.actor.sound.on_answer(&sdp)
            {
                self.taken();
                if !std::mem::replace(&mut self.early, true) {
                    self.actor.tell(LegEvent::EarlyMedia(settled.connection));
                }
            }
            // Until the 2xx the INVITE's own route counts: CANCEL must go where the INVITE went.
            self.actor.signalling.dialog_mut().routes = routes;
            // 181 and 182 say that the call is on its way, 199 that one branch of a fork has ended.
            if (180..190).contains(&code) {
                self.taken();
            }
            if matches!(code, 180 | 183) && !std::mem::replace(&mut self.rang, true) {
                self.actor.tell(LegEvent::Ringing);
            }
        }
        if self.given_up.is_some() {
            self.cancel().await;
        } else if !self.rang && self.taken_by.is_none() && self.first.is_some() {
            self.taken_by = Some(Instant::now() + TAKEN_AFTER);
        }
        Next::Wait
    }

    /// Sends PRACK (RFC 3262) to a peer that demands it.
    fn acknowledge_provisional(&mut self, response: &Response) {
        if !lists(response, "Require", "100rel") {
            return;
        }
        let Some(number) = value(response, "RSeq").and_then(|text| text.parse::<u32>().ok()) else { return };
        if self.answered_reliably.is_some_and(|last| number <= last) {
            return;
        }
        self.answered_reliably = Some(number);
        let invite = value(response, "CSeq").unwrap_or_default().to_owned();
        let headers = vec![header("RAck", format!("{number} {invite}"))];
        self.actor.signalling.request(Sent::Other, Method::PRack, headers, vec![]);
    }

    fn taken(&mut self) {
        self.taken_by = None;
        self.answer_first(First::Taken);
    }

    /// Somebody picked up. Any 2xx counts: the transaction has acknowledged it.
    fn on_success(&mut self, response: &Response) -> Next {
        let actor = &mut self.actor;
        actor.status = Some(response.status_code.code());
        actor.signalling.dialog_mut().learn(response);
        actor.signalling.hear_peer();
        actor.session.learn(response);
        if let Some(by) = self.given_up {
            // The answer crossed our CANCEL.
            let fact = self.fact_given_up().unwrap_or(Fact::NoAnswer);
            self.answer_first(First::Taken);
            self.actor.bye(by, None, fact);
            return Next::Talk;
        }
        // Some gateways put the SDP into the 183 only.
        let settled = match sdp_of(response, &response.body) {
            Some(sdp) => actor.sound.on_answer(&sdp).ok().map(|settled| settled.connection),
            None => actor.sound.connection(),
        };
        match settled {
            Some(connection) => {
                actor.session.start(Session::settled(response, true), Instant::now());
                actor.tell(LegEvent::Answered(connection));
                if connection.held {
                    actor.tell(LegEvent::Held(true));
                }
            }
            None => actor.bye(EndedBy::Us, None, Fact::AgentFailed),
        }
        self.answer_first(First::Taken);
        Next::Talk
    }

    async fn on_refusal(&mut self, response: &Response) -> Next {
        let code = response.status_code.code();
        if self.given_up.is_none() && self.try_again(response, code).await {
            return Next::Wait;
        }
        self.actor.status = Some(code);
        let cause = q850(response);
        let fact = outcome::of_final(code, cause, self.rang);
        if let Some(by) = self.given_up {
            let fact = match self.fact_given_up() {
                Some(fact) if by == EndedBy::Us || code == 487 => fact,
                _ => fact,
            };
            return self.over(Some(code), by, cause, fact);
        }
        if self.first.is_some() && fact == Fact::NotPlaced {
            let reason = format!("refused with {code}");
            let after = if code == 503 { retry_after(response) } else { None };
            self.answer_first(First::Refused { status: Some(code), reason, after });
            return Next::Over;
        }
        self.over(Some(code), EndedBy::Them, cause, fact)
    }

    /// Whether the refusal only asked for something that we have sent now: credentials, or a longer session
    /// interval.
    async fn try_again(&mut self, response: &Response, code: u16) -> bool {
        let Some(invite) = &self.invite else { return false };
        let mut credentials: Vec<Header> = Vec::new();
        match code {
            401 | 407 if self.attempt < 4 => {
                credentials = self.actor.signalling.answer_challenge(response, invite, self.challenged);
                if credentials.is_empty() {
                    return false;
                }
                self.challenged = true;
            }
            422 if self.attempt < 4 => match min_se(response) {
                Some(least) if least > self.interval.1 => self.interval = (self.interval.0.max(least), least),
                _ => return false,
            },
            _ => return false,
        }
        if code == 422 {
            credentials = invite
                .headers
                .iter()
                .filter(|one| matches!(one, Header::Authorization(_) | Header::ProxyAuthorization(_)))
                .cloned()
                .collect();
        }
        self.invite(&credentials).await.is_ok()
    }

    /// What a call that was given up counts as.
    fn fact_given_up(&self) -> Option<Fact> {
        match self.given_up? {
            EndedBy::Us => Some(Fact::Ended(EndCause::ApiHangup)),
            _ => Some(Fact::NoAnswer),
        }
    }

    fn over(&mut self, status: Option<u16>, by: EndedBy, cause: Option<u16>, fact: Fact) -> Next {
        self.actor.status = status;
        self.answer_first(First::Taken);
        self.actor.end(by, cause, fact);
        Next::Over
    }

    async fn on_command(&mut self, command: Option<Command>) {
        match command {
            None => self.give_up(EndedBy::Us).await,
            Some(Command::HangUp(done)) => {
                self.give_up(EndedBy::Us).await;
                let _: Result<(), ()> = done.send(());
            }
            Some(Command::Refer(_)) => self.actor.tell(LegEvent::TransferDone(Err(481))),
            Some(Command::Hold(_) | Command::Decide(_)) => {}
        }
    }

    async fn give_up(&mut self, by: EndedBy) {
        if self.given_up.is_some() {
            return;
        }
        self.given_up = Some(by);
        self.ring_by = None;
        self.taken_by = None;
        self.end_by = Some(Instant::now() + REQUEST_LIMIT);
        if self.heard {
            self.cancel().await;
        }
    }

    /// Cancels the INVITE: same branch, same number, no tag. Only after the first answer of the other side (RFC
    /// 3261 section 9.1).
    async fn cancel(&mut self) {
        if self.cancelled {
            return;
        }
        let Some(invite) = &self.invite else { return };
        self.cancelled = true;
        let mut headers: Vec<Header> = Vec::new();
        for one in invite.headers.iter() {
            match one {
                Header::Via(_)
                | Header::From(_)
                | Header::To(_)
                | Header::CallId(_)
                | Header::Route(_)
                | Header::MaxForwards(_) => headers.push(one.clone()),
                Header::CSeq(_) => {
                    let number =
                        value(invite, "CSeq").and_then(|text| text.split_whitespace().next()).unwrap_or("1");
                    headers.push(header("CSeq", format!("{number} CANCEL")));
                }
                _ => {}
            }
        }
        let cancel = super::message::request(Method::Cancel, invite.uri.clone(), headers, vec![]);
        self.actor.signalling.cancel(cancel);
    }

    async fn on_time(&mut self) -> Next {
        let now = Instant::now();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.end_by) {
            let by = self.given_up.unwrap_or(EndedBy::Timeout);
            let fact = self.fact_given_up().unwrap_or(Fact::NoAnswer);
            return self.over(None, by, None, fact);
        }
        if due(self.waiting_by) {
            self.waiting_by = None;
            for transaction in std::mem::take(&mut self.waiting) {
                self.actor.on_request(transaction).await;
            }
            // A callee ends an early dialog with a final answer; a BYE says the same (RFC 3261 section 15).
            if self.actor.goodbye.told() {
                self.answer_first(First::Taken);
                return Next::Over;
            }
        }
        if due(self.response_by) {
            self.response_by = None;
            self.answer_first(First::Uncertain);
            self.fall_silent();
            self.give_up(EndedBy::Timeout).await;
        }
        if due(self.taken_by) {
            self.taken();
        }
        if due(self.ring_by) {
            self.ring_by = None;
            self.give_up(EndedBy::Timeout).await;
            self.answer_first(First::Taken);
        }
        Next::Wait
    }

    /// Stops repeating an INVITE that is not answered, but keeps listening for an answer: the transaction is
    /// given a 100 that never came.
    fn fall_silent(&mut self) {
        let (Some(invite), Some(events)) = (&self.invite, &self.events) else { return };
        let agent = self.actor.core.agent.clone();
        let quiet = super::message::response(
            invite,
            100,
            "",
            &agent,
            vec![header(super::message::MADE_UP, "1")],
            vec![],
        );
        drop(events.send(TransactionEvent::Received(quiet.into(), None)));
    }
}
