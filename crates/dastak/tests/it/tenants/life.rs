//! What the workspace does, and what it is answered.

use api::operations::{Method, TestKeys};
use bytes::Bytes;
use domain::time::{HOUR, Timestamp};
use serde_json::{Value, json};

use super::plain::{Names, unsigned, without_secrets};
use super::{LISTED, Neighbour, OPTED_OUT, PHONE, Prepared, TRANSFER};
use crate::app::TestApp;
use crate::neighbours;
use crate::worlds::keyed;

/// The answers to a workspace or the rows of its neighbour, line by line.
pub(super) type Story = Vec<String>;

/// What the workspace does and is answered, line by line.
pub(super) struct Life<'a> {
    pub(super) app: &'a TestApp,
    pub(super) names: Names,
    pub(super) told: Story,
    /// What it should be; the first line that differs ends it.
    pub(super) expected: Option<&'a Story>,
    /// Seconds that have passed.
    pub(super) passed: i64,
}

/// An answer or a row is not what it should be.
pub(super) struct Differs(pub(super) String);

impl Life<'_> {
    fn tell(&mut self, line: String) -> Result<(), Differs> {
        if let Some(expected) = self.expected {
            let should = expected.get(self.told.len()).map_or("nothing more", String::as_str);
            if should != line {
                return Err(Differs(format!("is    {line}\nnot   {should}")));
            }
        }
        self.told.push(line);
        Ok(())
    }

    pub(super) async fn advance(&mut self, seconds: i64) {
        self.passed += seconds;
        self.app.advance(seconds).await;
    }

    async fn ask(&mut self, what: &str, path: &str, key: &str, body: Value) -> Result<Value, Differs> {
        let (method, name) = what.split_once(' ').expect("a method and a name");
        let bytes = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let path = path.replace(' ', "%20");
        let answer = self.app.send(method, &path, Some(key), &[("idempotency-key", "one")], bytes).await;
        let mut json = answer.json.clone();
        without_secrets(&mut json);
        let text = if json.is_null() { unsigned(&answer.text) } else { json.to_string() };
        let left = answer.header("x-ratelimit-remaining").unwrap_or("-");
        let line = format!("{name}: {} {left} {}", answer.status, self.names.plain(&text));
        self.tell(line)?;
        Ok(answer.json)
    }

    async fn operator(
        &mut self,
        what: &str,
        workspace: &str,
        path: &str,
        body: Value,
    ) -> Result<Value, Differs> {
        let token = self.app.operator_token.clone();
        self.ask(what, &format!("/operator/v1/workspaces/{workspace}{path}"), &token, body).await
    }
}

fn id(answer: &Value) -> String {
    let id = answer["data"]["id"].as_str().or(answer["interactionId"].as_str());
    id.unwrap_or("none_00000000000000000000000000").to_owned()
}

/// Asks for everything that the neighbour has.
pub(super) async fn pry(life: &mut Life<'_>, own: &Prepared, neighbour: &Neighbour) -> Result<(), Differs> {
    for operation in keyed() {
        for (things, key) in
            [(&neighbour.live, own.workspace.live.as_str()), (&neighbour.test, own.workspace.test.as_str())]
        {
            if !operation.path.contains('{')
                || (key == own.workspace.test.as_str() && operation.test_keys == TestKeys::Refused)
            {
                continue;
            }
            let path = neighbours::path(operation, &neighbour.ids, things);
            let what = format!("{} {}", operation.method.as_str(), operation.id);
            let body = match operation.id {
                "updateAgent" => json!({"name": "Mine now"}),
                "updateContact" => json!({"name": "Mine now"}),
                "updateWebhook" => json!({"description": "mine now"}),
                "saveFlow" => json!({"graph": {"startNodeId": "z", "variables": [],
                    "nodes": [{"id": "z", "type": "end", "text": "Bye.", "outcome": "mine"}]}, "baseVersion": 1}),
                _ => neighbours::body(operation, things),
            };
            life.ask(&what, &path, key, body).await?;
        }
    }
    let (ids, workspace) = (&neighbour.ids, &own.workspace);
    let agent = json!({"agentId": ids.agent, "toNumber": PHONE});
    for path in ["/v1/calls", "/v1/nudges", "/v1/nudges/preflight"] {
        life.ask("POST a call by the neighbour's agent", path, &workspace.live, agent.clone()).await?;
    }
    let body = json!({"ids": [neighbour.live.nudge]});
    life.ask("POST cancel the neighbour's nudge", "/v1/nudges/cancel", &workspace.live, body).await?;
    let body = json!({"name": "Mine", "toolIds": [ids.tool]});
    life.ask("POST an agent with the neighbour's tool", "/v1/agents", &workspace.live, body).await?;
    let body = json!({"url": "http://127.0.0.1:29099/mine", "agentIds": [ids.agent]});
    life.ask("POST a webhook for the neighbour's agent", "/v1/webhooks", &workspace.live, body).await?;
    for (what, path) in [
        ("POST lockAgent", format!("/agents/{}/lock", ids.agent)),
        ("POST unlockAgent", format!("/agents/{}/unlock", ids.agent)),
        ("DELETE deleteTool", format!("/tools/{}", ids.tool)),
        ("DELETE revokeKey", format!("/keys/{}", ids.key)),
        ("DELETE releaseNumber", format!("/numbers/{}", ids.number)),
        ("POST liftOptOut", format!("/contacts/{}/lift-opt-out", neighbour.live.contact)),
        ("DELETE a number of the list", format!("/dnc/{LISTED}")),
        ("DELETE a transfer number", format!("/transfer-numbers/{TRANSFER}")),
        ("DELETE a member", format!("/members/{}", neighbour.member)),
    ] {
        life.operator(what, &workspace.id, &path, Value::Null).await?;
    }
    Ok(())
}

/// Everything that can be listed.
pub(super) async fn look(life: &mut Life<'_>, own: &Prepared, neighbour: &Neighbour) -> Result<(), Differs> {
    let (live, test) = (own.workspace.live.as_str(), own.workspace.test.as_str());
    for operation in keyed().filter(|row| row.method == Method::GET && !row.path.contains('{')) {
        for key in [live, test] {
            let path = match operation.id {
                "listEvents" => "/v1/events?after=start&limit=100",
                _ => operation.path,
            };
            life.ask(&format!("GET {}", operation.id), path, key, Value::Null).await?;
        }
    }
    let of_agent = format!("agentId={}", neighbour.ids.agent);
    for (what, path) in [
        ("GET calls of an agent", format!("/v1/calls?{of_agent}")),
        ("GET calls of a contact", format!("/v1/calls?contactId={}", neighbour.live.contact)),
        ("GET calls of a state", "/v1/calls?state=ended&direction=outbound".to_owned()),
        ("GET nudges of an agent", format!("/v1/nudges?{of_agent}")),
        ("GET nudges of a number", format!("/v1/nudges?toNumber={}", "%2B919812301233")),
        ("GET nudges of a reference", "/v1/nudges?externalRef=order-1".to_owned()),
        ("GET analytics of an agent", format!("/v1/analytics/calls?{of_agent}")),
        ("GET scheduled calls", "/v1/scheduled-calls?status=scheduled".to_owned()),
        ("GET a listed number", format!("/v1/dnc?phone={}", LISTED.replace('+', "%2B"))),
        ("GET events after a foreign one", format!("/v1/events?after={}", neighbour.live.marks[4])),
        ("GET the log", "/v1/audit/export?format=jsonl".to_owned()),
        ("GET a chain", "/v1/audit/head?chain=audit".to_owned()),
    ] {
        life.ask(what, &path, live, Value::Null).await?;
    }
    for (what, path) in [
        ("GET listKeys", "/keys"),
        ("GET listTools", "/tools"),
        ("GET listMembers", "/members"),
        ("GET packs", "/compliance-packs"),
        ("GET numbers", "/numbers"),
        ("GET transfer numbers", "/transfer-numbers"),
        ("GET entries", "/wallet/entries"),
        ("GET the workspace", ""),
    ] {
        life.operator(what, &own.workspace.id, path, Value::Null).await?;
    }
    Ok(())
}

/// Makes and changes one of each noun, with the same numbers and references as the neighbour.
pub(super) async fn live(life: &mut Life<'_>, own: &Prepared) -> Result<(), Differs> {
    let (live, test, agent) = (own.workspace.live.as_str(), own.workspace.test.as_str(), &own.agent);
    let later = Timestamp::parse(&own.start).unwrap().plus(HOUR).to_string();
    // People.
    let person = |name: &str| json!({"externalRef": "customer-1", "phone": "+919812301236", "name": name});
    let contact = id(&life.ask("POST upsertContact", "/v1/contacts", live, person("Mine")).await?);
    let people = json!({"contacts": [person("Mine again"), {"externalRef": "customer-2", "phone": PHONE}]});
    life.ask("POST upsertContacts", "/v1/contacts/batch", live, people).await?;
    life.ask("PUT updateContact", &format!("/v1/contacts/{contact}"), live, json!({"company": "Mine"}))
        .await?;
    life.ask("GET getContact", &format!("/v1/contacts/{contact}"), live, Value::Null).await?;
    // Agents and flows.
    let made = json!({"name": "Second", "systemPrompt": "Say something else."});
    let second = id(&life.ask("POST createAgent", "/v1/agents", live, made).await?);
    let path = format!("/v1/agents/{second}");
    life.ask("PUT updateAgent", &path, live, json!({"name": "Third"})).await?;
    life.ask("GET getAgent", &path, live, Value::Null).await?;
    life.ask("GET getFlow", &format!("{path}/flow"), live, Value::Null).await?;
    let graph = json!({"startNodeId": "z", "variables": [], "nodes": [{"id": "z", "type": "end", "text": "Bye.", "outcome": "done"}]});
    let flow = life
        .ask("PUT saveFlow", &format!("{path}/flow"), live, json!({"graph": graph, "baseVersion": 1}))
        .await?;
    let version = flow["data"]["draftVersion"].clone();
    life.ask(
        "PUT saveFlow again",
        &format!("{path}/flow"),
        live,
        json!({"graph": graph, "baseVersion": version}),
    )
    .await?;
    life.ask("POST publishFlow", &format!("{path}/flow/publish"), live, Value::Null).await?;
    life.ask("POST setAgentStatus", &format!("{path}/status"), live, json!({"status": "active"})).await?;
    // Calls, to numbers that the neighbour has called, opted out and listed.
    for key in [live, test] {
        for number in [PHONE, OPTED_OUT, LISTED] {
            let body = json!({"agentId": agent, "toNumber": number});
            let path = "/v1/calls";
            let placed = life.app.post(key, path, &body).await;
            let call = id(&placed.json);
            let line = format!("placeCall: {} {}", placed.status, life.names.plain(&placed.text));
            life.tell(line)?;
            life.advance(1).await;
            life.ask("GET getCall", &format!("/v1/calls/{call}"), key, Value::Null).await?;
            life.advance(4).await;
            life.ask("POST hangUpCall", &format!("/v1/calls/{call}/hangup"), key, Value::Null).await?;
            life.advance(12).await;
            life.ask("GET getCallTimeline", &format!("/v1/calls/{call}/timeline"), key, Value::Null).await?;
            life.ask("GET getCall", &format!("/v1/calls/{call}"), key, Value::Null).await?;
        }
    }
    // What is to come. The neighbour has used the same keys of idempotency.
    for key in [live, test] {
        let body = json!({"agentId": agent, "toNumber": "+919812301233", "externalRef": "order-1", "scheduledAt": later});
        let preflight = json!({"agentId": agent, "toNumber": "+919812301233"});
        life.ask("POST preflightNudge", "/v1/nudges/preflight", key, preflight).await?;
        let scheduled = id(&life.ask("POST scheduleCall", "/v1/scheduled-calls", key, body.clone()).await?);
        let nudge = id(&life.ask("POST createNudge", "/v1/nudges", key, body.clone()).await?);
        let mut other = body.clone();
        other["toNumber"] = json!("+919812301230");
        let made = life.app.post_with(key, "/v1/nudges", &[("idempotency-key", "two")], &other).await;
        let second = id(&made.json);
        let path = format!("/v1/scheduled-calls/{scheduled}");
        life.ask("GET getScheduledCall", &path, key, Value::Null).await?;
        life.ask("GET getScheduledCallTimeline", &format!("{path}/timeline"), key, Value::Null).await?;
        life.ask("DELETE cancelScheduledCall", &path, key, Value::Null).await?;
        let path = format!("/v1/nudges/{nudge}");
        life.ask("GET getNudge", &path, key, Value::Null).await?;
        life.ask("GET getNudgeTimeline", &format!("{path}/timeline"), key, Value::Null).await?;
        life.ask("POST cancelNudge", &format!("{path}/cancel"), key, Value::Null).await?;
        life.ask("POST cancelNudges", "/v1/nudges/cancel", key, json!({"ids": [second]})).await?;
        life.ask("POST cancelNudges all", "/v1/nudges/cancel", key, json!({"all": true})).await?;
        // One that is due now.
        let body = json!({"agentId": agent, "toNumber": "+919812301235"});
        let made = life.app.post_with(key, "/v1/nudges", &[("idempotency-key", "three")], &body).await;
        life.advance(20).await;
        life.ask("GET getNudge", &format!("/v1/nudges/{}", id(&made.json)), key, Value::Null).await?;
    }
    // Webhooks and events.
    let hook = json!({"url": "http://127.0.0.1:29099/own", "description": "own"});
    let hook = id(&life.ask("POST createWebhook", "/v1/webhooks", live, hook).await?);
    let path = format!("/v1/webhooks/{hook}");
    life.ask("PATCH updateWebhook", &path, live, json!({"description": "changed"})).await?;
    life.ask("POST rotateWebhookSecret", &format!("{path}/rotate-secret"), live, Value::Null).await?;
    life.ask("POST testWebhook", &format!("{path}/test"), live, json!({})).await?;
    life.ask("POST triggerEvent", "/v1/events/trigger", live, json!({"type": "call.failed"})).await?;
    life.ask("POST triggerEvent", "/v1/events/trigger", test, json!({"type": "call.failed"})).await?;
    life.advance(0).await;
    // Deliveries.
    let path = format!("/v1/webhooks/{hook}/deliveries");
    let listed =
        life.ask("GET listWebhookDeliveries", &format!("{path}?limit=100"), live, Value::Null).await?;
    let delivery = listed["data"][0]["id"].as_str().unwrap_or_default().to_owned();
    life.ask("GET getWebhookDelivery", &format!("{path}/{delivery}"), live, Value::Null).await?;
    life.ask("POST replayWebhookDelivery", &format!("{path}/{delivery}/replay"), live, Value::Null).await?;
    // The list of those who are not to be called, and erasure.
    life.ask("POST addDoNotCall", "/v1/dnc", live, json!({"phones": [LISTED, PHONE], "reason": "mine"}))
        .await?;
    life.ask("GET listDoNotCall", "/v1/dnc", live, Value::Null).await?;
    life.operator("DELETE a number of the list", &own.workspace.id, &format!("/dnc/{LISTED}"), Value::Null)
        .await?;
    life.ask("POST eraseContact", &format!("/v1/contacts/{contact}/erase"), live, Value::Null).await?;
    life.advance(1).await;
    // Account.
    let path = &own.workspace.id;
    let member = json!({"email": "asha@example.com", "name": "Asha", "role": "admin"});
    life.operator("POST createMember", path, "/members", member).await?;
    life.operator("POST add a transfer number", path, "/transfer-numbers", json!({"number": TRANSFER}))
        .await?;
    let entry = json!({"kind": "top_up", "amountMinor": 500, "reference": "test"});
    life.operator("POST an entry", path, "/wallet/entries", entry).await?;
    let numbers = life.ask("GET listNumbers", "/v1/numbers", live, Value::Null).await?;
    let number = numbers["data"][0]["id"].as_str().unwrap_or_default().to_owned();
    let body = json!({"agentId": null});
    life.ask("PUT setInboundAgent", &format!("/v1/numbers/{number}/inbound-agent"), live, body).await?;
    life.ask("DELETE deleteAgent", &format!("/v1/agents/{second}"), live, Value::Null).await?;
    life.ask("DELETE deleteWebhook", &format!("/v1/webhooks/{hook}"), live, Value::Null).await?;
    life.operator("DELETE releaseNumber", path, &format!("/numbers/{number}"), Value::Null).await?;
    Ok(())
}

/// The first line in which two stories differ.
pub(super) fn differ(should: &Story, is: &Story) -> Result<(), Differs> {
    if should == is {
        return Ok(());
    }
    let missing = should.iter().find(|line| !is.contains(line)).map_or("nothing", String::as_str);
    let more = is.iter().find(|line| !should.contains(line)).map_or("nothing", String::as_str);
    Err(Differs(format!("is    {more}\nnot   {missing}")))
}
