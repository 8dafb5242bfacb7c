//! Two workspaces on one service: one of each noun in the first, and a second one that asks for all of it by
//! the right ids. A statement that has lost its tenant answers with something else than 404, or shows one of
//! the marks.

use api::operations::{self, Access, Operation};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::shows::Shows;
use crate::worlds::{Desk, Things, keyed};

/// Ids of everything in the first workspace that a path can name.
pub struct Ids {
    pub agent: String,
    pub number: String,
    pub key: String,
    pub tool: String,
    pub endpoint: String,
    pub campaign: String,
    pub run: String,
    pub board: String,
    pub card: String,
    pub integration: String,
    pub stream: String,
    pub chat: String,
    /// A saved answer.
    pub answer: String,
    pub base: String,
    pub template: String,
    pub conversation: String,
    pub channel_number: String,
    pub message: String,
    /// An evaluation of a call.
    pub evaluation: String,
}

async fn first(desk: &Desk, path: &str) -> String {
    let listed = desk.get(path).await;
    listed["data"][0]["id"].as_str().unwrap_or_else(|| panic!("{path} is empty")).to_owned()
}

/// The number on the messaging channel.
async fn channel_number(desk: &Desk) -> String {
    let listed = desk.operator("GET", "/chatapp/numbers", Value::Null).await.expect(200);
    listed["data"][0]["id"].as_str().expect("a number").to_owned()
}

/// A run of another campaign, which is paused.
async fn a_run(desk: &Desk) -> String {
    let body = json!({"name": "OfTheFirst, too", "agentId": first(desk, "/v1/agents").await});
    let campaign = desk.post("/v1/campaigns", &body).await.id(201);
    desk.set_status(&campaign, "active").await.expect(200);
    let run = desk.run(&campaign).await.data(202);
    desk.set_status(&campaign, "paused").await.expect(200);
    run["runId"].as_str().expect("a run").to_owned()
}

impl Ids {
    pub async fn of(desk: &Desk) -> Self {
        let tool =
            json!({"type": "webhook", "name": "look_up", "config": {"url": "https://example.com/tool"}});
        let tool = desk.operator("POST", "/tools", tool).await.id(201);
        let keys = desk.operator("GET", "/keys", Value::Null).await.data(200);
        let account = json!({"provider": "hubspot", "credentials": {"accessToken": "x"}});
        let integration = desk.connect(&account).await.id(201);
        Self {
            run: a_run(desk).await,
            integration,
            agent: first(desk, "/v1/agents").await,
            number: first(desk, "/v1/numbers").await,
            key: keys[0]["id"].as_str().expect("a key").to_owned(),
            tool,
            endpoint: desk.endpoint.clone(),
            campaign: desk.campaign.clone(),
            board: desk.board.clone(),
            card: desk.card.clone(),
            stream: desk.stream.clone(),
            chat: desk.chat.clone(),
            answer: crate::inbox::an_answer(desk, "OfTheFirst").await,
            base: desk.base.clone(),
            template: desk.template.clone(),
            conversation: desk.conversation.clone(),
            channel_number: channel_number(desk).await,
            message: desk.message.clone(),
            evaluation: an_evaluation(desk).await,
        }
    }
}

/// An evaluation of a call of the first workspace.
async fn an_evaluation(desk: &Desk) -> String {
    let criterion = json!({"key": "a", "name": "OfTheFirst", "kind": "pass_fail", "prompt": "?"});
    let (path, body) =
        (format!("/v1/agents/{}/evaluation", desk.agent), json!({"criteria": [criterion], "enabled": false}));
    desk.put(&path, &body).await.expect(200);
    let (tenant, agent) = (desk.tenant(), desk.agent.parse().unwrap());
    let context = desk.world.app().context();
    let id = context.ids.make();
    let call = desk.live.call.clone();
    desk.store(move |tx| {
        let row = store::evaluations::RunRow {
            id,
            agent,
            kind: domain::evaluation::Graded::Call,
            conversation: call.clone(),
            began_at: context.now,
            run_no: None,
            started_by: domain::evaluation::Trigger::Manual,
            sweep: None,
            criteria_version: 1,
            asked_by: None,
            status: domain::evaluation::RunStatus::Skipped,
            cause: Some(domain::evaluation::Cause::NothingToRead),
            model: None,
            passed: 0,
            failed: 0,
            not_applicable: 0,
            results: None,
            charged: 0,
            attempts: 1,
            next_at: None,
            leased: false,
            created_at: context.now,
            evaluated_at: None,
        };
        store::evaluations::insert(&mut tx.of(tenant), &row)
    })
    .await;
    id.to_string()
}

/// A body that fits, so that only the id can be what is refused.
pub fn body(operation: &Operation, things: &Things) -> Value {
    match operation.id {
        "setAgentStatus" => json!({"status": "draft"}),
        "saveFlow" => json!({"graph": {"nodes": []}, "baseVersion": 1}),
        "restoreFlowVersion" => json!({"baseVersion": 1}),
        "sendTryMessage" => json!({"text": "Hello"}),
        "goBackInTry" => json!({"turn": 0}),
        "setInboundAgent" => json!({"agentId": null}),
        "addKnowledgeText" => json!({"text": "Open from nine."}),
        "addKnowledgeLink" => json!({"url": "http://127.0.0.1:29098/"}),
        "setCampaignStatus" => json!({"status": "archived"}),
        "setCampaignContacts" => json!({"contacts": [{"phone": "9812345678"}]}),
        "addStagedRows" => json!({"piece": 1, "contacts": [{"phone": "9812345678"}]}),
        "applyStagedList" => json!({"expectedRows": 1}),
        "moveCampaignCard" | "moveAgentCard" => json!({"columnId": "col_01k9v5x2m8e6fs4v0q3n7w1y34"}),
        "cancelNudges" => json!({"ids": [things.nudge]}),
        "sendChatMessage" => json!({"text": "Hello"}),
        "updateSavedAnswer" => json!({"shortcut": "x", "text": "Hello"}),
        "assignInboxChat" => json!({"userId": "usr_01k9v5x2m8e6fs4v0q3n7w1y39"}),
        "assignConversation" => json!({"email": "a@example.com"}),
        "setAgentEvaluation" => json!({"criteria": [], "enabled": false}),
        "tryEvaluation" => {
            let criterion = json!({"key": "a", "name": "A", "kind": "pass_fail", "prompt": "?"});
            json!({"criteria": [criterion], "callIds": [things.call]})
        }
        "replayFailedDeliveries" => json!({"since": "2020-01-01T00:00:00Z"}),
        _ if operation.body.is_some() => json!({}),
        _ => Value::Null,
    }
}

pub fn path(operation: &Operation, ids: &Ids, things: &Things) -> String {
    let one = match operation.path.trim_start_matches("/v1/").split('/').next().unwrap_or_default() {
        "agents" => &ids.agent,
        "calls" => &things.call,
        "scheduled-calls" => &things.scheduled,
        "nudges" => &things.nudge,
        "contacts" => &things.contact,
        "numbers" => &ids.number,
        "audit" => "audit-1",
        "webhooks" => &ids.endpoint,
        "campaigns" => &ids.campaign,
        "data-streams" => &ids.stream,
        "chat" | "chats" | "inbox" => &ids.chat,
        "saved-answers" => &ids.answer,
        "evaluations" => &ids.evaluation,
        "knowledge-bases" => &ids.base,
        "campaign-runs" => &ids.run,
        "chatapp" if operation.path.contains("/templates/") => &ids.template,
        "chatapp" if operation.path.contains("/conversations/") => &ids.conversation,
        "chatapp" if operation.path.contains("/messages/") => &ids.message,
        noun => panic!("{noun} is new: make one in `Desk` and name its id here"),
    };
    let path = operation
        .path
        .replace("{deliveryId}", &things.delivery)
        .replace("{cardId}", &ids.card)
        .replace("{list}", "2")
        .replace("{row}", "1")
        .replace("{streamId}", &ids.stream)
        .replace("{number}", "1")
        .replace("{id}", one);
    match operation.id {
        "searchKnowledgeBase" => format!("{path}?q=OfTheFirst"),
        "removeKnowledgeDocument" => format!("{path}?source=OfTheFirst&type=text"),
        _ => path,
    }
}

async fn ask(desk: &Desk, operation: &Operation, path: &str, key: &str, body: &Value) -> crate::app::Answer {
    if operation.upload {
        let (kind, body) = crate::documents::an_upload();
        return desk.send(operation.method.as_str(), path, Some(key), &[kind], body.into()).await;
    }
    let bytes = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    desk.send(operation.method.as_str(), path, Some(key), &[("idempotency-key", "x")], bytes).await
}

#[tokio::test]
async fn nothing_of_a_neighbour_is_there() {
    let desk = Desk::open().await;
    let (ids, neighbour) = (Ids::of(&desk).await, desk.neighbour().await);
    for operation in keyed() {
        for (things, key) in [(&desk.live, neighbour.live()), (&desk.test, neighbour.test())] {
            if key == neighbour.test() && operation.test_keys == operations::TestKeys::Refused {
                continue;
            }
            if operation.path.contains('{') {
                let path = path(operation, &ids, things);
                ask(&desk, operation, &path, key, &body(operation, things)).await.not_found();
            } else if operation.method == operations::Method::GET {
                let path = match operation.id {
                    "listEvents" => "/v1/events?after=start&limit=100".to_owned(),
                    // An agent is named in the query.
                    "getEvaluationSummary" | "getEvaluationAgreement" => {
                        let path = format!("{}?agentId={}&kind=chat", operation.path, ids.agent);
                        ask(&desk, operation, &path, key, &Value::Null).await.refused(404, "agent_not_found");
                        continue;
                    }
                    "search" => format!("/v1/search?q={}", things.contact),
                    _ => operation.path.to_owned(),
                };
                let answer = ask(&desk, operation, &path, key, &Value::Null).await;
                let own = [
                    &ids.agent,
                    &ids.number,
                    &ids.key,
                    &ids.tool,
                    &ids.endpoint,
                    &ids.campaign,
                    &ids.board,
                    &ids.card,
                    &ids.stream,
                    &ids.base,
                    &ids.template,
                    &ids.conversation,
                    &desk.workspace.id,
                ];
                let told = things.marks.iter().chain(own).find(|mark| answer.text.contains(*mark));
                assert_eq!(
                    (answer.status, told),
                    (200, None),
                    "{} shows a neighbour's: {}",
                    operation.id,
                    answer.text
                );
            }
        }
    }
    // What is asked for in a body.
    let nudges = ask(
        &desk,
        row("cancelNudges"),
        "/v1/nudges/cancel",
        neighbour.live(),
        &body(row("cancelNudges"), &desk.live),
    )
    .await;
    assert_eq!(nudges.expect(200)["data"]["cancelled"], 0);
    for (path, body) in [
        ("/v1/calls", json!({"agentId": ids.agent, "toNumber": "+919812345678"})),
        ("/v1/nudges", json!({"agentId": ids.agent, "toNumber": "+919812345678"})),
        (
            "/v1/scheduled-calls",
            json!({"agentId": ids.agent, "toNumber": "+919812345678", "scheduledAt": desk.now().await}),
        ),
    ] {
        desk.app.post_with(neighbour.live(), path, &[("idempotency-key", "y")], &body).await.not_found();
    }
    untouched(&desk, &ids).await;
}

/// The operator names a workspace in the path: ids of another one are not there.
#[tokio::test]
async fn the_operator_finds_things_in_their_own_workspace_only() {
    let desk = Desk::open().await;
    let (ids, neighbour) = (Ids::of(&desk).await, desk.neighbour().await);
    let document = crate::documents::handed_in(&desk).await;
    let one = |operation: &Operation| match operation.id {
        "lockAgent" | "unlockAgent" => Some(&ids.agent),
        "getBusinessHours" | "setBusinessHours" | "removeBusinessHours" => Some(&ids.agent),
        "getChat" | "takeChatOver" | "writeChatMessage" | "handChatBack" | "endChat" => Some(&ids.chat),
        "getDocument" | "getDocumentFile" | "reviewDocument" => Some(&document),
        "deleteTool" => Some(&ids.tool),
        "revokeKey" | "rotateKey" => Some(&ids.key),
        "releaseNumber" => Some(&ids.number),
        "releaseChannelNumber" => Some(&ids.channel_number),
        "liftOptOut" => Some(&desk.live.contact),
        "getBoard" | "updateBoard" | "getBoardCard" => Some(&ids.board),
        "updateIntegration" | "deleteIntegration" => Some(&ids.integration),
        "startListImport" | "addListImportRows" | "finishListImport" | "cancelListImport" => {
            Some(&ids.campaign)
        }
        _ => None,
    };
    let mut asked = 0;
    for operation in operations::all().filter(|operation| operation.access == Access::Operator) {
        let Some(id) = one(operation) else { continue };
        let path = operation
            .path
            .replace("{ws}", &neighbour.workspace.id)
            .replace("{id}", id)
            .replace("{key}", id)
            .replace("{import}", "2");
        let path = path.replace("{cardId}", &ids.card);
        let body = match operation.id {
            "reviewDocument" => json!({"status": "rejected"}),
            "takeChatOver" => json!({"userId": "usr_01k9v5x2m8e6fs4v0q3n7w1y39"}),
            "writeChatMessage" => json!({"text": "Hello"}),
            "setBusinessHours" => json!({"timezone": "Asia/Kolkata", "hours": []}),
            "updateBoard" => json!({"columns": [{"name": "New", "key": "new", "type": "new"}]}),
            "updateIntegration" => json!({"push": null}),
            "rotateKey" => json!({"graceHours": 1}),
            "addListImportRows" => json!({"after": 0, "contacts": [{"phone": "9812345678"}]}),
            _ => Value::Null,
        };
        ask(&desk, operation, &path, &desk.app.operator_token.to_string(), &body).await.not_found();
        asked += 1;
    }
    assert_eq!(asked, 28);
    untouched(&desk, &ids).await;
}

fn row(id: &str) -> &'static Operation {
    operations::all().find(|operation| operation.id == id).expect("an operation")
}

/// Everything of the first workspace is as it was made.
async fn untouched(desk: &Desk, ids: &Ids) {
    let get = async |path: String| desk.data(&path).await;
    assert_eq!(get(format!("/v1/agents/{}", ids.agent)).await["status"], "active");
    assert_eq!(get(format!("/v1/scheduled-calls/{}", desk.live.scheduled)).await["status"], "scheduled");
    assert_eq!(get(format!("/v1/nudges/{}", desk.live.nudge)).await["status"], "scheduled");
    assert_eq!(get(format!("/v1/webhooks/{}", ids.endpoint)).await["status"], "active");
    assert_eq!(get(format!("/v1/contacts/{}", desk.live.contact)).await["id"], desk.live.contact.as_str());
    assert_eq!(get("/v1/numbers".into()).await[0]["status"], "active");
    assert_eq!(get(format!("/v1/chat/sessions/{}", ids.chat)).await["state"], "ai");
    let stream = get(format!("/v1/data-streams/{}", ids.stream)).await;
    assert_eq!((&stream["name"], &stream["campaigns"]), (&json!("OfTheFirst"), &json!([])));
    let template = get(format!("/v1/chatapp/templates/{}", ids.template)).await;
    assert_eq!((&template["status"], &template["name"]), (&json!("APPROVED"), &json!("of_the_first")));
    assert_eq!(get("/v1/chatapp/numbers".into()).await[0]["isDefault"], true);
    let base = get(format!("/v1/knowledge-bases/{}", ids.base)).await;
    base.shows(json!({"name": "OfTheFirst", "documents[0].source": "OfTheFirst"}));
    let campaign = get(format!("/v1/campaigns/{}", ids.campaign)).await;
    let board = get(format!("/v1/campaigns/{}/board", ids.campaign)).await;
    assert_eq!((&board["boardId"], &board["columns"][0]["count"]), (&json!(ids.board), &json!(1)));
    assert_eq!((&campaign["status"], &campaign["callingList"]["total"]), (&json!("draft"), &json!(1)));
}
