//! Versions of flows, and visits of their edges (docs/contract/flows.md#versions).

use domain::tenant::Role;
use serde_json::{Value, json};

use crate::shows::Shows;
use crate::world::World;

fn end(text: &str) -> Value {
    json!({"id": "z", "type": "end", "text": text})
}

fn graph(text: &str) -> Value {
    json!({"startNodeId": "a", "nodes": [{"id": "a", "type": "say", "text": text, "next": "z"}, end("Bye.")], "variables": []})
}

/// Saves and publishes a graph with a note; the answer's `data`.
async fn publish(world: &World, agent: &str, graph: &Value, note: &Value) -> Value {
    let path = format!("/v1/agents/{agent}/flow");
    let base = world.data(&path).await["draftVersion"].clone();
    world.put(&path, &json!({"graph": graph, "baseVersion": base})).await.expect(200);
    world.post(&format!("{path}/publish"), note).await.data(200)
}

async fn numbers(world: &World, agent: &str) -> Vec<i64> {
    let listed = world.list(&format!("/v1/agents/{agent}/flow/versions")).await;
    listed.iter().map(|row| row["number"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn every_published_flow_is_kept() {
    let world = World::bare().await;
    let made = world.draft_agent(&json!({"systemPrompt": "Say hello."})).await;
    let agent = made["id"].as_str().unwrap();
    let path = format!("/v1/agents/{agent}/flow");
    let key = world.operator("GET", "/keys", Value::Null).await.data(200);
    let live = key.as_array().unwrap().iter().find(|key| key["mode"] == "live").unwrap()["id"].clone();
    world.get(&format!("{path}/versions")).await.shows(json!({
        "data[0].number": 1, "data[0].live": true, "data[0].publishedBy": live, "data[0].note": null, "nextCursor": null
    }));
    let published = publish(&world, agent, &graph("Hello"), &json!({"note": " Shorter greeting "})).await;
    published.shows(json!({"publishedVersion": 2, "updatedBy": live, "updatedByName": null, "editing": []}));
    // Again without a change: no new version, and its note stays.
    world
        .post(&format!("{path}/publish"), &json!({"note": "again"}))
        .await
        .data(200)
        .shows(json!({"publishedVersion": 2}));
    let second = world.data(&format!("{path}/versions/2")).await;
    second.shows(
        json!({"graph": graph("Hello"), "live": true, "note": "Shorter greeting", "publishedBy": live}),
    );
    assert_eq!(second["hash"].as_str().unwrap().len(), 64);
    // A prompt of an agent whose flow nobody edited is a version, too.
    let other = world.draft_agent(&json!({"systemPrompt": "One."})).await["id"].as_str().unwrap().to_owned();
    world.put(&format!("/v1/agents/{other}"), &json!({"systemPrompt": "Two."})).await.expect(200);
    assert_eq!(numbers(&world, &other).await, [2, 1]);
    let first = world.data(&format!("/v1/agents/{other}/flow/versions/1")).await;
    first.shows(json!({"live": false, "graph.nodes[0].prompt": "One."}));
    // A page, and what is no version.
    let page = world.get(&format!("{path}/versions?limit=1")).await;
    let next = format!("{path}/versions?limit=1&cursor={}", page["nextCursor"].as_str().unwrap());
    world.get(&next).await.shows(json!({"data[0].number": 1, "nextCursor": null}));
    for wrong in ["0", "3", "-1", "one", "99999999999999999999"] {
        world.fetch(&format!("{path}/versions/{wrong}")).await.not_found();
    }
    let long = json!({"note": "n".repeat(501)});
    world.post(&format!("{path}/publish"), &long).await.invalid_field("note");
    // Another workspace sees none of it.
    let neighbour = world.neighbour().await;
    for sub in ["versions", "versions/1", "versions/1/diff", "visits"] {
        neighbour.fetch(&format!("{path}/{sub}")).await.not_found();
    }
    neighbour.post(&format!("{path}/versions/1/restore"), &json!({"baseVersion": 2})).await.not_found();
    world.delete(&format!("/v1/agents/{agent}")).await.expect(200);
    world.fetch(&format!("{path}/versions")).await.not_found();
}

/// A flow that was published before versions were kept is version 1, also once another one is published.
#[tokio::test]
async fn a_flow_of_before_is_the_first_version() {
    let world = World::bare().await;
    let agent = world.draft_agent(&json!({"systemPrompt": "Old."})).await["id"].as_str().unwrap().to_owned();
    let forget = "delete from flow_versions";
    world.app().store.tx(move |tx| tx.exec(forget, &[])).await.unwrap();
    let path = format!("/v1/agents/{agent}/flow");
    let old = json!({"number": 1, "live": true, "publishedBy": null, "publishedAt": null});
    world.data(&format!("{path}/versions")).await[0].shows(old);
    let shown = world.data(&format!("{path}/versions/1")).await;
    publish(&world, &agent, &graph("New"), &Value::Null).await;
    assert_eq!(numbers(&world, &agent).await, [2, 1]);
    let kept = world.data(&format!("{path}/versions/1")).await;
    assert_eq!((&kept["graph"], &kept["hash"]), (&shown["graph"], &shown["hash"]));
    kept.shows(json!({"live": false, "publishedAt": null}));
}

#[tokio::test]
async fn versions_are_compared_and_restored() {
    let world = World::bare().await;
    let agent = world.draft_agent(&json!({"systemPrompt": "x"})).await["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/agents/{agent}/flow");
    publish(&world, &agent, &graph("Hello"), &Value::Null).await;
    publish(&world, &agent, &graph("Good day"), &Value::Null).await;
    let diff = world.data(&format!("{path}/versions/2/diff?to=3")).await;
    assert_eq!(
        diff,
        json!({"from": 2, "to": 3, "more": false, "changes": [{"code": "step_changed", "stepId": "a", "stepName": "a",
            "stepType": "say", "variable": null, "path": "text", "before": "Hello", "after": "Good day"}]})
    );
    assert_eq!(
        world.data(&format!("{path}/versions/3/diff")).await["changes"],
        json!([]),
        "the draft is the third"
    );
    world.fetch(&format!("{path}/versions/2/diff?to=9")).await.not_found();
    world.fetch(&format!("{path}/versions/2/diff?to=x")).await.invalid_field("to");
    // The draft becomes the second again; what runs stays.
    let base = world.data(&path).await["draftVersion"].as_i64().unwrap();
    let restore = format!("{path}/versions/2/restore");
    let refused = world.post(&restore, &json!({"baseVersion": base - 1})).await.refused(409, "flow_conflict");
    refused.shows(json!({"meta.draftVersion": base}));
    world
        .post(&restore, &json!({"baseVersion": base}))
        .await
        .data(200)
        .shows(json!({"draftVersion": base + 1}));
    let now = world.data(&path).await;
    now.shows(json!({"draft": graph("Hello"), "published": graph("Good day"), "publishedVersion": 3}));
    let diff = world.data(&format!("{path}/versions/3/diff?to=draft")).await;
    diff.shows(json!({"to": null, "changes[0].after": "Hello"}));
    // A race: of a restore and saves over the same version one wins.
    let body = json!({"baseVersion": base + 1});
    let save = json!({"graph": graph("Mine"), "baseVersion": base + 1});
    let restore = format!("{path}/versions/3/restore");
    let (one, two, three) =
        tokio::join!(world.post(&restore, &body), world.put(&path, &save), world.post(&restore, &body));
    let mut statuses = [one.status, two.status, three.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409]);
    assert_eq!(world.data(&path).await["draftVersion"], base + 2);
}

/// The oldest versions are dropped beyond the ceilings, never the one that is published.
#[tokio::test]
async fn old_versions_are_dropped() {
    let world = World::bare().await;
    let agent = world.draft_agent(&json!({"systemPrompt": "x"})).await["id"].as_str().unwrap().to_owned();
    publish(&world, &agent, &graph("two"), &Value::Null).await;
    // As if five hundred more had been published since.
    let sql = "with recursive n (i) as (select 0 union all select i + 1 from n where i < 497) \
        insert into flow_versions (workspace, agent, number, flow, graph, bytes, hash) \
        select workspace, agent, number + 1 + i, flow, graph, bytes, hash from flow_versions, n where number = 2 and agent = ";
    let (fill, bump) = (
        format!("{sql}'{agent}'"),
        format!("update agents set published_version = 500 where id = '{agent}'"),
    );
    world.app().store.tx(move |tx| tx.exec(&fill, &[]).and_then(|_| tx.exec(&bump, &[]))).await.unwrap();
    publish(&world, &agent, &graph("newest"), &Value::Null).await.shows(json!({"publishedVersion": 501}));
    let path = format!("/v1/agents/{agent}/flow/versions");
    world.fetch(&format!("{path}/1")).await.not_found();
    world.data(&format!("{path}/2")).await.shows(json!({"graph": graph("two")}));
    // By size: one of almost all bytes leaves no room for older ones.
    let sql = format!("update flow_versions set bytes = 67108000 where number = 501 and agent = '{agent}'");
    world.app().store.tx(move |tx| tx.exec(&sql, &[])).await.unwrap();
    publish(&world, &agent, &graph("after"), &Value::Null).await;
    let kept = numbers(&world, &agent).await;
    assert!(kept.len() < 10 && kept[..2] == [502, 501], "{kept:?}");
}

/// The largest graph is kept, compared and restored.
#[tokio::test]
async fn the_largest_graph() {
    let world = World::bare().await;
    let agent = world.draft_agent(&json!({"systemPrompt": "x"})).await["id"].as_str().unwrap().to_owned();
    let large = |text: &str| {
        let nodes: Vec<Value> = (0..499)
            .map(|at| json!({"id": format!("n{at}"), "type": "say", "text": text.repeat(1900), "next": format!("n{}", at + 1)}))
            .chain([json!({"id": "n499", "type": "end"})])
            .collect();
        json!({"startNodeId": "n0", "nodes": nodes, "variables": []})
    };
    publish(&world, &agent, &large("a"), &Value::Null).await;
    publish(&world, &agent, &large("b"), &Value::Null).await;
    let path = format!("/v1/agents/{agent}/flow");
    let diff = world.data(&format!("{path}/versions/2/diff?to=3")).await;
    assert_eq!((diff["changes"].as_array().unwrap().len(), &diff["more"]), (499, &json!(false)));
    let base = world.data(&path).await["draftVersion"].clone();
    world.post(&format!("{path}/versions/2/restore"), &json!({"baseVersion": base})).await.expect(200);
    assert_eq!(world.data(&path).await["draft"], large("a"));
}

fn visits(data: &Value) -> Vec<String> {
    let text = |edge: &Value, key: &str| edge[key].as_str().unwrap_or("-").to_owned();
    let rows = data["edges"].as_array().unwrap().iter();
    rows.map(|edge| {
        format!("{} {} {} {}", text(edge, "from"), text(edge, "edge"), text(edge, "to"), edge["visits"])
    })
    .collect()
}

/// A call names its version, and its edges are counted for it, apart from those of the other mode.
#[tokio::test]
async fn conversations_name_their_version_and_count_its_edges() {
    let world = World::open().await;
    let field = json!({"key": "ok", "label": "OK", "type": "boolean"});
    world
        .publish(json!([
            {"id": "ask", "type": "collect", "text": "Shall we?", "field": field, "next": "b"},
            {"id": "b", "type": "branch", "cases": [{"variable": "ok", "op": "eq", "value": true, "next": "z"}], "otherwise": "n"},
            {"id": "n", "type": "end", "text": "No."},
            end("Yes.")
        ]))
        .await;
    let path = format!("/v1/agents/{}/flow/visits", world.agent);
    let empty = world.data(&path).await;
    assert_eq!(empty, json!({"version": 2, "days": 7, "conversations": 0, "edges": []}));
    let live = [world.placed(world.live(), "1234").await, world.placed(world.live(), "1010").await];
    let test = world.placed(world.test(), "1234").await;
    assert_eq!(world.call(world.live(), &live[0]).await["flowVersion"], Value::Null, "nobody has talked yet");
    world.advance(30).await;
    for (key, id) in [(world.live(), &live[0]), (world.test(), &test)] {
        world.call(key, id).await.shows(json!({"state": "ended", "flowVersion": 2}));
    }
    assert!(world.calls().await.iter().all(|call| call["flowVersion"] == 2));
    let counted = world.data(&path).await;
    let edges = |count: i64| {
        [format!("- start ask {count}"), format!("ask next b {count}"), format!("b cases[0].next z {count}")]
    };
    assert_eq!((counted["conversations"].as_i64(), visits(&counted)), (Some(2), edges(2).to_vec()));
    let of_test = world.app.get(world.test(), &path).await.data(200);
    assert_eq!(visits(&of_test), edges(1));
    // A busy line is no conversation; another version counts apart, and the old figures stay.
    world.placed(world.live(), "1111").await;
    world.advance(30).await;
    world.publish(json!([{"id": "s", "type": "say", "text": "Hi", "next": "z"}, end("Bye.")])).await;
    world.placed(world.live(), "2020").await;
    world.advance(30).await;
    assert_eq!(visits(&world.data(&path).await), ["- start s 1", "s next z 1"]);
    assert_eq!(visits(&world.data(&format!("{path}?version=2&days=90")).await), edges(2));
    world.fetch(&format!("{path}?version=4")).await.not_found();
    world.fetch(&format!("{path}?days=91")).await.invalid_field("days");
    world.fetch(&format!("{path}?days=0")).await.invalid_field("days");
}

/// Many calls of one agent that end at the same moment are all counted.
#[tokio::test]
async fn calls_that_end_at_once_are_all_counted() {
    let world = World::open().await;
    world.publish(json!([{"id": "s", "type": "say", "text": "Hi", "next": "z"}, end("Bye.")])).await;
    for digits in 2000..2060 {
        world.placed(world.test(), &digits.to_string()).await;
    }
    world.advance(60).await;
    let path = format!("/v1/agents/{}/flow/visits", world.agent);
    let counted = world.app.get(world.test(), &path).await.data(200);
    assert_eq!(visits(&counted), ["- start s 60", "s next z 60"]);
}

/// A chat names its version from the beginning, keeps it when another one is published, and is counted at its end.
#[tokio::test]
async fn a_chat_keeps_its_version() {
    let world = crate::chats::Chats::open().await;
    let field = json!({"key": "ok", "label": "OK", "type": "boolean"});
    let ask = json!({"id": "ask", "type": "collect", "text": "Shall we?", "field": field, "next": "z"});
    world.publish(json!([ask, end("Yes.")])).await;
    let session = world.session().await;
    assert_eq!(world.chat(&session).await["flowVersion"], 2);
    world.publish(json!([end("Closed.")])).await;
    world.says(&session, "yes").await.shows(json!({"reply": "Yes.", "ended": true}));
    assert_eq!(world.chat(&session).await["flowVersion"], 2);
    let detail = world.operator("GET", &format!("/chats/{session}"), Value::Null).await.data(200);
    assert_eq!(detail["flowVersion"], 2);
    let path = format!("/v1/agents/{}/flow/visits", world.agent);
    assert_eq!(visits(&world.data(&format!("{path}?version=2")).await), ["- start ask 1", "ask next z 1"]);
    assert_eq!(visits(&world.data(&path).await), Vec::<String>::new());
}

/// A member has the flow open for half a minute; at most twenty do. A key has nothing open.
#[tokio::test]
async fn those_who_have_a_flow_open_are_shown() {
    use dastak::app::flow_versions::set_presence;
    let world = World::open().await;
    let path = format!("/v1/agents/{}/flow", world.agent);
    world.put(&format!("{path}/presence"), &json!({})).await.refused(401, "unauthorized");
    let viewer = world.member(Role::Viewer).await;
    viewer.put(&format!("{path}/presence"), &json!({})).await.refused(403, "role_missing");
    let (tenant, agent) = (world.tenant(), world.agent.parse().unwrap());
    let kavya = world.member(Role::Editor).await;
    let opened = kavya.put(&format!("{path}/presence"), &json!({})).await.data(200);
    opened.shows(json!({"editing[0].member": kavya.id, "editing[0].name": "Ravi"}));
    let since = opened["editing"][0]["since"].clone();
    world.advance(20).await;
    kavya.put(&format!("{path}/presence"), &json!({"open": true})).await.expect(200);
    world.advance(20).await;
    let shown = world.data(&path).await["editing"].clone();
    assert_eq!(
        (&shown[0]["member"], &shown[0]["since"]),
        (&json!(kavya.id), &since),
        "the lease was renewed"
    );
    // What a member saves and publishes has its id and its name then.
    let draft = json!({"graph": graph("Mine"), "baseVersion": world.data(&path).await["draftVersion"]});
    kavya.put(&path, &draft).await.expect(200);
    world.data(&path).await.shows(json!({"updatedBy": kavya.id, "updatedByName": "Ravi"}));
    kavya.post(&format!("{path}/publish"), &json!({})).await.refused(403, "role_missing");
    let admin = world.member(Role::Admin).await;
    admin.post(&format!("{path}/publish"), &json!({"note": "mine"})).await.expect(200);
    let version = world.data(&format!("{path}/versions")).await[0].clone();
    version.shows(json!({"publishedBy": admin.id, "publishedByName": "Ravi", "note": "mine"}));
    let set = async |member: &str, open: bool| {
        set_presence(world.app(), tenant, agent, member.parse().unwrap(), open).await
    };
    set(&kavya.id, true).await.unwrap();
    // Nineteen more, and one too many.
    for at in 1..20 {
        let member = world.add_member(&format!("m{at}@example.com"), "editor").await;
        set(&member, true).await.unwrap();
    }
    let last = world.add_member("last@example.com", "editor").await;
    assert_eq!(set(&last, true).await.unwrap_err().error.code, "conflict");
    set(&kavya.id, true).await.unwrap();
    kavya.put(&format!("{path}/presence"), &json!({"open": false})).await.expect(200);
    set(&last, true).await.unwrap();
    assert_eq!(world.data(&path).await["editing"].as_array().unwrap().len(), 20);
    world.advance(31).await;
    assert_eq!(world.data(&path).await["editing"], json!([]));
    // An agent of somebody else.
    let neighbour = world.neighbour().await;
    let theirs = set_presence(world.app(), neighbour.tenant(), agent, last.parse().unwrap(), true).await;
    assert_eq!(theirs.unwrap_err().error.code, "not_found");
}
