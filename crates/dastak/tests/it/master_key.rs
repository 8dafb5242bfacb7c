//! The master key is changed; nothing is lost, wherever the change is interrupted.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use dastak::app::master_key::{self, Change, Source};
use dastak::app::tool_calls;
use dastak::config::Config;
use dastak::service::Service;
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::{DbError, Store, params};

use crate::app::{TestApp, Workspace, needs_sqlite};
use crate::decision_log::{decide, export, verify, verify_log};

/// Everything that a master key protects.
struct Planted {
    workspace: Workspace,
    tool: String,
    public_key: String,
}

async fn plant(app: &TestApp) -> Planted {
    let workspace = app.workspace().await;
    let config = json!({"url": "https://tools.example/x", "headers": {"x-secret": "of the tool"}});
    let body = json!({"type": "webhook", "name": "look_up", "description": "Looks up", "config": config});
    let tool = app.operator("POST", &format!("/workspaces/{}/tools", workspace.id), &body).await.expect(201);
    app.post(&workspace.live, "/v1/webhooks", &json!({"url": "https://hooks.example/x"})).await.expect(201);
    app.post(
        &workspace.live,
        "/v1/contacts",
        &json!({"externalRef": "r", "phone": "9812345678", "optOut": true}),
    )
    .await
    .expect(201);
    decide(app, &workspace, 0..5).await;
    Planted {
        tool: tool["data"]["id"].as_str().unwrap().to_owned(),
        public_key: app.app().keyring.public_key(),
        workspace,
    }
}

/// All of it is there and can be used.
async fn check(app: &TestApp, planted: &Planted) {
    let workspace = &planted.workspace;
    let config = tool_calls::webhook(app.app(), workspace.id.parse().unwrap(), planted.tool.parse().unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(serde_json::to_value(&config).unwrap()["headers"]["x-secret"], "of the tool");
    assert_eq!(verify(app, workspace).await["verified"], true);
    assert!(verify_log(&export(app, workspace, "").await, &["--key", &planted.public_key]).0);
    // Numbers on the list are found by their keyed hash.
    let listed = app.get(&workspace.live, "/v1/dnc?phone=9812345678").await.expect(200);
    assert_eq!(listed["data"].as_array().unwrap().len(), 1, "{listed}");
    decide(app, workspace, 5..6).await;
    assert_eq!(verify(app, workspace).await["verified"], true);
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
        let app = TestApp::start().await;
        let planted = plant(&app).await;
        let (config, folder) = app.stop().await;
        let old = key(&config);
        let changed = change(&config, steps, false).await;
        let app = TestApp::start_again((config.clone(), folder)).await;
        assert_eq!(key(&config) != old, steps > 1, "the new key holds from the commit on");
        assert!(!config.data.join("master.key.next").exists());
        check(&app, &planted).await;
        if let Some(changed) = changed {
            assert_eq!((changed.secrets, changed.heads, &changed.public_key), (2, 2, &planted.public_key));
        }
        // Run again, it completes, and the old key no longer opens anything. What is kept of it is put elsewhere.
        let (config, folder) = app.stop().await;
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
        let app = TestApp::start_again((config, folder)).await;
        let log = app.operator("GET", "/log", &Value::Null).await.expect(200);
        assert!(
            log["data"].as_array().unwrap().iter().any(|line| line["operation"] == "changeMasterKey"),
            "{log}"
        );
        let listed = app
            .send("GET", "/v1/webhooks", Some(&planted.workspace.live), &[], Bytes::new())
            .await
            .expect(200);
        assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_cannot_be_opened_stops_the_change_before_anything_changed() {
    let app = TestApp::start().await;
    let planted = plant(&app).await;
    let (config, folder) = app.stop().await;
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
    let app = TestApp::start_again((config.clone(), folder)).await;
    assert_eq!(key(&config), old);
    check(&app, &planted).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_key_is_no_amnesty() {
    let app = TestApp::start().await;
    let planted = plant(&app).await;
    let tenant: domain::tenant::Tenant = planted.workspace.id.parse().unwrap();
    let alter = move |tx: &mut store::Tx<'_>| {
        tx.exec("update decision_log_heads set seal = 'mine' where workspace = ?1", params![tenant])
            .map(|_| ())
    };
    app.app().store.tx::<_, DbError>(alter).await.unwrap();
    assert_eq!(verify(&app, &planted.workspace).await["verified"], false);
    let (config, folder) = app.stop().await;
    change(&config, 3, true).await;
    let app = TestApp::start_again((config, folder)).await;
    assert_eq!(verify(&app, &planted.workspace).await["verified"], false);
    assert_ne!(app.app().keyring.public_key(), planted.public_key, "another key signs");
}

/// A store that was made before the keys were wrapped: everything derives from the master key, until it is
/// changed.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_of_an_early_version_opens_and_changes_its_key() {
    let app = TestApp::start().await;
    let (config, folder) = app.stop().await;
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
    let app = TestApp::start_again((config, folder)).await;
    let planted = plant(&app).await;
    check(&app, &planted).await;
    let (config, folder) = app.stop().await;
    change(&config, 3, false).await;
    let app = TestApp::start_again((config, folder)).await;
    check(&app, &planted).await;
    // Without its row of keys a changed store refuses to open; it does not start with new keys.
    let (config, _folder) = app.stop().await;
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
    let app = TestApp::start().await;
    let planted = plant(&app).await;
    let (config, folder) = app.stop().await;
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
        let app = TestApp::start_again((config.clone(), folder.clone())).await;
        assert_eq!(&key(&config), expected);
        check(&app, &planted).await;
        app.stop().await;
        // What was witnessed of the decision log since is of the other state.
        std::fs::remove_file(config.data.join("log-marks")).ok();
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
