//! Backpressure on answers: a client that leaves too much unread gets no more, and reads take permits. An answer's
//! bytes count once it is there, so without permits all concurrent requests would be read first.

use std::time::Duration;

use api::error_codes;
use runtime::turns::Turn;

use super::shares::Client;
use crate::{App, Failure};

/// Longest wait for a permit, in real time: it is the client that waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether a client may send requests: not while it leaves too much unread. So a write is refused before it happens.
///
/// # Errors
/// `rate_limited`.
pub fn may_ask(app: &App, client: Client) -> Result<(), Failure> {
    let most = app.config.limits.answers_per_client;
    if app.shares.answers.taken_by(&client) >= most { Err(unread(most)) } else { Ok(()) }
}

/// Waits for a read permit. It is held until the answer's bytes count as its client's.
///
/// # Errors
/// `rate_limited` when there was none in time, and when the client leaves too much untaken by then.
pub async fn turn(app: &App, client: Client) -> Result<Turn<Client>, Failure> {
    let turn = app.shares.reading.take(client, PATIENCE).await.ok_or_else(|| {
        let message =
            "too many requests of this workspace are being answered at once; try again after some of them";
        Failure { retry_after: Some(1), ..Failure::new(error_codes::RATE_LIMITED, message) }
    })?;
    may_ask(app, client)?;
    Ok(turn)
}

/// A client has this many bytes of answers unread.
pub fn unread(most: usize) -> Failure {
    let message =
        format!("more than {} MB of answers were not read yet; read some of them first", most / 1024 / 1024);
    Failure { retry_after: Some(1), ..Failure::new(error_codes::RATE_LIMITED, message) }
}
