//! Retrieval of passages from the agent's knowledge base.

use app::App;
use domain::tenant::Tenant;

/// The passages for the model. A search that fails yields none: the model then says that it does not know.
pub(crate) async fn passages(app: &App, tenant: Tenant, base: &str, question: &str) -> Vec<String> {
    let Ok(base) = base.parse() else { return Vec::new() };
    match knowledge::search(app, tenant, base, question, knowledge::PASSAGES).await {
        Ok(hits) => knowledge::spoken(hits),
        Err(failure) => {
            failure.warn_about(base, "a knowledge base could not be searched for a chat");
            Vec::new()
        }
    }
}
