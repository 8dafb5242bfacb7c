//! The inbox of a team (docs/contract/inbox.md): views, holders, notes, saved answers, read marks.

use domain::tenant::Role;
use serde_json::{Value, json};

use crate::app::Answer;
use crate::channel_conversations::Room;
use crate::chats::{Chats, ends, lines};
use crate::shows::Shows;
use crate::world::{Member, World};

/// Keeps an answer; its id.
pub async fn an_answer(world: &World, text: &str) -> String {
    world.post("/v1/saved-answers", &json!({"shortcut": "hours", "text": text})).await.id(201)
}

/// Chats whose agent hands every customer to people.
pub async fn handing_over() -> Chats {
    let kit = Chats::open().await;
    hands_over(&kit).await;
    kit
}

/// Publishes a flow that asks what it is about and then hands the customer to people.
pub async fn hands_over(kit: &Chats) {
    let field = json!({"key": "x", "label": "X", "type": "text"});
    kit.publish(json!([
        {"id": "a", "type": "collect", "text": "What is it about?", "field": field, "attempts": 2, "next": "b"},
        {"id": "b", "type": "transfer", "text": "One moment."},
        ends(),
    ]))
    .await;
}

/// A chat that waits for a person.
pub async fn waiting(kit: &Chats) -> String {
    let id = kit.session().await;
    kit.says(&id, "A refund").await;
    id
}

impl Member {
    pub async fn does(&self, chat: &str, what: &str, body: Value) -> Answer {
        self.post(&format!("/v1/inbox/{chat}/{what}"), &body).await
    }

    pub async fn sees(&self, chat: &str) -> Value {
        self.get(&format!("/v1/inbox/{chat}")).await.data(200)
    }

    /// The ids of a view.
    pub async fn view(&self, view: &str) -> Vec<String> {
        let listed = self.get(&format!("/v1/inbox?view={view}")).await.list(200);
        listed.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
    }

    async fn counts(&self) -> Value {
        self.get("/v1/inbox/counts").await.data(200)
    }

    /// The name in events and entries.
    pub async fn name(&self) -> Value {
        let team = self.get("/v1/inbox/team").await.list(200);
        team.iter().find(|member| member["userId"] == *self.id).expect("a member of the team")["name"].clone()
    }
}

#[tokio::test]
async fn chats_of_all_channels_are_in_one_list() {
    let room = Room::open().await;
    let me = room.member(Role::Editor).await;
    let session = room.session().await;
    room.says(&session, &"x".repeat(130)).await;
    room.writes("Namaste").await;
    room.reply().await;
    let conversation = room.only().await;
    let id = conversation["id"].as_str().unwrap().to_owned();
    assert_eq!(me.view("open").await, [id.clone(), session.clone()], "newest first");
    let listed = me.get("/v1/inbox?view=open").await.list(200);
    let (on_channel, over_api) = (&listed[0], &listed[1]);
    on_channel.shows(json!({
        "channel": "chatapp", "state": "ai", "contactId": conversation["contactId"],
        "customer.name": conversation["customer"]["name"], "unread": 1, "labels": [], "assignedTo": null,
        "waitingSince": null, "firstResponseDueAt": null, "helpdesk": null,
        "lastMessage.role": "agent", "lastMessage.text": "You said: Namaste",
    }));
    // The window is that of the message that the customer sent, by the provider's clock.
    let begun: domain::time::Timestamp = serde_json::from_value(conversation["startedAt"].clone()).unwrap();
    let window: domain::time::Timestamp = serde_json::from_value(on_channel["windowEndsAt"].clone()).unwrap();
    let early = begun.plus(domain::time::DAY).0 - window.0;
    assert!((0..=60_000).contains(&early), "{on_channel}");
    over_api.shows(json!({
        "channel": "api", "customer": null, "contactId": null, "windowEndsAt": null, "unread": 1,
        "lastMessage.role": "agent", "lastMessage.text": format!("You said: {}…", "x".repeat(110)),
    }));
    let shown = me.sees(&session).await;
    assert_eq!(lines(&shown["messages"])[1], format!("user: {}", "x".repeat(130)));
    // With labels of the team, and by a key, which has read nothing.
    let label =
        room.operator("POST", "/chat-labels", json!({"name": "VIP", "color": "#aabbcc"})).await.id(201);
    room.operator("PUT", &format!("/chats/{id}/labels"), json!({"labelIds": [label]})).await.expect(200);
    let by_key = room.list("/v1/inbox?view=open").await;
    by_key[0].shows(
        json!({"id": id, "unread": null, "labels": [{"id": label, "name": "VIP", "color": "#aabbcc"}]}),
    );
    assert_eq!(room.get("/v1/inbox/counts").await["data"]["mine"], 0);
    let refused = room.fetch("/v1/inbox?view=mine").await.invalid();
    assert_eq!(refused["meta"]["field"], "view");
    // A test key, and a member in test mode, see none.
    let test = me.in_test_mode();
    assert_eq!(test.view("open").await, Vec::<String>::new());
    assert_eq!(test.counts().await["open"], 0);
    test.get(&format!("/v1/inbox/{id}")).await.not_found();
    test.does(&id, "takeover", Value::Null).await.read_only();
}

#[tokio::test]
async fn each_view_is_in_a_stable_order_and_goes_on_behind_its_cursor() {
    let kit = handing_over().await;
    let me = kit.member(Role::Editor).await;
    let mut chats = Vec::new();
    for _ in 0..5 {
        chats.push(waiting(&kit).await);
        kit.advance(1).await;
    }
    // The first one waits anew, so that it is the last.
    me.does(&chats[0], "takeover", Value::Null).await.expect(200);
    let mine = me.view("mine").await;
    assert_eq!(mine, [chats[0].clone()]);
    me.does(&chats[4], "end", Value::Null).await.expect(200);
    kit.advance(1).await;
    me.does(&chats[3], "end", Value::Null).await.expect(200);
    let pages = async |view: &str| {
        let (mut found, mut path) = (Vec::new(), format!("/v1/inbox?view={view}&limit=1"));
        loop {
            let page = me.get(&path).await.expect(200);
            for entry in page["data"].as_array().unwrap() {
                found.push(entry["id"].as_str().unwrap().to_owned());
            }
            match page["nextCursor"].as_str() {
                Some(cursor) => path = format!("/v1/inbox?view={view}&limit=1&cursor={cursor}"),
                None => return found,
            }
        }
    };
    let of = |places: &[usize]| places.iter().map(|place| chats[*place].clone()).collect::<Vec<_>>();
    assert_eq!(pages("waiting").await, of(&[1, 2]), "longest waiting first");
    assert_eq!(pages("open").await, of(&[2, 1, 0]));
    assert_eq!(pages("ended").await, of(&[3, 4]), "last ended first");
    assert_eq!(pages("mine").await, of(&[0]));
    me.counts().await.shows(json!({"waiting": 2, "mine": 1, "open": 3, "ended": 2, "limit": 10_000}));
    let page = me.get("/v1/inbox?view=waiting&limit=1").await.expect(200);
    let cursor = page["nextCursor"].as_str().unwrap();
    me.get(&format!("/v1/inbox?view=open&cursor={cursor}")).await.refused(400, "invalid_cursor");
}

#[tokio::test]
async fn a_chat_has_one_holder() {
    let kit = handing_over().await;
    let (me, other) = (kit.member(Role::Editor).await, kit.member(Role::Admin).await);
    let id = waiting(&kit).await;
    me.does(&id, "messages", json!({"text": "Hi"})).await.conflict();
    let taken = me.does(&id, "takeover", Value::Null).await.data(200);
    let name = me.name().await;
    taken.shows(
        json!({"state": "human", "assignedTo": {"userId": me.id, "name": name}, "waitingSince": null}),
    );
    let since = taken["assignedAt"].clone();
    assert!(since.is_string());
    kit.advance(5).await;
    assert_eq!(
        me.does(&id, "takeover", Value::Null).await.data(200)["assignedAt"],
        since,
        "a repeat changes nothing"
    );
    for (what, body) in [
        ("takeover", Value::Null),
        ("messages", json!({"text": "Me too"})),
        ("handback", Value::Null),
        ("end", Value::Null),
    ] {
        let refused = other.does(&id, what, body).await.refused(409, "held_by_teammate");
        assert_eq!(refused["meta"], json!({"userId": me.id, "name": name, "since": since}), "{what}");
    }
    let assigned = kit.events("chat.assigned").await;
    assert_eq!(assigned.len(), 1);
    let person = json!({"userId": me.id, "name": name});
    assigned[0]["data"].shows(json!({"assignedTo": person, "assignedBy": person, "reason": "manual"}));
    me.does(&id, "messages", json!({"text": " "})).await.invalid();
    me.does(&id, "messages", json!({"text": "On its way."})).await.expect(200);
    let shown = me.sees(&id).await;
    let last = shown["messages"].as_array().unwrap().last().unwrap();
    last.shows(json!({"role": "human", "text": "On its way.", "author": person, "agentName": null}));
    me.does(&id, "handback", Value::Null).await.expect(200);
    kit.advance(0).await;
    assert_eq!(kit.events("chat.handed_back").await.len(), 1);
    let ended = me.does(&id, "end", Value::Null).await.data(200);
    assert_eq!(me.does(&id, "end", Value::Null).await.data(200), ended);
    me.does(&id, "takeover", Value::Null).await.refused(409, "session_ended");
    me.does("chatsess_01k9v5x2m8e6fs4v0q3n7w1y39", "takeover", Value::Null).await.not_found();
}

#[tokio::test]
async fn of_two_who_take_a_chat_at_once_one_gets_it() {
    let kit = handing_over().await;
    let (one, two) = (kit.member(Role::Editor).await, kit.member(Role::Editor).await);
    for round in 0..8 {
        let id = waiting(&kit).await;
        let (first, second) =
            tokio::join!(one.does(&id, "takeover", Value::Null), two.does(&id, "takeover", Value::Null));
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "round {round}");
        let winner = if first.status == 200 { &one } else { &two };
        let told = kit.events("chat.assigned").await;
        assert_eq!(told.len(), round + 1);
        assert_eq!(told[round]["data"]["assignedTo"]["userId"], *winner.id);
        assert_eq!(one.sees(&id).await["assignedTo"]["userId"], *winner.id);
    }
}

#[tokio::test]
async fn a_chat_is_assigned_by_hand_by_members_and_keys() {
    let room = Room::open().await;
    let (me, other) = (room.member(Role::Editor).await, room.member(Role::Editor).await);
    let viewer = room.member(Role::Viewer).await;
    room.writes("Hi").await;
    room.reply().await;
    let id = room.only().await["id"].as_str().unwrap().to_owned();
    let to = |member: &Member| json!({"userId": member.id});
    for body in [to(&viewer), json!({"userId": "nobody"})] {
        me.does(&id, "assign", body).await.refused(400, "assignee_not_allowed");
    }
    let path = format!("/v1/inbox/{id}/assign");
    room.post(&path, &to(&me)).await.expect(200);
    other.does(&id, "assign", to(&other)).await.expect(200);
    other.does(&id, "assign", to(&other)).await.expect(200);
    let told = room.events("chat.assigned").await;
    let told: Vec<Value> = told
        .iter()
        .map(|event| json!([event["data"]["assignedTo"]["userId"], event["data"]["assignedBy"]]))
        .collect();
    let by_other = json!({"userId": other.id, "name": other.name().await});
    assert_eq!(told.len(), 2, "to whom has it changes nothing");
    assert_eq!(told[0][0], *me.id);
    assert!(told[0][1]["apiKeyId"].as_str().unwrap().starts_with("key_"), "{told:?}");
    assert_eq!(told[1], json!([other.id, by_other]));
    // The words of the member go out on the channel.
    me.does(&id, "messages", json!({"text": "Not mine"})).await.refused(409, "held_by_teammate");
    other.does(&id, "messages", json!({"text": "I am here"})).await.expect(200);
    room.advance(1).await;
    assert_eq!(room.sent("human").await, ["I am here"]);
    // The window ends before the silence does.
    room.advance(24 * 3_600 - 3).await;
    let [me, other] = [room.sign_in(&me.email).await, room.sign_in(&other.email).await];
    other.does(&id, "messages", json!({"text": "Still there?"})).await.refused(409, "window_closed");
    // A helpdesk has it until it hands it back.
    room.writes("Back again").await;
    let other_chat = other.does(&id, "handback", Value::Null).await;
    other_chat.expect(200);
    room.act(&id, "takeover", json!({"agentName": "Desk"})).await.expect(200);
    assert_eq!(me.sees(&id).await["helpdesk"], "Desk");
    for (what, body) in
        [("takeover", Value::Null), ("assign", to(&me)), ("handback", Value::Null), ("end", Value::Null)]
    {
        me.does(&id, what, body).await.refused(409, "held_by_helpdesk");
    }
}

#[tokio::test]
async fn unread_counts_what_the_customer_wrote_behind_the_mark() {
    let kit = Chats::open().await;
    let (me, other) = (kit.member(Role::Viewer).await, kit.member(Role::Editor).await);
    let id = kit.session().await;
    for text in ["One", "Two", "Three"] {
        kit.says(&id, text).await;
    }
    let unread = async |member: &Member| member.sees(&id).await["unread"].clone();
    assert_eq!(unread(&me).await, 3);
    let path = format!("/v1/inbox/{id}/read");
    // Messages are: agent, user, agent, user, agent, user, agent.
    assert_eq!(me.put(&path, &json!({"upTo": 4})).await.data(200)["unread"], 1);
    assert_eq!(me.put(&path, &json!({"upTo": 2})).await.data(200)["unread"], 1, "a mark never moves back");
    let refused = me.put(&path, &json!({"upTo": 8})).await.invalid();
    assert_eq!(refused["meta"]["field"], "upTo");
    assert_eq!((unread(&me).await, unread(&other).await), (json!(1), json!(3)), "a mark is of one member");
    me.put(&path, &json!({"upTo": 7})).await.expect(200);
    kit.says(&id, "Four").await;
    assert_eq!(unread(&me).await, 1);
}

#[tokio::test]
async fn notes_are_for_the_team_only() {
    let room = Room::open().await;
    let (me, other) = (room.member(Role::Editor).await, room.member(Role::Viewer).await);
    room.writes("Hi").await;
    room.reply().await;
    let shown = room.only().await;
    let (id, contact) =
        (shown["id"].as_str().unwrap().to_owned(), shown["contactId"].as_str().unwrap().to_owned());
    let path = format!("/v1/inbox/{id}/notes");
    let text = format!("SecretNote, ask @{} please", other.id);
    let note = me.post(&path, &json!({"text": text})).await.data(201);
    let [mine, theirs] = [&me, &other].map(|member| member.id.clone());
    note.shows(json!({"text": text, "author.userId": mine}));
    assert_eq!(note["mentions"], json!([{"userId": theirs, "name": "Ravi"}]));
    let bell = other.get("/v1/notifications").await.list(200);
    assert_eq!(bell.len(), 1);
    bell[0].shows(json!({"kind": "mentioned", "subject": {"type": "chat", "id": id}}));
    for text in [" ", "@usr_nobody", "@usr_01k9v5x2m8e6fs4v0q3n7w1y39"] {
        let refused = me.post(&path, &json!({"text": text})).await.invalid();
        assert_eq!(refused["meta"]["field"], "text", "{text}");
    }
    me.post(&path, &json!({"text": "x".repeat(4_001)})).await.invalid();
    me.post(&path, &json!({"text": "Second"})).await.expect(201);
    other.post(&path, &json!({"text": "No"})).await.refused(403, "role_missing");
    let page = other.get(&format!("{path}?limit=1")).await.expect(200);
    assert_eq!(page["data"].as_array().unwrap(), &[note]);
    let next = format!("{path}?limit=1&cursor={}", page["nextCursor"].as_str().unwrap());
    assert_eq!(other.get(&next).await.list(200)[0]["text"], "Second");
    // Neither the customer, nor the agent, nor a receiver of events gets them.
    room.writes("And now?").await;
    room.reply().await;
    room.act(&id, "end", Value::Null).await.expect(200);
    room.advance(60).await;
    let everywhere = [
        room.get("/v1/events?after=start&limit=100").await.to_string(),
        room.get("/v1/chatapp/messages?limit=100").await.to_string(),
        room.conversation(&id).await.to_string(),
        room.model.shown().join("\n"),
    ];
    for text in &everywhere {
        assert!(!text.contains("SecretNote"), "{text}");
    }
    // An erasure deletes them, and nothing more is kept of the chat.
    room.erase(&contact).await.expect(200);
    assert_eq!(me.get(&path).await.list(200), Vec::<Value>::new());
    me.post(&path, &json!({"text": "Third"})).await.conflict();
    let left = room.stored(|tx| tx.one::<i64>("select count(*) from chat_notes", &[])).await;
    assert_eq!(left, Some(0));
}

#[tokio::test]
async fn a_chat_has_at_most_500_notes_and_they_go_with_it() {
    let kit = Chats::open_with(|config| config.chats.keep_days = 1).await;
    let me = kit.member(Role::Editor).await;
    let id = kit.session().await;
    let path = format!("/v1/inbox/{id}/notes");
    me.post(&path, &json!({"text": "First"})).await.expect(201);
    me.put(&format!("/v1/inbox/{id}/read"), &json!({"upTo": 1})).await.expect(200);
    let (workspace, chat, author) = (kit.workspace.id.clone(), id.clone(), me.id.clone());
    kit.store(move |tx| {
        for number in 0..499 {
            let sql = format!(
                "insert into chat_notes (id, workspace, chat, author, words, created_at) \
                 values ('note_{number:026}', '{workspace}', '{chat}', '{author}', 'x', 0)"
            );
            tx.exec(&sql, &[])?;
        }
        Ok::<_, store::DbError>(())
    })
    .await;
    me.post(&path, &json!({"text": "One more"})).await.conflict();
    kit.end(&id).await;
    kit.advance(3 * 86_400).await;
    // The session is over meanwhile.
    let me = kit.sign_in(&me.email).await;
    me.get(&path).await.not_found();
    let sql = "select (select count(*) from chat_notes) + (select count(*) from chat_marks)";
    assert_eq!(kit.stored(move |tx| tx.one::<i64>(sql, &[])).await, Some(0));
}

#[tokio::test]
async fn saved_answers_have_unique_shortcuts() {
    let world = World::open().await;
    let me = world.member(Role::Editor).await;
    let made = me
        .post("/v1/saved-answers", &json!({"shortcut": " Hours-1 ", "text": "Hello {{name}}"}))
        .await
        .data(201);
    made.shows(json!({"shortcut": "hours-1", "text": "Hello {{name}}", "changedBy": me.id}));
    let id = made["id"].as_str().unwrap();
    me.post("/v1/saved-answers", &json!({"shortcut": "HOURS-1", "text": "x"})).await.conflict();
    for (field, body) in [
        ("shortcut", json!({"shortcut": "two words", "text": "x"})),
        ("shortcut", json!({"shortcut": " ", "text": "x"})),
        ("shortcut", json!({"shortcut": "x".repeat(41), "text": "x"})),
        ("text", json!({"shortcut": "x", "text": " "})),
        ("text", json!({"shortcut": "x", "text": "x".repeat(4_097)})),
    ] {
        assert_eq!(me.post("/v1/saved-answers", &body).await.invalid()["meta"]["field"], field, "{body}");
    }
    let second = an_answer(&world, "Nine to six").await;
    let listed = world.list("/v1/saved-answers").await;
    assert_eq!(listed.len(), 2);
    assert!(listed[1]["changedBy"].as_str().unwrap().starts_with("key_"));
    let path = format!("/v1/saved-answers/{second}");
    world.put(&path, &json!({"shortcut": "hours-1", "text": "x"})).await.conflict();
    let changed = me.put(&path, &json!({"shortcut": "hours", "text": "Ten to six"})).await.data(200);
    changed.shows(json!({"id": second, "text": "Ten to six", "changedBy": me.id}));
    me.delete(&format!("/v1/saved-answers/{id}")).await.expect(200);
    me.delete(&format!("/v1/saved-answers/{id}")).await.not_found();
    me.put(&format!("/v1/saved-answers/{id}"), &json!({"shortcut": "y", "text": "y"})).await.not_found();
    let viewer = world.member(Role::Viewer).await;
    assert_eq!(viewer.get("/v1/saved-answers").await.list(200).len(), 1);
    viewer
        .post("/v1/saved-answers", &json!({"shortcut": "z", "text": "z"}))
        .await
        .refused(403, "role_missing");
    // A workspace keeps 500.
    let workspace = world.workspace.id.clone();
    world
        .store(move |tx| {
            for number in 0..499 {
                let sql = format!("insert into saved_answers (id, workspace, shortcut, words, changed_by, created_at, updated_at) \
                     values ('ans_{number:026}', '{workspace}', 'n{number}', 'x', 'operator', 0, 0)");
                tx.exec(&sql, &[])?;
            }
            Ok::<_, store::DbError>(())
        })
        .await;
    me.post("/v1/saved-answers", &json!({"shortcut": "z", "text": "z"})).await.conflict();
}
