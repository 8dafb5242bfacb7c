//! A process that ends after any step of `dastak restore`: nothing starts on what it leaves, and another restore finishes
//! it (docs/operating/README.md, Restore).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use dastak::cli::restore::restore;
use dastak::config::Values;

use crate::node::{BINARY, Folder, Node, TOKEN, fresh_database, on_postgres};

/// The name of the test below, by which it starts itself as the process that ends.
const TEST: &str = "restores::a_restore_that_ends_after_any_step_is_finished_by_the_next";
/// In that process: after how many steps it ends, from where to where it restores, and the database.
const STEPS: &str = "RESTORE_STEPS";
const FROM: &str = "RESTORE_FROM";
const TO: &str = "RESTORE_TO";
const URL: &str = "RESTORE_URL";
/// A recording whose file lies in the spool, and one that was stored while the backup was made.
const WAITING: [(&str, &str, &str); 2] = [
    ("call_01k9v5x2m8e6fs4v0q3n7w1y31", "rec_01k9v5x2m8e6fs4v0q3n7w1y31", "spool"),
    ("call_01k9v5x2m8e6fs4v0q3n7w1y32", "rec_01k9v5x2m8e6fs4v0q3n7w1y32", "recordings"),
];

/// What is restored, and where it is checked.
struct Scene {
    backup: PathBuf,
    target: PathBuf,
    url: Option<String>,
}

impl Scene {
    fn dastak(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(BINARY);
        command.args(arguments).arg("--data").arg(&self.target).env("DASTAK_OPERATOR_TOKEN", TOKEN);
        command.env("DASTAK_LISTEN", "127.0.0.1:0");
        command.envs(self.url.iter().map(|url| ("DASTAK_DATABASE_URL", url)));
        command.output().expect("the program")
    }

    fn restore(&self) -> Output {
        self.dastak(&["restore", self.backup.to_str().unwrap()])
    }

    /// A process that ends after so many steps of a restore; the name of the last one, none if there are fewer.
    fn ends_after(&self, steps: usize) -> Option<String> {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([TEST, "--exact", "--nocapture"]).env(STEPS, steps.to_string());
        command.env(FROM, &self.backup).env(TO, &self.target);
        command.envs(self.url.iter().map(|url| (URL, url)));
        let output = command.output().expect("this program");
        if output.status.success() {
            return None;
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let name = said.lines().find_map(|line| line.strip_prefix("ends after: "));
        Some(name.unwrap_or_else(|| panic!("it failed by itself: {said}")).to_owned())
    }

    async fn rows(&self, sql: &str) -> Vec<String> {
        match &self.url {
            None => {
                let store = rusqlite::Connection::open(self.target.join("dastak.db")).unwrap();
                let mut statement = store.prepare(sql).unwrap();
                let rows = statement.query_map([], |row| row.get(0)).unwrap();
                rows.map(Result::unwrap).collect()
            }
            Some(url) => query(url, sql).await,
        }
    }

    /// Everything is there.
    async fn is_complete(&self, after: &str) {
        assert!(!self.target.join("dastak.restoring").exists(), "after {after}");
        for name in ["master.key", "node.name"] {
            let both = [&self.backup, &self.target].map(|folder| std::fs::read(folder.join(name)).unwrap());
            assert_eq!(both[0], both[1], "{name} after {after}");
        }
        let files = self.rows("select file from after_calls order by call").await;
        for ((call, ..), file) in WAITING.iter().zip(&files) {
            assert!(Path::new(file).starts_with(self.target.join("spool")), "{file} after {after}");
            assert_eq!(std::fs::read_to_string(file).unwrap(), format!("RIFF {call}"), "after {after}");
        }
        assert_eq!(files.len(), WAITING.len());
        let told = self.rows("select subject from operator_log where operation = 'restoreBackup'").await;
        assert!(!told.is_empty(), "after {after}");
        let name = self.rows("select name from workspaces").await;
        assert_eq!(name, ["Acme"], "after {after}");
    }
}

async fn query(url: &str, sql: &str) -> Vec<String> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let rows = client.simple_query(sql).await.unwrap();
    let text = |row| match row {
        tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    };
    rows.into_iter().filter_map(text).collect()
}

/// In the process that ends: restores, and dies without another instruction when the steps are done.
async fn end_after(steps: usize) {
    let mut values = Values::default();
    let url = std::env::var(URL).ok();
    let data = std::env::var(TO).unwrap();
    let mut settings = vec![("data", data.as_str()), ("operator_token", TOKEN)];
    settings.extend(url.as_deref().map(|url| ("database_url", url)));
    for (name, text) in settings {
        values.add_text(name, text.to_owned(), "the test").unwrap();
    }
    let done = AtomicUsize::new(0);
    let reached = |name: &'static str| {
        if done.fetch_add(1, Ordering::SeqCst) + 1 == steps {
            eprintln!("\nends after: {name}");
            std::process::abort();
        }
    };
    let from = PathBuf::from(std::env::var(FROM).unwrap());
    restore(values.config(false).unwrap(), &from, &reached).await.unwrap();
}

/// A backup of a node whose two last recordings are not stored yet.
async fn scene(folder: &Path) -> Scene {
    let url = if on_postgres() { Some(fresh_database().await) } else { None };
    let environment: Vec<(&str, &str)> =
        url.iter().map(|url| ("DASTAK_DATABASE_URL", url.as_str())).collect();
    let data = folder.join("data");
    let node = Node::start(&data, &environment);
    let (workspace, _) = node.client.workspace().await;
    node.kill();
    let name = std::fs::read_to_string(data.join("node.name")).unwrap();
    for (call, recording, folder) in WAITING {
        let file = if folder == "spool" { format!("{call}.wav") } else { format!("{recording}.wav") };
        std::fs::create_dir_all(data.join(folder)).unwrap();
        std::fs::write(data.join(folder).join(file), format!("RIFF {call}")).unwrap();
        let sql = format!(
            "insert into after_calls (call, step, workspace, node, recording, file, attempts, next_at, created_at) values \
             ('{call}', 'recording', '{workspace}', '{}', '{recording}', '/lost/spool/{call}.wav', 0, 9000000000000, 0)",
            name.trim()
        );
        match &url {
            None => {
                let store = rusqlite::Connection::open(data.join("dastak.db")).unwrap();
                store.execute(&sql, []).unwrap();
            }
            Some(url) => drop(query(url, &sql).await),
        }
    }
    let backup = folder.join("backup");
    let made = Scene { backup: backup.clone(), target: data, url: url.clone() };
    let output = made.dastak(&["backup", &format!("{}/", backup.display())]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Scene { backup, target: folder.join("restored"), url }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_ends_after_any_step_is_finished_by_the_next() {
    if let Ok(steps) = std::env::var(STEPS) {
        return end_after(steps.parse().unwrap()).await;
    }
    let folder = Folder::new();
    let scene = scene(&folder.0).await;
    let mut names = BTreeSet::new();
    let refuses = |after: &str| {
        let output = scene.dastak(&["serve"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("was interrupted"), "after {after}: {said}");
    };
    for steps in 1.. {
        let _ = std::fs::remove_dir_all(&scene.target);
        let Some(name) = scene.ends_after(steps) else { break };
        names.insert(name.clone());
        if name == "released" {
            scene.is_complete(&name).await;
            let again = scene.restore();
            assert!(String::from_utf8_lossy(&again.stderr).contains("has an installation already"));
            continue;
        }
        refuses(&name);
        // The next one begins anew, and may end as well.
        let again = scene.ends_after(steps).expect("it has more steps than the first one");
        names.insert(again.clone());
        if again != "released" {
            refuses(&format!("{name} and {again}"));
            let finished = scene.restore();
            assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stderr));
        }
        scene.is_complete(&format!("{name} and {again}")).await;
    }
    let all = [
        "marked",
        "removed",
        "file copied",
        "files durable",
        "store opened",
        "spool filled",
        "checked",
        "settled",
        "released",
    ];
    assert_eq!(names, BTreeSet::from(all.map(str::to_owned)));
}

/// A service that begins in the same folder between a restore's look and its mark keeps its files.
#[tokio::test(flavor = "multi_thread")]
async fn a_restore_removes_nothing_that_another_has_just_made() {
    let folder = Folder::new();
    let scene = scene(&folder.0).await;
    let mut values = Values::default();
    let data = scene.target.display().to_string();
    let mut settings = vec![("data", data.as_str()), ("operator_token", TOKEN)];
    settings.extend(scene.url.as_deref().map(|url| ("database_url", url)));
    for (name, text) in settings {
        values.add_text(name, text.to_owned(), "the test").unwrap();
    }
    let began = scene.target.join("dastak.db");
    let reached = |name: &'static str| {
        if name == "marked" {
            std::fs::write(&began, "of the other").unwrap();
        }
    };
    let refused = restore(values.config(false).unwrap(), &scene.backup, &reached).await.unwrap_err();
    assert!(refused.contains("has an installation already"), "{refused}");
    assert_eq!(std::fs::read_to_string(&began).unwrap(), "of the other");
    assert!(!scene.target.join("dastak.restoring").exists());
}
