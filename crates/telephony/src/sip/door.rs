//! Source filter: accepts trunks by source address, and peers of dialogs by Contact and Record-Route.
//!
//! A stranger gets no answer at all, not even a refusal. Datagrams are judged before they are parsed
//! ([`super::net::Gate`]), connections when they are accepted ([`super::stream`]). What passes is queued for
//! the stack, a bounded number of messages for each peer ([`Queues`]).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rsipstack::sip::SipMessage;
use rsipstack::transaction::endpoint::TransportEventInspector;
use rsipstack::transport::TransportEvent;
use tokio::sync::{Semaphore, mpsc};

use super::mail::Mail;
use super::message::{parameter, value};
use crate::settings::Transport;

/// Messages of one peer that may wait for the stack. Further datagrams are dropped; from a connection nothing
/// more is read meanwhile.
pub(super) const QUEUED: usize = 256;
/// Addresses that may send messages to a dialog.
const MOST_PEERS: usize = 8;

/// Who may speak to us.
pub(super) trait Door: Send + Sync {
    /// Whether this address is a trunk's: it may open connections.
    fn knows(&self, ip: IpAddr) -> bool;
    /// Whether anything from this address is listened to: a trunk's, or one that a dialog has named.
    fn hears(&self, ip: IpAddr) -> bool;
    /// Whether this address may begin something new this way.
    fn admits(&self, ip: IpAddr, transport: Transport) -> bool;
    /// Whether there is a dialog of this Call-ID and tag of ours that this address may speak in.
    fn speaks(&self, call_id: &str, tag: &str, ip: IpAddr) -> bool;
}

/// Whether a message from an address that is heard may pass.
pub(super) fn may_pass(door: &dyn Door, message: &SipMessage, ip: IpAddr, transport: Transport) -> bool {
    // An answer that is not waited for finds no transaction.
    let SipMessage::Request(request) = message else { return true };
    let tag = value(request, "To").and_then(|to| parameter(to, "tag"));
    let call = value(request, "Call-ID").unwrap_or_default();
    tag.is_some_and(|tag| door.speaks(call, tag, ip)) || door.admits(ip, transport)
}

/// The mailbox of a dialog, and who may speak in it.
struct Entry {
    mailbox: mpsc::Sender<Mail>,
    /// The first is where its INVITE went or came from.
    peers: Vec<IpAddr>,
}

#[derive(Default)]
struct Book {
    dialogs: HashMap<(String, String), Entry>,
    /// How many dialogs name an address.
    peers: HashMap<IpAddr, usize>,
}

impl Book {
    fn forget(&mut self, peer: IpAddr) {
        if let Some(count) = self.peers.get_mut(&peer) {
            *count -= 1;
            if *count == 0 {
                self.peers.remove(&peer);
            }
        }
    }
}

/// Dialogs by Call-ID and our tag.
#[derive(Default)]
pub(super) struct Dialogs(Mutex<Book>);

/// A dialog that takes messages until this is dropped.
pub(super) struct Registered(Arc<Dialogs>, (String, String));

impl Registered {
    /// Lets an address speak in the dialog, from now on.
    pub fn allow(&self, ip: IpAddr) {
        self.0.allow(&self.1, ip);
    }

    /// [`Registered::allow`] for a task that may outlive the dialog.
    pub fn allower(&self) -> impl FnOnce(IpAddr) + Send + use<> {
        let (dialogs, key) = (self.0.clone(), self.1.clone());
        move |ip| dialogs.allow(&key, ip)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut book = self.0.lock();
        if let Some(entry) = book.dialogs.remove(&self.1) {
            for peer in entry.peers {
                book.forget(peer);
            }
        }
    }
}

impl Dialogs {
    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lock().dialogs.len()
    }

    /// The mailboxes of all dialogs.
    pub fn all(&self) -> Vec<mpsc::Sender<Mail>> {
        self.lock().dialogs.values().map(|entry| entry.mailbox.clone()).collect()
    }

    /// The mailbox of a dialog.
    pub fn find(&self, call: &str, tag: &str) -> Option<mpsc::Sender<Mail>> {
        self.lock().dialogs.get(&(call.to_owned(), tag.to_owned())).map(|entry| entry.mailbox.clone())
    }

    /// Adds a dialog whose INVITE went to or came from `peer`.
    pub fn add(
        self: &Arc<Self>,
        call: &str,
        tag: &str,
        mailbox: mpsc::Sender<Mail>,
        peer: IpAddr,
    ) -> Registered {
        let key = (call.to_owned(), tag.to_owned());
        let peer = peer.to_canonical();
        let mut book = self.lock();
        *book.peers.entry(peer).or_default() += 1;
        if let Some(before) = book.dialogs.insert(key.clone(), Entry { mailbox, peers: vec![peer] }) {
            for peer in before.peers {
                book.forget(peer);
            }
        }
        drop(book);
        Registered(self.clone(), key)
    }

    fn allow(&self, key: &(String, String), ip: IpAddr) {
        let ip = ip.to_canonical();
        let mut book = self.lock();
        let Some(entry) = book.dialogs.get_mut(key) else { return };
        if entry.peers.contains(&ip) {
            return;
        }
        let oldest = (entry.peers.len() == MOST_PEERS).then(|| entry.peers.remove(1));
        entry.peers.push(ip);
        *book.peers.entry(ip).or_default() += 1;
        if let Some(oldest) = oldest {
            book.forget(oldest);
        }
    }

    pub fn named(&self, ip: IpAddr) -> bool {
        self.lock().peers.contains_key(&ip)
    }

    pub fn allows(&self, call: &str, tag: &str, ip: IpAddr) -> Option<bool> {
        self.lock().dialogs.get(&(call.to_owned(), tag.to_owned())).map(|entry| entry.peers.contains(&ip))
    }
}

/// How many messages of each peer wait for the stack, whose own queue is unbounded.
#[derive(Default)]
pub(super) struct Queues(Mutex<HashMap<IpAddr, Arc<Semaphore>>>);

impl Queues {
    /// The free places of a peer. A permit that is taken must be forgotten: [`Queues::leave`] gives it back.
    pub fn of(&self, ip: IpAddr) -> Arc<Semaphore> {
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() > 1024 {
            peers.retain(|_, places| places.available_permits() < QUEUED || Arc::strong_count(places) > 1);
        }
        peers.entry(ip).or_insert_with(|| Arc::new(Semaphore::new(QUEUED))).clone()
    }

    /// Takes a place; false when there is none.
    pub fn enter(&self, ip: IpAddr) -> bool {
        match self.of(ip).try_acquire() {
            Ok(place) => {
                place.forget();
                true
            }
            Err(_) => false,
        }
    }

    fn leave(&self, ip: IpAddr) {
        let peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = peers.get(&ip).filter(|places| places.available_permits() < QUEUED) {
            places.add_permits(1);
        }
    }
}

/// Gives a message's place back when the stack takes the message. It runs on the loop that all peers share, so
/// it must not block.
pub(super) struct Turnstile(pub Arc<Queues>);

#[async_trait::async_trait]
impl TransportEventInspector for Turnstile {
    async fn handle(&self, event: TransportEvent) -> Option<TransportEvent> {
        if let TransportEvent::Incoming(_, _, from) = &event
            && let Ok(from) = from.get_socketaddr()
        {
            self.0.leave(from.ip().to_canonical());
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(last: u8) -> IpAddr {
        IpAddr::from([127, 0, 0, last])
    }

    #[test]
    fn a_dialog_is_spoken_in_from_the_addresses_that_it_named() {
        let dialogs = Arc::new(Dialogs::default());
        let (mailbox, _mail) = mpsc::channel(1);
        let one = dialogs.add("c", "t", mailbox.clone(), ip(1));
        let other = dialogs.add("d", "t", mailbox, ip(1));
        one.allow(ip(2));
        assert_eq!(
            (
                dialogs.allows("c", "t", ip(2)),
                dialogs.allows("d", "t", ip(2)),
                dialogs.allows("x", "t", ip(1))
            ),
            (Some(true), Some(false), None)
        );
        for last in 3..40 {
            one.allow(ip(last));
        }
        assert_eq!(
            (dialogs.allows("c", "t", ip(1)), dialogs.named(ip(2)), dialogs.named(ip(39))),
            (Some(true), false, true)
        );
        drop(one);
        assert!(dialogs.named(ip(1)) && !dialogs.named(ip(39)));
        drop(other);
        assert!(!dialogs.named(ip(1)) && dialogs.lock().peers.is_empty());
    }

    #[test]
    fn a_peer_has_so_many_places() {
        let queues = Queues::default();
        for _ in 0..QUEUED {
            assert!(queues.enter(ip(1)));
        }
        assert!(!queues.enter(ip(1)) && queues.enter(ip(2)));
        queues.leave(ip(1));
        assert!(queues.enter(ip(1)) && !queues.enter(ip(1)));
        for _ in 0..2 * QUEUED {
            queues.leave(ip(2));
        }
        assert_eq!(queues.of(ip(2)).available_permits(), QUEUED);
    }
}
