//! A thousand chats at once, with a model that takes two seconds: how long a reply takes beyond the model, what memory
//! and threads it needs, and whether the ledger is right to the chat. `bench chats postgres://…` measures on an empty
//! database there.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use axum::routing::post;
use serde_json::{Value, json};

use crate::server::Server;
use crate::skeleton::{call, workspace};

/// Chats at once, and the workspaces that they belong to.
const CHATS: usize = 1_000;
const WORKSPACES: usize = 5;
/// Messages in each chat.
const MESSAGES: usize = 3;
/// What the model takes for its answer.
const THINKS: Duration = Duration::from_secs(2);

/// A model that thinks, then answers; and the most answers that were under way at once.
pub async fn model(thinks: Duration) -> Result<(String, Arc<AtomicI64>), String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|why| why.to_string())?;
    let address = listener.local_addr().map_err(|why| why.to_string())?;
    let (now, most) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicI64::new(0)));
    let seen = most.clone();
    let answer = move || {
        let (now, most) = (now.clone(), seen.clone());
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(thinks).await;
            now.fetch_sub(1, Ordering::SeqCst);
            let piece =
                json!({"choices": [{"index": 0, "delta": {"content": "Your parcel arrives tomorrow."}}]});
            let done = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
            (
                [("content-type", "text/event-stream")],
                format!("data: {piece}\n\ndata: {done}\n\ndata: [DONE]\n\n"),
            )
        }
    };
    let router = axum::Router::new().route("/v1/chat/completions", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok((format!("http://{address}/v1"), most))
}

/// One chat from its opening to its end; the times of its replies.
async fn chat(address: String, key: String, agent: String) -> Result<Vec<Duration>, String> {
    let begun = Instant::now();
    let opened = call(&address, "POST", "/v1/chat/sessions", &key, &json!({"agentId": agent})).await?;
    let mut times = vec![begun.elapsed()];
    let id = opened["data"]["sessionId"].as_str().ok_or("no session")?.to_owned();
    for number in 0..MESSAGES {
        let begun = Instant::now();
        let path = format!("/v1/chat/sessions/{id}/messages");
        let body = json!({"text": format!("Where is my parcel, for the {number}. time?")});
        let answer = call(&address, "POST", &path, &key, &body).await?;
        if answer["data"]["reply"].is_null() {
            return Err(format!("no reply: {answer}"));
        }
        times.push(begun.elapsed());
    }
    call(&address, "POST", &format!("/v1/chat/sessions/{id}/end"), &key, &Value::Null).await?;
    Ok(times)
}

/// Prints the figures.
pub async fn run(arguments: &[String]) -> Result<(), String> {
    let data = std::env::temp_dir().join(format!("dastak-bench-chats-{}", std::process::id()));
    std::fs::create_dir_all(&data).map_err(|why| why.to_string())?;
    let outcome = measure(&data, arguments.first().map(String::as_str)).await;
    let _ = std::fs::remove_dir_all(&data);
    outcome
}

async fn measure(data: &std::path::Path, database: Option<&str>) -> Result<(), String> {
    let (url, most) = model(THINKS).await?;
    let database = database.map(|url| format!("database_url = \"{url}\"\n")).unwrap_or_default();
    let settings = data.join("bench.toml");
    let text = format!(
        "listen = \"127.0.0.1:0\"\n{database}[limits]\nconnections_per_address = 10000\n\
         [language_model]\nproviders = [\"bench\"]\n[language_model.bench]\nbase_url = \"{url}\"\nmodel = \"bench\"\nresident = \"true\"\n\
         [chats]\nreplies_per_workspace = {CHATS}\n"
    );
    std::fs::write(&settings, text).map_err(|why| why.to_string())?;
    let server = Server::configured(data, &settings, None)?;
    let token = std::fs::read_to_string(data.join("operator.token")).map_err(|why| why.to_string())?;
    let mut of = Vec::new();
    for _ in 0..WORKSPACES {
        let (id, key) = workspace(&server.address, token.trim()).await?;
        let limits =
            json!({"limits": {"chatMessagesPerMinute": 10_000_000, "chatSessionsPerMinute": 10_000_000}});
        let path = format!("/operator/v1/workspaces/{id}");
        call(&server.address, "PATCH", &path, token.trim(), &limits).await?;
        let body =
            json!({"name": "Asha", "channel": "chat", "systemPrompt": "You answer questions about parcels."});
        let agent = call(&server.address, "POST", "/v1/agents", &key, &body).await?;
        let agent = agent["data"]["id"].as_str().ok_or("no agent")?.to_owned();
        let path = format!("/v1/agents/{agent}/status");
        call(&server.address, "POST", &path, &key, &json!({"status": "active"})).await?;
        of.push((key, agent));
    }
    let (idle, cpu, begun) = (server.memory_mb(), server.cpu_seconds(), Instant::now());
    let chats: Vec<_> = (0..CHATS)
        .map(|number| {
            let (key, agent) = of[number % WORKSPACES].clone();
            tokio::spawn(chat(server.address.clone(), key, agent))
        })
        .collect();
    let mut times = Vec::new();
    for chat in chats {
        times.extend(chat.await.map_err(|why| why.to_string())??);
    }
    let (took, cpu) = (begun.elapsed(), server.cpu_seconds() - cpu);
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64();
    let mut charged = 0;
    for (key, _) in &of {
        let ledger =
            call(&server.address, "GET", "/v1/wallet/transactions?limit=1", key, &Value::Null).await?;
        // The first line is the signup grant.
        charged += ledger["total"].as_i64().unwrap_or(0) - 1;
    }
    println!(
        "{CHATS} chats at once in {WORKSPACES} workspaces, an opening and {MESSAGES} messages each, a model of {} s.\n\n\
         | replies | most at once | p50 | p99 | took | server CPU a reply | memory before, afterwards | threads | chats charged |\n\
         |---|---|---|---|---|---|---|---|---|\n\
         | {} | {} | {:.2} s | {:.2} s | {:.1} s | {:.0} µs | {:.0} MB, {:.0} MB | {} | {charged} |",
        THINKS.as_secs(),
        times.len(),
        most.load(Ordering::SeqCst),
        at(0.5),
        at(0.99),
        took.as_secs_f64(),
        cpu * 1e6 / times.len() as f64,
        idle,
        server.memory_mb(),
        server.threads(),
    );
    if charged != CHATS as i64 { Err(format!("{charged} charges for {CHATS} chats")) } else { Ok(()) }
}
