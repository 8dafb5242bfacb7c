//! Envelopes, errors, request ids, cursors (docs/contract/README.md).

use bytes::Bytes;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::shows::Shows;
use crate::world::World;

#[tokio::test]
async fn errors_come_in_the_envelope() {
    let world = World::bare().await;
    let key = Some(world.live());
    let unknown = world.send("GET", "/v1/nothing", key, &[], Bytes::new()).await;
    unknown.not_found();
    let method = world.send("DELETE", "/v1/me", key, &[], Bytes::new()).await;
    assert_eq!(method.header("allow"), Some("GET"));
    method.refused(405, "method_not_allowed");
    let token = Some(world.operator_token.as_str());
    let path = "/operator/v1/workspaces";
    world.send("POST", path, token, &[], Bytes::from_static(b"{")).await.refused(400, "malformed_json");
    let named = world.send("POST", path, token, &[], Bytes::from_static(b"{\"name\":5}")).await.invalid();
    assert_eq!(
        named,
        json!({"error": "name must be a string of 1 to 120 characters", "code": "invalid_request", "docUrl": "/docs/errors/invalid_request",
            "meta": {"field": "name"}})
    );
    let large = Bytes::from(vec![b' '; 5 * 1024 * 1024 + 1]);
    world.send("POST", path, token, &[], large).await.refused(413, "payload_too_large");
    for query in ["limit=0", "limit=201", "limit=ten"] {
        world.fetch(&format!("/v1/wallet/transactions?{query}")).await.invalid();
    }
}

#[tokio::test]
async fn request_ids_are_the_clients_or_ours() {
    let app = TestApp::start().await;
    for (sent, kept) in
        [("abc.DEF_12-3", true), ("short", false), ("has spaces in it", false), (&"x".repeat(65), false)]
    {
        let answer = app.send("GET", "/healthz", None, &[("x-request-id", sent)], Bytes::new()).await;
        assert_eq!(answer.header("x-request-id") == Some(sent), kept, "{sent}");
        assert!(answer.header("x-request-id").is_some_and(|id| id.len() >= 8));
    }
}

#[tokio::test]
async fn limits_are_fixed_windows_per_workspace() {
    let world = World::bare().await;
    world.change(&json!({"limits": {"requestsPerMinute": 5}})).await;
    world.set_clock("2027-01-01T00:00:30Z").await;
    for used in 1..=5 {
        // All keys of the workspace share the window.
        let answer = world.app.get(if used % 2 == 0 { world.live() } else { world.test() }, "/v1/me").await;
        assert_eq!(answer.header("x-ratelimit-limit"), Some("5"));
        assert_eq!(answer.header("x-ratelimit-remaining"), Some((5 - used).to_string().as_str()));
        assert_eq!(answer.header("x-ratelimit-reset"), Some("1798761660"));
        answer.expect(200);
    }
    let refused = world.fetch("/v1/me").await;
    assert_eq!(refused.header("retry-after"), Some("30"));
    assert_eq!(refused.header("x-ratelimit-remaining"), Some("0"));
    refused.refused(429, "rate_limited");
    let other = world.neighbour().await;
    other.get("/v1/me").await;
    world.advance(30).await;
    world.get("/v1/me").await;
    // Of two limits the narrower one is told: the one of which fewer requests are left.
    for (requests, calls, told) in [(3, 60, ("3", "2")), (600, 2, ("2", "1")), (2, 2, ("2", "1"))] {
        let world = world.neighbour().await;
        let limits = json!({"limits": {"requestsPerMinute": requests, "callsPerMinute": calls}});
        world.change(&limits).await;
        let answer = world.post("/v1/calls", &json!({})).await;
        let headers = ["x-ratelimit-limit", "x-ratelimit-remaining"].map(|name| answer.header(name));
        assert_eq!(headers, [Some(told.0), Some(told.1)], "{requests} and {calls}");
    }
}

#[tokio::test]
async fn cursors_are_stable_under_inserts_and_belong_to_their_list() {
    let app = TestApp::start().await;
    for _ in 0..7 {
        app.workspace().await;
    }
    let list = |cursor: Option<String>| {
        let path = format!(
            "/workspaces?limit=3{}",
            cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default()
        );
        let app = &app;
        async move { app.operator("GET", &path, &Value::Null).await }
    };
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = list(cursor.take()).await.expect(200);
        seen.extend(
            page["data"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()),
        );
        app.workspace().await;
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    let mut sorted = seen.clone();
    sorted.sort_by(|a, b| b.cmp(a));
    sorted.dedup();
    assert_eq!((seen.len(), &seen), (7, &sorted), "newest first, none twice, none of the new ones");
    let of_log = app.operator("GET", "/log?limit=1", &Value::Null).await.expect(200)["nextCursor"]
        .as_str()
        .unwrap()
        .to_owned();
    for cursor in [of_log.as_str(), "rubbish", "e30.x"] {
        app.operator("GET", &format!("/workspaces?cursor={cursor}"), &Value::Null)
            .await
            .refused(400, "invalid_cursor");
    }
}

#[tokio::test]
async fn the_service_describes_itself() {
    let app = TestApp::start().await;
    let document = app.send("GET", "/v1/openapi.json", None, &[], Bytes::new()).await.expect(200);
    document.shows(json!({"openapi": "3.1.0", "info.version": "1"}));
    assert_eq!(document["paths"]["/v1/wallet"]["get"]["x-scope"], "billing:read");
    assert!(
        document["paths"]
            .as_object()
            .unwrap()
            .keys()
            .all(|path| !path.starts_with("/operator/v1/w") && !path.starts_with("/dev"))
    );
    let operator = app.send("GET", "/operator/v1/openapi.json", None, &[], Bytes::new()).await.expect(200);
    assert!(operator["paths"]["/operator/v1/workspaces"].is_object());
    let golden = include_str!("../../../../openapi.json");
    assert!(
        golden == api::openapi::to_text(&document),
        "openapi.json differs from the code: run `make openapi` and look at the difference"
    );
    let golden = include_str!("../../../../console/operator.json");
    assert!(
        golden == api::openapi::to_text(&operator),
        "console/operator.json differs from the code: run `make openapi` and look at the difference"
    );
}

#[tokio::test]
async fn health_readiness_and_figures() {
    let app = TestApp::start().await;
    assert_eq!(app.send("GET", "/healthz", None, &[], Bytes::new()).await.expect(200), json!({"ok": true}));
    assert_eq!(app.send("GET", "/readyz", None, &[], Bytes::new()).await.expect(200), json!({"ok": true}));
    let metrics = app.send("GET", "/metrics", Some(&app.operator_token), &[], Bytes::new()).await;
    for figure in [
        "dastak_http_requests_total{method=\"GET\",route=\"/healthz\",status=\"200\"} 1",
        "dastak_store_commit_seconds_bucket",
        "dastak_store_queued",
    ] {
        assert!(metrics.text.contains(figure), "{figure} in {}", metrics.text);
    }
}

#[tokio::test]
async fn the_manual_clock_moves_only_forward() {
    let app = TestApp::start().await;
    app.set_clock("2027-02-28T10:00:00+05:30").await;
    assert_eq!(app.now().await, "2027-02-28T04:30:00.000Z");
    app.advance(90).await;
    assert_eq!(app.now().await, "2027-02-28T04:31:30.000Z");
    for body in [
        json!({"set": "2026-12-01T00:00:00Z"}),
        json!({"advanceSeconds": -1}),
        json!({}),
        json!({"advanceSeconds": 1, "set": "2028-01-01T00:00:00Z"}),
    ] {
        app.send("POST", "/dev/clock", None, &[], body.to_string().into()).await.invalid();
    }
    let real = TestApp::start_with(|config| config.manual_clock = false).await;
    real.send("GET", "/dev/clock", None, &[], Bytes::new()).await.not_found();
}

/// A nought behind a dot is no digit, in whatever place a number is written.
#[tokio::test]
async fn decimals_make_no_number() {
    let world = World::bare().await;
    let key = world.live();
    for wrong in ["981234567.0", "98123456.00", "981234567.8"] {
        world.app.post(key, "/v1/contacts", &json!({"externalRef": "a", "phone": wrong})).await.invalid();
        let listed = world.app.post(key, "/v1/dnc", &json!({"phones": [wrong]})).await.json;
        assert_ne!(listed["data"]["added"], 1, "{listed}");
    }
    assert_eq!(world.app.get(key, "/v1/dnc").await.expect(200)["total"], 0);
    for (at, written) in
        ["9812345678.0", "+919812345679.00", "+91\u{FE0D}98123 45670"].into_iter().enumerate()
    {
        let body = json!({"externalRef": format!("b{at}"), "phone": written});
        let made = world.app.post(key, "/v1/contacts", &body).await.expect(201);
        let phones = ["+919812345678", "+919812345679", "+919812345670"];
        assert_eq!(made["data"]["phone"], phones[at]);
    }
}
