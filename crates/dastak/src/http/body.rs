//! The body of a request: read once it is known who sends it, within the bounds of all bodies and of its
//! sender's.

use std::net::IpAddr;
use std::time::Duration;

use api::error_codes;
use api::operations::{Access, Operation};
use api::schema::{MAX_VALUES, Schema};
use bytes::Bytes;
use http_body_util::BodyExt;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::handler::Outcome;
use crate::app::limits::shares::{Client, Full, Share, Taken};
use crate::app::{App, Failure};

/// Largest body of a request (docs/contract/README.md#limits).
const BODY_LIMIT: usize = 5 * 1024 * 1024;
/// Largest body that is read as it comes, how long it may take, and what it takes of the bounds meanwhile: all that is in
/// memory of it at a time.
const ARRIVING_LIMIT: usize = 64 * 1024 * 1024;
const ARRIVING_TIME: Duration = Duration::from_secs(300);
const ARRIVING_HELD: usize = 5 * 1024 * 1024;
/// Largest upload of a file.
const UPLOAD_LIMIT: usize = 26 * 1024 * 1024;
/// Largest body of somebody without a key, and where none is expected.
const SMALL_LIMIT: usize = 64 * 1024;
/// Longest wait for the next piece of a body.
const PIECE_TIME: Duration = Duration::from_secs(10);
/// The unread rest of a refused request that is read for the sake of its connection, and how long that may
/// take.
const REST: u64 = 16 * 1024;
const REST_TIME: Duration = Duration::from_secs(1);
/// How many times its bytes a body counts whose schema allows very many values.
const MANY_VALUES: usize = 3;
/// Bytes of bodies of one network at the addresses of hooks and streams.
const NETWORK: usize = 6 * 1024 * 1024;

/// A body on its way.
pub struct Incoming<B> {
    body: B,
    ended: bool,
}

/// Who sends a body, and from where.
#[derive(Debug, Clone, Copy)]
pub struct Sender {
    pub client: Client,
    /// The network that it comes from.
    pub network: IpAddr,
}

impl Sender {
    /// Most bytes of all bodies of this kind of sender, and of one network where senders are strangers to each other:
    /// whoever knows the address of a hook, or the token of a form, can send there.
    fn bounds(self, most: usize) -> (usize, Option<usize>) {
        match self.client {
            Client::Workspace(_) | Client::Members(_) | Client::Person(_) | Client::Operator => (most, None),
            Client::Hook(_) | Client::Stream(_) | Client::Stranger => {
                (most.div_ceil(2).max(NETWORK), Some(NETWORK))
            }
        }
    }
}

/// What a body takes of the bounds, until it is dropped. Bytes count once they have arrived.
pub struct Held {
    taken: Taken<Client>,
    /// Of its network, and how many.
    network: Option<(Share<IpAddr>, usize)>,
}

impl Held {
    fn new(app: &App, sender: Sender, most: usize) -> Self {
        let (most, of_network) = sender.bounds(most);
        let shares = &app.shares;
        Self {
            taken: shares.bodies.nothing(sender.client, most),
            network: of_network.map(|most| (shares.networks.nothing(sender.network), most)),
        }
    }

    /// Takes so many bytes more.
    pub fn grow(&mut self, bytes: usize) -> Result<(), Failure> {
        if let Some((network, most)) = &mut self.network
            && !network.grow(bytes, *most)
        {
            return Err(own_full(*most));
        }
        // Others may fill what all have; each has a part that nobody else can take.
        self.taken.grow(bytes).map_err(|full| match full {
            Full::Own(most) => own_full(most),
            Full::All => all_full(),
        })
    }

    /// Its signature shows whose it is: from here on it counts as that workspace's own, wherever it came from.
    pub fn is_signed(&mut self, app: &App) {
        self.network = None;
        self.taken.allow(app.config.limits.bodies_per_client);
    }

    /// Takes the bounds for more: a body of very many values takes several times its bytes once it is read.
    pub fn weigh(&mut self, schema: &Schema) -> Result<(), Failure> {
        if schema.most_values() <= MAX_VALUES {
            return Ok(());
        }
        self.grow(self.taken.bytes().saturating_mul(MANY_VALUES - 1))
    }
}

fn own_full(most: usize) -> Failure {
    let message = format!(
        "more than {} MB of request bodies of this client at once; try again after some of them",
        most / 1024 / 1024
    );
    Failure { retry_after: Some(1), ..Failure::new(error_codes::RATE_LIMITED, message) }
}

fn all_full() -> Failure {
    Failure {
        retry_after: Some(1),
        ..Failure::new(
            error_codes::UNAVAILABLE,
            "too many large requests at once; nothing was changed, try again",
        )
    }
}

fn too_large(limit: usize) -> Failure {
    let size = if limit < 1024 * 1024 {
        format!("{} KB", limit / 1024)
    } else {
        format!("{} MB", limit / 1024 / 1024)
    };
    Failure::new(
        error_codes::PAYLOAD_TOO_LARGE,
        format!("the body is larger than {size}; send less in one request"),
    )
}

/// Where the pieces of a body go that a handler reads as it comes.
pub struct Pieces(mpsc::Sender<Result<Bytes, Failure>>);

/// A body that a handler reads as it comes.
pub struct Arriving(mpsc::Receiver<Result<Bytes, Failure>>);

/// Both ends of a body that is read as it comes.
pub fn arriving() -> (Pieces, Arriving) {
    let (give, take) = mpsc::channel(1);
    (Pieces(give), Arriving(take))
}

impl Arriving {
    /// The next bytes; empty at the end.
    ///
    /// # Errors
    /// The body is too large, too slow, or its sender is gone.
    pub async fn next(&mut self) -> Result<Bytes, Failure> {
        let ended = || {
            Err(Failure::new(
                error_codes::INVALID_REQUEST,
                "the body ended before its announced length; send the request again",
            ))
        };
        self.0.recv().await.unwrap_or_else(ended)
    }
}

impl<B> Incoming<B>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    /// A body of which nothing has been read.
    pub fn new(body: B) -> Self {
        let ended = body.is_end_stream();
        Self { body, ended }
    }

    /// Whether the client may still be sending.
    pub fn unread(&self) -> bool {
        !self.ended && !self.body.is_end_stream()
    }

    /// The next bytes; empty at the end.
    async fn piece(&mut self, until: Instant) -> Result<Bytes, Failure> {
        loop {
            let until = until.min(Instant::now() + PIECE_TIME);
            match timeout_at(until, self.body.frame()).await {
                Err(_) => {
                    return Err(Failure::new(
                        error_codes::REQUEST_TIMEOUT,
                        "the body did not arrive in time; nothing was changed, send the request again",
                    ));
                }
                Ok(Some(Err(_))) => {
                    return Err(Failure::new(
                        error_codes::INVALID_REQUEST,
                        "the body ended before its announced length; send the request again",
                    ));
                }
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(bytes) if !bytes.is_empty() => return Ok(bytes),
                    Ok(_) | Err(_) => {}
                },
                Ok(None) => {
                    self.ended = true;
                    return Ok(Bytes::new());
                }
            }
        }
    }

    pub async fn read(
        &mut self,
        app: &App,
        operation: &Operation,
        sender: Sender,
    ) -> Result<(Bytes, Option<Held>), Failure> {
        let limit = match operation.access {
            _ if operation.upload => UPLOAD_LIMIT,
            Access::Public | Access::Figures => SMALL_LIMIT,
            Access::Signed => api::channel_accounts::MAX_NOTIFICATION,
            _ if operation.body.is_none() => SMALL_LIMIT,
            _ => BODY_LIMIT,
        };
        if !self.unread() {
            return Ok((Bytes::new(), None));
        }
        let too_large = || too_large(limit);
        let declared =
            self.body.size_hint().exact().map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        if declared.is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        // An upload has room beside other bodies of its sender.
        let most = app.config.limits.bodies_per_client + if operation.upload { UPLOAD_LIMIT } else { 0 };
        let mut held = Held::new(app, sender, most);
        let until = Instant::now() + app.config.limits.body_time;
        let first = self.piece(until).await?;
        held.grow(first.len())?;
        if declared == Some(first.len()) {
            return Ok((first, Some(held)));
        }
        let mut whole = Vec::with_capacity(first.len());
        let mut piece = first;
        while !piece.is_empty() {
            if whole.len() + piece.len() > limit {
                return Err(too_large());
            }
            whole.extend_from_slice(&piece);
            piece = self.piece(until).await?;
            held.grow(piece.len())?;
        }
        Ok((whole.into(), Some(held)))
    }

    /// Gives the pieces to a handler that reads them as they come, until it answers.
    pub async fn pass_on(
        &mut self,
        app: &App,
        sender: Sender,
        pieces: Pieces,
        running: impl Future<Output = Outcome>,
    ) -> Outcome {
        if self.body.size_hint().lower() > ARRIVING_LIMIT as u64 {
            return Err(too_large(ARRIVING_LIMIT));
        }
        let mut held = Held::new(app, sender, app.config.limits.bodies_per_client);
        held.grow(ARRIVING_HELD)?;
        let giving = self.give(&pieces);
        let mut running = std::pin::pin!(running);
        tokio::select! {
            outcome = &mut running => return outcome,
            () = giving => {}
        }
        running.await
    }

    /// Sends piece by piece, and at last an empty one or what is wrong.
    async fn give(&mut self, pieces: &Pieces) {
        let (until, mut size) = (Instant::now() + ARRIVING_TIME, 0);
        loop {
            let piece = if self.unread() { self.piece(until).await } else { Ok(Bytes::new()) };
            size += piece.as_ref().map_or(0, Bytes::len);
            let piece = if size > ARRIVING_LIMIT { Err(too_large(ARRIVING_LIMIT)) } else { piece };
            let last = piece.as_ref().map_or(true, Bytes::is_empty);
            if pieces.0.send(piece).await.is_err() || last {
                return;
            }
        }
    }

    /// Passes over what is left of a small body that nobody reads, so that its connection can be used again;
    /// whether it can.
    pub async fn pass_over(&mut self) -> bool {
        if self.body.size_hint().exact().is_none_or(|length| length > REST) {
            return false;
        }
        let until = Instant::now() + REST_TIME;
        loop {
            match self.piece(until).await {
                Ok(piece) if piece.is_empty() => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}
