//! Shared by all synthesisers over sockets: a small pool of warm connections, one utterance at a time on each, and
//! cancellation for callers that have gone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::ports::{Answer, ProviderError, ProviderFault, SAMPLE_RATE, SpeakOrder, Speaking};
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};

use super::pcm::Reader;
use crate::http::Peer;
use crate::websocket::{Frame, Send, Socket};

/// Idle connections that are kept.
const WARM: usize = 8;
/// Longest wait for a provider to confirm that it has stopped.
const CLEARED: Duration = Duration::from_secs(2);

/// The meaning of a provider's message.
pub(crate) enum Said {
    /// 16-bit little-endian mono at [`SAMPLE_RATE`].
    Sound(Vec<u8>),
    /// The utterance is complete.
    Done,
    /// The provider has stopped.
    Cleared,
    /// Nothing for us.
    Other,
}

/// How an utterance is cancelled.
pub(crate) enum Cancel {
    /// By a message; later sound is recognised by its id, so the connection can be reused at once.
    Say(Send),
    /// By a message that is answered ([`Said::Cleared`]).
    SayAndWait(Send),
    /// By closing the connection; a new one is opened for the next one.
    HangUp,
}

/// A provider's protocol.
pub(crate) trait Dialect: std::marker::Send + Sync + 'static {
    fn peer(&self) -> &Peer;
    /// Where to connect for this order.
    fn path(&self, order: &SpeakOrder) -> String;
    /// The key of the pool: utterances with the same key can share a connection.
    fn key(&self, order: &SpeakOrder) -> String;
    /// The messages of an utterance with this id; `fresh`: the first on its connection.
    fn begin(&self, order: &SpeakOrder, id: u64, fresh: bool) -> Vec<Send>;
    fn read(&self, frame: Frame, id: u64) -> Result<Said, ProviderError>;
    /// How it is cancelled.
    fn cancel(&self, id: u64) -> Cancel;
    /// The provider closes connections that are idle for longer.
    fn idle(&self) -> Duration;
}

/// A provider with its warm connections.
pub(crate) struct Pool<D> {
    pub(crate) dialect: D,
    warm: Mutex<Vec<Warm>>,
    ids: AtomicU64,
}

struct Warm {
    key: String,
    socket: Socket,
    /// Nothing was said over it yet.
    unused: bool,
    since: Instant,
}

impl<D: Dialect> Pool<D> {
    pub(crate) fn new(dialect: D) -> Arc<Self> {
        Arc::new(Self { dialect, warm: Mutex::default(), ids: AtomicU64::new(1) })
    }

    /// A warm connection that is still open, the most recently used.
    fn take(&self, key: &str) -> Option<(Socket, bool)> {
        let mut warm = self.warm.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = self.dialect.idle();
        warm.retain(|one| one.since.elapsed() < idle);
        while let Some(at) = warm.iter().rposition(|one| one.key == key) {
            let mut one = warm.remove(at);
            if one.socket.is_alive() {
                return Some((one.socket, one.unused));
            }
        }
        None
    }

    fn put(&self, key: String, socket: Socket, unused: bool) {
        let mut warm = self.warm.lock().unwrap_or_else(PoisonError::into_inner);
        if warm.len() >= WARM {
            warm.remove(0);
        }
        warm.push(Warm { key, socket, unused, since: Instant::now() });
    }

    pub(crate) async fn speak(
        self: &Arc<Self>,
        order: SpeakOrder,
    ) -> Result<Box<dyn Speaking>, ProviderError> {
        let mut utterance = Utterance {
            pool: self.clone(),
            key: self.dialect.key(&order),
            order,
            id: 0,
            socket: None,
            sound: Reader::new(SAMPLE_RATE),
            fresh: false,
            spoken: false,
        };
        if let Some((socket, unused)) = self.take(&utterance.key)
            && utterance.begin(socket, unused).await.is_ok()
        {
            return Ok(Box::new(utterance));
        }
        utterance.begin_afresh().await?;
        Ok(Box::new(utterance))
    }
}

struct Utterance<D: Dialect> {
    pool: Arc<Pool<D>>,
    order: SpeakOrder,
    key: String,
    id: u64,
    /// None when the utterance is over.
    socket: Option<Socket>,
    sound: Reader,
    /// The connection was opened for it.
    fresh: bool,
    /// Something was received on it.
    spoken: bool,
}

impl<D: Dialect> Utterance<D> {
    async fn begin(&mut self, mut socket: Socket, unused: bool) -> Result<(), ProviderError> {
        self.id = self.pool.ids.fetch_add(1, Ordering::Relaxed);
        for message in self.pool.dialect.begin(&self.order, self.id, unused) {
            socket.send(message).await?;
        }
        self.socket = Some(socket);
        Ok(())
    }

    async fn begin_afresh(&mut self) -> Result<(), ProviderError> {
        let socket = Socket::open(self.pool.dialect.peer(), &self.pool.dialect.path(&self.order)).await?;
        self.fresh = true;
        self.begin(socket, true).await
    }

    /// The next samples; none at the end.
    async fn listen(&mut self) -> Result<Option<Vec<i16>>, ProviderError> {
        loop {
            let Some(socket) = &mut self.socket else { return Ok(None) };
            let frame = socket.next_soon("speech").await?;
            match self.pool.dialect.read(frame, self.id)? {
                Said::Other | Said::Cleared => {}
                Said::Done => {
                    if let Some(socket) = self.socket.take() {
                        self.pool.put(self.key.clone(), socket, false);
                    }
                    let last = self.sound.finish();
                    return Ok((!last.is_empty()).then_some(last));
                }
                Said::Sound(bytes) => {
                    let samples = self.sound.push(&bytes);
                    if !samples.is_empty() {
                        self.spoken = true;
                        return Ok(Some(samples));
                    }
                }
            }
        }
    }
}

impl<D: Dialect> Speaking for Utterance<D> {
    fn next(&mut self) -> Answer<'_, Option<Result<Vec<i16>, ProviderError>>> {
        Box::pin(async move {
            loop {
                let error = match self.listen().await {
                    Ok(samples) => return samples.map(Ok),
                    Err(error) => error,
                };
                self.socket = None;
                // A pooled connection may have died unnoticed; no sound was received yet, so the text is retried on a
                // new one.
                let stale = !self.fresh && !self.spoken && error.fault == ProviderFault::Unreachable;
                if !stale {
                    return Some(Err(error));
                }
                if let Err(error) = self.begin_afresh().await {
                    return Some(Err(error));
                }
            }
        })
    }
}

impl<D: Dialect> Drop for Utterance<D> {
    fn drop(&mut self) {
        let Some(mut socket) = self.socket.take() else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        let (pool, key, id) = (self.pool.clone(), std::mem::take(&mut self.key), self.id);
        match pool.dialect.cancel(id) {
            Cancel::Say(message) => {
                runtime.spawn(async move {
                    if socket.send(message).await.is_ok() {
                        pool.put(key, socket, false);
                    }
                });
            }
            Cancel::SayAndWait(message) => {
                runtime.spawn(async move {
                    let stopped = async {
                        socket.send(message).await.ok()?;
                        loop {
                            let frame = socket.next().await.ok()?;
                            if matches!(pool.dialect.read(frame, id), Ok(Said::Cleared)) {
                                return Some(());
                            }
                        }
                    };
                    if matches!(timeout(CLEARED, stopped).await, Ok(Some(()))) {
                        pool.put(key, socket, false);
                    }
                });
            }
            Cancel::HangUp => {
                let path = pool.dialect.path(&self.order);
                runtime.spawn(async move {
                    socket.close(None).await;
                    // Only for the conversation in progress: a failure shows when the next sentence is said.
                    if let Ok(socket) = Socket::open(pool.dialect.peer(), &path).await {
                        pool.put(key, socket, true);
                    }
                });
            }
        }
    }
}

/// Texts of at most `most` letters, cut at spaces where there are any.
pub(crate) fn pieces(text: &str, most: usize) -> Vec<&str> {
    let mut rest = text.trim();
    let mut pieces = Vec::new();
    while let Some((end, _)) = rest.char_indices().nth(most) {
        let cut = rest[..end].rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(end);
        pieces.push(rest[..cut].trim_end());
        rest = rest[cut..].trim_start();
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn long_texts_are_cut_at_spaces() {
        assert_eq!(pieces("one two three", 7), ["one", "two", "three"]);
        assert_eq!(pieces("one two three", 8), ["one two", "three"]);
        assert_eq!(pieces("नमस्तेनमस्ते", 6), ["नमस्ते", "नमस्ते"]);
        assert_eq!(pieces("  ", 5), [""; 0]);
    }
}
