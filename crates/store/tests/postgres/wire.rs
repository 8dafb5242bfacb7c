//! A way to the server that tests can watch, freeze and cut.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What becomes of what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It arrives.
    Open,
    /// It arrives nowhere, and nobody hears that.
    Frozen,
    /// Connections are closed.
    Cut,
}

/// What was seen on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// Connections that were opened.
    pub connections: usize,
    /// Times that the client said something after it had heard something.
    pub turns: usize,
    /// Statements that were run.
    pub statements: usize,
}

#[derive(Default)]
struct Counters {
    connections: AtomicUsize,
    turns: AtomicUsize,
    statements: AtomicUsize,
}

/// The way.
#[derive(Clone)]
pub struct Wire {
    pub url: String,
    state: watch::Sender<State>,
    /// When these words pass, the answers freeze or the connections are cut.
    trap: Arc<Mutex<Option<(&'static [u8], State)>>>,
    counters: Arc<Counters>,
}

impl Wire {
    /// A way to this database.
    pub async fn to(database: &str) -> Self {
        let (user, rest) = database.split_once('@').expect("a URL");
        let (address, name) = rest.split_once('/').expect("a database");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let wire = Self {
            url: format!("{user}@{}/{name}", listener.local_addr().expect("an address")),
            state: watch::Sender::new(State::Open),
            trap: Arc::default(),
            counters: Arc::default(),
        };
        let (own, address) = (wire.clone(), address.to_owned());
        tokio::spawn(async move {
            while let Ok((here, _)) = listener.accept().await {
                own.counters.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(own.clone().carry(here, address.clone()));
            }
        });
        wire
    }

    pub fn set(&self, state: State) {
        self.state.send_replace(state);
    }

    /// From the moment on in which these words pass to the server, this is the state. They arrive.
    pub fn set_after(&self, words: &'static str, state: State) {
        *self.trap.lock().unwrap() = Some((words.as_bytes(), state));
    }

    /// What passes while `work` runs.
    pub async fn seen<T>(&self, work: impl Future<Output = T>) -> (T, Seen) {
        let before = self.now();
        let done = work.await;
        let after = self.now();
        let seen = Seen {
            connections: after.connections - before.connections,
            turns: after.turns - before.turns,
            statements: after.statements - before.statements,
        };
        (done, seen)
    }

    pub fn now(&self) -> Seen {
        let read = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        Seen {
            connections: read(&self.counters.connections),
            turns: read(&self.counters.turns),
            statements: read(&self.counters.statements),
        }
    }

    async fn until(&self, wanted: impl Fn(State) -> bool) {
        let _ = self.state.subscribe().wait_for(|state| wanted(*state)).await;
    }

    async fn carry(self, here: TcpStream, address: String) {
        self.until(|state| state != State::Frozen).await;
        if *self.state.borrow() == State::Cut {
            return;
        }
        let Ok(there) = TcpStream::connect(address).await else { return };
        let ((from_client, to_client), (from_server, to_server)) = (here.into_split(), there.into_split());
        let heard = Arc::new(AtomicBool::new(true));
        tokio::select! {
            () = self.clone().up(from_client, to_server, heard.clone()) => {}
            () = self.clone().down(from_server, to_client, heard) => {}
            () = self.until(|state| state == State::Cut) => {}
        }
    }

    async fn up(self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf, heard: Arc<AtomicBool>) {
        let mut messages = Messages::default();
        let mut bytes = vec![0; 64 * 1024];
        // What has passed lately: words may come in two pieces.
        let mut passed = Vec::new();
        loop {
            let Ok(count @ 1..) = from.read(&mut bytes).await else { return };
            self.until(|state| state != State::Frozen).await;
            if heard.swap(false, Ordering::SeqCst) {
                self.counters.turns.fetch_add(1, Ordering::SeqCst);
            }
            self.counters.statements.fetch_add(messages.statements(&bytes[..count]), Ordering::SeqCst);
            let trapped = {
                let mut trap = self.trap.lock().unwrap();
                let words = trap.map_or(&b""[..], |(words, _)| words);
                passed.extend_from_slice(&bytes[..count]);
                let here = !words.is_empty() && passed.windows(words.len()).any(|some| some == words);
                passed.drain(..passed.len().saturating_sub(words.len().saturating_sub(1)));
                if here { trap.take() } else { None }
            };
            if let Some((_, state)) = trapped {
                // Before the server has heard them, so that no answer slips through.
                self.set(state);
            }
            if to.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
    }

    async fn down(self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf, heard: Arc<AtomicBool>) {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let Ok(count @ 1..) = from.read(&mut bytes).await else { return };
            self.until(|state| state != State::Frozen).await;
            if *self.state.borrow() == State::Cut {
                return;
            }
            heard.store(true, Ordering::SeqCst);
            if to.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
    }
}

/// Counts statements among the messages of a client.
#[derive(Default)]
struct Messages {
    started: bool,
    rest: Vec<u8>,
}

impl Messages {
    /// Executions and simple queries in what comes next.
    fn statements(&mut self, bytes: &[u8]) -> usize {
        self.rest.extend_from_slice(bytes);
        let mut count = 0;
        loop {
            // The first message has no letter.
            let letter = usize::from(self.started);
            let Some(length) = self.rest.get(letter..letter + 4) else { return count };
            let length = u32::from_be_bytes(length.try_into().expect("four bytes")) as usize;
            if self.rest.len() < letter + length {
                return count;
            }
            count += usize::from(self.started && matches!(self.rest[0], b'E' | b'Q'));
            self.started = true;
            self.rest.drain(..letter + length);
        }
    }
}
