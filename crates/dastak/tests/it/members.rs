//! Members, invitations and sign-in links (docs/contract/members.md#members).

use bytes::Bytes;
use domain::tenant::Role;
use serde_json::{Value, json};

use crate::app::{Answer, TestApp};
use crate::world::{Member, SAME_ORIGIN, World};

const PASSWORD: &str = "correct horse battery";

/// What a browser without a session sends from a page of the service.
async fn post(app: &TestApp, path: &str, body: &Value) -> Answer {
    app.send("POST", path, None, &[SAME_ORIGIN], body.to_string().into()).await
}

fn token(url: &Value) -> String {
    url.as_str().unwrap().split_once('#').expect("a token").1.to_owned()
}

async fn accept(app: &TestApp, token: &str, more: Value) -> Answer {
    let body = crate::world::with(json!({"token": token}), &more);
    post(app, "/console/api/invitations/accept", &body).await
}

async fn use_link(app: &TestApp, token: &str, more: Value) -> Answer {
    let body = crate::world::with(json!({"token": token}), &more);
    post(app, "/console/api/sign-in/link", &body).await
}

/// A session of what an answer signed in.
async fn me(app: &TestApp, answer: &Answer) -> Answer {
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    app.send("GET", "/console/api/me", None, &[("cookie", &cookie)], Bytes::new()).await
}

async fn invite(by: &Member, email: &str, role: &str) -> Value {
    by.post("/v1/members/invitations", &json!({"email": email, "role": role})).await.data(201)
}

async fn link(app: &TestApp, body: Value) -> Value {
    app.operator("POST", "/sign-in-links", &body).await.data(201)
}

async fn roles(by: &Member) -> Vec<(String, String)> {
    let listed = by.get("/v1/members").await.list(200);
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let mut rows: Vec<_> = listed.iter().map(|row| (text(row, "email"), text(row, "role"))).collect();
    rows.sort();
    rows
}

#[tokio::test]
async fn an_invitation_is_accepted_once() {
    let world = World::bare().await;
    let admin = world.member(Role::Admin).await;
    let made = invite(&admin, " Ravi@Example.com ", "editor").await;
    assert_eq!((&made["email"], &made["mailed"]), (&json!("ravi@example.com"), &json!(false)));
    let listed = admin.get("/v1/members/invitations").await.list(200);
    assert!(listed.len() == 1 && listed[0].get("url").is_none(), "{listed:?}");
    let token = token(&made["url"]);
    accept(&world, &token, json!({"password": PASSWORD})).await.invalid_field("name");
    accept(&world, &token, json!({"name": "Ravi"})).await.invalid_field("password");
    let answer = accept(&world, &token, json!({"name": "Ravi", "password": PASSWORD})).await;
    let shown = me(&world, &answer).await.data(200);
    let at = &shown["memberships"][0];
    assert_eq!((&at["workspaceId"], &at["role"]), (&json!(world.workspace.id), &json!("editor")));
    accept(&world, &token, json!({"name": "Mallory", "password": PASSWORD}))
        .await
        .refused(403, "invitation_invalid");
    assert!(admin.get("/v1/members/invitations").await.list(200).is_empty());
    let taken = json!({"email": "ravi@example.com", "role": "viewer"});
    admin.post("/v1/members/invitations", &taken).await.conflict();
}

#[tokio::test]
async fn an_invitation_ends_by_time_by_a_newer_one_and_with_its_inviter() {
    let world = World::bare().await;
    let (owner, admin) = (world.member(Role::Owner).await, world.member(Role::Admin).await);
    let gone = |token: String| {
        let world = &world;
        async move {
            let who = json!({"name": "Ravi", "password": PASSWORD});
            accept(world, &token, who).await.refused(403, "invitation_invalid");
        }
    };
    let old = invite(&admin, "ravi@example.com", "editor").await;
    let new = invite(&owner, "ravi@example.com", "viewer").await;
    gone(token(&old["url"])).await;
    let id = new["id"].as_str().unwrap();
    assert_eq!(owner.delete(&format!("/v1/members/invitations/{id}")).await.status, 204);
    owner.delete(&format!("/v1/members/invitations/{id}")).await.not_found();
    gone(token(&new["url"])).await;
    let by_admin = invite(&admin, "ravi@example.com", "editor").await;
    owner.patch(&format!("/v1/members/{}", admin.id), &json!({"role": "editor"})).await.expect(200);
    gone(token(&by_admin["url"])).await;
    let late = invite(&owner, "ravi@example.com", "editor").await;
    world.advance(7 * 86_400).await;
    gone(token(&late["url"])).await;
}

/// An admin knows the links that it makes. They must not open accounts of others.
#[tokio::test]
async fn an_invitation_is_no_way_into_an_account() {
    let world = World::bare().await;
    let (victim, other) = (world.member(Role::Owner).await, world.neighbour().await);
    let mallory = other.member(Role::Admin).await;
    let made = invite(&mallory, &victim.email, "viewer").await;
    let mine = json!({"name": "Mallory", "password": "mallory's own"});
    accept(&other, &token(&made["url"]), mine.clone()).await.refused(401, "sign_in_failed");
    // Who is signed in as somebody else is not the one who is invited.
    let headers = [SAME_ORIGIN];
    let body = json!({"token": token(&made["url"])}).to_string();
    mallory
        .send("POST", "/console/api/invitations/accept", &headers, body.clone().into())
        .await
        .invalid_field("password");
    let joined =
        victim.send("POST", "/console/api/invitations/accept", &headers, body.into()).await.data(200);
    assert_eq!(joined["memberships"].as_array().unwrap().len(), 2);

    // Nor an account of an address that was never proven into another workspace.
    let made = invite(&mallory, "boss@example.com", "viewer").await;
    let session = accept(&other, &token(&made["url"]), mine).await;
    me(&other, &session).await.expect(200);
    let boss = json!({"email": "boss@example.com", "name": "Boss", "role": "owner"});
    world.operator("POST", "/members", boss).await.conflict();
    let made = link(
        &world,
        json!({"email": "boss@example.com", "workspaceId": world.workspace.id, "role": "owner"}),
    )
    .await;
    me(&other, &session).await.refused(401, "unauthorized");
    let shown = use_link(&world, &token(&made["url"]), json!({"password": PASSWORD})).await.data(200);
    let at = shown["memberships"].as_array().unwrap();
    assert!(at.len() == 1 && at[0]["workspaceId"] == json!(world.workspace.id), "{shown}");
}

#[tokio::test]
async fn a_link_signs_in_once_and_sets_a_password() {
    let world = World::bare().await;
    let member = world.member(Role::Viewer).await;
    let first = link(&world, json!({"email": member.email})).await;
    let second = link(&world, json!({"email": member.email})).await;
    use_link(&world, &token(&first["url"]), json!({})).await.refused(403, "sign_in_link_invalid");
    use_link(&world, &token(&second["url"]), json!({"password": "short"})).await.invalid_field("password");
    let answer = use_link(&world, &token(&second["url"]), json!({})).await;
    assert_eq!(me(&world, &answer).await.data(200)["id"], json!(member.person));
    use_link(&world, &token(&second["url"]), json!({})).await.refused(403, "sign_in_link_invalid");
    member.get("/v1/agents").await.expect(200);

    let third = link(&world, json!({"email": member.email})).await;
    use_link(&world, &token(&third["url"]), json!({"password": PASSWORD})).await.expect(200);
    member.get("/v1/agents").await.refused(401, "unauthorized");
    let body = json!({"email": member.email, "password": PASSWORD});
    post(&world, "/console/api/sign-in", &body).await.expect(200);
    let late = link(&world, json!({"email": member.email})).await;
    world.advance(15 * 60).await;
    use_link(&world, &token(&late["url"]), json!({})).await.refused(403, "sign_in_link_invalid");
}

#[tokio::test]
async fn a_stolen_link_used_at_the_same_moment_opens_once() {
    let world = World::bare().await;
    let member = world.member(Role::Owner).await;
    let made = link(&world, json!({"email": member.email})).await;
    let token = token(&made["url"]);
    let uses = (0..8).map(|_| use_link(&world, &token, json!({})));
    let answers = futures_util::future::join_all(uses).await;
    let opened = answers.iter().filter(|answer| answer.status == 200).count();
    let refused = answers.iter().filter(|answer| answer.status == 403).count();
    assert_eq!((opened, refused), (1, 7));

    let made = invite(&member, "ravi@example.com", "editor").await;
    let token = made["url"].as_str().unwrap().split_once('#').unwrap().1.to_owned();
    let who = json!({"name": "Ravi", "password": PASSWORD});
    let accepts = (0..4).map(|_| accept(&world, &token, who.clone()));
    let answers = futures_util::future::join_all(accepts).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
}

#[tokio::test]
async fn the_first_owner_comes_by_a_link() {
    let world = World::bare().await;
    let workspace = &world.workspace.id;
    let wanted =
        json!({"email": "asha@example.com", "workspaceId": workspace, "role": "owner", "operator": true});
    let made = link(&world, wanted).await;
    assert!(made["url"].as_str().unwrap().starts_with(&format!("{}/console/link#", world.url)));
    let shown = use_link(&world, &token(&made["url"]), json!({"password": PASSWORD})).await.data(200);
    assert_eq!((&shown["name"], &shown["operator"]), (&json!("asha"), &json!(true)));
    assert_eq!(shown["memberships"][0]["role"], "owner");
    for (wrong, field) in [
        (json!({"email": "asha"}), "email"),
        (json!({"email": "a@example.com", "role": "owner"}), "workspaceId"),
        (json!({"email": "a@example.com", "workspaceId": workspace}), "role"),
    ] {
        world.app.operator("POST", "/sign-in-links", &wrong).await.invalid_field(field);
    }
    let nowhere =
        json!({"email": "a@example.com", "workspaceId": "ws_01k9v5x2m8e6fs4v0q3n7w1y3b", "role": "owner"});
    world.app.operator("POST", "/sign-in-links", &nowhere).await.not_found();
}

#[tokio::test]
async fn only_owners_make_owners_and_one_stays() {
    let world = World::bare().await;
    let (owner, admin) = (world.member(Role::Owner).await, world.member(Role::Admin).await);
    let editor = world.member(Role::Editor).await;
    let role = |role: &str| json!({"role": role});
    let path = |member: &Member| format!("/v1/members/{}", member.id);
    let refused = admin.patch(&path(&editor), &role("owner")).await.refused(403, "role_missing");
    assert_eq!(refused["meta"]["role"], "owner");
    admin.patch(&path(&admin), &role("owner")).await.refused(403, "role_missing");
    admin.patch(&path(&owner), &role("viewer")).await.refused(403, "role_missing");
    admin.delete(&path(&owner)).await.refused(403, "role_missing");
    let by_owner = json!({"email": "ravi@example.com", "role": "owner"});
    admin.post("/v1/members/invitations", &by_owner).await.refused(403, "role_missing");
    owner.patch(&path(&owner), &role("admin")).await.conflict();
    owner.delete(&path(&owner)).await.conflict();
    // It takes effect with the next request.
    editor.get("/v1/members/invitations").await.refused(403, "role_missing");
    admin.patch(&path(&editor), &role("admin")).await.expect(200);
    editor.get("/v1/members/invitations").await.expect(200);
    owner.patch(&path(&admin), &role("owner")).await.expect(200);
    owner.patch(&path(&owner), &role("viewer")).await.expect(200);
    owner.get("/v1/members/invitations").await.refused(403, "role_missing");
    let foreign = world.neighbour().await.member(Role::Owner).await;
    admin.patch(&path(&foreign), &role("viewer")).await.not_found();
}

#[tokio::test]
async fn a_removed_member_is_out_at_once_and_keeps_its_id() {
    let world = World::bare().await;
    let (owner, editor) = (world.member(Role::Owner).await, world.member(Role::Editor).await);
    editor.get("/v1/agents").await.expect(200);
    assert_eq!(owner.delete(&format!("/v1/members/{}", editor.id)).await.status, 204);
    editor.get("/v1/agents").await.not_found();
    assert!(editor.get("/console/api/me").await.data(200)["memberships"].as_array().unwrap().is_empty());
    assert_eq!(roles(&owner).await, [(owner.email.clone(), "owner".to_owned())]);
    assert_eq!(world.add_member(&editor.email, "viewer").await, editor.id);
    editor.get("/v1/agents").await.expect(200);
    editor.post("/v1/agents", &json!({"name": "Asha"})).await.refused(403, "role_missing");
}

/// Two owners who demote each other at the same moment, and an admin who is demoted while making an owner.
#[tokio::test]
async fn a_race_raises_nobody_and_leaves_an_owner() {
    let world = World::bare().await;
    for round in 0..6 {
        let here = world.neighbour().await;
        let (one, other) = (here.member(Role::Owner).await, here.member(Role::Owner).await);
        let accomplice = here.member(Role::Editor).await;
        let path = |member: &Member| format!("/v1/members/{}", member.id);
        let (viewer, owner) = (json!({"role": "viewer"}), json!({"role": "owner"}));
        let paths = (path(&other), path(&one), path(&accomplice));
        let (down, back, up) = tokio::join!(
            one.patch(&paths.0, &viewer),
            other.patch(&paths.1, &viewer),
            other.patch(&paths.2, &owner),
        );
        let stored = here.operator("GET", "/members", Value::Null).await.list(200);
        let owners = stored.iter().filter(|row| row["role"] == "owner").count();
        assert!(owners >= 1, "round {round}: {stored:?}");
        let both = down.status == 200 && back.status == 200;
        assert!(!both || up.status == 200, "both were demoted, so there was a third owner: {stored:?}");
        for answer in [&down, &back, &up] {
            assert!([200, 403, 404, 409].contains(&answer.status), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn a_password_of_a_person_is_never_replaced_by_adding_a_member() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    let body = |password: &str| json!({"email": "asha@example.com", "name": "Asha", "role": "viewer", "password": password});
    world.operator("POST", "/members", body(PASSWORD)).await.expect(201);
    other.operator("POST", "/members", body("another horse")).await.conflict();
    other.operator("POST", "/members", body(PASSWORD)).await.expect(201);
    let sign_in = json!({"email": "asha@example.com", "password": PASSWORD});
    let shown = post(&world, "/console/api/sign-in", &sign_in).await.data(200);
    assert_eq!(shown["memberships"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_page_of_a_link_runs_nothing_but_its_own_script() {
    let world = World::bare().await;
    for path in ["/console/link", "/console/invitation", "/console/link.js", "/console/link.css"] {
        let page = world.send("GET", path, None, &[], Bytes::new()).await;
        let policy = page.header("content-security-policy").unwrap();
        for part in
            ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "trusted-types reader"]
        {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert!(!page.text.contains("<script>") && !page.text.contains("style="), "nothing is inline");
    }
}

#[tokio::test]
async fn what_is_over_is_deleted() {
    let world = World::bare().await;
    let owner = world.member(Role::Owner).await;
    invite(&owner, "ravi@example.com", "editor").await;
    link(&world, json!({"email": owner.email})).await;
    world.advance(60 * 86_400).await;
    for table in ["sessions", "invitations", "sign_in_links"] {
        let count = format!("select count(*) from {table}");
        let left = world.stored(move |tx: &mut store::Tx<'_>| tx.one::<i64>(&count, &[])).await;
        assert_eq!(left, Some(0), "{table}");
    }
}
