//! What customers write on the messaging channel, and what the business writes in its own app
//! (docs/contract/channel-messages.md#received).

use serde_json::{Value, json};

use crate::channel_messages::{ASHA, PATH, template};
use crate::cloud::{self, NUMBER_ID, notify};
use crate::fakes::Reply;
use crate::shows::Shows;
use crate::world::Channel;

#[tokio::test]
async fn what_the_business_writes_in_its_own_app_is_kept_once() {
    let desk = Channel::open().await;
    desk.hears(ASHA, "Hi").await;
    let echo = |id: &str| {
        let message = json!({"from": "918047111222", "to": "919812345678", "id": id, "timestamp": desk.seconds().to_string(),
            "type": "text", "text": {"body": "We call you back."}});
        cloud::change(
            "smb_message_echoes",
            json!({"messaging_product": "whatsapp", "metadata": {"display_phone_number": "918047111222", "phone_number_id": NUMBER_ID},
                "message_echoes": [message]}),
        )
    };
    for id in ["wamid.e1", "wamid.e1"] {
        notify(&desk.app, &desk.hook, &echo(id)).await.expect(200);
        desk.advance(0).await;
    }
    let made = desk.text("Hello").await.data(201);
    // What was sent here is no message of somebody else.
    let own = made["providerMessageId"].as_str().unwrap();
    notify(&desk.app, &desk.hook, &echo(own)).await.expect(200);
    desk.advance(0).await;
    let sent: Vec<Value> = desk
        .messages("direction=outbound")
        .await
        .iter()
        .map(|message| json!([message["source"], message["status"], message["text"]]))
        .collect();
    assert_eq!(sent, [json!(["api", "sent", "Hello"]), json!(["system", "sent", "We call you back."])]);
    assert_eq!(desk.fake.system.sent().len(), 1);
}

/// Items that are worked in one transaction see what those before them did.
#[tokio::test]
async fn what_comes_in_one_notification_is_worked_in_its_order() {
    let desk = Channel::open().await;
    desk.cloud_template("due", "UTILITY").await;
    let made = desk.send(&template("due")).await.data(201);
    let id = made["providerMessageId"].as_str().unwrap();
    let (now, new, other) = (desk.seconds(), "+919812345701", "+919812345702");
    let contact = |of: &str| json!({"wa_id": of.trim_start_matches('+'), "profile": {"name": "Ravi"}});
    let statuses: Vec<Value> =
        ["delivered", "read", "sent"].iter().map(|word| cloud::status(id, word, now, ASHA)).collect();
    let messages = json!([
        cloud::text("wamid.a1", new, now, "Hi"),
        cloud::text("wamid.a2", new, now, "Are you there?"),
        // The same once more, and somebody else in between.
        cloud::text("wamid.a1", new, now, "Hi"),
        cloud::text("wamid.b1", other, now, "STOP"),
        cloud::text("wamid.b2", other, now, "And one more"),
        cloud::text("wamid.a3", new, now, "Hello?"),
    ]);
    let value =
        json!({"contacts": [contact(new), contact(other)], "messages": messages, "statuses": statuses});
    desk.told(value).await;
    assert_eq!(desk.message(&made["messageId"]).await["status"], "read");
    let received = desk.messages("direction=inbound").await;
    assert_eq!(received.len(), 5);
    let of = |person: &str| received.iter().filter(|row| row["from"] == person).collect::<Vec<_>>();
    let mut words: Vec<&str> = of(new).iter().map(|row| row["text"].as_str().unwrap()).collect();
    words.reverse();
    assert_eq!(words, ["Hi", "Are you there?", "Hello?"]);
    assert_eq!(
        of(new).iter().map(|row| &row["contactId"]).collect::<std::collections::HashSet<_>>().len(),
        1
    );
    for (kind, count) in
        [("message.received", 5), ("message.read", 1), ("message.delivered", 1), ("contact.opted_out", 1)]
    {
        assert_eq!(desk.payloads(kind).await.len(), count, "{kind}");
    }
    desk.send(&json!({"to": new, "text": "Yes"})).await.expect(201);
    desk.send(&json!({"to": other, "text": "Yes"})).await.refused(403, "contact_opted_out");
}

#[tokio::test]
async fn a_message_that_comes_twice_is_stored_once_and_its_file_is_kept() {
    let desk = Channel::open().await;
    desk.fake.system.put_media("900", "image/jpeg", "the bytes");
    let message = json!({"from": "919812345678", "id": "wamid.media", "timestamp": desk.seconds().to_string(), "type": "image",
        "image": {"id": "900", "mime_type": "image/jpeg", "caption": "Look"}});
    for _ in 0..2 {
        desk.told(json!({"messages": [message]})).await;
    }
    desk.advance(1).await;
    let listed = desk.messages("direction=inbound").await;
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["type"], &listed[0]["text"]), (&json!("image"), &json!("Look")));
    listed[0]["media"].shows(json!({"available": true, "mimeType": "image/jpeg"}));
    let path = format!("{PATH}/{}/media", listed[0]["messageId"].as_str().unwrap());
    let file = desk.fetch(&path).await;
    assert_eq!(
        (file.status, file.text.as_str(), file.header("content-type")),
        (200, "the bytes", Some("image/jpeg"))
    );
    assert_eq!(desk.payloads("message.received").await.len(), 1);
    // Erasure takes the words, the file and the number.
    let contact = listed[0]["contactId"].as_str().unwrap();
    let erased = desk.erase(contact).await.expect(200);
    assert_eq!(erased["data"]["erased"]["messages"], 1);
    let gone = desk.message(&listed[0]["messageId"]).await;
    gone.shows(json!({"status": "deleted", "text": null, "from": null, "media": null}));
    desk.fetch(&path).await.not_found();
    desk.cloud_template("due", "UTILITY").await;
    let refused = desk.send(&template("due")).await;
    assert_eq!(refused.json["meta"]["reason"], "erased", "{}", refused.text);
    refused.refused(403, "contact_opted_out");
}

#[tokio::test]
async fn a_file_that_is_larger_than_the_channel_allows_is_given_up_at_once() {
    let desk = Channel::open().await;
    // One says so itself; of the other, bytes come without an end.
    desk.fake.system.put_media("900", "image/jpeg", &"x".repeat((5 << 20) + 1));
    desk.fake.system.put_media("901", "image/jpeg", "some bytes");
    desk.fake.fail_always("/files/901", Reply::Endless);
    for id in ["900", "901"] {
        let message = json!({"from": "919812345678", "id": format!("wamid.{id}"), "timestamp": desk.seconds().to_string(),
            "type": "image", "image": {"id": id, "mime_type": "image/jpeg"}});
        desk.told(json!({"messages": [message]})).await;
    }
    desk.fake.wait_for("/files/901", 1).await;
    desk.advance(86_400).await;
    let listed = desk.messages("direction=inbound").await;
    assert_eq!(listed.len(), 2);
    for message in &listed {
        assert_eq!(message["media"]["available"], false);
        let path = format!("{PATH}/{}/media", message["messageId"].as_str().unwrap());
        desk.fetch(&path).await.not_found();
    }
    assert_eq!(desk.fake.count("/files/900"), 0, "what is too large is not asked for");
    assert_eq!(desk.fake.count("/files/901"), 1, "it is not tried again");
}

#[tokio::test]
async fn what_a_customer_changes_or_deletes_is_changed_or_gone() {
    let desk = Channel::open().await;
    desk.fake.system.put_media("900", "image/jpeg", "the bytes");
    let of = |id: &str, kind: &str, what: Value| {
        let mut message =
            json!({"from": "919812345678", "id": id, "timestamp": desk.seconds().to_string(), "type": kind});
        message[kind] = what;
        json!({"messages": [message]})
    };
    let picture = json!({"id": "900", "mime_type": "image/jpeg", "caption": "Look"});
    desk.told(of("wamid.media", "image", picture)).await;
    desk.advance(1).await;
    let kept = || {
        let folder = desk.app().config.data.join("channel");
        std::fs::read_dir(folder).map_or(0, |files| files.count())
    };
    assert_eq!(kept(), 1);
    let id = desk.messages("direction=inbound").await[0]["messageId"].clone();
    let edit = |to: &str| json!({"original_message_id": "wamid.media", "message": {"caption": to}});
    desk.told(of("wamid.e1", "edit", edit("Look here"))).await;
    let seen = desk.message(&id).await;
    assert_eq!((&seen["text"], &seen["status"]), (&json!("Look here"), &json!("received")));
    let revoke = |original: &str| json!({"original_message_id": original});
    desk.told(of("wamid.r0", "revoke", revoke("wamid.unknown"))).await;
    for id in ["wamid.r1", "wamid.r2"] {
        desk.told(of(id, "revoke", revoke("wamid.media"))).await;
    }
    // What is gone does not come back.
    desk.told(of("wamid.e2", "edit", edit("Again"))).await;
    let gone = desk.message(&id).await;
    gone.shows(json!({"status": "deleted", "text": null, "media": null}));
    let path = format!("{PATH}/{}/media", id.as_str().unwrap());
    desk.fetch(&path).await.not_found();
    desk.advance(60).await;
    assert_eq!(kept(), 0, "the file is gone, too");
    // None of these is a message of its own.
    assert_eq!(desk.messages("direction=inbound").await.len(), 1);
    assert_eq!(desk.payloads("message.received").await.len(), 1);
}

#[tokio::test]
async fn who_hides_the_number_is_one_person_when_it_is_shown() {
    let desk = Channel::open().await;
    let hidden = json!({"from_user_id": "IN.4711000111222333", "id": "wamid.h1", "timestamp": desk.seconds().to_string(),
        "type": "text", "text": {"body": "Hi"}});
    let contact =
        json!({"user_id": "IN.4711000111222333", "profile": {"name": "Asha", "username": "asha.k"}});
    desk.told(json!({"contacts": [contact], "messages": [hidden]})).await;
    let listed = desk.messages("direction=inbound").await;
    listed[0].shows(json!({"from": null, "customerUserId": "IN.4711000111222333"}));
    let sent = desk.send(&json!({"to": "IN.4711000111222333", "text": "Hello"})).await.data(201);
    assert_eq!((&sent["to"], &sent["customerUserId"]), (&Value::Null, &json!("IN.4711000111222333")));
    let mut shown = cloud::text("wamid.h2", ASHA, desk.seconds(), "It is me");
    shown["from_user_id"] = json!("IN.4711000111222333");
    let contact =
        json!({"wa_id": "919812345678", "user_id": "IN.4711000111222333", "profile": {"name": "Asha"}});
    desk.told(json!({"contacts": [contact], "messages": [shown]})).await;
    let listed = desk.messages("limit=10").await;
    assert_eq!(listed.len(), 3);
    assert!(listed.iter().all(|message| message["contactId"] == listed[0]["contactId"]), "{listed:?}");
}

/// Deep values and signs that PostgreSQL does not store: both are kept without what is too much, and what the person
/// writes next is not held up.
#[tokio::test]
async fn whatever_a_message_holds_it_is_kept_and_a_stop_behind_it_is_obeyed() {
    let desk = Channel::open().await;
    let z = "a\u{0}b";
    let deep = format!("{}1{}", "[".repeat(126), "]".repeat(126));
    let mut number = 0;
    for (kind, what) in [
        (
            "interactive",
            json!({"type": "nfm_reply", "nfm_reply": {"name": z, "body": z, "response_json": deep}}),
        ),
        (
            "interactive",
            json!({"type": "nfm_reply", "nfm_reply": {"response_json": "{\"a\\u0000\": \"\\u0000\"}"}}),
        ),
        ("order", json!({z: [z]})),
        ("contacts", json!([{z: {z: z}}])),
        ("text", json!({"body": z})),
        ("button", json!({"payload": z, "text": z})),
        ("location", json!({"latitude": 1, "longitude": 2, "name": z, "address": z})),
        ("reaction", json!({"message_id": "wamid.in0", "emoji": z})),
        (z, json!({z: z})),
    ] {
        number += 1;
        let from = format!("+9198123457{number:02}");
        let contact = json!({"wa_id": from.trim_start_matches('+'), "profile": {"name": z, "username": z}});
        let mut message = json!({"from": from.trim_start_matches('+'), "id": format!("wamid.z{number}"),
            "timestamp": desk.seconds().to_string(), "type": kind, "referral": {"source_id": z, "headline": z, "body": z}});
        message[kind] = what;
        let stop = cloud::text(&format!("wamid.s{number}"), &from, desk.seconds(), "STOP");
        desk.told(json!({"contacts": [contact], "messages": [message, stop]})).await;
        let refused = desk.send(&json!({"to": from, "text": "Hello"})).await;
        assert_eq!(refused.json["meta"]["reason"], "opted_out", "{kind}: {}", refused.text);
    }
    let listed = desk.messages("direction=inbound&limit=100").await;
    assert_eq!(listed.len(), 2 * number);
    assert_eq!(desk.payloads("message.received").await.len(), 2 * number);
    assert!(!json!(listed).to_string().contains("\\u0000"));
}

#[tokio::test]
async fn only_its_author_changes_or_deletes_a_message() {
    let desk = Channel::open().await;
    let other = "+919812345701";
    desk.hears(ASHA, "Hi").await;
    desk.hears(other, "Hello").await;
    let made = desk.text("Good morning").await.data(201);
    let mine =
        desk.messages("direction=inbound").await.iter().find(|row| row["from"] == ASHA).unwrap()["messageId"]
            .clone();
    let of = |from: &str, id: &str, kind: &str, original: &str| {
        let mut message = json!({"from": from.trim_start_matches('+'), "id": id, "timestamp": desk.seconds().to_string(), "type": kind});
        message[kind] = json!({"original_message_id": original, "message": {"text": {"body": "Changed"}}});
        json!({"messages": [message]})
    };
    let sent = made["providerMessageId"].as_str().unwrap();
    for (at, from) in [other, "+919812345702"].into_iter().enumerate() {
        desk.told(of(from, &format!("wamid.e{at}"), "edit", "wamid.in0")).await;
        desk.told(of(from, &format!("wamid.r{at}"), "revoke", "wamid.in0")).await;
    }
    // Nor is a message of the business theirs.
    for (at, kind) in ["edit", "revoke"].into_iter().enumerate() {
        desk.told(of(ASHA, &format!("wamid.b{at}"), kind, sent)).await;
    }
    for (id, text, status) in [(&mine, "Hi", "received"), (&made["messageId"], "Good morning", "sent")] {
        let seen = desk.message(id).await;
        assert_eq!((&seen["text"], &seen["status"]), (&json!(text), &json!(status)));
    }
    assert_eq!(desk.get("/v1/contacts").await["data"].as_array().unwrap().len(), 2);
    desk.told(of(ASHA, "wamid.own", "edit", "wamid.in0")).await;
    assert_eq!(desk.message(&mine).await["text"], "Changed");
    // Who hides the number has an id, and is the same person once it is shown.
    let hidden = json!({"from_user_id": "IN.4711", "id": "wamid.h1", "timestamp": desk.seconds().to_string(), "type": "text",
        "text": {"body": "Secret"}});
    desk.told(json!({"messages": [hidden]})).await;
    let mut shown = of("+919812345703", "wamid.h2", "revoke", "wamid.h1");
    desk.told(shown.clone()).await;
    let count = async || desk.messages("status=deleted").await.len();
    assert_eq!(count().await, 0);
    shown["messages"][0]["id"] = json!("wamid.h3");
    shown["messages"][0]["from_user_id"] = json!("IN.4711");
    desk.told(shown).await;
    assert_eq!(count().await, 1);
}

/// The provider's own sample has another form of a user id, and whatever the form, nobody sends the message again.
#[tokio::test]
async fn whoever_sent_it_a_message_is_kept() {
    let desk = Channel::open().await;
    for (at, id) in ["user.93737a8c1e", "IN.4711", "weird_id-7:a"].into_iter().enumerate() {
        let contact = json!({"profile": {"name": "Asha", "username": "asha.k"}, "wa_id": "", "user_id": id});
        let message = json!({"from": "", "from_user_id": id, "id": format!("wamid.47{at}"),
            "timestamp": desk.seconds().to_string(), "type": "text", "text": {"body": "Hello"}});
        desk.told(json!({"contacts": [contact], "messages": [message]})).await;
        let listed = desk.messages("direction=inbound").await;
        assert_eq!((listed.len(), &listed[0]["customerUserId"]), (at + 1, &json!(id)));
        let answer = desk.send(&json!({"to": id, "text": "Hello"})).await;
        match at {
            2 => drop(answer.refused(422, "invalid_number")),
            _ => assert_eq!(answer.expect(201)["data"]["customerUserId"], id),
        }
    }
}

/// What is received names messages by their ids here; what is not known here keeps the provider's.
#[tokio::test]
async fn replies_and_reactions_name_the_ids_of_messages_here() {
    let desk = Channel::open().await;
    desk.hears(ASHA, "Hi").await;
    let made = desk.text("Hello").await.data(201);
    let (id, theirs) = (&made["messageId"], &made["providerMessageId"]);
    for (at, (named, shown)) in
        [(theirs, id), (&json!("wamid.other"), &json!("wamid.other"))].into_iter().enumerate()
    {
        let mut reply = cloud::text(&format!("wamid.r{at}"), ASHA, desk.seconds(), "Yes");
        reply["context"] = json!({"id": named});
        let reaction = json!({"from": "919812345678", "id": format!("wamid.x{at}"), "timestamp": desk.seconds().to_string(),
            "type": "reaction", "reaction": {"message_id": named, "emoji": "\u{1f44d}"}});
        desk.told(json!({"messages": [reply, reaction]})).await;
        let listed = desk.messages("direction=inbound&limit=2").await;
        assert_eq!((&listed[1]["replyTo"], &listed[0]["reaction"]["messageId"]), (shown, shown));
        let told = desk.payloads("message.received").await;
        let [.., reply, reaction] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!((&reply["replyTo"], &reaction["reaction"]["messageId"]), (shown, shown));
    }
}

#[tokio::test]
async fn who_shares_their_own_number_has_it_from_then_on() {
    let desk = Channel::open().await;
    let id = "IN.4711000111222333";
    let from = |at: usize, more: Value| {
        let mut message = json!({"from_user_id": id, "id": format!("wamid.h{at}"), "timestamp": desk.seconds().to_string()});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"contacts": [{"user_id": id, "profile": {"name": "Asha"}}], "messages": [message]})
    };
    let card =
        |phone: &str| json!({"name": {"formatted_name": "A"}, "phones": [{"phone": phone, "wa_id": phone}]});
    desk.told(from(0, json!({"type": "text", "text": {"body": "Hi"}}))).await;
    // The card of somebody else says nothing of who sends it.
    desk.told(from(1, json!({"type": "contacts", "contacts": [card("919812399999")]}))).await;
    let phone = async || {
        let contact = desk.messages("direction=inbound").await[0]["contactId"].as_str().unwrap().to_owned();
        desk.get(&format!("/v1/contacts/{contact}")).await["data"]["phone"].clone()
    };
    assert_eq!(phone().await, Value::Null);
    let mut own = card("919812345678");
    own["origin"] = json!("contact_request");
    desk.told(from(2, json!({"type": "contacts", "contacts": [own]}))).await;
    assert_eq!(phone().await, ASHA);
    let listed = desk.messages("direction=inbound").await;
    assert!(listed.iter().all(|message| message["contactId"] == listed[0]["contactId"]), "{listed:?}");
    let sent = desk.send(&json!({"to": ASHA, "text": "Hello"})).await.expect(201);
    assert_eq!(sent["data"]["contactId"], listed[0]["contactId"]);
}
