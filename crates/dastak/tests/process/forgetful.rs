//! Trunks do not dial over a database that may forget what it has acknowledged: after a failover the same people would
//! be called again (docs/contract/operator.md#health).

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::exchange::Exchange;
use crate::node::{BINARY, Folder, Node, TOKEN, needs_postgres};
use crate::phone_calls::{Office, serve};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres.sh");

/// A PostgreSQL server of its own that waits for its commits.
struct Server {
    folder: Folder,
    url: String,
}

impl Server {
    fn start() -> Self {
        let folder = Folder::new();
        // The user of the server has to get there.
        let open = Command::new("chmod").arg("755").arg(&folder.0).arg(folder.0.join("..")).status();
        assert!(open.expect("chmod").success());
        let started = Command::new(SCRIPT)
            .arg("start")
            .arg(folder.0.join("pg"))
            .env("PG_OPTIONS", "-c fsync=off -c wal_level=replica")
            .output()
            .expect("the script");
        let url = String::from_utf8(started.stdout).expect("a URL").trim().to_owned();
        assert!(!url.is_empty(), "{}", String::from_utf8_lossy(&started.stderr));
        Self { folder, url }
    }

    async fn tell(&self, sql: &str) {
        let (client, connection) =
            tokio_postgres::connect(&self.url, tokio_postgres::NoTls).await.expect("the server answers");
        tokio::spawn(connection);
        client.batch_execute(sql).await.expect(sql);
    }

    /// Somebody who takes the server's log as a standby does, and for whom no commit waits.
    fn standby(&self) -> Standby {
        let bin = std::fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL").flatten();
        let program = bin.map(|one| one.path().join("bin/pg_receivewal")).find(|one| one.exists());
        let folder = Folder::new();
        let child = Command::new(program.expect("pg_receivewal"))
            .args(["--no-loop", "-d", &format!("{}?application_name=standby", self.url), "-D"])
            .arg(&folder.0)
            .stderr(Stdio::null())
            .spawn()
            .expect("pg_receivewal starts");
        Standby { child, _folder: folder }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new(SCRIPT).arg("stop").arg(self.folder.0.join("pg")).status();
    }
}

struct Standby {
    child: Child,
    _folder: Folder,
}

impl Drop for Standby {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until the node has seen whether its database may forget; what it says of it.
async fn until_told(node: &Node, told: bool) -> String {
    let words = |said: &Value| said["warnings"].as_array().map(|all| all[0].to_string());
    let answer = node.client.until("GET", "/readyz", |answer| {
        answer.as_ref().is_some_and(|one| one.0 == 200 && words(&one.2).is_some() == told)
    });
    answer.await.and_then(|one| words(&one.2)).unwrap_or_default()
}

async fn doctor(folder: &Folder, server: &Server, exchange: &Exchange) -> Value {
    let mut command = Command::new(BINARY);
    command.args(["doctor", "--json", "--data"]).arg(&folder.0).envs([
        ("DASTAK_DATABASE_URL", server.url.as_str()),
        ("DASTAK_TELEPHONY__CARRIER", "sip"),
        ("DASTAK_TELEPHONY__SIP__LISTEN", "127.0.0.1:0"),
        ("DASTAK_TELEPHONY__SIP__TRUNKS", &exchange.trunk()),
    ]);
    let asked = tokio::task::spawn_blocking(move || command.output().expect("the binary starts"));
    let output = asked.await.expect("an answer");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let find = |name: &str| {
        said["components"].as_array().and_then(|all| all.iter().find(|one| one["component"] == name)).cloned()
    };
    json!({"failover": find("failover"), "clock": find("clock")})
}

#[tokio::test(flavor = "multi_thread")]
async fn trunks_do_not_dial_over_a_database_that_may_forget_on_postgres() {
    needs_postgres();
    let (server, exchange) = (Server::start(), Exchange::start().await);
    let folders = [Folder::new(), Folder::new()];
    let strict = [
        ("DASTAK_DATABASE_URL", server.url.as_str()),
        ("DASTAK_TELEPHONY__MAY_DIAL_TWICE_AFTER_FAILOVER", "false"),
    ];
    let node = serve(&folders[0].0, &exchange, &strict);
    let office = Office::open(&node.client).await;
    // Commits wait for the disk, and nobody could take over who does not know them.
    until_told(&node, false).await;
    let id = office.place("+919812300099").await;
    assert_eq!(office.ended(&id).await["endCause"], "busy");
    let well = doctor(&folders[0], &server, &exchange).await;
    assert_eq!((&well["failover"]["ok"], &well["clock"]["ok"]), (&json!(true), &json!(true)), "{well}");

    let standby = server.standby();
    let told = until_told(&node, true).await;
    assert!(told.contains("none is synchronous") && told.contains("trunks do not dial"), "{told}");
    let (status, headers, refused) = office.try_place("+919812300095").await.expect("an answer");
    assert_eq!((status, refused["code"].as_str()), (503, Some("voice_unavailable")), "{refused}");
    assert!(headers.contains_key("retry-after"));
    let due = format!("/v1/scheduled-calls/{}", office.schedule("+919812300096").await);
    let held = office.until(&due, "what is due waits", |call| call["reason"] == "provider_error").await;
    assert_eq!((&held["status"], &held["attempts"]), (&json!("scheduled"), &json!(0)), "{held}");
    let ill = doctor(&folders[0], &server, &exchange).await;
    assert_eq!((&ill["failover"]["ok"], &ill["clock"]["ok"]), (&json!(false), &json!(true)), "{ill}");
    let figures = node.client.send("GET", "/metrics", TOKEN, &[], &Value::Null).await.expect("figures");
    assert_eq!(figures.0, 200);

    // Somebody who has read what it means.
    let other = serve(&folders[1].0, &exchange, &[("DASTAK_DATABASE_URL", server.url.as_str())]);
    let told = until_told(&other, true).await;
    assert!(told.contains("trunks dial all the same"), "{told}");
    let id = office.at(&other).place("+919812300098").await;
    assert_eq!(office.ended(&id).await["endCause"], "busy");
    drop(other);
    drop(standby);

    until_told(&node, false).await;
    let id = office.place("+919812300095").await;
    assert_eq!(office.ended(&id).await["endCause"], "busy");
    // For sessions that begin from now on.
    server.tell("alter database postgres set synchronous_commit = off").await;
    server
        .tell("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()")
        .await;
    let told = until_told(&node, true).await;
    assert!(told.contains("synchronous_commit is off"), "{told}");
    let (status, _, refused) = office.try_place("+919812300094").await.expect("an answer");
    assert_eq!((status, refused["code"].as_str()), (503, Some("voice_unavailable")), "{refused}");
    let dialled: Vec<String> = exchange.seen().invites.keys().cloned().collect();
    assert_eq!(dialled, ["+919812300095", "+919812300098", "+919812300099"]);
}
