//! Answers that a team keeps to write them again.

use api::inbox::{NewSavedAnswer, SavedAnswer};
use app::limits::pages;
use app::{App, Failure, access};
use domain::actor::Actor;
use domain::chat::inbox::MAX_SAVED_ANSWERS;
use domain::ids::{self, Id};
use domain::tenant::Tenant;
use store::Tx;
use store::inbox::{self, SavedAnswerRow};

fn view(row: SavedAnswerRow) -> SavedAnswer {
    SavedAnswer {
        id: row.id,
        shortcut: row.shortcut,
        text: row.text,
        changed_by: row.changed_by,
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

/// The shortcut as it is stored.
fn checked(body: &NewSavedAnswer) -> Result<String, Failure> {
    let shortcut = body.shortcut.trim().to_lowercase();
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    if shortcut.is_empty() || !shortcut.chars().all(fits) {
        return Err(Failure::field("shortcut", "must have letters, digits, - and _ only"));
    }
    if body.text.trim().is_empty() {
        return Err(Failure::field("text", "must not be blank"));
    }
    Ok(shortcut)
}

fn taken() -> Failure {
    Failure::conflict("shortcut belongs to another answer; choose another one")
}

/// `GET /v1/saved-answers`: oldest first, with the cursor of the next page.
///
/// # Errors
/// 404 without the workspace.
pub async fn list(
    app: &App,
    tenant: Tenant,
    after: Option<String>,
    limit: i64,
) -> Result<(Vec<SavedAnswer>, Option<String>), Failure> {
    let page = app.store.read(move |tx| {
        access::workspace(&mut tx.of(tenant))?;
        let read = |tx: &mut Tx<'_>, limit: i64, after: Option<&str>| {
            let rows = inbox::saved_answers(&mut tx.of(tenant), after, limit)?;
            let next = pages::last(&rows, limit, |row| row.id.to_string());
            Ok::<_, Failure>((rows.into_iter().map(view).collect(), next))
        };
        pages::views(tx, limit, after.clone(), read, |view: &SavedAnswer| view.id.to_string())
    });
    page.await
}

/// `POST /v1/saved-answers`.
///
/// # Errors
/// 400 for the text or the shortcut; 409 when the shortcut is taken, or there are too many.
pub async fn create(
    app: &App,
    tenant: Tenant,
    by: Actor,
    body: NewSavedAnswer,
) -> Result<SavedAnswer, Failure> {
    let shortcut = checked(&body)?;
    let context = app.context();
    let row = SavedAnswerRow {
        id: context.ids.make(),
        shortcut,
        text: body.text,
        changed_by: by,
        created_at: context.now,
        updated_at: context.now,
    };
    app.of(tenant)
        .tx(move |tx| {
            // One at a time, so that the count holds.
            access::workspace_for_update(tx)?;
            if inbox::count_saved_answers(tx)? >= MAX_SAVED_ANSWERS {
                return Err(Failure::conflict(format!(
                    "the workspace has {MAX_SAVED_ANSWERS} saved answers, which is the limit; delete one first"
                )));
            }
            if !inbox::insert_saved_answer(tx, &row)? {
                return Err(taken());
            }
            Ok(view(row.clone()))
        })
        .await
}

/// `PUT /v1/saved-answers/{id}`.
///
/// # Errors
/// 400 for the text or the shortcut; 404; 409 when the shortcut is taken.
pub async fn update(
    app: &App,
    tenant: Tenant,
    by: Actor,
    id: Id<ids::SavedAnswer>,
    body: NewSavedAnswer,
) -> Result<SavedAnswer, Failure> {
    let shortcut = checked(&body)?;
    let now = app.clock.now();
    app.of(tenant)
        .tx(move |tx| {
            access::workspace_for_update(tx)?;
            let row = inbox::saved_answer(tx, id)?.ok_or_else(|| Failure::not_found("saved answer"))?;
            let row = SavedAnswerRow {
                shortcut: shortcut.clone(),
                text: body.text.clone(),
                changed_by: by,
                updated_at: now,
                ..row
            };
            if !inbox::save_saved_answer(tx, &row)? {
                return Err(taken());
            }
            Ok(view(row))
        })
        .await
}

/// `DELETE /v1/saved-answers/{id}`.
///
/// # Errors
/// 404.
pub async fn delete(app: &App, tenant: Tenant, id: Id<ids::SavedAnswer>) -> Result<(), Failure> {
    app.of(tenant)
        .tx(move |tx| match inbox::delete_saved_answer(tx, id)? {
            true => Ok(()),
            false => Err(Failure::not_found("saved answer")),
        })
        .await
}
