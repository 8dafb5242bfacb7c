//! The messaging channel against a local server that speaks its Cloud API and counts what arrives: how near a number
//! comes to the provider's rate without exceeding it, notifications that are stored before they are acknowledged, and
//! campaigns. `bench channel [postgres://…] [seconds] [people]` takes 10 seconds and 100,000 people unless told.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::Request;
use axum::response::IntoResponse;
use cloud_api::notifications::signature;
use serde_json::{Value, json};

use crate::load;
use crate::server::Server;
use crate::skeleton::{call, workspace};

/// What signs the notifications.
const SECRET: &str = "bench-secret";
/// Connections of clients and of the provider.
const CONNECTIONS: usize = 64;
/// The fastest campaign, messages a minute.
const PER_MINUTE: usize = 600;
/// Longest list that is set in one request.
const LIST: usize = 50_000;

/// The allowed rate of the two numbers, messages a second.
const RATES: [(&str, usize); 2] = [("STANDARD", 80), ("HIGH", 1_000)];

/// The API: when the messages of each number arrived.
#[derive(Default)]
struct Cloud {
    arrived: Mutex<HashMap<String, Vec<Instant>>>,
    next: AtomicU64,
}

impl Cloud {
    async fn start() -> Result<(String, Arc<Self>), String> {
        let cloud = Arc::new(Self::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|why| why.to_string())?;
        let address = listener.local_addr().map_err(|why| why.to_string())?;
        let seen = cloud.clone();
        let router = axum::Router::new().fallback(move |request: Request| answer(seen.clone(), request));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok((format!("http://{address}"), cloud))
    }

    fn clear(&self) {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn arrived(&self, number: &str) -> Vec<Instant> {
        let arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        arrived.get(number).cloned().unwrap_or_default()
    }

    /// Waits until so many messages of a number have arrived, or none for ten seconds.
    async fn all(&self, number: &str, count: usize) -> Vec<Instant> {
        let (mut before, mut since) = (0, Instant::now());
        loop {
            let arrived = self.arrived(number);
            if arrived.len() > before {
                (before, since) = (arrived.len(), Instant::now());
            }
            if arrived.len() >= count || since.elapsed() > Duration::from_secs(10) {
                return arrived;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// The level of throughput is that of the account: its number is the account's, with a 1 before it.
async fn answer(cloud: Arc<Cloud>, request: Request) -> impl IntoResponse {
    let path = request.uri().path().to_owned();
    let _ = axum::body::to_bytes(request.into_body(), 1 << 20).await;
    let mut parts = path.rsplit('/');
    let (edge, of) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let body = match edge {
        "messages" => {
            cloud
                .arrived
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(of.into())
                .or_default()
                .push(Instant::now());
            let id = format!("wamid.{}", cloud.next.fetch_add(1, Ordering::Relaxed));
            json!({"messaging_product": "whatsapp", "messages": [{"id": id, "message_status": "accepted"}]})
        }
        "phone_numbers" => {
            let level =
                of.parse::<usize>().ok().and_then(|at| RATES.get(at)).map_or("STANDARD", |(level, _)| level);
            json!({"data": [{"id": format!("1{of}"), "display_phone_number": format!("+91804711122{of}"),
                "verified_name": "Acme", "quality_rating": "GREEN", "status": "CONNECTED",
                "throughput": {"level": level}, "whatsapp_business_manager_messaging_limit": "TIER_UNLIMITED"}]})
        }
        "message_templates" => {
            json!({"data": [{"id": "7001", "name": "due_note", "language": "en", "category": "UTILITY", "status": "APPROVED",
                "components": [{"type": "BODY", "text": "Hello {{1}}, it is due."}]}]})
        }
        _ => json!({"id": of, "success": true}),
    };
    ([("content-type", "application/json")], body.to_string())
}

/// A workspace with an account whose number is of a class.
struct Desk {
    tenant: String,
    key: String,
    /// The provider's id of its number, and its rate.
    number: String,
    rate: usize,
    hook: String,
    template: String,
}

async fn desk(server: &Server, token: &str, at: usize) -> Result<Desk, String> {
    let address = &server.address;
    let (tenant, key) = workspace(address, token).await?;
    let of = format!("/operator/v1/workspaces/{tenant}");
    let limits =
        json!({"limits": {"channelMessagesPerMinute": 10_000_000, "campaignWritesPerMinute": 1_000_000}});
    call(address, "PATCH", &of, token, &limits).await?;
    let account = json!({"provider": "cloud", "businessAccountId": at.to_string(), "appId": "77", "accessToken": "token",
        "appSecret": SECRET, "verifyToken": "bench-verify"});
    let connection = call(address, "PUT", &format!("{of}/chatapp/connection"), token, &account).await?;
    let hook = connection["data"]["webhookUrl"].as_str().ok_or("no address of notifications")?;
    let hook = hook[hook.find("/chatapp/").ok_or("no path of notifications")?..].to_owned();
    let number = format!("1{at}");
    call(address, "POST", &format!("{of}/chatapp/numbers"), token, &json!({"phoneNumberId": number})).await?;
    call(address, "POST", "/v1/chatapp/templates/sync", &key, &Value::Null).await?;
    let templates = call(address, "GET", "/v1/chatapp/templates", &key, &Value::Null).await?;
    let template = templates["data"][0]["id"].as_str().ok_or("no template")?.to_owned();
    Ok(Desk { tenant, key, number, rate: RATES[at].1, hook, template })
}

/// How fast messages arrived, and the most that did within one second.
fn pace(arrived: &[Instant]) -> (f64, usize) {
    let (Some(first), Some(last)) = (arrived.first(), arrived.last()) else { return (0.0, 0) };
    let took = last.duration_since(*first).as_secs_f64().max(0.001);
    let (mut most, mut from) = (0, 0);
    for (at, moment) in arrived.iter().enumerate() {
        while moment.duration_since(arrived[from]) >= Duration::from_secs(1) {
            from += 1;
        }
        most = most.max(at + 1 - from);
    }
    ((arrived.len() - 1) as f64 / took, most)
}

/// More messages over the API than the number may send, each to another person.
async fn send(server: &Server, cloud: &Cloud, desk: &Desk, seconds: usize) -> Result<(), String> {
    cloud.clear();
    let count = desk.rate * seconds;
    let (key, cpu) = (desk.key.clone(), server.cpu_seconds());
    let make: load::Make = Arc::new(move |n| {
        let body = json!({"to": format!("+91{}", 7_000_000_000 + n),
            "template": {"name": "due_note", "language": "en", "params": {"body": ["Asha"]}}});
        load::request("POST", "/v1/chatapp/messages", &key, "", &body.to_string())
    });
    let figures = load::run_count(&server.address, CONNECTIONS, count as u64, make).await?;
    let arrived = cloud.all(&desk.number, count - figures.refused as usize).await;
    let (rate, most) = pace(&arrived);
    println!(
        "| {} messages over the API, {} a second allowed | {rate:.1} | {:.1} % | {most} | {:.0} | refused {}, p99 {:.0} ms |",
        arrived.len(),
        desk.rate,
        rate / desk.rate as f64 * 100.0,
        (server.cpu_seconds() - cpu) * 1e6 / arrived.len().max(1) as f64,
        figures.refused,
        figures.p99.as_secs_f64() * 1e3,
    );
    if figures.refused > 0 {
        println!("{}", figures.refusal.lines().last().unwrap_or_default());
    }
    Ok(())
}

fn notification(desk: &Desk, first: u64, items: u64) -> String {
    let messages: Vec<Value> = (first..first + items)
        .map(|n| {
            json!({"from": format!("91{}", 8_000_000_000 + n % 10_000), "id": format!("wamid.in{n}"), "timestamp": "1798432200",
                "type": "text", "text": {"body": format!("Where is my parcel {n}?")}})
        })
        .collect();
    let account = desk.number.trim_start_matches('1').parse::<usize>().unwrap_or(0);
    json!({"object": "whatsapp_business_account", "entry": [{"id": account.to_string(), "time": 1_798_432_200,
        "changes": [{"field": "messages", "value": {"messaging_product": "whatsapp",
            "metadata": {"display_phone_number": "918047111220", "phone_number_id": desk.number},
            "messages": messages}}]}]})
    .to_string()
}

/// Pages of 100 among which the item that came last is looked for: items are worked side by side, so that others may be
/// newer.
const PAGES: usize = 20;

/// Whether a message with this text is among the newest.
async fn is_among_the_newest(server: &Server, desk: &Desk, wanted: &str) -> Result<bool, String> {
    let mut path = "/v1/chatapp/messages?direction=inbound&limit=100".to_owned();
    for _ in 0..PAGES {
        let page = call(&server.address, "GET", &path, &desk.key, &Value::Null).await?;
        if page["data"].as_array().is_some_and(|rows| rows.iter().any(|row| row["text"] == wanted)) {
            return Ok(true);
        }
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        path = format!("/v1/chatapp/messages?direction=inbound&limit=100&cursor={cursor}");
    }
    Ok(false)
}

/// Notifications of so many items each: acknowledged after their commit, and how long until all are worked.
async fn receive(server: &Server, desk: &Desk, seconds: usize, items: u64, begin: u64) -> Result<(), String> {
    // Made beforehand, so that the signatures are not part of the figures.
    let count = (seconds as u64 * 3_000 / items.max(1)).max(10);
    let bodies: Vec<Vec<u8>> = (0..count)
        .map(|n| {
            let body = notification(desk, begin + n * items, items);
            let sign = format!("x-hub-signature-256: {}\r\n", signature(SECRET, body.as_bytes()));
            load::request("POST", &desk.hook, "", &sign, &body)
        })
        .collect();
    let (bodies, cpu, begun) = (Arc::new(bodies), server.cpu_seconds(), Instant::now());
    let (given, last) = (bodies.clone(), count - 1);
    let make: load::Make = Arc::new(move |n| given[n.min(last) as usize].clone());
    let figures = load::run_count(&server.address, CONNECTIONS, count, make).await?;
    let took = begun.elapsed();
    // What came last is worked about last.
    let body = notification(desk, begin + count * items, 1);
    let sign = format!("x-hub-signature-256: {}\r\n", signature(SECRET, body.as_bytes()));
    let bytes = load::request("POST", &desk.hook, "", &sign, &body);
    load::run_count(&server.address, 1, 1, Arc::new(move |_| bytes.clone())).await?;
    let wanted = format!("Where is my parcel {}?", begin + count * items);
    let worked = loop {
        if is_among_the_newest(server, desk, &wanted).await? {
            break Some(begun.elapsed());
        }
        if begun.elapsed() > took * 20 + Duration::from_secs(60) {
            break None;
        }
        // Looking costs the server something, too.
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    let all = (count * items) as f64;
    println!(
        "| {} notifications of {items} | {:.0} items/s | p99 {:.1} ms | refused {} | {:.0} | {} |",
        count,
        all / took.as_secs_f64(),
        figures.p99.as_secs_f64() * 1e3,
        figures.refused,
        (server.cpu_seconds() - cpu) * 1e6 / all,
        worked.map_or("not all were worked".into(), |worked| format!(
            "all worked after {:.1} s, {:.0} items/s",
            worked.as_secs_f64(),
            all / worked.as_secs_f64()
        )),
    );
    Ok(())
}

/// A campaign with a list, ready to be published.
async fn campaign(server: &Server, desk: &Desk, first: usize, people: usize) -> Result<String, String> {
    let body = json!({"name": "Dues", "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
        "chatapp": {"templateId": desk.template, "ratePerMinute": PER_MINUTE,
            "paramMapping": {"body.1": {"source": "static", "value": "Asha"}}}});
    let made = call(&server.address, "POST", "/v1/campaigns", &desk.key, &body).await?;
    let id = made["data"]["id"].as_str().ok_or("no campaign")?.to_owned();
    let mut rows = String::with_capacity(people * 64);
    for n in first..first + people {
        let comma = if n == first { "" } else { "," };
        let _ = write!(rows, r#"{comma}{{"phone":"+91{}","variables":{{"due":"5"}}}}"#, 9_000_000_000 + n);
    }
    let path = format!("/v1/campaigns/{id}/contacts");
    let bytes = load::request("POST", &path, &desk.key, "", &format!(r#"{{"contacts":[{rows}]}}"#));
    let set = load::run_count(&server.address, 1, 1, Arc::new(move |_| bytes.clone())).await?;
    if set.refused > 0 {
        return Err(format!("{path}: {}", set.refusal));
    }
    Ok(id)
}

async fn status(server: &Server, desk: &Desk, id: &str, status: &str) -> Result<(), String> {
    let path = format!("/v1/campaigns/{id}/status");
    call(&server.address, "POST", &path, &desk.key, &json!({"status": status})).await.map(|_| ())
}

/// Campaigns that together have so many people, each as fast as one may be. There are a quarter more of them than the number
/// has room for, so its rate is what holds them up: a campaign keeps a little below its own rate in the long run.
async fn campaigns(server: &Server, cloud: &Cloud, desk: &Desk, people: usize) -> Result<(), String> {
    let most = (desk.rate * 60 * 5 / 4).div_ceil(PER_MINUTE).max(1);
    let each = people.div_ceil(most).min(LIST);
    let mut ids = Vec::new();
    for at in 0..people.div_ceil(each) {
        ids.push(campaign(server, desk, at * each, each.min(people - at * each)).await?);
    }
    cloud.clear();
    let (cpu, before, begun) = (server.cpu_seconds(), server.own_mb(), Instant::now());
    let (peak, arrived) = server
        .own_peak_mb(async {
            for id in &ids {
                status(server, desk, id, "active").await?;
            }
            Ok::<_, String>(cloud.all(&desk.number, people).await)
        })
        .await;
    let arrived = arrived?;
    let (rate, window) = pace(&arrived);
    let after =
        |moment: Option<&Instant>| moment.map_or(0.0, |moment| moment.duration_since(begun).as_secs_f64());
    println!(
        "| {} campaigns, {} of {people} people, {} a second allowed | {rate:.1} | {:.1} % | {window} | {:.0} | first after {:.2} s, last after {:.1} s, {before:.0} MB before, {peak:.0} MB at most |",
        ids.len(),
        arrived.len(),
        desk.rate,
        rate / desk.rate as f64 * 100.0,
        (server.cpu_seconds() - cpu) * 1e6 / arrived.len().max(1) as f64,
        after(arrived.first()),
        after(arrived.last()),
    );
    Ok(())
}

/// One campaign with a long list, for a while: it has the pace that it was given, whatever its length.
async fn long_list(
    server: &Server,
    cloud: &Cloud,
    desk: &Desk,
    people: usize,
    seconds: usize,
) -> Result<(), String> {
    let people = people.min(LIST);
    let id = campaign(server, desk, 500_000, people).await?;
    cloud.clear();
    let (cpu, before, begun) = (server.cpu_seconds(), server.own_mb(), Instant::now());
    let (peak, published) = server
        .own_peak_mb(async {
            status(server, desk, &id, "active").await?;
            let published = begun.elapsed();
            tokio::time::sleep(Duration::from_secs(seconds as u64)).await;
            Ok::<_, String>(published)
        })
        .await;
    let (published, arrived) = (published?, cloud.arrived(&desk.number));
    let (rate, window) = pace(&arrived);
    println!(
        "| one campaign with {people} people, {} a second allowed | {rate:.1} | {:.1} % | {window} | {:.0} | published after {:.2} s, first after {:.2} s, {before:.0} MB before, {peak:.0} MB at most |",
        PER_MINUTE / 60,
        rate / (PER_MINUTE / 60) as f64 * 100.0,
        (server.cpu_seconds() - cpu) * 1e6 / arrived.len().max(1) as f64,
        published.as_secs_f64(),
        arrived.first().map_or(0.0, |moment| moment.duration_since(begun).as_secs_f64()),
    );
    status(server, desk, &id, "completed").await
}

async fn measure(data: &Path, database: Option<&str>, seconds: usize, people: usize) -> Result<(), String> {
    let (url, cloud) = Cloud::start().await?;
    let database = database.map(|url| format!("database_url = \"{url}\"\n")).unwrap_or_default();
    let settings = data.join("bench.toml");
    let text = format!(
        "listen = \"127.0.0.1:0\"\n{database}[limits]\nconnections_per_address = 10000\n\
         [integrations]\nallow_insecure = true\n[chatapp.cloud]\nbase_url = \"{url}\"\n"
    );
    std::fs::write(&settings, text).map_err(|why| why.to_string())?;
    let server = Server::configured(data, &settings, None)?;
    let token = std::fs::read_to_string(data.join("operator.token")).map_err(|why| why.to_string())?;
    let (usual, fast) = (desk(&server, token.trim(), 0).await?, desk(&server, token.trim(), 1).await?);
    println!(
        "| sending | a second | of the allowed rate | most within a second | server CPU a message, µs | |\n|---|---|---|---|---|---|"
    );
    for desk in [&usual, &fast] {
        send(&server, &cloud, desk, seconds).await?;
    }
    long_list(&server, &cloud, &usual, people, seconds).await?;
    campaigns(&server, &cloud, &fast, people).await?;
    println!("\n| receiving | acknowledged | | | server CPU an item, µs | |\n|---|---|---|---|---|---|");
    let mut begin = 0;
    for items in [1, 10] {
        receive(&server, &usual, seconds, items, begin).await?;
        begin += 10_000_000;
    }
    println!(
        "\n{} and {}: {:.0} MB, {} threads afterwards",
        usual.tenant,
        fast.tenant,
        server.memory_mb(),
        server.threads()
    );
    Ok(())
}

/// Prints the tables.
pub async fn run(arguments: &[String]) -> Result<(), String> {
    let database = arguments.iter().find(|text| text.starts_with("postgres"));
    let sizes: Vec<usize> = arguments.iter().filter_map(|text| text.parse().ok()).collect();
    let (seconds, people) = (sizes.first().copied().unwrap_or(10), sizes.get(1).copied().unwrap_or(100_000));
    let data = std::env::temp_dir().join(format!("dastak-bench-channel-{}", std::process::id()));
    std::fs::create_dir_all(&data).map_err(|why| why.to_string())?;
    let outcome = measure(&data, database.map(String::as_str), seconds.max(1), people.max(1)).await;
    let _ = std::fs::remove_dir_all(&data);
    outcome
}
