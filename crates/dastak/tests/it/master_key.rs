//! The master key is changed; nothing is lost, wherever the change is interrupted.

use std::path::Path;
use std::sync::Arc;

use dastak::app::master_key::{self, Change, Source};
use dastak::app::tool_calls;
use dastak::config::Config;
use dastak::service::Service;
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::{DbError, Store, params};

use crate::app::needs_sqlite;
use crate::decision_log::{decide, export, verify, verify_log};
use crate::world::World;

/// Everything that a master key protects.
struct Planted {
    tool: String,
    public_key: String,
}

async fn plant(world: &World) -> Planted {
    let config = json!({"url": "https://tools.example/x", "headers": {"x-secret": "of the tool"}});
    let body = json!({"type": "webhook", "name": "look_up", "description": "Looks up", "config": config});
    let tool = world.operator("POST", "/tools", body).await.id(201);
    world.endpoint(json!({"url": "https://hooks.example/x"})).await;
    let person = json!({"externalRef": "r", "phone": "9812345678", "optOut": true});
    world.post("/v1/contacts", &person).await.expect(201);
    decide(world, 0..5).await;
    Planted { tool, public_key: world.app().keyring.public_key() }
}

/// All of it is there and can be used.
async fn check(world: &World, planted: &Planted) {
    let config = tool_calls::webhook(world.app(), world.tenant(), planted.tool.parse().unwrap()).await;
    let config = serde_json::to_value(config.unwrap().unwrap()).unwrap();
    assert_eq!(config["headers"]["x-secret"], "of the tool");
    assert_eq!(verify(world).await["verified"], true);
    assert!(verify_log(&export(world, "").await, &["--key", &planted.public_key]).0);
    // Numbers on the list are found by their keyed hash.
    assert_eq!(world.list("/v1/dnc?phone=9812345678").await.len(), 1);
    decide(world, 5..6).await;
    assert_eq!(verify(world).await["verified"], true);
}

fn open(config: &Config) -> Store {
    Store::open(&dastak::service::store_settings(config), Arc::new(|_| ())).unwrap()
}

fn key(config: &Config) -> String {
    std::fs::read_to_string(config.data.join("master.key")).unwrap()
}

fn unique_line() -> String {
    static SERIAL: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    format!("olog_{}", SERIAL.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
}

/// Changes the key, and is interrupted after so many steps.
async fn change(config: &Config, steps: usize, new_witness: bool) -> Option<master_key::Changed> {
    let store = open(config);
    let change = Change::new(&Source::Folder(config.data.clone()), None, new_witness).unwrap();
    let mut changed = None;
    if steps > 0 {
        change.write_down().unwrap();
    }
    if steps > 1 {
        changed = Some(change.seal_anew(&store, Timestamp(1), unique_line()).await.unwrap());
    }
    if steps > 2 {
        change.put_in_place().unwrap();
    }
    changed
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_master_key_loses_nothing_wherever_it_is_interrupted() {
    for steps in 0..=3 {
        let world = World::bare().await;
        let planted = plant(&world).await;
        let stopped = world.stop().await;
        let config = stopped.config.clone();
        let old = key(&config);
        let changed = change(&config, steps, false).await;
        let world = stopped.clone().start().await;
        assert_eq!(key(&config) != old, steps > 1, "the new key holds from the commit on");
        assert!(!config.data.join("master.key.next").exists());
        check(&world, &planted).await;
        if let Some(changed) = changed {
            assert_eq!((changed.secrets, changed.heads, &changed.public_key), (2, 3, &planted.public_key));
        }
        // Run again, it completes, and the old key no longer opens anything. What is kept of it is put elsewhere.
        let stopped = world.stop().await;
        let config = stopped.config.clone();
        let before = key(&config);
        change(&config, 3, false).await;
        let after = key(&config);
        let kept = master_key::kept_keys(&config.data).unwrap();
        assert!(
            kept.iter().any(|(_, key)| format!("{}\n", key.text()) == before),
            "the old key is beside it"
        );
        assert!(master_key::discard_kept(&config.data).unwrap() > 0);
        std::fs::write(config.data.join("master.key"), &before).unwrap();
        let refused =
            Service::start(Config { public_url: String::new(), ..config.clone() }).await.err().unwrap();
        assert!(refused.contains("made with another master key"), "{refused}");
        std::fs::write(config.data.join("master.key"), &after).unwrap();
        let world = stopped.clone().start().await;
        let log = world.app.operator("GET", "/log", &Value::Null).await.expect(200);
        assert!(
            log["data"].as_array().unwrap().iter().any(|line| line["operation"] == "changeMasterKey"),
            "{log}"
        );
        assert_eq!(world.list("/v1/webhooks").await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_cannot_be_opened_stops_the_change_before_anything_changed() {
    let world = World::bare().await;
    let planted = plant(&world).await;
    let stopped = world.stop().await;
    let config = stopped.config.clone();
    {
        let store = open(&config);
        let spoil = |tx: &mut store::Tx<'_>| {
            tx.exec("update webhook_endpoints set secret = 'spoilt'", params![]).map(|_| ())
        };
        store.tx::<_, DbError>(spoil).await.unwrap();
        let change = Change::new(&Source::Folder(config.data.clone()), None, false).unwrap();
        change.write_down().unwrap();
        let why = change.seal_anew(&store, Timestamp(1), "olog_1".into()).await.err().unwrap();
        assert!(why.contains("the secret of webhook:whe_") && why.contains("nothing was changed"), "{why}");
    }
    let old = key(&config);
    let world = stopped.clone().start().await;
    assert_eq!(key(&config), old);
    check(&world, &planted).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_key_is_no_amnesty() {
    let world = World::bare().await;
    let planted = plant(&world).await;
    let tenant = world.tenant();
    let alter = move |tx: &mut store::Tx<'_>| {
        tx.exec("update decision_log_heads set seal = 'mine' where workspace = ?1", params![tenant])
            .map(|_| ())
    };
    world.app().store.tx::<_, DbError>(alter).await.unwrap();
    assert_eq!(verify(&world).await["verified"], false);
    let stopped = world.stop().await;
    let config = stopped.config.clone();
    change(&config, 3, true).await;
    let world = stopped.clone().start().await;
    assert_eq!(verify(&world).await["verified"], false);
    assert_ne!(world.app().keyring.public_key(), planted.public_key, "another key signs");
}

/// A store that was made before the keys were wrapped: everything derives from the master key, until it is
/// changed.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_of_an_early_version_opens_and_changes_its_key() {
    let world = World::bare().await;
    let stopped = world.stop().await;
    let config = stopped.config.clone();
    let master = dastak::runtime::crypto::MasterKey::open(&config.data.join("master.key")).unwrap();
    let check_value = master.early_check();
    {
        let store = open(&config);
        let early = move |tx: &mut store::Tx<'_>| {
            tx.exec("delete from installation where name = 'data_keys'", params![])?;
            tx.exec(
                "update installation set value = ?1 where name = 'master_key_check'",
                params![&check_value],
            )
            .map(|_| ())
        };
        store.tx::<_, DbError>(early).await.unwrap();
    }
    // Keys of the API that were made before are hashed with the keys that are gone.
    let world = {
        let started = stopped.clone().start().await;
        started.neighbour().await
    };
    let planted = plant(&world).await;
    check(&world, &planted).await;
    let stopped = world.stop().await;
    let config = stopped.config.clone();
    change(&config, 3, false).await;
    let world = stopped.clone().start().await;
    check(&world, &planted).await;
    // Without its row of keys a changed store refuses to open; it does not start with new keys.
    let config = world.stop().await.config;
    {
        let store = open(&config);
        store
            .tx::<_, DbError>(|tx| {
                tx.exec("delete from installation where name = 'data_keys'", params![]).map(|_| ())
            })
            .await
            .unwrap();
    }
    let refused = Service::start(Config { public_url: String::new(), ..config.clone() }).await.err().unwrap();
    assert!(refused.contains("missing from the store"), "{refused}");
    std::fs::remove_dir_all(Path::new(&config.data)).unwrap();
}

/// A copy of the store from before a change is put back, without its key: the old key is beside the new one, and both
/// are kept.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_from_before_a_change_opens_with_the_key_that_was_kept_on_sqlite() {
    needs_sqlite();
    let world = World::bare().await;
    let planted = plant(&world).await;
    let stopped = world.stop().await;
    let config = stopped.config.clone();
    let (store_file, copy) = (config.data.join("dastak.db"), config.data.join("copy.db"));
    let rest = || {
        for rest in ["dastak.db-wal", "dastak.db-shm"] {
            std::fs::remove_file(config.data.join(rest)).ok();
        }
    };
    std::fs::write(&copy, "").unwrap();
    store::db::backup_sqlite(&store_file, &copy).unwrap();
    let old = key(&config);
    change(&config, 3, false).await;
    let new = key(&config);
    assert_ne!(old, new);
    let later = config.data.join("later.db");
    std::fs::write(&later, "").unwrap();
    store::db::backup_sqlite(&store_file, &later).unwrap();
    for (file, expected) in [(copy, &old), (later, &new)] {
        std::fs::rename(&file, &store_file).unwrap();
        rest();
        let world = stopped.clone().start().await;
        assert_eq!(&key(&config), expected);
        check(&world, &planted).await;
        world.stop().await;
        // What was witnessed of the decision log since is of the other state.
        std::fs::remove_file(config.data.join("log-marks")).ok();
    }
    std::fs::remove_dir_all(&stopped.folder).unwrap();
}
