//! Each world sees its own (docs/contract/sandbox.md#test-keys), walked over the whole table of operations:
//! every row that takes a key says what it shows.

use api::operations::{self, Access, Operation, TestKeys};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::app::{Answer, TestApp, Workspace};
use crate::boards;
use crate::chats;
use crate::world;

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
        "listCalls" | "getCall" | "hangUpCall" | "getCallTimeline" => Stand::Own,
        "listScheduledCalls" | "getScheduledCall" | "cancelScheduledCall" | "getScheduledCallTimeline" => {
            Stand::Own
        }
        "listNudges" | "getNudge" | "cancelNudge" | "cancelNudges" | "getNudgeTimeline" => Stand::Own,
        // Test keys open none.
        "openChatSession" => Stand::Makes,
        "sendChatMessage" | "getChatSession" | "endChatSession" | "uploadDocument" => Stand::Own,
        "getCallAnalytics" | "getBlockedStats" => Stand::Own,
        "listEvents" | "listWebhookDeliveries" | "getWebhookDelivery" | "replayWebhookDelivery" => Stand::Own,
        // Stores nothing and shows the gates of a number that the caller names.
        "preflightNudge" | "preflightNudges" => Stand::Shared,
        "getAccount" | "getWallet" | "listWalletTransactions" => Stand::Shared,
        "listAgents" | "createAgent" | "getAgent" | "updateAgent" | "deleteAgent" | "setAgentStatus" => {
            Stand::Shared
        }
        "getFlow" | "saveFlow" | "publishFlow" | "listVoices" | "listTools" => Stand::Shared,
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
        | "preflightCampaign" => Stand::Shared,
        // Boards are about people of the live world; test keys read them.
        "getCampaignBoard" | "getAgentBoard" | "listCampaignCards" | "listAgentCards"
        | "moveCampaignCard" | "moveAgentCard" => Stand::Shared,
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
        "verifyLog" | "getLogHead" | "exportLog" => Stand::Own,
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
    pub app: TestApp,
    pub workspace: Workspace,
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

fn id(answer: &Value) -> String {
    answer["data"]["id"].as_str().expect("an id").to_owned()
}

async fn make(app: &TestApp, key: &str, agent: &str, endpoint: &str, word: &str, number: &str) -> Things {
    let body = |digit: usize| json!({"agentId": agent, "toNumber": format!("{number}{digit}"), "metadata": {"note": word}});
    let call =
        app.post(key, "/v1/calls", &body(1)).await.expect(200)["interactionId"].as_str().unwrap().to_owned();
    app.advance(3).await;
    let later =
        domain::time::Timestamp::parse(&app.now().await).unwrap().plus(domain::time::HOUR).to_string();
    let mut wanted = body(2);
    wanted["scheduledAt"] = json!(later);
    let scheduled = id(&app.post(key, "/v1/scheduled-calls", &wanted).await.expect(201));
    wanted["toNumber"] = json!(format!("{number}3"));
    let nudge =
        id(&app.post_with(key, "/v1/nudges", &[("idempotency-key", "one")], &wanted).await.expect(201));
    app.post(key, "/v1/events/trigger", &json!({"type": "wallet.low"})).await.expect(202);
    app.advance(0).await;
    let events = app.get(key, "/v1/events?after=start").await.list(200);
    assert!(
        events.iter().any(|event| event["data"]["callId"] == *call)
            && events.iter().any(|event| event["type"] == "wallet.low"),
        "{events:?}"
    );
    let log = app.get(key, &format!("/v1/webhooks/{endpoint}/deliveries?limit=100")).await.list(200);
    assert_eq!(log.len(), events.len(), "the log of a world is that of its events");
    let contact = app.get(key, &format!("/v1/calls/{call}")).await.expect(200)["data"]["contactId"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut marks = vec![word.to_owned(), call.clone(), scheduled.clone(), nudge.clone()];
    marks.extend(events.iter().map(|event| event["id"].as_str().unwrap().to_owned()));
    marks.extend(log.iter().map(|delivery| delivery["id"].as_str().unwrap().to_owned()));
    let delivery = log[0]["id"].as_str().unwrap().to_owned();
    Things { key: key.to_owned(), call, scheduled, nudge, delivery, contact, marks }
}

impl Desk {
    pub async fn open() -> Self {
        let app = TestApp::start().await;
        app.set_clock(&world::noon_after(&app.now().await).to_string()).await;
        let workspace = app.workspace().await;
        // Nobody listens there: deliveries wait. It takes what only those get who ask for it, too.
        let all: Vec<&str> = api::events::ALL.iter().map(|kind| kind.name).collect();
        let hook = json!({"url": "http://127.0.0.1:29099/hook", "events": all});
        let endpoint = id(&app.post(&workspace.live, "/v1/webhooks", &hook).await.expect(201));
        // Its agent is older than the one that calls.
        let chat = chats::a_session(&app, &workspace).await;
        let agent = world::agent(&app, &workspace, &json!({"systemPrompt": "Say hello."})).await;
        let campaign = id(&app
            .post(&workspace.live, "/v1/campaigns", &json!({"name": "OfTheFirst", "agentId": agent}))
            .await
            .expect(201));
        let rows = json!({"contacts": [{"phone": "9812399999", "name": "OfTheFirst"}]});
        app.post(&workspace.live, &format!("/v1/campaigns/{campaign}/contacts"), &rows).await.expect(200);
        let stream = id(&app
            .post(&workspace.live, "/v1/data-streams", &json!({"name": "OfTheFirst", "kind": "api"}))
            .await
            .expect(201));
        let record = json!({"phone": "9812399998", "name": "OfTheFirst"});
        app.post(&workspace.live, &format!("/v1/data-streams/{stream}/records"), &record).await.expect(202);
        let base = id(&app
            .post(&workspace.live, "/v1/knowledge-bases", &json!({"name": "OfTheFirst"}))
            .await
            .expect(201));
        let text = json!({"title": "OfTheFirst", "text": "OfTheFirst opens at nine."});
        app.post(&workspace.live, &format!("/v1/knowledge-bases/{base}/documents"), &text).await.expect(200);
        crate::cloud::connect_sandbox(&app, &workspace.id).await;
        let conversation = crate::channel_conversations::one(&app, &workspace, &chat).await;
        let template = json!({"name": "of_the_first", "language": "en", "category": "UTILITY",
            "components": [{"type": "BODY", "text": "OfTheFirst"}]});
        let template = id(&app.post(&workspace.live, "/v1/chatapp/templates", &template).await.expect(201));
        app.advance(2).await;
        let message = json!({"to": "+919812399997", "template": {"id": template}});
        let message = app.post(&workspace.live, "/v1/chatapp/messages", &message).await.expect(201);
        let message = message["data"]["messageId"].as_str().expect("a message").to_owned();
        let live = make(&app, &workspace.live, &agent, &endpoint, "OfTheLiveWorld", "+91981230123").await;
        let test = make(&app, &workspace.test, &agent, &endpoint, "OfTheTestWorld", "+91981230456").await;
        let (board, card) = boards::with_a_card(&app, &workspace, &agent, &campaign).await;
        Self {
            app,
            workspace,
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
            "chat" if of.key == self.workspace.live => &self.chat,
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
            .replace("{streamId}", &self.stream)
            .replace("{id}", one);
        match operation.id {
            "listEvents" => format!("{path}?after=start&limit=100"),
            "listWebhookDeliveries" => format!("{path}?limit=100"),
            "searchKnowledgeBase" => format!("{path}?q=OfTheFirst"),
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
            _ => Bytes::new(),
        };
        self.app.send(operation.method.as_str(), &self.path(operation, of), Some(&asker.key), &[], body).await
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
                desk.ask(operation, asker, other).await.refused(403, "test_mode_read_only");
                continue;
            }
            let (reads, names) = (operation.method == operations::Method::GET, operation.path.contains('{'));
            let before = desk.state(other).await;
            match stand {
                Stand::Own if names && operation.id != "listWebhookDeliveries" => {
                    desk.ask(operation, asker, other).await.refused(404, "not_found");
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
                        .refused(404, "not_found");
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
    let listed = desk.app.get(&desk.workspace.test, "/v1/nudges").await.expect(200);
    assert_eq!(
        (listed["data"].as_array().unwrap().len(), &listed["data"][0]["livemode"]),
        (1, &json!(false))
    );
}

/// A sample belongs to the world of the key that asked for it; it says `livemode: false` in both.
#[tokio::test]
async fn a_sample_belongs_to_whoever_asked_for_it() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let endpoint = id(&app
        .post(&workspace.live, "/v1/webhooks", &json!({"url": "http://127.0.0.1:29099/hook"}))
        .await
        .expect(201));
    let sent =
        app.post(&workspace.live, &format!("/v1/webhooks/{endpoint}/test"), &json!({})).await.data(202);
    let delivery = format!("/v1/webhooks/{endpoint}/deliveries/{}", sent["deliveryId"].as_str().unwrap());
    let seen = app.get(&workspace.live, &delivery).await.expect(200);
    assert_eq!(
        (&seen["data"]["eventId"], &seen["data"]["payload"]["livemode"]),
        (&sent["eventId"], &json!(false))
    );
    app.get(&workspace.test, &delivery).await.refused(404, "not_found");
    let shown = app
        .post(&workspace.test, "/v1/events/trigger", &json!({"type": "call.started"}))
        .await
        .expect(202)["data"]["eventId"]
        .clone();
    let stream = async |key: &str| app.get(key, "/v1/events?after=start").await.data(200);
    let ids = |events: &Value| {
        events.as_array().unwrap().iter().map(|event| event["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (ids(&stream(&workspace.live).await), ids(&stream(&workspace.test).await)),
        (vec![sent["eventId"].clone()], vec![shown])
    );
}

/// A log of one world pages to its end past thousands of entries of the other.
#[tokio::test]
async fn a_log_pages_past_the_other_world() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let endpoint = id(&app
        .post(
            &workspace.live,
            "/v1/webhooks",
            &json!({"url": "http://127.0.0.1:29099/hook", "events": ["call.failed"]}),
        )
        .await
        .expect(201));
    let emit = async |key: &str| {
        app.post(key, "/v1/events/trigger", &json!({"type": "call.failed"})).await.expect(202)
    };
    for key in [&workspace.live, &workspace.test, &workspace.live] {
        emit(key).await;
    }
    let (tenant, hook, context) =
        (workspace.id.parse().unwrap(), endpoint.parse().unwrap(), app.app().context());
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
    app.app().store.tx_alone(work).await.unwrap();
    let all = async |key: &str, filter: &str| {
        let (mut found, mut cursor) = (0, String::new());
        loop {
            let page = app
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
    assert_eq!((all(&workspace.live, "").await, all(&workspace.test, "").await), (2, 5_002));
    assert_eq!(
        (all(&workspace.live, "&event=call.failed").await, all(&workspace.test, "&status=succeeded").await),
        (2, 0)
    );
}
