//! Who may have an answer made: a client that leaves too much unread may not, and of the others only so many at once. An
//! answer's bytes count once it is there, so without turns all that are asked for at one moment would be made first.

use std::time::Duration;

use api::error_codes;
use runtime::turns::Turn;

use super::shares::Client;
use crate::{App, Failure};

/// Longest wait for a turn, in real time: it is the client that waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether a client may ask for anything: not while it leaves too much untaken. So what changes something is refused before
/// it does.
///
/// # Errors
/// `rate_limited`.
pub fn may_ask(app: &App, client: Client) -> Result<(), Failure> {
    let most = app.config.limits.answers_per_client;
    if app.shares.answers.taken_by(&client) >= most { Err(unread(most)) } else { Ok(()) }
}

/// Waits for a turn to read what is answered. It is kept until the answer's bytes count as its client's.
///
/// # Errors
/// `rate_limited` when there was none in time, and when the client leaves too much untaken by then.
pub async fn turn(app: &App, client: Client) -> Result<Turn<Client>, Failure> {
    let turn = app.shares.reading.take(client, PATIENCE).await.ok_or_else(|| {
        let message = "too many answers are being read at once; wait for some of them";
        Failure { retry_after: Some(1), ..Failure::new(error_codes::RATE_LIMITED, message) }
    })?;
    may_ask(app, client)?;
    Ok(turn)
}

/// A client has so many bytes of answers unread.
pub fn unread(most: usize) -> Failure {
    let message =
        format!("more than {} MB of answers wait to be read; read some of them", most / 1024 / 1024);
    Failure { retry_after: Some(1), ..Failure::new(error_codes::RATE_LIMITED, message) }
}
