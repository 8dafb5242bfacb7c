//! Nobody but the owner reads what the service writes, whatever the shell allows and whatever the files were
//! before; and the master key is changed from the command line.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};

use crate::node::{BINARY, Folder, Node, fresh_database, on_postgres};

/// `dastak` under a shell that gives everybody everything.
fn open_handed(arguments: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("umask 000; exec {BINARY} {arguments}")]);
    command
}

/// Everything below a folder, and the folder.
fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        if path.is_dir() {
            found.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        next += 1;
    }
    found
}

#[track_caller]
fn private(folder: &Path) {
    for path in all(folder) {
        // What the store removes at the same moment is gone.
        let Ok(found) = std::fs::symlink_metadata(&path) else { continue };
        let mode = found.permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} has the rights {mode:o}", path.display());
    }
}

async fn environment() -> Vec<(&'static str, String)> {
    let mut environment =
        vec![("DASTAK_CLOCK", "manual".into()), ("DASTAK_TELEPHONY__CARRIER", "sandbox".into())];
    if on_postgres() {
        environment.push(("DASTAK_DATABASE_URL", fresh_database().await));
    }
    environment
}

fn borrowed<'e>(environment: &'e [(&'static str, String)]) -> Vec<(&'static str, &'e str)> {
    environment.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_the_owners_alone() {
    let folder = Folder::new();
    let data = folder.0.join("data");
    let environment = environment().await;
    let node = Node::spawn(
        open_handed(&format!("serve --listen 127.0.0.1:0 --data {}", data.display())),
        &borrowed(&environment),
    );
    let (_, key) = node.client.workspace().await;
    let body = json!({"externalRef": "r", "phone": "9812345678", "optOut": true});
    assert_eq!(node.client.send("POST", "/v1/contacts", &key, &[], &body).await.unwrap().0, 201);
    private(&data);
    assert!(data.join("master.key").exists());
    node.kill();
    // As an early version, or a copy made by hand, may have left them.
    std::fs::create_dir_all(data.join("recordings/ws_1")).unwrap();
    std::fs::create_dir_all(data.join("spool")).unwrap();
    for file in ["recordings/ws_1/a.wav", "spool/b.wav", "operator.token"] {
        std::fs::write(data.join(file), "0123456789abcdef").unwrap();
    }
    std::fs::write(data.join("notes.txt"), "of somebody else").unwrap();
    for path in all(&data) {
        std::fs::set_permissions(
            &path,
            std::fs::Permissions::from_mode(if path.is_dir() { 0o777 } else { 0o666 }),
        )
        .unwrap();
    }
    let node = Node::spawn(
        open_handed(&format!("serve --listen 127.0.0.1:0 --data {}", data.display())),
        &borrowed(&environment),
    );
    assert_eq!(node.client.workspace().await.0.get(..3), Some("ws_"));
    let notes = std::fs::metadata(data.join("notes.txt")).unwrap().permissions().mode();
    assert_eq!(notes & 0o777, 0o666, "what is not ours is left alone");
    std::fs::remove_file(data.join("notes.txt")).unwrap();
    private(&data);
    if !on_postgres() {
        let copy = folder.0.join("copy.db");
        let done =
            open_handed(&format!("backup --data {} {}", data.display(), copy.display())).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        for file in [copy.clone(), folder.0.join("copy.db.master.key")] {
            private(&file);
            assert!(std::fs::metadata(&file).unwrap().len() > 40);
        }
        // A failed command leaves nothing behind.
        std::fs::remove_file(data.join("master.key")).unwrap();
        let failed =
            open_handed(&format!("backup --data {} {}/other.db", data.display(), folder.0.display()))
                .output()
                .unwrap();
        assert!(!failed.status.success() && !folder.0.join("other.db").exists());
    }
}

fn rotate(data: &Path, environment: &[(&'static str, String)]) -> Command {
    let mut command = Command::new(BINARY);
    command
        .args(["rotate-master-key", "--nodes-stopped", "--data"])
        .arg(data)
        .envs(borrowed(environment).into_iter().filter(|(name, _)| *name == "DASTAK_DATABASE_URL"));
    command
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_master_key_that_is_changed_under_fire_loses_nothing() {
    let folder = Folder::new();
    let environment = environment().await;
    let node = Node::start(&folder.0, &borrowed(&environment));
    let (workspace, key) = node.client.workspace().await;
    let tool = json!({"type": "webhook", "name": "look_up", "description": "d", "config": {"url": "https://tools.example/x"}});
    let made = node.client.operator("POST", &format!("/workspaces/{workspace}/tools"), &tool).await;
    assert_eq!(made.0, 201, "{}", made.2);
    let body = json!({"externalRef": "r", "phone": "9812345678", "optOut": true});
    assert_eq!(node.client.send("POST", "/v1/contacts", &key, &[], &body).await.unwrap().0, 201);
    if !on_postgres() {
        let refused = rotate(&folder.0, &environment).output().unwrap();
        assert!(
            !refused.status.success() && words(&refused).contains("in use by another dastak process"),
            "{}",
            words(&refused)
        );
    } else {
        let mut careless = Command::new(BINARY);
        careless.args(["rotate-master-key", "--data"]).arg(&folder.0).envs(borrowed(&environment));
        let refused = careless.output().unwrap();
        assert!(
            !refused.status.success() && words(&refused).contains("--nodes-stopped"),
            "{}",
            words(&refused)
        );
    }
    let log_of = |node: &Node| {
        let (client, key) = (node.client.clone(), key.clone());
        async move {
            let log = client.send("GET", "/v1/audit/verify", &key, &[], &Value::Null).await.unwrap();
            assert!(log.0 == 200 && log.2["data"]["verified"] == true, "{}", log.2);
            log.2
        }
    };
    let written = log_of(&node).await;
    assert_eq!(written["data"]["chains"][2]["records"], 1, "the consent: {written}");
    node.kill();
    let whole = |node: &Node| {
        let (log, written) = (log_of(node), written.clone());
        async move { assert_eq!(log.await, written) }
    };
    // Killed somewhere between its first breath and its end.
    for delay in [0, 10, 20, 30, 40, 60, 90, 140] {
        let mut child = rotate(&folder.0, &environment).stderr(std::process::Stdio::null()).spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(delay)).await;
        let _ = child.kill();
        child.wait().unwrap();
        let node = Node::start(&folder.0, &borrowed(&environment));
        whole(&node).await;
        assert!(!folder.0.join("master.key.next").exists());
        node.kill();
    }
    let before = std::fs::read_to_string(folder.0.join("master.key")).unwrap();
    let done = rotate(&folder.0, &environment).output().unwrap();
    assert!(
        done.status.success() && words(&done).contains("the master key is changed: 1 secrets"),
        "{}",
        words(&done)
    );
    assert_ne!(std::fs::read_to_string(folder.0.join("master.key")).unwrap(), before);
    whole(&Node::start(&folder.0, &borrowed(&environment))).await;
    // A key from the settings goes to a file that the operator names.
    let new_key = folder.0.join("new.key");
    let current = std::fs::read_to_string(folder.0.join("master.key")).unwrap().trim().to_owned();
    let with_setting = |more: &[&str]| {
        rotate(&folder.0, &environment).env("DASTAK_MASTER_KEY", &current).args(more).output().unwrap()
    };
    let missing = with_setting(&[]);
    assert!(!missing.status.success() && words(&missing).contains("--new-key FILE"), "{}", words(&missing));
    let done = with_setting(&["--new-key", new_key.to_str().unwrap(), "--new-signing-key"]);
    assert!(done.status.success() && words(&done).contains("tell those who check them"), "{}", words(&done));
    let kept = std::fs::read_dir(&folder.0).unwrap().flatten();
    let mut kept = kept.filter(|entry| entry.file_name().to_string_lossy().starts_with("new.key."));
    let old = std::fs::read_to_string(kept.next().expect("the old key is kept").path()).unwrap();
    assert!(kept.next().is_none() && old.trim() == current);
    let mut environment = environment.clone();
    environment.push(("DASTAK_MASTER_KEY", std::fs::read_to_string(&new_key).unwrap().trim().to_owned()));
    whole(&Node::start(&folder.0, &borrowed(&environment))).await;
}
