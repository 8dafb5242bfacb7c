//! Answers that clients have not taken yet: their bytes are bounded for each client and for all, as those of bodies
//! are.

use api::error_codes;
use bytes::Bytes;
use http::Method;

use super::handler::{Body, Reply};
use crate::app::limits::shares::{Client, Share};
use crate::app::{App, Failure};

/// Answers of fewer bytes are not counted: the buffers of a connection have more.
const SMALL: usize = 4 * 1024;
/// Bytes of answers that each client may leave untaken although others have taken what there is for all.
const KEPT: usize = 1024 * 1024;

/// An answer with its shares, which are given back when its last byte is dropped.
struct Held {
    bytes: Bytes,
    figure: prometheus_client::metrics::gauge::Gauge,
    _own: Share<Client>,
    _all: Share<()>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.figure.dec_by(as_figure(&self.bytes));
    }
}

fn as_figure(bytes: &Bytes) -> i64 {
    i64::try_from(bytes.len()).unwrap_or(i64::MAX)
}

/// Whether a client may ask for anything: not while it leaves too much untaken. So what changes something is refused before
/// it does.
///
/// # Errors
/// `rate_limited`.
pub fn may_ask(app: &App, client: Client) -> Result<(), Failure> {
    let most = app.config.limits.answers_per_client;
    if app.shares.answers_of.taken(&client) >= most { Err(own_full(most)) } else { Ok(()) }
}

/// The answer once its bytes count as its client's. When they are too many, one that only reads becomes a refusal; the
/// answer to what was done is given, and counts.
pub fn held(app: &App, client: Client, method: &Method, reply: Reply, id: &str) -> Reply {
    let bytes = match &reply.body {
        Body::Whole(bytes) if bytes.len() > SMALL => bytes.clone(),
        Body::Whole(_) | Body::Flow(_) => return reply,
    };
    let limits = &app.config.limits;
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let (own_most, all_most) =
        if reads { (limits.answers_per_client, limits.answers) } else { (usize::MAX, usize::MAX) };
    let (mut own, mut all) = (app.shares.answers_of.nothing(client), app.shares.answers.nothing(()));
    // One answer alone is always given.
    let Some(taken) = own.grown(bytes.len().min(limits.answers_per_client), own_most) else {
        return Reply::failure(&own_full(limits.answers_per_client), id);
    };
    let all_most = if taken <= KEPT { usize::MAX } else { all_most };
    if !all.grow(bytes.len().min(limits.answers), all_most) {
        return Reply::failure(&all_full(), id);
    }
    let figure = app.metrics.answers.clone();
    figure.inc_by(as_figure(&bytes));
    let body = Body::Whole(Bytes::from_owner(Held { bytes, figure, _own: own, _all: all }));
    Reply { body, ..reply }
}

fn own_full(most: usize) -> Failure {
    let message =
        format!("more than {} MB of answers wait to be read; read some of them", most / 1024 / 1024);
    Failure { retry_after: Some(1), ..Failure::new(error_codes::RATE_LIMITED, message) }
}

fn all_full() -> Failure {
    let message = "too many large answers wait to be read by their clients; try again";
    Failure { retry_after: Some(1), ..Failure::new(error_codes::UNAVAILABLE, message) }
}
