//! What a tool has done stands (docs/contract/chats.md#tools): whatever happens after its answer, the same thing is not
//! asked of it again.

use std::sync::Arc;

use domain::ports::{LanguageModel, ProviderFault};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::after_call::Line;
use crate::channel_conversations::Room;
use crate::chats::{Chats, Model, Turn, Writer, lines, say, tool};
use crate::fakes::{Fake, Reply, Request, System};

/// Pays back what was paid. Each request that it takes moves money.
struct Cashier;

impl System for Cashier {
    fn answer(&self, _: &Request) -> Reply {
        Reply::ok(json!({"refund": "done"}))
    }
}

/// A tool that may be called once, or again, offered to the agent; its id.
async fn refunds(kit: &Chats, url: &str, idempotent: bool) -> String {
    let config = json!({"url": format!("{url}/refunds"), "idempotent": idempotent, "timeoutSeconds": 20});
    let body = json!({"type": "webhook", "name": "refund", "config": config});
    let id = kit.operator("POST", "/tools", body).await.id(201);
    let path = format!("/v1/agents/{}", kit.agent);
    kit.put(&path, &json!({"toolIds": [id]})).await.expect(200);
    id
}

fn keys(cashier: &Fake<Cashier>) -> Vec<String> {
    let keys = cashier.got("/refunds").into_iter();
    keys.map(|request| request.header("idempotency-key").to_owned()).collect()
}

fn down() -> Turn {
    Turn::Fail(ProviderFault::Unreachable)
}

/// A chat has no keys: no model is offered the tool, and a step of a flow that uses it fails.
#[tokio::test]
async fn no_keys_are_pressed_in_a_chat() {
    let kit = Chats::open().await;
    let path = format!("/v1/agents/{}", kit.agent);
    kit.put(&path, &json!({"toolIds": ["press_keys", "chatapp_message"]})).await.expect(200);
    let id = kit.session().await;
    kit.says(&id, "Press one").await;
    let offered: Vec<Vec<String>> = {
        let orders = kit.model.orders.lock().unwrap();
        orders.iter().map(|order| order.tools.iter().map(|tool| tool.id.clone()).collect()).collect()
    };
    assert!(offered.iter().all(|tools| tools == &["chatapp_message"]) && !offered.is_empty(), "{offered:?}");

    kit.publish(json!([
        {"id": "a", "type": "collect", "text": "Which key?", "field": {"key": "key", "type": "text"}, "next": "t"},
        {"id": "t", "type": "tool", "toolId": "press_keys", "arguments": {"keys": "{{key}}"}, "next": "z", "onError": "e"},
        {"id": "e", "type": "end", "text": "There are no keys here.", "outcome": "failed"},
        {"id": "z", "type": "end", "text": "Pressed.", "outcome": "done"},
    ]))
    .await;
    let id = kit.session().await;
    assert_eq!(kit.says(&id, "1").await["reply"], "There are no keys here.");
    let detail = kit.operator("GET", &format!("/chats/{id}"), Value::Null).await.data(200);
    assert_eq!(detail["outcome"], "failed");
}

#[tokio::test]
async fn a_message_that_was_taken_back_and_comes_again_refunds_once() {
    let kit = Chats::open().await;
    let cashier = Fake::start(|_| Cashier).await;
    let refund = refunds(&kit, &cashier.url, false).await;
    let id = kit.session().await;
    let path = format!("/v1/chat/sessions/{id}/messages");
    let send = async || {
        let body = json!({"text": "Refund order 1"});
        kit.post_with(kit.live(), &path, &[("idempotency-key", "k")], &body).await
    };
    kit.model.will([tool("One moment.", &refund, json!({"order": "1"})), down(), down(), down()]);
    send().await.refused(502, "reply_failed");
    assert_eq!((keys(&cashier).len(), kit.model.asked()), (1, 5), "three tries, one refund");
    assert_eq!(kit.transcript(&id).await, ["agent: Hello, I am Asha."], "the message is taken back");
    // Again it fails, and then the model is back.
    kit.model.will([down(), down(), down()]);
    send().await.refused(502, "reply_failed");
    kit.model.will([say("It is refunded.")]);
    assert_eq!(send().await.expect(200)["data"]["reply"], "One moment.\n\nIt is refunded.");
    assert_eq!(
        kit.model.shown(),
        [
            "agent: Hello, I am Asha.".to_owned(),
            "user: Refund order 1".to_owned(),
            "agent: One moment.".to_owned(),
            format!("calls {refund}"),
            "answered true {\"refund\":\"done\"}".to_owned(),
        ],
        "it knows what was done, and hears the message once"
    );
    assert_eq!(keys(&cashier).len(), 1);
    assert_eq!(
        kit.transcript(&id).await,
        ["agent: Hello, I am Asha.", "user: Refund order 1", "agent: One moment.\n\nIt is refunded."]
    );
    // The next refund is another one.
    kit.model.will([tool("", &refund, json!({"order": "2"})), say("That too.")]);
    assert_eq!(kit.says(&id, "And order 2").await["reply"], "That too.");
    let keys = keys(&cashier);
    assert!(keys.len() == 2 && keys[0] != keys[1], "{keys:?}");
}

#[tokio::test]
async fn other_words_after_it_find_what_was_done() {
    let kit = Chats::open().await;
    let cashier = Fake::start(|_| Cashier).await;
    let refund = refunds(&kit, &cashier.url, false).await;
    let id = kit.session().await;
    kit.model.will([tool("", &refund, json!({"order": "1"})), down(), down(), down()]);
    kit.write(&id, "Refund order 1").await.refused(502, "reply_failed");
    kit.model.will([say("It is refunded already.")]);
    assert_eq!(kit.says(&id, "Please refund it!").await["reply"], "It is refunded already.");
    assert_eq!(
        kit.model.shown(),
        [
            "agent: Hello, I am Asha.".to_owned(),
            "user: Refund order 1".to_owned(),
            format!("calls {refund}"),
            "answered true {\"refund\":\"done\"}".to_owned(),
            "user: Please refund it!".to_owned(),
        ]
    );
    assert_eq!(keys(&cashier).len(), 1);
    assert_eq!(kit.says(&id, "Thanks").await["reply"], "You said: Thanks");
    assert_eq!(kit.model.shown().len(), 7, "and goes on from there");
}

/// The third failure hands the chat over: also the agent that gets it back knows.
#[tokio::test]
async fn a_person_in_between_changes_nothing() {
    let kit = Chats::open().await;
    let user = kit.add_member("editor@example.com", "editor").await;
    let cashier = Fake::start(|_| Cashier).await;
    let refund = refunds(&kit, &cashier.url, false).await;
    let id = kit.session().await;
    kit.model.will([tool("", &refund, json!({"order": "1"}))]);
    kit.model.will((0..9).map(|_| down()));
    for _ in 0..2 {
        kit.write(&id, "Refund order 1").await.refused(502, "reply_failed");
    }
    assert_eq!(kit.says(&id, "Refund order 1").await["handedOff"], true);
    let inbox = async |what: &str, body: Value| {
        kit.operator("POST", &format!("/chats/{id}/{what}"), body).await.expect(200);
    };
    inbox("takeover", json!({"userId": user})).await;
    inbox("messages", json!({"text": "I look into it."})).await;
    inbox("handback", Value::Null).await;
    assert_eq!(kit.says(&id, "And?").await["reply"], "You said: And?");
    assert_eq!(
        kit.model.shown(),
        [
            "agent: Hello, I am Asha.".to_owned(),
            "user: Refund order 1".to_owned(),
            format!("calls {refund}"),
            "answered true {\"refund\":\"done\"}".to_owned(),
            "agent: I look into it.".to_owned(),
            "user: And?".to_owned(),
        ]
    );
    assert_eq!(keys(&cashier).len(), 1);
}

/// A teammate who takes the chat while the tool is at work does not make its answer unheard.
#[tokio::test]
async fn an_answer_that_comes_after_a_takeover_is_kept() {
    let kit = Chats::open().await;
    let user = kit.add_member("editor@example.com", "editor").await;
    let gate = Arc::new(Semaphore::new(0));
    let cashier = Fake::start(|_| Cashier).await;
    let refund = refunds(&kit, &cashier.url, false).await;
    cashier.fail("/refunds", 1, Reply::Held(gate.clone()));
    let id = kit.session().await;
    kit.model.will([tool("", &refund, json!({"order": "1"}))]);
    let (answer, ()) = tokio::join!(kit.write(&id, "Refund order 1"), async {
        cashier.wait_for("/refunds", 1).await;
        kit.operator("POST", &format!("/chats/{id}/takeover"), json!({"userId": user})).await.expect(200);
        gate.add_permits(1);
    });
    assert_eq!(answer.expect(200)["data"]["handedOff"], true);
    kit.operator("POST", &format!("/chats/{id}/handback"), Value::Null).await.expect(200);
    kit.says(&id, "And?").await;
    assert!(
        kit.model.shown().contains(&"answered true {\"refund\":\"done\"}".to_owned()),
        "{:?}",
        kit.model.shown()
    );
    assert_eq!(keys(&cashier).len(), 1);
}

#[tokio::test]
async fn the_same_on_the_messaging_channel() {
    let room = Room::open().await;
    let cashier = Fake::start(|_| Cashier).await;
    let refund = refunds(&room, &cashier.url, false).await;
    room.model.will([tool("", &refund, json!({"order": "1"})), down(), down(), down()]);
    room.writes("Refund order 1").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    assert_eq!(room.events("chat.handoff_requested").await.len(), 1);
    room.act(&id, "takeover", Value::Null).await.expect(200);
    room.act(&id, "handback", Value::Null).await.expect(200);
    room.writes("And?").await;
    room.reply().await;
    assert_eq!(
        room.model.shown(),
        [
            "user: Refund order 1".to_owned(),
            format!("calls {refund}"),
            "answered true {\"refund\":\"done\"}".to_owned(),
            "user: And?".to_owned(),
        ]
    );
    assert_eq!((keys(&cashier).len(), room.sent("agent").await), (1, vec!["You said: And?".to_owned()]));
}

/// A service that dies at a moment of a reply, and its next start.
struct Death {
    /// Outlives the service: the tool.
    outside: Runtime,
    cashier: Fake<Cashier>,
}

impl Death {
    fn new() -> Self {
        let outside =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let cashier = outside.block_on(Fake::start(|_| Cashier));
        Self { outside, cashier }
    }

    /// A message whose reply calls the tool. The process dies when `moment` says so; what the next one makes of it:
    /// the transcript, and what its model was shown when it was asked last.
    fn at(self, idempotent: bool, moment: Moment) -> (Vec<String>, Vec<String>, Vec<String>) {
        let first = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        if moment == Moment::WhileItWorks {
            self.cashier.fail("/refunds", 1, Reply::Hang);
        }
        let (left, id) = {
            let kit = first.block_on(Chats::open());
            let refund = first.block_on(refunds(&kit, &self.cashier.url, idempotent));
            let id = first.block_on(kit.session());
            kit.model.will([tool("", &refund, json!({"order": "1"})), Turn::Wait("never")]);
            first.block_on(async {
                let dies = async {
                    match moment {
                        Moment::WhileItWorks => self.cashier.wait_for("/refunds", 1).await,
                        Moment::AfterItsAnswer => kit.model.asked_times(3).await,
                    }
                };
                tokio::select! {
                    _ = kit.write(&id, "Refund order 1") => panic!("it waits"),
                    () = dies => {}
                }
            });
            (kit.world.crash(first), id)
        };
        let second = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let found = second.block_on(async {
            let writer = Writer::new();
            writer.will([say("Well.")]);
            let port: Arc<dyn LanguageModel> = Arc::new(Model(writer.clone()));
            let world = left.start_ports(Arc::new(Line), |ports| ports.language_model = Some(port)).await;
            world.advance(0).await;
            let path = format!("/v1/chat/sessions/{id}");
            let shown = world.data(&path).await;
            assert_eq!(writer.asked(), 1);
            (lines(&shown["messages"]), writer.shown())
        });
        second.shutdown_timeout(std::time::Duration::from_secs(30));
        let keys = keys(&self.cashier);
        self.outside.shutdown_timeout(std::time::Duration::from_secs(30));
        (found.0, found.1, keys)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    WhileItWorks,
    AfterItsAnswer,
}

const REPLIED: [&str; 3] = ["agent: Hello, I am Asha.", "user: Refund order 1", "agent: Well."];

#[test]
fn a_process_that_dies_after_the_answer_asks_no_second_time() {
    for idempotent in [false, true] {
        let (told, shown, keys) = Death::new().at(idempotent, Moment::AfterItsAnswer);
        assert_eq!(told, REPLIED);
        assert_eq!(shown.last().map(String::as_str), Some("answered true {\"refund\":\"done\"}"));
        assert_eq!(keys.len(), 1, "idempotent: {idempotent}");
    }
}

/// Nobody knows whether a tool acted that was being asked when the process died.
#[test]
fn a_process_that_dies_while_the_tool_works_asks_again_only_where_it_may() {
    let (told, shown, keys) = Death::new().at(false, Moment::WhileItWorks);
    assert_eq!(told, REPLIED);
    let last = shown.last().unwrap();
    assert!(last.starts_with("answered false") && last.contains("not known whether it did"), "{last}");
    assert_eq!(keys.len(), 1);
    let (told, shown, keys) = Death::new().at(true, Moment::WhileItWorks);
    assert_eq!(told, REPLIED);
    assert_eq!(shown.last().map(String::as_str), Some("answered true {\"refund\":\"done\"}"));
    assert!(keys.len() == 2 && keys[0] == keys[1], "the same call has the same key: {keys:?}");
}

#[tokio::test]
async fn the_model_is_offered_what_the_agent_has_and_the_end_once() {
    let kit = Chats::open().await;
    let path = format!("/v1/agents/{}", kit.agent);
    let ids = json!(["end_call", "chatapp_message", "transfer_to_human"]);
    kit.put(&path, &json!({"toolIds": ids})).await.expect(200);
    let id = kit.session().await;
    kit.model.will([tool("", "chatapp_message", json!({"text": "Your link"})), say("Sent.")]);
    assert_eq!(kit.says(&id, "Send it").await["reply"], "Your link\n\nSent.");
    let offered: Vec<String> = {
        let orders = kit.model.orders.lock().unwrap();
        orders.last().unwrap().tools.iter().map(|tool| tool.id.clone()).collect()
    };
    // The end of the conversation is offered beside the tools, to every model.
    assert_eq!(offered, ["transfer_to_human", "chatapp_message"]);
}

/// A chat whose replies fail again and again, though not in a row, is a person's.
#[tokio::test]
async fn failing_replies_are_bounded_a_chat() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    let refused = || Turn::Fail(ProviderFault::Refused);
    for turn in 0..10 {
        kit.model.will([refused()]);
        kit.write(&id, "Hello").await.refused(502, "reply_failed");
        assert_eq!(kit.says(&id, &format!("Again {turn}")).await["handedOff"], false);
    }
    kit.model.will([refused()]);
    assert_eq!(kit.says(&id, "Hello").await["handedOff"], true);
    let asked = kit.events("chat.handoff_requested").await;
    assert_eq!((asked.len(), &asked[0]["data"]["reason"]), (1, &json!("ai_error")));
}

#[tokio::test]
async fn a_workspace_opens_60_sessions_a_minute() {
    let kit = Chats::open().await;
    kit.change(&json!({"limits": {"chatSessionsPerMinute": 2}})).await;
    for _ in 0..2 {
        kit.session().await;
    }
    let asked = kit.model.asked();
    kit.opening(&kit.agent).await.refused(429, "rate_limited");
    assert_eq!(kit.model.asked(), asked, "nothing was asked for it");
    kit.advance(60).await;
    kit.session().await;
    let listed = kit.operator("GET", "", Value::Null).await.expect(200);
    assert_eq!(listed["data"]["limits"]["chatSessionsPerMinute"], 2);
}
