//! Hostile and careless clients at the listener, and what the service does not do for them.

use std::net::SocketAddr;
use std::time::Duration;

use api::events::calls::CallData;
use bytes::Bytes;
use dastak::app::events::{Event, NewEvent, emit};
use dastak::app::limits::shares::Client;
use dastak::config::Network;
use domain::tenant::Mode;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until, timeout};

use crate::app::TestApp;
use crate::cloud;
use crate::world::World;

/// Ends a test that would otherwise never end.
const PATIENCE: Duration = Duration::from_secs(120);
const FIVE_MB: usize = 5_000_000;

pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            sleep_until(Instant::now() + Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// A connection whose kernel takes little of an answer before it is read, whatever earlier connections made it learn.
async fn connect_narrow(app: &TestApp) -> TcpStream {
    let address: SocketAddr = app.url.strip_prefix("http://").unwrap().parse().unwrap();
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(address).await.unwrap()
}

pub async fn connect(app: &TestApp) -> TcpStream {
    let address: SocketAddr = app.url.strip_prefix("http://").unwrap().parse().unwrap();
    TcpStream::connect(address).await.expect("a connection")
}

pub fn head(method: &str, path: &str, key: Option<&str>, more: &str) -> String {
    let key = key.map(|key| format!("authorization: Bearer {key}\r\n")).unwrap_or_default();
    format!("{method} {path} HTTP/1.1\r\nhost: x\r\n{key}{more}\r\n")
}

/// Everything that the service says until it closes the connection.
async fn answer(socket: &mut TcpStream) -> String {
    let mut said = Vec::new();
    timeout(PATIENCE, socket.read_to_end(&mut said)).await.expect("an answer and its end").expect("no reset");
    String::from_utf8_lossy(&said).into_owned()
}

fn length(bytes: usize) -> String {
    format!("content-length: {bytes}\r\n")
}

#[tokio::test]
async fn who_is_not_known_sends_headers_only() {
    let app = TestApp::start().await;
    for key in [None, Some("dastak_live_wrong")] {
        for more in [length(FIVE_MB), "transfer-encoding: chunked\r\n".to_owned()] {
            // The body never comes, and the answer does not wait for it.
            let mut socket = connect(&app).await;
            socket.write_all(head("POST", "/v1/calls", key, &more).as_bytes()).await.unwrap();
            let said = answer(&mut socket).await;
            assert!(said.starts_with("HTTP/1.1 401") && said.contains("connection: close"), "{said}");
            assert_eq!(app.app().shares.bodies.taken(), 0);
        }
        // A client that sends everything before it reads still gets the reason.
        let mut socket = connect(&app).await;
        socket.write_all(head("POST", "/v1/calls", key, &length(FIVE_MB)).as_bytes()).await.unwrap();
        socket.write_all(&vec![b'['; FIVE_MB]).await.unwrap();
        assert!(answer(&mut socket).await.starts_with("HTTP/1.1 401"));
    }
    // With a valid key the refusal follows from the head of the request.
    let workspace = app.workspace().await;
    let mut socket = connect(&app).await;
    socket
        .write_all(head("POST", "/v1/calls", Some(&workspace.live), &length(50 * FIVE_MB)).as_bytes())
        .await
        .unwrap();
    assert!(answer(&mut socket).await.starts_with("HTTP/1.1 413"));
    // A refusal of a small body leaves the connection as it is.
    let mut socket = connect(&app).await;
    let twice = format!("{}{{}}", head("POST", "/v1/wallet", Some(&workspace.live), &length(2)));
    socket.write_all(twice.repeat(2).as_bytes()).await.unwrap();
    let end = head("GET", "/healthz", None, "connection: close\r\n");
    socket.write_all(end.as_bytes()).await.unwrap();
    let said = answer(&mut socket).await;
    assert_eq!(
        (said.matches("HTTP/1.1 405").count(), said.matches("HTTP/1.1 200").count()),
        (2, 1),
        "{said}"
    );
}

#[tokio::test]
async fn bodies_in_work_are_bounded_for_each_and_for_all() {
    let world = World::bare_with(|config| {
        (config.limits.bodies_per_client, config.limits.bodies) = (6_000_000, 8_000_000);
    })
    .await;
    let other = world.neighbour().await;
    let mut slow = connect(&world).await;
    slow.write_all(head("POST", "/v1/calls", Some(world.live()), &length(FIVE_MB)).as_bytes()).await.unwrap();
    // What was announced does not count; what has arrived does.
    slow.write_all(&vec![b' '; FIVE_MB - 1]).await.unwrap();
    until("the body is in work", || world.app().shares.bodies.taken() == FIVE_MB - 1).await;
    let large = Bytes::from(format!("{{\"x\": \"{}\"}}", "x".repeat(FIVE_MB)));
    let send = |key: &str, body: Bytes| {
        let (world, key) = (&world, key.to_owned());
        async move { world.send("POST", "/v1/calls", Some(&key), &[], body).await }
    };
    send(world.live(), large.clone()).await.refused(429, "rate_limited");
    send(other.live(), large.clone()).await.refused(503, "unavailable");
    for key in [world.live(), other.live()] {
        send(key, Bytes::from_static(b"{}")).await.invalid();
    }
    drop(slow);
    until("what was held is given back", || world.app().shares.bodies.taken() == 0).await;
    send(world.live(), large).await.invalid();
    assert_eq!(world.app().shares.bodies.taken(), 0);
}

/// Who knows the address of a hook or the token of a form holds nobody's bodies up: not by announcing, and by sending only
/// within bounds of their own.
#[tokio::test]
async fn strangers_at_the_address_of_a_stream_hold_nobody_up() {
    let world = World::bare_with(|config| config.limits.bodies = 8_000_000).await;
    let other = world.neighbour().await;
    let made = world.webhook_stream().await;
    let token = made["token"].as_str().unwrap();
    let address = &*format!("/ingest/streams/{}", made["id"].as_str().unwrap());
    let mut silent = Vec::new();
    for sent in [0, 0, 0, 0, 0, 0, 0, 0, FIVE_MB - 1] {
        let mut socket = connect(&world).await;
        socket.write_all(head("POST", address, Some(token), &length(FIVE_MB)).as_bytes()).await.unwrap();
        socket.write_all(&vec![b' '; sent]).await.unwrap();
        silent.push(socket);
    }
    until("what was sent has arrived", || world.app().shares.bodies.taken() == FIVE_MB - 1).await;
    // The network of the strangers has no more than 6 MB; the key of the workspace has its own part.
    let large = Bytes::from(format!("{{\"x\": \"{}\"}}", "x".repeat(2_000_000)));
    let send = |path: &str, key: &str, body: Bytes| {
        let (world, path, key) = (&world, path.to_owned(), key.to_owned());
        async move { world.send("POST", &path, Some(&key), &[], body).await }
    };
    send(address, token, large.clone()).await.refused(429, "rate_limited");
    send("/v1/calls", world.live(), large.clone()).await.invalid();
    // With all bodies taken, each workspace still has a megabyte.
    let mut greedy = connect(&world).await;
    let sent = 8_000_000 - (FIVE_MB - 1);
    greedy
        .write_all(head("POST", "/v1/calls", Some(world.live()), &length(FIVE_MB)).as_bytes())
        .await
        .unwrap();
    greedy.write_all(&vec![b' '; sent]).await.unwrap();
    until("all is taken", || world.app().shares.bodies.taken() == 8_000_000).await;
    send("/v1/calls", other.live(), large).await.refused(503, "unavailable");
    let small = Bytes::from(format!("{{\"x\": \"{}\"}}", "x".repeat(900_000)));
    send("/v1/calls", other.live(), small).await.invalid();
    drop((silent, greedy));
    until("what was held is given back", || world.app().shares.bodies.taken() == 0).await;
}

/// The same at the address to which a provider sends notifications: a stranger may know it, and has no signature.
#[tokio::test]
async fn strangers_at_the_address_of_a_hook_hold_nobody_up() {
    const THREE_MB: usize = 3_000_000;
    let (world, _cloud) = cloud::start_with(|config| config.limits.bodies = 8_000_000).await;
    let other = world.neighbour().await;
    let address = world.connect_cloud().await;
    let mut silent = Vec::new();
    for sent in [0, 0, 0, 0, 0, 0, 0, 0, THREE_MB - 1, THREE_MB - 1] {
        let mut socket = connect(&world).await;
        socket.write_all(head("POST", &address, None, &length(THREE_MB)).as_bytes()).await.unwrap();
        socket.write_all(&vec![b' '; sent]).await.unwrap();
        silent.push(socket);
    }
    until("what was sent has arrived", || world.app().shares.bodies.taken() == 2 * (THREE_MB - 1)).await;
    let large = |bytes: usize| Bytes::from(format!("{{\"x\": \"{}\"}}", "x".repeat(bytes)));
    world.send("POST", &address, None, &[], large(400_000)).await.refused(429, "rate_limited");
    for key in [world.live(), other.live()] {
        world.send("POST", "/v1/calls", Some(key), &[], large(1_500_000)).await.invalid();
    }
    drop(silent);
    until("what was held is given back", || world.app().shares.bodies.taken() == 0).await;
    world.send("POST", &address, None, &[], large(400_000)).await.refused(401, "unauthorized");
}

/// A bounded number of pages is read at once, for each workspace and in all; a long poll holds no turn while it waits.
#[tokio::test]
async fn answers_are_read_in_turns() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let client = Client::Workspace(world.tenant());
    let reading = &world.app().shares.reading;
    let mut listening = connect(&world).await;
    let request = head("GET", "/v1/events?wait=25", Some(world.live()), "");
    listening.write_all(request.as_bytes()).await.unwrap();
    let tenant = world.tenant();
    until("it waits", || world.app().webhooks.readers.waiting_of(tenant, Mode::Live) == 1).await;
    until("without a turn", || reading.present(&client) == 0).await;
    // Four pages of the workspace are being read.
    let mut turns = Vec::new();
    for _ in 0..4 {
        turns.push(reading.take(client, PATIENCE).await.expect("a turn"));
    }
    let waiting = world.fetch("/v1/contacts");
    let free = async {
        // The listener may look once more meanwhile, and wait behind it.
        until("it waits for its turn", || reading.present(&client) >= 5).await;
        // Nobody else does, and what changes something does not.
        other.get("/v1/contacts").await;
        let body = json!({"externalRef": "a", "phone": "9812345678"});
        world.post("/v1/contacts", &body).await.expect(201);
        drop(turns);
    };
    let (page, ()) = tokio::join!(waiting, free);
    assert_eq!(page.expect(200)["data"].as_array().unwrap().len(), 1, "it was read afterwards");
    until("every turn is given back", || reading.present(&client) == 0).await;
}

/// A body may begin with a byte order mark, as other bytes of the same text do.
#[tokio::test]
async fn a_body_may_begin_with_a_byte_order_mark() {
    let world = World::bare().await;
    let agent = world.agent(&json!({"systemPrompt": "Hello"})).await;
    let order = json!({"agentId": agent, "toNumber": "+919876543210"});
    let marked = |times: usize, body: &Value| Bytes::from(format!("{}{body}", "\u{FEFF}".repeat(times)));
    let place =
        |body: Bytes| world.send("POST", "/v1/calls", Some(world.test()), &[("idempotency-key", "a")], body);
    let placed = place(marked(1, &order)).await.expect(200);
    let repeated = place(marked(0, &order)).await.expect(200);
    assert_eq!(placed["interactionId"], repeated["interactionId"], "it is the same request");
    for body in [marked(2, &order), marked(1, &json!(null)).slice(..3)] {
        world.send("POST", "/v1/calls", Some(world.test()), &[], body).await.refused(400, "malformed_json");
    }
}

/// Clients that ask for pages and do not read them hold at most their workspace's part, and other workspaces read on.
#[tokio::test]
async fn answers_that_nobody_reads_are_bounded() {
    // None of them is closed for being unread, however slow the machine is.
    let world = World::bare_with(|config| config.limits.answer_time = 10 * PATIENCE).await;
    let other = world.neighbour().await;
    many_events(&world, 40).await;
    // A page ends after 4 MB although a hundred events are asked for, and the cursor goes on.
    let (mut after, mut seen, mut pages) = ("start".to_owned(), 0, 0);
    while seen < 40 {
        let page = world.fetch(&format!("/v1/events?after={after}&limit=100")).await;
        assert!(page.text.len() <= 4 << 20, "{} bytes", page.text.len());
        let page = page.expect(200);
        assert!(page["data"].as_array().is_some_and(|events| !events.is_empty()));
        seen += page["data"].as_array().unwrap().len();
        after = page["cursor"].as_str().unwrap().to_owned();
        pages += 1;
    }
    assert_eq!((seen, pages > 2), (40, true));
    let most = world.app().config.limits.answers_per_client;
    let mut idle = Vec::new();
    for _ in 0..6 {
        let mut socket = connect_narrow(&world).await;
        let request = head("GET", "/v1/events?after=start&limit=100", Some(world.live()), "");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut line = [0; 12];
        timeout(PATIENCE, socket.read_exact(&mut line)).await.expect("an answer").expect("its first bytes");
        idle.push((socket, String::from_utf8_lossy(&line[9..]).into_owned()));
    }
    let given = idle.iter().filter(|(_, status)| status == "200").count();
    assert!(idle.iter().all(|(_, status)| status == "200" || status == "429"));
    assert!((3..=4).contains(&given), "{given} of 6 were given");
    let taken = world.app().shares.answers.taken_by(&Client::Workspace(world.tenant()));
    assert!(taken <= most && taken > most / 2, "{taken}");
    // Small answers are given, and others read on.
    world.get("/v1/me").await;
    other.get("/v1/events?after=start").await;
    drop(idle);
    until("they are given back", || world.app().shares.answers.taken() == 0).await;
    world.get("/v1/events?after=start&limit=100").await;
}

/// Events of 256 KB each.
async fn many_events(world: &World, count: usize) {
    let (inner, tenant) = (world.app().clone(), world.tenant());
    for _ in 0..count {
        let context = inner.context();
        let metadata = json!({"words": "w".repeat(256 << 10)});
        let event = Event::CallCompleted(CallData { metadata, ..CallData::completed() });
        let event = NewEvent { event, mode: Mode::Live, agent: None, contact: None };
        inner.store.of(tenant).tx(move |tx| emit(tx, &context, event.clone())).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_no_http_is_answered_like_everything_else() {
    let app = TestApp::start().await;
    let large = format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx-large: {}\r\n\r\n", "x".repeat(60_000));
    let many: String = (0..150).map(|number| format!("x-{number}: y\r\n")).collect();
    for (request, status) in [
        ("NONSENSE\r\n\r\n".to_owned(), "400"),
        ("GET /healthz HTTP/1.1\r\nno colon\r\n\r\n".to_owned(), "400"),
        (large, "431"),
        (head("GET", "/healthz", None, &many), "431"),
    ] {
        let mut socket = connect(&app).await;
        // The service may stop reading before all is sent.
        let _ = socket.write_all(request.as_bytes()).await;
        let said = answer(&mut socket).await;
        let (head, body) = said.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{said}");
        assert!(
            head.contains("x-request-id: req_") && head.contains("content-type: application/json"),
            "{said}"
        );
        let body: Value = serde_json::from_str(body).expect("the error envelope");
        assert_eq!(body["code"], "invalid_request");
        assert!(body["error"].is_string());
    }
    // A client is told how to present its key.
    let refused = app.send("GET", "/v1/me", None, &[], Bytes::new()).await;
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    refused.refused(401, "unauthorized");
}

/// A full disk is seen coming: what would store something is refused, what reads and what removes is not.
#[tokio::test]
async fn with_too_little_room_on_the_disk_nothing_new_is_stored() {
    let world = World::bare().await;
    let body = json!({"externalRef": "a", "phone": "9812345678"});
    let made = world.post("/v1/contacts", &body).await.expect(201);
    let world = world.restart_with(|config| config.limits.disk_reserve = u64::MAX).await;
    let refused = world.post("/v1/contacts", &json!({"externalRef": "b", "phone": "9812345679"})).await;
    assert_eq!(refused.header("retry-after"), Some("60"));
    assert!(refused.refused(503, "unavailable")["error"].as_str().unwrap().contains("disk"));
    let listed = world.get("/v1/contacts").await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    let path = format!("/v1/contacts/{}", made["data"]["id"].as_str().unwrap());
    world.delete(&path).await.expect(200);
    world.change(&json!({"suspended": false})).await;
    let figures = world.app.get(&world.operator_token, "/metrics").await.text;
    assert!(figures.contains("dastak_disk_free_bytes") && figures.contains("dastak_disk_size_bytes"));
}

#[tokio::test]
async fn connections_are_bounded_for_an_address_and_for_all() {
    type Change = fn(&mut dastak::config::Config);
    let changes: [Change; 2] = [
        |config| config.limits.connections_per_address = 8,
        |config| {
            config.limits.connections = 8;
            config.network = Network::parse(&["127.0.0.0/8".into()]).unwrap();
        },
    ];
    for change in changes {
        let app = TestApp::start_with(change).await;
        let mut open = Vec::new();
        for _ in 0..20 {
            let mut socket = connect(&app).await;
            let request = head("GET", "/healthz", None, "");
            let mut byte = [0];
            // A connection over the limit is closed without an answer; writing to it may already fail.
            let _ = socket.write_all(request.as_bytes()).await;
            if matches!(timeout(PATIENCE, socket.read(&mut byte)).await.expect("a word or an end"), Ok(1)) {
                open.push(socket);
            }
        }
        assert_eq!(open.len(), 8);
        drop(open);
        until("their places are free", || app.app().shares.connections.taken(&()) == 0).await;
        app.send("GET", "/healthz", None, &[], Bytes::new()).await.expect(200);
    }
}

#[tokio::test]
async fn a_client_that_takes_no_answer_is_given_up() {
    let app = TestApp::start_with(|config| config.limits.answer_time = Duration::from_secs(1)).await;
    let mut socket = connect(&app).await;
    until("it is connected", || app.app().shares.connections.taken(&()) == 1).await;
    // Far more than the buffers of both sides hold. Sending stops when the service stops reading.
    let requests = head("GET", "/v1/openapi.json", None, "").repeat(200);
    let _ = timeout(Duration::from_secs(1), socket.write_all(requests.as_bytes())).await;
    until("it is given up", || app.app().shares.connections.taken(&()) == 0).await;
}

#[tokio::test]
async fn readiness_is_asked_of_the_store_once_in_a_while() {
    let app = TestApp::start().await;
    let writes = |row: i64| {
        let store = app.app().store.clone();
        async move {
            let read = store.read(move |tx| {
                tx.one::<i64>("select at from health where id = ?1", &[store::Value::Int(row)])
            });
            read.await.expect("the store").expect("a row")
        }
    };
    let (placements, before, started) = (writes(1).await, writes(2).await, Instant::now());
    for _ in 0..300 {
        let ready = app.send("GET", "/readyz", None, &[], Bytes::new()).await.expect(200);
        assert_eq!(ready, json!({"ok": true}), "no names for a stranger");
    }
    let most = 1 + i64::try_from(started.elapsed().as_secs() / 2).unwrap() + 1;
    assert!((1..=most).contains(&(writes(2).await - before)));
    assert_eq!(writes(1).await, placements, "the row of placements is left alone");
}

#[tokio::test]
async fn figures_are_for_who_may_see_them() {
    let app =
        TestApp::start_with(|config| config.figures.token = Some("a-token-of-the-monitor".into())).await;
    let workspace = app.workspace().await;
    let ask = |app: &TestApp, token: Option<&str>, headers: &'static [(&'static str, &'static str)]| {
        let (url, token) = (app.url.clone(), token.map(str::to_owned));
        async move {
            let mut socket = TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
            let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            socket
                .write_all(
                    head("GET", "/metrics", token.as_deref(), &format!("{more}connection: close\r\n"))
                        .as_bytes(),
                )
                .await
                .unwrap();
            let answer = answer(&mut socket).await;
            let figures = if answer.contains("http_connections") { "all" } else { "up" };
            format!("{} {figures}", &answer[9..12])
        }
    };
    assert_eq!(ask(&app, None, &[]).await, "200 up");
    assert_eq!(ask(&app, Some(&workspace.live), &[]).await, "401 up");
    assert_eq!(ask(&app, Some(&app.operator_token), &[]).await, "200 all");
    assert_eq!(ask(&app, Some("a-token-of-the-monitor"), &[]).await, "200 all");
    app.send("GET", "/operator/v1/workspaces", Some("a-token-of-the-monitor"), &[], Bytes::new())
        .await
        .refused(401, "unauthorized");
    let near = TestApp::start_with(|config| {
        config.figures.networks = Network::parse(&["127.0.0.1".into()]).unwrap()
    })
    .await;
    assert_eq!(ask(&near, None, &[]).await, "200 all");
    assert_eq!(
        ask(&near, None, &[("x-forwarded-for", "127.0.0.1")]).await,
        "200 up",
        "a proxy speaks for somebody"
    );
}

#[tokio::test]
async fn variables_and_warnings_have_ceilings() {
    let world = World::bare().await;
    let agent = world.agent(&json!({"systemPrompt": "Hello"})).await;
    let place = |variables: Value| {
        let (world, key) = (&world, world.test());
        let body = json!({"agentId": agent, "toNumber": "+919876543210", "variables": variables});
        async move { world.app.post(key, "/v1/calls", &body).await }
    };
    let named = |count: usize| {
        Value::Object(
            (0..count).map(|number| (format!("no name {number}"), json!("x"))).collect::<Map<_, _>>(),
        )
    };
    let placed = place(named(500)).await.expect(200);
    let warnings = placed["warnings"].as_array().unwrap();
    assert_eq!((warnings.len(), &warnings[50]["field"]), (51, &json!("variables")));
    assert_eq!(warnings[50]["message"], "451 more warnings are not listed");
    let refused = place(named(501)).await.refused(400, "invalid_variables");
    assert_eq!(refused["meta"], json!({"key": "no name 500", "field": "variables.no name 500"}));
    place(json!({"a": "x".repeat(40_000), "b": "x".repeat(40_000)})).await.refused(400, "invalid_variables");
    place(named(150_000)).await.refused(400, "invalid_variables");
    let calls = world.app.get(world.test(), "/v1/calls").await.expect(200);
    assert_eq!(calls["data"].as_array().unwrap().len(), 1, "what is refused changes nothing");
    let deep = format!("{{\"variables\": {}", "[".repeat(FIVE_MB - 100));
    world
        .send("POST", "/v1/calls", Some(world.test()), &[], deep.into())
        .await
        .refused(400, "malformed_json");
}

#[tokio::test]
async fn a_call_is_placed_without_reading_the_flow() {
    let world = World::bare().await;
    let agent = world.agent(&json!({"systemPrompt": "Hello {{name}}"})).await;
    // From here on reading the graph fails, inside a transaction or outside.
    let store = world.app().store.clone();
    let broken = store.tx(|tx| tx.exec("update flows set graph = 'no graph'", &[])).await.unwrap();
    assert_eq!(broken, 1);
    let body = json!({"agentId": agent, "toNumber": "+919876543210"});
    world.app.post(world.test(), "/v1/calls", &body).await.refused(422, "missing_required_variables");
    let body = json!({"agentId": agent, "toNumber": "+919876543210", "variables": {"name": "Asha"}});
    world.app.post(world.test(), "/v1/calls", &body).await.expect(200);
    world.set_agent(&agent, "active").await.expect(200);
    world.fetch(&format!("/v1/agents/{agent}/flow")).await.refused(500, "internal_error");
}

#[tokio::test]
async fn guessing_keys_costs_the_store_a_bounded_number_of_looks() {
    let world = World::bare().await;
    let unused = world.key(&world.workspace.id, "live", json!("all")).await;
    world.get("/v1/me").await;
    for number in 0..121 {
        let answer = world.app.get(&format!("dastak_live_guess{number}"), "/v1/me").await;
        assert_eq!(answer.status, if number < 20 { 401 } else { 429 }, "{number}");
    }
    // From here on a key is refused without being looked up, a valid one too, unless it was seen to be valid
    // before.
    world.app.get(&unused, "/v1/me").await.refused(429, "rate_limited");
    world.get("/v1/me").await;
    world.advance(61).await;
    world.app.get(&unused, "/v1/me").await.expect(200);
}

#[tokio::test]
async fn requests_that_wait_for_events_are_bounded() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let mut waiting = Vec::new();
    let tenant = world.tenant();
    for number in 1..=32 {
        let mut socket = connect(&world).await;
        socket.write_all(head("GET", "/v1/events?wait=25", Some(world.live()), "").as_bytes()).await.unwrap();
        waiting.push(socket);
        until("it waits", || world.app().webhooks.readers.waiting_of(tenant, Mode::Live) == number).await;
    }
    world.fetch("/v1/events?wait=1").await.refused(429, "rate_limited");
    world.get("/v1/events").await;
    other.get("/v1/events?wait=1").await;
    drop(waiting);
    until("they have gone", || world.app().webhooks.readers.waiting_of(tenant, Mode::Live) == 0).await;
}

#[tokio::test]
async fn the_description_is_made_once() {
    let app = TestApp::start().await;
    for path in ["/v1/openapi.json", "/operator/v1/openapi.json"] {
        let first = app.send("GET", path, None, &[], Bytes::new()).await;
        let etag = first.header("etag").unwrap().to_owned();
        let again = app.send("GET", path, None, &[("if-none-match", &etag)], Bytes::new()).await;
        assert_eq!((again.status, again.text.as_str(), again.header("etag")), (304, "", Some(etag.as_str())));
        let other = app.send("GET", path, None, &[("if-none-match", "\"other\"")], Bytes::new()).await;
        assert_eq!((other.status, other.text == first.text), (200, true));
    }
}
