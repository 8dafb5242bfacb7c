//! Where the state of a run lives: a file of SQLite, or a database of PostgreSQL of its own with one node on it or two.
//! What observers ask of it, and what becomes of it in the end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dastak::cli;
use dastak::config::Config;
use domain::secret::Secret;
use rusqlite::{Connection, OpenFlags};
use store::Store;
use store::db::{Settings, Wake};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use crate::faults::Plant;

/// The rows of an answer, as texts.
pub type Texts = Vec<Vec<Option<String>>>;

/// Tables whose rows are read in the order in which they came.
const IN_ORDER: [&str; 2] = ["events", "decision_log"];

/// What sessions beside the service are called.
const ASIDE: &str = "simulation";

/// On which engine runs take place, and with how many nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres { nodes: usize },
}

impl Engine {
    /// What `SIM_ENGINE` and `SIM_NODES` say.
    pub fn chosen() -> Self {
        let nodes = match std::env::var("SIM_NODES").as_deref() {
            Err(_) | Ok("2") => 2,
            Ok("1") => 1,
            Ok(other) => panic!("SIM_NODES is 1 or 2, not {other}"),
        };
        match std::env::var("SIM_ENGINE").as_deref() {
            Err(_) | Ok("sqlite") => Self::Sqlite,
            Ok("postgres") => Self::Postgres { nodes },
            Ok(other) => panic!("SIM_ENGINE is sqlite or postgres, not {other}"),
        }
    }

    pub fn nodes(self) -> usize {
        match self {
            Self::Sqlite => 1,
            Self::Postgres { nodes } => nodes,
        }
    }
}

/// A connection to the server beside the service.
pub struct Aside {
    runtime: tokio::runtime::Runtime,
    client: Client,
}

impl Aside {
    fn to(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the server answers");
            tokio::spawn(connection);
            client.batch_execute(&format!("set application_name = '{ASIDE}'")).await.expect("a session");
            client
        });
        Self { runtime, client }
    }

    fn run(&self, sql: &str) {
        self.runtime.block_on(self.client.batch_execute(sql)).unwrap_or_else(|why| panic!("{sql}: {why:?}"));
    }

    /// The rows of the statements, one after the other.
    fn ask(&self, sql: &str) -> Vec<Texts> {
        let answer = self.runtime.block_on(self.client.simple_query(sql));
        let (mut all, mut rows) = (Vec::new(), Texts::new());
        for message in answer.unwrap_or_else(|why| panic!("{sql}: {why:?}")) {
            match message {
                SimpleQueryMessage::Row(row) => {
                    rows.push((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect());
                }
                SimpleQueryMessage::CommandComplete(_) => all.push(std::mem::take(&mut rows)),
                _ => {}
            }
        }
        all
    }
}

enum State {
    Sqlite(PathBuf),
    Postgres { url: String, name: String, aside: Box<Aside> },
}

/// The state of one run.
pub struct Stage {
    pub folder: PathBuf,
    pub engine: Engine,
    state: State,
}

fn server() -> String {
    std::env::var("TEST_POSTGRES_URL")
        .expect("TEST_POSTGRES_URL names the PostgreSQL server of the tests; use `make test`")
}

/// How names of databases begin (`scripts/engine.sh`).
fn prefix() -> String {
    std::env::var("TEST_DATABASE_PREFIX").unwrap_or_default()
}

fn at(server: &str, name: &str) -> String {
    format!("{}/{name}", server.rsplit_once('/').expect("a URL").0)
}

/// A database with the newest schema and nothing in it, made once. Its events and its decision log tell in which order
/// their rows came.
fn template() -> &'static str {
    static TEMPLATE: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let (server, name) = (server(), format!("{}sim_{}_template", prefix(), std::process::id()));
        Aside::to(&server).run(&format!("create database {name}"));
        let url = at(&server, &name);
        let settings = Settings::Postgres {
            url: Secret::from(url.clone()),
            connections: 1,
            ca: None,
            wake: Wake::Listen,
            replica: None,
        };
        migrate(&settings);
        let aside = Aside::to(&url);
        for table in IN_ORDER {
            aside.run(&format!("alter table {table} add column sim_order bigserial"));
        }
        drop(aside);
        // Nobody may be connected to a template.
        let aside = Aside::to(&server);
        let there = format!("select count(*) from pg_stat_activity where datname = '{name}'");
        while aside.ask(&there)[0][0][0].as_deref() != Some("0") {
            std::thread::sleep(Duration::from_millis(20));
        }
        name
    })
}

fn migrate(settings: &Settings) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let store = Store::open(settings, std::sync::Arc::new(|_| ())).expect("the store opens");
    runtime.block_on(store.migrate(|_, _, _| ())).expect("the schema");
}

impl Stage {
    pub fn new(seed: u64, engine: Engine) -> Self {
        let folder = crate::life::folder(seed);
        let state = match engine {
            Engine::Sqlite => State::Sqlite(folder.join("dastak.db")),
            Engine::Postgres { .. } => {
                let (server, template) = (server(), template());
                let name = format!("{}sim_{}_{seed}", prefix(), std::process::id());
                Aside::to(&server).run(&format!("create database {name} template {template}"));
                let url = at(&server, &name);
                State::Postgres { aside: Box::new(Aside::to(&url)), url, name }
            }
        };
        Self { folder, engine, state }
    }

    /// Where the store is, unless it is in the data folder.
    pub fn url(&self) -> Option<&str> {
        match &self.state {
            State::Sqlite(_) => None,
            State::Postgres { url, .. } => Some(url),
        }
    }

    /// The data folder of a node.
    pub fn data(&self, node: usize) -> PathBuf {
        match &self.state {
            State::Sqlite(_) => self.folder.clone(),
            State::Postgres { .. } => {
                let folder = self.folder.join(format!("node-{node}"));
                std::fs::create_dir_all(&folder).expect("a folder");
                folder
            }
        }
    }

    /// Ends sessions of the nodes in the middle of what they do: each of those that are there by this chance in a
    /// hundred. How many there were.
    pub fn kill_sessions(&self, chance: i64) -> usize {
        let State::Postgres { aside, name, .. } = &self.state else { return 0 };
        let sql = format!(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}' and application_name <> '{ASIDE}' \
             and random() * 100 < {chance}"
        );
        aside.ask(&sql)[0].len()
    }

    /// Eyes for the committed state.
    pub fn eyes(&self) -> Eyes {
        match &self.state {
            State::Sqlite(file) => Eyes::Sqlite(open(file)),
            State::Postgres { url, .. } => Eyes::Postgres(Aside::to(url)),
        }
    }

    /// The state as a file of SQLite, for the checks after a run.
    pub fn file(&self) -> PathBuf {
        let file = self.folder.join("dastak.db");
        if let State::Postgres { aside, .. } = &self.state
            && !file.exists()
        {
            copy(aside, &file);
        }
        file
    }

    fn beside(&self, name: &str) -> PathBuf {
        let own = self.folder.file_name().expect("a folder").to_string_lossy().into_owned();
        self.folder.with_file_name(format!("{own}-{name}"))
    }

    /// Takes a backup of the stage while the service works.
    pub fn back_up(&self, settings: &Config) {
        cli::back_up(settings, &self.beside("backup")).expect("a backup");
    }

    /// Puts the backup back. The service is stopped; its indexes of knowledge stay where they are.
    pub fn put_back(&self, settings: &Config) {
        let gone = self.beside("gone");
        std::fs::rename(&self.folder, &gone).expect("the folder is moved away");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime
            .block_on(cli::restore::put_in_place(settings, &self.beside("backup"), &|_| ()))
            .expect("a restore");
        if let Some(Plant::Restores) = Plant::chosen() {
            let store = Connection::open(self.folder.join("dastak.db")).expect("the store");
            let lost = "pragma foreign_keys = off; delete from scheduled_calls";
            store.execute_batch(lost).expect("a planted defect");
        }
        for entry in std::fs::read_dir(&gone).expect("the folder").flatten() {
            if entry.file_name().to_string_lossy().starts_with("knowledge-") {
                std::fs::rename(entry.path(), self.folder.join(entry.file_name())).expect("an index");
            }
        }
        std::fs::remove_dir_all(&gone).expect("what is gone");
    }

    /// Takes everything away.
    pub fn strike(self) {
        let _ = std::fs::remove_dir_all(self.beside("backup"));
        if let State::Postgres { aside, name, .. } = self.state {
            drop(aside);
            Aside::to(&server()).run(&format!("drop database if exists {name} with (force)"));
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Copies a database of PostgreSQL into a file of SQLite with the same tables. The order of rows stays where it means
/// something.
fn copy(from: &Aside, file: &Path) {
    migrate(&Settings::Sqlite { file: file.to_owned() });
    let to = Connection::open(file).expect("a file");
    to.execute_batch("pragma foreign_keys = off; pragma synchronous = off; begin").expect("a file");
    let list = |sql: &str| -> Vec<String> {
        let mut statement = to.prepare(sql).expect("a query");
        statement.query_map([], |row| row.get(0)).expect("names").collect::<Result<_, _>>().expect("names")
    };
    for trigger in list("select name from sqlite_master where type = 'trigger'") {
        to.execute_batch(&format!("drop trigger {trigger}")).expect("a trigger");
    }
    for table in list("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'") {
        let columns = list(&format!("select name from pragma_table_info('{table}')")).join(", ");
        let order = if IN_ORDER.contains(&table.as_str()) { " order by sim_order" } else { "" };
        let sql = format!("select {columns} from {table}{order}");
        let rows = from.runtime.block_on(from.client.query(&sql, &[]));
        let rows = match rows {
            Ok(rows) => rows,
            // A table of one engine only.
            Err(why) if why.code().is_some_and(|code| matches!(code.code(), "42P01" | "42703")) => continue,
            Err(why) => panic!("{sql}: {why:?}"),
        };
        to.execute_batch(&format!("delete from {table}")).expect("an empty table");
        for row in rows {
            let values: Vec<rusqlite::types::Value> =
                (0..row.len()).map(|column| value(&row, column)).collect();
            let places = vec!["?"; values.len()].join(", ");
            to.prepare_cached(&format!("insert into {table} ({columns}) values ({places})"))
                .and_then(|mut insert| insert.execute(rusqlite::params_from_iter(values)))
                .unwrap_or_else(|why| panic!("{table}: {why}"));
        }
    }
    to.execute_batch("commit").expect("a copy");
}

fn value(row: &tokio_postgres::Row, column: usize) -> rusqlite::types::Value {
    use rusqlite::types::Value;
    let kind = row.columns()[column].type_();
    let found = if *kind == Type::INT8 {
        row.get::<_, Option<i64>>(column).map(Value::Integer)
    } else if *kind == Type::INT4 {
        row.get::<_, Option<i32>>(column).map(|number| Value::Integer(number.into()))
    } else if *kind == Type::BOOL {
        row.get::<_, Option<bool>>(column).map(|yes| Value::Integer(yes.into()))
    } else if *kind == Type::FLOAT8 {
        row.get::<_, Option<f64>>(column).map(Value::Real)
    } else if *kind == Type::BYTEA {
        row.get::<_, Option<Vec<u8>>>(column).map(Value::Blob)
    } else {
        row.get::<_, Option<String>>(column).map(Value::Text)
    };
    found.unwrap_or(Value::Null)
}

/// Opens a file of SQLite to look at.
pub fn open(file: &Path) -> Connection {
    let store = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the store");
    store.busy_timeout(Duration::from_secs(10)).expect("patience");
    store
}

/// What looks at the committed state while the service lives.
pub enum Eyes {
    Sqlite(Connection),
    Postgres(Aside),
}

impl Eyes {
    /// The rows of these queries, all of one moment.
    pub fn look<const COUNT: usize>(&self, queries: [&str; COUNT]) -> [Texts; COUNT] {
        let mut found = match self {
            Self::Sqlite(store) => queries.iter().map(|sql| texts(store, sql)).collect(),
            Self::Postgres(aside) => {
                let all = format!(
                    "begin isolation level repeatable read read only; {}; commit",
                    queries.join("; ")
                );
                let mut answers = aside.ask(&all);
                answers.pop();
                answers.remove(0);
                answers
            }
        }
        .into_iter();
        std::array::from_fn(|_| found.next().expect("an answer for each query"))
    }

    /// What tells the order of the rows of `events`.
    pub fn order(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "rowid",
            Self::Postgres(_) => "sim_order",
        }
    }
}

fn texts(store: &Connection, sql: &str) -> Texts {
    use rusqlite::types::ValueRef;
    let mut statement = store.prepare_cached(sql).expect("a query");
    let width = statement.column_count();
    let rows = statement.query_map([], |row| {
        (0..width)
            .map(|column| {
                Ok(match row.get_ref(column)? {
                    ValueRef::Null => None,
                    ValueRef::Integer(number) => Some(number.to_string()),
                    ValueRef::Real(number) => Some(number.to_string()),
                    ValueRef::Text(text) | ValueRef::Blob(text) => {
                        Some(String::from_utf8_lossy(text).into_owned())
                    }
                })
            })
            .collect()
    });
    rows.expect("rows").collect::<Result<_, _>>().expect("rows")
}
