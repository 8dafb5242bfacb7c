//! Rows of the tables of the contract that one test each is enough for: limits of interactive messages, filters of the
//! list of conversations, fields of messages and of events about who has a conversation
//! (docs/contract/channel.md#content, docs/contract/channel-conversations.md).

use serde_json::{Value, json};

use crate::channel_conversations::{ASHA, PATH, Room};
use crate::channel_messages::{PATH as MESSAGES, template};
use crate::chats::{Turn, chat_agent, lines};
use crate::cloud::{self, NUMBER, NUMBER_ID, notify};
use crate::world::Channel;

/// What reaches a limit of an interactive message is taken; one sign or one element more names the field.
#[tokio::test]
async fn what_reaches_a_limit_of_an_interactive_message_is_taken() {
    let desk = Channel::open().await;
    desk.hears(ASHA, "Hi").await;
    let x = |count: usize| "x".repeat(count);
    let button = |at: usize, id: usize, title: usize| json!({"id": format!("{at}{}", x(id - 1)), "title": format!("{at}{}", x(title - 1))});
    let buttons = |count: usize, id: usize, title: usize| {
        (0..count).map(|at| button(at, id, title)).collect::<Vec<_>>()
    };
    let rows = |from: usize, count: usize, id: usize, title: usize, description: usize| {
        let row = |at: usize| json!({"id": format!("{at:02}{}", x(id - 2)), "title": format!("{at:02}{}", x(title - 2)), "description": x(description)});
        (from..from + count).map(row).collect::<Vec<_>>()
    };
    let sections = |count: usize, title: usize| {
        (0..count).map(|at| json!({"title": x(title), "rows": rows(at, 1, 3, 3, 1)})).collect::<Vec<_>>()
    };
    let with = |mut base: Value, field: &str, value: Value| {
        base[field] = value;
        base
    };
    let three = json!({"type": "buttons", "header": x(60), "body": x(1_024), "footer": x(60), "buttons": buttons(3, 256, 20)});
    let list = json!({"type": "list", "header": x(60), "body": x(4_096), "footer": x(60), "button": x(20),
        "sections": [{"title": x(24), "rows": rows(0, 10, 200, 24, 72)}]});
    let link = json!({"type": "cta_url", "header": x(60), "body": x(1_024), "footer": x(60), "displayText": x(20),
        "url": "https://a.example/pay"});
    let taken = [&three, &list, &with(list.clone(), "sections", json!(sections(10, 24))), &link];
    for (at, interactive) in taken.into_iter().enumerate() {
        desk.send(&json!({"to": ASHA, "interactive": interactive})).await.expect(201);
        desk.advance(1).await;
        assert_eq!(desk.fake.system.sent().len(), at + 1);
    }
    let in_list = |id: usize, title: usize, description: usize| {
        with(list.clone(), "sections", json!([{"title": "s", "rows": rows(0, 1, id, title, description)}]))
    };
    for (interactive, field) in [
        (with(three.clone(), "header", json!(x(61))), "interactive.header"),
        (with(three.clone(), "footer", json!(x(61))), "interactive.footer"),
        (with(three.clone(), "body", json!(x(1_025))), "interactive.body"),
        (with(three.clone(), "body", json!("")), "interactive.body"),
        (with(three.clone(), "buttons", json!(buttons(4, 9, 9))), "interactive.buttons"),
        (with(three.clone(), "buttons", json!(buttons(1, 257, 9))), "interactive.buttons[0].id"),
        (with(three.clone(), "buttons", json!(buttons(1, 9, 21))), "interactive.buttons[0].title"),
        (with(list.clone(), "header", json!(x(61))), "interactive.header"),
        (with(list.clone(), "footer", json!(x(61))), "interactive.footer"),
        (with(list.clone(), "body", json!(x(4_097))), "interactive.body"),
        (with(list.clone(), "button", json!(x(21))), "interactive.button"),
        (with(list.clone(), "sections", json!([])), "interactive.sections"),
        (with(list.clone(), "sections", json!(sections(11, 3))), "interactive.sections"),
        (with(list.clone(), "sections", json!(sections(1, 25))), "interactive.sections[0].title"),
        (
            with(list.clone(), "sections", json!([{"title": "s", "rows": rows(0, 11, 3, 3, 1)}])),
            "interactive.sections[0].rows",
        ),
        (
            with(
                list.clone(),
                "sections",
                json!([{"title": "a", "rows": rows(0, 6, 3, 3, 1)}, {"title": "b", "rows": rows(6, 5, 3, 3, 1)}]),
            ),
            "interactive.sections",
        ),
        (
            with(
                list.clone(),
                "sections",
                json!([{"title": "a", "rows": rows(0, 1, 3, 3, 1)}, {"title": "b", "rows": rows(0, 1, 3, 3, 1)}]),
            ),
            "interactive.sections[1].rows[0].id",
        ),
        (in_list(201, 9, 9), "interactive.sections[0].rows[0].id"),
        (in_list(9, 25, 9), "interactive.sections[0].rows[0].title"),
        (in_list(9, 9, 73), "interactive.sections[0].rows[0].description"),
        (with(link.clone(), "header", json!(x(61))), "interactive.header"),
        (with(link.clone(), "footer", json!(x(61))), "interactive.footer"),
        (with(link.clone(), "body", json!(x(1_025))), "interactive.body"),
        (with(link.clone(), "displayText", json!(x(21))), "interactive.displayText"),
        (with(link.clone(), "url", json!("http://a.example/pay")), "interactive.url"),
    ] {
        // A test key is told the same.
        for key in [desk.live(), desk.test()] {
            let body = json!({"to": ASHA, "interactive": interactive});
            let refused = desk.app.post(key, MESSAGES, &body).await.invalid();
            assert_eq!(refused["meta"]["field"], field, "{interactive}");
        }
    }
    assert_eq!(desk.fake.system.sent().len(), 4);
}

/// Two conversations that differ in everything: each filter finds one of them.
#[tokio::test]
async fn each_filter_of_the_list_of_conversations_narrows_it_down() {
    let room = Room::open().await;
    let (app, live) = (&room.app, room.live());
    let first = room.started().await;
    room.act(&first, "end", Value::Null).await.expect(200);
    app.advance(60).await;
    let between = app.now().await;
    app.advance(60).await;
    let agent = room.agent(&chat_agent()).await;
    let number = json!({"number": "+918047111333", "displayName": "Acme", "agentId": agent});
    let number = room.add_channel_number(&number).await.expect(201)["data"]["phoneNumberId"].clone();
    let ravi = "+919812345679";
    room.customer(json!({"phoneNumberId": number, "from": ravi, "text": "Hi"})).await;
    let listed = room.conversations("").await;
    let [second, of_first] = &listed[..] else { panic!("{listed:?}") };
    assert_eq!(of_first["id"], first.as_str());
    for (query, found) in [
        (format!("agentId={}", room.agent), of_first),
        (format!("agentId={agent}"), second),
        (format!("phoneNumberId={}", room.number), of_first),
        (format!("phoneNumberId={}", number.as_str().unwrap()), second),
        (format!("contactId={}", of_first["contactId"].as_str().unwrap()), of_first),
        (format!("contactId={}", second["contactId"].as_str().unwrap()), second),
        (format!("customer=%2B{}", &ASHA[1..]), of_first),
        (format!("customer=%2B{}", &ravi[1..]), second),
        ("status=ended".to_owned(), of_first),
        ("status=active".to_owned(), second),
        ("endCause=completed".to_owned(), of_first),
        ("origin=template_start".to_owned(), of_first),
        ("origin=inbound".to_owned(), second),
        (format!("startedBefore={between}"), of_first),
        (format!("startedAfter={between}"), second),
    ] {
        let listed = room.conversations(&format!("?{query}")).await;
        assert_eq!(listed, std::slice::from_ref(found), "{query}");
    }
    for query in
        ["status=open", "endCause=tired", "origin=nowhere", "startedAfter=yesterday", "includeTest=maybe"]
    {
        app.get(live, &format!("{PATH}?{query}")).await.invalid();
    }
    // Fifty are shown unless another number is asked for.
    for at in 0..50 {
        room.customer(json!({"from": format!("+9198123456{at:02}"), "text": "Hi"})).await;
    }
    let page = app.get(live, PATH).await.expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 50);
    let rest = room.conversations(&format!("?cursor={}", page["nextCursor"].as_str().unwrap())).await;
    assert_eq!(rest.len(), 2);
    assert_eq!(room.conversations("?limit=100").await.len(), 52);
}

/// Every field of a message, in the answer, in the list and in its events.
#[tokio::test]
async fn a_message_tells_the_same_of_itself_everywhere() {
    let desk = Channel::open().await;
    let (app, live) = (&desk.app, desk.workspace.live.as_str());
    let known = json!({"phone": ASHA, "name": "Asha", "externalRef": "crm-1"});
    let contact = app.post(live, "/v1/contacts", &known).await.expect(201)["data"]["id"].clone();
    desk.cloud_template("due", "UTILITY").await;
    let templates = app.get(live, "/v1/chatapp/templates").await.data(200);
    let made = desk.send(&template("due")).await.data(201);
    let id = made["messageId"].as_str().unwrap().to_owned();
    assert!(id.starts_with("camsg_"), "{made}");
    let thread = made["threadId"].as_str().unwrap().to_owned();
    assert!(thread.starts_with("msgth_"), "{made}");
    let named = json!({"id": templates[0]["id"], "name": "due", "language": "en", "category": "UTILITY"});
    for (field, value) in [
        ("contactId", contact.clone()),
        ("externalRef", json!("crm-1")),
        ("direction", json!("outbound")),
        ("source", json!("api")),
        ("type", json!("template")),
        ("text", json!("Hi Asha, it is due.")),
        ("template", named.clone()),
        ("media", Value::Null),
        ("from", json!(NUMBER)),
        ("to", json!(ASHA)),
        ("chatId", Value::Null),
        ("agentId", Value::Null),
        ("customerUserId", Value::Null),
        ("customerUsername", Value::Null),
        ("phoneNumberId", json!(NUMBER_ID)),
        ("status", json!("sent")),
    ] {
        assert_eq!(made[field], value, "{field}");
    }
    let provider_id = made["providerMessageId"].as_str().unwrap().to_owned();
    for word in ["sent", "delivered", "read"] {
        desk.advance(1).await;
        desk.reports(&provider_id, word).await;
        desk.reports(&provider_id, word).await;
    }
    let seen = desk.message(&json!(id)).await;
    let times = &seen["statuses"];
    assert!(["sentAt", "deliveredAt", "readAt"].into_iter().all(|at| times[at].is_string()), "{times}");
    assert_eq!((&times["failedAt"], &seen["status"]), (&Value::Null, &json!("read")));
    assert_eq!(desk.messages("direction=outbound").await, std::slice::from_ref(&seen));
    // What an event tells is the message as it was then; of the template it has no id.
    let mut variant = named;
    variant.as_object_mut().unwrap().remove("id");
    for word in ["sent", "delivered", "read"] {
        let told = desk.payloads(&format!("message.{word}")).await;
        assert_eq!(told.len(), 1, "{word}: once for each status");
        for (field, value) in told[0].as_object().unwrap() {
            match field.as_str() {
                "template" => assert_eq!(*value, variant, "{word}"),
                "status" => assert_eq!(value, word),
                "statuses" => assert!(value[format!("{word}At")].is_string(), "{word}: {value}"),
                _ => assert_eq!(*value, seen[field], "{word}: {field}"),
            }
        }
    }
    // What she answers belongs to the same thread and the same contact; what somebody else writes to another one.
    desk.hears(ASHA, "Thanks").await;
    desk.hears("+919812345670", "Hello").await;
    let told = desk.payloads("message.received").await;
    assert_eq!(told.len(), 2);
    assert_eq!(
        json!([
            told[0]["threadId"],
            told[0]["contactId"],
            told[0]["externalRef"],
            told[0]["from"],
            told[0]["to"]
        ]),
        json!([thread, contact, "crm-1", ASHA, NUMBER])
    );
    assert_ne!(told[1]["threadId"], thread.as_str());
    // Who hides the number is known by what the channel tells instead.
    let hidden = json!({"from_user_id": "IN.4711000111222333", "id": "wamid.h1", "timestamp": desk.seconds().to_string(),
        "type": "text", "text": {"body": "Hi"}});
    let person = json!({"user_id": "IN.4711000111222333", "profile": {"name": "Mira", "username": "mira.k"}});
    desk.told(json!({"contacts": [person], "messages": [hidden]})).await;
    let told = desk.payloads("message.received").await.pop().unwrap();
    assert_eq!(
        json!([told["from"], told["customerUserId"], told["customerUsername"]]),
        json!([null, "IN.4711000111222333", "mira.k"])
    );
}

#[tokio::test]
async fn who_has_a_conversation_is_told_with_its_words_and_names() {
    let room = Room::open().await;
    room.tools(json!(["transfer_to_human"])).await;
    room.writes("Hi").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    room.act(&id, "takeover", json!({"agentName": "Ravi", "note": "angry"})).await.expect(200);
    room.act(&id, "handback", json!({"note": "calm"})).await.expect(200);
    let told = room.events("chat.handed_back").await;
    let data = &told[0]["data"];
    assert_eq!(
        json!([told.len(), data["by"], data["note"], data["messagesAdded"]]),
        json!([1, "helpdesk", "calm", 0])
    );
    room.model.will([crate::chats::tool("", "transfer_to_human", json!({}))]);
    room.writes("A person please").await;
    room.reply().await;
    let at = room.now().await;
    let told = room.events("chat.handoff_requested").await;
    let data = &told[0]["data"];
    assert_eq!(json!([told.len(), data["reason"]]), json!([1, null]));
    assert!(data["handoffAt"].as_str().unwrap() <= at.as_str(), "{data}");
    assert_eq!(data["handoff"], json!({"reason": null, "requestedAt": data["handoffAt"], "userId": null}));
    let user = room.add_member("ravi@example.com", "editor").await;
    room.act(&id, "assign", json!({"userId": user})).await.expect(200);
    let told = room.events("chat.assigned").await;
    let data = &told[0]["data"];
    assert_eq!(
        json!([told.len(), data["assignedTo"], data["reason"], data["handoff"]["userId"]]),
        json!([1, {"userId": user, "name": "Ravi"}, "manual", user])
    );
}

/// Who takes a conversation while the agent writes has the word: what the agent would have said is dropped.
#[tokio::test]
async fn a_reply_that_is_being_written_is_dropped_when_somebody_takes_the_conversation() {
    for what in ["takeover", "assign", "end"] {
        let room = Room::open().await;
        room.writes("Hi").await;
        room.model.will([Turn::Wait("Too late.")]);
        room.reply().await;
        room.model.asked_times(1).await;
        let id = room.conversations("").await[0]["id"].as_str().unwrap().to_owned();
        let body = match what {
            "assign" => json!({"userId": room.add_member("ravi@example.com", "editor").await}),
            _ => Value::Null,
        };
        room.act(&id, what, body).await.expect(200);
        room.model.gate.add_permits(1);
        room.advance(120).await;
        assert_eq!(lines(&room.conversation(&id).await["messages"]), ["user: Hi"], "{what}");
        assert_eq!(room.sent("agent").await, Vec::<String>::new(), "{what}");
        assert_eq!(room.model.asked(), 1, "{what}");
    }
}

/// What is refused with a live key is refused with a test key, and neither leaves anything behind.
#[tokio::test]
async fn a_refused_message_is_refused_to_a_test_key_too() {
    let desk = Channel::open().await;
    let (app, live) = (&desk.app, desk.workspace.live.as_str());
    desk.cloud_template("due", "UTILITY").await;
    desk.cloud_template("offer", "MARKETING").await;
    desk.fake
        .system
        .put_template(json!({"id": "901", "name": "paused", "language": "en", "category": "UTILITY",
        "status": "PAUSED", "components": [{"type": "BODY", "text": "Hi {{1}}, it is due."}]}));
    app.post(live, "/v1/chatapp/templates/sync", &Value::Null).await.expect(200);
    let listed = "+919812345671";
    app.post(live, "/v1/dnc", &json!({"phones": [listed]})).await.expect(200);
    let with = |field: &str, value: Value| {
        let mut body = template("due");
        body[field] = value;
        body
    };
    let ahead = json!({"source": "form", "capturedAt": "2099-01-01T00:00:00Z"});
    for (body, status, code) in [
        (with("to", json!("nobody")), 422, "invalid_number"),
        (with("optIn", ahead), 422, "invalid_opt_in"),
        (template("nobodys"), 400, "template_not_found"),
        (template("paused"), 422, "template_unavailable"),
        (template("offer"), 403, "opt_in_required"),
        (with("to", json!(listed)), 403, "contact_opted_out"),
        (with("template", json!({"name": "due", "language": "en"})), 422, "template_params_invalid"),
        (json!({"to": ASHA, "text": "Hello"}), 409, "window_closed"),
        (json!({"to": ASHA, "location": {"latitude": 1, "longitude": 1}}), 409, "window_closed"),
        (json!({"to": ASHA, "text": "Hello", "media": {}}), 400, "invalid_request"),
    ] {
        for key in [live, desk.test()] {
            desk.app.post(key, MESSAGES, &body).await.refused(status, code);
        }
    }
    assert_eq!((desk.fake.system.sent().len(), desk.messages("limit=10").await.len()), (0, 0));
    let people = app.get(live, "/v1/contacts").await.expect(200);
    assert_eq!(people["data"], json!([]), "nobody became a contact");
}

/// Each status of a template, as a notification tells it: whether it is one, and whether the template can be sent.
#[tokio::test]
async fn a_template_is_sent_while_it_is_approved_and_not_otherwise() {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
    let live = desk.workspace.live.as_str();
    let (mut times, mut moment) = (0, 1_795_000_000);
    for (event, status) in [
        ("PENDING", "PENDING"),
        ("APPROVED", "APPROVED"),
        ("FLAGGED", "APPROVED"),
        ("LOCKED", "APPROVED"),
        ("UNLOCKED", "APPROVED"),
        ("REJECTED", "REJECTED"),
        ("IN_APPEAL", "IN_APPEAL"),
        ("REINSTATED", "APPROVED"),
        ("PAUSED", "PAUSED"),
        ("UNPAUSED", "APPROVED"),
        ("DISABLED", "DISABLED"),
        ("REINSTATED", "APPROVED"),
        ("ARCHIVED", "ARCHIVED"),
        ("UNARCHIVED", "APPROVED"),
        ("LIMIT_EXCEEDED", "LIMIT_EXCEEDED"),
        ("APPROVED", "APPROVED"),
        ("PENDING_DELETION", "PENDING_DELETION"),
    ] {
        let mut news = cloud::template_event("773", "due", event);
        // What is told a second time at another moment is no repeat.
        moment += 60;
        news["entry"][0]["time"] = json!(moment);
        notify(&desk.app, &desk.hook, &news).await.expect(200);
        // One person gets a message in six seconds.
        desk.advance(7).await;
        let shown = desk.app.get(live, "/v1/chatapp/templates").await.expect(200)["data"][0].clone();
        assert_eq!(shown["status"], status, "{event}");
        let told = desk.payloads("chatapp.template.updated").await.pop().unwrap();
        assert_eq!((&told["event"], &told["status"]), (&json!(event), &json!(status)));
        let answer = desk.send(&template("due")).await;
        if status == "APPROVED" {
            answer.expect(201);
            times += 1;
        } else {
            answer.refused(422, "template_unavailable");
        }
        assert_eq!(desk.fake.system.sent().len(), times, "{event}");
    }
}
