//! Nudges that many workspaces ask for at the same moment: on a shared store they are accepted in one transaction, and each
//! meets only what its own workspace has (docs/contract/nudges.md).

use domain::tenant::{Mode, Tenant};
use domain::time::{HOUR, Timestamp};
use serde_json::{Value, json};

use crate::app::{Answer, TestApp, needs_postgres};
use crate::holder::Holder;
use crate::many_workspaces::{at_once, open};
use crate::world::World;

/// A person whom one workspace knows, and the others do not.
const KNOWN: &str = "+919812300501";
/// A person whom nobody knows.
const STRANGER: &str = "+919812300502";
/// A number on the do-not-call list of one workspace.
const LISTED: &str = "+919812300503";
/// A number to which one workspace has a live nudge.
const BUSY: &str = "+919812300504";

/// The workspace that knows [`KNOWN`].
const KNOWS: usize = 0;
/// The workspace that has [`LISTED`] on its list.
const LISTS: usize = 1;
/// The workspace with a live nudge to [`BUSY`].
const NUDGES: usize = 2;
/// The workspace whose queue is full.
const FULL: usize = 3;
/// Workspaces.
const OFFICES: usize = 4;

/// What each workspace asks for, the same in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The flow needs a variable, which only the saved contact has.
    Known,
    /// The same in the world of tests, which sees live contacts, too.
    KnownInTests,
    Stranger,
    Listed,
    Busy,
    /// By an agent of another workspace.
    ForeignAgent,
    /// From a number of another workspace.
    ForeignNumber,
}

const KINDS: [Kind; 7] = [
    Kind::Known,
    Kind::KnownInTests,
    Kind::Stranger,
    Kind::Listed,
    Kind::Busy,
    Kind::ForeignAgent,
    Kind::ForeignNumber,
];

/// How many nudges wait in the queues of a workspace, live and test.
async fn pending(world: &World) -> (i64, i64) {
    let tenant: Tenant = world.tenant();
    let read = move |tx: &mut store::Tx<'_>| {
        let mut of =
            |mode| store::nudges::pending_in(&mut tx.of(tenant), mode).map(Option::unwrap_or_default);
        Ok::<_, store::DbError>((of(Mode::Live)?, of(Mode::Test)?))
    };
    world.stored(read).await
}

/// Whether one transaction has accepted nudges of several workspaces.
async fn shared(app: &TestApp) -> bool {
    let count = "select count(*) from (select 1 from nudges group by xmin::text having count(distinct workspace) > 1) as shared";
    app.stored(move |tx| tx.one::<i64>(count, &[])).await.unwrap() > 0
}

#[tokio::test(flavor = "multi_thread")]
async fn nudges_of_many_workspaces_at_once_meet_only_what_is_their_own() {
    let offices = open(OFFICES).await;
    let app = &offices[0].app;
    let later = Timestamp::parse(&app.now().await).unwrap().plus(HOUR).to_string();
    // An agent whose flow needs a variable.
    let mut needy = Vec::new();
    let mut numbers = Vec::new();
    for office in &offices {
        needy.push(office.agent(&json!({"systemPrompt": "Ask about {{due}}."})).await);
        numbers.push(office.own_number().await);
    }
    let call = json!({"agentId": needy[KNOWS], "toNumber": KNOWN, "variables": {"due": "5"}});
    offices[KNOWS].post("/v1/calls", &call).await.expect(200);
    offices[LISTS].post("/v1/dnc", &json!({"phones": [LISTED]})).await.expect(200);
    let mut earlier = Vec::new();
    for (office, to) in [(NUDGES, BUSY), (FULL, "+919812300509")] {
        earlier.push(offices[office].nudge(to, &json!({"scheduledAt": later})).await["id"].clone());
    }
    offices[FULL].change(&json!({"limits": {"pendingNudges": 1}})).await;

    let mut requests = Vec::new();
    for kind in KINDS {
        for (office, world) in offices.iter().enumerate() {
            let next = (office + 1) % OFFICES;
            let mut body = json!({"agentId": needy[office], "scheduledAt": later});
            let to = match kind {
                Kind::Known | Kind::KnownInTests => KNOWN,
                Kind::Listed => LISTED,
                Kind::Busy => BUSY,
                Kind::Stranger => STRANGER,
                Kind::ForeignAgent => "+919812300505",
                Kind::ForeignNumber => "+919812300506",
            };
            body["toNumber"] = json!(to);
            match kind {
                Kind::Known | Kind::KnownInTests => {}
                Kind::ForeignAgent => body["agentId"] = json!(needy[next]),
                Kind::ForeignNumber => body["fromNumber"] = json!(numbers[next]),
                Kind::Stranger | Kind::Listed | Kind::Busy => {}
            }
            if to != KNOWN {
                body["variables"] = json!({"due": "7"});
            }
            let key = if kind == Kind::KnownInTests { world.test() } else { world.live() };
            // The same keys in all of them.
            requests.push((key.to_owned(), format!("{kind:?}"), body));
        }
    }
    let answers = at_once(app, "/v1/nudges", requests.clone()).await;
    if app.app().store.shared() {
        assert!(shared(app).await, "no transaction has accepted nudges of several workspaces");
    }
    let judge = |kind: Kind, office: usize, answer: Answer| -> Option<Value> {
        let place = format!("{kind:?} of workspace {office}: {}", answer.text);
        match (kind, office) {
            (Kind::Known | Kind::KnownInTests, _) if office != KNOWS => {
                assert_eq!(answer.status, 422, "{place}");
                let refused = answer.refused(422, "missing_required_variables");
                assert_eq!(refused["meta"]["missing"], json!(["due"]), "{place}");
            }
            (Kind::ForeignAgent, _) => drop(answer.not_found()),
            (Kind::ForeignNumber, _) => drop(answer.refused(400, "from_number_not_owned")),
            (Kind::Busy, NUDGES) => {
                let refused = answer.refused(409, "nudge_in_flight");
                assert_eq!(refused["meta"]["nudgeId"], earlier[0], "{place}");
            }
            (_, FULL) => drop(answer.refused(429, "pending_limit")),
            (_, _) => {
                assert_eq!(answer.status, 201, "{place}");
                return Some(answer.data(201));
            }
        }
        None
    };
    let mut made = Vec::new();
    for (place, answer) in answers.into_iter().enumerate() {
        let (kind, office) = (KINDS[place / OFFICES], place % OFFICES);
        let Some(nudge) = judge(kind, office, answer) else { continue };
        assert_eq!(nudge["fromNumber"], numbers[office], "{kind:?}");
        assert_eq!(nudge["agentId"], needy[office], "{kind:?}");
        made.push((kind, office, nudge));
    }
    assert_eq!(made.len(), 10);
    let mut waiting = Vec::new();
    for office in &offices {
        waiting.push(pending(office).await);
    }
    assert_eq!(waiting, [(4, 1), (3, 0), (3, 0), (1, 0)]);

    // Requests that are repeated are given the nudge of their own workspace.
    for (place, answer) in at_once(app, "/v1/nudges", requests).await.into_iter().enumerate() {
        let (kind, office) = (KINDS[place / OFFICES], place % OFFICES);
        let first = made.iter().find(|made| (made.0, made.1) == (kind, office));
        if let Some((_, _, nudge)) = first {
            assert_eq!(answer.header("idempotent-replayed"), Some("true"), "{kind:?} of {office}");
            assert_eq!(answer.expect(201)["data"], *nudge);
        }
    }

    // The list of one workspace keeps nobody else from dialling.
    app.advance(HOUR / 1000 + 1).await;
    for (kind, office, nudge) in &made {
        let world = &offices[*office];
        let key = if *kind == Kind::KnownInTests { world.test() } else { world.live() };
        let path = format!("/v1/nudges/{}", nudge["id"].as_str().unwrap());
        let now = app.get(key, &path).await.data(200);
        if (*kind, *office) == (Kind::Listed, LISTS) {
            assert_eq!((&now["status"], &now["blockReason"]), (&json!("finished"), &json!("opt_out")));
        } else if *kind != Kind::Known {
            assert_eq!((&now["attempts"], &now["blockReason"]), (&json!(1), &Value::Null), "{kind:?}: {now}");
        }
    }
}

/// Somebody who holds the live queue of a workspace, which has so many pending nudges afterwards.
async fn hold(world: &World, pending: i64) -> Holder {
    let tenant: Tenant = world.tenant();
    let take = move |tx: &mut store::Tx<'_>| {
        let queue = "select 1 from nudge_queues where workspace = ?1 and mode = 'live' /*pg for update*/";
        assert!(tx.exists(queue, store::params![tenant])?);
        Ok(())
    };
    let last = move |tx: &mut store::Tx<'_>| {
        let sql = "update nudge_queues set pending = ?2 where workspace = ?1 and mode = 'live'";
        tx.exec(sql, store::params![tenant, pending]).map(|changed| assert_eq!(changed, 1))
    };
    Holder::of(world, take, last).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_fills_up_meanwhile_keeps_no_other_workspace_from_its_nudges_on_postgres() {
    needs_postgres();
    const LIMIT: i64 = 10_000;
    const EACH: usize = 6;
    let offices = open(3).await;
    let app = &offices[0].app;
    let later = Timestamp::parse(&app.now().await).unwrap().plus(HOUR).to_string();
    let request = |office: usize, number: usize| {
        let to = format!("+9198123006{number:02}");
        let body = offices[office].order(&to, &json!({"scheduledAt": later}));
        (offices[office].live().to_owned(), to, body)
    };
    for office in 0..offices.len() {
        for answer in at_once(app, "/v1/nudges", vec![request(office, 0)]).await {
            answer.expect(201);
        }
    }
    // While the first request waits, the others gather; then their transaction waits for a queue that fills up.
    let (first, full) = (hold(&offices[0], 1).await, hold(&offices[1], LIMIT).await);
    let send = |requests| {
        let app = app.clone();
        tokio::spawn(async move { at_once(&app, "/v1/nudges", requests).await })
    };
    let alone = send(vec![request(0, 1)]);
    app.until_one_waits_for_a_lock().await;
    let all = (2..2 + EACH).flat_map(|number| (0..3).map(move |office| (office, number)));
    let others = send(all.map(|(office, number)| request(office, number)).collect());
    first.end().await;
    for answer in alone.await.unwrap() {
        answer.expect(201);
    }
    app.until_one_waits_for_a_lock().await;
    full.end().await;
    for (place, answer) in others.await.unwrap().into_iter().enumerate() {
        match place % offices.len() {
            1 => drop(answer.refused(429, "pending_limit")),
            _ => drop(answer.expect(201)),
        }
    }
    let mut waiting = Vec::new();
    for office in &offices {
        waiting.push(pending(office).await.0);
    }
    assert_eq!(waiting, [8, LIMIT, 7]);
}
