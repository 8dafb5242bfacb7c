//! Chat completions.

use std::time::Duration;

use domain::conversation::{Exchange, ModelToolCall, Role, Turn};
use domain::ports::{AnalysisOrder, LanguageModel, ProviderError, ProviderFault, Said, TalkOrder, ToolOffer};
use providers::language_model::OpenAi;
use providers::settings::LanguageModel as Section;
use serde_json::{Map, Value, json};

use crate::fakes::{KEY, net};
use crate::server::{Log, Server, answer, soon};

pub fn section(url: &str) -> Section {
    Section {
        vision: false,
        name: "main".into(),
        base_url: format!("{url}/v1"),
        api_key: KEY.into(),
        model: "m".into(),
        temperature: 0.3,
        max_tokens: 300,
        resident: None,
        timeout: Duration::from_secs(10),
    }
}

pub fn model(url: &str) -> OpenAi {
    OpenAi::new(&section(url), &net()).unwrap()
}

pub fn order() -> TalkOrder {
    TalkOrder {
        workspace: None,
        prompt: "You are Asha.".into(),
        history: vec![
            Exchange::Said { role: Role::Agent, text: "Hello.".into() },
            Exchange::Said { role: Role::Customer, text: "Where is my parcel?".into() },
        ],
        exits: vec!["wants a person".into(), "is satisfied".into()],
        tools: vec![ToolOffer {
            id: "tool_9".into(),
            name: "track parcel".into(),
            description: "Finds a parcel.".into(),
            parameters: json!({"type": "object", "properties": {"number": {"type": "string"}}}),
        }],
        knowledge: vec![],
        opening: false,
        language: "en".into(),
        spoken: true,
    }
}

/// All pieces of a turn, texts joined.
pub async fn talk(model: &dyn LanguageModel) -> Result<(String, Vec<Said>), ProviderError> {
    let mut talking = soon(model.talk(order())).await?;
    let (mut text, mut rest) = (String::new(), Vec::new());
    while let Some(said) = soon(talking.next()).await {
        match said? {
            Said::Text(more) => {
                assert!(rest.is_empty(), "text after {rest:?}");
                text += &more;
            }
            other => rest.push(other),
        }
    }
    Ok((text, rest))
}

/// An event with this delta.
pub fn delta(delta: Value) -> String {
    format!(
        "data: {}\n\n",
        json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    )
}

pub fn text(words: &str) -> String {
    delta(json!({"content": words}))
}

/// A server that streams this, in pieces of some bytes.
pub async fn streaming(stream: &str, size: usize) -> Server {
    let stream = stream.to_owned();
    Server::http(move |_, mut to| {
        let stream = stream.clone();
        async move {
            to.begin("text/event-stream; charset=utf-8").await;
            for piece in stream.as_bytes().chunks(size) {
                to.raw(piece).await;
            }
        }
    })
    .await
}

async fn streamed(stream: &str) -> Result<(String, Vec<Said>), ProviderError> {
    let server = streaming(stream, usize::MAX).await;
    talk(&model(&server.url)).await
}

fn tool(arguments: Value) -> Said {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    Said::Tool(ModelToolCall { tool_id: "tool_9".into(), arguments })
}

const DONE: &str = "data: [DONE]\n\n";

#[tokio::test]
async fn a_turn_is_asked_for_and_read_however_it_is_cut() {
    let server = Server::http(|request, mut to| async move {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/chat/completions"));
        assert_eq!(
            (request.header("authorization"), request.header("content-type")),
            ("Bearer hush-hush", "application/json")
        );
        let body = request.json();
        assert_eq!(
            (&body["model"], &body["stream"], &body["temperature"], &body["max_tokens"]),
            (&json!("m"), &json!(true), &json!(0.3), &json!(300))
        );
        let roles: Vec<&str> =
            body["messages"].as_array().unwrap().iter().map(|one| one["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "assistant", "user"]);
        let names: Vec<&str> = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["function"]["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["take_exit", "end_call", "track_parcel"]);
        assert_eq!(body["tools"][2]["function"]["parameters"]["properties"]["number"]["type"], "string");
        to.begin("text/event-stream").await;
        to.raw(text("It is on its way.").as_bytes()).await;
    })
    .await;
    assert_eq!(talk(&model(&server.url)).await, Ok(("It is on its way.".into(), vec![])));

    let stream = [
        ": comment\n\n".to_owned(),
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"role": "assistant", "reasoning_content": "secret thoughts", "reasoning": "more"})),
        text("<think>they ask"),
        text(" for it</think>नमस्ते, "),
        text("**wait**."),
        delta(json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "track_parcel", "arguments": ""}}]})),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"numb"}}]})),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "er\":\"7\"}"}}]})),
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n".to_owned(),
        "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n".to_owned(),
        DONE.to_owned(),
    ]
    .concat();
    for size in [1, 2, 3, 5, 17, 64, 1000] {
        let server = streaming(&stream, size).await;
        assert_eq!(
            talk(&model(&server.url)).await,
            Ok(("नमस्ते, wait.".into(), vec![tool(json!({"number": "7"}))])),
            "pieces of {size}"
        );
    }
}

#[tokio::test]
async fn liberties_of_servers_are_understood() {
    let whole_call = |arguments: Value| {
        delta(
            json!({"tool_calls": [{"id": "a", "type": "function", "function": {"name": "track_parcel", "arguments": arguments}}]}),
        )
    };
    // The whole call at once and no index; arguments as JSON; no [DONE].
    assert_eq!(
        streamed(&whole_call(json!("{\"number\":\"1\"}"))).await,
        Ok((String::new(), vec![tool(json!({"number": "1"}))]))
    );
    assert_eq!(
        streamed(&whole_call(json!({"number": "1"}))).await,
        Ok((String::new(), vec![tool(json!({"number": "1"}))]))
    );
    assert_eq!(streamed(&whole_call(json!(""))).await, Ok((String::new(), vec![tool(json!({}))])));
    // No index, in pieces.
    let pieces = [
        delta(
            json!({"tool_calls": [{"id": "a", "function": {"name": "track_parcel", "arguments": "{\"number\":"}}]}),
        ),
        delta(json!({"tool_calls": [{"function": {"arguments": "\"2\"}"}}]})),
        DONE.to_owned(),
    ];
    assert_eq!(streamed(&pieces.concat()).await, Ok((String::new(), vec![tool(json!({"number": "2"}))])));
    // Two calls, both counted 0.
    let twins = [
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "track_parcel", "arguments": "{\"number\":\"1\"}"}}]}),
        ),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "b", "function": {"name": "track_parcel", "arguments": "{\"number\":\"2\"}"}}]}),
        ),
    ];
    assert_eq!(
        streamed(&twins.concat()).await,
        Ok((String::new(), vec![tool(json!({"number": "1"})), tool(json!({"number": "2"}))]))
    );
    // Exits and the end, after tools whatever their order.
    let all = [
        text("Bye."),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "end_call", "arguments": "{\"outcome\":\"Call back requested\"}"}}]}),
        ),
        delta(
            json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "take_exit", "arguments": "{\"exit\":\"1\"}"}}]}),
        ),
        delta(
            json!({"tool_calls": [{"index": 2, "id": "c", "function": {"name": "track_parcel", "arguments": "{}"}}]}),
        ),
        DONE.to_owned(),
    ];
    let expected = vec![tool(json!({})), Said::Exit(1), Said::End(Some("call_back_requested".into()))];
    assert_eq!(streamed(&all.concat()).await, Ok(("Bye.".into(), expected)));
    // No blank lines, other line ends, text in parts.
    let odd = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\ndata:{\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"b\"}]}}]}\r\n";
    assert_eq!(streamed(odd).await, Ok(("ab".into(), vec![])));
    // A server that does not stream.
    let plain = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Whole."}, "finish_reason": "stop"}]});
    let server = Server::answering(answer(200, &plain.to_string())).await;
    assert_eq!(talk(&model(&server.url)).await, Ok(("Whole.".into(), vec![])));
    // A damaged call beside words is left out.
    let damaged = [
        text("One moment."),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "track_parcel", "arguments": "{\"nu"}}]}),
        ),
    ];
    assert_eq!(streamed(&damaged.concat()).await, Ok(("One moment.".into(), vec![])));
}

#[tokio::test]
async fn turns_that_are_none_are_failures() {
    let call = |name: &str, arguments: &str| {
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": name, "arguments": arguments}}]}),
        )
    };
    // A model that ends its turn without a word was led to that by its instructions.
    assert_eq!(streamed(DONE).await.unwrap_err().fault, ProviderFault::Silent);
    for stream in [
        String::new(),
        call("take_exit", "{\"exit\":5}"),
        call("unheard_of", "{}"),
        call("track_parcel", "{"),
        "data: {oops\n\n".to_owned(),
    ] {
        assert_eq!(streamed(&stream).await.unwrap_err().fault, ProviderFault::Broken, "{stream}");
    }
    let limited =
        "data: {\"error\":{\"message\":\"you said my secret\",\"code\":\"rate_limit_exceeded\"}}\n\n";
    let error = streamed(limited).await.unwrap_err();
    assert!(error.fault == ProviderFault::Limited && !error.to_string().contains("secret"), "{error}");
    let filtered = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n";
    assert_eq!(streamed(filtered).await.unwrap_err().fault, ProviderFault::Refused);
    for (status, fault) in [
        (401, ProviderFault::Forbidden),
        (404, ProviderFault::Refused),
        (429, ProviderFault::Limited),
        (500, ProviderFault::Broken),
        (503, ProviderFault::Unreachable),
    ] {
        let server = Server::answering(answer(
            status,
            r#"{"error":{"message":"you said my secret","type":"some_error"}}"#,
        ))
        .await;
        let error = talk(&model(&server.url)).await.unwrap_err();
        assert!(
            error.fault == fault
                && !error.to_string().contains("secret")
                && error.to_string().contains("some_error"),
            "{error}"
        );
    }
    assert_eq!(talk(&model("http://127.0.0.1:1")).await.unwrap_err().fault, ProviderFault::Unreachable);
}

#[tokio::test]
async fn a_model_that_stalls_is_given_up_though_its_connection_lives() {
    let server = Server::http(|_, mut to| async move {
        to.begin("text/event-stream").await;
        to.raw(text("Well").as_bytes()).await;
        let alive = delta(json!({"reasoning_content": "hm"})) + ": alive\n\n";
        // Until the client hangs up.
        while tokio::io::AsyncWriteExt::write_all(&mut to.stream, alive.as_bytes()).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let mut section = section(&server.url);
    section.timeout = Duration::from_millis(200);
    let model = OpenAi::new(&section, &net()).unwrap();
    let mut talking = soon(model.talk(order())).await.unwrap();
    assert_eq!(soon(talking.next()).await, Some(Ok(Said::Text("Well".into()))));
    assert_eq!(soon(talking.next()).await.unwrap().unwrap_err().fault, ProviderFault::TimedOut);
    assert_eq!(soon(talking.next()).await, None);
}

#[tokio::test]
async fn dropping_a_turn_hangs_up() {
    let log = Log::new();
    let told = log.clone();
    let server = Server::http(move |_, mut to| {
        let log = told.clone();
        async move {
            to.begin("text/event-stream").await;
            to.raw(text("A long").as_bytes()).await;
            to.hung_up().await;
            log.add("hung up");
        }
    })
    .await;
    let model = model(&server.url);
    let mut talking = soon(model.talk(order())).await.unwrap();
    assert_eq!(soon(talking.next()).await, Some(Ok(Said::Text("A long".into()))));
    drop(talking);
    log.seen(|line| line == "hung up").await;
}

#[tokio::test]
async fn fields_that_a_server_refuses_are_left_out_from_then_on() {
    let log = Log::new();
    let told = log.clone();
    let server = Server::http(move |request, mut to| {
        let log = told.clone();
        async move {
            let body = request.json();
            let refused = ["max_tokens", "temperature"].into_iter().find(|field| body.get(*field).is_some());
            log.add(refused.unwrap_or("taken"));
            match refused {
                Some(field) => {
                    to.whole(
                        400,
                        "application/json",
                        json!({"error": {"message": format!("unsupported: {field}")}}).to_string().as_bytes(),
                    )
                    .await
                }
                None => {
                    assert_eq!(body["max_completion_tokens"], 300);
                    to.begin("text/event-stream").await;
                    to.raw(text("Ok.").as_bytes()).await;
                }
            }
        }
    })
    .await;
    let model = model(&server.url);
    assert_eq!(talk(&model).await, Ok(("Ok.".into(), vec![])));
    assert_eq!(talk(&model).await, Ok(("Ok.".into(), vec![])));
    assert_eq!(log.lines(), ["max_tokens", "temperature", "taken", "taken"]);
}

fn analysis_order() -> AnalysisOrder {
    AnalysisOrder {
        workspace: None,
        transcript: vec![Turn { role: Role::Customer, text: "I paid 500.".into() }],
        schema: json!([{"key": "amount", "label": "Amount", "type": "number"}]),
        extracted: Map::new(),
        prompt: "Ask for the amount.".into(),
        language: "en".into(),
        choices: vec![],
    }
}

#[tokio::test]
async fn analyses_are_asked_for_by_schema_or_in_words() {
    let content = json!({"summary": "Paid.", "sentiment": "neutral", "outcome": "paid", "extracted": {"amount": "500"}}).to_string();
    for takes in ["json_schema", "json_object", "none"] {
        let (content, log) = (content.clone(), Log::new());
        let told = log.clone();
        let server = Server::http(move |request, mut to| {
            let (content, log) = (content.clone(), told.clone());
            async move {
                let body = request.json();
                let format = body["response_format"]["type"].as_str().unwrap_or("none").to_owned();
                log.add(format.clone());
                if format != takes {
                    return to.whole(400, "application/json", br#"{"error":{"message":"not supported"}}"#).await;
                }
                if format == "json_schema" {
                    assert_eq!(
                        body["response_format"]["json_schema"]["schema"]["properties"]["extracted"]["properties"]["amount"]["type"],
                        json!(["number", "null"])
                    );
                }
                let words = body["messages"].to_string();
                assert!(words.contains("Customer: I paid 500.") && words.contains("Ask for the amount."));
                let fenced = format!("```json\n{content}\n```");
                let whole = json!({"choices": [{"message": {"role": "assistant", "content": fenced}, "finish_reason": "stop"}]});
                to.whole(200, "application/json", whole.to_string().as_bytes()).await;
            }
        })
        .await;
        let model = model(&server.url);
        for _ in 0..2 {
            let analysis = soon(model.analyse(analysis_order())).await.unwrap();
            assert_eq!((analysis.summary.as_str(), &analysis.extracted["amount"]), ("Paid.", &json!(500)));
            assert_eq!(
                (analysis.outcome.as_deref(), analysis.sentiment.as_deref()),
                (Some("paid"), Some("neutral"))
            );
        }
        let expected: &[&str] = match takes {
            "json_schema" => &["json_schema", "json_schema"],
            "json_object" => &["json_schema", "json_object", "json_object"],
            _ => &["json_schema", "json_object", "none", "none"],
        };
        assert_eq!(log.lines(), expected);
    }
    let prose = json!({"choices": [{"message": {"content": "I cannot."}}]}).to_string();
    let server = Server::answering(answer(200, &prose)).await;
    assert_eq!(
        soon(model(&server.url).analyse(analysis_order())).await.unwrap_err().fault,
        ProviderFault::Broken
    );
}
