//! Sends the e-mail that campaigns owe. Any node may: a mail that is taken is left alone by the others until its
//! lease is over. After a crash between the server's answer and the commit it is sent again under the same name.

use std::sync::Arc;

use ::campaigns::mail;
use domain::time::{SECOND, Timestamp};
use providers::mail::Mailer;

use super::next_look;
use crate::app::App;

/// Time until the next look after the store failed, and between two looks when another node's wake-up may be
/// lost.
const AGAIN: i64 = 30 * SECOND;

/// Sends what is due; when to look again.
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
