//! Whether trunks live, asked once from a port of its own (`dastak doctor`).

use std::sync::Arc;
use std::time::Duration;

use telephony::settings::Settings;
use telephony::sip::{Inbound, IncomingCall, TrunkHealth};

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Takes no calls.
struct Nobody;

impl Inbound for Nobody {
    fn invite(&self, call: IncomingCall) {
        tokio::spawn(async move { call.reject(503).await });
    }
}

/// Sends every trunk an OPTIONS and waits for the answers, at most `limit`.
///
/// # Errors
/// The setting that cannot be carried out, and why.
pub async fn probe(settings: Settings, limit: Duration) -> Result<Vec<TrunkHealth>, String> {
    let user_agent =
        super::open_user_agent(settings.clone(), super::engine(&settings)?, Arc::new(Nobody)).await?;
    let answered = async {
        while user_agent.trunks().iter().any(|trunk| trunk.healthy.is_none()) {
            tokio::time::sleep(LOOK).await;
        }
    };
    // Those that have not answered are reported as they are.
    let _ = tokio::time::timeout(limit, answered).await;
    let trunks = user_agent.trunks();
    user_agent.stop().await;
    Ok(trunks)
}
