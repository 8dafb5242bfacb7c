//! The dialog of a leg and the transport of its in-dialog messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rsipstack::sip::{Header, Method, Request, Response};
use rsipstack::transaction::Transaction;
use rsipstack::transport::SipConnection;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::address::Hop;
use super::auth;
use super::core::Core;
use super::dialog::Dialog;
use super::door::Registered;
use super::mail::{Mail, Sent};
use super::message::safe_uri;
use super::net::{Ask, REQUEST_LIMIT};
use super::trunk::{Knock, Trunk};

/// How long a connection may take to carry an answer away.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// A dialog with the way that its messages take.
pub(super) struct Signalling {
    core: Arc<Core>,
    trunk: Arc<Trunk>,
    /// The INVITE came in, and its answer is not acknowledged: requests go only to where it came from,
    /// whatever address it names.
    knock: Option<Knock>,
    dialog: Dialog,
    registered: Registered,
    /// Where the INVITE went or came from.
    hop: Hop,
    /// The connection that it travelled on, when that is a stream.
    flow: Option<SipConnection>,
    seq: Arc<AtomicU32>,
    mail: mpsc::Sender<Mail>,
    work: JoinSet<()>,
}

impl Signalling {
    /// A dialog whose messages go to `mail`. `hop` is where its INVITE goes or came from.
    pub fn new(
        core: &Arc<Core>,
        trunk: &Arc<Trunk>,
        dialog: Dialog,
        hop: Hop,
        mail: mpsc::Sender<Mail>,
    ) -> Self {
        Self {
            core: core.clone(),
            trunk: trunk.clone(),
            knock: None,
            registered: core.dialogs.add(&dialog.call_id, &dialog.local_tag, mail.clone(), hop.address.ip()),
            dialog,
            hop,
            flow: None,
            seq: Arc::new(AtomicU32::new(0)),
            mail,
            work: JoinSet::new(),
        }
    }

    /// The INVITE travels on this connection. A stream carries the rest of the dialog, too.
    pub fn travels_on(&mut self, connection: SipConnection) {
        self.flow = connection.is_reliable().then_some(connection);
    }

    /// The INVITE came in, and nobody knows yet whether its sender is who it says.
    pub fn unproven(&mut self, knock: Knock) {
        self.knock = Some(knock);
    }

    /// The other side has acknowledged our answer: it is where it says.
    pub fn proven(&mut self) {
        self.knock = None;
    }

    pub fn dialog(&self) -> &Dialog {
        &self.dialog
    }

    /// The dialog, to be changed by a message.
    pub fn dialog_mut(&mut self) -> &mut Dialog {
        &mut self.dialog
    }

    /// The trunk that the leg goes over.
    pub fn trunk(&self) -> &Trunk {
        &self.trunk
    }

    /// The answer to a challenge in a response to `request`; empty if there is no password, or it was refused
    /// already.
    pub fn answer_challenge(&self, response: &Response, request: &Request, again: bool) -> Vec<Header> {
        let login = self.trunk.login.as_ref();
        login.map(|login| auth::answer(response, request, login, again)).unwrap_or_default()
    }

    // --- requests of ours

    /// Runs work that belongs to the leg and ends with it.
    pub fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.work.spawn(work);
    }

    /// A request with a transaction to send it in.
    pub async fn begin(&self, ask: &Ask, credentials: &[Header]) -> Result<(Request, Transaction), String> {
        let net = &self.core.net;
        let seq = self.seq.fetch_add(1, Ordering::Relaxed) + 1;
        let connection = match &self.flow {
            Some(flow) => flow.clone(),
            None => net.connection(&self.hop).await?,
        };
        let request = net.build(ask, &self.hop, seq, credentials)?;
        let transaction = net.transaction(request.clone(), &self.hop, connection)?;
        Ok((request, transaction))
    }

    /// Sends a CANCEL to where the INVITE went; its answer changes nothing.
    pub fn cancel(&mut self, cancel: Request) {
        let (core, hop, flow) = (self.core.clone(), self.hop.clone(), self.flow.clone());
        self.work.spawn(async move {
            let connection = match flow {
                Some(flow) => Ok(flow),
                None => core.net.connection(&hop).await,
            };
            if let Ok(connection) = connection {
                drop(core.net.exchange(cancel, &hop, connection, REQUEST_LIMIT).await);
            }
        });
    }

    /// Sends a request inside of the dialog.
    pub fn request(&mut self, sent: Sent, method: Method, headers: Vec<Header>, body: Vec<u8>) {
        let ask = self.dialog.ask(method, headers, body);
        self.send(sent, ask);
    }

    /// Sends a request from a task of its own; the answer comes as [`Mail::Reply`].
    pub fn send(&mut self, sent: Sent, ask: Ask) {
        let (core, seq, flow, first, mail) =
            (self.core.clone(), self.seq.clone(), self.flow.clone(), self.hop.clone(), self.mail.clone());
        let login = self.trunk.login.clone();
        let (dialog, proven) = (self.dialog.clone(), self.knock.is_none());
        self.work.spawn(async move {
            let sending = async {
                // A stream that carried the INVITE carries the rest, too: often nobody can connect to the
                // Contact of the other side.
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

    /// The address to transfer to: a SIP address as it is, a number in the trunk's form at the trunk.
    pub fn refer_target(&self, to: &str) -> Option<String> {
        if to.starts_with("sip:") || to.starts_with("sips:") {
            return safe_uri(to);
        }
        let user = self.trunk.user(to);
        (!user.is_empty()).then(|| self.trunk.uri(&user, self.trunk.domain()))
    }

    // --- requests of the other side

    /// Where the mail of the leg goes.
    pub fn mail(&self) -> mpsc::Sender<Mail> {
        self.mail.clone()
    }

    /// Hears the dialog also from the address that the other side has named: the nearest proxy of its route,
    /// or its own.
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

    /// An answer to a request, with our tag.
    pub fn response(&self, request: &Request, status: u16, more: Vec<Header>, body: Vec<u8>) -> Response {
        super::message::response(request, status, &self.dialog.local_tag, &self.core.agent, more, body)
    }

    /// Answers a request. A connection that takes nothing is not waited for.
    pub async fn reply(&self, transaction: &mut Transaction, status: u16, more: Vec<Header>, body: Vec<u8>) {
        let answer = self.response(&transaction.original, status, more, body);
        drop(tokio::time::timeout(ANSWER_LIMIT, transaction.respond(answer)).await);
    }
}
