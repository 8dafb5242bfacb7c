//! People who sign in (docs/contract/members.md): passwords, sessions, cookies, where requests come from.

use bytes::Bytes;
use domain::tenant::Role;
use serde_json::{Value, json};

use crate::app::{Answer, TestApp};
use crate::world::{Member, SAME_ORIGIN, World};

const PASSWORD: &str = "correct horse battery";

async fn sign_in_with(app: &TestApp, headers: &[(&str, &str)], email: &str, password: &str) -> Answer {
    let mut all = vec![SAME_ORIGIN];
    all.extend(headers);
    let body = json!({"email": email, "password": password}).to_string();
    app.send("POST", "/console/api/sign-in", None, &all, body.into()).await
}

async fn sign_in(app: &TestApp, email: &str, password: &str) -> Answer {
    sign_in_with(app, &[], email, password).await
}

/// The cookies that an answer sets, as a browser sends them back.
fn cookies(answer: &Answer) -> String {
    let set = answer.headers.get_all("set-cookie").iter();
    let pairs = set.map(|value| value.to_str().unwrap().split(';').next().unwrap());
    pairs.collect::<Vec<_>>().join("; ")
}

async fn with_password(world: &World, email: &str, role: &str) {
    let body = json!({"email": email, "name": "Asha", "role": role, "password": PASSWORD});
    world.operator("POST", "/members", body).await.expect(201);
}

async fn me(app: &TestApp, cookie: &str) -> Answer {
    app.send("GET", "/console/api/me", None, &[("cookie", cookie)], Bytes::new()).await
}

#[tokio::test]
async fn a_person_signs_in_sees_itself_and_signs_out() {
    let world = World::bare().await;
    with_password(&world, "asha@example.com", "admin").await;
    let other = world.neighbour().await;
    other
        .operator("POST", "/members", json!({"email": "Asha@Example.com", "name": "A", "role": "viewer"}))
        .await
        .expect(201);
    let answer = sign_in(&world, " ASHA@example.com", PASSWORD).await;
    let cookie = cookies(&answer);
    let session = answer.header("set-cookie").unwrap().to_owned();
    assert!(
        session.starts_with("service-session=") && session.contains("; Path=/; HttpOnly; SameSite=Lax"),
        "{session}"
    );
    let shown = answer.data(200);
    let memberships = shown["memberships"].as_array().unwrap();
    let seen: Vec<_> = memberships
        .iter()
        .map(|at| (at["workspaceId"].as_str().unwrap(), at["role"].as_str().unwrap()))
        .collect();
    let shown_id = memberships[0]["memberId"].as_str().unwrap();
    assert_eq!(shown_id, world.sign_in("asha@example.com").await.id);
    assert_eq!(seen, [(world.workspace.id.as_str(), "admin"), (other.workspace.id.as_str(), "viewer")]);
    assert_eq!(me(&world, &cookie).await.data(200), shown);

    let headers = [("cookie", cookie.as_str()), SAME_ORIGIN];
    let change = json!({"name": "Asha Rao", "language": "hi"}).to_string();
    let changed = world.send("PATCH", "/console/api/me", None, &headers, change.into()).await.data(200);
    assert_eq!((&changed["name"], &changed["language"]), (&json!("Asha Rao"), &json!("hi")));
    let names = other.operator("GET", "/members", Value::Null).await.list(200);
    assert_eq!(names[0]["name"], "Asha Rao", "the name is the person's in every workspace");

    let out = world.send("POST", "/console/api/sign-out", None, &headers, Bytes::new()).await;
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(out.status, 204);
    me(&world, &cookie).await.refused(401, "unauthorized");
}

#[tokio::test]
async fn a_refusal_does_not_tell_whether_there_is_an_account() {
    let world = World::bare().await;
    with_password(&world, "asha@example.com", "viewer").await;
    world.add_member("none@example.com", "viewer").await;
    let mut told = Vec::new();
    for email in ["asha@example.com", "none@example.com", "nobody@example.com", "no address"] {
        let answer = sign_in(&world, email, "wrong horse battery").await;
        assert_eq!(answer.header("set-cookie"), None);
        told.push((answer.status, answer.text));
    }
    assert!(told.iter().all(|one| *one == told[0] && one.0 == 401), "{told:?}");
}

#[tokio::test]
async fn each_sign_in_has_a_token_of_its_own_and_ends_the_session_that_it_replaces() {
    let world = World::bare().await;
    with_password(&world, "asha@example.com", "viewer").await;
    // Somebody has planted a cookie.
    let planted = "service-session=0000000000000000000000000000000000000000000000000000";
    let first = cookies(&sign_in_with(&world, &[("cookie", planted)], "asha@example.com", PASSWORD).await);
    assert!(!first.contains("000000000000"), "{first}");
    me(&world, planted).await.refused(401, "unauthorized");
    let second = cookies(&sign_in_with(&world, &[("cookie", &first)], "asha@example.com", PASSWORD).await);
    me(&world, &first).await.refused(401, "unauthorized");
    me(&world, &second).await.expect(200);
}

#[tokio::test]
async fn sessions_are_listed_ended_and_end_by_themselves() {
    let world = World::bare().await;
    let member = world.member(Role::Viewer).await;
    let other = member.another_session().await;
    let third = member.another_session().await;
    let listed = member.get("/console/api/me/sessions").await.list(200);
    let current: Vec<_> = listed.iter().map(|one| one["current"].as_bool().unwrap()).collect();
    assert_eq!(current, [false, false, true], "newest first");
    let id = listed[1]["id"].as_str().unwrap();
    let stranger = world.member(Role::Owner).await;
    stranger.delete(&format!("/console/api/me/sessions/{id}")).await.not_found();
    assert_eq!(member.delete(&format!("/console/api/me/sessions/{id}")).await.status, 204);
    other.get("/v1/agents").await.refused(401, "unauthorized");
    assert_eq!(member.delete("/console/api/me/sessions").await.data(200)["revoked"], 1);
    third.get("/v1/agents").await.refused(401, "unauthorized");

    // Eleven hours at a time it is in use; twelve without a request end it.
    for _ in 0..3 {
        world.advance(11 * 3600).await;
        member.get("/v1/agents").await.expect(200);
    }
    world.advance(12 * 3600 + 60).await;
    member.get("/v1/agents").await.refused(401, "unauthorized");

    let member = member.another_session().await;
    for _ in 0..65 {
        world.advance(11 * 3600).await;
        member.get("/v1/agents").await.expect(200);
    }
    world.advance(11 * 3600).await;
    member.get("/v1/agents").await.refused(401, "unauthorized");
}

#[tokio::test]
async fn a_changed_password_ends_other_sessions() {
    let world = World::bare().await;
    with_password(&world, "asha@example.com", "viewer").await;
    let member = world.sign_in("asha@example.com").await;
    let other = member.another_session().await;
    let change = |old: &str, new: &str| json!({"password": old, "newPassword": new});
    let path = "/console/api/me/password";
    member.post(path, &change("wrong horse battery", "another horse")).await.refused(403, "password_wrong");
    member.post(path, &change(PASSWORD, "short")).await.invalid_field("newPassword");
    other.get("/console/api/me").await.expect(200);
    assert_eq!(member.post(path, &change(PASSWORD, "another horse")).await.status, 204);
    other.get("/console/api/me").await.refused(401, "unauthorized");
    member.get("/console/api/me").await.expect(200);
    sign_in(&world, "asha@example.com", PASSWORD).await.refused(401, "sign_in_failed");
    sign_in(&world, "asha@example.com", "another horse").await.expect(200);
}

#[tokio::test]
async fn a_removed_password_form_is_renewed_at_sign_in() {
    let world = World::bare().await;
    with_password(&world, "asha@example.com", "viewer").await;
    // Of `correct horse battery`, 1,000 rounds, as versions before stored it.
    let former = former_hash(PASSWORD);
    world
        .store(move |tx| {
            tx.exec("update people set password_hash = ?1", &[former.as_str().into()]).map(|_| ())
        })
        .await;
    sign_in(&world, "asha@example.com", "wrong horse battery").await.refused(401, "sign_in_failed");
    sign_in(&world, "asha@example.com", PASSWORD).await.expect(200);
    let read = |tx: &mut store::Tx<'_>| tx.one::<String>("select password_hash from people", &[]);
    let stored = world.stored(read).await.unwrap();
    assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
    sign_in(&world, "asha@example.com", PASSWORD).await.expect(200);
}

fn former_hash(password: &str) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    let mut hash = [0; 32];
    let rounds = std::num::NonZeroU32::new(1_000).unwrap();
    ring::pbkdf2::derive(ring::pbkdf2::PBKDF2_HMAC_SHA256, rounds, &[7; 16], password.as_bytes(), &mut hash);
    format!("pbkdf2-sha256$1000${}${}", STANDARD_NO_PAD.encode([7; 16]), STANDARD_NO_PAD.encode(hash))
}

#[tokio::test]
async fn a_member_of_the_version_before_becomes_a_person() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let former = former_hash(PASSWORD);
    let workspaces = [world.workspace.id.clone(), other.workspace.id.clone()];
    world
        .store(move |tx| {
            for (at, workspace) in workspaces.iter().enumerate() {
                let id = format!("usr_01k9v5x2m8e6fs4v0q3n7w1y{at}b");
                tx.exec(
                    "insert into members (id, workspace, email, name, role, password_hash, created_at) \
                     values (?1, ?2, 'asha@example.com', 'Asha', 'editor', ?3, 0)",
                    &[id.as_str().into(), workspace.as_str().into(), former.as_str().into()],
                )?;
            }
            Ok::<_, store::DbError>(())
        })
        .await;
    dastak::app::people::adopt(world.app()).await.unwrap();
    let shown = sign_in(&world, "asha@example.com", PASSWORD).await.data(200);
    assert_eq!(shown["memberships"].as_array().unwrap().len(), 2, "one person, two workspaces");
}

/// All that a browser may say of a request that another site made it send.
#[tokio::test]
async fn another_site_changes_nothing() {
    let world = World::bare().await;
    let member = world.member(Role::Owner).await;
    let own = world.url.clone();
    let foreign: &[&[(&str, &str)]] = &[
        &[],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[("sec-fetch-site", "cross-site"), ("origin", &own)],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("referer", &own)],
    ];
    let json = ("content-type", "application/json");
    for (method, path) in [
        ("POST", "/v1/agents"),
        ("PATCH", "/v1/webhooks/whe_x"),
        ("PUT", "/v1/agents/agt_x/flow"),
        ("DELETE", "/v1/agents/agt_x"),
        ("PATCH", "/console/api/me"),
        ("POST", "/console/api/sign-out"),
        ("POST", "/console/api/sign-in"),
        ("DELETE", "/console/api/me/sessions"),
    ] {
        for headers in foreign {
            let mut headers = headers.to_vec();
            headers.push(json);
            let answer = member.send(method, path, &headers, Bytes::from_static(b"{}")).await;
            answer.refused(403, "cross_site");
        }
    }
    // What a form can send, from wherever it says that it comes.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let body = Bytes::from_static(b"{\"name\": \"Asha\"}");
        let form = [("content-type", kind), SAME_ORIGIN];
        member.send("POST", "/v1/agents", &form, body).await.invalid_field("Content-Type");
    }
    for site in ["cross-site", "same-site"] {
        let read = [("sec-fetch-site", site)];
        member.send("GET", "/v1/agents", &read, Bytes::new()).await.refused(403, "cross_site");
    }
    assert!(member.get("/v1/agents").await.list(200).is_empty(), "nothing was made");
    // A browser that says nothing of the site says its origin.
    let origin = [("origin", own.as_str()), json];
    let body = json!({"name": "Asha", "systemPrompt": "You are Asha."}).to_string();
    member.send("POST", "/v1/agents", &origin, body.into()).await.expect(201);
}

#[tokio::test]
async fn a_cookie_opens_no_api_and_a_key_no_console() {
    let world = World::bare().await;
    let member = world.member(Role::Owner).await;
    for path in ["/v1/agents", "/v1/me", "/operator/v1/workspaces"] {
        let headers = [("cookie", member.cookie.as_str()), SAME_ORIGIN];
        world.send("GET", path, None, &headers, Bytes::new()).await.refused(401, "unauthorized");
    }
    for path in [member.path("/v1/agents"), "/console/api/me".into(), "/console/api/operator/v1/log".into()] {
        for token in [world.live(), &world.operator_token] {
            let sent = world.send("GET", &path, Some(token), &[], Bytes::new()).await;
            sent.refused(401, "unauthorized");
            let both = [("cookie", member.cookie.as_str())];
            world.send("GET", &path, Some(token), &both, Bytes::new()).await.refused(401, "unauthorized");
        }
    }
    member.get("/v1/me").await.not_found();
}

#[tokio::test]
async fn a_workspace_of_others_is_none() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let member = world.member(Role::Owner).await;
    let elsewhere = Member { workspace: other.workspace.id.clone(), ..member.clone() };
    let nowhere = Member { workspace: "ws_01k9v5x2m8e6fs4v0q3n7w1y3b".into(), ..member.clone() };
    let told = elsewhere.get("/v1/agents").await;
    assert_eq!(told.text, nowhere.get("/v1/agents").await.text);
    told.not_found();
    let body = json!({"name": "Asha"});
    elsewhere.post("/v1/agents", &body).await.not_found();
    elsewhere.put("/v1/agents/agt_x", &body).await.not_found();
    elsewhere.patch("/v1/webhooks/whe_x", &body).await.not_found();
    // Who is let in sees it at once, and who is put out sees nothing more.
    other
        .operator("POST", "/members", json!({"email": member.email, "name": "A", "role": "viewer"}))
        .await
        .expect(201);
    elsewhere.get("/v1/agents").await.expect(200);
    let refused = elsewhere.post("/v1/agents", &json!({"name": "Asha"})).await.refused(403, "role_missing");
    assert_eq!(refused["meta"], json!({"role": "editor", "admins": []}));
    other.change(&json!({"suspended": true})).await;
    elsewhere.get("/v1/agents").await.refused(403, "workspace_suspended");
    member.get("/v1/agents").await.expect(200);
}

#[tokio::test]
async fn members_have_a_rate_limit_of_their_own() {
    let world = World::bare().await;
    world.change(&json!({"limits": {"requestsPerMinute": 3, "memberRequestsPerMinute": 2}})).await;
    let (one, other) = (world.member(Role::Viewer).await, world.member(Role::Viewer).await);
    let answer = one.get("/v1/agents").await;
    assert_eq!(
        (answer.header("x-ratelimit-limit"), answer.header("x-ratelimit-remaining")),
        (Some("2"), Some("1"))
    );
    one.another_session().await.get("/v1/agents").await.expect(200);
    one.get("/v1/agents").await.refused(429, "rate_limited");
    other.get("/v1/agents").await.expect(200);
    for _ in 0..3 {
        world.get("/v1/agents").await;
    }
    world.fetch("/v1/agents").await.refused(429, "rate_limited");
    other.get("/v1/agents").await.expect(200);
}

#[tokio::test]
async fn idempotency_keys_are_each_persons_own() {
    let world = World::bare().await;
    world.number("+918045679999").await;
    let (one, other) = (world.member(Role::Admin).await, world.member(Role::Admin).await);
    let agent = world.agent(&json!({"systemPrompt": "You are Asha."})).await;
    let body = json!({"agentId": agent, "toNumber": "+919812345678"}).to_string();
    let send = async |by: &Member| {
        let headers = [SAME_ORIGIN, ("idempotency-key", "one")];
        let by = by.in_test_mode();
        by.send("POST", "/v1/calls", &headers, body.clone().into()).await.expect(200)["interactionId"].clone()
    };
    let first = send(&one).await;
    assert_eq!(first, send(&one).await);
    assert_ne!(first, send(&other).await);
}

/// A proxy tells the addresses of clients.
async fn behind_a_proxy() -> World {
    World::bare_with(|config| {
        config.network = dastak::config::Network::parse(&["127.0.0.1".to_owned()]).unwrap();
    })
    .await
}

#[tokio::test]
async fn strangers_who_guess_keep_nobody_out_but_themselves() {
    let world = behind_a_proxy().await;
    with_password(&world, "asha@example.com", "viewer").await;
    with_password(&world, "ravi@example.com", "viewer").await;
    let from = |address: &'static str| [("x-forwarded-for", address)];
    let laptop = cookies(&sign_in_with(&world, &from("192.0.2.1"), "asha@example.com", PASSWORD).await);
    let device = laptop.split("; ").find(|pair| pair.contains("-device=")).unwrap();
    // Each from an address of its own.
    let mut answers = Vec::new();
    for number in 0..200 {
        let address = format!("203.0.113.{number}");
        let headers = [("x-forwarded-for", address.as_str())];
        let answer =
            sign_in_with(&world, &headers, "asha@example.com", &format!("guess number {number}")).await;
        answers.push(answer.status);
    }
    let wrong = answers.iter().filter(|status| **status == 401).count();
    assert_eq!((wrong, answers.len() - wrong), (10, 190), "only ten passwords were looked at: {answers:?}");
    // Somewhere new the right password waits, too, but not on a device that has signed in before.
    let refused = sign_in_with(&world, &from("198.51.100.1"), "asha@example.com", PASSWORD).await;
    assert_eq!(refused.header("retry-after"), Some("60"));
    refused.refused(429, "rate_limited");
    let known = [("x-forwarded-for", "198.51.100.1"), ("cookie", device)];
    sign_in_with(&world, &known, "asha@example.com", PASSWORD).await.expect(200);
    sign_in_with(&world, &from("203.0.113.7"), "ravi@example.com", PASSWORD).await.expect(200);
    // The mark of one account is none of another, nor may it be made up.
    for mark in [device.to_owned(), format!("{}x", device)] {
        let forged = [("x-forwarded-for", "198.51.100.2"), ("cookie", mark.as_str())];
        let email = if mark == device { "ravi@example.com" } else { "asha@example.com" };
        let answer = sign_in_with(&world, &forged, email, "guess number 1").await;
        assert_eq!(answer.status, if mark == device { 401 } else { 429 }, "{mark}");
    }
    world.advance(60).await;
    sign_in_with(&world, &from("198.51.100.1"), "asha@example.com", PASSWORD).await.expect(200);
}

#[tokio::test]
async fn one_address_cannot_try_many_accounts() {
    let world = behind_a_proxy().await;
    with_password(&world, "asha@example.com", "viewer").await;
    let mut looked_at = 0;
    for number in 0..120 {
        let address = format!("2001:db8::{number:x}");
        let headers = [("x-forwarded-for", address.as_str())];
        let email = format!("person{number}@example.com");
        looked_at += usize::from(sign_in_with(&world, &headers, &email, "password123").await.status == 401);
    }
    assert_eq!(looked_at, 50);
    let elsewhere = [("x-forwarded-for", "192.0.2.1")];
    sign_in_with(&world, &elsewhere, "asha@example.com", PASSWORD).await.expect(200);
}

#[tokio::test]
async fn what_a_browser_says_of_itself_is_one_short_line() {
    let world = World::bare().await;
    with_password(&world, "asha@example.com", "viewer").await;
    let agent = format!("Mozilla\t\u{1b}[31m {}", "x".repeat(500));
    let agent: String = agent.chars().filter(|letter| *letter != '\u{1b}').collect();
    let answer = sign_in_with(&world, &[("user-agent", &agent)], "asha@example.com", PASSWORD).await;
    let cookie = cookies(&answer);
    let headers = [("cookie", cookie.as_str())];
    let sessions =
        world.send("GET", "/console/api/me/sessions", None, &headers, Bytes::new()).await.list(200);
    let shown = sessions[0]["userAgent"].as_str().unwrap();
    assert!(shown.len() <= 200 && shown.starts_with("Mozilla[31m x"), "{shown}");
    let body = json!({"name": "Asha\r\nlevel=ERROR forged\u{202e}"}).to_string();
    let headers = [("cookie", cookie.as_str()), SAME_ORIGIN];
    let shown = world.send("PATCH", "/console/api/me", None, &headers, body.into()).await.data(200);
    assert_eq!(shown["name"], "Ashalevel=ERROR forged");
    let nothing = json!({"name": "\u{202e}\n"}).to_string();
    world.send("PATCH", "/console/api/me", None, &headers, nothing.into()).await.invalid_field("name");
}

#[tokio::test]
async fn a_flood_of_guesses_holds_nobody_up_who_has_signed_in_here_before() {
    let world = behind_a_proxy().await;
    with_password(&world, "asha@example.com", "viewer").await;
    let laptop = cookies(&sign_in(&world, "asha@example.com", PASSWORD).await);
    let device = laptop.split("; ").find(|pair| pair.contains("-device=")).unwrap();
    // Each for another account, from another address, all at the same moment.
    let guesses = (0..300).map(|number| {
        let world = &world;
        async move {
            let address = format!("203.0.{}.{}", number / 250, number % 250);
            let headers = [("x-forwarded-for", address.as_str())];
            sign_in_with(world, &headers, &format!("person{number}@example.com"), "password123").await
        }
    });
    let known = [("x-forwarded-for", "192.0.2.1"), ("cookie", device)];
    let (answers, own) = tokio::join!(
        futures_util::future::join_all(guesses),
        sign_in_with(&world, &known, "asha@example.com", PASSWORD)
    );
    own.expect(200);
    for answer in answers {
        assert!(answer.status == 401 || answer.status == 503, "{}", answer.text);
        if answer.status == 503 {
            assert_eq!(
                answer.header("retry-after"),
                Some("2"),
                "it was refused before anything was computed"
            );
        }
    }
}
