//! Requests of many workspaces at the same moment: on a shared store they share transactions, and each is decided on as if it
//! were alone (docs/operating/many-nodes.md).

use std::sync::Arc;

use domain::tenant::Tenant;
use domain::time::{HOUR, MINUTE, Timestamp};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::app::{Answer, TestApp, needs_postgres};
use crate::do_not_call::opt_outs;
use crate::holder::Holder;
use crate::world::{self, World};

/// Workspaces of one service with an agent each, at noon.
pub async fn open(count: usize) -> Vec<World> {
    // A test holds one connection, a request that waits for it occupies another, and others need more.
    let mut offices = vec![World::bare_with(|config| config.database_connections = 4).await];
    while offices.len() < count {
        offices.push(offices[0].neighbour().await);
    }
    for office in &mut offices {
        office.agent = office.agent(&json!({})).await;
    }
    offices[0].set_clock(&world::noon_after(&offices[0].now().await).to_string()).await;
    offices
}

/// Sends requests at once, each with a key, an `Idempotency-Key` and a body; the answers in the order of the requests.
pub async fn at_once(
    app: &Arc<TestApp>,
    path: &'static str,
    requests: Vec<(String, String, Value)>,
) -> Vec<Answer> {
    let mut tasks = JoinSet::new();
    for (place, (key, once, body)) in requests.into_iter().enumerate() {
        let app = app.clone();
        tasks.spawn(
            async move { (place, app.post_with(&key, path, &[("idempotency-key", &once)], &body).await) },
        );
    }
    let mut answers = tasks.join_all().await;
    answers.sort_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_many_workspaces_at_once_are_decided_on_as_if_each_were_alone() {
    const LISTED: &str = "+919812300102";
    let offices = open(6).await;
    let app = &offices[0].app;
    offices[1].post("/v1/dnc", &json!({"phones": [LISTED]})).await.expect(200);
    offices[2].change(&json!({"kybVerified": true, "limits": {"concurrentCalls": 1}})).await;
    let call = |agent: &str, to: &str| json!({"agentId": agent, "toNumber": to});
    let mut requests = Vec::new();
    for World { workspace, agent, .. } in &offices {
        // The same numbers and the same keys in all of them.
        for (place, to) in ["+919812300101", LISTED].iter().enumerate() {
            requests.push((workspace.live.clone(), format!("k{place}"), call(agent, to)));
            requests.push((workspace.test.clone(), format!("k{place}"), call(agent, to)));
        }
        // An agent of somebody else.
        requests.push((workspace.live.clone(), "k9".into(), call(&offices[0].agent, "+919812300109")));
    }
    let answers = at_once(app, "/v1/calls", requests.clone()).await;
    let mut placed = vec![0; offices.len()];
    for (place, answer) in answers.into_iter().enumerate() {
        let (office, kind) = (place / 5, place % 5);
        match (office, kind) {
            // Kept from being called by the list of its own workspace only.
            (1, 2) => drop(answer.refused(422, "call_blocked")),
            (0, 4) => placed[0] += 1,
            (_, 4) => drop(answer.not_found()),
            // Of two live calls one has the only line.
            (2, 0 | 2) if answer.status != 200 => drop(answer.refused(429, "concurrency_limit")),
            _ => {
                answer.expect(200);
                placed[office] += i64::from(kind != 1 && kind != 3);
            }
        }
    }
    assert_eq!(placed, [3, 1, 1, 2, 2, 2]);
    for (office, placed) in offices.iter().zip(placed) {
        let held = (1_000_000, placed * 600);
        assert_eq!(office.wallet().await, held, "each call holds a minute of its own wallet");
        for (key, world) in [(office.live(), "live"), (office.test(), "test")] {
            let verified = app.get(key, "/v1/audit/verify").await.data(200);
            assert_eq!(verified["verified"], true, "{world}: {verified}");
        }
        let listed = app.get(office.test(), "/v1/calls").await.expect(200);
        assert_eq!(listed["data"].as_array().unwrap().len(), 2);
    }
    // The same requests again are given the same answers, and nobody is called again.
    for (place, answer) in at_once(app, "/v1/calls", requests).await.into_iter().enumerate() {
        if answer.status == 200 {
            let first = answer.header("idempotent-replayed") != Some("true");
            assert!(!first || place / 5 == 2, "{place}: a repeat was called anew");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn opt_outs_of_many_workspaces_at_once_go_to_their_own_lists() {
    let offices = open(5).await;
    let shared = "+919812300201";
    for office in &offices[..2] {
        let person = json!({"externalRef": "p", "phone": shared});
        office.post("/v1/contacts", &person).await.expect(201);
    }
    let mut requests = Vec::new();
    for (place, office) in offices.iter().enumerate() {
        let own = format!("+91981230030{place}");
        let (both, one) = (json!({"phones": [shared, own], "reason": "asked"}), json!({"phones": [shared]}));
        requests.push((office.live().to_owned(), "a".into(), both));
        requests.push((office.live().to_owned(), "b".into(), one));
    }
    let answers = at_once(&offices[0].app, "/v1/dnc", requests).await;
    let counts: Vec<(i64, i64)> = answers
        .into_iter()
        .map(|answer| {
            let data = answer.data(200);
            (data["added"].as_i64().unwrap(), data["alreadyListed"].as_i64().unwrap())
        })
        .collect();
    for (place, office) in offices.iter().enumerate() {
        let (one, other) = (counts[place * 2], counts[place * 2 + 1]);
        assert_eq!((one.0 + other.0, one.1 + other.1), (2, 1), "{place}: a number is new once");
        let list = office.get("/v1/dnc").await;
        assert_eq!(list["total"], 2, "{list}");
        let told = opt_outs(office).await.len();
        assert_eq!(told, usize::from(place < 2), "{place}: the person of this workspace is told of once");
    }
}

/// Somebody who holds a workspace, with the turn at its dials or without.
async fn hold(world: &World, turn: bool) -> Holder {
    let tenant: Tenant = world.tenant();
    let take = move |tx: &mut store::Tx<'_>| {
        if turn {
            store::dial_locks::try_lock(tx, &[tenant])?;
        }
        store::workspaces::get_for_update(&mut tx.of(tenant)).map(drop)
    };
    // Fails, and the transaction runs again, if the server has taken the workspace away.
    let last = move |tx: &mut store::Tx<'_>| {
        tx.exec("update workspaces set name = name where id = ?1", store::params![tenant]).map(drop)
    };
    Holder::of(world, take, last).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_is_held_holds_no_other_up_on_postgres() {
    needs_postgres();
    let offices = open(3).await;
    let app = &offices[0].app;
    let holder = hold(&offices[0], false).await;
    let place = |office: usize| {
        let (app, key) = (app.clone(), offices[office].live().to_owned());
        let body = offices[office].order("+919812300101", &json!({}));
        tokio::spawn(async move { app.post(&key, "/v1/calls", &body).await })
    };
    let first = place(0);
    app.until_one_waits_for_a_lock().await;
    let (one, other) = (place(1), place(2));
    one.await.unwrap().expect(200);
    other.await.unwrap().expect(200);
    holder.end().await;
    first.await.unwrap().expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dialler_passes_over_a_workspace_that_another_node_is_dialling_for_on_postgres() {
    needs_postgres();
    let offices = open(2).await;
    let app = &offices[0].app;
    let noon = Timestamp::parse(&app.now().await).unwrap();
    for office in &offices {
        office.nudge("+919812300401", &json!({"scheduledAt": noon.plus(MINUTE)})).await;
    }
    let dialled = async || (offices[0].calls().await.len(), offices[1].calls().await.len());
    let holder = hold(&offices[0], true).await;
    app.advance(61).await;
    assert_eq!(dialled().await, (0, 1));
    holder.end().await;
    app.advance(1).await;
    assert_eq!(dialled().await, (1, 1));

    // The same for campaigns.
    let start = noon.plus(24 * HOUR);
    for office in &offices {
        let id = office.draft(&json!({"startAt": start}), &["+919812300402"]).await;
        office.set_status(&id, "active").await.expect(200);
    }
    app.set_clock(&start.plus(-MINUTE).to_string()).await;
    let holder = hold(&offices[0], true).await;
    app.advance(61).await;
    assert_eq!(dialled().await, (1, 2));
    holder.end().await;
    app.advance(1).await;
    assert_eq!(dialled().await, (2, 2));
}
