//! What each role may call (docs/contract/members.md#roles), walked over the whole table of operations.

use api::operations::{self, Access, Method, Operation};
use bytes::Bytes;
use domain::tenant::Role;
use serde_json::json;

use crate::app::Answer;
use crate::world::{Member, SAME_ORIGIN, World};

/// The path with the workspace, and every other parameter replaced by an id that exists nowhere.
fn path_of(operation: &Operation, workspace: &str) -> String {
    let part = |part: &str| match part {
        "{ws}" => workspace.to_owned(),
        _ if part.starts_with('{') => "none_00000000000000000000000000".to_owned(),
        _ => part.to_owned(),
    };
    operation.path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// Rows that a member may call from a role on: below a workspace, or with a workspace in the path.
fn rows() -> impl Iterator<Item = (&'static Operation, Role)> {
    operations::all().filter_map(|operation| Some((operation, operation.least_role()?)))
}

/// Whether the row answers for as long as the client listens.
fn streams(operation: &Operation) -> bool {
    operation.content_type == Some("text/event-stream")
}

struct Asked<'a> {
    operation: &'static Operation,
    member: &'a Member,
}

impl Asked<'_> {
    async fn with(&self, headers: &[(&str, &str)]) -> Answer {
        let path = path_of(self.operation, &self.member.workspace);
        self.member.send(self.operation.method.as_str(), &path, headers, Bytes::new()).await
    }

    async fn on_own_page(&self) -> Answer {
        self.with(&[SAME_ORIGIN]).await
    }
}

fn is_refused_for_its_role(answer: &Answer) -> bool {
    answer.status == 403 && answer.json["code"] == "role_missing"
}

#[tokio::test]
async fn each_role_may_call_what_its_row_says() {
    let world = World::bare().await;
    let mut members = Vec::new();
    for role in Role::ALL {
        members.push(world.member(*role).await);
    }
    let mut seen = 0;
    for (operation, least) in rows() {
        for member in &members {
            let asked = Asked { operation, member };
            if member.role < least {
                let refused = asked.on_own_page().await.refused(403, "role_missing");
                assert_eq!(refused["meta"]["role"], least.as_str(), "{}", operation.id);
                assert!(!refused["meta"]["admins"].as_array().unwrap().is_empty(), "{refused}");
            } else if !streams(operation) {
                let answer = asked.on_own_page().await;
                let outside = answer.status == 401 || answer.json["code"] == "cross_site";
                let let_in = !outside && !is_refused_for_its_role(&answer);
                assert!(let_in, "{} as {}: {}", operation.id, member.role, answer.text);
            }
            seen += 1;
        }
    }
    assert!(seen > 300, "the table was walked: {seen}");
}

#[tokio::test]
async fn no_row_opens_to_strangers_of_the_workspace_or_of_the_page() {
    let world = World::bare().await;
    let (neighbour, owner) = (world.neighbour().await, world.member(Role::Owner).await);
    let stranger = Member { workspace: neighbour.workspace.id.clone(), ..owner.clone() };
    let revoked = owner.another_session().await;
    owner.delete("/console/api/me/sessions").await.expect(200);
    for (operation, _) in rows() {
        let (method, plain) = (operation.method.as_str(), path_of(operation, &world.workspace.id));
        Asked { operation, member: &stranger }.on_own_page().await.not_found();
        Asked { operation, member: &revoked }.on_own_page().await.refused(401, "unauthorized");
        // It is moved on so that the throttle forgets what this test gets wrong on purpose.
        world.advance(120).await;
        let by_cookie = [("cookie", owner.cookie.as_str()), SAME_ORIGIN];
        world.send(method, &plain, None, &by_cookie, Bytes::new()).await.refused(401, "unauthorized");
        let by_key = world.send(method, &owner.path(&plain), Some(world.live()), &[], Bytes::new()).await;
        by_key.refused(401, "unauthorized");
        if operation.access == Access::Member {
            let by_key = world.send(method, &plain, Some(world.live()), &[], Bytes::new()).await;
            by_key.refused(401, "unauthorized");
        }
        for site in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")] {
            if operation.method != Method::GET || site.0 == "sec-fetch-site" {
                Asked { operation, member: &owner }.with(&[site]).await.refused(403, "cross_site");
            }
        }
        if operation.method != Method::GET {
            Asked { operation, member: &owner }.with(&[]).await.refused(403, "cross_site");
        }
    }
}

#[tokio::test]
async fn rows_without_a_role_are_the_operators_or_none() {
    let world = World::bare().await;
    let owner = world.member(Role::Owner).await;
    let operator = world.member(Role::Viewer).await;
    let person = operator.person.parse().unwrap();
    let access_changes = world.app().access_changes();
    world
        .store(move |tx| {
            store::people::set_operator(tx, person, true)?;
            access_changes(tx)
        })
        .await;
    for operation in operations::all().filter(|operation| operation.access == Access::Operator) {
        if operation.least_role().is_none() {
            Asked { operation, member: &owner }.on_own_page().await.not_found();
        }
        // It would take this node out of service.
        if operation.id != "drain" && !streams(operation) {
            let answer = Asked { operation, member: &operator }.on_own_page().await;
            let let_in = ![401, 403].contains(&answer.status);
            assert!(let_in, "{}: {}", operation.id, answer.text);
        }
        let foreign = [("sec-fetch-site", "cross-site")];
        Asked { operation, member: &operator }.with(&foreign).await.refused(403, "cross_site");
        // A person's requests outside of workspaces have a limit of their own.
        world.advance(60).await;
    }
    let log = operator.get("/operator/v1/workspaces").await.list(200);
    assert_eq!(log[0]["id"], json!(world.workspace.id));
    // What takes neither a key nor a member is not below a workspace.
    for path in ["/v1/openapi.json", "/v1/me", "/healthz"] {
        owner.get(&format!("/console/api/{}/live{path}", owner.workspace)).await.not_found();
    }
}

/// An admin makes keys, but none that may do more than an admin.
#[tokio::test]
async fn a_key_may_not_do_more_than_the_role_of_its_maker() {
    let world = World::bare().await;
    let (admin, owner) = (world.member(Role::Admin).await, world.member(Role::Owner).await);
    let path = format!("/operator/v1/workspaces/{}/keys", world.workspace.id);
    let key = |scopes: serde_json::Value| json!({"name": "ours", "mode": "live", "scopes": scopes});
    for scopes in [json!("all"), json!(["contacts:read", "contacts:erase"])] {
        let refused = admin.post(&path, &key(scopes.clone())).await.refused(403, "role_missing");
        assert_eq!(refused["meta"]["role"], "owner");
        owner.post(&path, &key(scopes)).await.expect(201);
    }
    let made = admin.post(&path, &key(json!(["contacts:read"]))).await.data(201);
    world.app.get(made["key"].as_str().unwrap(), "/v1/contacts").await.expect(200);
}

/// Endpoints are an admin's (docs/contract/members.md), with all that is sent to them.
#[test]
fn what_changes_or_sends_to_endpoints_takes_an_admin() {
    let changes = rows().filter(|(operation, _)| {
        operation.path.starts_with("/v1/webhooks") && operation.method != Method::GET
    });
    let least: Vec<(&str, Role)> = changes.map(|(operation, least)| (operation.id, least)).collect();
    assert!(least.iter().any(|(id, _)| *id == "replayFailedDeliveries"), "{least:?}");
    assert!(least.iter().all(|(_, role)| *role == Role::Admin), "{least:?}");
}
