//! Tools during a conversation: what is sent, what is not, and what is sent again
//! (docs/contract/agents.md#tools). Calls and chats come through the one function that is called here.

use std::sync::Arc;

use dastak::app::tool_calls::{self, Call};
use providers::GuardedClient;
use providers::guarded_client::{Policy, SystemResolver};
use serde_json::{Value, json};

use crate::receiver::{Behaviour, Receiver};
use crate::world::{World, leads_to};

const CALL: &str = "call_01jz0000000000000000000000";
const CHAT: &str = "chatsess_01jz0000000000000000000000";

struct Talk {
    world: World,
    client: tool_calls::Client,
    shelf: Receiver,
}

leads_to!(Talk, world: World);

impl Talk {
    async fn begin(behaviour: Behaviour) -> Self {
        let world = World::bare().await;
        let policy = Policy { allow_insecure: true, ..Policy::default() };
        let client = GuardedClient::new(policy, Arc::new(SystemResolver::new())).unwrap();
        Self { world, client: client.into(), shelf: Receiver::start(behaviour).await }
    }

    /// Makes a tool at the receiver; `more` is added to its configuration.
    async fn tool(&self, more: Value) -> String {
        let mut config = json!({
            "url": self.shelf.url,
            "parameters": {
                "type": "object",
                "properties": {"order": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
                "required": ["order"],
                "additionalProperties": false,
            },
        });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let tool =
            json!({"type": "webhook", "name": "find", "description": "Finds an order.", "config": config});
        self.operator("POST", "/tools", tool).await.id(201)
    }

    async fn call_in(&self, of: &str, tool: &str, key: &str, arguments: Value) -> Result<Value, String> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        let call = Call { tool: tool.into(), interaction: of.into(), key: key.into(), arguments };
        tool_calls::call(self.app(), &self.client, self.tenant(), call).await
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        self.call_in(CALL, tool, "key-1", arguments).await
    }
}

fn answer(body: &str) -> Behaviour {
    Behaviour::Answer(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
}

fn wrong(text: &str) -> Result<Value, String> {
    Err(format!("the tool was not called, because its arguments are wrong: {text}"))
}

#[tokio::test]
async fn a_tool_gets_its_arguments_and_who_asks() {
    let talk = Talk::begin(answer(r#"{"arrives": "tomorrow"}"#)).await;
    let tool = talk.tool(json!({"headers": {"x-secret": "s3cret"}})).await;
    let said = talk.call(&tool, json!({"order": "A1", "count": "2"})).await;
    assert_eq!(said, Ok(json!({"arrives": "tomorrow"})));
    talk.call_in(CHAT, &tool, "key-2", json!({"order": "A1"})).await.unwrap();
    let got = talk.shelf.got();
    let of = |at: usize| {
        ["x-call-id", "x-chat-id", "idempotency-key", "x-secret", "content-type"]
            .map(|name| got[at].header(name))
    };
    assert_eq!(of(0), [CALL, "", "key-1", "s3cret", "application/json"]);
    assert_eq!(got[0].json(), json!({"order": "A1", "count": 2}));
    assert_eq!(of(1), ["", CHAT, "key-2", "s3cret", "application/json"]);
}

#[tokio::test]
async fn arguments_of_a_get_stand_in_its_address() {
    let talk = Talk::begin(answer("found")).await;
    let tool = talk.tool(json!({"method": "GET"})).await;
    assert_eq!(talk.call(&tool, json!({"order": "A 1", "count": 2})).await, Ok(json!("found")));
    let got = talk.shelf.got();
    assert!(got[0].head.starts_with("GET /hook?order=A%201&count=2 HTTP/1.1"), "{}", got[0].head);
    let long = talk.call(&tool, json!({"order": "x".repeat(3000)})).await;
    assert_eq!(long, wrong("the arguments must not make the address longer than 2048 bytes"));
    assert_eq!(talk.shelf.got().len(), 1);
}

#[tokio::test]
async fn wrong_arguments_are_not_sent_and_the_wrong_field_is_named() {
    let talk = Talk::begin(answer("{}")).await;
    let tool = talk.tool(json!({})).await;
    for (arguments, said) in [
        (json!({}), "order is required"),
        (json!({"order": 7}), "order must be a text"),
        (json!({"order": "A1", "count": 0}), "count must be at least 1"),
        (json!({"order": "A1", "colour": "red"}), "colour is not an argument of this tool"),
        (json!({"order": "x".repeat(70_000)}), "the arguments must not be longer than 65536 bytes"),
    ] {
        assert_eq!(talk.call(&tool, arguments).await, wrong(said));
    }
    assert_eq!(talk.shelf.got().len(), 0);
    let figures = talk.app().metrics.render();
    assert!(figures.contains(r#"dastak_tool_seconds_count{outcome="wrong_arguments"} 5"#), "{figures}");
}

#[tokio::test]
async fn a_tool_that_fails_is_told_in_words_without_its_address() {
    let talk = Talk::begin(Behaviour::status(404)).await;
    let tool = talk.tool(json!({"timeoutSeconds": 1})).await;
    for (behaviour, said) in [
        (Behaviour::status(404), "the tool answered with status 404"),
        (Behaviour::status(302), "the tool answered with status 302"),
        (Behaviour::status(503), "the tool answered with status 503"),
        (Behaviour::Hang, "the tool did not answer in time"),
        (Behaviour::Drip, "the tool did not answer in time"),
        (Behaviour::Close, "the tool did not answer"),
        (Behaviour::CutShort, "the tool did not answer"),
        (Behaviour::Endless, "the tool's answer is too long"),
    ] {
        let before = talk.shelf.got().len();
        talk.shelf.behave(behaviour.clone());
        assert_eq!(talk.call(&tool, json!({"order": "A1"})).await, Err(said.to_owned()), "{behaviour:?}");
        assert_eq!(talk.shelf.got().len(), before + 1, "{behaviour:?} is not repeated");
    }
}

#[tokio::test]
async fn what_may_be_repeated_is_sent_once_more_with_the_same_key() {
    let talk = Talk::begin(Behaviour::Close).await;
    let posted = talk.tool(json!({"idempotent": true})).await;
    let got = talk.tool(json!({"method": "GET"})).await;
    for (key, tool, behaviour, said, requests) in [
        ("a", &posted, Behaviour::Close, "the tool did not answer", 2),
        ("b", &posted, Behaviour::CutShort, "the tool did not answer", 2),
        ("c", &posted, Behaviour::status(503), "the tool answered with status 503", 2),
        ("d", &got, Behaviour::status(502), "the tool answered with status 502", 2),
        ("e", &posted, Behaviour::status(500), "the tool answered with status 500", 1),
        ("f", &posted, Behaviour::status(409), "the tool answered with status 409", 1),
    ] {
        talk.shelf.behave(behaviour.clone());
        let before = talk.shelf.got().len();
        let answer = talk.call_in(CALL, tool, key, json!({"order": "A1"})).await;
        assert_eq!(answer, Err(said.to_owned()), "{key}");
        let sent: Vec<_> = talk.shelf.got().drain(before..).collect();
        assert_eq!(sent.len(), requests, "{key}");
        assert!(sent.iter().all(|one| one.header("idempotency-key") == key), "{key}");
    }
}

#[tokio::test]
async fn a_tool_that_is_not_reached_is_said_so() {
    let talk = Talk::begin(answer("{}")).await;
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", nobody.local_addr().unwrap());
    drop(nobody);
    let tool = talk.tool(json!({"url": url})).await;
    let said = talk.call(&tool, json!({"order": "A1"})).await.unwrap_err();
    assert!(said == "the tool did not answer" || said == "the tool is set up wrongly", "{said}");
}

#[tokio::test]
async fn a_tool_of_another_workspace_and_one_that_is_gone_do_not_exist() {
    let talk = Talk::begin(answer("{}")).await;
    let tool = talk.tool(json!({})).await;
    let neighbour = talk.neighbour().await.tenant();
    let call = Call {
        tool: tool.clone(),
        interaction: CALL.into(),
        key: "k".into(),
        arguments: json!({"order": "A1"}).as_object().unwrap().clone(),
    };
    let answer = tool_calls::call(talk.app(), &talk.client, neighbour, call).await;
    assert_eq!(answer, Err("there is no such tool".to_owned()));
    let path = format!("/tools/{tool}");
    talk.operator("DELETE", &path, Value::Null).await.expect(200);
    for gone in [tool.as_str(), "transfer_to_human", ""] {
        assert_eq!(talk.call(gone, json!({"order": "A1"})).await, Err("there is no such tool".to_owned()));
    }
    assert_eq!(talk.shelf.got().len(), 0);
}

#[tokio::test]
async fn a_schema_that_cannot_be_held_to_is_refused_when_the_tool_is_made() {
    let world = World::bare().await;
    let property = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
    for (config, field) in [
        (json!({"parameters": {"type": "array"}}), "config.parameters.type"),
        (json!({"parameters": property(json!({"if": {}}))}), "config.parameters.properties.a.if"),
        (json!({"parameters": property(json!({"pattern": "("}))}), "config.parameters.properties.a.pattern"),
        (
            json!({"parameters": property(json!({"$ref": "https://example.com/s.json"}))}),
            "config.parameters.properties.a.$ref",
        ),
        (
            json!({"parameters": {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}}),
            "config.parameters.$ref.allOf[0].$ref",
        ),
        (json!({"headers": {"Idempotency-Key": "x"}}), "config.headers.Idempotency-Key"),
        (json!({"headers": {"x-chat-id": "x"}}), "config.headers.x-chat-id"),
        (json!({"idempotent": "yes"}), "config.idempotent"),
    ] {
        let mut whole = json!({"url": "https://tools.example.com/x"});
        whole.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
        let tool = json!({"type": "webhook", "name": "t", "config": whole});
        let refused = world.operator("POST", "/tools", tool.clone()).await.invalid();
        assert_eq!(refused["meta"]["field"], field, "{refused}");
    }
    let listed = world.get("/v1/tools").await;
    assert!(listed["data"].as_array().unwrap().iter().all(|tool| tool["type"] != "webhook"), "{listed}");
}
