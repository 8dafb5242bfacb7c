//! `/v1/knowledge-bases` (docs/contract/knowledge-bases.md).

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::shows::Shows;
use crate::world::World;

impl World {
    /// A base that was made.
    pub async fn knowledge_base(&self) -> String {
        let made = self.post("/v1/knowledge-bases", &json!({"name": "Shop"})).await.expect(201);
        path(made["data"]["id"].as_str().expect("an id"))
    }
}

fn path(id: &str) -> String {
    format!("/v1/knowledge-bases/{id}")
}

fn id(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

/// Adds a text.
pub async fn add(world: &World, base: &str, title: Option<&str>, text: &str) -> Value {
    let body = match title {
        Some(title) => json!({"title": title, "text": text}),
        None => json!({"text": text}),
    };
    world.post(&format!("{base}/documents"), &body).await.data(200)
}

/// Contents of the hits of a search, best first.
pub async fn found(app: &TestApp, key: &str, base: &str, question: &str) -> Vec<String> {
    let hits = search(app, key, base, question).await;
    hits.as_array().unwrap().iter().map(|hit| hit["content"].as_str().unwrap().to_owned()).collect()
}

async fn search(app: &TestApp, key: &str, base: &str, question: &str) -> Value {
    let query: String = question.bytes().map(|byte| format!("%{byte:02X}")).collect();
    app.get(key, &format!("{base}/search?q={query}")).await.data(200)
}

async fn counts(world: &World, base: &str) -> [i64; 3] {
    let shown = world.data(base).await;
    ["documentCount", "chunkCount", "agentCount"].map(|name| shown[name].as_i64().unwrap())
}

#[tokio::test]
async fn a_base_is_made_listed_read_and_deleted() {
    let world = World::bare().await;
    let made = world.post("/v1/knowledge-bases", &json!({"name": "Shop"})).await.expect(201);
    let made = made["data"].clone();
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("kb_"));
    let expected = json!({
        "id": id, "name": "Shop", "documentCount": 0, "chunkCount": 0, "agentCount": 0,
        "createdAt": made["createdAt"], "updatedAt": made["createdAt"],
    });
    assert_eq!(made, expected);
    let second = world.knowledge_base().await;
    let listed = world.data("/v1/knowledge-bases").await;
    let ids: Vec<&str> = listed.as_array().unwrap().iter().map(|base| base["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [second.rsplit('/').next().unwrap(), id], "newest first");
    let shown = world.data(&path(id)).await;
    assert_eq!(shown["documents"], json!([]));
    let deleted = world.delete(&path(id)).await.expect(200);
    assert_eq!(deleted["data"], json!({"id": id, "deleted": true}));
    world.fetch(&path(id)).await.not_found();
    world.delete(&path(id)).await.not_found();
    let listed = world.data("/v1/knowledge-bases").await;
    assert_eq!(listed.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn documents_are_added_replaced_and_removed() {
    let world = World::bare().await;
    let base = world.knowledge_base().await;
    let first = add(&world, &base, Some("Hours"), "The shop opens at nine.").await;
    assert_eq!(first, json!({"source": "Hours", "added": 1, "replaced": false, "chars": 23}));
    assert_eq!(found(&world, world.live(), &base, "opens").await, ["The shop opens at nine."], "at once");

    let again = add(&world, &base, Some("Hours"), "The shop opens at ten.\n\n# Sundays\nClosed.").await;
    assert_eq!((&again["replaced"], &again["added"]), (&json!(true), &json!(2)));
    assert_eq!(found(&world, world.live(), &base, "opens nine").await, ["The shop opens at ten."]);
    assert_eq!(counts(&world, &base).await, [1, 2, 0]);

    let text = "Refunds take seven days.";
    let (one, other) = (add(&world, &base, None, text).await, add(&world, &base, None, text).await);
    assert_ne!(one["source"], other["source"], "each call adds a document");
    assert!(one["source"].as_str().unwrap().starts_with("Refunds take seven days. ("), "{one}");
    assert_eq!(counts(&world, &base).await, [3, 4, 0]);
    let shown = world.get(&base).await["data"]["documents"].clone();
    let named: Vec<(&Value, &Value, &Value)> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|document| (&document["source"], &document["type"], &document["chunkCount"]))
        .collect();
    assert_eq!(
        named,
        [
            (&json!("Hours"), &json!("text"), &json!(2)),
            (&one["source"], &json!("text"), &json!(1)),
            (&other["source"], &json!("text"), &json!(1)),
        ]
    );

    for (query, status) in [
        ("source=Hours&type=file", 404),
        ("source=Opening&type=text", 404),
        ("source=Hours", 400),
        ("type=text", 400),
        ("source=Hours&type=page", 400),
    ] {
        let answer = world.delete(&format!("{base}/documents?{query}")).await;
        assert_eq!(answer.status, status, "{query}: {}", answer.text);
    }
    let removed = world.delete(&format!("{base}/documents?source=Hours&type=text")).await;
    assert_eq!(removed.expect(200)["data"], json!({"deleted": true}));
    world.delete(&format!("{base}/documents?source=Hours&type=text")).await.not_found();
    assert_eq!(found(&world, world.live(), &base, "opens ten").await, Vec::<String>::new());
    assert_eq!(counts(&world, &base).await, [2, 2, 0]);
}

#[tokio::test]
async fn a_question_finds_text_in_other_scripts() {
    let world = World::bare().await;
    let base = world.knowledge_base().await;
    let texts = [
        ("hi", "आपका पार्सल भेजने के दो दिन बाद पहुँच जाता है।"),
        ("hi-refund", "रिफंड सात दिनों में आपके खाते में आ जाता है।"),
        ("en", "# Opening hours\nEvery day from nine to six. On Sundays we are closed."),
        ("ta", "வாடகை ஒவ்வொரு மாதமும் ஐந்தாம் தேதிக்குள் செலுத்த வேண்டும்."),
        ("te", "అద్దె ప్రతి నెల ఐదవ తేదీ లోపు చెల్లించాలి."),
    ];
    for (title, text) in texts {
        add(&world, &base, Some(title), text).await;
    }
    for (question, source) in [
        ("mera parcel kahan hai", "hi"),
        ("मेरा पार्सल कहाँ है?", "hi"),
        ("refund kitne din mein aata hai", "hi-refund"),
        ("when are you open on sunday", "en"),
        ("vaadagai eppo kattanum", "ta"),
        ("வாடகை எப்போது செலுத்துவது", "ta"),
        ("addhe eppudu", "te"),
        ("అద్దె ఎప్పుడు చెల్లించాలి", "te"),
    ] {
        let hits = search(&world, world.live(), &base, question).await;
        assert_eq!(hits[0]["source"], source, "{question}: {hits}");
        let score = hits[0]["score"].as_f64().unwrap();
        assert!(score > 0.0 && score <= 1.0);
    }
    let hit = &search(&world, world.live(), &base, "opening hours").await[0];
    hit.shows(json!({"heading": "Opening hours", "type": "text", "page": null}));
    assert_eq!(search(&world, world.live(), &base, "helicopter").await, json!([]));
    assert_eq!(search(&world, world.live(), &base, "?!").await, json!([]));
    let one = world.get(&format!("{base}/search?q=day&limit=1")).await;
    assert_eq!(one["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn agents_use_a_base_until_it_is_deleted() {
    let world = World::bare().await;
    let neighbour = world.neighbour().await;
    let base = world.knowledge_base().await;
    let body = json!({"systemPrompt": "Answer questions.", "knowledgeBaseId": id(&base)});
    let agent = world.agent(&body).await;
    let agent = format!("/v1/agents/{agent}");
    let shown = world.data(&agent).await;
    assert_eq!(shown["knowledgeBaseId"], id(&base));
    assert_eq!(counts(&world, &base).await, [0, 0, 1]);
    let listed = world.data("/v1/knowledge-bases").await;
    assert_eq!(listed[0]["agentCount"], 1);

    let theirs = json!({"name": "x", "knowledgeBaseId": id(&base)});
    neighbour.post("/v1/agents", &theirs).await.refused(400, "knowledge_base_not_found");
    let odd = json!({"name": "x", "knowledgeBaseId": "shop"});
    world.post("/v1/agents", &odd).await.refused(400, "knowledge_base_not_found");

    world.delete(&base).await.expect(200);
    let after = world.data(&agent).await;
    assert_eq!((&after["knowledgeBaseId"], &after["status"]), (&Value::Null, &json!("active")));
    let gone = json!({"name": "x", "knowledgeBaseId": id(&base)});
    world.put(&agent, &gone).await.refused(400, "knowledge_base_not_found");
}

#[tokio::test]
async fn a_deleted_base_leaves_nothing() {
    let world = World::bare().await;
    let (gone, stays) = (world.knowledge_base().await, world.knowledge_base().await);
    for base in [&gone, &stays] {
        add(&world, base, Some("Hours"), "The shop opens at nine.").await;
        assert_eq!(found(&world, world.live(), base, "opens").await.len(), 1);
    }
    let folder = world.app().config.data.join("knowledge-1");
    assert!(folder.join(id(&gone)).exists());
    world.delete(&gone).await.expect(200);
    world.fetch(&format!("{gone}/search?q=opens")).await.not_found();
    // The job has done its work when the clock says that nothing is left to do.
    world.advance(0).await;
    for table in
        ["knowledge_bases where id", "knowledge_documents where base", "knowledge_passages where base"]
    {
        for (base, left) in [(&gone, 0), (&stays, 1)] {
            let (sql, id) = (format!("select count(*) from {table} = ?1"), id(base).to_owned());
            let count = world.app().store.read(move |tx| tx.one::<i64>(&sql, store::params![&id])).await;
            assert_eq!(count.unwrap(), Some(left), "{table}");
        }
    }
    assert!(!folder.join(id(&gone)).exists() && folder.join(id(&stays)).exists());
    assert_eq!(found(&world, world.live(), &stays, "opens").await.len(), 1);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_changes_nothing() {
    let world = World::bare().await;
    let base = world.knowledge_base().await;
    let documents = format!("{base}/documents");
    for (body, field) in [
        (json!({}), "text"),
        (json!({"text": ""}), "text"),
        (json!({"text": "x".repeat(100_001)}), "text"),
        (json!({"text": 1}), "text"),
        (json!({"text": " \n\t "}), "text"),
        (json!({"text": "# a\n".repeat(5_001)}), "text"),
        (json!({"text": "x", "title": ""}), "title"),
        (json!({"text": "x", "title": "  "}), "title"),
        (json!({"text": "x", "title": "x".repeat(201)}), "title"),
    ] {
        let refused = world.post(&documents, &body).await.invalid();
        assert!(refused.to_string().contains(field), "{refused}");
    }
    for query in ["", "?q=", "?q=a&limit=0", "?q=a&limit=21", &format!("?q={}", "x".repeat(1_001))] {
        world.fetch(&format!("{base}/search{query}")).await.invalid();
    }
    for body in [json!({}), json!({"name": ""}), json!({"name": "x".repeat(121)})] {
        world.post("/v1/knowledge-bases", &body).await.invalid();
    }
    assert_eq!(counts(&world, &base).await, [0, 0, 0]);
    let most = add(&world, &base, Some("most"), &"क ".repeat(50_000)).await;
    assert_eq!(most["chars"], 99_999, "the space at the end is no text");
}

#[tokio::test]
async fn features_test_keys_and_ceilings() {
    let world = World::bare().await;
    let base = world.knowledge_base().await;
    add(&world, &base, Some("Hours"), "The shop opens at nine.").await;

    assert_eq!(found(&world, world.test(), &base, "opens").await.len(), 1, "a test key reads");
    world.app.get(world.test(), &base).await.expect(200);
    let text = json!({"text": "x"});
    world.app.post(world.test(), "/v1/knowledge-bases", &json!({"name": "x"})).await.read_only();
    world.app.post(world.test(), &format!("{base}/documents"), &text).await.read_only();
    world.app.delete(world.test(), &format!("{base}/documents?source=Hours&type=text")).await.read_only();
    world.app.delete(world.test(), &base).await.read_only();

    let reader = world.key(&world.workspace.id, "live", json!(["knowledge:read"])).await;
    assert_eq!(found(&world, &reader, &base, "opens").await.len(), 1);
    world.app.post(&reader, &format!("{base}/documents"), &text).await.refused(403, "api_scope_missing");

    let feature = |on: bool| json!({"features": {"knowledge": on}});
    world.change(&feature(false)).await;
    world.post("/v1/knowledge-bases", &json!({"name": "x"})).await.refused(403, "plan_feature_locked");
    assert_eq!(found(&world, world.live(), &base, "opens").await.len(), 1, "what is there goes on working");
    world.change(&feature(true)).await;

    // Ceilings, by counters that are nearly there.
    let tenant: domain::tenant::Tenant = world.tenant();
    let set = |column: &'static str, number: i64| {
        let (store, id) = (world.app().store.clone(), id(&base).to_owned());
        async move {
            let sql = format!("update knowledge_bases set {column} = ?2 where id = ?1 and workspace = ?3");
            store.tx(move |tx| tx.exec(&sql, store::params![&id, number, tenant])).await.unwrap();
        }
    };
    set("documents", 5_000).await;
    let full = world.post(&format!("{base}/documents"), &text).await;
    full.refused(409, "knowledge_base_full");
    add(&world, &base, Some("Hours"), "The shop opens at ten.").await;
    set("documents", 1).await;
    set("passages", 100_000).await;
    let full = world.post(&format!("{base}/documents"), &text).await;
    full.refused(409, "knowledge_base_full");
    // All bases of a workspace together have a ceiling, too; those of other workspaces do not count.
    set("passages", 1).await;
    let other = world.knowledge_base().await;
    set("passages", 500_000).await;
    let full = world.post(&format!("{other}/documents"), &text).await;
    assert_eq!(full.refused(409, "knowledge_base_full")["meta"]["limit"], 500_000);
    let stranger = world.neighbour().await;
    let theirs = stranger.knowledge_base().await;
    add(&stranger, &theirs, Some("Hours"), "The shop opens at ten.").await;
    set("passages", 499_999).await;
    add(&world, &other, Some("Hours"), "The shop opens at ten.").await;
    set("passages", 1).await;
    for _ in 2..100 {
        world.knowledge_base().await;
    }
    world.post("/v1/knowledge-bases", &json!({"name": "x"})).await.refused(409, "knowledge_base_limit");
}

#[tokio::test]
async fn an_index_that_is_lost_or_damaged_is_made_anew() {
    let mut world = World::bare().await;
    let base = world.knowledge_base().await;
    add(&world, &base, Some("Hours"), "The shop opens at nine.").await;
    assert_eq!(found(&world, world.live(), &base, "opens").await.len(), 1);
    world = world.restart().await;
    assert_eq!(found(&world, world.live(), &base, "opens").await.len(), 1, "it is opened again");
    for damage in ["gone", "meta", "parts"] {
        let folder = world.app().config.data.join("knowledge-1").join(id(&base));
        let stopped = world.stop().await;
        match damage {
            "gone" => std::fs::remove_dir_all(&folder).unwrap(),
            "meta" => std::fs::write(folder.join("meta.json"), "{").unwrap(),
            _ => {
                for entry in std::fs::read_dir(&folder).unwrap().flatten() {
                    if entry.file_name() != "meta.json" {
                        std::fs::remove_file(entry.path()).unwrap();
                    }
                }
            }
        }
        world = stopped.start().await;
        add(&world, &base, Some("Hours"), &format!("The shop opens at ten, {damage}.")).await;
        let hits = found(&world, world.live(), &base, "opens").await;
        assert_eq!(hits, [format!("The shop opens at ten, {damage}.")]);
    }
}

#[tokio::test]
async fn many_at_once_see_whole_documents() {
    let world = World::bare().await;
    let base = world.knowledge_base().await;
    let version = |number: usize| format!("# Part one\nalpha{number} stays\n# Part two\nalpha{number} goes");
    add(&world, &base, Some("one"), &version(0)).await;
    let writes = async {
        for number in 1..12 {
            add(&world, &base, Some("one"), &version(number)).await;
            let hits = found(&world, world.live(), &base, &format!("alpha{number}")).await;
            assert_eq!(hits.len(), 2, "what was answered is found: {hits:?}");
        }
    };
    let reads = async {
        for _ in 0..30 {
            let hits = found(&world, world.live(), &base, "stays goes").await;
            assert_eq!(hits.len(), 2, "{hits:?}");
            let of = |text: &str| text.split(' ').next().map(str::to_owned);
            assert_eq!(of(&hits[0]), of(&hits[1]), "one version of the document: {hits:?}");
        }
    };
    tokio::join!(writes, reads);
    assert_eq!(counts(&world, &base).await, [1, 2, 0]);
}
