//! Knowledge bases: making the index of a large one, searching it, searching a hundred, and what a restart costs.
//! `bench knowledge postgres://…` measures on an empty database there.
//!
//! What a base adds to a turn is measured in chats, whose turns wait for the whole search; on a call the search begins
//! while the customer still speaks. The model of these chats answers at once. Vectors are compared in this process.
//!
//! The texts are drawn from 50,000 made-up words, each as often as words of a language are (Zipf), a third of them
//! in Devanagari; questions have three to six words, of any frequency but the commonest.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use retrieval::vectors::{Code, Vectors};
use serde_json::{Value, json};

use crate::load::{self, request};
use crate::server::Server;
use crate::skeleton::{call, workspace};

/// Passages of the large base, about.
const PASSAGES: usize = 99_000;
/// Words of a paragraph, which is a passage.
const WORDS: usize = 150;
/// Paragraphs of a document: less than 100,000 characters.
const PARAGRAPHS: usize = 75;
/// The small bases, and paragraphs of each.
const BASES: usize = 100;
const SMALL: usize = 75;
const VOCABULARY: u64 = 50_000;
/// Words that every other sentence has: no question is about them.
const COMMON: u64 = 30;
const SEARCHES: u64 = 4_000;
/// Turns of chats with a base and without one, and messages of a chat: an agent says goodbye after twenty replies.
const TURNS: u64 = 1_000;
const MESSAGES: u64 = 10;
/// Vectors, their length, and how many are looked for.
const VECTORS: usize = 100_000;
const DIMENSIONS: usize = 768;
const NEAREST: usize = 50;

/// A stream of numbers that is the same in every run.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A rank from 1 on, the first ones as often as the commonest words of a language.
    fn rank(&mut self, from: u64) -> u64 {
        let (low, high) = ((from as f64).ln(), (VOCABULARY as f64).ln());
        (low + self.part() * (high - low)).exp() as u64
    }
}

/// The word of a rank.
fn word(rank: u64) -> String {
    const LATIN: [&str; 16] =
        ["ka", "ri", "mo", "ta", "ne", "lu", "pa", "si", "do", "va", "ge", "ban", "shi", "cho", "hu", "yar"];
    const INDIAN: [&str; 16] =
        ["का", "रि", "मो", "टा", "ने", "लु", "पा", "सि", "दो", "वा", "गे", "बन", "शि", "चो", "हु", "यर"];
    let syllables = if rank.is_multiple_of(3) { INDIAN } else { LATIN };
    let (mut left, mut text) = (rank * 7 + 3, String::new());
    while left > 0 {
        text.push_str(syllables[(left % 16) as usize]);
        left /= 16;
    }
    text
}

fn text(draw: &mut Draw, paragraphs: usize) -> String {
    let paragraph = |draw: &mut Draw| {
        let words: Vec<String> = (0..WORDS).map(|_| word(draw.rank(1))).collect();
        format!("{}.", words.join(" "))
    };
    (0..paragraphs).map(|_| paragraph(draw)).collect::<Vec<_>>().join("\n\n")
}

/// A question as it stands in an address.
fn question(seed: u64) -> String {
    asked(seed).bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn asked(seed: u64) -> String {
    let mut draw = Draw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let many = 3 + draw.next() % 4;
    let words: Vec<String> = (0..many).map(|_| word(draw.rank(COMMON))).collect();
    words.join(" ")
}

async fn base(address: &str, key: &str) -> Result<String, String> {
    let made = call(address, "POST", "/v1/knowledge-bases", key, &json!({"name": "Bench"})).await?;
    let id = made["data"]["id"].as_str().ok_or_else(|| format!("no id: {made}"))?;
    Ok(format!("/v1/knowledge-bases/{id}"))
}

async fn fill(address: &str, key: &str, base: &str, paragraphs: usize, seed: u64) -> Result<usize, String> {
    let (mut draw, mut added) = (Draw(seed), 0);
    while added < paragraphs {
        // Words of the Indian script take more letters; a text that is too long is refused.
        let body = json!({"text": text(&mut draw, PARAGRAPHS.min(paragraphs - added))});
        let answer = call(address, "POST", &format!("{base}/documents"), key, &body).await?;
        let passages = answer["data"]["added"].as_u64().ok_or_else(|| format!("not added: {answer}"))?;
        added += passages as usize;
    }
    Ok(added)
}

async fn first(address: &str, key: &str, base: &str) -> Result<f64, String> {
    let started = Instant::now();
    let answer = call(address, "GET", &format!("{base}/search?q={}", question(1)), key, &Value::Null).await?;
    if answer["data"].as_array().is_none_or(Vec::is_empty) {
        return Err(format!("nothing was found: {answer}"));
    }
    Ok(started.elapsed().as_secs_f64())
}

async fn line(
    name: &str,
    server: &Server,
    key: &str,
    bases: Vec<String>,
    connections: usize,
) -> Result<(), String> {
    let key = key.to_owned();
    let make: load::Make = Arc::new(move |n| {
        let base = &bases[(n % bases.len() as u64) as usize];
        request("GET", &format!("{base}/search?q={}", question(n + 2)), &key, "", "")
    });
    let before = server.cpu_seconds();
    let figures = load::run_count(&server.address, connections, SEARCHES, make).await?;
    if figures.refused > 0 {
        return Err(format!("{name}: {} refused: {}", figures.refused, figures.refusal));
    }
    println!(
        "| {name} | {:.0} | {:.2} ms | {:.2} ms | {:.0} µs | {:.0} MB |",
        figures.per_second,
        figures.p50.as_secs_f64() * 1e3,
        figures.p99.as_secs_f64() * 1e3,
        (server.cpu_seconds() - before) * 1e6 / figures.answers.max(1) as f64,
        server.memory_mb(),
    );
    Ok(())
}

/// Prints the tables.
pub async fn run(arguments: &[String]) -> Result<(), String> {
    let database = arguments.first().map(String::as_str);
    let data = std::env::temp_dir().join(format!("dastak-bench-knowledge-{}", std::process::id()));
    let outcome = measure(&data, database).await;
    let _ = std::fs::remove_dir_all(&data);
    outcome
}

/// What a base adds to a turn: chats of two agents in turn, of which one answers from the large base.
async fn turns(address: &str, key: &str, base: &str) -> Result<(), String> {
    let base = base.rsplit('/').next().unwrap_or_default();
    let mut agents = Vec::new();
    for knowledge in [Value::Null, json!(base)] {
        let body = json!({"name": "Asha", "channel": "chat", "systemPrompt": "You answer questions.", "knowledgeBaseId": knowledge});
        let agent = call(address, "POST", "/v1/agents", key, &body).await?;
        let agent = agent["data"]["id"].as_str().ok_or_else(|| format!("no agent: {agent}"))?.to_owned();
        let path = format!("/v1/agents/{agent}/status");
        call(address, "POST", &path, key, &json!({"status": "active"})).await?;
        agents.push((agent, Vec::new(), String::new()));
    }
    for turn in 0..TURNS {
        for (agent, times, chat) in &mut agents {
            if turn % MESSAGES == 0 {
                let opened =
                    call(address, "POST", "/v1/chat/sessions", key, &json!({"agentId": agent})).await?;
                *chat = opened["data"]["sessionId"].as_str().ok_or_else(|| format!("{opened}"))?.to_owned();
            }
            let body = json!({"text": asked(turn + 2)});
            let begun = Instant::now();
            let path = format!("/v1/chat/sessions/{chat}/messages");
            let answer = call(address, "POST", &path, key, &body).await?;
            times.push(begun.elapsed());
            if answer["data"]["reply"].is_null() {
                return Err(format!("no reply: {answer}"));
            }
        }
    }
    println!("\n| a turn of a chat, the model answering at once | p50 | p99 |\n|---|---|---|");
    for ((_, mut times, _), name) in agents.into_iter().zip(["without a base", "with the large base"]) {
        let (p50, p99) = percentiles(&mut times);
        println!("| {name} | {p50:.2} ms | {p99:.2} ms |");
    }
    Ok(())
}

fn percentiles(times: &mut [Duration]) -> (f64, f64) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    (at(0.5), at(0.99))
}

/// Comparing all vectors of a large base with that of a question.
fn vectors() -> Result<(), String> {
    let mut draw = Draw(5);
    let mut one = || -> Vec<f32> { (0..DIMENSIONS).map(|_| draw.part() as f32 - 0.5).collect() };
    let mut all = Vectors::default();
    for number in 0..VECTORS {
        let code = Code::of(&one()).ok_or("a vector without a direction")?;
        all.add(number as u64, &code);
    }
    let mut times = Vec::new();
    for _ in 0..200 {
        let question = Code::of(&one()).ok_or("a vector without a direction")?;
        let begun = Instant::now();
        if all.nearest(&question, NEAREST).len() != NEAREST {
            return Err("too few are near".into());
        }
        times.push(begun.elapsed());
    }
    let (p50, p99) = percentiles(&mut times);
    println!(
        "\n{VECTORS} vectors of {DIMENSIONS} numbers, {:.0} MB: the {NEAREST} nearest in {p50:.2} ms (p50), {p99:.2} ms (p99)",
        all.bytes() as f64 / 1e6
    );
    Ok(())
}

/// The release binary with a model that answers at once.
fn server(data: &Path, database: Option<&str>, model: &str) -> Result<Server, String> {
    std::fs::create_dir_all(data).map_err(|why| why.to_string())?;
    let database = database.map(|url| format!("database_url = \"{url}\"\n")).unwrap_or_default();
    let settings = data.join("bench.toml");
    let text = format!(
        "listen = \"127.0.0.1:0\"\n{database}[language_model]\nproviders = [\"bench\"]\n\
         [language_model.bench]\nbase_url = \"{model}\"\nmodel = \"bench\"\nresident = \"true\"\n"
    );
    std::fs::write(&settings, text).map_err(|why| why.to_string())?;
    Server::configured(data, &settings, None)
}

async fn measure(data: &Path, database: Option<&str>) -> Result<(), String> {
    let (model, _) = crate::chats::model(Duration::ZERO).await?;
    let server = self::server(data, database, &model)?;
    let token = std::fs::read_to_string(data.join("operator.token")).map_err(|why| why.to_string())?;
    let key = workspace(&server.address, token.trim()).await?.1;
    let large = base(&server.address, &key).await?;
    let started = Instant::now();
    let passages = fill(&server.address, &key, &large, PASSAGES, 11).await?;
    println!(
        "{passages} passages added one document after the other in {:.1} s",
        started.elapsed().as_secs_f64()
    );
    let took = first(&server.address, &key, &large).await?;
    println!("its index made at the first search in {took:.1} s: {:.0} passages/s", passages as f64 / took);
    println!("\n| searches | a second | p50 | p99 | server CPU each | memory |\n|---|---|---|---|---|---|");
    line("one base of all these, one after the other", &server, &key, vec![large.clone()], 1).await?;
    line("the same, 8 at once", &server, &key, vec![large.clone()], 8).await?;

    // A workspace has 100 bases at most.
    let other = workspace(&server.address, token.trim()).await?.1;
    let mut small = Vec::new();
    for number in 0..BASES {
        let path = base(&server.address, &other).await?;
        fill(&server.address, &other, &path, SMALL, 1000 + number as u64).await?;
        small.push(path);
    }
    for path in &small {
        first(&server.address, &other, path).await?;
    }
    line("100 bases of 75 passages in turn", &server, &other, small, 1).await?;
    turns(&server.address, &key, &large).await?;
    drop(server);
    vectors()?;

    let server = self::server(data, database, &model)?;
    println!(
        "\nready after {:.2} s; the first search of the large base then takes {:.3} s; {:.0} MB",
        server.ready_after.as_secs_f64(),
        first(&server.address, &key, &large).await?,
        server.memory_mb()
    );
    Ok(())
}
