//! Who may come in: dialogs by name, trunks by address.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rsipstack::sip::{Method, Request, SipMessage};
use rsipstack::transaction::endpoint::TransportEventInspector;
use rsipstack::transaction::key::{TransactionKey, TransactionRole};
use rsipstack::transport::TransportEvent;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::actor::Mail;
use super::message::{new_tag, parameter, value};
use super::net::Door;
use super::trunk::Trunk;

/// Mailboxes of dialogs by Call-ID and our tag.
#[derive(Default)]
pub(super) struct Dialogs(Mutex<HashMap<(String, String), mpsc::Sender<Mail>>>);

/// A dialog that messages find, until dropped.
pub(super) struct Registered(Arc<Dialogs>, (String, String));

impl Drop for Registered {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

impl Dialogs {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(String, String), mpsc::Sender<Mail>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn len(&self) -> usize {
        self.lock().len()
    }

    pub fn all(&self) -> Vec<mpsc::Sender<Mail>> {
        self.lock().values().cloned().collect()
    }

    pub fn find(&self, call: &str, tag: &str) -> Option<mpsc::Sender<Mail>> {
        self.lock().get(&(call.to_owned(), tag.to_owned())).cloned()
    }

    pub fn add(self: &Arc<Self>, call: &str, tag: &str, mailbox: mpsc::Sender<Mail>) -> Registered {
        let key = (call.to_owned(), tag.to_owned());
        self.lock().insert(key.clone(), mailbox);
        Registered(self.clone(), key)
    }
}

/// Knows trunks by their addresses.
pub(super) struct Doorman {
    pub trunks: Vec<Arc<Trunk>>,
    pub dialogs: Arc<Dialogs>,
}

impl Door for Doorman {
    fn knows(&self, ip: IpAddr) -> bool {
        self.trunks.iter().any(|trunk| trunk.owns(ip))
    }

    fn has_dialog(&self, call_id: &str, tag: &str) -> bool {
        self.dialogs.find(call_id, tag).is_some()
    }
}

/// What [`super::net::Gate`] is for datagrams, for streams.
pub(super) struct Turnstile {
    pub door: Arc<dyn Door>,
    pub agent: String,
    /// Requests of strangers that were refused.
    pub strangers: Arc<AtomicU64>,
}

#[async_trait::async_trait]
impl TransportEventInspector for Turnstile {
    async fn handle(&self, event: TransportEvent) -> Option<TransportEvent> {
        let TransportEvent::Incoming(message, connection, from) = event else { return Some(event) };
        if !connection.is_reliable() {
            return Some(TransportEvent::Incoming(message, connection, from));
        }
        let sound = catch_unwind(AssertUnwindSafe(|| match &message {
            SipMessage::Request(request) => TransactionKey::from_request(request, TransactionRole::Server).is_ok(),
            SipMessage::Response(response) => TransactionKey::from_response(response, TransactionRole::Client).is_ok(),
        }));
        if !matches!(sound, Ok(true)) {
            return None;
        }
        if let SipMessage::Request(request) = &message
            && self.is_strange(request, from.get_socketaddr().ok())
        {
            self.strangers.fetch_add(1, Ordering::Relaxed);
            if request.method != Method::Ack {
                let answer = super::message::response(request, 403, &new_tag(), &self.agent, vec![], vec![]);
                drop(timeout(Duration::from_secs(1), connection.send(answer.into(), None)).await);
            }
            return None;
        }
        Some(TransportEvent::Incoming(message, connection, from))
    }
}

impl Turnstile {
    fn is_strange(&self, request: &Request, from: Option<SocketAddr>) -> bool {
        if from.is_some_and(|from| self.door.knows(from.ip().to_canonical())) {
            return false;
        }
        let tag = value(request, "To").and_then(|to| parameter(to, "tag"));
        let call = value(request, "Call-ID").unwrap_or_default();
        !tag.is_some_and(|tag| self.door.has_dialog(call, tag))
    }
}
