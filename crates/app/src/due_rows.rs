//! Due rows that any node may process, in fair batches. On a shared store a node claims its batch, so that no two nodes
//! fetch the same rows.

use std::collections::HashMap;

use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use store::{DbError, Tx};

use super::App;

/// Rows of one batch, and how many of them one workspace may have while others wait.
const BATCH: i64 = 256;
const SHARE: usize = 32;
/// How often a batch may skip workspaces that have their share.
const LOOKS: usize = 8;
/// Duration of a claim. When a node dies, others process its batch after this time.
const LEASE: i64 = 30 * SECOND;

/// A row that is due.
pub trait DueRow: Copy + PartialEq + Send + 'static {
    fn tenant(&self) -> Tenant;

    /// Up to `limit` rows that are due and not claimed, longest waiting first, without those of the workspaces in `without`.
    fn due(tx: &mut Tx<'_>, now: Timestamp, without: &[Tenant], limit: i64) -> Result<Vec<Self>, DbError>;

    /// Claims it: other nodes skip it until `until`.
    fn claim(&self, tx: &mut Tx<'_>, until: Timestamp) -> Result<(), DbError>;

    /// When the next row is due for somebody who has not claimed it.
    fn next_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError>;
}

/// Takes a batch: of one workspace only its share while others wait behind it, round-robin, so that no workspace waits
/// behind the second row of another one.
///
/// # Errors
/// Those of the store; nothing is claimed.
pub async fn take<D: DueRow>(app: &App) -> Result<Vec<D>, DbError> {
    let now = app.clock.now();
    if !app.store.shared() {
        return app.store.read(move |tx| fair_batch(tx, now)).await;
    }
    app.store
        .tx(move |tx| {
            let batch = fair_batch::<D>(tx, now)?;
            batch.iter().try_for_each(|row| row.claim(tx, now.plus(LEASE)))?;
            Ok(batch)
        })
        .await
}

/// When to take the next batch.
pub async fn next_due<D: DueRow>(app: &App) -> Result<Option<Timestamp>, DbError> {
    let now = app.clock.now();
    app.store.read(move |tx| D::next_due(tx, now)).await
}

fn fair_batch<D: DueRow>(tx: &mut Tx<'_>, now: Timestamp) -> Result<Vec<D>, DbError> {
    // Each row with how many of its workspace come before it.
    let (mut batch, mut full): (Vec<(usize, D)>, Vec<Tenant>) = (Vec::new(), Vec::new());
    let mut shares: HashMap<Tenant, usize> = HashMap::new();
    for _ in 0..LOOKS {
        let found = D::due(tx, now, &full, BATCH)?;
        let all = (found.len() as i64) < BATCH;
        for row in found {
            let share = shares.entry(row.tenant()).or_default();
            if *share < SHARE && !batch.iter().any(|(_, known)| *known == row) {
                batch.push((*share, row));
                *share += 1;
                if *share == SHARE {
                    full.push(row.tenant());
                }
            }
        }
        if all || batch.len() as i64 >= BATCH {
            break;
        }
    }
    batch.sort_by_key(|(turn, _)| *turn);
    Ok(batch.into_iter().map(|(_, row)| row).collect())
}
