//! The demo workspace of `dastak dev`.

use api::operator::{NewKey, NewWorkspace};
use serde_json::{Value, json};

use crate::app::idempotency::Once;
use crate::app::operator_log::Trace;
use crate::app::{App, Failure, keys, numbers, workspaces};

/// Where the demo's ids and sealed keys are kept.
const FACT: &str = "demo_workspace";

/// What a newcomer needs.
pub struct Demo {
    live_key: String,
    test_key: String,
}

impl Demo {
    /// The welcome on standard error.
    pub fn welcome(&self, url: &str) -> String {
        format!(
            "\n  dastak is running\n\n  API        {url}/v1\n  reference  {url}/docs\n  live key   {}\n  test key   {}\n\n  Try it:\n\n    curl -s {url}/v1/me -H \"Authorization: Bearer {}\"\n",
            self.live_key, self.test_key, self.test_key
        )
    }
}

/// Makes the demo workspace at the first start, and finds it again later.
pub async fn seed(app: &App) -> Result<Demo, String> {
    seed_inner(app).await.map_err(|failure| format!("demo workspace: {} {}", failure.message, failure.cause.unwrap_or_default()))
}

async fn seed_inner(app: &App) -> Result<Demo, Failure> {
    let known = app.store.read(|tx| store::installation::get(tx, FACT)).await?;
    if let Some(sealed) = known {
        let open = app.keyring.open_sealed(FACT, &sealed).ok_or_else(|| Failure::internal("the demo workspace's keys cannot be decrypted"))?;
        let facts: Value = serde_json::from_str(&open).map_err(|why| Failure::internal(why.to_string()))?;
        let text = |name: &str| facts[name].as_str().unwrap_or_default().to_owned();
        return Ok(Demo { live_key: text("liveKey"), test_key: text("testKey") });
    }
    let trace = || Trace { operation: "seedDemo", request_id: "dev".into() };
    let body = NewWorkspace { name: "Demo".into(), kyb_verified: true, balance_minor: 1_000_000, currency: "INR".into(), cost_per_minute_minor: 600 };
    let made = workspaces::create(app, trace(), Once::unkeyed(), body).await?;
    let made: Value = serde_json::from_str(&made.body).map_err(|why| Failure::internal(why.to_string()))?;
    let workspace = made["data"]["id"].as_str().and_then(|id| id.parse().ok()).ok_or_else(|| Failure::internal("the demo workspace has no id"))?;
    let key = |mode: &str| NewKey { name: format!("demo {mode}"), mode: mode.into(), scopes: json!("all"), expires_at: None };
    let live_key = keys::create(app, trace(), workspace, key("live")).await?.key.unwrap_or_default();
    let test_key = keys::create(app, trace(), workspace, key("test")).await?.key.unwrap_or_default();
    numbers::create(app, trace(), workspace, "+918045670001".into()).await?;
    let facts = json!({"liveKey": live_key, "testKey": test_key}).to_string();
    let sealed = app.keyring.seal(FACT, &facts).map_err(Failure::internal)?;
    app.store.tx(move |tx| store::installation::get_or_insert(tx, FACT, &sealed)).await?;
    Ok(Demo { live_key, test_key })
}
