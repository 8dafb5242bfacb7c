//! The two ports over any protocol.

use std::fmt;
use std::sync::Arc;

use domain::ports::{
    Answer, ListenOrder, Listening, ProviderError, Recogniser, SpeakOrder, Speaking, Synthesiser,
};
use tokio::time::Instant;

use super::listening::{self, Report, Stream};
use super::speaking::{self, Pool};
use crate::http::Peer;
use crate::websocket::{Frame, Socket};

/// How a conversation begins.
pub(super) type Begin = Box<dyn Fn(&ListenOrder) -> Begun + Send + Sync>;

/// A conversation with a recogniser that begins.
pub(super) struct Begun {
    /// Path and query of the request that opens the socket.
    pub(super) path: String,
    pub(super) dialect: Box<dyn Boxed>,
    /// The languages that are understood until its end.
    pub(super) hears: Vec<String>,
}

/// A protocol behind a pointer that can start its stream.
pub(super) trait Boxed: Send {
    fn start(self: Box<Self>, peer: Peer, socket: Socket, hears: Vec<String>) -> Stream;

    /// Reads a message: for fuzz targets, which have no stream.
    fn hear(&mut self, frame: Frame, out: &mut Vec<Report>) -> Result<(), ProviderError>;
}

impl<D: listening::Dialect> Boxed for D {
    fn start(self: Box<Self>, peer: Peer, socket: Socket, hears: Vec<String>) -> Stream {
        Stream::start(peer, socket, *self, hears)
    }

    fn hear(&mut self, frame: Frame, out: &mut Vec<Report>) -> Result<(), ProviderError> {
        self.read(frame, out)
    }
}

/// A recogniser over a WebSocket.
pub struct WireRecogniser {
    pub(super) peer: Peer,
    pub(super) resident: bool,
    pub(super) languages: Vec<String>,
    pub(super) begin: Begin,
}

impl fmt::Debug for WireRecogniser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireRecogniser")
            .field("peer", &self.peer)
            .field("resident", &self.resident)
            .finish_non_exhaustive()
    }
}

impl Recogniser for WireRecogniser {
    fn name(&self) -> &str {
        &self.peer.name
    }

    fn resident(&self) -> bool {
        self.resident
    }

    fn speaks(&self, language: &str) -> bool {
        self.languages.iter().any(|known| known == language)
    }

    fn listen(&self, order: ListenOrder) -> Answer<'_, Result<Box<dyn Listening>, ProviderError>> {
        Box::pin(async move {
            let mut order = order;
            order.others.retain(|other| *other != order.language && self.speaks(other));
            let Begun { path, dialect, hears } = (self.begin)(&order);
            let socket = Socket::open(&self.peer, &path).await?;
            Ok(Box::new(dialect.start(self.peer.clone(), socket, hears)) as Box<dyn Listening>)
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            let Begun { path, .. } = (self.begin)(&ListenOrder::of("en"));
            reach(&self.peer, &path).await
        })
    }
}

/// A synthesiser over warm WebSockets.
pub struct WireSynthesiser<D> {
    pub(super) pool: Arc<Pool<D>>,
    pub(super) resident: bool,
    pub(super) languages: Vec<String>,
    pub(super) voices: &'static [(&'static str, &'static str, &'static str)],
}

impl<D: speaking::Dialect> fmt::Debug for WireSynthesiser<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireSynthesiser")
            .field("peer", self.pool.dialect.peer())
            .field("resident", &self.resident)
            .finish_non_exhaustive()
    }
}

impl<D: speaking::Dialect> Synthesiser for WireSynthesiser<D> {
    fn name(&self) -> &str {
        &self.pool.dialect.peer().name
    }

    fn resident(&self) -> bool {
        self.resident
    }

    fn speaks(&self, language: &str) -> bool {
        self.languages.iter().any(|known| known == language)
    }

    fn voices(&self) -> Vec<(String, String, String)> {
        let name = self.name();
        self.voices
            .iter()
            .map(|(id, shown, gender)| (format!("{name}-{id}"), (*shown).to_owned(), (*gender).to_owned()))
            .collect()
    }

    fn speak(&self, order: SpeakOrder) -> Answer<'_, Result<Box<dyn Speaking>, ProviderError>> {
        Box::pin(self.pool.speak(order))
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            let order = SpeakOrder { text: String::new(), voice: String::new(), language: "en".to_owned() };
            let dialect = &self.pool.dialect;
            reach(dialect.peer(), &dialect.path(&order)).await
        })
    }
}

/// Checks the credentials: connects and hangs up.
async fn reach(peer: &Peer, path: &str) -> Result<String, ProviderError> {
    let started = Instant::now();
    let socket = Socket::open(peer, path).await?;
    let took = started.elapsed().as_millis();
    socket.close(None).await;
    Ok(format!("connected in {took} ms"))
}

/// The provider's own name of a voice: the part of `sarvam-ritu` after the provider, the section's voice for
/// all others, or the usual one.
pub(super) fn voice<'a>(
    order: &'a SpeakOrder,
    provider: &str,
    section: Option<&'a str>,
    usual: &'a str,
) -> &'a str {
    let own = order.voice.strip_prefix(provider).and_then(|rest| rest.strip_prefix('-'));
    own.filter(|name| !name.is_empty()).or(section).unwrap_or(usual)
}
