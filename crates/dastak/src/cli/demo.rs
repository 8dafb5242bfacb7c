//! The demo workspace of `dastak dev`.

use api::agents::FlowEdit;
use api::campaigns::{NewCallingListRow, NewCampaign};
use api::data_streams::NewAttachment;
use api::members::NewSignInLink;
use api::operator::{NewApiKey, NewWorkspace};
use domain::actor::Actor;
use domain::ids::{Campaign, Id};
use domain::tenant::{Role, Tenant};
use serde_json::{Map, Value, json};

use crate::app::idempotency::Once;
use crate::app::operator_log::Trace;
use crate::app::{
    App, Failure, agents, compliance_packs, flows, installation, keys, numbers, sign_in_links, workspaces,
};

/// Where the demo's ids and sealed keys are kept.
const FACT: &str = "demo_workspace";

/// File in the data folder that a shell reads: address, keys, agent, stream.
const FILE: &str = "demo.env";

const PROMPT: &str = "You are Asha, who calls customers of a furniture shop in Bengaluru about their delivery. Greet the person by name, \
say that the delivery is planned for tomorrow, and ask whether the morning or the evening suits better. Be brief and friendly.";

/// What a new developer needs.
pub struct Demo {
    live_key: String,
    test_key: String,
    agent: String,
    campaign: String,
    /// Of its data stream.
    stream: String,
    stream_token: String,
    /// Signs the demo's owner in once; a new one at each start.
    sign_in: String,
    file: std::path::PathBuf,
}

impl Demo {
    /// The welcome on standard error.
    pub fn welcome(&self, url: &str, console: bool) -> String {
        let Self { live_key, test_key, agent, campaign, stream, stream_token, sign_in, file } = self;
        // A demo that was made by an earlier version has no campaigns and streams.
        let lead = if stream.is_empty() {
            String::new()
        } else {
            format!(
                "The campaign {campaign} calls its list once it is published, and its board fills:\n\n    \
                 curl -s {url}/v1/campaigns/{campaign}/status -H \"Authorization: Bearer {live_key}\" -H \"Content-Type: application/json\" -d '{{\"status\":\"active\"}}'\n    \
                 curl -s {url}/v1/campaigns/{campaign}/board -H \"Authorization: Bearer {live_key}\"\n\n  \
                 A lead from outside comes onto its list:\n\n    \
                 curl -s {url}/ingest/streams/{stream} -H \"Authorization: Bearer {stream_token}\" -d '{{\"name\":\"Ravi\",\"phone\":\"9812345679\"}}'\n\n  "
            )
        };
        let console = match console {
            true => "once, within 15 minutes",
            false => {
                "once, within 15 minutes; this program was built without its pages: scripts/console.sh builds them"
            }
        };
        format!(
            "\n  dastak is running\n\n  Open the console: {sign_in}\n  ({console})\n\n  API        {url}/v1\n  reference  {url}/docs\n  live key   {live_key}\n  test key   {test_key}\n  agent      {agent}\n\n  \
             The agent calls you (the sandbox phone network answers; end the number in 1111 for busy, 0000 for no answer):\n\n    \
             curl -s {url}/v1/calls -H \"Authorization: Bearer {live_key}\" -H \"Content-Type: application/json\" -d '{{\"agentId\":\"{agent}\",\"toNumber\":\"+919812345678\"}}'\n\n  \
             {lead}For the commands of the README:  . {}\n  \
             For the command line:  dastak login --demo {} && dastak calls list\n",
            file.display(),
            file.display()
        )
    }

    /// Writes the file that a shell reads, mode 0600.
    fn write(&self, url: &str) -> Result<(), Failure> {
        let text = format!(
            "DASTAK_URL={url}\nLIVE_KEY={}\nTEST_KEY={}\nAGENT={}\nCAMPAIGN={}\nSTREAM={}\nSTREAM_TOKEN={}\n",
            self.live_key, self.test_key, self.agent, self.campaign, self.stream, self.stream_token
        );
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written =
            options.open(&self.file).and_then(|mut out| std::io::Write::write_all(&mut out, text.as_bytes()));
        written.map_err(|why| Failure::internal(format!("{}: {why}", self.file.display())))
    }
}

/// Creates the demo workspace at the first start, and finds it again later.
pub async fn seed(app: &App) -> Result<Demo, String> {
    let made = async {
        let facts = facts(app).await?;
        let text = |name: &str| facts[name].as_str().unwrap_or_default().to_owned();
        let demo = Demo {
            live_key: text("liveKey"),
            test_key: text("testKey"),
            agent: text("agent"),
            campaign: text("campaign"),
            stream: text("stream"),
            stream_token: text("streamToken"),
            sign_in: owner_link(app, &facts).await?,
            file: app.config.data.join(FILE),
        };
        demo.write(&app.config.public_url)?;
        Ok(demo)
    };
    made.await.map_err(|failure: Failure| {
        format!("demo workspace: {} {}", failure.message, failure.cause.unwrap_or_default())
    })
}

/// A link that signs the owner of the demo workspace in.
async fn owner_link(app: &App, facts: &Value) -> Result<String, Failure> {
    let workspace = match facts["workspace"].as_str() {
        Some(id) => id.to_owned(),
        // A demo that was made by an earlier version has kept its keys only.
        None => {
            let key = app.authenticate(facts["liveKey"].as_str().unwrap_or_default()).await?;
            let key = key.ok_or_else(|| Failure::internal("the key of the demo workspace is not valid"))?;
            key.tenant().to_string()
        }
    };
    let trace = Trace { operation: "seedDemo", request_id: "dev".into() };
    let body = NewSignInLink {
        email: "owner@demo.invalid".into(),
        name: Some("Demo Owner".into()),
        operator: Some(true),
        workspace_id: Some(workspace),
        role: Some(Role::Owner),
    };
    Ok(sign_in_links::create(app, trace, body).await?.url)
}

/// Keys and agent of the demo workspace, made now or read from where they are sealed.
async fn facts(app: &App) -> Result<Value, Failure> {
    if let Some(facts) = installation::fact(app, FACT).await? {
        return Ok(facts);
    }
    let trace = || Trace { operation: "seedDemo", request_id: "dev".into() };
    let body = NewWorkspace {
        name: "Demo".into(),
        kyb_verified: true,
        balance_minor: 1_000_000,
        currency: "INR".into(),
        cost_per_minute_minor: 600,
    };
    let made = workspaces::create(app, trace(), Once::unkeyed(), body).await?;
    let made: Value = serde_json::from_str(&made.body).map_err(|why| Failure::internal(why.to_string()))?;
    let workspace = made["data"]["id"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| Failure::internal("the demo workspace has no id"))?;
    let key = |mode: &str| NewApiKey {
        name: format!("demo {mode}"),
        mode: mode.into(),
        scopes: json!("all"),
        expires_at: None,
    };
    let live_key = keys::create(app, trace(), workspace, None, key("live")).await?.key.unwrap_or_default();
    let test_key = keys::create(app, trace(), workspace, None, key("test")).await?.key.unwrap_or_default();
    numbers::create(app, trace(), workspace, "+918045670001".into(), None).await?;
    // The sandbox's phones are not real, so the demo may call at night and as often as one likes.
    let hours = json!([{"days": [0, 1, 2, 3, 4, 5, 6], "from": "00:00", "to": "24:00"}]);
    let pack =
        json!({"name": "Demo, at any time", "hours": hours, "caps": {"perDay": 1000, "perWeek": 1000}});
    let pack = compliance_packs::create(app, trace(), workspace, pack).await?;
    let mut body = json!({"name": "Asha", "systemPrompt": PROMPT, "policyRef": pack.id});
    api::agents::new_agent().check(&mut body).map_err(|misfit| Failure::internal(misfit.field))?;
    let body = serde_json::from_value(body).map_err(|why| Failure::internal(why.to_string()))?;
    let agent = agents::create(app, workspace, Actor::Operator, body).await?.summary.id;
    // The offline answerer cannot hold a free conversation: the demo asks one question, which the offline recogniser
    // understands.
    let field = json!({"key": "delivery", "label": "Delivery tomorrow", "type": "boolean"});
    let graph = json!({"startNodeId": "ask", "variables": [], "nodes": [
        {"id": "ask", "type": "collect", "text": "Hello, this is Asha. May we deliver tomorrow?", "field": field, "attempts": 2,
         "next": "yes", "onFail": "sorry"},
        {"id": "yes", "type": "end", "text": "Wonderful, thank you!", "outcome": "confirmed"},
        {"id": "sorry", "type": "end", "text": "We will call you again. Goodbye.", "outcome": "callback_requested"},
    ]});
    flows::save(app, workspace, agent, Actor::Operator, FlowEdit { graph, base_version: 1 }).await?;
    flows::publish(app, workspace, agent, Actor::Operator, None).await?;
    agents::set_status(app, workspace, agent, domain::agent::Status::Active).await?;
    let campaign = campaign(app, workspace, &agent.to_string()).await?;
    let body = json!({"name": "Website leads", "kind": "webhook"});
    let body = serde_json::from_value(body).map_err(|why| Failure::internal(why.to_string()))?;
    let stream = streams::stream::create(app, workspace, body).await?;
    let how = NewAttachment { variable_mapping: Map::new(), backfill_days: 0, transliterate: false };
    streams::attachments::attach(app, workspace, (campaign, stream.stream.id), how).await?;
    let facts = json!({
        "workspace": workspace, "liveKey": live_key, "testKey": test_key, "agent": agent, "campaign": campaign,
        "stream": stream.stream.id, "streamToken": stream.token,
    });
    installation::keep_fact(app, FACT, &facts).await?;
    Ok(facts)
}

/// People of the demo's campaign: two who answer, one who does not, one whose line is busy, a repeat and no number.
const PEOPLE: [(&str, &str); 6] = [
    ("98123 45678", "Asha Rao"),
    ("98123 45679", "रवि कुमार"),
    ("98123 40000", "Meera Iyer"),
    ("98123 41111", "Arjun Das"),
    ("+91-9812345678", "Asha Rao"),
    ("not known", "Nikhil Shah"),
];

/// A draft with a short list; its id.
async fn campaign(app: &App, workspace: Tenant, agent: &str) -> Result<Id<Campaign>, Failure> {
    let settings = json!({"retryCount": 1, "cooldownMinutes": 1});
    let mut body = json!({"name": "Delivery tomorrow", "workflowType": "onboarding", "agentId": agent, "settings": settings});
    api::schema::request::<NewCampaign>()
        .check(&mut body)
        .map_err(|misfit| Failure::internal(misfit.field))?;
    let body = serde_json::from_value(body).map_err(|why| Failure::internal(why.to_string()))?;
    let id = campaigns::campaign::create(app, workspace, body).await?.id;
    let row = |(phone, name): (&str, &str)| NewCallingListRow {
        phone: phone.into(),
        name: Some(name.into()),
        variables: None,
    };
    campaigns::list::replace(app, workspace, id, PEOPLE.map(row).into()).await?;
    Ok(id)
}
