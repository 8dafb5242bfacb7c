//! Sends the e-mail that campaigns owe. Any node may: a mail that is taken is left alone by the others until its
//! lease is over. After a crash between the server's answer and the commit it is sent again under the same name.

use std::sync::Arc;

use ::campaigns::mail;
use domain::time::{SECOND, Timestamp};
use providers::mail::Mailer;

use super::next_look;
use crate::app::App;

/// Time until the next poll after an error of the store, and where a notification of another node may be lost.
const AGAIN: i64 = 30 * SECOND;

/// Sends what is due; returns the time of the next poll.
pub async fn look(app: Arc<App>, mailer: Arc<Mailer>) -> Option<Timestamp> {
    loop {
        match mail::send_due(&app, &mailer).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(failure) => {
                failure.log("a look at due e-mail failed");
                return Some(app.clock.now().plus(AGAIN));
            }
        }
    }
    let again = app.clock.now().plus(AGAIN);
    match mail::next_due(&app).await {
        Ok(due) => next_look(&app, due, again),
        Err(_) => Some(again),
    }
}
