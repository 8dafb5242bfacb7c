//! Round robin (docs/contract/inbox.md#round-robin): who is present, who is next, ceilings, and chats that nobody answers.

use domain::tenant::Role;
use serde_json::{Value, json};

use crate::app::Answer;
use crate::channel_conversations::Room;
use crate::chats::{Chats, tool};
use crate::inbox::{handing_over, hands_over, waiting};
use crate::shows::Shows;
use crate::world::{Member, World};

/// Round robin with this ceiling.
async fn switch_on(world: &World, ceiling: i64) -> Member {
    let admin = world.member(Role::Admin).await;
    let body = json!({"assignment": "round_robin", "maxOpenPerMember": ceiling});
    admin.put("/v1/inbox/assignment", &body).await.data(200).shows(json!({"firstResponseMinutes": null}));
    admin
}

impl Member {
    async fn is(&self, available: bool) -> Answer {
        self.put("/v1/inbox/availability", &json!({"available": available})).await
    }

    async fn comes(&self) {
        self.is(true).await.data(200).shows(json!({"available": true, "present": true, "userId": self.id}));
    }
}

/// A new member who is present.
async fn present(world: &World) -> Member {
    let member = world.member(Role::Editor).await;
    member.comes().await;
    member
}

/// Who has a chat.
async fn holder(kit: &World, chat: &str) -> Value {
    kit.advance(0).await;
    kit.data(&format!("/v1/inbox/{chat}")).await["assignedTo"]["userId"].clone()
}

#[tokio::test]
async fn a_chat_that_waits_goes_to_the_next_member_with_one_event() {
    let kit = handing_over().await;
    switch_on(&kit, 5).await;
    let (one, two) = (present(&kit).await, present(&kit).await);
    // Neither a viewer nor who is not there is next.
    let away = kit.member(Role::Editor).await;
    let mut holders = Vec::new();
    for _ in 0..4 {
        kit.advance(1).await;
        let id = waiting(&kit).await;
        holders.push(holder(&kit, &id).await);
        assert_eq!(kit.chat(&id).await["state"], "human");
    }
    assert_eq!(
        holders,
        [&one.id, &two.id, &one.id, &two.id].map(|id| json!(id)),
        "least recently assigned first"
    );
    let told = kit.events("chat.assigned").await;
    assert_eq!(told.len(), 4, "one an assignment");
    let name = one.name().await;
    told[0]["data"].shows(json!({
        "assignedTo": {"userId": one.id, "name": name}, "assignedBy": null, "reason": "round_robin",
    }));
    let bell = one.get("/v1/notifications").await.list(200);
    assert_eq!(bell.len(), 2);
    bell[0].shows(json!({"kind": "assigned", "subject": {"type": "chat", "id": told[2]["data"]["chatId"]}}));
    // In the transaction of the hand-off: it comes right behind it.
    let events = kit.list("/v1/events?after=start&limit=100").await;
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let at = kinds.iter().position(|kind| *kind == "chat.handoff_requested").unwrap();
    assert_eq!(kinds[at + 1], "chat.assigned");
    let requested = kit.events("chat.handoff_requested").await;
    assert_eq!(requested[0]["createdAt"], told[0]["createdAt"]);
    let team = away.get("/v1/inbox/team").await.list(200);
    let shown = |member: &Member| team.iter().find(|row| row["userId"] == *member.id).unwrap().clone();
    shown(&one).shows(json!({"present": true, "openChats": 2, "maxOpen": 5, "ownMaxOpen": false}));
    shown(&away).shows(json!({"available": false, "present": false, "openChats": 0, "lastAssignedAt": null}));
}

#[tokio::test]
async fn nobody_gets_more_than_the_ceiling_and_who_has_room_gets_the_longest_waiting() {
    let kit = handing_over().await;
    let admin = switch_on(&kit, 2).await;
    let (one, two) = (present(&kit).await, present(&kit).await);
    let ceiling = async |member: &Member, most: Value| {
        admin.put(&format!("/v1/inbox/team/{}", member.id), &json!({"maxOpen": most})).await
    };
    ceiling(&two, json!(0)).await.data(200).shows(json!({"maxOpen": 0, "ownMaxOpen": true}));
    let mut chats = Vec::new();
    for _ in 0..4 {
        chats.push(waiting(&kit).await);
        kit.advance(1).await;
    }
    let holders = async || {
        let mut all = Vec::new();
        for chat in &chats {
            all.push(holder(&kit, chat).await);
        }
        all
    };
    let (mine, none) = (json!(one.id), Value::Null);
    assert_eq!(holders().await, [&mine, &mine, &none, &none].map(Value::clone));
    assert_eq!(one.view("waiting").await, chats[2..]);
    // One leaves, so that the longest waiting is given; by hand more than the ceiling is possible.
    one.does(&chats[0], "end", Value::Null).await.expect(200);
    assert_eq!(holders().await[2..], [mine.clone(), none.clone()]);
    one.does(&chats[3], "takeover", Value::Null).await.expect(200);
    let more = waiting(&kit).await;
    assert_eq!(holder(&kit, &more).await, none);
    ceiling(&two, json!(1)).await.expect(200);
    assert_eq!(holder(&kit, &more).await, json!(two.id));
    ceiling(&two, Value::Null).await.data(200).shows(json!({"maxOpen": 2, "ownMaxOpen": false}));
    for (most, field) in [(json!(-1), "maxOpen"), (json!(101), "maxOpen")] {
        assert_eq!(ceiling(&two, most).await.invalid()["meta"]["field"], field);
    }
    one.put(&format!("/v1/inbox/team/{}", two.id), &json!({"maxOpen": 9})).await.refused(403, "role_missing");
    let viewer = kit.member(Role::Viewer).await;
    ceiling(&viewer, json!(1)).await.not_found();
    viewer.is(true).await.refused(403, "role_missing");
}

#[tokio::test]
async fn who_was_not_seen_for_two_minutes_is_absent_until_they_come_back() {
    let kit = handing_over().await;
    switch_on(&kit, 5).await;
    let me = present(&kit).await;
    let member = me.id.parse().unwrap();
    kit.advance(119).await;
    let early = waiting(&kit).await;
    assert_eq!(holder(&kit, &early).await, json!(me.id));
    kit.advance(2).await;
    let late = waiting(&kit).await;
    assert_eq!(holder(&kit, &late).await, Value::Null, "not seen for 121 s");
    // A request of the session, or a stream, says that they are there.
    dastak::app::presence::touch(kit.app(), kit.tenant(), member).await.unwrap();
    assert_eq!(holder(&kit, &late).await, json!(me.id));
    // Who goes keeps what they have, and gets no more.
    me.is(false).await.data(200).shows(json!({"available": false, "present": false, "openChats": 2}));
    let third = waiting(&kit).await;
    assert_eq!((holder(&kit, &third).await, holder(&kit, &late).await), (Value::Null, json!(me.id)));
    me.comes().await;
    assert_eq!(holder(&kit, &third).await, json!(me.id));
}

#[tokio::test]
async fn it_is_stored_at_most_every_half_minute_that_a_member_was_seen() {
    let world = World::open().await;
    let me = world.member(Role::Editor).await;
    let member = me.id.parse().unwrap();
    let seen = async || {
        dastak::app::presence::touch(world.app(), world.tenant(), member).await.unwrap();
        let sql = "select seen_at from inbox_members where member = ?1";
        world.stored(move |tx| tx.one::<i64>(sql, &[store::Value::from(member)])).await
    };
    let mut moments = Vec::new();
    for _ in 0..7 {
        moments.push(seen().await);
        world.advance(10).await;
    }
    moments.dedup();
    assert_eq!(moments.len(), 3, "at 0, 30 and 60 s: {moments:?}");
    let team = world.list("/v1/inbox/team").await;
    let row = team.iter().find(|row| row["userId"] == *me.id).unwrap();
    row.shows(json!({"available": false, "present": false}));
}

#[tokio::test]
async fn chats_that_wait_are_given_out_when_it_is_switched_on() {
    let kit = handing_over().await;
    let me = present(&kit).await;
    let (first, second) = (waiting(&kit).await, waiting(&kit).await);
    assert_eq!(holder(&kit, &first).await, Value::Null, "by hand is the default");
    kit.get("/v1/inbox/assignment").await["data"]
        .shows(json!({"assignment": "manual", "maxOpenPerMember": 5, "firstResponseMinutes": null}));
    let admin = switch_on(&kit, 1).await;
    assert_eq!(holder(&kit, &first).await, json!(me.id));
    assert_eq!(holder(&kit, &second).await, Value::Null);
    // A chat that is handed back and waits again goes to the next one.
    let body = json!({"assignment": "manual"});
    me.put("/v1/inbox/assignment", &body).await.refused(403, "role_missing");
    admin.put("/v1/inbox/assignment", &body).await.expect(200);
    me.does(&first, "end", Value::Null).await.expect(200);
    assert_eq!(holder(&kit, &second).await, Value::Null, "switched off");
    for body in [
        json!({"assignment": "fair"}),
        json!({"assignment": "manual", "maxOpenPerMember": 0}),
        json!({"assignment": "manual", "firstResponseMinutes": 0}),
    ] {
        admin.put("/v1/inbox/assignment", &body).await.invalid();
    }
}

#[tokio::test]
async fn a_chat_that_was_given_does_not_end_by_silence_before_its_member_writes() {
    let kit = handing_over().await;
    switch_on(&kit, 5).await;
    let me = present(&kit).await;
    let (quiet, answered) = (waiting(&kit).await, waiting(&kit).await);
    assert_eq!(holder(&kit, &quiet).await, json!(me.id));
    me.does(&answered, "messages", json!({"text": "Hello"})).await.expect(200);
    kit.advance(31 * 60).await;
    let state = async |chat: &str| kit.chat(chat).await["state"].clone();
    assert_eq!((state(&quiet).await, state(&answered).await), (json!("human"), json!("ended")));
    me.does(&quiet, "messages", json!({"text": "Sorry"})).await.expect(200);
    kit.advance(31 * 60).await;
    assert_eq!(state(&quiet).await, "ended");
}

#[tokio::test]
async fn the_first_response_is_due_in_the_minutes_of_the_workspace() {
    let kit = handing_over().await;
    let admin = kit.member(Role::Admin).await;
    let body = json!({"assignment": "manual", "firstResponseMinutes": 15});
    admin.put("/v1/inbox/assignment", &body).await.expect(200);
    let id = waiting(&kit).await;
    let entry = admin.sees(&id).await;
    let moment = |value: &Value| serde_json::from_value::<domain::time::Timestamp>(value.clone()).unwrap();
    assert_eq!(
        moment(&entry["firstResponseDueAt"]),
        moment(&entry["waitingSince"]).plus(15 * domain::time::MINUTE)
    );
    let due = entry["firstResponseDueAt"].clone();
    kit.advance(60).await;
    let taken = admin.does(&id, "takeover", Value::Null).await.data(200);
    assert_eq!(taken["firstResponseDueAt"], due, "taking it is no answer");
    let answered = admin.does(&id, "messages", json!({"text": "Hello"})).await.data(200);
    assert_eq!(answered["firstResponseDueAt"], Value::Null);
}

/// Conversations on the messaging channel are given in the same way, and by every path to a person.
#[tokio::test]
async fn conversations_of_the_channel_are_given_too() {
    let room = Room::open().await;
    switch_on(&room, 5).await;
    let me = present(&room).await;
    room.tools(json!(["transfer_to_human"])).await;
    room.model.will([tool("One moment.", "transfer_to_human", json!({}))]);
    room.writes("A person please").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    assert_eq!(room.only().await["assignedTo"], *me.id);
    me.does(&id, "messages", json!({"text": "Ravi here"})).await.expect(200);
    room.advance(1).await;
    assert_eq!(room.sent("human").await, ["Ravi here"]);
    me.does(&id, "end", Value::Null).await.expect(200);
    // One that no agent could take.
    me.comes().await;
    room.change(&json!({"costPerChatMinor": 2_000_000})).await;
    room.writes("Hi again").await;
    room.reply().await;
    let told = room.events("chat.assigned").await;
    assert_eq!(told.len(), 2);
    told[1]["data"].shows(
        json!({"reason": "round_robin", "handoff.reason": "insufficient_balance", "handoff.userId": me.id}),
    );
}

/// Many chats that begin to wait at one moment: nobody gets more than the ceiling, and no chat is given twice.
#[tokio::test]
async fn many_at_once_keep_the_ceiling() {
    let kit: Chats = Chats::open().await;
    hands_over(&kit).await;
    switch_on(&kit, 3).await;
    let (one, two) = (present(&kit).await, present(&kit).await);
    let mut sessions = Vec::new();
    for _ in 0..10 {
        sessions.push(kit.session().await);
    }
    let says = sessions.iter().map(|id| kit.says(id, "A refund"));
    futures_util::future::join_all(says).await;
    kit.advance(0).await;
    let told = kit.events("chat.assigned").await;
    let mut given: Vec<&str> = told.iter().map(|event| event["data"]["chatId"].as_str().unwrap()).collect();
    given.sort_unstable();
    given.dedup();
    assert_eq!((told.len(), given.len()), (6, 6), "three each, each chat once");
    assert_eq!((one.view("mine").await.len(), two.view("mine").await.len()), (3, 3));
    assert_eq!(one.view("waiting").await.len(), 4);
}

/// A chat of somebody with a test link asks for a person in vain: it is in no list, and no member is called to it.
#[tokio::test]
async fn nobody_is_called_to_a_test_chat() {
    let kit = handing_over().await;
    switch_on(&kit, 5).await;
    let me = present(&kit).await;
    let made = kit.post(&format!("/v1/agents/{}/test-links", kit.agent), &json!({})).await.data(201);
    let token = made["url"].as_str().unwrap().rsplit_once("/test/").unwrap().1.to_owned();
    let ask = async |path: &str, body: &Value| {
        let body = if body.is_null() { bytes::Bytes::new() } else { body.to_string().into() };
        kit.app.send("POST", path, None, &[], body).await
    };
    let opened = ask(&format!("/test-chats/{token}"), &Value::Null).await.data(201);
    let chat = opened["chatId"].as_str().unwrap();
    let path = format!("/test-chats/{token}/{chat}/messages");
    ask(&path, &json!({"text": "A refund"})).await.expect(200);
    kit.advance(1).await;
    assert_eq!(kit.events("chat.assigned").await, Vec::<Value>::new());
    for view in ["waiting", "mine", "open", "ended"] {
        assert_eq!(me.view(view).await, Vec::<String>::new(), "{view}");
    }
    kit.get("/v1/inbox/counts").await["data"].shows(json!({"waiting": 0, "open": 0, "ended": 0}));
    me.get(&format!("/v1/inbox/{chat}")).await.not_found();
    me.does(chat, "takeover", Value::Null).await.not_found();
    me.does(chat, "notes", json!({"text": "Test"})).await.not_found();
    // It holds up nobody.
    let real = waiting(&kit).await;
    assert_eq!(holder(&kit, &real).await, json!(me.id));
}
