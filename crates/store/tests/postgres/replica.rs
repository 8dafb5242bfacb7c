//! Long reads on a streaming standby, and on the primary when it cannot. The servers are the test's own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use store::db::{ReplicaStatus, Wake};
use store::{DbError, Settings, Store};

use crate::raw;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres.sh");
const IN_RECOVERY: &str = "select case when pg_is_in_recovery() then 1 else 0 end";

static SERIAL: AtomicU32 = AtomicU32::new(0);

/// A primary with a streaming standby, in folders that go with it.
struct Pair {
    folder: PathBuf,
    primary: String,
    standby: String,
}

impl Pair {
    fn start() -> Self {
        let name = format!("replica-{}-{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join("dastak-tests").join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        // The user of the servers has to get there.
        run(Command::new("chmod").arg("755").arg(&folder).arg(folder.join("..")));
        let options = "-c fsync=off -c wal_level=replica";
        let start = |name: &str| {
            run(Command::new(SCRIPT).arg("start").arg(folder.join(name)).env("PG_OPTIONS", options))
        };
        let primary = start("primary").trim().to_owned();
        let data = folder.join("standby/data");
        run(Command::new("mkdir").arg("-p").arg(folder.join("standby")));
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(folder.join("standby")));
        }
        run(as_server("pg_basebackup").args(["-R", "-c", "fast", "-d", &primary, "-D"]).arg(&data));
        let standby = start("standby").trim().to_owned();
        Self { folder, primary, standby }
    }

    /// Stops the standby, or starts it again where it was.
    fn standby(&self, verb: &str) {
        let port = self.standby.rsplit_once(':').expect("a URL").1.split('/').next().expect("a port");
        let options = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=600"
        );
        let mut command = as_server("pg_ctl");
        command.arg("-D").arg(self.folder.join("standby/data")).args(["-w", "-m", "immediate"]);
        if verb == "start" {
            command.arg("-l").arg(self.folder.join("standby/log")).args(["-o", &options]);
        }
        run(command.arg(verb));
    }

    fn open(&self) -> Store {
        let settings = Settings::Postgres {
            url: self.primary.as_str().into(),
            connections: 1,
            ca: None,
            wake: Wake::Poll,
            replica: Some(self.standby.as_str().into()),
        };
        Store::open(&settings, Arc::new(|_| ())).expect("a store")
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in ["standby", "primary"] {
            let _ = Command::new(SCRIPT).arg("stop").arg(self.folder.join(name)).status();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn is_root() -> bool {
    run(Command::new("id").arg("-u")).trim() == "0"
}

/// A program of PostgreSQL, as the user that may run servers.
fn as_server(program: &str) -> Command {
    let versions = std::fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL").flatten();
    let found = versions.map(|one| one.path().join("bin").join(program)).find(|path| Path::exists(path));
    let found = found.expect("the program");
    if !is_root() {
        return Command::new(found);
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--"]).arg(found).current_dir("/");
    command
}

fn run(command: &mut Command) -> String {
    // A server that it starts keeps the pipe open, so nobody waits for its end.
    let out = std::env::temp_dir().join(format!("dastak-run-{}", SERIAL.fetch_add(1, Ordering::Relaxed)));
    let file = std::fs::File::create(&out).expect("a file");
    let status = command.stdout(file.try_clone().expect("a file")).stderr(file).status().expect("a program");
    let said = std::fs::read_to_string(&out).unwrap_or_default();
    let _ = std::fs::remove_file(&out);
    assert!(status.success(), "{command:?}: {said}");
    said
}

/// Which server a read ran on: 1 on the standby.
async fn server_of(store: &Store, far: bool) -> i64 {
    let look = |tx: &mut store::Tx<'_>| tx.one::<i64>(IN_RECOVERY, &[]);
    let seen: Result<Option<i64>, DbError> =
        if far { store.read_far(look).await } else { store.read_long(look).await };
    seen.expect("an answer").expect("a row")
}

async fn until(store: &Store, what: &str, fits: impl Fn(&ReplicaStatus) -> bool) {
    for _ in 0..1_200 {
        if store.replica().is_some_and(|standing| fits(&standing)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what} never came: {:?}", store.replica());
}

fn reads(standing: &ReplicaStatus) -> bool {
    matches!(standing, ReplicaStatus::Serving(_))
}

#[tokio::test(flavor = "multi_thread")]
async fn far_reads_go_to_a_standby_that_follows_and_else_to_the_primary_on_postgres() {
    let pair = Pair::start();
    let store = pair.open();
    until(&store, "a standby that follows", reads).await;
    assert_eq!((server_of(&store, true).await, server_of(&store, false).await), (1, 0));

    // It is gone: the read that finds out runs on the primary, and so do those after it.
    pair.standby("stop");
    assert_eq!(server_of(&store, true).await, 0);
    until(&store, "its absence", |standing| !reads(standing)).await;
    assert_eq!(server_of(&store, true).await, 0);
    pair.standby("start");
    until(&store, "its return", reads).await;
    assert_eq!(server_of(&store, true).await, 1);

    // It does not apply what it gets, while the primary goes on.
    let (primary, standby) = (raw(&pair.primary).await, raw(&pair.standby).await);
    standby.batch_execute("select pg_wal_replay_pause()").await.expect("a pause");
    primary.batch_execute("create table marks (n bigint)").await.expect("a table");
    until(
        &store,
        "its lag",
        |standing| matches!(standing, ReplicaStatus::Bypassed(why) if why.contains("behind")),
    )
    .await;
    assert_eq!(server_of(&store, true).await, 0);
    standby.batch_execute("select pg_wal_replay_resume()").await.expect("going on");
    until(&store, "its return", reads).await;
    assert_eq!(server_of(&store, true).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_the_standby_cancels_is_done_on_the_primary_on_postgres() {
    let pair = Pair::start();
    let primary = raw(&pair.primary).await;
    primary
        .batch_execute(
            "create table rows (n bigint) with (autovacuum_enabled = off); \
             insert into rows select generate_series(1, 1000)",
        )
        .await
        .expect("rows");
    let standby = raw(&pair.standby).await;
    let settings = "alter system set max_standby_streaming_delay = 0";
    standby.batch_execute(settings).await.expect("a setting");
    standby.batch_execute("select pg_reload_conf()").await.expect("a setting");
    let store = pair.open();
    until(&store, "a standby that follows", reads).await;
    while standby.query_one("select count(*) from rows", &[]).await.map_or(0, |row| row.get::<_, i64>(0))
        < 1000
    {}
    let (began, runs) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicU32::new(0)));
    let read = || {
        let (store, begins, runs) = (store.clone(), began.clone(), runs.clone());
        tokio::spawn(async move {
            store
                .read_far(move |tx| {
                    runs.fetch_add(1, Ordering::SeqCst);
                    let all: i64 = tx.one("select count(*) from rows", &[])?.unwrap_or(0);
                    let there: i64 = tx.one(IN_RECOVERY, &[])?.unwrap_or(1);
                    if there == 1 {
                        begins.notify_one();
                    }
                    // Long enough on the standby that it has to choose; the primary has no such wait.
                    let wait = "select case when pg_is_in_recovery() then length(cast(pg_sleep(60) as text)) else 0 end";
                    tx.one::<i64>(&format!("select cast(n as bigint) from ({wait}) as w (n)"), &[])?;
                    Ok::<_, DbError>((all, there))
                })
                .await
        })
    };
    // A machine that is busy may take the standby for one that does not answer: the primary does the read at once.
    let mut reading = read();
    loop {
        tokio::select! {
            () = began.notified() => break,
            done = &mut reading => assert_eq!(done.expect("a read").expect("an answer"), (1_000, 0)),
        }
        until(&store, "a standby that follows", reads).await;
        reading = read();
    }
    primary.batch_execute("delete from rows where n > 10").await.expect("a deletion");
    primary.batch_execute("vacuum rows").await.expect("a vacuum");
    assert_eq!(reading.await.expect("a read").expect("an answer"), (10, 0), "what the primary has");
    assert!(runs.load(Ordering::SeqCst) >= 2, "it ran again");
    let standing = store.replica().expect("a replica");
    let blamed = matches!(&standing, ReplicaStatus::Bypassed(why) if why.contains("recovery"));
    assert!(!blamed, "it is well but for this read: {standing:?}");
}
