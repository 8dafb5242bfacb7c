//! Tells the carrier which calls are to end, because of a request, a suspension or an empty wallet.

use domain::tenant::Mode;

use super::{Next, Polled};
use crate::app::{App, calls};

/// Tells the carrier what is wanted.
pub async fn poll(app: &App) -> Polled {
    if let Some(carrier) = app.carriers.in_mode(Mode::Live) {
        for (call, request) in calls::hangup_requests(app).await? {
            carrier.carry_out(call, request);
        }
    }
    Ok(Next::At(None))
}
