//! What must not be kept (docs/contract/agents.md#redaction, docs/contract/flows.md#secret-answers): nothing of it is in
//! the store, in an answer or in an event.

use std::sync::Arc;

use domain::ports::LanguageModel;
use serde_json::{Value, json};

use crate::after_call::Line;
use crate::channel_conversations::Room;
use crate::chats::{Chats, Model, Writer, ends, lines, say};
use crate::erasure::traces;
use crate::fakes::{Fake, Reply, Request, System};
use crate::world::{self, World};

/// Checks a PIN.
struct Bank;

impl System for Bank {
    fn answer(&self, _: &Request) -> Reply {
        Reply::ok(json!({"known": true}))
    }
}

const PIN: &str = "83517264";
const CARD: &str = "4111 1111 1111 1111";

/// A tool that is given the PIN; its id.
async fn check(kit: &Chats, bank: &Fake<Bank>) -> String {
    let config = json!({"url": format!("{}/check", bank.url), "idempotent": true, "timeoutSeconds": 20});
    let body = json!({"type": "webhook", "name": "check", "config": config});
    kit.operator("POST", "/tools", body).await.id(201)
}

/// A flow that asks for a PIN and has it checked.
fn asks(tool: &str) -> Value {
    let field = json!({"key": "pin", "label": "PIN", "type": "number", "secret": true});
    json!([
        {"id": "a", "type": "collect", "text": "Your PIN?", "field": field, "next": "t"},
        {"id": "t", "type": "tool", "toolId": tool, "arguments": {"pin": "{{pin}}"}, "next": "z"},
        ends(),
    ])
}

fn pins(bank: &Fake<Bank>) -> Vec<Value> {
    bank.got("/check").iter().map(|request| request.json()["pin"].clone()).collect()
}

async fn redacts(kit: &Chats) {
    kit.put(&format!("/v1/agents/{}", kit.agent), &json!({"redact": true})).await.expect(200);
}

#[tokio::test]
async fn redaction_is_on_for_regulated_verticals_unless_it_is_set() {
    let world = World::bare().await;
    let made = world.draft_agent(&json!({})).await;
    let path = format!("/v1/agents/{}", made["id"].as_str().unwrap());
    assert_eq!(made["redact"], false);
    for (change, expected) in [
        (json!({"vertical": "lending", "policyRef": "lending@1"}), true),
        (json!({"redact": false}), false),
        (json!({"vertical": "general", "redact": true}), true),
        (json!({"vertical": "general"}), true),
    ] {
        let changed = world.put(&path, &change).await.data(200);
        assert_eq!(changed["redact"], expected, "{change}");
    }
    let refused = world.put(&path, &json!({"redact": "yes"})).await.refused(400, "invalid_request");
    world::names_field(&refused, "redact");
}

#[tokio::test]
async fn a_secret_answer_in_a_chat_reaches_the_tool_and_nothing_else() {
    let kit = Chats::open().await;
    let bank = Fake::start(|_| Bank).await;
    kit.publish(asks(&check(&kit, &bank).await)).await;
    let id = kit.session().await;
    assert_eq!(kit.says(&id, PIN).await["reply"], "Goodbye.");
    assert_eq!(pins(&bank), [PIN]);
    assert_eq!(kit.transcript(&id).await, ["agent: Your PIN?", "user: [secret]", "agent: Goodbye."]);
    let detail = kit.operator("GET", &format!("/chats/{id}"), Value::Null).await.data(200);
    assert_eq!(detail["extracted"], json!({"pin": "[secret]"}));
    assert_eq!(traces(&kit, &[PIN]).await, [""; 0]);
}

/// The tool was being called when the process died: the next one has the value no longer, and asks again.
#[test]
fn a_process_that_dies_has_taken_the_secret_with_it() {
    let runtime = || tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (outside, first, second) = (runtime(), runtime(), runtime());
    let bank = outside.block_on(Fake::start(|_| Bank));
    bank.fail("/check", 1, Reply::Hang);
    let (left, live, id) = {
        let kit = first.block_on(Chats::open());
        let id = first.block_on(async {
            kit.publish(asks(&check(&kit, &bank).await)).await;
            let id = kit.session().await;
            tokio::select! {
                _ = kit.write(&id, PIN) => panic!("it waits"),
                () = bank.wait_for("/check", 1) => {}
            }
            assert_eq!(traces(&kit, &[PIN]).await, [""; 0], "while the tool works");
            id
        });
        let live = kit.live().to_owned();
        (kit.world.crash(first), live, id)
    };
    second.block_on(async {
        let port: Arc<dyn LanguageModel> = Arc::new(Model(Writer::new()));
        let world = left.start_ports(Arc::new(Line), |ports| ports.language_model = Some(port)).await;
        let app = &world.app;
        app.advance(0).await;
        let path = format!("/v1/chat/sessions/{id}");
        let shown = async || lines(&app.get(&live, &path).await.data(200)["messages"]);
        assert_eq!(shown().await, ["agent: Your PIN?", "user: [secret]", "agent: Your PIN?"]);
        assert_eq!(pins(&bank).len(), 1, "no other call");
        let body = json!({"text": "90817263"});
        let answer = app.post(&live, &format!("{path}/messages"), &body).await.data(200);
        assert_eq!(answer["reply"], "Goodbye.");
        assert_eq!(pins(&bank), [PIN, "90817263"]);
        assert_eq!(traces(app, &[PIN, "90817263"]).await, [""; 0]);
    });
    second.shutdown_timeout(std::time::Duration::from_secs(30));
    outside.shutdown_timeout(std::time::Duration::from_secs(30));
}

#[tokio::test]
async fn a_redacted_chat_keeps_no_card_number_and_its_flow_goes_on() {
    let kit = Chats::open().await;
    redacts(&kit).await;
    let id = kit.session().await;
    kit.model.will([say("I have noted it."), say("Go on."), say("Thank you.")]);
    kit.says(&id, &format!("My card is {CARD}")).await;
    assert_eq!(kit.model.shown(), ["agent: Hello, I am Asha.", "user: My card is [card]"]);
    // A number in two messages is found with the second one.
    kit.says(&id, "and another card 5555 5555").await;
    kit.says(&id, "5555 4444").await;
    let told = kit.transcript(&id).await;
    let customer: Vec<&String> = told.iter().filter(|line| line.starts_with("user")).collect();
    assert_eq!(customer, ["user: My card is [card]", "user: and another card [card]", "user: [card]"]);
    kit.end(&id).await;
    let ended = kit.events("chat.completed").await;
    assert!(
        !ended[0].to_string().contains("4111") && ended[0].to_string().contains("[card]"),
        "{}",
        ended[0]
    );
    assert_eq!(traces(&kit, &[CARD, "5555 4444"]).await, [""; 0]);
}

#[tokio::test]
async fn an_otp_that_a_redacted_flow_asks_for_reaches_its_tool() {
    let kit = Chats::open().await;
    redacts(&kit).await;
    let bank = Fake::start(|_| Bank).await;
    let mut flow = asks(&check(&kit, &bank).await);
    flow[0]["text"] = json!("Please tell me the OTP.");
    flow[0]["field"]["secret"] = json!(false);
    kit.publish(flow).await;
    let id = kit.session().await;
    assert_eq!(kit.says(&id, "it is 835172").await["reply"], "Goodbye.");
    assert_eq!(pins(&bank), ["835172"]);
    assert_eq!(
        kit.transcript(&id).await,
        ["agent: Please tell me the OTP.", "user: it is [otp]", "agent: Goodbye."]
    );
    assert_eq!(traces(&kit, &["835172"]).await, [""; 0]);
}

#[tokio::test]
async fn the_messaging_channel_keeps_neither() {
    let room = Room::open().await;
    redacts(&room).await;
    let bank = Fake::start(|_| Bank).await;
    room.publish(asks(&check(&room, &bank).await)).await;
    room.writes(&format!("Hello, my card is {CARD}")).await;
    room.reply().await;
    assert_eq!(room.sent("agent").await, ["Your PIN?"]);
    room.writes(PIN).await;
    assert_eq!(traces(&room, &[PIN, CARD]).await, [""; 0], "before the reply");
    room.reply().await;
    assert_eq!(pins(&bank), [PIN]);
    assert_eq!(room.sent("agent").await, ["Your PIN?", "Goodbye."]);
    assert_eq!(room.sent("customer").await, ["Hello, my card is [card]", "[secret]"]);
    assert_eq!(traces(&room, &[PIN, CARD]).await, [""; 0]);
}
