//! WebSocket connections to providers.
//!
//! `tokio-tungstenite` over our own connections. Its reads can be cancelled without loss.

use std::time::Duration;

use bytes::Bytes;
use domain::ports::{ProviderError, ProviderFault};
use futures_util::{FutureExt, SinkExt, StreamExt};
use serde_json::Value;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::http::{Peer, status_error};
use crate::socket::Stream;

/// Largest message that is accepted, bytes: seconds of sound in base64 are below it.
const MAX_MESSAGE: usize = 8 << 20;
/// Longest wait for the close handshake.
const BYE: Duration = Duration::from_secs(1);

/// A message of the peer's.
#[derive(Debug)]
pub(crate) enum Frame {
    Text(String),
    Binary(Bytes),
}

/// A message for the peer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Send {
    Text(String),
    Binary(Vec<u8>),
}

impl Send {
    /// A JSON message.
    pub(crate) fn json(value: &Value) -> Send {
        Send::Text(value.to_string())
    }
}

pub(crate) struct Socket {
    stream: WebSocketStream<Stream>,
    peer: Peer,
}

impl Socket {
    /// Opens a connection within the peer's time-out.
    ///
    /// # Errors
    /// The failure of the handshake: see [`status_error`].
    pub(crate) async fn open(peer: &Peer, path_and_query: &str) -> Result<Socket, ProviderError> {
        let scheme = if peer.base.is_tls() { "wss" } else { "ws" };
        let refused = |_| peer.error(ProviderFault::Refused, "an address that cannot be asked");
        let mut request = format!("{scheme}://{}{path_and_query}", peer.base.authority())
            .into_client_request()
            .map_err(refused)?;
        request.headers_mut().extend(peer.headers().clone());
        let stream = peer.connect().await?;
        let config =
            WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
        match timeout(
            peer.timeout,
            tokio_tungstenite::client_async_with_config(request, stream, Some(config)),
        )
        .await
        {
            Err(_) => Err(peer.timed_out("handshake")),
            Ok(Err(error)) => Err(failure(peer, error)),
            Ok(Ok((stream, _))) => Ok(Socket { stream, peer: peer.clone() }),
        }
    }

    pub(crate) async fn send(&mut self, message: Send) -> Result<(), ProviderError> {
        let message = match message {
            Send::Text(text) => Message::Text(text.into()),
            Send::Binary(bytes) => Message::Binary(bytes.into()),
        };
        match timeout(self.peer.timeout, self.stream.send(message)).await {
            Err(_) => Err(self.peer.timed_out("sending")),
            Ok(sent) => sent.map_err(|error| failure(&self.peer, error)),
        }
    }

    /// The next message, however long it takes. Cancel-safe.
    ///
    /// # Errors
    /// Also when the connection has ended.
    pub(crate) async fn next(&mut self) -> Result<Frame, ProviderError> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => return Ok(Frame::Text(text.as_str().to_owned())),
                Some(Ok(Message::Binary(bytes))) => return Ok(Frame::Binary(bytes)),
                // The library answers pings by itself.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(frame))) => return Err(closed(&self.peer, frame)),
                Some(Err(error)) => return Err(failure(&self.peer, error)),
                None => return Err(self.peer.error(ProviderFault::Unreachable, "the connection ended")),
            }
        }
    }

    /// The next message within the peer's time-out.
    pub(crate) async fn next_soon(&mut self, what: &str) -> Result<Frame, ProviderError> {
        match timeout(self.peer.timeout, self.next()).await {
            Ok(frame) => frame,
            Err(_) => Err(self.peer.timed_out(what)),
        }
    }

    /// Whether nothing has arrived that ends it, as far as can be told without waiting. Received messages are dropped.
    pub(crate) fn is_alive(&mut self) -> bool {
        loop {
            match self.next().now_or_never() {
                None => return true,
                Some(Ok(_)) => {}
                Some(Err(_)) => return false,
            }
        }
    }

    /// Closes it, first sending `last`, and waits briefly for the peer.
    pub(crate) async fn close(mut self, last: Option<Send>) {
        let bye = async {
            if let Some(last) = last {
                self.send(last).await.ok()?;
            }
            self.stream.close(None).await.ok()
        };
        let _ = timeout(BYE, bye).await;
    }
}

/// JSON of a text message.
pub(crate) fn json(peer: &Peer, text: &str) -> Result<Value, ProviderError> {
    serde_json::from_str(text).map_err(|_| peer.broken("a message that is not JSON"))
}

fn closed(peer: &Peer, frame: Option<CloseFrame>) -> ProviderError {
    let Some(code) = frame.map(|frame| u16::from(frame.code)) else {
        return peer.error(ProviderFault::Unreachable, "the connection was closed");
    };
    let fault = match code {
        1008 | 3000 | 3003 | 4001 | 4003 => ProviderFault::Forbidden,
        1013 | 4029 => ProviderFault::Limited,
        1002 | 1003 | 1007 | 1009 => ProviderFault::Refused,
        1011 => ProviderFault::Broken,
        _ => ProviderFault::Unreachable,
    };
    peer.error(fault, format!("the connection was closed with {code}"))
}

fn failure(peer: &Peer, error: Error) -> ProviderError {
    match error {
        Error::Http(answer) => {
            status_error(&peer.name, answer.status(), answer.body().as_deref().unwrap_or_default())
        }
        Error::ConnectionClosed | Error::AlreadyClosed => {
            peer.error(ProviderFault::Unreachable, "the connection was closed")
        }
        Error::Io(error) => {
            peer.error(ProviderFault::Unreachable, format!("the connection broke: {}", error.kind()))
        }
        Error::Capacity(_) => peer.broken("a message that is too large"),
        Error::Protocol(
            tokio_tungstenite::tungstenite::error::ProtocolError::ResetWithoutClosingHandshake,
        ) => peer.error(ProviderFault::Unreachable, "the connection broke"),
        _ => peer.broken("not a WebSocket as it should be"),
    }
}
