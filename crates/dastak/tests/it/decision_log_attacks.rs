//! Attacks on the decision log by somebody who has the database but not the data folder, and by clients who
//! ask for all of it again and again.

use std::time::Duration;

use dastak::app::Failure;
use domain::decision_log::{Chain, Strand};
use domain::tenant::Mode;
use serde_json::{Value, json};
use store::decision_log::HeadRow;
use store::{DbError, Tx, params};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::decision_log::{LIVE, Saved, decide, decide_in, export, verify, verify_log};
use crate::shows::Shows;
use crate::world::World;

const TEST: Strand = Strand { chain: Chain::Audit, mode: Mode::Test };

/// The head of a chain with its seal, as a thief would copy it.
async fn head(world: &World, strand: Strand) -> HeadRow {
    let tenant = world.tenant();
    world.app().store.of(tenant).read(move |tx| store::decision_log::head(tx, strand)).await.unwrap().unwrap()
}

/// Puts an older state back: the later records are gone, and the head has the seal that it had then.
async fn put_back(world: &World, strand: Strand, older: &HeadRow) {
    let (tenant, older) = (world.tenant(), older.clone());
    let work = move |tx: &mut Tx<'_>| {
        let seq = older.head.seq as i64;
        tx.exec(
            "delete from decision_log where workspace = ?1 and chain = ?2 and seq > ?3",
            params![tenant, strand.as_str(), seq],
        )?;
        tx.exec(
            "update decision_log_heads set seq = ?3, hash = ?4, at = ?5, seal = ?6 where workspace = ?1 and chain = ?2",
            params![tenant, strand.as_str(), seq, &older.head.hash, older.at, &older.seal],
        )?;
        Ok::<_, DbError>(())
    };
    world.store(work).await;
}

async fn vanish(world: &World) {
    let tenant = world.tenant();
    let work = move |tx: &mut Tx<'_>| {
        tx.exec("delete from decision_log where workspace = ?1", params![tenant])?;
        tx.exec("delete from decision_log_heads where workspace = ?1", params![tenant]).map(|_| ())
    };
    world.app().store.tx::<_, DbError>(work).await.unwrap();
}

#[track_caller]
fn broken(found: &Value, at: u64, words: &str) {
    let chain = &found["chains"][0];
    assert_eq!((found["verified"].as_bool(), chain["brokenAt"].as_u64()), (Some(false), Some(at)), "{found}");
    assert!(chain["problem"].as_str().unwrap().contains(words), "{found}");
}

#[tokio::test]
async fn an_older_signed_head_that_is_put_back_is_noticed() {
    let world = World::bare().await;
    decide(&world, 0..8).await;
    let older = head(&world, LIVE).await;
    decide(&world, 8..12).await;
    assert_eq!(verify(&world).await["verified"], true);
    put_back(&world, LIVE, &older).await;
    broken(&verify(&world).await, 9, "records are missing");
    // The export and the head say so, too.
    let text = export(&world, "").await;
    assert!(text.contains("# verified=false") && !verify_log(&text, &[]).0, "{text}");
    world.fetch("/v1/audit/head").await.conflict();
    // A restart forgets nothing.
    let world = world.restart().await;
    broken(&verify(&world).await, 9, "records are missing");
    // Another workspace has nothing to do with it.
    let other = world.neighbour().await;
    decide(&other, 0..3).await;
    assert_eq!(verify(&other).await["verified"], true);
}

#[tokio::test]
async fn a_log_that_vanished_with_its_head_is_noticed() {
    let world = World::bare().await;
    decide(&world, 0..4).await;
    vanish(&world).await;
    broken(&verify(&world).await, 1, "records are missing");
    let world = world.restart().await;
    let found = verify(&world).await;
    broken(&found, 1, "records are missing");
    assert_eq!(found["records"], 0);
}

#[tokio::test]
async fn an_older_state_that_grew_past_the_newest_record_is_noticed() {
    for restart in [false, true] {
        let mut world = World::bare().await;
        decide(&world, 0..5).await;
        let older = head(&world, LIVE).await;
        decide(&world, 5..9).await;
        put_back(&world, LIVE, &older).await;
        if restart {
            world = world.restart().await;
        }
        for number in 20..30 {
            decide(&world, number..number + 1).await;
        }
        broken(&verify(&world).await, 9, "another record stands");
        let world = world.restart().await;
        broken(&verify(&world).await, 9, "another record stands");
    }
}

#[tokio::test]
async fn what_a_stopped_node_missed_is_witnessed_at_its_start() {
    let world = World::bare().await;
    decide(&world, 0..3).await;
    let older = head(&world, LIVE).await;
    let stopped = world.stop().await;
    // As after a crash before the file was written, or on a node that joins.
    std::fs::remove_file(stopped.config.data.join("log-marks")).unwrap();
    let world = stopped.start().await;
    decide(&world, 3..5).await;
    // The job's first look is over when the clock has settled.
    world.advance(1).await;
    let world = world.restart().await;
    put_back(&world, LIVE, &older).await;
    broken(&verify(&world).await, 4, "records are missing");
}

#[tokio::test]
async fn a_restored_backup_is_accepted_and_the_log_says_so() {
    let world = World::bare().await;
    let reason = json!({"reason": "backup of Monday restored"});
    world.operator("POST", "/audit/accept", reason.clone()).await.conflict();
    decide(&world, 0..4).await;
    decide_in(&world, Mode::Test, 0..2).await;
    world.operator("POST", "/audit/accept", reason.clone()).await.conflict();
    let older = head(&world, LIVE).await;
    decide(&world, 4..7).await;
    put_back(&world, LIVE, &older).await;
    world.operator("POST", "/audit/accept", json!({})).await.invalid();
    broken(&verify(&world).await, 5, "records are missing");
    let accepted = world.operator("POST", "/audit/accept", reason.clone()).await.expect(200);
    assert_eq!(accepted["data"]["accepted"], json!([{"chain": "audit", "witnessedSeq": 7, "seq": 5}]));
    let found = verify(&world).await;
    assert_eq!((found["verified"].as_bool(), found["records"].as_u64()), (Some(true), Some(5)), "{found}");
    let text = export(&world, "").await;
    assert!(text.contains(",older_state_accepted,") && verify_log(&text, &[]).0, "{text}");
    let log = world.app.operator("GET", "/log", &Value::Null).await.expect(200);
    let line = &log["data"].as_array().unwrap()[0];
    assert_eq!(line["operation"], "acceptLog");
    assert!(
        line["subject"]
            .as_str()
            .unwrap()
            .contains("audit from record 5, witnessed 7: backup of Monday restored"),
        "{log}"
    );
    let world = world.restart().await;
    assert_eq!(verify(&world).await["verified"], true);
    // What is witnessed from then on counts, and the acceptance cannot be used twice.
    let later = head(&world, LIVE).await;
    decide(&world, 7..9).await;
    world.advance(1).await;
    put_back(&world, LIVE, &later).await;
    broken(&verify(&world).await, 6, "records are missing");
    let world = world.restart().await;
    broken(&verify(&world).await, 6, "records are missing");
    put_back(&world, LIVE, &older).await;
    broken(&verify(&world).await, 5, "records are missing");
}

#[tokio::test]
async fn nobody_without_the_key_accepts_anything() {
    let world = World::bare().await;
    decide(&world, 0..4).await;
    let older = head(&world, LIVE).await;
    decide(&world, 4..7).await;
    put_back(&world, LIVE, &older).await;
    let (ours, hash) = (world.tenant(), older.head.hash.clone());
    let forge = move |tx: &mut Tx<'_>| {
        tx.exec(
            "insert into decision_log_accepted (workspace, chain, generation, seq, hash, at, seal) values (?1, 'audit', 9, 4, ?2, 0, 'mine')",
            params![ours, &hash],
        )
        .map(|_| ())
    };
    world.app().store.tx::<_, DbError>(forge).await.unwrap();
    broken(&verify(&world).await, 5, "records are missing");
    // A head that was altered is no older state.
    let alter = move |tx: &mut Tx<'_>| {
        tx.exec("update decision_log_heads set seal = 'mine' where workspace = ?1", params![ours]).map(|_| ())
    };
    world.app().store.tx::<_, DbError>(alter).await.unwrap();
    world.operator("POST", "/audit/accept", json!({"reason": "please"})).await.conflict();
}

#[tokio::test]
async fn each_world_has_a_whole_chain_of_its_own() {
    let world = World::bare().await;
    for number in 0..6 {
        decide_in(&world, if number % 2 == 0 { Mode::Live } else { Mode::Test }, number..number + 1).await;
    }
    decide_in(&world, Mode::Test, 6..7).await;
    for (key, other, records, is_test) in
        [(world.live(), world.test(), 3, "false"), (world.test(), world.live(), 4, "true")]
    {
        let found = world.app.get(key, "/v1/audit/verify").await.data(200);
        assert_eq!(found["verified"], true);
        found["chains"][0].shows(json!({"name": "audit", "verified": true, "records": records}));
        let text = world.app.get(key, "/v1/audit/export").await.text;
        let rows: Vec<&str> = text.lines().skip(1).filter(|line| !line.starts_with('#')).collect();
        assert_eq!(rows.len() as u64, records);
        assert!(rows.iter().all(|row| row.contains(&format!(",{is_test},voice,"))), "{text}");
        let mine = Saved::new(world.app.get(key, "/v1/audit/head").await.text);
        let (whole, shown) = verify_log(&text, &["--head", mine.0.to_str().unwrap()]);
        assert!(whole && shown["slice"] == false && shown["records"] == records, "{shown}");
        let theirs = Saved::new(world.app.get(other, "/v1/audit/head").await.text);
        let (whole, shown) = verify_log(&text, &["--head", theirs.0.to_str().unwrap()]);
        assert!(
            !whole && shown["problem"].as_str().unwrap().contains("another workspace or chain"),
            "{shown}"
        );
    }
    let ours = world.tenant();
    let alter = move |tx: &mut Tx<'_>| {
        tx.exec(
            "update decision_log set outcome = 'x' where workspace = ?1 and chain = 'audit_test' and seq = 2",
            params![ours],
        )
        .map(|_| ())
    };
    world.app().store.tx::<_, DbError>(alter).await.unwrap();
    assert_eq!(
        world.app.get(world.test(), "/v1/audit/verify").await.expect(200)["data"]["chains"][0]["brokenAt"],
        2
    );
    assert_eq!(verify(&world).await["verified"], true);
    let older = head(&world, TEST).await;
    assert_eq!(older.head.seq, 4);
}

#[tokio::test]
async fn heads_leave_on_their_own_and_convict_what_was_put_back() {
    let kept = Saved::new("");
    std::fs::remove_file(&kept.0).unwrap();
    let file = kept.0.clone();
    let world = World::bare_with(move |config| config.head_file = Some(file)).await;
    decide(&world, 0..3).await;
    world.advance(3600).await;
    let older = head(&world, LIVE).await;
    decide(&world, 3..6).await;
    decide_in(&world, Mode::Test, 0..2).await;
    world.advance(3600).await;
    world.advance(7200).await;
    let lines = |text: String| -> Vec<(String, u64)> {
        let line = |line: &str| {
            let value: Value = serde_json::from_str(line).unwrap();
            (value["chain"].as_str().unwrap().to_owned(), value["seq"].as_u64().unwrap())
        };
        text.lines().map(line).collect()
    };
    let mut found = lines(std::fs::read_to_string(&kept.0).unwrap());
    found.sort();
    assert_eq!(
        found,
        [("actions".into(), 5), ("audit".into(), 3), ("audit".into(), 6), ("audit_test".into(), 2)],
        "a chain that has not grown has no new head"
    );
    let heads = kept.0.to_str().unwrap();
    let (whole, shown) = verify_log(&export(&world, "").await, &["--head", heads]);
    assert!(whole, "{shown}");
    assert_eq!(
        shown["notChecked"],
        json!([
            "2 kept heads: they are of other workspaces or chains",
            "the columns is_test, channel and agent_id: no hash covers them"
        ])
    );
    // An attacker with the data folder erases this node's memory; an exported head still shows it.
    put_back(&world, LIVE, &older).await;
    let mut stopped = world.stop().await;
    std::fs::remove_file(stopped.config.data.join("log-marks")).unwrap();
    stopped.config.head_file = None;
    let world = stopped.start().await;
    assert_eq!(verify(&world).await["verified"], true, "inside, nothing is left that could tell");
    let (whole, shown) = verify_log(&export(&world, "").await, &["--head", heads]);
    assert!(!whole && shown["brokenAt"] == 4, "{shown}");
}

#[tokio::test]
async fn the_offline_check_says_what_it_did_not_check() {
    let world = World::bare().await;
    decide(&world, 0..3).await;
    let text = export(&world, "").await;
    let words = |shown: &Value| {
        shown["notChecked"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let (whole, shown) = verify_log(&text, &[]);
    assert!(
        whole
            && words(&shown).contains("who signed the file")
            && words(&shown).contains("whether the log was cut short"),
        "{shown}"
    );
    let kept = Saved::new(world.fetch("/v1/audit/head").await.text);
    let (whole, shown) = verify_log(&text, &["--head", kept.0.to_str().unwrap()]);
    assert!(
        whole && !words(&shown).contains("who signed") && !words(&shown).contains("cut short"),
        "{shown}"
    );
    let file = Saved::new(&text);
    let said = std::process::Command::new(env!("CARGO_BIN_EXE_dastak"))
        .arg("verify-log")
        .arg(&file.0)
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).contains("NOT CHECKED: who signed the file"), "{said:?}");
}

/// A client that asks for an export and takes only its beginning.
async fn half_an_export(world: &World) -> tokio::net::TcpStream {
    let mut stream = tokio::net::TcpStream::connect(world.url.trim_start_matches("http://")).await.unwrap();
    let request = format!(
        "GET /v1/audit/export HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n",
        world.workspace.live
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn one_export_of_a_workspace_leaves_at_a_time() {
    let world = World::bare().await;
    let other = world.neighbour().await;
    // More than any buffer on the way holds.
    for piece in 0..12 {
        decide(&world, piece * 2_000..(piece + 1) * 2_000).await;
    }
    let slow = half_an_export(&world).await;
    let refused = world.fetch("/v1/audit/export?format=pdf").await;
    assert_eq!(refused.header("retry-after"), Some("5"));
    refused.refused(429, "rate_limited");
    world.app.get(world.test(), "/v1/audit/export").await.refused(429, "rate_limited");
    // Others are not held up, and checking goes on.
    assert_eq!(export(&other, "").await.lines().count(), 2);
    assert_eq!(verify(&world).await["records"], 24_000);
    drop(slow);
    // The service notices at its next write that the client has gone.
    let patience = tokio::time::Instant::now() + Duration::from_secs(60);
    while world.fetch("/v1/audit/export?from=2030-01-01").await.status != 200 {
        assert!(tokio::time::Instant::now() < patience, "the turn was not given back");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_checks_at_once_share_a_few() {
    let world = std::sync::Arc::new(World::bare().await);
    decide(&world, 0..2_000).await;
    let asking: Vec<_> = (0..60)
        .map(|_| {
            let world = world.clone();
            tokio::spawn(async move { verify(&world).await["records"].as_u64() })
        })
        .collect();
    for answer in asking {
        assert_eq!(answer.await.unwrap(), Some(2_000));
    }
    // 60 checks of their own would have hashed 120,000 records; what counts is what was hashed.
    let hashed = world.app().audits.hashed(world.tenant());
    assert!((2_000..=60_000).contains(&hashed), "{hashed}");
    assert!(world.app().store.tx(|_| Ok::<_, Failure>(())).await.is_ok());
}
