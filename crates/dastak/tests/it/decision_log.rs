//! The decision log: chains, verification, exports, statistics (docs/contract/decision-log.md).

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use dastak::app::decision_log::{Chains, record};
use domain::decision_log::{Chain, Channel, Decision, Entry, Strand};
use domain::tenant::Mode;
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::{DbError, params};

use crate::shows::Shows;
use crate::world::World;

pub const LIVE: Strand = Strand { chain: Chain::Audit, mode: Mode::Live };

const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

fn entry(number: u64, at: Timestamp) -> Entry {
    let blocked = number % 3 == 2;
    Entry {
        timestamp: at,
        interaction_id: format!("call_{number:026}"),
        decision: if blocked { Decision::Blocked } else { Decision::Allowed },
        blocked_by: blocked.then(|| if number.is_multiple_of(2) { "dnd" } else { "frequency_cap" }.to_owned()),
        gate_results: r#"{"pack":"generic-safe@1","gates":[{"gate":"dnd","verdict":"pass","listed":false},{"gate":"opt_out","verdict":"pass","optedOut":false},{"gate":"calling_window","verdict":"pass","open":true},{"gate":"frequency_cap","verdict":"pass","dials24h":0},{"gate":"consent","verdict":"not_checked"}]}"#.to_owned(),
        outcome: number.is_multiple_of(4).then(|| "placed".to_owned()),
        recording_ref: None,
        consent_ref: None,
        is_test: false,
        channel: Channel::Voice,
        agent_id: (!number.is_multiple_of(7)).then(|| format!("agt_{:026}", number % 2)),
    }
}

/// Writes decisions into the chain `audit`, a minute apart.
pub async fn decide(world: &World, numbers: std::ops::Range<u64>) {
    decide_in(world, Mode::Live, numbers).await;
}

/// The same in a world.
pub async fn decide_in(world: &World, mode: Mode, numbers: std::ops::Range<u64>) {
    let (tenant, context) = (world.tenant(), world.app().context());
    let at = Timestamp::parse("2026-12-01T04:00:00Z").unwrap();
    let work = move |tx: &mut store::Tx<'_>| {
        let mut chains = Chains::default();
        for number in numbers.clone() {
            let entry =
                Entry { is_test: mode == Mode::Test, ..entry(number, at.plus(number as i64 * 60_000)) };
            chains.record(tenant, Chain::Audit, entry);
        }
        chains.finish(tx, &context)
    };
    world.store(work).await;
}

/// The result for the chains of decisions; the requests of the test itself are in the chain of actions.
pub async fn verify(world: &World) -> Value {
    let mut found = world.data("/v1/audit/verify").await;
    let actions = found["chains"].as_array_mut().unwrap().pop().unwrap();
    assert_eq!(actions["name"], "actions");
    found["records"] = json!(found["records"].as_u64().unwrap() - actions["records"].as_u64().unwrap());
    found["verified"] =
        json!(found["chains"].as_array().unwrap().iter().all(|chain| chain["verified"] == true));
    found
}

/// A file of a test, gone with it.
pub struct Saved(pub PathBuf);

impl Saved {
    pub fn new(text: impl AsRef<[u8]>) -> Self {
        let file = std::env::temp_dir().join(format!(
            "dastak-log-{}-{:?}-{}",
            std::process::id(),
            std::thread::current().id(),
            text.as_ref().len()
        ));
        std::fs::write(&file, text).unwrap();
        Self(file)
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What the program says of a file, and whether it accepts it.
pub fn verify_log(text: &str, more: &[&str]) -> (bool, Value) {
    let file = Saved::new(text);
    let run = Command::new(env!("CARGO_BIN_EXE_dastak"))
        .arg("verify-log")
        .arg(&file.0)
        .args(more)
        .arg("--json")
        .output()
        .unwrap();
    let shown = serde_json::from_slice(&run.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&run.stderr)));
    (run.status.success(), shown)
}

pub async fn export(world: &World, query: &str) -> String {
    let answer = world.fetch(&format!("/v1/audit/export{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.text
}

#[tokio::test]
async fn an_empty_log_is_whole() {
    let world = World::bare().await;
    let chain =
        |name| json!({"name": name, "verified": true, "records": 0, "brokenAt": null, "problem": null});
    assert_eq!(
        verify(&world).await,
        json!({"verified": true, "records": 0, "chains": [chain("audit"), chain("grievances"), chain("consent")]})
    );
    let text = export(&world, "").await;
    assert_eq!(text.lines().count(), 2);
    assert!(verify_log(&text, &[]).0);
    assert_eq!(
        world.get("/v1/audit/stats").await["data"],
        json!({"total": 0, "byRule": {}, "byDay": [], "byAgent": [], "disclosures": {"kept": 0, "missed": 0}})
    );
    let head = world.get("/v1/audit/head").await;
    assert_eq!((head["data"]["seq"].as_i64(), head["data"]["hash"].as_str()), (Some(0), Some(GENESIS)));
}

#[tokio::test]
async fn the_export_is_the_documented_file() {
    let world = World::bare().await;
    decide(&world, 0..12).await;
    let answer = world.fetch("/v1/audit/export").await;
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    assert!(
        answer
            .header("content-disposition")
            .unwrap()
            .starts_with("attachment; filename=\"decision-log-audit-")
    );
    let lines: Vec<&str> = answer.text.split("\r\n").collect();
    assert_eq!(
        lines[0],
        "\u{FEFF}seq,timestamp,interaction_id,decision,blocked_by,gate_results,outcome,recording_ref,consent_ref,integrity_hash,prev_hash,is_test,channel,agent_id"
    );
    assert!(
        lines[1].starts_with(
            "1,2026-12-01T04:00:00.000Z,call_00000000000000000000000000,allowed,,\"{\"\"pack\"\":"
        ),
        "{}",
        lines[1]
    );
    assert!(lines[1].contains(&format!(",{GENESIS},false,voice,")), "{}", lines[1]);
    assert!(lines[5].ends_with(",false,voice,agt_00000000000000000000000000"), "{}", lines[5]);
    assert!(lines[13].starts_with("# verified=true records=12 last_seq=12 before=0000"), "{}", lines[13]);
    assert_eq!(lines[14..], [""]);
    let (whole, shown) = verify_log(&answer.text, &[]);
    assert!(whole, "{shown}");
    shown.shows(json!({"records": 12, "chain": "audit", "workspaceId": world.workspace.id.as_str()}));
    // A part of the log names the hash before it, and verifies.
    let part = export(&world, "?from=2026-12-01T04:03:00Z&to=2026-12-01T09:37:00%2B05:30").await;
    let numbers: Vec<&str> = part
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').next().filter(|first| !first.starts_with('#')))
        .collect();
    assert_eq!(numbers, ["4", "5", "6", "7"], "from is included, to is not");
    let (whole, shown) = verify_log(&part, &[]);
    assert!(whole && shown["slice"] == true, "{shown}");
    assert_eq!(
        export(&world, "?from=2026-12-01&to=2026-12-01").await.lines().count(),
        14,
        "dates include their day"
    );
    assert_eq!(export(&world, "?from=2026-12-02").await.lines().count(), 2);
    for query in ["?from=yesterday", "?format=docx", "?chain=other"] {
        world.fetch(&format!("/v1/audit/export{query}")).await.invalid();
    }
    world.fetch("/v1/audit/stats?from=2026-12-02T00:00:00Z&to=2026-12-01T00:00:00Z").await.invalid();
    // Another workspace has a log of its own.
    let other = world.neighbour().await;
    assert_eq!(export(&other, "").await.lines().count(), 2);
}

#[tokio::test]
async fn long_logs_leave_in_pieces() {
    let world = World::bare().await;
    decide(&world, 0..2_000).await;
    decide(&world, 2_000..2_345).await;
    assert_eq!(verify(&world).await["records"], 2_345);
    let text = export(&world, "").await;
    assert_eq!(verify_log(&text, &[]).1["records"], 2_345);
    let pdf = world.fetch("/v1/audit/export?format=pdf").await;
    assert_eq!(pdf.header("content-type"), Some("application/pdf"));
    assert!(pdf.text.starts_with("%PDF-1.4") && pdf.text.ends_with("%%EOF\n"));
    assert_eq!(pdf.text.matches("(hash ").count(), 2_345);
    for word in ["(Agent)", "(Channel)", "(Test)", "Verification: the chain is whole: 2345 records"] {
        assert!(pdf.text.contains(word), "{word}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_writers_leave_one_chain() {
    let world = Arc::new(World::bare().await);
    let tasks: Vec<_> = (0..50_u64)
        .map(|writer| {
            let world = world.clone();
            tokio::spawn(async move {
                for step in 0..4 {
                    decide(&world, writer * 4 + step..writer * 4 + step + 1).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let found = verify(&world).await;
    assert_eq!((found["verified"].as_bool(), found["records"].as_i64()), (Some(true), Some(200)), "{found}");
    let text = export(&world, "").await;
    assert!(verify_log(&text, &[]).0);
    let times: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
    assert!(times.is_sorted(), "moments never go back along a chain");
}

#[tokio::test]
async fn a_refused_transaction_leaves_no_record() {
    let world = World::bare().await;
    decide(&world, 0..1).await;
    let (tenant, context) = (world.tenant(), world.app().context());
    let undone = world.app().store.of(tenant).tx(move |tx| {
        record(tx, &context, Chain::Audit, entry(1, context.now))?;
        Err::<(), _>(dastak::app::Failure::conflict("no"))
    });
    undone.await.unwrap_err();
    decide(&world, 2..3).await;
    assert_eq!(verify(&world).await["records"], 2);
}

/// Statements that somebody with the database's password may try; `?1` is the workspace.
const TAMPERING: &[(&str, u64, &[&str])] = &[
    (
        "change",
        6,
        &[
            "update decision_log set decision = 'allowed', blocked_by = '' where workspace = ?1 and chain = 'audit' and seq = 6",
        ],
    ),
    ("change a moment", 5, &["update decision_log set at = at + 1 where workspace = ?1 and seq = 5"]),
    ("delete", 5, &["delete from decision_log where workspace = ?1 and seq = 5"]),
    ("delete the first", 1, &["delete from decision_log where workspace = ?1 and seq = 1"]),
    (
        "insert",
        13,
        &[
            "insert into decision_log select workspace, chain, 13, at, interaction_id, decision, blocked_by, gate_results, outcome, recording_ref, consent_ref, \
           integrity_hash, prev_hash, is_test, channel, agent_id, actor from decision_log where workspace = ?1 and seq = 5",
        ],
    ),
    (
        "reorder",
        5,
        &[
            "update decision_log set seq = 99 where workspace = ?1 and seq = 5",
            "update decision_log set seq = 5 where workspace = ?1 and seq = 6",
            "update decision_log set seq = 6 where workspace = ?1 and seq = 99",
        ],
    ),
    ("truncate", 11, &["delete from decision_log where workspace = ?1 and seq > 10"]),
    (
        "truncate with the head",
        10,
        &[
            "delete from decision_log where workspace = ?1 and seq > 10",
            "update decision_log_heads set seq = 10, hash = (select integrity_hash from decision_log where workspace = ?1 and seq = 10) where workspace = ?1",
        ],
    ),
    ("delete everything", 0, &["delete from decision_log where workspace = ?1"]),
];

async fn tamper(world: &World, statements: &'static [&'static str]) {
    let id = world.workspace.id.clone();
    let work = move |tx: &mut store::Tx<'_>| {
        for statement in statements {
            tx.exec(statement, params![&id])?;
        }
        Ok::<_, DbError>(())
    };
    world.store(work).await;
}

#[tokio::test]
async fn tampering_with_the_store_is_found() {
    let service = World::bare().await;
    for (kind, at, statements) in TAMPERING {
        let world = service.neighbour().await;
        decide(&world, 0..12).await;
        let kept = Saved::new(world.fetch("/v1/audit/head").await.text);
        tamper(&world, statements).await;
        let found = verify(&world).await;
        let broken_at = found["chains"][0]["brokenAt"].as_u64();
        assert_eq!(found["verified"], false, "{kind}: {found}");
        assert!(*at == 0 || broken_at == Some(*at), "{kind}: {found}");
        let text = export(&world, "").await;
        let (whole, shown) = verify_log(&text, &["--head", kept.0.to_str().unwrap()]);
        assert!(!whole, "{kind}: {shown}");
        let pdf = world.fetch("/v1/audit/export?format=pdf").await;
        assert!(pdf.text.contains("THE CHAIN IS BROKEN"), "{kind}");
    }
}

/// Writes the chain anew from a record on, with right hashes, as somebody who knows the format could.
#[tokio::test]
async fn a_chain_written_anew_is_found() {
    let world = World::bare().await;
    decide(&world, 0..6).await;
    let kept = Saved::new(world.fetch("/v1/audit/head").await.text);
    let before = export(&world, "").await;
    let tenant: domain::tenant::Tenant = world.tenant();
    let rewrite = move |tx: &mut store::Tx<'_>| {
        let rows = store::decision_log::page(&mut tx.of(tenant), LIVE, 0, 99, 99)?;
        let mut previous = GENESIS.to_owned();
        for mut row in rows {
            row.outcome = "nothing happened".into();
            row.prev_hash = previous;
            row.integrity_hash = row.computed_hash();
            tx.exec(
                "update decision_log set outcome = ?3, prev_hash = ?4, integrity_hash = ?5 where workspace = ?1 and seq = ?2",
                params![tenant, row.seq.parse::<i64>().unwrap(), &row.outcome, &row.prev_hash, &row.integrity_hash],
            )?;
            previous = row.integrity_hash;
        }
        tx.exec("update decision_log_heads set hash = ?2 where workspace = ?1", params![tenant, &previous])?;
        Ok::<_, DbError>(())
    };
    world.store(rewrite).await;
    let found = verify(&world).await;
    found.shows(json!({"verified": false, "chains[0].brokenAt": 6}));
    let head = kept.0.to_str().unwrap();
    let after = export(&world, "").await;
    assert!(!verify_log(&after, &[]).0);
    assert!(verify_log(&before, &["--head", head]).0);
    // Even with a last line that claims otherwise.
    let forged = after.replace("# verified=false", "# verified=true");
    assert!(verify_log(&forged, &[]).1["problem"].as_str().unwrap().contains("signature"));
    let (_, shown) = verify_log(&forged, &["--head", head]);
    assert_eq!(shown["brokenAt"], 6, "{shown}");
}

#[tokio::test]
async fn tampering_with_the_file_is_found() {
    let world = World::bare().await;
    decide(&world, 0..9).await;
    let kept = Saved::new(world.fetch("/v1/audit/head").await.text);
    let text = export(&world, "").await;
    let lines: Vec<&str> = text.split_inclusive("\r\n").collect();
    let without = |gone: usize| {
        lines
            .iter()
            .enumerate()
            .filter(|(place, _)| *place != gone)
            .map(|(_, line)| *line)
            .collect::<String>()
    };
    let mut swapped = lines.clone();
    swapped.swap(4, 5);
    let mut doubled = lines.clone();
    doubled.insert(4, lines[4]);
    for (kind, forged, at) in [
        ("change", text.replacen("blocked,dnd", "allowed,", 1), Some(3)),
        ("delete", without(4), Some(4)),
        ("reorder", swapped.concat(), Some(4)),
        ("insert", doubled.concat(), Some(5)),
        ("truncate before the last line", without(9), Some(9)),
        ("truncate", lines[..6].concat(), None),
        ("restate", text.replace("records=9", "records=8"), Some(10)),
        ("sign anew", text.replace("signature=", "signature=x"), None),
        ("another time", text.replace("signed_at=2", "signed_at=3"), None),
        ("no log", "a,b\r\n1,2\r\n".into(), None),
    ] {
        let (whole, shown) = verify_log(&forged, &[]);
        assert!(!whole && (at.is_none() || shown["brokenAt"].as_u64() == at), "{kind}: {shown}");
    }
    assert!(verify_log(&text, &["--head", kept.0.to_str().unwrap()]).0);
    let key = serde_json::from_str::<Value>(&std::fs::read_to_string(&kept.0).unwrap()).unwrap()["data"]["publicKey"].as_str().unwrap().to_owned();
    assert!(verify_log(&text, &["--key", &key]).0);
    assert!(!verify_log(&text, &["--key", &key.replace(&key[..4], "AAAA")]).0);
    // An older export lacks the records that the head has counted since.
    decide(&world, 9..11).await;
    let newer = Saved::new(world.fetch("/v1/audit/head").await.text);
    let (_, shown) = verify_log(&text, &["--head", newer.0.to_str().unwrap()]);
    assert_eq!(shown["brokenAt"], 10, "{shown}");
    let file = Saved::new(&text);
    let said = Command::new(env!("CARGO_BIN_EXE_dastak")).arg("verify-log").arg(&file.0).output().unwrap();
    assert!(
        String::from_utf8_lossy(&said.stdout).starts_with("whole: every record fits\nrecords in order: 9\n"),
        "{said:?}"
    );
}

#[tokio::test]
async fn refused_dials_are_counted() {
    let world = World::bare().await;
    for number in 0..30 {
        decide_in(&world, if number % 5 == 4 { Mode::Test } else { Mode::Live }, number..number + 1).await;
    }
    let at = Timestamp::parse("2026-12-01T18:30:00Z").unwrap();
    let (tenant, context) = (world.tenant(), world.app().context());
    // In India the next day has begun.
    let late = move |tx: &mut store::Tx<'_>| record(&mut tx.of(tenant), &context, Chain::Audit, entry(8, at));
    world.store(late).await;
    let stats = world.data("/v1/audit/stats").await;
    // Refused: 2 5 8 11 14 17 20 23 26 29; of these 14 and 29 with a test key; and 8 again.
    stats.shows(json!({"total": 9, "byRule": {"dnd": 5, "frequency_cap": 4}}));
    assert_eq!(
        stats["byDay"],
        json!([{"day": "2026-12-01", "count": 8, "byRule": {"dnd": 4, "frequency_cap": 4}}, {"day": "2026-12-02", "count": 1, "byRule": {"dnd": 1}}])
    );
    assert_eq!(
        stats["byAgent"],
        json!([
            {"agentId": "agt_00000000000000000000000000", "name": null, "count": 5, "byRule": {"dnd": 5}},
            {"agentId": "agt_00000000000000000000000001", "name": null, "count": 4, "byRule": {"frequency_cap": 4}},
        ])
    );
    let day = world.get("/v1/audit/stats?from=2026-12-02&to=2026-12-02").await;
    assert_eq!(day["data"]["total"], 1);
    assert_eq!(world.app.get(world.test(), "/v1/audit/stats").await.expect(200)["data"]["total"], 2);
}

#[tokio::test]
async fn opting_out_and_consent_are_proven_without_names() {
    let world = World::bare().await;
    let consent =
        json!({"source": "web_form", "capturedAt": "2026-01-02T03:04:05Z", "reference": "secret form"});
    let body = json!({"externalRef": "secret-ref", "phone": "9812345678", "name": "Secret", "consent": consent, "optOut": true});
    let made = world.post("/v1/contacts", &body).await.expect(201);
    let id = made["data"]["id"].as_str().unwrap();
    world.operator("POST", &format!("/contacts/{id}/lift-opt-out"), Value::Null).await.expect(200);
    world.erase(id).await.expect(200);
    let text = export(&world, "?chain=consent").await;
    let outcomes: Vec<&str> = ["given", "withdrawn", "restored"]
        .into_iter()
        .filter(|word| text.contains(&format!(",{word},")))
        .collect();
    assert_eq!((outcomes.len(), text.lines().count()), (3, 5), "{text}");
    let grievances = export(&world, "?chain=grievances").await;
    assert!(
        grievances.contains(&format!("{id},allowed,")) && grievances.contains(",erased,"),
        "{grievances}"
    );
    for secret in ["ecret", "98123"] {
        assert!(!text.contains(secret) && !grievances.contains(secret), "{secret}");
    }
    assert!(verify_log(&text, &[]).0 && verify_log(&grievances, &[]).0);
    assert_eq!(verify(&world).await["records"], 4);
}
