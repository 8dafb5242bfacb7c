//! Probes the features that the service needs of an engine with PostgreSQL's protocol, in a table that it creates and
//! drops.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio_postgres::{AsyncMessage, Client, SimpleQueryMessage};

use super::super::error::DbError;
use super::server::{Purpose, Server};

/// The oldest version that the tests run on.
const OLDEST: u32 = 15;
/// Timeout of one probe.
const WITHIN: Duration = Duration::from_secs(8);
/// Time for a statement to start waiting for a lock.
const BEGINS: Duration = Duration::from_millis(300);

/// The result of one probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The feature, in a few words.
    pub name: &'static str,
    /// What was found; or the error, and what the feature is needed for.
    pub outcome: Result<String, String>,
}

type Tried = Result<String, String>;

/// Runs all probes; that of NOTIFY if `notify`.
pub(in crate::db) async fn probe(server: &Server, notify: bool) -> Vec<Probe> {
    let sessions = async { Ok::<_, DbError>((Session::open(server).await?, Session::open(server).await?)) };
    let (one, other) = match sessions.await {
        Ok(sessions) => sessions,
        Err(why) => return vec![Probe { name: "connection", outcome: Err(why.to_string()) }],
    };
    let table = format!("dastak_probe_{}", one.number().await.unwrap_or_default());
    let trial = Trial { one: &one, other: &other, table: &table };
    let mut probes = Vec::new();
    let mut add = |name, outcome| probes.push(Probe { name, outcome });
    add("version", in_time(trial.version()).await);
    let made = in_time(trial.make()).await;
    let there = made.is_ok();
    add("tables", made);
    if there {
        add("skip locked", in_time(trial.skip_locked()).await);
        add("on conflict", in_time(trial.on_conflict()).await);
        add("collation", in_time(trial.collation()).await);
        add("read committed", in_time(trial.read_committed()).await);
    }
    if notify {
        add("notify", in_time(notifies(server, &other)).await);
    }
    // A failed probe may have left a transaction open, which locks the table.
    let _ = tokio::time::timeout(WITHIN, async {
        let _ = other.client.batch_execute("rollback").await;
        let _ = one.client.batch_execute(&format!("rollback; drop table if exists {table}")).await;
    })
    .await;
    probes
}

async fn in_time(trial: impl Future<Output = Tried>) -> Tried {
    let late = format!("no answer within {} s", WITHIN.as_secs());
    tokio::time::timeout(WITHIN, trial).await.unwrap_or(Err(late))
}

/// A session, with the task that drives it.
struct Session {
    client: Client,
    pump: tokio::task::JoinHandle<()>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

impl Session {
    async fn open(server: &Server) -> Result<Self, DbError> {
        let (client, connection, _) = server.connect(Purpose::Write).await?;
        Ok(Self { client, pump: tokio::spawn(async move { drop(connection.await) }) })
    }

    /// The values of a column of all rows.
    async fn column(&self, sql: &str) -> Result<Vec<String>, String> {
        let answer = self.client.simple_query(sql).await.map_err(|why| words(&why))?;
        let rows = answer.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        });
        Ok(rows.collect())
    }

    /// The row count of the last statement.
    async fn changed(&self, sql: &str) -> Result<u64, String> {
        let answer = self.client.simple_query(sql).await.map_err(|why| words(&why))?;
        let counts = answer.iter().filter_map(|message| match message {
            SimpleQueryMessage::CommandComplete(count) => Some(*count),
            _ => None,
        });
        Ok(counts.last().unwrap_or(0))
    }

    async fn run(&self, sql: &str) -> Result<(), String> {
        self.client.batch_execute(sql).await.map_err(|why| words(&why))
    }

    /// Its process id on the server.
    async fn number(&self) -> Option<u32> {
        self.column("select pg_backend_pid()").await.ok()?.first()?.parse().ok()
    }
}

/// The server's error message.
fn words(why: &tokio_postgres::Error) -> String {
    why.as_db_error().map_or_else(|| why.to_string(), |why| why.message().to_owned())
}

struct Trial<'a> {
    one: &'a Session,
    other: &'a Session,
    table: &'a str,
}

impl Trial<'_> {
    async fn version(&self) -> Tried {
        let number = self.one.column("show server_version_num").await?;
        let name = self.one.column("select version()").await.unwrap_or_default();
        judge_version(
            number.first().map_or("", String::as_str),
            name.first().map_or("an engine without a name", String::as_str),
        )
    }

    async fn make(&self) -> Tried {
        let table = self.table;
        let make = format!(
            "create table {table} (id bigint primary key, name text collate \"C\", open bigint, n bigint not null); \
             create unique index {table}_open on {table} (name) where name is not null and open = 1; \
             insert into {table} (id, name, open, n) values (1, 'a', 1, 0), (2, 'b', 1, 0), (3, 'C', null, 0)"
        );
        self.one
            .run(&make)
            .await
            .map(|()| "can be made".to_owned())
            .map_err(|why| format!("{why}; the schema is made by the service's own user"))
    }

    /// Nodes share a queue of rows.
    async fn skip_locked(&self) -> Tried {
        let table = self.table;
        self.one.run(&format!("begin; select id from {table} where id = 1 for update")).await?;
        let take = format!("select id from {table} order by id limit 1 for update skip locked");
        let taken = self.other.column(&take).await;
        self.one.run("rollback").await?;
        match taken.as_deref() {
            Ok([row]) if row == "2" => Ok("FOR UPDATE SKIP LOCKED passes over what another session holds".into()),
            Ok(_) => Err("FOR UPDATE SKIP LOCKED gives a row that another session holds; two nodes would do the same work".into()),
            Err(why) => Err(format!("FOR UPDATE SKIP LOCKED: {why}; nodes could not share work")),
        }
    }

    /// The second of two live nudges to one number is rejected.
    async fn on_conflict(&self) -> Tried {
        let add = format!(
            "insert into {0} (id, name, open, n) values (4, 'a', 1, 0) \
             on conflict (name) where name is not null and open = 1 do nothing",
            self.table
        );
        match self.one.changed(&add).await {
            Ok(0) => Ok("takes a partial index".into()),
            Ok(_) => {
                Err("a partial unique index lets two rows in; two nudges to one number could be live".into())
            }
            Err(why) => Err(format!("ON CONFLICT with a partial index: {why}")),
        }
    }

    /// Ids and cursors sort as bytes.
    async fn collation(&self) -> Tried {
        let sorted = self.one.column(&format!("select name from {} order by name", self.table)).await?;
        if sorted == ["C", "a", "b"] {
            Ok("\"C\" sorts by bytes".into())
        } else {
            Err(format!(
                "the collation \"C\" does not sort by bytes ({}); pages of lists would skip rows",
                sorted.join(" ")
            ))
        }
    }

    /// A statement that waited for a row sees its new version.
    async fn read_committed(&self) -> Tried {
        let table = self.table;
        self.one.run(&format!("begin; update {table} set n = 1 where id = 1")).await?;
        let again = format!("begin; update {table} set n = n + 10 where id = 1");
        let claim = format!("update {table} set n = n + 100 where id = 1 and n = 0");
        // The second session starts waiting; then the first commits.
        let outcome = {
            let mut waits = pin!(async {
                self.other.run(&again).await?;
                self.other.changed(&claim).await
            });
            tokio::select! {
                early = waits.as_mut() => {
                    early.and(Err("two sessions change one row at the same time".to_owned()))
                }
                () = tokio::time::sleep_until(tokio::time::Instant::now() + BEGINS) => {
                    self.one.run("commit").await?;
                    waits.await
                }
            }
        };
        let ended = self.other.run(if outcome.is_ok() { "commit" } else { "rollback" }).await;
        let claimed =
            outcome.map_err(|why| format!("READ COMMITTED, the default of a session, is needed: {why}"))?;
        ended?;
        let n = self.one.column(&format!("select n from {table} where id = 1")).await?;
        if claimed == 0 && n == ["11"] {
            Ok("looks again at a row that it waited for".into())
        } else {
            Err(format!(
                "a statement that waited for a row does not look at it again (n is {}); two nodes would take the same work",
                n.join(" ")
            ))
        }
    }
}

fn judge_version(number: &str, name: &str) -> Tried {
    match number.trim().parse::<u32>() {
        Ok(number) if number / 10_000 >= OLDEST => Ok(name.to_owned()),
        Ok(number) => {
            Err(format!("{name}: version {} is older than {OLDEST}, on which the tests run", number / 10_000))
        }
        Err(_) => Err(format!("{name}: does not say which version of PostgreSQL it is")),
    }
}

/// A wake-up reaches another session.
async fn notifies(server: &Server, other: &Session) -> Tried {
    let without = "set database_wake = \"poll\" to go without it";
    let (client, mut connection, _) = server.connect(Purpose::Wake).await.map_err(|why| why.to_string())?;
    let heard = poll_fn(move |context| {
        loop {
            match connection.poll_message(context) {
                Poll::Ready(Some(Ok(AsyncMessage::Notification(note))))
                    if note.channel() == "dastak_probe" =>
                {
                    return Poll::Ready(Ok(note.payload().to_owned()));
                }
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(why))) => return Poll::Ready(Err(words(&why))),
                Poll::Ready(None) => return Poll::Ready(Err("the server closed the connection".to_owned())),
                Poll::Pending => return Poll::Pending,
            }
        }
    });
    let ask = async {
        client.batch_execute("listen dastak_probe").await.map_err(|why| words(&why))?;
        other.run("notify dastak_probe, '7'").await?;
        // The server accepts both even if it notifies nobody.
        tokio::time::sleep_until(tokio::time::Instant::now() + WITHIN / 2).await;
        Err::<String, _>("LISTEN and NOTIFY are accepted, and nothing arrives".to_owned())
    };
    let outcome = tokio::select! {
        heard = heard => heard,
        asked = ask => asked,
    };
    match outcome {
        Ok(payload) if payload == "7" => Ok("NOTIFY reaches another session".into()),
        Ok(other) => Err(format!("NOTIFY carries «{other}» instead of what was said; {without}")),
        Err(why) => Err(format!("{why}; {without}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_nothing_ran_on_are_named() {
        assert_eq!(judge_version("150013", "PostgreSQL 15.13"), Ok("PostgreSQL 15.13".to_owned()));
        assert!(judge_version("180000", "PostgreSQL 18").is_ok());
        assert!(
            judge_version("130000", "Another 25").is_err_and(|why| why.contains("Another 25: version 13"))
        );
        assert!(judge_version("", "Another").is_err_and(|why| why.contains("does not say")));
    }
}
