//! The server of the Model Context Protocol over HTTP (docs/contract/mcp.md).

use bytes::Bytes;
use domain::tenant::Role;
use serde_json::{Value, json};

use crate::app::Answer;
use crate::world::World;

const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

async fn send(world: &World, key: Option<&str>, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
    let headers: Vec<_> = headers.iter().copied().chain([ACCEPT]).collect();
    world.app.send("POST", "/mcp", key, &headers, body.into()).await
}

/// A request of this method; the whole answer.
async fn ask(world: &World, key: &str, method: &str, params: Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let answer = send(world, Some(key), &[], request.to_string()).await.expect(200);
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)), "{answer}");
    answer
}

/// Calls a tool: whether it failed, and its text, as JSON where it is.
async fn call(world: &World, key: &str, tool: &str, arguments: Value) -> (bool, Value) {
    let mut answer = ask(world, key, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    let result = answer["result"].take();
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer} {result}"));
    (result["isError"] == true, serde_json::from_str(text).unwrap_or_else(|_| json!(text)))
}

/// The same of a call that succeeds; its `data`.
async fn data(world: &World, key: &str, tool: &str, arguments: Value) -> Value {
    let (failed, mut said) = call(world, key, tool, arguments).await;
    assert!(!failed, "{tool}: {said}");
    said["data"].take()
}

async fn tools(world: &World, key: &str) -> Vec<String> {
    let answer = ask(world, key, "tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().expect("tools").clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_agent_is_made_and_its_call_is_read() {
    let world = World::open().await;
    let greeting = ask(
        &world,
        world.live(),
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
    )
    .await;
    assert_eq!(greeting["result"]["protocolVersion"], "2025-06-18", "{greeting}");
    assert!(greeting["result"]["instructions"].as_str().unwrap().contains("The key is LIVE"), "{greeting}");
    let started = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert_eq!(send(&world, Some(world.live()), &[], started).await.status, 202);
    let agent =
        data(&world, world.live(), "agents_create", json!({"name": "Kavya", "systemPrompt": "Say hello."}))
            .await;
    let agent = agent["id"].as_str().unwrap();
    data(&world, world.live(), "agents_set_status", json!({"id": agent, "status": "active"})).await;
    let order = json!({"agentId": agent, "toNumber": "+919812301234"});
    let (failed, placed) = call(&world, world.test(), "calls_place", order).await;
    assert!(!failed, "{placed}");
    world.advance(60).await;
    let shown = data(&world, world.test(), "calls_get", json!({"id": placed["interactionId"]})).await;
    assert_eq!(shown["state"], "ended", "{shown}");
    assert!(!shown["transcript"].as_array().expect("a transcript").is_empty(), "{shown}");
    let listed = data(&world, world.test(), "calls_list", json!({"agentId": agent})).await;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
}

#[tokio::test]
async fn a_key_has_the_tools_that_it_may_call() {
    let world = World::open().await;
    let (live, test) = (tools(&world, world.live()).await, tools(&world, world.test()).await);
    assert!(live.len() > 40 && live.contains(&"agents_create".to_owned()), "{live:?}");
    assert!(
        test.contains(&"calls_place".to_owned()) && !test.contains(&"agents_create".to_owned()),
        "{test:?}"
    );
    let reader = world.key(&world.workspace.id, "live", json!(["calls:read"])).await;
    let read = tools(&world, &reader).await;
    assert!(read.contains(&"calls_list".to_owned()), "{read:?}");
    assert!(
        !read.contains(&"calls_place".to_owned()) && !read.contains(&"agents_list".to_owned()),
        "{read:?}"
    );
    // What it does not see it cannot call either.
    let order = json!({"agentId": world.agent, "toNumber": "+919812301234", "confirm": true});
    let (failed, said) = call(&world, &reader, "calls_place", order).await;
    assert!(failed && said.as_str().unwrap().contains("lacks the scope calls:write"), "{said}");
    assert_eq!(world.list("/v1/calls").await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_live_key_dials_only_what_was_confirmed() {
    let world = World::open().await;
    let mut order = json!({"agentId": world.agent, "toNumber": "+919812301234", "idempotencyKey": "once"});
    let (failed, said) = call(&world, world.live(), "calls_place", order.clone()).await;
    assert!(!failed && said["done"] == false, "{said}");
    assert_eq!(said["request"]["body"]["toNumber"], "+919812301234", "{said}");
    assert_eq!(world.list("/v1/calls").await, [Value::Null; 0]);
    order["confirm"] = json!(true);
    let (failed, placed) = call(&world, world.live(), "calls_place", order.clone()).await;
    assert!(!failed && placed["interactionId"].is_string(), "{placed}");
    // The same key of idempotency is the same call.
    assert_eq!(call(&world, world.live(), "calls_place", order.clone()).await, (false, placed));
    assert_eq!(world.list("/v1/calls").await.len(), 1);
    // Without one each call of the tool is another.
    order.as_object_mut().unwrap().remove("idempotencyKey");
    call(&world, world.live(), "calls_place", order.clone()).await;
    call(&world, world.live(), "calls_place", order).await;
    assert_eq!(world.list("/v1/calls").await.len(), 3);
}

#[tokio::test]
async fn what_a_tool_does_is_recorded_as_done_by_the_key() {
    let world = World::open().await;
    let headers = [("user-agent", "assistant/3"), ("x-request-id", "asked-12345")];
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "agents_update", "arguments": {"id": world.agent, "name": "Meera"}}});
    send(&world, Some(world.live()), &headers, request.to_string()).await.expect(200);
    let actions = world.list("/v1/audit/actions?limit=100").await;
    assert!(actions.iter().all(|action| action["operation"] != "mcp"), "{actions:?}");
    let updates: Vec<_> = actions.iter().filter(|action| action["operation"] == "updateAgent").collect();
    let [update] = updates[..] else { panic!("{actions:?}") };
    assert_eq!(update["userAgent"], "assistant/3");
    assert_eq!(update["requestId"], "asked-12345");
    assert!(update["actor"].as_str().unwrap().starts_with("key_"), "{update}");
}

#[tokio::test]
async fn a_tool_sees_its_workspace_only_and_says_what_is_wrong() {
    let world = World::open().await;
    let call_id = world.placed(world.live(), "1234").await;
    let neighbour = world.neighbour().await;
    let (failed, said) = call(&neighbour, neighbour.live(), "calls_get", json!({"id": call_id})).await;
    assert_eq!((failed, &said["code"], &said["status"]), (true, &json!("not_found"), &json!(404)), "{said}");
    let (failed, said) = call(&world, world.live(), "agents_create", json!({"name": ""})).await;
    assert_eq!(
        (failed, &said["code"], &said["meta"]["field"]),
        (true, &json!("invalid_request"), &json!("name"))
    );
    let (failed, said) = call(&world, world.live(), "calls_get", json!({"call": "x"})).await;
    assert!(failed && said.as_str().unwrap().contains("id is required"), "{said}");
}

#[tokio::test]
async fn who_is_not_known_learns_nothing() {
    let world = World::bare().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    for key in [None, Some("dastak_live_wrong")] {
        let refused = send(&world, key, &[], list.clone()).await;
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        refused.refused(401, "unauthorized");
    }
    let owner = world.member(Role::Owner).await;
    owner.post("/mcp", &json!({})).await.refused(401, "unauthorized");
    owner.post(&format!("/console/api/{}/live/mcp", owner.workspace), &json!({})).await.not_found();
    world.change(&json!({"suspended": true})).await;
    send(&world, Some(world.live()), &[], list).await.refused(403, "workspace_suspended");
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let world = World::bare().await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let own = world.app.url.clone();
    for (origin, status) in [(own.as_str(), 200), ("https://evil.example", 403), ("null", 403)] {
        let answer = send(&world, Some(world.live()), &[("origin", origin)], ping.clone()).await;
        assert_eq!(answer.status, status, "{origin}: {}", answer.text);
    }
}

#[tokio::test]
async fn messages_that_are_none_are_refused() {
    let world = World::bare().await;
    let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
    let nested = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{deep}}}}}"#);
    for (body, code) in [
        ("{", -32_700),
        ("\"ping\"", -32_600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32_600),
        (r#"{"id":1,"method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32_600),
        (nested.as_str(), -32_600),
    ] {
        let answer = send(&world, Some(world.live()), &[], body.to_owned()).await;
        assert_eq!(
            (answer.status, &answer.json["error"]["code"]),
            (400, &json!(code)),
            "{body}: {}",
            answer.text
        );
        assert_eq!(answer.json["id"], Value::Null, "{}", answer.text);
    }
    for (method, params, code) in [
        ("tools/delete", json!({}), -32_601),
        ("prompts/list", json!({}), -32_601),
        ("subscriptions/listen", json!({"notifications": {}}), -32_601),
        ("tools/call", json!({"name": "rm_rf"}), -32_602),
        ("resources/read", json!({"uri": "file:///etc/passwd"}), -32_002),
    ] {
        let answer = ask(&world, world.live(), method, params).await;
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    }
    let version = [("mcp-protocol-version", "1999-01-01")];
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let answer = send(&world, Some(world.live()), &version, ping).await;
    assert_eq!((answer.status, answer.json["jsonrpc"].as_str()), (400, Some("2.0")), "{}", answer.text);
    for method in ["GET", "DELETE"] {
        let answer = world.app.send(method, "/mcp", Some(world.live()), &[ACCEPT], Bytes::new()).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{}", answer.text);
    }
    let large = vec![b' '; 6 << 20];
    send(&world, Some(world.live()), &[], large).await.refused(413, "payload_too_large");
    let text = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "x".repeat(2 << 20)}})
        .to_string();
    let answer = send(&world, Some(world.live()), &[], text).await;
    assert_eq!((answer.status, &answer.json["error"]["code"]), (400, &json!(-32_600)), "{}", answer.text);
}

/// A message counts, and what its tool requests counts once more.
#[tokio::test]
async fn messages_count_toward_the_limits_of_the_workspace() {
    let world = World::bare().await;
    world.change(&json!({"limits": {"requestsPerMinute": 3}})).await;
    let (failed, _) = call(&world, world.live(), "wallet_get", json!({})).await;
    assert!(!failed);
    let (failed, said) = call(&world, world.live(), "wallet_get", json!({})).await;
    assert_eq!((failed, &said["code"]), (true, &json!("rate_limited")), "{said}");
    assert!(said["retryAfterSeconds"].as_i64().is_some_and(|seconds| seconds > 0), "{said}");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    send(&world, Some(world.live()), &[], ping).await.refused(429, "rate_limited");
}

#[tokio::test]
async fn guides_and_error_codes_can_be_read() {
    let world = World::bare().await;
    let answer = ask(&world, world.test(), "resources/list", json!({})).await;
    let resources = answer["result"]["resources"].as_array().unwrap().clone();
    assert!(resources.iter().any(|resource| resource["uri"] == "dastak://contract/sandbox"), "{answer}");
    let answer = ask(&world, world.test(), "resources/read", json!({"uri": "dastak://errors"})).await;
    let text = answer["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("| `insufficient_balance` | 402 |"), "{text}");
}

/// The revision of the protocol in which each request says by itself what its client can do.
#[tokio::test]
async fn requests_of_the_newest_revision_need_no_greeting() {
    let world = World::bare().await;
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    let request =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}).to_string();
    let answer = send(&world, Some(world.test()), &headers, request).await.expect(200);
    assert!(answer["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 20), "{answer}");
}
