//! Replies when something fails in the middle of them (docs/contract/chats.md#replies): given once, taken up after a
//! crash, failed for good after three tries; and replies as they are written.

use std::sync::{Arc, Mutex};

use domain::conversation::Exchange;
use domain::ports::{LanguageModel, ProviderFault, Said};
use serde_json::{Value, json};
use store::DbError;
use store::db::{CallSite, Fate, Faults, Pause};

use crate::after_call::Line;
use crate::chats::{Chats, Model, Turn, Writer, say, tool};
use crate::fakes::{Fake, Reply, Request, System};
use crate::shows::Shows;

#[tokio::test]
async fn one_message_at_a_time() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    kit.model.will([Turn::Wait("First.")]);
    let (first, second) = tokio::join!(kit.write(&id, "one"), async {
        kit.model.asked_times(2).await;
        let second = kit.write(&id, "two").await;
        kit.model.gate.add_permits(1);
        second
    });
    second.refused(409, "reply_in_progress");
    assert_eq!(first.expect(200)["data"]["reply"], "First.");
    assert_eq!(kit.transcript(&id).await, ["agent: Hello, I am Asha.", "user: one", "agent: First."]);
}

#[tokio::test]
async fn a_model_that_fails_once_is_asked_again() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    kit.model.will([Turn::Fail(ProviderFault::TimedOut), Turn::Say(vec![]), say("Third time.")]);
    assert_eq!(kit.says(&id, "Hello").await["reply"], "Third time.");
}

#[tokio::test]
async fn a_failed_reply_takes_the_message_back() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    let down = || Turn::Fail(ProviderFault::Unreachable);
    kit.model.will([down(), down(), down()]);
    kit.write(&id, "Hello").await.refused(502, "reply_failed");
    assert_eq!(kit.transcript(&id).await, vec!["agent: Hello, I am Asha.".to_owned()]);
    kit.chat(&id).await.shows(json!({"state": "ai"}));
    assert_eq!(kit.says(&id, "Hello").await["reply"], "You said: Hello");
    // What will not go better is not tried again.
    kit.model.will([Turn::Fail(ProviderFault::Refused)]);
    kit.write(&id, "Hello").await.refused(502, "reply_failed");
    assert_eq!(kit.model.asked(), 6);
    kit.end(&id).await;
    assert_eq!(kit.charges().await.len(), 1);
}

/// A session in which the agent never replied costs nothing.
#[tokio::test]
async fn failed_replies_cost_nothing() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    kit.model.will([Turn::Fail(ProviderFault::Refused)]);
    kit.write(&id, "Hello").await.refused(502, "reply_failed");
    kit.end(&id).await;
    assert_eq!(kit.wallet().await, (1_000_000, 0));
}

#[tokio::test]
async fn a_model_that_stays_away_hands_the_chat_over() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    for _ in 0..2 {
        kit.model.will([Turn::Fail(ProviderFault::Refused)]);
        kit.write(&id, "Hello").await.refused(502, "reply_failed");
    }
    kit.model.will([Turn::Fail(ProviderFault::Refused)]);
    assert_eq!(kit.says(&id, "Hello").await, json!({"reply": null, "ended": false, "handedOff": true}));
    let asked = kit.events("chat.handoff_requested").await;
    assert_eq!((asked.len(), &asked[0]["data"]["reason"]), (1, &json!("ai_error")));
    assert_eq!(kit.transcript(&id).await, ["agent: Hello, I am Asha.", "user: Hello"]);
    // The next message after the handback is answered, and the agent knows what was said.
    kit.operator("POST", &format!("/chats/{id}/handback"), Value::Null).await.expect(200);
    assert_eq!(kit.says(&id, "Again").await["reply"], "You said: Again");
    assert_eq!(kit.model.shown(), ["agent: Hello, I am Asha.", "user: Hello", "user: Again"]);
}

#[tokio::test]
async fn an_opening_greets_even_when_the_model_is_away() {
    let kit = Chats::open().await;
    kit.model.will([
        Turn::Fail(ProviderFault::Forbidden),
        Turn::Fail(ProviderFault::Forbidden),
        Turn::Fail(ProviderFault::Forbidden),
    ]);
    let opened = kit.opening(&kit.agent).await.data(201);
    assert!(!opened["reply"].as_str().unwrap().is_empty());
    let id = opened["sessionId"].as_str().unwrap();
    assert_eq!(kit.says(id, "Hello").await["reply"], "You said: Hello");
}

#[tokio::test]
async fn a_key_is_free_again_after_a_failed_reply() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    let path = format!("/v1/chat/sessions/{id}/messages");
    let send = async || {
        kit.post_with(kit.live(), &path, &[("idempotency-key", "k")], &json!({"text": "Hello"})).await
    };
    kit.model.will([Turn::Fail(ProviderFault::Refused)]);
    send().await.refused(502, "reply_failed");
    assert_eq!(send().await.expect(200)["data"]["reply"], "You said: Hello");
}

/// A webhook tool that counts.
struct Parcels;

impl System for Parcels {
    fn answer(&self, _: &Request) -> Reply {
        Reply::ok(json!({"status": "on its way"}))
    }
}

/// A tool of the workspace at this address, offered to its agent; its id.
async fn give_tool(kit: &Chats, url: &str) -> String {
    let body = json!({"type": "webhook", "name": "look_up", "config": {"url": format!("{url}/parcels")}});
    let id = kit.operator("POST", "/tools", body).await.id(201);
    let path = format!("/v1/agents/{}", kit.agent);
    kit.put(&path, &json!({"toolIds": [id]})).await.expect(200);
    id
}

#[tokio::test]
async fn the_model_uses_a_tool() {
    let kit = Chats::open().await;
    let parcels = Fake::start(|_| Parcels).await;
    let look_up = give_tool(&kit, &parcels.url).await;
    let id = kit.session().await;
    kit.model.will([tool("Let me see.", &look_up, json!({"order": "1"})), say("It is on its way.")]);
    assert_eq!(kit.says(&id, "Where is it?").await["reply"], "Let me see.\n\nIt is on its way.");
    let got = parcels.got("/parcels");
    assert_eq!((got.len(), got[0].json()), (1, json!({"order": "1"})));
    assert_eq!(got[0].header("x-chat-id"), id);
    assert_eq!(
        kit.transcript(&id).await,
        ["agent: Hello, I am Asha.", "user: Where is it?", "agent: Let me see.\n\nIt is on its way."]
    );
}

/// A try that follows one which had called a tool does not ask for the call again.
#[tokio::test]
async fn a_reply_goes_on_after_its_tools() {
    let kit = Chats::open().await;
    let parcels = Fake::start(|_| Parcels).await;
    let look_up = give_tool(&kit, &parcels.url).await;
    let id = kit.session().await;
    kit.model.will([
        tool("Let me see.", &look_up, json!({})),
        Turn::Fail(ProviderFault::TimedOut),
        say("It is on its way."),
    ]);
    assert_eq!(kit.says(&id, "Where is it?").await["reply"], "Let me see.\n\nIt is on its way.");
    let keys: Vec<String> =
        parcels.got("/parcels").iter().map(|request| request.header("idempotency-key").to_owned()).collect();
    assert!(keys.len() == 1 && !keys[0].is_empty(), "its answer is known: {keys:?}");
}

/// A process dies in the middle of a reply: the next one writes it, once.
#[test]
fn a_crash_in_the_middle_of_a_reply() {
    let first = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (left, id) = {
        let kit = first.block_on(Chats::open());
        let id = first.block_on(kit.session());
        kit.model.will([Turn::Wait("never")]);
        let (model, path) = (kit.model.clone(), format!("/v1/chat/sessions/{id}/messages"));
        first.block_on(async {
            let headers = [("idempotency-key", "k")];
            let body = json!({"text": "Hello"});
            let send = kit.post_with(kit.live(), &path, &headers, &body);
            tokio::select! {
                _ = send => panic!("it waits"),
                () = model.asked_times(2) => {}
            }
        });
        (kit.world.crash(first), id)
    };
    let second = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    second.block_on(async {
        let writer = Writer::new();
        let port: Arc<dyn LanguageModel> = Arc::new(Model(writer.clone()));
        let world = left.start_ports(Arc::new(Line), |ports| ports.language_model = Some(port)).await;
        world.advance(0).await;
        let path = format!("/v1/chat/sessions/{id}");
        let shown = world.data(&path).await;
        assert_eq!(
            crate::chats::lines(&shown["messages"]),
            ["agent: Hello, I am Asha.", "user: Hello", "agent: You said: Hello"]
        );
        assert_eq!(writer.asked(), 1);
        // Who asked hears of it when he asks again.
        let (path, headers) = (format!("{path}/messages"), [("idempotency-key", "k")]);
        let again = world.post_with(world.live(), &path, &headers, &json!({"text": "Hello"})).await;
        again
            .expect(200)
            .shows(json!({"data": {"reply": "You said: Hello", "ended": false, "handedOff": false}}));
        world.post(&format!("/v1/chat/sessions/{id}/end"), &Value::Null).await.expect(200);
    });
    second.shutdown_timeout(std::time::Duration::from_secs(30));
}

/// Spoils one transaction of chats: the `n`-th from now on.
struct Spoiler(Mutex<Option<(usize, Fate)>>);

impl Faults for Spoiler {
    fn before(&self, place: CallSite) -> Pause<'_, Fate> {
        let mut plan = self.0.lock().unwrap();
        let fate = match &mut *plan {
            Some((left, _)) if *left > 0 && place.file().contains("chats/src") => {
                *left -= 1;
                None
            }
            Some(_) if place.file().contains("chats/src") => plan.take().map(|(_, fate)| fate),
            _ => None,
        };
        Box::pin(std::future::ready(fate.unwrap_or(Fate::Untouched)))
    }
}

/// Whichever transaction of a message fails, or is stored without its caller hearing of it: the message is either
/// not there, or has one reply, and the tool is called for the same thing only.
#[tokio::test]
async fn a_store_that_fails_anywhere() {
    let kit = Chats::open().await;
    let spoiler = Arc::new(Spoiler(Mutex::new(None)));
    kit.app().store.fail_as(spoiler.clone());
    let parcels = Fake::start(|_| Parcels).await;
    let look_up = give_tool(&kit, &parcels.url).await;
    *kit.model.usual.lock().unwrap() = Some(Box::new(move |order| match order.history.last() {
        Some(Exchange::ToolAnswered { .. }) => say("It is on its way."),
        _ => tool("Let me see.", &look_up, json!({})),
    }));
    for fate in [Fate::Refused(DbError::Unavailable("as the test wants it".into())), Fate::Unheard] {
        // The message, the progress before the tool and after it, the reply.
        for nth in 0..4 {
            let id = kit.session().await;
            *spoiler.0.lock().unwrap() = Some((nth, fate.clone()));
            let calls = parcels.count("/parcels");
            let answer = kit.write(&id, "Where is it?").await;
            assert!([200, 503].contains(&answer.status), "{}", answer.text);
            assert!(spoiler.0.lock().unwrap().is_none(), "transaction {nth} came");
            // The lease ends, and what was begun is taken up.
            kit.advance(90).await;
            kit.advance(90).await;
            let told = kit.transcript(&id).await;
            let whole =
                ["agent: Hello, I am Asha.", "user: Where is it?", "agent: Let me see.\n\nIt is on its way."];
            if nth == 0 && fate != Fate::Unheard {
                assert_eq!(told, whole[..1], "it was not taken");
            } else {
                assert_eq!(told, whole, "{fate:?} {nth}");
            }
            assert!(parcels.count("/parcels") - calls <= 1, "{fate:?} {nth}: a tool that may be called once");
            kit.end(&id).await;
        }
    }
    assert_eq!(kit.charges().await.len(), 7);
}

/// A reply whose node has gone is another one's after its lease; a late end of the first is not stored.
#[tokio::test]
async fn a_reply_belongs_to_who_tried_it_last() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    kit.model.will([Turn::Wait("Late.")]);
    let (answer, ()) = tokio::join!(kit.write(&id, "Hello"), async {
        kit.model.asked_times(2).await;
        kit.advance(90).await;
        kit.model.asked_times(3).await;
        kit.app
            .until(kit.live(), &format!("/v1/chat/sessions/{id}"), |shown| shown["data"]["messageCount"] == 3)
            .await;
        kit.model.gate.add_permits(1);
    });
    assert_eq!(answer.status, 200);
    assert_eq!(
        kit.transcript(&id).await,
        ["agent: Hello, I am Asha.", "user: Hello", "agent: You said: Hello"]
    );
}

/// What a client that asks for events gets, event by event.
async fn stream(kit: &Chats, session: &str, text: &str) -> Vec<(String, Value)> {
    let path = format!("{}/v1/chat/sessions/{session}/messages", kit.url);
    let body = json!({"text": text}).to_string();
    let address = path.trim_start_matches("http://");
    let (host, target) = address.split_once('/').unwrap();
    let request = format!(
        "POST /{target} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\naccept: text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        kit.live(),
        body.len()
    );
    let mut socket = tokio::net::TcpStream::connect(host).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut socket, request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut socket, &mut bytes).await.unwrap();
    let whole = String::from_utf8(bytes).unwrap();
    let (head, chunks) = whole.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200")
            && head.to_lowercase().contains("content-type: text/event-stream; charset=utf-8\r\n"),
        "{whole}"
    );
    assert!(!chunks.contains(['\u{85}', '\u{2028}', '\u{2029}']), "line ends of Unicode are escaped");
    let mut events = Vec::new();
    let mut name = String::new();
    for line in chunks.lines() {
        if let Some(of) = line.strip_prefix("event: ") {
            name = of.to_owned();
        } else if let Some(data) = line.strip_prefix("data: ") {
            events.push((std::mem::take(&mut name), serde_json::from_str(data).unwrap()));
        }
    }
    events
}

#[tokio::test]
async fn a_reply_comes_as_it_is_written() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    let piece = |text: &str| Said::Text(text.into());
    kit.model.will([Turn::Say(vec![piece("It is "), piece("on its way.\n\nData: soon")])]);
    let events = stream(&kit, &id, "Where?").await;
    let (last, before) = events.split_last().unwrap();
    let text: String = before
        .iter()
        .map(|(name, data)| {
            assert_eq!(name, "text");
            data["text"].as_str().unwrap()
        })
        .collect();
    assert_eq!(text, "It is on its way.\n\nData: soon");
    assert_eq!(*last, ("done".into(), json!({"data": {"reply": text, "ended": false, "handedOff": false}})));
    kit.model.will([Turn::Fail(ProviderFault::Refused)]);
    let failed = stream(&kit, &id, "Where?").await;
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].0, "error".to_owned());
    failed[0].1.shows(json!({"code": "reply_failed"}));
    kit.end(&id).await;
    kit.app
        .post_with(
            kit.live(),
            &format!("/v1/chat/sessions/{id}/messages"),
            &[("accept", "text/event-stream")],
            &json!({"text": "Hello"}),
        )
        .await
        .refused(409, "session_ended");
}

/// The bytes of अ and ✅ hold one that is a line end in Latin-1, and some clients part lines by Unicode's line ends.
#[tokio::test]
async fn words_of_any_script_stay_in_one_line_of_data() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    let words = "नमस्ते, अच्छा \u{2705} one\u{2028}two\u{2029}three\u{85}four";
    kit.model.will([say(words)]);
    let events = stream(&kit, &id, "Hello").await;
    assert_eq!(events[0], ("text".into(), json!({"text": words})));
    assert_eq!(events[1].1["data"]["reply"], words);
}

/// A client that goes away does not stop its reply.
#[tokio::test]
async fn who_hangs_up_is_answered_all_the_same() {
    let kit = Chats::open().await;
    let id = kit.session().await;
    kit.model.will([Turn::Wait("Here I am.")]);
    {
        let send = kit.write(&id, "Hello");
        tokio::select! {
            _ = send => panic!("it waits"),
            () = kit.model.asked_times(2) => {}
        }
    }
    kit.model.gate.add_permits(1);
    let path = format!("/v1/chat/sessions/{id}");
    kit.until(kit.live(), &path, |shown| shown["data"]["messageCount"] == 3).await;
    assert_eq!(kit.transcript(&id).await, ["agent: Hello, I am Asha.", "user: Hello", "agent: Here I am."]);
}

#[tokio::test]
async fn replies_in_work_are_bounded() {
    let kit = Chats::open_with(|config| config.chats.replies_per_workspace = 1).await;
    let (first, second) = (kit.session().await, kit.session().await);
    kit.model.will([Turn::Wait("First.")]);
    let (answer, refused) = tokio::join!(kit.write(&first, "one"), async {
        kit.model.asked_times(3).await;
        let refused = kit.write(&second, "two").await;
        kit.model.gate.add_permits(1);
        refused
    });
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.refused(429, "rate_limited");
    answer.expect(200);
    kit.says(&second, "two").await;
}
