//! Saves this node's marks of the decision log: a second after a chain grew, its mark is in the file of the data
//! folder, and signed heads are added periodically to a file that the operator keeps elsewhere.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use domain::decision_log::Strand;
use domain::tenant::Tenant;
use domain::time::{MINUTE, SECOND, Timestamp};

use crate::app::{App, audit};
use crate::runtime::clock::{Job, Woken};
use crate::runtime::mark_file;

/// Time between two writes of the file.
const PACE: i64 = SECOND;
/// Time between two polls of the heads of all chains, on a store that other nodes write to.
const SCAN: i64 = MINUTE;

pub fn start(app: &Arc<App>) {
    let (app, grown) = (app.clone(), app.clock.signal());
    app.marks.connect(grown.clone());
    let clock = app.clock.clone();
    clock.start_job(grown, |job| run(app, job));
}

/// Runs until the service stops.
async fn run(app: Arc<App>, mut job: Job) {
    let mut heads = Heads::default();
    let mut scan = Some(app.clock.now());
    loop {
        let now = app.clock.now();
        if scan.is_some_and(|due| due <= now) {
            scan = match app.marks.scan(&app).await {
                // On a manual clock there is one node.
                Ok(()) => (app.store.shared() && !app.clock.is_manual()).then(|| now.plus(SCAN)),
                Err(why) => {
                    tracing::warn!(%why, "the heads of the decision log could not be read; it is tried again");
                    Some(now.plus(PACE))
                }
            };
        }
        let kept = app.marks.keep(&app).await;
        if let Err(why) = &kept {
            tracing::warn!(%why, "the marks of the decision log could not be kept; it is tried again");
        }
        let heads_due = heads.hand_out(&app, false).await;
        let again = kept.is_err().then(|| now.plus(PACE));
        if job.wait([scan, again, heads_due].into_iter().flatten().min()).await == Woken::Stop {
            break;
        }
        // Many commits share one write; a manual clock stands still, so there is nothing to wait for.
        if !app.clock.is_manual() && app.clock.sleep_until(app.clock.now().plus(PACE)).await == Woken::Stop {
            break;
        }
    }
    if let Err(why) = app.marks.keep(&app).await {
        tracing::warn!(%why, "the marks of the decision log lag behind; the next start sees to it");
    }
    heads.hand_out(&app, true).await;
}

/// What was appended to the file of heads.
#[derive(Default)]
struct Heads {
    given: HashMap<(Tenant, Strand), u64>,
    due: Option<Timestamp>,
}

impl Heads {
    /// Appends the head of every chain that has grown, when it is due; returns when it is due next.
    async fn hand_out(&mut self, app: &App, last: bool) -> Option<Timestamp> {
        let file = app.config.head_file.as_deref()?;
        let now = app.clock.now();
        if let Some(due) = self.due.filter(|due| *due > now && !last) {
            return Some(due);
        }
        let next = now.plus(i64::try_from(app.config.head_interval.as_millis()).unwrap_or(MINUTE));
        let grown: Vec<_> = app
            .marks
            .all()
            .into_iter()
            .filter(|(tenant, strand, mark)| {
                self.given.get(&(*tenant, *strand)).is_none_or(|given| *given < mark.head.seq)
            })
            .collect();
        let lines: String = grown
            .iter()
            .filter_map(|(tenant, strand, mark)| {
                serde_json::to_string(&audit::signed(app, *tenant, *strand, mark.head.clone())).ok()
            })
            .map(|line| line + "\n")
            .collect();
        match add(file, lines).await {
            Ok(()) => {
                self.given.extend(
                    grown.into_iter().map(|(tenant, strand, mark)| ((tenant, strand), mark.head.seq)),
                );
                self.due = Some(next);
            }
            Err(why) => {
                tracing::error!(%why, file = %file.display(), "audit.head_file: heads of the decision log could not be added; it is tried again");
                self.due = Some(now.plus(MINUTE).min(next));
            }
        }
        self.due
    }
}

async fn add(file: &Path, lines: String) -> Result<(), String> {
    if lines.is_empty() {
        return Ok(());
    }
    let file = file.to_owned();
    let write = move || mark_file::add_line(&file, &lines);
    runtime::blocking::run(write).await.map_err(|why| why.to_string())?.map_err(|why| why.to_string())
}
