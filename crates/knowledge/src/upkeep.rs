//! Clean-up after deleted bases, and updates of indexes before they are searched.

use app::{App, Failure};
use store::knowledge;

use crate::shelf;

/// Passages that one transaction removes.
const STEP: i64 = 2_000;
/// Folders that are looked up at once.
const FOLDERS: usize = 500;
/// Transactions of one round.
const STEPS: usize = 20;

/// Deletes a bounded part of the data of deleted bases, here and in the store, and updates the open indexes. Returns
/// whether nothing is left to delete.
pub async fn look_after(app: &App) -> Result<bool, Failure> {
    let shelf = shelf::of(app);
    for folders in shelf.folders().chunks(FOLDERS) {
        let asked = folders.to_vec();
        let there = app.store.read(move |tx| knowledge::versions(tx, &asked)).await?;
        for gone in folders.iter().copied().filter(|base| !there.iter().any(|(known, ..)| known == base)) {
            let shelf = shelf.clone();
            // A folder of a large base takes a while.
            runtime::blocking::run(move || shelf.remove(gone)).await.ok();
        }
        for (base, tenant, version) in there {
            if shelf.lags(base, version)
                && let Err(failure) = shelf::follow(app, tenant, base).await
            {
                failure.warn_about(base, "an index could not follow its knowledge base");
            }
        }
    }
    for _ in 0..STEPS {
        let Some(base) = app.store.read(knowledge::deleted).await? else { return Ok(true) };
        app.store.tx_alone(move |tx| knowledge::sweep(tx, base, STEP)).await?;
    }
    Ok(false)
}
