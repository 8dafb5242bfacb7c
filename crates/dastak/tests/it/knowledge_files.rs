//! Files and links of knowledge bases, over HTTP (docs/contract/knowledge-files.md).

use bytes::Bytes;
use serde_json::{Value, json};

use crate::app::{Answer, TestApp};
use crate::receiver::{Behaviour, Receiver};
use crate::world::World;

/// A base of a workspace.
async fn base(world: &World) -> String {
    world.post("/v1/knowledge-bases", &json!({"name": "Help"})).await.id(201)
}

/// Uploads a file in the field of this name.
async fn upload(app: &TestApp, path: &str, field: &str, name: &str, bytes: &[u8]) -> Answer {
    let mut body = format!(
        "--limit\r\ncontent-disposition: form-data; name=\"note\"\r\n\r\nhello\r\n\
         --limit\r\ncontent-disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(bytes);
    body.extend_from_slice(b"\r\n--limit--\r\n");
    let kind = ("content-type", "multipart/form-data; boundary=limit");
    app.send("POST", &format!("/operator/v1{path}"), Some(&app.operator_token), &[kind], body.into()).await
}

pub async fn add_file(world: &World, base: &str, name: &str, bytes: &[u8]) -> Answer {
    let path = format!("/workspaces/{}/knowledge-bases/{base}/files", world.workspace.id);
    upload(world, &path, "file", name, bytes).await
}

async fn documents(world: &World, base: &str) -> Vec<Value> {
    let found = world.get(&format!("/v1/knowledge-bases/{base}")).await;
    found["data"]["documents"].as_array().expect("documents").clone()
}

async fn best(world: &World, base: &str, question: &str) -> Value {
    let path = format!("/v1/knowledge-bases/{base}/search?q={question}");
    let found = world.get(&path).await;
    found["data"].get(0).cloned().unwrap_or(Value::Null)
}

async fn add_link(world: &World, base: &str, url: &str) -> Answer {
    world.post(&format!("/v1/knowledge-bases/{base}/links"), &json!({"url": url})).await
}

/// An answer of a server with a page.
fn page(kind: &str, body: &str) -> Behaviour {
    Behaviour::Answer(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ))
}

fn redirect(to: &str) -> Behaviour {
    Behaviour::Answer(format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"))
}

#[tokio::test]
async fn a_file_is_read_found_and_replaced_by_its_name() {
    let world = World::bare().await;
    let base = base(&world).await;
    let csv = "City,Days,Fee\nPune,2,40\nLeh,14,90\n";
    let added = add_file(&world, &base, "C:\\lists\\delivery.csv", csv.as_bytes()).await.expect(200);
    assert_eq!(added["data"]["source"], "delivery.csv");
    assert_eq!(added["data"]["replaced"], false);
    assert!(added["data"]["added"].as_i64().is_some_and(|count| count > 0), "{added}");
    let hit = best(&world, &base, "delivery%20Leh").await;
    assert!(
        hit["content"].as_str().is_some_and(|text| text.contains("City: Leh; Days: 14; Fee: 90")),
        "{hit}"
    );
    assert_eq!(hit["source"], "delivery.csv");

    let csv = "City,Days\nKochi,3\n";
    let added = add_file(&world, &base, "delivery.csv", csv.as_bytes()).await.expect(200);
    assert!(added["data"]["replaced"] == true, "{added}");
    let kept = documents(&world, &base).await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!((&kept[0]["source"], &kept[0]["type"]), (&json!("delivery.csv"), &json!("file")));
    assert!(best(&world, &base, "Leh").await.is_null(), "what was replaced is not found");

    let path = format!("/v1/knowledge-bases/{base}/documents?source=delivery.csv&type=file");
    world.delete(&path).await.expect(200);
    assert!(documents(&world, &base).await.is_empty());
}

#[tokio::test]
async fn a_refused_file_changes_nothing_and_says_why() {
    let world = World::bare().await;
    let base = base(&world).await;
    add_file(&world, &base, "fees.txt", b"The fee is 40 rupees.").await.expect(200);
    let half_pdf = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pa";
    let deep = format!("{}a,b", "x".repeat(20_001));
    let long = "long words in a paragraph \n\n".repeat(60_000);
    let many = "a\n\n".repeat(50_001);
    for (name, bytes, code, limit) in [
        ("fees.pdf", b"The fee is 50 rupees.".as_slice(), "document_unreadable", None),
        ("fees.pdf", half_pdf, "document_unreadable", None),
        ("fees.docx", b"PK\x03\x04half of an archive", "document_unreadable", None),
        ("fees.txt", b"caf\xE9", "document_unreadable", None),
        ("fees.txt", b" \n ", "document_unreadable", None),
        ("fees.png", b"\x89PNG\r\n\x1a\n", "document_unsupported", None),
        ("fees.exe", b"MZ but text", "document_unsupported", None),
        ("fees.txt", b"zero\0byte", "document_unsupported", None),
        ("fees.csv", deep.as_bytes(), "document_too_large", Some("cell")),
        ("fees.txt", long.as_bytes(), "document_too_large", Some("characters")),
        ("fees.txt", many.as_bytes(), "document_too_large", Some("blocks")),
    ] {
        let answer = add_file(&world, &base, name, bytes).await.refused(422, code);
        if let Some(limit) = limit {
            assert_eq!(answer["meta"]["limit"], limit);
        }
    }
    let kept = documents(&world, &base).await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    let hit = best(&world, &base, "fee").await;
    assert!(hit["content"].as_str().is_some_and(|text| text.contains("40 rupees")), "{hit}");
}

#[tokio::test]
async fn a_form_without_a_file_is_refused_by_name() {
    let world = World::bare().await;
    let base = base(&world).await;
    let path = format!("/workspaces/{}/knowledge-bases/{base}/files", world.workspace.id);
    for (field, name) in [("other", "a.txt"), ("file", ""), ("file", "folder/")] {
        let refused = upload(&world, &path, field, name, b"words").await.invalid();
        assert_eq!(refused["meta"]["field"], "file", "{field} {name}");
    }
    let json = world.app.operator("POST", &path, &json!({"file": "words"})).await.invalid();
    assert_eq!(json["meta"]["field"], "body");
}

#[tokio::test]
async fn a_base_of_another_workspace_is_not_found() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let base = base(&world).await;
    let receiver = Receiver::start(page("text/html", "<p>Words of a page.")).await;
    add_file(&other, &base, "a.txt", b"words").await.not_found();
    add_link(&other, &base, &receiver.url).await.not_found();
    assert!(receiver.got().is_empty(), "nothing is fetched for a base that is not there");
    assert!(documents(&world, &base).await.is_empty());
}

#[tokio::test]
async fn a_page_is_fetched_read_and_read_anew() {
    let world = World::bare().await;
    let base = base(&world).await;
    let words = "Parcels to Leh take fourteen days, because the road is closed in winter. ".repeat(4);
    let html = |words: &str| {
        format!(
            "<html><title>Delivery</title><nav><a href=/>Home</a></nav><h1>Delivery</h1><p>{words}</p><footer>imprint</footer>"
        )
    };
    let receiver = Receiver::start(page("text/html; charset=utf-8", &html(&words))).await;
    let added = add_link(&world, &base, &format!("{}#leh", receiver.url)).await.expect(200);
    assert_eq!(added["data"]["source"], json!(receiver.url));
    assert!(added["data"].get("warning").is_none(), "{added}");
    let got = receiver.got();
    assert!(got[0].head.starts_with("GET /hook "), "{}", got[0].head);
    assert_eq!(got[0].header("user-agent"), "service-pages/1");
    let hit = best(&world, &base, "road%20closed%20winter").await;
    assert_eq!(hit["source"], json!(receiver.url));
    assert!(hit["content"].as_str().is_some_and(|text| !text.contains("imprint")), "{hit}");

    receiver.behave(page("text/html", &html(&"Parcels to Leh take ten days by air. ".repeat(8))));
    let added = add_link(&world, &base, &receiver.url).await.expect(200);
    assert!(added["data"]["replaced"] == true, "{added}");
    assert_eq!(documents(&world, &base).await.len(), 1);
    assert!(best(&world, &base, "winter").await.is_null());
}

#[tokio::test]
async fn a_page_that_a_script_builds_comes_with_a_warning() {
    let world = World::bare().await;
    let base = base(&world).await;
    let html = "<html><head><title>Help of Acme</title></head><body><div id=root></div><script src=/app.js></script>";
    let receiver = Receiver::start(page("text/html", html)).await;
    let added = add_link(&world, &base, &receiver.url).await.expect(200);
    assert!(added["data"]["warning"].as_str().is_some_and(|text| text.contains("script")), "{added}");
}

#[tokio::test]
async fn a_page_that_cannot_be_fetched_says_why_and_changes_nothing() {
    let world = World::bare().await;
    let base = base(&world).await;
    let receiver = Receiver::start(page("text/html", "<p>Kept words.")).await;
    add_link(&world, &base, &receiver.url).await.expect(200);
    let local = |path: &str| receiver.url.replace("/hook", path);
    for (behaviour, reason) in [
        (Behaviour::status(404), "status"),
        (Behaviour::status(500), "status"),
        (Behaviour::Close, "closed"),
        (Behaviour::CutShort, "closed"),
        (Behaviour::Endless, "too_large"),
        (redirect(&local("/again")), "redirect"),
        (redirect("http://169.254.169.254/latest/meta-data"), "address_refused"),
        (redirect("file:///etc/passwd"), "address_refused"),
        (page("image/png", "not really"), "content_type"),
        (
            Behaviour::Answer(
                "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nxx".into(),
            ),
            "encoding",
        ),
        (page("text/html", ""), "empty"),
    ] {
        receiver.behave(behaviour);
        let refused = add_link(&world, &base, &receiver.url).await.refused(422, "link_not_fetched");
        assert_eq!(refused["meta"]["reason"], reason, "{refused}");
    }
    for url in ["http://169.254.169.254/", "http://localhost:22/", "http://127.0.0.1:6379/"] {
        let refused = add_link(&world, &base, url).await.refused(422, "link_not_fetched");
        assert_eq!(refused["meta"]["reason"], "address_refused", "{url}");
    }
    for url in ["help", "ftp://example.com/a", "javascript:alert(1)"] {
        let refused = add_link(&world, &base, url).await.invalid();
        assert_eq!(refused["meta"]["field"], "url", "{url}");
    }
    receiver.behave(page("application/pdf", "%PDF-1.7 and nothing else"));
    add_link(&world, &base, &receiver.url).await.refused(422, "document_unreadable");
    let hit = best(&world, &base, "kept").await;
    assert_eq!(hit["content"], "Kept words.");
}

#[tokio::test]
async fn redirects_are_followed_and_the_address_that_was_given_is_kept() {
    let world = World::bare().await;
    let base = base(&world).await;
    let there = Receiver::start(page("text/html", "<p>Moved words.")).await;
    let here = Receiver::start(redirect(&there.url)).await;
    let added = add_link(&world, &base, &here.url).await.expect(200);
    assert_eq!(added["data"]["source"], json!(here.url));
    assert_eq!(best(&world, &base, "moved").await["source"], json!(here.url));
}

#[tokio::test]
async fn without_the_feature_or_with_a_test_key_nothing_is_fetched() {
    let world = World::bare().await;
    let base = base(&world).await;
    let receiver = Receiver::start(page("text/html", "<p>Words.")).await;
    let path = format!("/v1/knowledge-bases/{base}/links");
    let body = json!({"url": receiver.url});
    world.app.post(world.test(), &path, &body).await.read_only();
    let key = world.key(&world.workspace.id, "live", json!(["knowledge:read"])).await;
    world.app.post(&key, &path, &body).await.refused(403, "api_scope_missing");
    let off = json!({"features": {"knowledge": false}});
    world.change(&off).await;
    world.post(&path, &body).await.refused(403, "plan_feature_locked");
    assert!(receiver.got().is_empty());
}

#[tokio::test]
async fn an_upload_is_in_the_operator_log_without_its_words() {
    let world = World::bare().await;
    let base = base(&world).await;
    add_file(&world, &base, "fees.txt", b"Asha pays 40 rupees.").await.expect(200);
    let log = world.app.operator("GET", "/log?limit=5", &Value::Null).await.expect(200);
    let line =
        log["data"].as_array().expect("lines").iter().find(|line| line["operation"] == "addKnowledgeFile");
    let line = line.expect("the upload is in the log");
    assert_eq!(line["workspaceId"], json!(world.workspace.id));
    assert!(!log.to_string().contains("Asha"));
}

#[tokio::test]
async fn many_pages_of_one_workspace_at_once_are_refused() {
    let world = World::bare().await;
    let base = base(&world).await;
    let receiver = Receiver::start(Behaviour::Hang).await;
    let shares: Vec<_> = {
        let tenant = world.workspace.id.parse().expect("an id");
        (0..4).map(|_| world.app().shares.pages.take(tenant, 1, 4).expect("room")).collect()
    };
    let refused = add_link(&world, &base, &receiver.url).await;
    assert_eq!(refused.header("retry-after"), Some("5"));
    refused.refused(429, "rate_limited");
    drop(shares);
    receiver.behave(page("text/html", "<p>Words."));
    add_link(&world, &base, &receiver.url).await.expect(200);
}

#[tokio::test]
async fn a_form_that_is_too_large_is_refused_unread() {
    let world = World::bare().await;
    let base = base(&world).await;
    let path = format!("/operator/v1/workspaces/{}/knowledge-bases/{base}/files", world.workspace.id);
    let kind = [("content-type", "multipart/form-data; boundary=limit")];
    let body = Bytes::from(vec![b'x'; 26 * 1024 * 1024 + 1]);
    let answer = world.send("POST", &path, Some(&world.operator_token), &kind, body).await;
    answer.refused(413, "payload_too_large");
    // The form itself may be larger than other bodies; the file in it has its own limit.
    let file = vec![b'x'; 20 * 1024 * 1024 + 1];
    let answer = add_file(&world, &base, "a.txt", &file).await.refused(422, "document_too_large");
    assert_eq!(answer["meta"]["limit"], "bytes");
}
