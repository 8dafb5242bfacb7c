//! A backup folder that is made while the service works, and what a restore puts back (docs/operating/README.md).

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dastak::app::tool_calls;
use dastak::config::Config;
use dastak::service::Service;
use domain::call::RecordedFile;
use domain::call::Report;
use serde_json::{Value, json};

use crate::after_call::{Held, Line, Shelf, talk};
use crate::app::{TestApp, needs_sqlite};
use crate::knowledge;
use crate::world::World;

const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\nThe customer's picture.";

/// Runs the program on the store of these settings.
async fn dastak(config: &Config, args: Vec<String>) -> (bool, String) {
    let url = config.database_url.as_ref().map(|url| url.to_string());
    let run = move || -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dastak"));
        command.args(args).env("DASTAK_TELEPHONY__MAY_DIAL_TWICE_AFTER_FAILOVER", "true");
        command.envs(url.map(|url| ("DASTAK_DATABASE_URL", url)));
        command.output().expect("the program")
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

async fn restore(config: &Config, from: &Path, to: &Path) -> (bool, String) {
    let args = ["restore", from.to_str().unwrap(), "--data", to.to_str().unwrap()];
    dastak(config, args.map(str::to_owned).to_vec()).await
}

async fn backup(config: &Config, to: &Path) -> (bool, String) {
    let args = ["backup", "--data", config.data.to_str().unwrap(), &format!("{}/", to.display())];
    dastak(config, args.map(str::to_owned).to_vec()).await
}

/// A folder beside that of a test, which is removed with it.
fn beside(config: &Config, name: &str) -> PathBuf {
    config.data.with_file_name(format!("{}-{name}", config.data.file_name().unwrap().to_str().unwrap()))
}

/// Everything that a restore has to bring back, in a service that works.
struct Scene {
    tool: String,
    base: String,
    recorded: String,
    unsent: String,
    media: String,
}

fn recorded(file: &Path, text: String) -> Report {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
    let recording = RecordedFile { path: file.display().to_string(), duration_ms: 4_000 };
    Report { recording: Some(recording), ..talk() }
}

impl Scene {
    async fn open() -> (Held, Self) {
        let app = TestApp::start_ports(Arc::new(Line), |_| (), |_| ()).await;
        // The shelf is not used: objects are files of the data folder.
        let held = Held::open_in(app, Arc::new(Shelf::default())).await;
        let config = json!({"url": "https://tools.example/x", "headers": {"x-secret": "of the tool"}});
        let body = json!({"type": "webhook", "name": "look_up", "description": "Looks up", "config": config});
        let tool = held.operator("POST", "/tools", body.clone()).await.expect(201);
        let base = held.knowledge_base().await;
        knowledge::add(&held, &base, Some("Hours"), "The shop opens at nine.").await;
        let recorded_call =
            held.held(|held, call| recorded(&held.spooled(call), format!("RIFF the voice of {call}"))).await;
        let path = format!("/v1/calls/{recorded_call}");
        held.until(held.live(), &path, |call| call["data"]["recordingUrl"].is_string()).await;
        // The object store takes nothing for a while: this one stays a file of the node.
        let unfinished = held.app().config.data.join(".unfinished");
        std::fs::remove_dir_all(&unfinished).unwrap();
        std::fs::write(&unfinished, "no folder").unwrap();
        let unsent =
            held.held(|held, call| recorded(&held.spooled(call), format!("RIFF the voice of {call}"))).await;
        assert_eq!(held.detail(&unsent).await["recordingUrl"], Value::Null);
        std::fs::remove_file(&unfinished).unwrap();
        std::fs::create_dir(&unfinished).unwrap();
        let media = Self::picture(&held).await;
        let tool = tool["data"]["id"].as_str().unwrap().to_owned();
        (held, Self { tool, base, recorded: recorded_call, unsent, media })
    }

    /// A picture that a customer has sent; the path of its bytes.
    async fn picture(held: &Held) -> String {
        let number = held.connect_sandbox().await;
        let media = json!({"type": "image", "mimeType": "image/png", "data": STANDARD.encode(PICTURE)});
        let body = json!({"phoneNumberId": number, "from": "+919812399991", "media": media});
        held.send("POST", "/dev/chatapp/inbound", None, &[], body.to_string().into()).await.expect(200);
        let listed = held
            .until(held.live(), "/v1/chatapp/messages", |listed| {
                listed["data"].as_array().is_some_and(|all| !all.is_empty())
            })
            .await;
        let path = format!("/v1/chatapp/messages/{}/media", listed["data"][0]["messageId"].as_str().unwrap());
        for _ in 0..100 {
            if held.fetch(&path).await.status == 200 {
                return path;
            }
            held.advance(1).await;
        }
        panic!("the picture was never fetched");
    }

    /// All of it is there, in another service.
    async fn is_in(&self, world: &World) {
        world.get("/v1/me").await;
        let tool = tool_calls::webhook(world.app(), world.tenant(), self.tool.parse().unwrap());
        let config = serde_json::to_value(tool.await.unwrap().unwrap()).unwrap();
        assert_eq!(config["headers"]["x-secret"], "of the tool", "sealed secrets open");
        for call in [&self.recorded, &self.unsent] {
            let path = format!("/v1/calls/{call}");
            let detail =
                world.until(world.live(), &path, |call| call["data"]["recordingUrl"].is_string()).await;
            let link =
                detail["data"]["recordingUrl"].as_str().unwrap().strip_prefix(&world.url).unwrap().to_owned();
            let sound = world.send("GET", &link, None, &[], bytes::Bytes::new()).await;
            assert_eq!((sound.status, sound.text), (200, format!("RIFF the voice of {call}")));
        }
        let picture = world.fetch(&self.media).await;
        assert_eq!((picture.status, picture.text), (200, String::from_utf8_lossy(PICTURE).into_owned()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_was_made_amid_work_is_restored_and_serves() {
    let (held, scene) = Scene::open().await;
    let config = held.app().config.clone();
    let folder = beside(&config, "backup");
    let cookie = held.member(domain::tenant::Role::Owner).await.cookie;
    let session = [("cookie", cookie.as_str())];
    held.send("GET", "/console/api/me", None, &session, bytes::Bytes::new()).await.expect(200);
    // Somebody works meanwhile.
    let made = tokio::sync::Notify::new();
    let working = async {
        let mut number = 0;
        loop {
            let body = json!({"externalRef": format!("r{number}"), "phone": format!("98{:08}", 10_000_000 + number)});
            held.post("/v1/contacts", &body).await.expect(201);
            number += 1;
            if number == 3 {
                made.notify_one();
            }
        }
    };
    let backing_up = async {
        made.notified().await;
        backup(&config, &folder).await
    };
    let (done, said) = tokio::select! {
        done = backing_up => done,
        () = working => unreachable!("it works for ever"),
    };
    assert!(done, "{said}");
    // What comes afterwards is lost, where the store is part of the backup.
    knowledge::add(&held, &scene.base, Some("Rain"), "Umbrellas are at the door.").await;
    let (again, said) = backup(&config, &folder).await;
    assert!(!again && said.contains("is not empty"), "{said}");
    let (done, said) = restore(&config, &folder, &config.data).await;
    assert!(!done && said.contains("has an installation already"), "{said}");
    let (token, now) = (held.operator_token.clone(), held.now().await);
    let mut stopped = held.world.stop().await;
    let (config, place) = (stopped.config.clone(), stopped.folder.clone());

    // A file that was altered is refused, and leaves nothing behind.
    let target = beside(&config, "restored");
    let recordings = folder.join("recordings");
    let recording = std::fs::read_dir(&recordings).unwrap().next().unwrap().unwrap().path();
    let sound = std::fs::read(&recording).unwrap();
    std::fs::write(&recording, "RIFF something else").unwrap();
    let (done, said) = restore(&config, &folder, &target).await;
    assert!(!done && said.contains("its SHA-256 differs"), "{said}");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
    std::fs::write(&recording, sound).unwrap();
    // One that was interrupted is no installation until it is done again.
    std::fs::write(target.join("dastak.restoring"), "").unwrap();
    std::fs::write(target.join("dastak.db"), "half a store").unwrap();
    let restored = Config {
        data: target.clone(),
        public_url: String::new(),
        operator_token: String::new().into(),
        ..config.clone()
    };
    let storage = providers::settings::Storage::Files(target.clone());
    let restored =
        Config { providers: dastak::config::Providers { storage, ..restored.providers.clone() }, ..restored };
    let refused = Service::start(restored.clone()).await.err().unwrap();
    assert!(refused.contains("was interrupted; run dastak restore again"), "{refused}");
    let (done, said) = restore(&config, &folder, &target).await;
    assert!(done, "{said}");
    for line in [
        "recordings: 1, all there",
        "received files: 1, all there",
        "opens the store",
        "recordings that were not stored yet: 1",
    ] {
        assert!(said.contains(line), "«{line}» is told: {said}");
    }
    std::fs::remove_dir_all(&place).unwrap();

    (stopped.config, stopped.folder) = (restored, target);
    let world = stopped.start_ports(Arc::new(Line), |_| ()).await;
    world.set_clock(&now).await;
    // The recording that could not be stored is tried again.
    world.advance(3600).await;
    assert_eq!(world.operator_token, token, "the operator token is that of the backup");
    scene.is_in(&world).await;
    // One that was revoked since the backup would be open again.
    world
        .send("GET", "/console/api/me", None, &session, bytes::Bytes::new())
        .await
        .refused(401, "unauthorized");
    assert_eq!(knowledge::found(&world, world.live(), &scene.base, "opens").await.len(), 1);
    let log = world.app.operator("GET", "/log", &Value::Null).await.expect(200);
    assert!(log["data"].as_array().unwrap().iter().any(|line| line["operation"] == "restoreBackup"), "{log}");
    world.agent(&json!({"systemPrompt": "Work goes on."})).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

/// As documented for a copy of the store alone: it is put back in the same data folder, whose indexes are of the
/// state that is lost.
#[tokio::test]
async fn an_index_of_a_lost_state_never_answers_on_sqlite() {
    needs_sqlite();
    let world = World::bare().await;
    let base = world.knowledge_base().await;
    knowledge::add(&world, &base, Some("Hours"), "The shop opens at nine.").await;
    let data = world.app().config.data.clone();
    let copy = data.join("copy.db");
    std::fs::write(&copy, "").unwrap();
    store::db::backup_sqlite(&data.join("dastak.db"), &copy).unwrap();
    knowledge::add(&world, &base, Some("Rain"), "Umbrellas are at the door.").await;
    assert_eq!(knowledge::found(&world, world.live(), &base, "umbrellas").await.len(), 1);
    let stopped = world.stop().await;
    std::fs::rename(&copy, data.join("dastak.db")).unwrap();
    for rest in ["dastak.db-wal", "dastak.db-shm"] {
        std::fs::remove_file(data.join(rest)).ok();
    }
    let world = stopped.start().await;
    // As many changes as the lost state had, so a count of changes would not tell them apart.
    knowledge::add(&world, &base, Some("Fees"), "Delivery costs fifty rupees.").await;
    assert_eq!(
        knowledge::found(&world, world.live(), &base, "umbrellas").await,
        Vec::<String>::new(),
        "another document's text is no answer"
    );
    assert_eq!(
        knowledge::found(&world, world.live(), &base, "delivery").await,
        ["Delivery costs fifty rupees."]
    );
    assert_eq!(knowledge::found(&world, world.live(), &base, "opens").await.len(), 1);
}
