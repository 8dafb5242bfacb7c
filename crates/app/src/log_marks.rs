//! Marks of the decision log: the newest record of each chain that this node has seen. They are kept in memory as
//! chains grow and in a file of the data folder a moment later ([`runtime::mark_file`]), so that a restored older state
//! of the store, with its sealed heads, is detected. A commit only queues a mark; the job `log_marks` does the rest.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use domain::decision_log::mark::{Acceptance, Mark};
use domain::decision_log::{Broken, Head, Strand};
use domain::tenant::Tenant;
use store::{DbError, TenantTx, Tx, decision_log};

use super::App;
use runtime::clock::Signal;
use runtime::crypto::Keyring;
use runtime::mark_file::{Known, MarkFile};

type Key = (Tenant, Strand);

/// Chains in one read, and heads of one page.
const PAGE: usize = 200;

/// Marks of this node.
pub struct Marks {
    state: Mutex<State>,
    file: Arc<Mutex<MarkFile>>,
    job: OnceLock<Signal>,
}

#[derive(Default)]
struct State {
    /// The content of the file.
    kept: Known,
    /// Marks since then.
    fresh: HashMap<Key, Fresh>,
    /// Chains whose contradiction was logged already.
    told: HashSet<Key>,
}

/// Heads seen since the file was written: the newest, and the one before it when it was not older than the newest.
#[derive(Clone, PartialEq, Eq)]
struct Fresh {
    held: Option<Head>,
    newest: Head,
}

impl Fresh {
    fn heads(&self) -> impl Iterator<Item = &Head> {
        self.held.iter().chain(std::iter::once(&self.newest))
    }
}

/// The state of a chain in the store, from one snapshot.
struct Seen {
    accepted: Option<Acceptance>,
    last: u64,
    /// Hashes of the records that were asked for.
    hashes: HashMap<u64, Option<String>>,
}

impl Seen {
    fn contradiction(&self, mark: &Mark) -> Option<Broken> {
        mark.contradiction(self.last, self.hashes.get(&mark.head.seq).and_then(Option::as_deref))
    }
}

/// The newest acceptance of an older state that the operator gave.
pub(super) fn accepted(
    tx: &mut TenantTx,
    keyring: &Keyring,
    strand: Strand,
) -> Result<Option<Acceptance>, DbError> {
    let tenant = tx.tenant();
    let found = decision_log::accepted(tx, strand)?;
    Ok(found
        .filter(|(accepted, seal)| keyring.verify(&accepted.sealed_text(tenant, strand), seal))
        .map(|(accepted, _)| accepted))
}

impl Marks {
    /// Reads the marks that this node has kept.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn open(file: &Path, keyring: &Arc<Keyring>) -> Result<Self, String> {
        let (file, kept) = MarkFile::open(file, keyring)?;
        Ok(Self {
            state: Mutex::new(State { kept, ..State::default() }),
            file: Arc::new(Mutex::new(file)),
            job: OnceLock::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The job to wake when there is something to store.
    pub fn connect(&self, job: Signal) {
        let _ = self.job.set(job);
    }

    /// A record was committed, or its head was read from the store.
    pub fn note(&self, tenant: Tenant, strand: Strand, head: Head) {
        let mut state = self.state();
        let was_empty = state.fresh.is_empty();
        match state.fresh.entry((tenant, strand)) {
            std::collections::hash_map::Entry::Vacant(empty) => {
                empty.insert(Fresh { held: None, newest: head });
            }
            std::collections::hash_map::Entry::Occupied(mut known) => {
                let known = known.get_mut();
                if head.seq > known.newest.seq {
                    known.newest = head;
                } else if head != known.newest && known.held.is_none() {
                    // Two commits may be reported in another order; or an older state was restored. The store decides.
                    known.held = Some(std::mem::replace(&mut known.newest, head));
                }
            }
        }
        drop(state);
        if was_empty && let Some(job) = self.job.get() {
            job.raise();
        }
    }

    /// The records that a chain must have by all marks of this node; an acceptance invalidates earlier ones.
    pub fn witnessed(&self, tenant: Tenant, strand: Strand) -> Witnessed {
        let state = self.state();
        Witnessed {
            kept: state.kept.get(&(tenant, strand)).cloned(),
            fresh: state.fresh.get(&(tenant, strand)).cloned(),
        }
    }

    /// The operator has accepted an older state, from this record on. The mark moves there with the next read of the
    /// store.
    pub fn accept(&self, tenant: Tenant, strand: Strand, head: Head) {
        let mut state = self.state();
        state.fresh.remove(&(tenant, strand));
        state.told.remove(&(tenant, strand));
        drop(state);
        self.note(tenant, strand, head);
    }

    /// All current marks, for the file of heads.
    pub fn all(&self) -> Vec<(Tenant, Strand, Mark)> {
        self.state().kept.iter().map(|((tenant, strand), mark)| (*tenant, *strand, mark.clone())).collect()
    }

    /// Reads every head in the store: new records of other nodes are marked, and missing ones are detected.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn scan(&self, app: &App) -> Result<(), DbError> {
        let mut gone: HashSet<Key> = self.state().kept.keys().copied().collect();
        let mut after = (String::new(), String::new());
        loop {
            let from = after.clone();
            let rows = app.store.read_long(move |tx| decision_log::heads(tx, &from, PAGE as i64)).await?;
            for (workspace, chain, row) in &rows {
                let (Ok(tenant), Some(strand)) = (workspace.parse(), Strand::parse(chain)) else { continue };
                gone.remove(&(tenant, strand));
                if row.head.seq > 0
                    && row.seal == super::decision_log::seal(&app.keyring, tenant, strand, &row.head, row.at)
                {
                    self.note(tenant, strand, row.head.clone());
                } else if row.head.seq > 0 {
                    tracing::error!(workspace = %tenant, chain = strand.as_str(), "the head of this chain of the decision log was altered");
                }
            }
            match rows.last() {
                Some((workspace, chain, _)) if rows.len() == PAGE => {
                    after = (workspace.clone(), chain.clone())
                }
                _ => break,
            }
        }
        for (tenant, strand) in gone {
            let known = self.state().kept.get(&(tenant, strand)).map(|mark| mark.head.clone());
            if let Some(head) = known {
                self.note(tenant, strand, head);
            }
        }
        Ok(())
    }

    /// Stores new marks: a mark moves on only while the chain still has its record.
    ///
    /// # Errors
    /// Why nothing is stored for now; it is retried.
    pub async fn keep(&self, app: &App) -> Result<(), String> {
        let batch: Vec<(Key, Fresh)> =
            self.state().fresh.iter().map(|(key, fresh)| (*key, fresh.clone())).collect();
        for part in batch.chunks(PAGE) {
            self.keep_part(app, part).await?;
        }
        Ok(())
    }

    async fn keep_part(&self, app: &App, part: &[(Key, Fresh)]) -> Result<(), String> {
        let keyring = app.keyring.clone();
        let wanted: Vec<(Key, Vec<u64>)> = {
            let state = self.state();
            let numbers = |(key, fresh): &(Key, Fresh)| {
                (
                    *key,
                    fresh
                        .heads()
                        .map(|head| head.seq)
                        .chain(state.kept.get(key).map(|mark| mark.head.seq))
                        .collect(),
                )
            };
            part.iter().map(numbers).collect()
        };
        let read = move |tx: &mut Tx<'_>| {
            wanted
                .iter()
                .map(|(key, numbers)| see(tx, &keyring, *key, numbers))
                .collect::<Result<Vec<_>, DbError>>()
        };
        let seen = app.store.read_long(read).await.map_err(|why| why.to_string())?;
        let mut moved: Vec<(Tenant, Strand, Mark)> = Vec::new();
        for ((key, fresh), seen) in part.iter().zip(&seen) {
            moved.extend(self.judge(*key, fresh, seen).map(|mark| (key.0, key.1, mark)));
        }
        if !moved.is_empty() {
            let anew = {
                let state = self.state();
                let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
                file.wants_all(state.kept.len() + moved.len()).then(|| state.kept.clone())
            };
            let file = self.file.clone();
            let write = move || {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                match anew {
                    Some(mut all) => {
                        all.extend(
                            moved.iter().map(|(tenant, strand, mark)| ((*tenant, *strand), mark.clone())),
                        );
                        file.write_anew(&all)?;
                    }
                    None => file.add(&moved)?,
                }
                Ok::<_, std::io::Error>(moved)
            };
            let moved = runtime::blocking::run(write)
                .await
                .map_err(|why| why.to_string())?
                .map_err(|why| why.to_string())?;
            let mut state = self.state();
            for (tenant, strand, mark) in moved {
                let kept = state.kept.entry((tenant, strand)).or_insert_with(|| mark.clone());
                if mark.is_beyond(kept) {
                    *kept = mark;
                }
            }
        }
        let mut state = self.state();
        for (key, fresh) in part {
            if state.fresh.get(key) == Some(fresh) {
                state.fresh.remove(key);
            }
        }
        let more = !state.fresh.is_empty();
        drop(state);
        if more && let Some(job) = self.job.get() {
            // Nothing else raises it while there is something left.
            job.raise();
        }
        Ok(())
    }

    /// The next position of a mark; logs when the chain contradicts it.
    fn judge(&self, key: Key, fresh: &Fresh, seen: &Seen) -> Option<Mark> {
        let mut state = self.state();
        let before = state.kept.get(&key).cloned();
        let generation = before.as_ref().map_or(0, |mark| mark.generation);
        let accepted = seen.accepted.as_ref().filter(|accepted| accepted.generation > generation);
        let mut mark =
            before.clone().unwrap_or_else(|| Mark { head: Head::default(), generation: 0 }).under(accepted);
        let mut broken = seen.contradiction(&mark);
        for head in fresh.heads() {
            let next = Mark { head: head.clone(), generation: mark.generation };
            let refuted = seen.contradiction(&next);
            // Marks before an acceptance are void; a missing marked record without one is to be detected.
            if broken.is_none() && next.head.seq > mark.head.seq && (refuted.is_none() || accepted.is_none())
            {
                mark = next;
                broken = refuted;
            }
        }
        match broken {
            Some(broken) if state.told.insert(key) => tracing::error!(
                workspace = %key.0, chain = key.1.as_str(), %broken,
                "THE DECISION LOG WAS CUT SHORT OR PUT BACK. If a backup was restored, accept it: dastak admin accept-log {}", key.0
            ),
            Some(_) => {}
            None => drop(state.told.remove(&key)),
        }
        (before.as_ref() != Some(&mark)).then_some(mark)
    }
}

fn see(tx: &mut Tx<'_>, keyring: &Keyring, (tenant, strand): Key, numbers: &[u64]) -> Result<Seen, DbError> {
    let accepted = accepted(&mut tx.of(tenant), keyring, strand)?;
    let mut hashes = HashMap::new();
    for seq in numbers.iter().copied().chain(accepted.as_ref().map(|accepted| accepted.head.seq)) {
        if let std::collections::hash_map::Entry::Vacant(empty) = hashes.entry(seq) {
            empty.insert(decision_log::hash_at(&mut tx.of(tenant), strand, seq)?);
        }
    }
    Ok(Seen { accepted, last: decision_log::last_seq(&mut tx.of(tenant), strand)?, hashes })
}

/// What a chain must hold.
#[derive(Clone, Default)]
pub struct Witnessed {
    kept: Option<Mark>,
    fresh: Option<Fresh>,
}

impl Witnessed {
    /// Every record that the chain must have, given the operator's acceptances.
    pub fn marks(&self, accepted: Option<&Acceptance>) -> Vec<Mark> {
        let generation = self.generation();
        let newer = accepted.filter(|accepted| accepted.generation > generation);
        if let Some(newer) = newer {
            return vec![Mark { head: newer.head.clone(), generation: newer.generation }];
        }
        let fresh =
            self.fresh.iter().flat_map(Fresh::heads).map(|head| Mark { head: head.clone(), generation });
        self.kept.iter().cloned().chain(fresh).filter(|mark| mark.head.seq > 0).collect()
    }

    /// How often an older state was accepted, as far as this node knows.
    pub fn generation(&self) -> u64 {
        self.kept.as_ref().map_or(0, |mark| mark.generation)
    }

    /// The newest marked record.
    pub fn newest(&self) -> u64 {
        self.marks(None).iter().map(|mark| mark.head.seq).max().unwrap_or(0)
    }
}
