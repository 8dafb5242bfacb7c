//! Deletion of documents: erasure, retention, and their objects (docs/contract/documents.md#how-long-they-are-kept).

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{App, Context, Failure, topics};
use domain::ids::{Document, Id};

use domain::time::{DAY, HOUR, MINUTE, Timestamp};
use store::documents::{self, DropRow};
use store::{DbError, TenantTx};

/// Documents and objects deleted in one go.
const BATCH: i64 = 100;
/// First retry delay of an object that could not be deleted; it doubles up to [`LONGEST`].
const AGAIN: i64 = MINUTE;
const LONGEST: i64 = HOUR;

/// Deletes a document. A job deletes its files, and retries until it succeeds.
fn forget(tx: &mut TenantTx, now: Timestamp, id: Id<Document>) -> Result<(), DbError> {
    for part in documents::parts(tx, id)? {
        documents::owe_drop(tx, &part.object, now)?;
    }
    documents::remove(tx, id)?;
    tx.wake(topics::CHATS);
    Ok(())
}

/// Erases the documents of a person: files, details, and rows.
pub fn erase(
    tx: &mut TenantTx,
    context: &Context,
    person: &ErasedPerson,
    _: &mut Erased,
) -> Result<(), Failure> {
    for row in documents::of_contacts(tx, &person.contacts)? {
        forget(tx, context.now, row.id)?;
    }
    Ok(())
}

/// Deletes a batch of documents older than `documents.keep_days`. Returns whether there may be more.
pub async fn sweep(app: &App) -> Result<bool, DbError> {
    let days = app.config.document_days;
    if days == 0 {
        return Ok(false);
    }
    let now = app.clock.now();
    let before = now.plus(-days.saturating_mul(DAY));
    app.store
        .tx(move |tx| {
            let old = documents::made_before(tx, before, BATCH)?;
            for (id, tenant) in &old {
                forget(&mut tx.of(*tenant), now, *id)?;
            }
            Ok::<_, DbError>(old.len() as i64 >= BATCH)
        })
        .await
}

/// Retry delay of an object that could not be deleted.
fn again_after(attempts: i64) -> i64 {
    let doublings = u32::try_from(attempts.clamp(0, 10)).unwrap_or(0);
    AGAIN.saturating_mul(1 << doublings).min(LONGEST)
}

/// Deletes due objects. Returns when the next one is due.
pub async fn drop_due(app: &App) -> Result<Option<Timestamp>, DbError> {
    loop {
        let now = app.clock.now();
        // If this node dies, the next round deletes them.
        let rows =
            app.store.tx(move |tx| documents::take_drops(tx, now, now.plus(again_after(0)), BATCH)).await?;
        let whole = rows.len() as i64 >= BATCH;
        for row in rows {
            drop_one(app, row).await?;
        }
        if !whole {
            return app.store.read(documents::next_drop).await;
        }
    }
}

async fn drop_one(app: &App, row: DropRow) -> Result<(), DbError> {
    let dropped = app.clock.outside(app.ports.objects.delete(&row.object)).await;
    match dropped {
        Ok(()) => {
            app.of(row.workspace).tx(move |tx| documents::settle_drop(tx, &row.object)).await?;
        }
        Err(why) => {
            tracing::warn!(%why, attempts = row.attempts + 1, "the file of a document could not be dropped yet");
            let later = app.clock.now().plus(again_after(row.attempts));
            app.of(row.workspace).tx(move |tx| documents::delay_drop(tx, &row.object, later)).await?;
        }
    }
    Ok(())
}
