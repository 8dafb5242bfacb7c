//! A mutation test of the tenant filters. What a workspace sees must not depend on any other: its requests
//! get the same answers next to a neighbour as without one, and the neighbour's rows stay as they are. The
//! same requests are then run without one tenant filter at a time, and for [`NOTICED`] of them something must
//! differ.
//!
//! Some filters only back up another: the row has already been looked up with its tenant. Their absence does
//! not show here.
//!
//! `cargo test --workspace --test it tenants -- --nocapture` lists the filters whose absence shows.

mod life;
mod plain;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dastak::config::Config;
use domain::time::{MINUTE, Timestamp};
use serde_json::json;
use store::db::Faults;
use store::{DbError, Tx};
use tokio::task::JoinSet;

use crate::app::{TestApp, Workspace, needs_sqlite};
use crate::neighbours::Ids;
use crate::receiver::Receiver;
use crate::world::{self, Stopped, World};
use crate::worlds::{Desk, Things};

use self::life::{Differs, Life, Story, differ, live, look, pry};
use self::plain::{Names, is_id, words};

/// One tenant filter of one statement: the text, and which of its filters.
type Filter = (String, usize);

/// Where the tenant filters of a statement stand.
fn filters(sql: &str) -> Vec<std::ops::Range<usize>> {
    const NEEDLE: &str = "workspace = ?";
    let mut found = Vec::new();
    for (at, _) in sql.match_indices(NEEDLE) {
        let start = sql[..at]
            .rfind(|letter: char| !(letter.is_ascii_alphanumeric() || "._".contains(letter)))
            .map_or(0, |before| before + 1);
        let digits = sql[at + NEEDLE.len()..].bytes().take_while(u8::is_ascii_digit).count();
        // `for_workspace = ?1` would be another column.
        if start == at || sql[..at].ends_with('.') {
            found.push(start..at + NEEDLE.len() + digits);
        }
    }
    found
}

/// Notes the statements that run, and removes a filter.
#[derive(Default)]
struct Mutations {
    removed: Option<Filter>,
    seen: Mutex<BTreeSet<String>>,
}

impl Mutations {
    fn without(filter: &Filter) -> Self {
        Self { removed: Some(filter.clone()), ..Self::default() }
    }
}

impl Faults for Mutations {
    fn statement<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        if !sql.contains("workspace = ?") {
            return sql.into();
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.contains(sql) {
            seen.insert(sql.to_owned());
        }
        let Some((_, which)) = self.removed.as_ref().filter(|(of, _)| of == sql) else { return sql.into() };
        let range = filters(sql).swap_remove(*which);
        // The parameter stays, so that the others keep their numbers.
        let mut text = sql.to_owned();
        text.replace_range(range.clone(), &format!("({} or 1 = 1)", &sql[range]));
        text.into()
    }
}

/// What the neighbour has.
struct Neighbour {
    workspace: String,
    ids: Ids,
    live: Things,
    test: Things,
    member: String,
    /// All ids in its rows.
    names: Names,
}

/// A service before the life of the workspace, stopped.
struct Prepared {
    config: Config,
    folder: PathBuf,
    workspace: Workspace,
    agent: String,
    /// The digits of its phone number.
    number: String,
    /// When it goes on.
    start: String,
}

impl Drop for Prepared {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Numbers and references that both workspaces use.
const PHONE: &str = "+919812301231";
const OPTED_OUT: &str = "+919812301237";
const LISTED: &str = "+919812301238";
const TRANSFER: &str = "+918045670002";
/// Where no receiver listens.
const NOBODY: &str = "http://127.0.0.1:29099/hook";

async fn prepare(with_neighbour: bool) -> (Prepared, Option<Neighbour>) {
    let (before, neighbour) = if with_neighbour {
        let desk = Desk::open().await;
        let ids = Ids::of(&desk).await;
        let person = json!({"externalRef": "customer-1", "phone": "+919812301239", "name": "OfTheNeighbour"});
        desk.post("/v1/contacts", &person).await.expect(201);
        let person = json!({"externalRef": "customer-2", "phone": OPTED_OUT, "optOut": true});
        desk.post("/v1/contacts", &person).await.expect(201);
        desk.post("/v1/dnc", &json!({"phones": [LISTED]})).await.expect(200);
        let member = desk.add_member("asha@example.com", "admin").await;
        let pack = json!({"name": "of the neighbour", "hours": [{"days": [0, 1, 2, 3, 4, 5, 6], "from": "09:00", "to": "21:00"}],
            "caps": {"perDay": 1, "perWeek": 1}});
        desk.operator("POST", "/compliance-packs", pack).await.expect(201);
        desk.operator("POST", "/transfer-numbers", json!({"number": TRANSFER})).await;
        // What is pending is delivered now, so that nothing of it is tried again later.
        let receiver = Receiver::ok().await;
        let path = format!("/v1/webhooks/{}", ids.endpoint);
        desk.patch(&path, &json!({"url": receiver.url})).await.expect(200);
        desk.advance(300).await;
        desk.patch(&path, &json!({"url": NOBODY})).await.expect(200);
        let mut names = Names::default();
        let rows = rows(&desk, &desk.workspace.id).await;
        for word in rows.iter().flat_map(|row| words(row)).filter(|word| is_id(word)) {
            names.known.insert(word.to_owned(), "the neighbour's".to_owned());
        }
        let Desk { world, live, test, .. } = desk;
        let workspace = world.workspace.id.clone();
        (world, Some(Neighbour { workspace, ids, live, test, member, names }))
    } else {
        let world = World::bare().await;
        world.set_clock(&world::noon_after(&world.now().await).plus(5 * MINUTE).to_string()).await;
        (world, None)
    };
    let world = before.neighbour().await;
    drop(before);
    let agent = world.agent(&json!({"systemPrompt": "Say hello.", "name": "Ravi"})).await;
    let number = world.own_number().await.trim_start_matches('+').to_owned();
    // The same moment with and without the neighbour.
    let start = Timestamp((world.app().clock.now().0.div_euclid(MINUTE) + 1) * MINUTE).to_string();
    world.set_clock(&start).await;
    let workspace = world.workspace.clone();
    let Stopped { config, folder, .. } = world.stop().await;
    (Prepared { config, folder, workspace, agent, number, start }, neighbour)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// All rows of a workspace.
async fn rows(app: &TestApp, workspace: &str) -> Vec<String> {
    let workspace = workspace.to_owned();
    let work = move |tx: &mut Tx<'_>| {
        let tables: Vec<String> =
            tx.all("select name from sqlite_master where type = 'table' order by name", &[])?;
        let mut rows = Vec::new();
        for table in tables {
            let columns: Vec<String> =
                tx.all(&format!("select name from pragma_table_info('{table}')"), &[])?;
            let owner = if table == "workspaces" { "id" } else { "workspace" };
            if !columns.iter().any(|column| column == owner) {
                continue;
            }
            let texts: Vec<String> = columns.iter().map(|name| format!("quote({name})")).collect();
            let sql = format!(
                "select '{table}|' || {} from {table} where {owner} = '{workspace}'",
                texts.join(" || '|' || ")
            );
            rows.extend(tx.all::<String>(&sql, &[])?);
        }
        Ok::<_, DbError>(rows)
    };
    app.stored(work).await
}

/// Rows as they can be compared between runs. Deliveries say how long each attempt took.
fn plain(rows: &[String]) -> Story {
    let plain = |row: &String| {
        let plain = Names::default().plain(row);
        let is_number = |word: &str| word.bytes().all(|letter| letter.is_ascii_digit());
        if row.starts_with("deliveries|") {
            words(&plain).map(|word| if is_number(word) { "NUMBER" } else { word }).collect()
        } else {
            plain
        }
    };
    let mut plain: Story = rows.iter().map(plain).collect();
    plain.sort();
    plain
}

/// What the workspace does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Lives,
    /// Nothing, while as much time passes.
    Waits(i64),
}

/// What should come of it.
struct Expected {
    life: Story,
    left: Story,
    /// Seconds that it takes.
    passed: i64,
}

/// Starts a service on a copy of what was prepared and plays the workspace.
async fn play(
    prepared: &Prepared,
    neighbour: &Neighbour,
    does: Does,
    mutations: Arc<Mutations>,
    expected: Option<&Expected>,
) -> Result<Expected, Differs> {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    let copied = format!("copy{}", SERIAL.fetch_add(1, Ordering::Relaxed));
    let folder = prepared.folder.with_extension(copied);
    copy(&prepared.folder, &folder);
    let config = Config { data: folder.clone(), ..prepared.config.clone() };
    let app = TestApp::start_again((config, folder)).await;
    app.set_clock(&prepared.start).await;
    let mut names = neighbour.names.clone();
    names.known.insert(prepared.number.clone(), "own number".to_owned());
    app.app().store.fail_as(mutations);
    let mut life =
        Life { app: &app, names, told: Vec::new(), expected: expected.map(|told| &told.life), passed: 0 };
    match does {
        Does::Lives => {
            pry(&mut life, prepared, neighbour).await?;
            look(&mut life, prepared, neighbour).await?;
            live(&mut life, prepared).await?;
            look(&mut life, prepared, neighbour).await?;
            pry(&mut life, prepared, neighbour).await?;
        }
        Does::Waits(seconds) => life.advance(seconds).await,
    }
    let Life { told: life, passed, .. } = life;
    let left = plain(&rows(&app, &neighbour.workspace).await);
    if let Some(expected) = expected {
        differ(&expected.left, &left)?;
    }
    Ok(Expected { life, left, passed })
}

/// Filters whose absence shows. The others back up a look-up with the tenant before them, or stand in
/// statements that need more than a neighbour who has everything.
const NOTICED: usize = 66;

/// How many runs go side by side: most of a run is waiting for the manual clock to settle.
const BESIDE: usize = 12;

/// Plays the workspace without one of these filters at a time. Returns those whose absence changed nothing.
async fn unnoticed(
    prepared: &Arc<(Prepared, Neighbour)>,
    all: Vec<Filter>,
    expected: &Arc<Option<Expected>>,
) -> Vec<Filter> {
    let mut waiting = all.into_iter();
    let mut running = JoinSet::new();
    let mut left = Vec::new();
    loop {
        while running.len() < BESIDE
            && let Some(filter) = waiting.next()
        {
            let mutations = Arc::new(Mutations::without(&filter));
            let (prepared, expected) = (prepared.clone(), expected.clone());
            running.spawn(async move {
                let run = tokio::spawn(async move {
                    play(&prepared.0, &prepared.1, Does::Lives, mutations, expected.as_ref().as_ref()).await
                });
                // A panic means an answer that is not documented.
                let why = match run.await {
                    Ok(Ok(_)) => None,
                    Ok(Err(Differs(why))) => Some(why),
                    Err(_) => Some("an answer that is not documented".to_owned()),
                };
                (filter, why)
            });
        }
        let Some(done) = running.join_next().await else { return left };
        let (filter, why) = done.expect("a run");
        match why {
            Some(why) => println!("noticed: filter {} of {}\n{why}", filter.1, filter.0),
            None => left.push(filter),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_neighbour_changes_nothing_on_sqlite() {
    needs_sqlite();
    let (beside, neighbour) = prepare(true).await;
    let neighbour = neighbour.expect("one was made");
    let (alone, _) = prepare(false).await;
    // The workspace sees the same with and without the neighbour.
    let watching = Arc::new(Mutations::default());
    let expect = |played: Result<Expected, Differs>| played.unwrap_or_else(|Differs(why)| panic!("{why}"));
    let by_itself = expect(play(&alone, &neighbour, Does::Lives, Arc::default(), None).await);
    let with_other = expect(play(&beside, &neighbour, Does::Lives, watching.clone(), None).await);
    let told = by_itself.life.iter().zip(&with_other.life);
    let differing: Vec<String> = told
        .filter(|(alone, beside)| alone != beside)
        .map(|(alone, beside)| format!("alone   {alone}\nbeside  {beside}"))
        .collect();
    assert!(differing.is_empty(), "the workspace sees something of its neighbour:\n{}", differing.join("\n"));
    let idle = expect(play(&beside, &neighbour, Does::Waits(with_other.passed), Arc::default(), None).await);
    if let Err(Differs(why)) = differ(&idle.left, &with_other.left) {
        panic!("the neighbour's rows were changed:\n{why}");
    }
    // Without any one filter something differs.
    let seen = watching.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let all: Vec<Filter> =
        seen.iter().flat_map(|sql| (0..filters(sql).len()).map(|which| (sql.clone(), which))).collect();
    assert!(all.len() > 100, "the statements were seen: {}", all.len());
    let prepared = Arc::new((beside, neighbour));
    let expected = Arc::new(Some(with_other));
    let count = all.len();
    let unnoticed = unnoticed(&prepared, all, &expected).await;
    let noticed = count - unnoticed.len();
    println!("{noticed} of {count} filters are noticed by themselves");
    assert!(noticed >= NOTICED, "{noticed} filters are noticed, no longer {NOTICED}");
}
