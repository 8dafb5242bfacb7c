//! Shares the trunks of this node with others (docs/contract/telephony.md#nodes): keeps its grants alive, asks for
//! channels, gives them back, and says who registers.

use std::sync::Arc;

use domain::time::Timestamp;

use super::repeat;
use crate::app::{App, Wakes, topics};
use crate::lines::Lines;
use crate::sip_trunks::SipTrunks;

/// Starts the job, if there is something to share.
pub fn start(app: &Arc<App>, wakes: &Wakes, lines: Arc<Lines>) {
    let Some(trunks) = lines.trunks().cloned() else { return };
    let signal = app.clock.signal();
    let wanted = signal.clone();
    if !trunks.share(app, Box::new(move || wanted.raise())) {
        return;
    }
    wakes.connect(topics::TRUNKS, signal.clone());
    app.node.wakes(signal.clone());
    let app_ = app.clone();
    let look = move || look(app_.clone(), trunks.clone());
    app.clock.start_job(signal, move |job| repeat(job, look));
}

async fn look(app: Arc<App>, trunks: Arc<SipTrunks>) -> Option<Timestamp> {
    let wait = trunks.look_at_shares(&app).await;
    Some(app.clock.now().plus(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)))
}
