//! Each world sees its own (docs/contract/sandbox.md#test-keys), walked over the whole table of operations:
//! every row that takes a key says what it shows.

use api::operations::{self, Access, Operation, TestKeys};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::app::Answer;
use crate::boards;
use crate::chats;
use crate::shows::Shows;
use crate::world::{self, World, leads_to};

/// What a key may see and do of what keys of the other world made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// Nothing: one thing of the other world is not found, a list is without it.
    Own,
    /// It makes something in the world of its key.
    Makes,
    /// Configuration and account, the same for both worlds. Of calls it names ids at most (the ledger), which
    /// open nothing in the other world.
    Shared,
    /// People: a test key reads those of the live world, too (docs/contract/sandbox.md#test-keys).
    People,
}

/// A new row of the table must take a stand here.
fn stand(operation: &Operation) -> Stand {
    match operation.id {
        "placeCall" | "scheduleCall" | "createNudge" | "triggerEvent" => Stand::Makes,
        "listCalls" | "listLiveCalls" | "countCalls" | "getCall" | "hangUpCall" | "getCallTimeline"
        | "getCallTurns" | "getCallPeaks" => Stand::Own,
        // People of both worlds, and of everything else its own.
        "search" => Stand::People,
        "listScheduledCalls" | "getScheduledCall" | "cancelScheduledCall" | "getScheduledCallTimeline" => {
            Stand::Own
        }
        "listNudges" | "getNudge" | "cancelNudge" | "cancelNudges" | "getNudgeTimeline" => Stand::Own,
        // Test keys open none.
        "openChatSession" => Stand::Makes,
        "sendChatMessage" | "getChatSession" | "endChatSession" | "uploadDocument" => Stand::Own,
        // Chats are of the live world.
        "listInbox" | "countInbox" | "getInboxChat" | "assignInboxChat" => Stand::Own,
        // How a team works is the same for both.
        "listInboxTeam" | "getInboxSettings" | "listSavedAnswers" | "createSavedAnswer"
        | "updateSavedAnswer" | "deleteSavedAnswer" => Stand::Shared,
        "getCallAnalytics" | "getBlockedStats" => Stand::Own,
        "listEvents" | "listWebhookDeliveries" | "getWebhookDelivery" | "replayWebhookDelivery" => Stand::Own,
        // Only live keys replay, and those of their own world.
        "replayFailedDeliveries" => Stand::Shared,
        // Stores nothing and shows the gates of a number that the caller names.
        "preflightNudge" | "preflightNudges" => Stand::Shared,
        // Each tool is an operation of its own, of the world of its key (`mcp.rs`).
        "mcp" => Stand::Shared,
        "getAccount" | "getWallet" | "listWalletTransactions" => Stand::Shared,
        "listAgents" | "createAgent" | "getAgent" | "updateAgent" | "deleteAgent" | "setAgentStatus" => {
            Stand::Shared
        }
        "getFlow" | "saveFlow" | "publishFlow" | "listVoices" | "listTools" => Stand::Shared,
        "listFlowVersions" | "getFlowVersion" | "compareFlowVersions" | "restoreFlowVersion" => Stand::Shared,
        // An author's runs and links belong to the agent; test keys make none.
        "tryFlow" | "getFlowTry" | "sendTryMessage" | "goBackInTry" | "endFlowTry" => Stand::Shared,
        "createTestLink" | "listTestLinks" | "revokeTestLink" => Stand::Shared,
        // Figures are kept apart by mode (`flow_versions.rs`); they name steps of the flow only.
        "getFlowVisits" => Stand::Shared,
        "listNumbers" | "setInboundAgent" => Stand::Shared,
        // A test key reads campaigns and starts none.
        "listCampaigns"
        | "getCampaign"
        | "createCampaign"
        | "updateCampaign"
        | "setCampaignStatus"
        | "deleteCampaign"
        | "setCampaignContacts"
        | "listCampaignContacts"
        | "listCampaignRuns"
        | "runCampaign"
        | "getCampaignRun"
        | "getCampaignSummary"
        | "preflightCampaign"
        | "openStagedList"
        | "listStagedLists"
        | "addStagedRows"
        | "preflightStagedList"
        | "listStagedRows"
        | "editStagedRow"
        | "exportStagedFindings"
        | "applyStagedList"
        | "deleteStagedList" => Stand::Shared,
        // Boards are about people of the live world; test keys read them.
        "getCampaignBoard"
        | "getAgentBoard"
        | "listCampaignCards"
        | "listAgentCards"
        | "moveCampaignCard"
        | "moveAgentCard"
        | "getCampaignCardHistory"
        | "getAgentCardHistory" => Stand::Shared,
        "listDataStreams"
        | "createDataStream"
        | "getDataStream"
        | "updateDataStream"
        | "deleteDataStream"
        | "rotateDataStreamToken"
        | "pushRecords"
        | "listStreamRecords"
        | "listCampaignStreams"
        | "attachStream"
        | "detachStream" => Stand::Shared,
        // What agents know is the company's text; a test key reads it.
        "listKnowledgeBases"
        | "createKnowledgeBase"
        | "getKnowledgeBase"
        | "deleteKnowledgeBase"
        | "addKnowledgeText"
        | "addKnowledgeLink"
        | "removeKnowledgeDocument"
        | "searchKnowledgeBase" => Stand::Shared,
        "listWebhooks"
        | "createWebhook"
        | "getWebhook"
        | "updateWebhook"
        | "deleteWebhook"
        | "rotateWebhookSecret"
        | "testWebhook" => Stand::Shared,
        // Numbers and templates belong to the account; what a test key does with them is only checked.
        "listChannelNumbers"
        | "listChannelTemplates"
        | "createChannelTemplate"
        | "syncChannelTemplates"
        | "uploadHeaderSample"
        | "getChannelTemplate"
        | "updateChannelTemplate"
        | "deleteChannelTemplate" => Stand::Shared,
        // Test keys store no conversations, so that they have none.
        "listConversations" | "getConversation" => Stand::Own,
        // What a test key would do to one of the live world is checked and answered, and changes nothing.
        "startConversation"
        | "endConversation"
        | "takeConversationOver"
        | "handConversationBack"
        | "assignConversation"
        | "listAssignees" => Stand::Shared,
        // A test key sends nothing and stores nothing, so that it has no messages.
        "sendChannelMessage" => Stand::Makes,
        "listChannelMessages" | "getChannelMessage" | "getChannelMessageMedia" => Stand::Own,
        "listDoNotCall" | "addDoNotCall" => Stand::Shared,
        // Criteria are settings; conversations of the live world alone are graded.
        "getAgentEvaluation"
        | "setAgentEvaluation"
        | "tryEvaluation"
        | "previewEvaluationSweep"
        | "startEvaluationSweep" => Stand::Shared,
        "evaluateChat"
        | "evaluateCall"
        | "listChatEvaluations"
        | "listCallEvaluations"
        | "getEvaluation"
        | "listEvaluationSweeps"
        | "getEvaluationSweep"
        | "cancelEvaluationSweep"
        | "getEvaluationSummary"
        | "getEvaluationAgreement" => Stand::Own,
        "verifyLog" | "getLogHead" | "exportLog" | "listLogRecords" | "getLogRecord" | "listActions" => {
            Stand::Own
        }
        "listContacts" | "getContact" | "upsertContact" | "upsertContacts" | "updateContact"
        | "deleteContact" | "eraseContact" => Stand::People,
        other => {
            panic!("{other} says nothing of worlds: give it a stand, and a thing of each world to ask for")
        }
    }
}

/// What one world has: one of each noun, and words that stand nowhere else.
pub struct Things {
    pub key: String,
    pub call: String,
    pub scheduled: String,
    pub nudge: String,
    pub delivery: String,
    pub contact: String,
    /// Ids and words that the other world must not see.
    pub marks: Vec<String>,
}

pub struct Desk {
    pub world: World,
    pub endpoint: String,
    pub campaign: String,
    pub board: String,
    pub card: String,
    pub stream: String,
    /// Of the live world, the only one that has chats.
    pub chat: String,
    pub base: String,
    /// A template of the messaging channel.
    pub template: String,
    /// A conversation there.
    pub conversation: String,
    /// A message of the live world.
    pub message: String,
    pub live: Things,
    pub test: Things,
}

async fn make(world: &World, key: &str, endpoint: &str, word: &str, number: &str) -> Things {
    let body = |digit: usize| world.order(&format!("{number}{digit}"), &json!({"metadata": {"note": word}}));
    let app = &world.app;
    let call = app.post(key, "/v1/calls", &body(1)).await.expect(200);
    let call = call["interactionId"].as_str().unwrap().to_owned();
    world.advance(3).await;
    let mut wanted = body(2);
    wanted["scheduledAt"] = json!(world.app().clock.now().plus(domain::time::HOUR).to_string());
    let scheduled = app.post(key, "/v1/scheduled-calls", &wanted).await.id(201);
    wanted["toNumber"] = json!(format!("{number}3"));
    let nudge = world.send_nudge(key, "one", &wanted).await.id(201);
    app.post(key, "/v1/events/trigger", &json!({"type": "wallet.low"})).await.expect(202);
    world.advance(0).await;
    let events = app.get(key, "/v1/events?after=start").await.list(200);
    assert!(
        events.iter().any(|event| event["data"]["callId"] == *call)
            && events.iter().any(|event| event["type"] == "wallet.low"),
        "{events:?}"
    );
    let log = app.get(key, &format!("/v1/webhooks/{endpoint}/deliveries?limit=100")).await.list(200);
    assert_eq!(log.len(), events.len(), "the log of a world is that of its events");
    let contact = world.call(key, &call).await["contactId"].as_str().unwrap().to_owned();
    let mut marks = vec![word.to_owned(), call.clone(), scheduled.clone(), nudge.clone()];
    marks.extend(events.iter().chain(&log).map(|row| row["id"].as_str().unwrap().to_owned()));
    let delivery = log[0]["id"].as_str().unwrap().to_owned();
    Things { key: key.to_owned(), call, scheduled, nudge, delivery, contact, marks }
}

leads_to!(Desk, world: World);

impl Desk {
    pub async fn open() -> Self {
        let mut world = World::bare().await;
        world.set_clock(&world::noon_after(&world.now().await).to_string()).await;
        // Nobody listens there: deliveries wait. It takes what only those get who ask for it, too.
        let all: Vec<&str> = api::events::ALL.iter().map(|kind| kind.name).collect();
        let hook = json!({"url": "http://127.0.0.1:29099/hook", "events": all});
        let endpoint = world.post("/v1/webhooks", &hook).await.id(201);
        // Its agent is older than the one that calls.
        let chat = chats::a_session(&world).await;
        world.agent = world.agent(&json!({"systemPrompt": "Say hello."})).await;
        let body = json!({"name": "OfTheFirst", "agentId": world.agent});
        let campaign = world.post("/v1/campaigns", &body).await.id(201);
        world.set_list(&campaign, json!([{"phone": "9812399999", "name": "OfTheFirst"}])).await.expect(200);
        let stream =
            world.post("/v1/data-streams", &json!({"name": "OfTheFirst", "kind": "api"})).await.id(201);
        let record = json!({"phone": "9812399998", "name": "OfTheFirst"});
        world.post(&format!("/v1/data-streams/{stream}/records"), &record).await.expect(202);
        let base = world.post("/v1/knowledge-bases", &json!({"name": "OfTheFirst"})).await.id(201);
        let text = json!({"title": "OfTheFirst", "text": "OfTheFirst opens at nine."});
        world.post(&format!("/v1/knowledge-bases/{base}/documents"), &text).await.expect(200);
        world.connect_sandbox().await;
        let conversation = crate::channel_conversations::one(&world, &chat).await;
        let body = json!([{"type": "BODY", "text": "OfTheFirst"}]);
        let template = world.template("of_the_first", "UTILITY", body).await;
        let message = json!({"to": "+919812399997", "template": {"id": template}});
        let message = world.post("/v1/chatapp/messages", &message).await.data(201);
        let message = message["messageId"].as_str().expect("a message").to_owned();
        let live = make(&world, world.live(), &endpoint, "OfTheLiveWorld", "+91981230123").await;
        let test = make(&world, world.test(), &endpoint, "OfTheTestWorld", "+91981230456").await;
        let (board, card) = boards::with_a_card(&world, &world.agent, &campaign).await;
        Self {
            world,
            endpoint,
            campaign,
            board,
            card,
            stream,
            chat,
            base,
            template,
            conversation,
            message,
            live,
            test,
        }
    }

    /// The path of an operation with the ids of one world in it.
    fn path(&self, operation: &Operation, of: &Things) -> String {
        let noun = operation.path.split('/').nth(2).unwrap_or_default();
        let one = match noun {
            "calls" => &of.call,
            "scheduled-calls" => &of.scheduled,
            "nudges" => &of.nudge,
            "webhooks" => &self.endpoint,
            "contacts" => &of.contact,
            "campaigns" => &self.campaign,
            "data-streams" => &self.stream,
            "chat" | "chats" | "inbox" if of.key == self.workspace.live => &self.chat,
            "knowledge-bases" => &self.base,
            "chatapp" if operation.path.contains("/templates/") => &self.template,
            "chatapp" if operation.path.contains("/conversations/") && of.key == self.workspace.live => {
                &self.conversation
            }
            "chatapp" if operation.path.contains("/messages/") && of.key == self.workspace.live => {
                &self.message
            }
            _ => "none_00000000000000000000000000",
        };
        let path = operation
            .path
            .replace("{deliveryId}", &of.delivery)
            .replace("{cardId}", &self.card)
            .replace("{list}", "2")
            .replace("{row}", "1")
            .replace("{streamId}", &self.stream)
            .replace("{id}", one);
        match operation.id {
            "listEvents" => format!("{path}?after=start&limit=100"),
            "listWebhookDeliveries" => format!("{path}?limit=100"),
            "searchKnowledgeBase" => format!("{path}?q=OfTheFirst"),
            "getEvaluationSummary" | "getEvaluationAgreement" => {
                format!("{path}?agentId={}&kind=call", self.agent)
            }
            "search" => format!("{path}?q={}", of.contact),
            _ => path,
        }
    }

    async fn ask(&self, operation: &Operation, asker: &Things, of: &Things) -> Answer {
        if operation.upload {
            let (kind, body) = crate::documents::an_upload();
            let path = self.path(operation, of);
            return self
                .app
                .send(operation.method.as_str(), &path, Some(&asker.key), &[kind], body.into())
                .await;
        }
        let body = match operation.id {
            "cancelNudges" => json!({"ids": [of.nudge]}).to_string().into(),
            "sendChatMessage" => json!({"text": "Hello"}).to_string().into(),
            "assignInboxChat" => json!({"userId": "usr_01k9v5x2m8e6fs4v0q3n7w1y39"}).to_string().into(),
            _ => Bytes::new(),
        };
        self.send(operation.method.as_str(), &self.path(operation, of), Some(&asker.key), &[], body).await
    }

    async fn state(&self, of: &Things) -> [String; 4] {
        let word = async |path: String, field: &str| {
            self.app.get(&of.key, &path).await.expect(200)["data"][field].to_string()
        };
        [
            word(format!("/v1/calls/{}", of.call), "state").await,
            word(format!("/v1/scheduled-calls/{}", of.scheduled), "status").await,
            word(format!("/v1/nudges/{}", of.nudge), "status").await,
            word(format!("/v1/webhooks/{}/deliveries/{}", self.endpoint, of.delivery), "status").await,
        ]
    }
}

pub fn keyed() -> impl Iterator<Item = &'static Operation> {
    operations::all().filter(|operation| {
        matches!(operation.access, Access::AnyKey | Access::Scope(_) | Access::Scopes(..))
    })
}

#[tokio::test]
async fn nothing_of_the_other_world_is_there() {
    let desk = Desk::open().await;
    let worlds = [(&desk.live, &desk.test), (&desk.test, &desk.live)];
    for operation in keyed() {
        let stand = stand(operation);
        for (asker, other) in worlds {
            if asker.key == desk.workspace.test && operation.test_keys == TestKeys::Refused {
                desk.ask(operation, asker, other).await.read_only();
                continue;
            }
            let (reads, names) = (operation.method == operations::Method::GET, operation.path.contains('{'));
            let before = desk.state(other).await;
            match stand {
                Stand::Own if names && operation.id != "listWebhookDeliveries" => {
                    desk.ask(operation, asker, other).await.not_found();
                }
                Stand::Own | Stand::Shared if reads || stand == Stand::Own => {
                    let answer = desk.ask(operation, asker, other).await;
                    assert!([200, 404].contains(&answer.status), "{}: {}", operation.id, answer.text);
                    let told = other
                        .marks
                        .iter()
                        .find(|mark| answer.text.contains(*mark) && operation.id != "cancelNudges");
                    assert_eq!(told, None, "{} tells of the other world: {}", operation.id, answer.text);
                    if operation.id == "cancelNudges" {
                        assert_eq!(answer.json["data"], json!({"cancelled": 0, "ids": []}));
                    }
                }
                // A live key neither sees nor changes people of the test world.
                Stand::People if names && asker.key == desk.workspace.live => {
                    let body =
                        if operation.body.is_some() { Bytes::from_static(b"{}") } else { Bytes::new() };
                    let path = desk.path(operation, other);
                    desk.app
                        .send(operation.method.as_str(), &path, Some(&asker.key), &[], body)
                        .await
                        .not_found();
                }
                Stand::People if reads => {
                    let answer = desk.ask(operation, asker, other).await;
                    let seen = answer.expect(200).to_string().contains(&other.contact);
                    assert_eq!(
                        seen,
                        asker.key == desk.workspace.test,
                        "{}: test keys read real people, live keys no others",
                        operation.id
                    );
                }
                // What they make is in their own world: `Desk::open` checks that.
                Stand::Makes | Stand::Shared | Stand::People | Stand::Own => {}
            }
            assert_eq!(desk.state(other).await, before, "{} changed the other world", operation.id);
        }
    }
}

/// The same `Idempotency-Key` names different requests in the two worlds.
#[tokio::test]
async fn a_key_of_idempotency_belongs_to_its_world() {
    let desk = Desk::open().await;
    assert_ne!(desk.live.nudge, desk.test.nudge, "the same Idempotency-Key was two requests");
    let listed = desk.app.get(desk.test(), "/v1/nudges").await.expect(200);
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    listed.shows(json!({"data[0].livemode": false}));
}

/// A sample belongs to the world of the key that asked for it; it says `livemode: false` in both.
#[tokio::test]
async fn a_sample_belongs_to_whoever_asked_for_it() {
    let world = World::bare().await;
    let endpoint = world.post("/v1/webhooks", &json!({"url": "http://127.0.0.1:29099/hook"})).await.id(201);
    let sent = world.post(&format!("/v1/webhooks/{endpoint}/test"), &json!({})).await.data(202);
    let delivery = format!("/v1/webhooks/{endpoint}/deliveries/{}", sent["deliveryId"].as_str().unwrap());
    let seen = world.get(&delivery).await;
    seen["data"].shows(json!({"eventId": sent["eventId"], "payload.livemode": false}));
    world.app.get(world.test(), &delivery).await.not_found();
    let sample = json!({"type": "call.started"});
    let shown =
        world.app.post(world.test(), "/v1/events/trigger", &sample).await.data(202)["eventId"].clone();
    let stream = async |key: &str| world.app.get(key, "/v1/events?after=start").await.data(200);
    let ids = |events: &Value| {
        events.as_array().unwrap().iter().map(|event| event["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (ids(&stream(world.live()).await), ids(&stream(world.test()).await)),
        (vec![sent["eventId"].clone()], vec![shown])
    );
}

/// A log of one world pages to its end past thousands of entries of the other.
#[tokio::test]
async fn a_log_pages_past_the_other_world() {
    let world = World::bare().await;
    let hook = json!({"url": "http://127.0.0.1:29099/hook", "events": ["call.failed"]});
    let endpoint = world.post("/v1/webhooks", &hook).await.id(201);
    let emit = async |key: &str| {
        world.app.post(key, "/v1/events/trigger", &json!({"type": "call.failed"})).await.expect(202)
    };
    for key in [world.live(), world.test(), world.live()] {
        emit(key).await;
    }
    let (tenant, hook, context) = (world.tenant(), endpoint.parse().unwrap(), world.app().context());
    let work = move |tx: &mut store::Tx<'_>| {
        for _ in 0..5_001 {
            let (event, created_at) = (context.ids.make(), context.now);
            let (kind, mode) = ("call.failed", domain::tenant::Mode::Test);
            let row = store::deliveries::NewDelivery {
                endpoint: hook,
                event,
                kind,
                mode,
                created_at,
                lease: Some(created_at.plus(domain::time::DAY)),
            };
            store::deliveries::insert(&mut tx.of(tenant), row)?;
        }
        Ok::<_, store::DbError>(())
    };
    world.app().store.tx_alone(work).await.unwrap();
    let all = async |key: &str, filter: &str| {
        let (mut found, mut cursor) = (0, String::new());
        loop {
            let page = world
                .app
                .get(key, &format!("/v1/webhooks/{endpoint}/deliveries?limit=100{filter}{cursor}"))
                .await
                .expect(200);
            found += page["data"].as_array().unwrap().len();
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return found,
            }
        }
    };
    assert_eq!((all(world.live(), "").await, all(world.test(), "").await), (2, 5_002));
    assert_eq!(
        (all(world.live(), "&event=call.failed").await, all(world.test(), "&status=succeeded").await),
        (2, 0)
    );
}
