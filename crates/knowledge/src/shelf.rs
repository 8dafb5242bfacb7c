//! The indexes of this node (docs/knowledge.md#following-the-store). An index is derived data: a folder for each base,
//! which follows the version of the base in the store, and is rebuilt when it cannot.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use app::{App, Failure};
use domain::ids::{Id, KnowledgeBase};
use domain::tenant::Tenant;
use retrieval::{Broken, Index, Ranked, Writing};
use runtime::files;
use store::knowledge::{self, BaseRow, PassageRow};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// Open indexes; the least recently used are closed.
const MOST_OPEN: usize = 256;
/// Concurrent changes of indexes: each has a writer with memory of its own.
const CHANGES: usize = 2;
/// Passages that one read of a change takes, about.
const BATCH: i64 = 2_000;
/// Documents that one read of a change takes.
const BATCH_DOCUMENTS: usize = 256;
/// Processes that may share a data folder.
const PROCESSES: usize = 64;

/// The indexes of this node.
pub(crate) struct Shelf {
    /// Their folder; the lock file is held for as long as this process uses it.
    root: Result<(PathBuf, File), String>,
    places: Mutex<HashMap<Id<KnowledgeBase>, Arc<Place>>>,
    uses: AtomicU64,
    searches: Arc<Semaphore>,
    changes: Arc<Semaphore>,
}

/// The index of one base.
struct Place {
    index: RwLock<Option<Arc<Index>>>,
    /// Held while it is changed.
    change: Arc<AsyncMutex<()>>,
    used: AtomicU64,
    /// The latest version that this process has read of the base.
    seen: AtomicI64,
}

impl Place {
    fn index(&self) -> Option<Arc<Index>> {
        self.index.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The index, if it has this version of the base or a later one. An index of a version that this process has never
    /// seen in the store may be of a lost state: the store may be a restored older copy.
    fn shows(&self, version: i64) -> Option<Arc<Index>> {
        let index = self.index()?;
        let shown = index.version();
        (shown >= version && shown <= self.seen.load(Ordering::Acquire)).then_some(index)
    }

    fn set(&self, index: Option<Arc<Index>>) {
        *self.index.write().unwrap_or_else(PoisonError::into_inner) = index;
    }
}

/// The shelf of this node.
pub(crate) fn of(app: &App) -> Arc<Shelf> {
    app.state.of(|| Shelf::new(&app.config.data))
}

impl Shelf {
    fn new(data: &Path) -> Self {
        let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self {
            root: lock_folder(data),
            places: Mutex::default(),
            uses: AtomicU64::new(0),
            searches: Arc::new(Semaphore::new(threads)),
            changes: Arc::new(Semaphore::new(CHANGES)),
        }
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Id<KnowledgeBase>, Arc<Place>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self, base: Id<KnowledgeBase>) -> Arc<Place> {
        let use_ = self.uses.fetch_add(1, Ordering::Relaxed);
        let mut places = self.places();
        if let Some(place) = places.get(&base) {
            place.used.store(use_, Ordering::Relaxed);
            return place.clone();
        }
        if places.len() >= MOST_OPEN {
            // One that is in use stays; its folder has one owner at a time.
            let idle = places.iter().filter(|(_, place)| Arc::strong_count(place) == 1);
            let oldest = idle.min_by_key(|(_, place)| place.used.load(Ordering::Relaxed));
            if let Some(oldest) = oldest.map(|(id, _)| *id) {
                places.remove(&oldest);
            }
        }
        let place = Arc::new(Place {
            index: RwLock::default(),
            change: Arc::default(),
            used: AtomicU64::new(use_),
            seen: AtomicI64::new(0),
        });
        places.insert(base, place.clone());
        place
    }

    fn root(&self) -> Result<&Path, Failure> {
        match &self.root {
            Ok((root, _)) => Ok(root),
            Err(why) => Err(Failure::internal(why.clone())),
        }
    }

    /// Closes the index of a deleted base; the clean-up removes its folder.
    pub(crate) fn forget(&self, base: Id<KnowledgeBase>) {
        self.places().remove(&base);
    }

    /// Whether the index of a base is open and shows an earlier version than this one.
    pub(crate) fn lags(&self, base: Id<KnowledgeBase>, version: i64) -> bool {
        let index = self.places().get(&base).and_then(|place| place.index());
        index.is_some_and(|index| index.version() < version)
    }

    /// Bases that have a folder.
    pub(crate) fn folders(&self) -> Vec<Id<KnowledgeBase>> {
        let Ok((root, _)) = &self.root else { return Vec::new() };
        let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// Removes the folder of a base that is gone.
    pub(crate) fn remove(&self, base: Id<KnowledgeBase>) {
        self.forget(base);
        if let Ok((root, _)) = &self.root
            && let Err(why) = std::fs::remove_dir_all(root.join(base.to_string()))
        {
            tracing::warn!(%base, %why, "the index of a deleted knowledge base could not be removed");
        }
    }
}

/// The first folder below `data` that no other process uses.
fn lock_folder(data: &Path) -> Result<(PathBuf, File), String> {
    for number in 1..=PROCESSES {
        let root = data.join(format!("knowledge-{number}"));
        files::make_folder(&root).map_err(|why| format!("{}: {why}", root.display()))?;
        let lock = root.join("lock");
        let file = File::create(&lock).map_err(|why| format!("{}: {why}", lock.display()))?;
        if file.try_lock().is_ok() {
            return Ok((root, file));
        }
    }
    Err(format!("{}: {PROCESSES} processes index knowledge bases there already", data.display()))
}

/// Runs slow work on a blocking thread.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let done = runtime::blocking::run(work).await;
    done.map_err(|why| Failure::internal(format!("work on an index of a knowledge base: {why}")))
}

async fn permit(of: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Failure> {
    of.clone().acquire_owned().await.map_err(|_| Failure::internal("the service stops"))
}

fn broken(why: Broken) -> Failure {
    Failure::internal(format!("the index of a knowledge base: {why}"))
}

/// The hits of a query, by an index that has everything of the base in `row`.
pub(crate) async fn search(
    app: &App,
    row: &BaseRow,
    question: &str,
    limit: usize,
) -> Result<Vec<Ranked>, Failure> {
    let shelf = of(app);
    for last in [false, true] {
        let index = current(app, &shelf, row).await?;
        let permit = permit(&shelf.searches).await?;
        let question = question.to_owned();
        let ranked = apart(move || {
            let ranked = index.search(&question, limit);
            drop(permit);
            ranked
        });
        match ranked.await? {
            Ok(ranked) => return Ok(ranked),
            Err(why) if last => return Err(broken(why)),
            Err(why) => {
                tracing::warn!(base = %row.id, %why, "the index of a knowledge base is damaged and is made anew");
                let place = shelf.place(row.id);
                let _change = place.change.clone().lock_owned().await;
                place.set(None);
                let folder = shelf.root()?.join(row.id.to_string());
                // Without this file it does not open.
                std::fs::remove_file(folder.join("meta.json")).ok();
            }
        }
    }
    Err(Failure::internal("an index is damaged twice"))
}

/// Updates the index of a base before it is searched.
pub(crate) async fn follow(app: &App, tenant: Tenant, base: Id<KnowledgeBase>) -> Result<(), Failure> {
    if let Some(row) = app.of(tenant).read(move |tx| knowledge::get(tx, base)).await? {
        current(app, &of(app), &row).await?;
    }
    Ok(())
}

/// The index of a base, with everything of the base in `row`.
async fn current(app: &App, shelf: &Shelf, row: &BaseRow) -> Result<Arc<Index>, Failure> {
    let place = shelf.place(row.id);
    place.seen.fetch_max(row.version, Ordering::AcqRel);
    if let Some(index) = place.shows(row.version) {
        return Ok(index);
    }
    let change = place.change.clone().lock_owned().await;
    if let Some(index) = place.shows(row.version) {
        return Ok(index);
    }
    let permit = permit(&shelf.changes).await?;
    let folder = shelf.root()?.join(row.id.to_string());
    let index = match place.index() {
        Some(index) => index,
        None => open(folder.clone()).await?,
    };
    match catch_up(app, &place, row, index, (change, permit)).await {
        Ok(index) => {
            place.set(Some(index.clone()));
            Ok(index)
        }
        Err((failure, _)) if failure.of_store => Err(failure),
        Err((failure, held)) => {
            failure.warn_about(row.id, "an index could not follow its knowledge base and is made anew");
            place.set(None);
            let index = create(folder).await?;
            let index = catch_up(app, &place, row, index, held).await.map_err(|(failure, _)| failure)?;
            place.set(Some(index.clone()));
            Ok(index)
        }
    }
}

/// The index of a folder; an empty one if there is no usable one.
async fn open(folder: PathBuf) -> Result<Arc<Index>, Failure> {
    let there = folder.clone();
    match apart(move || Index::open(&there)).await? {
        Ok(index) => Ok(Arc::new(index)),
        Err(_) => create(folder).await,
    }
}

async fn create(folder: PathBuf) -> Result<Arc<Index>, Failure> {
    let index = apart(move || Index::create(&folder)).await?;
    index.map(Arc::new).map_err(broken)
}

/// Held by the task that changes the index.
type Held = (OwnedMutexGuard<()>, OwnedSemaphorePermit);

/// The changes of a base since a version.
struct Changes {
    version: i64,
    /// Number of each document that is new or was replaced, and how many passages it has.
    documents: Vec<(i64, i64)>,
    removed: Vec<i64>,
}

/// Applies the missing changes to the index. Documents that change meanwhile may be there or not: their version is a
/// later one, so the next update takes them again.
async fn catch_up(
    app: &App,
    place: &Place,
    row: &BaseRow,
    index: Arc<Index>,
    held: Held,
) -> Result<Arc<Index>, (Failure, Held)> {
    let (tenant, base, from) = (row.workspace, row.id, index.version());
    let changes = app.of(tenant).read_long(move |tx| changes(tx, base, from)).await;
    let changes = match changes {
        Ok(Some(changes)) => changes,
        // The index is of a lost state, or too far behind.
        Ok(None) => {
            return Err((
                Failure::internal("its version is not one of those that the base is known to have had"),
                held,
            ));
        }
        Err(failure) => return Err((failure, held)),
    };
    place.seen.fetch_max(changes.version, Ordering::AcqRel);
    if changes.version == from {
        return Ok(index);
    }
    match write(app, row, &index, changes).await {
        Ok(writing) => {
            let merged = index.clone();
            // The change is visible already; segments are merged while it is searched, and the next change waits.
            tokio::spawn(runtime::blocking::run(move || {
                if let Err(why) = writing.finish(&merged) {
                    tracing::warn!(%why, "files of an index could not be merged");
                }
                drop(held);
            }));
            Ok(index)
        }
        Err(failure) => Err((failure, held)),
    }
}

/// What the index lacks, unless it has to be made anew.
fn changes(tx: &mut store::TenantTx, base: Id<KnowledgeBase>, from: i64) -> Result<Option<Changes>, Failure> {
    let row = knowledge::get(tx, base)?.ok_or_else(crate::bases::missing)?;
    // One that the base never had is of a state that is lost: the store is an older copy that was put back.
    if from > 0 && from != row.version && !knowledge::had_version(tx, base, from)? {
        return Ok(None);
    }
    let removed = if from == 0 { Vec::new() } else { knowledge::removals(tx, base, from)? };
    let documents = knowledge::changed_documents(tx, base, from)?;
    Ok(Some(Changes { version: row.version, documents, removed }))
}

async fn write(app: &App, row: &BaseRow, index: &Arc<Index>, changes: Changes) -> Result<Writing, Failure> {
    let (tenant, base, fresh) = (row.workspace, row.id, index.version() == 0);
    let opened = index.clone();
    let removed = changes.removed;
    let mut writing = apart(move || {
        let writing = opened.write()?;
        for number in removed {
            writing.remove(number.unsigned_abs());
        }
        Ok(writing)
    })
    .await?
    .map_err(broken)?;
    let mut documents = changes.documents.into_iter().peekable();
    while documents.peek().is_some() {
        let (mut batch, mut passages) = (Vec::new(), 0);
        while passages < BATCH && batch.len() < BATCH_DOCUMENTS {
            let Some((number, count)) = documents.next() else { break };
            batch.push(number);
            passages += count;
        }
        let numbers = batch.clone();
        let rows = app
            .of(tenant)
            .read_long(move |tx| knowledge::passages_of(tx, base, &numbers))
            .await
            .map_err(Failure::from)?;
        writing = apart(move || {
            let added = add(&writing, if fresh { &[] } else { &batch }, &rows);
            added.map(|()| writing)
        })
        .await?
        .map_err(broken)?;
    }
    let (index, version) = (index.clone(), changes.version);
    apart(move || writing.commit(&index, version).map(|()| writing)).await?.map_err(broken)
}

fn add(writing: &Writing, replaced: &[i64], rows: &[PassageRow]) -> Result<(), Broken> {
    for number in replaced {
        writing.remove(number.unsigned_abs());
    }
    for row in rows {
        let (document, passage) = (row.document.unsigned_abs(), row.number.unsigned_abs());
        writing.add(document, passage, row.heading.as_deref(), &row.content)?;
    }
    Ok(())
}
