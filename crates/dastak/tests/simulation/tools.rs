//! The tools that chats call: they carry a request out and answer, answer late, refuse, lose the answer or hang. They
//! outlive the service's crashes and remember every request that reached them.

use std::sync::Arc;
use std::time::Duration;

use api::operator_agents::WebhookConfig;
use dastak::app::{App, Failure, tools};
use domain::ids::{Id, Tool};
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use http::{HeaderMap, StatusCode};
use providers::guarded_client::{Limits, Phase, Request, Response, SendError, Sending, Transport};
use serde_json::{Value, json};

use crate::carrier::World;
use crate::clients::{checked, trace};
use crate::faults::Side;
use crate::random::Random;

/// The tools of every workspace: the name, and whether it may be asked the same twice.
pub const TOOLS: [(&str, bool); 2] = [("refund", false), ("look_up", true)];

/// A request that reached a tool.
#[derive(Debug, Clone)]
pub struct Asked {
    pub tool: &'static str,
    pub repeatable: bool,
    pub chat: String,
    pub key: String,
    /// The words that the model decided on.
    pub words: String,
    /// By the time that passed.
    pub passed: Timestamp,
}

/// The system behind the tools.
#[derive(Debug, Default)]
pub struct Workshop {
    pub asked: Vec<Asked>,
    requests: u64,
}

/// The words that the model has a tool called for, and which: they follow from the seed, so that the model decides alike
/// however often it is asked.
pub fn wanted(seed: u64, words: &str) -> Option<&'static str> {
    let mut random = Random::named(seed, &format!("tool {words}"));
    random.percent(40).then(|| random.pick(&TOOLS).0)
}

/// The tools of a workspace.
pub async fn set_up(app: &App, tenant: Tenant) -> Result<Vec<Id<Tool>>, Failure> {
    let mut made = Vec::new();
    for (name, idempotent) in TOOLS {
        let parameters =
            json!({"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]});
        let config = json!({"url": format!("https://tools.example.com/{name}"), "parameters": parameters, "idempotent": idempotent});
        let body = json!({"type": "webhook", "name": name, "description": "Simulated", "config": config});
        let body = checked("createTool", body);
        made.push(tools::create(app, trace(), tenant, body).await?.id.parse().expect("an id"));
    }
    Ok(made)
}

fn answer(status: u16, body: &Value) -> Response {
    Response {
        status: StatusCode::from_u16(status).expect("a status"),
        headers: HeaderMap::new(),
        body: body.to_string().into(),
        truncated: false,
        duration: Duration::ZERO,
    }
}

/// What the tool does with a request.
enum Manner {
    Answer,
    /// It carries the request out and answers so many milliseconds later.
    Late(i64),
    /// Nobody takes the connection.
    Unreached,
    /// It carries the request out and answers with an error.
    Fail(u16),
    /// It carries the request out and closes before its answer.
    Lose,
    /// It carries the request out and never answers.
    Hang,
}

impl World {
    /// What becomes of a request to a tool, by the seed and how many came before it.
    fn treat_tool(&self) -> Manner {
        let faulty = self.is_faulty();
        let mut workshop = self.workshop();
        workshop.requests += 1;
        let mut random = Random::named(self.seed(), &format!("tools {}", workshop.requests));
        drop(workshop);
        match random.range(0, 99) {
            _ if !faulty => Manner::Answer,
            0..=6 => Manner::Unreached,
            7..=12 => Manner::Fail(*random.pick(&[500, 503])),
            13..=20 => Manner::Lose,
            21..=25 => Manner::Hang,
            26..=40 => Manner::Late(random.range(1, 7) * SECOND),
            _ => Manner::Answer,
        }
    }
}

/// The way to the tools.
pub struct Tools(pub Arc<World>);

impl Tools {
    /// Does what is asked.
    fn carry_out(&self, request: &Request) {
        let header = |name: &str| {
            request.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
        };
        let said: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let path = request.target.path_and_query().trim_start_matches('/').to_owned();
        let (tool, repeatable) = *TOOLS.iter().find(|(name, _)| *name == path).expect("a tool that is there");
        let passed = self.0.passed();
        let words = said["words"].as_str().unwrap_or_default().to_owned();
        let asked = Asked {
            tool,
            repeatable,
            chat: header("x-chat-id"),
            key: header("idempotency-key"),
            words,
            passed,
        };
        self.0.tell(format!(
            "{} is asked about «{}» of {} with {}",
            asked.tool, asked.words, asked.chat, asked.key
        ));
        self.0.workshop().asked.push(asked);
    }
}

impl Transport for Tools {
    fn send(&self, request: Request, limits: Limits) -> Sending<'_> {
        Box::pin(async move {
            if self.0.dies_at("a tool", Side::Before) {
                std::future::pending::<()>().await;
            }
            let manner = self.0.treat_tool();
            if !matches!(manner, Manner::Unreached) {
                self.carry_out(&request);
            }
            let done = json!({"done": true});
            let came = match manner {
                Manner::Answer => Ok(answer(200, &done)),
                Manner::Late(ms) => {
                    self.0.think(ms).await;
                    Ok(answer(200, &done))
                }
                Manner::Unreached => Err(SendError::ConnectFailed(std::io::ErrorKind::ConnectionRefused)),
                Manner::Fail(status) => Ok(answer(status, &json!({"error": "simulated"}))),
                Manner::Lose => Err(SendError::Closed(Phase::Head)),
                Manner::Hang => {
                    self.0.think(limits.deadline.as_millis() as i64).await;
                    Err(SendError::Timeout(Phase::Head))
                }
            };
            if self.0.dies_at("a tool", Side::After) {
                std::future::pending::<()>().await;
            }
            came
        })
    }
}

/// The default of a tool that was made here, which the answers above must keep to.
#[test]
fn what_is_late_still_comes_in_time() {
    let body: api::operator_agents::NewTool = checked(
        "createTool",
        json!({"type": "webhook", "name": "refund", "description": "Simulated", "config": {"url": "https://tools.example.com/refund"}}),
    );
    let WebhookConfig { timeout_seconds, idempotent, .. } = body.config;
    assert!(timeout_seconds > 7 && !idempotent);
}
