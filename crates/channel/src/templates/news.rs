//! Updates of templates from the provider: its list and its notifications. Each change is published.

use std::collections::HashMap;
use std::sync::Arc;

use api::channel_templates::{MAX_TEMPLATES, SyncedTemplates};
use api::events::channel_templates::UpdatedTemplate;
use app::events::Event;
use app::{App, Context, Failure, topics};
use domain::channel::notification::{TemplateCategoryUpdate, TemplateQualityUpdate, TemplateStatusUpdate};
use domain::channel::provider::TemplateState;
use domain::channel::template::status_after;
use domain::channel::{Account, Category, TemplateStatus};

use domain::time::Timestamp;
use serde_json::Value;
use store::channel_accounts::ConnectionRow;
use store::channel_templates::{self, TemplateRow};
use store::{TenantTx, Tx, channel_accounts};

use super::{gone, row_of, template};
use crate::accounts::brought;
use crate::campaigns::outcomes::on_account_event;
use crate::events::AccountEvent;
use crate::numbers::emit;
use crate::providers::provider;

/// Most pages of templates that are read.
const PAGES: usize = 100;

/// Reads the provider's list of an account's templates. `counted` work (a job, not a request) is one that the manual clock
/// waits for, but not while the provider answers.
pub(crate) async fn sync_all(
    app: &Arc<App>,
    account: &Account,
    counted: bool,
) -> Result<SyncedTemplates, Failure> {
    let began = app.clock.now();
    let (mut states, mut after) = (Vec::new(), None);
    for _ in 0..PAGES {
        let provider = provider(app, account);
        let page = provider.templates(account, after.as_deref());
        let answer = if counted { app.clock.outside(page).await } else { page.await };
        let page = brought(app, account, answer).await?;
        states.extend(page.templates);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    states.truncate(usize::try_from(MAX_TEMPLATES).unwrap_or(usize::MAX));
    let whole = after.is_none();
    let (app_, context, account) = (app.clone(), app.context(), account.clone());
    app.store
        .tx_alone(move |tx| take_over(&app_, tx, &context, &account, &states, whole.then_some(began)))
        .await
}

/// Synchronises the stored templates with the provider's list. Templates that a complete list lacks are deleted, unless
/// they were added after it was requested.
fn take_over(
    app: &App,
    tx: &mut Tx<'_>,
    context: &Context,
    account: &Account,
    states: &[TemplateState],
    whole_at: Option<Timestamp>,
) -> Result<SyncedTemplates, Failure> {
    let tenant = account.tenant;
    let mut synced = SyncedTemplates::default();
    let connected = channel_accounts::get_for_update(&mut tx.of(tenant))?;
    if connected.is_none_or(|row| row.business_account != account.business_account) {
        return Ok(synced);
    }
    let mut known: HashMap<(String, String), TemplateRow> = channel_templates::all(&mut tx.of(tenant))?
        .into_iter()
        .map(|row| ((row.name.clone(), row.language.clone()), row))
        .collect();
    for state in states {
        let fresh = row_of(context.ids.make(), account, state, context.now);
        let Some(row) = known.remove(&(state.name.clone(), state.language.clone())) else {
            if fresh.status != TemplateStatus::Deleted {
                channel_templates::insert(&mut tx.of(tenant), &fresh)?;
                synced.added += 1;
            }
            continue;
        };
        let same = row.provider_id == fresh.provider_id
            && row.category == fresh.category
            && row.pending_category == fresh.pending_category
            && row.status == fresh.status
            && row.components == fresh.components
            && row.named == fresh.named
            && row.quality == fresh.quality
            && row.rejected_reason == fresh.rejected_reason;
        if same {
            continue;
        }
        synced.updated += 1;
        let mut now = TemplateRow { id: row.id, created_at: row.created_at, ..fresh };
        now.previous_category =
            if now.category == row.category { row.previous_category } else { Some(row.category) };
        changed(app, &mut tx.of(tenant), context, &row, &now)?;
    }
    let Some(began) = whole_at else { return Ok(synced) };
    for row in known.into_values().filter(|row| row.created_at < began) {
        gone(app, &mut tx.of(tenant), context, row.id)?;
        synced.removed += 1;
    }
    Ok(synced)
}

/// Stores the listed state of a template, and publishes each change.
fn changed(
    app: &App,
    tx: &mut TenantTx,
    context: &Context,
    before: &TemplateRow,
    now: &TemplateRow,
) -> Result<(), Failure> {
    let mut events = Vec::new();
    if now.status != before.status {
        events.push(now.status.as_str().to_owned());
    }
    if is_expected(before) {
        // Its category was a guess, and its quality is not new.
        return save(app, tx, context, before, now, &events, now.rejected_reason.as_deref());
    }
    if now.category != before.category {
        events.push("CATEGORY_CHANGED".to_owned());
    } else if now.pending_category != before.pending_category && now.pending_category.is_some() {
        events.push("CATEGORY_PENDING".to_owned());
    }
    if let Some(quality) = now.quality.as_ref().filter(|_| now.quality != before.quality) {
        events.push(format!("QUALITY_{quality}"));
    }
    save(app, tx, context, before, now, &events, now.rejected_reason.as_deref())
}

#[allow(clippy::too_many_arguments, reason = "one place for what every change of a template entails")]
fn save(
    app: &App,
    tx: &mut TenantTx,
    context: &Context,
    before: &TemplateRow,
    now: &TemplateRow,
    events: &[String],
    reason: Option<&str>,
) -> Result<(), Failure> {
    channel_templates::save(tx, now)?;
    for event in events {
        emit(tx, context, updated(now, event, reason))?;
    }
    let became_marketing = before.category != Category::Marketing && now.category == Category::Marketing;
    tx.wake(topics::CHANNEL_CAMPAIGNS);
    on_account_event(app, tx, &AccountEvent::Template { template: &template(now.clone()), became_marketing })
}

/// The event of a template that changed.
pub(super) fn updated(row: &TemplateRow, event: &str, reason: Option<&str>) -> Event {
    Event::TemplateUpdated(UpdatedTemplate {
        template_id: row.id,
        provider_template_id: row.provider_id.clone(),
        name: row.name.clone(),
        language: row.language.clone(),
        status: row.status,
        category: row.category,
        previous_category: row.previous_category,
        pending_category: row.pending_category,
        quality_score: row.quality.clone(),
        event: event.to_owned(),
        reason: reason.map(str::to_owned),
    })
}

/// Whether a template is known from a notification only: its components come with the provider's list.
pub(super) fn is_expected(row: &TemplateRow) -> bool {
    row.components.as_array().is_none_or(Vec::is_empty)
}

/// The template that a notification is about. An unknown one is added without components, so that the notification can be
/// published; the provider's list brings the rest.
fn named(
    tx: &mut Tx<'_>,
    context: &Context,
    connection: &ConnectionRow,
    which: &domain::channel::notification::TemplateRef,
    category: Option<&str>,
) -> Result<Option<TemplateRow>, Failure> {
    let tenant = connection.workspace;
    let row = channel_templates::at_provider_for_update(&mut tx.of(tenant), &which.id)?;
    if row.is_some() {
        return Ok(row);
    }
    look_soon(&mut tx.of(tenant), context)?;
    let (name, language) = (&which.name, &which.language);
    // One that was made anew has another id; what is new of it comes with the list.
    if name.is_empty()
        || language.is_empty()
        || channel_templates::by_name(&mut tx.of(tenant), name, language)?.is_some()
        || channel_templates::count(&mut tx.of(tenant))? >= MAX_TEMPLATES
    {
        return Ok(None);
    }
    let row = TemplateRow {
        id: context.ids.make(),
        connection: connection.id,
        provider_id: which.id.clone(),
        name: name.clone(),
        language: language.clone(),
        category: category.and_then(Category::parse).unwrap_or(Category::Marketing),
        pending_category: None,
        previous_category: None,
        status: TemplateStatus::Pending,
        named: false,
        components: Value::Array(Vec::new()),
        quality: None,
        rejected_reason: None,
        created_at: context.now,
        updated_at: context.now,
    };
    channel_templates::insert(&mut tx.of(tenant), &row)?;
    Ok(Some(row))
}

/// Schedules a check of the account for now.
pub(crate) fn look_soon(tx: &mut TenantTx, context: &Context) -> Result<(), Failure> {
    channel_accounts::check_at(tx, context.now)?;
    tx.wake(topics::CHANNEL_NOTIFICATIONS);
    Ok(())
}

/// A template was approved, rejected, paused, …. A repeat publishes nothing.
pub(crate) fn on_status(
    app: &App,
    tx: &mut Tx<'_>,
    context: &Context,
    connection: &ConnectionRow,
    told_: &TemplateStatusUpdate,
) -> Result<(), Failure> {
    let tenant = connection.workspace;
    let after = status_after(&told_.event);
    let deleted = after == Some(TemplateStatus::Deleted);
    let row = if deleted {
        channel_templates::at_provider_for_update(&mut tx.of(tenant), &told_.template.id)?
    } else {
        named(tx, context, connection, &told_.template, told_.category.as_deref())?
    };
    let Some(row) = row else { return Ok(()) };
    if after == Some(row.status) {
        return Ok(());
    }
    let mut now = TemplateRow { updated_at: context.now, ..row.clone() };
    now.status = after.unwrap_or(row.status);
    now.rejected_reason = match now.status {
        TemplateStatus::Rejected => told_.reason.clone(),
        _ => None,
    };
    let events = [told_.event.clone()];
    save(app, &mut tx.of(tenant), context, &row, &now, &events, told_.reason.as_deref())?;
    if deleted {
        channel_templates::delete(&mut tx.of(tenant), row.id)?;
    }
    Ok(())
}

/// The quality of a template changed.
pub(crate) fn on_quality(
    app: &App,
    tx: &mut Tx<'_>,
    context: &Context,
    connection: &ConnectionRow,
    told_: &TemplateQualityUpdate,
) -> Result<(), Failure> {
    let tenant = connection.workspace;
    let Some(row) = named(tx, context, connection, &told_.template, None)? else { return Ok(()) };
    if row.quality.as_deref() == Some(told_.quality.as_str()) {
        return Ok(());
    }
    let now = TemplateRow { quality: Some(told_.quality.clone()), updated_at: context.now, ..row.clone() };
    let events = [format!("QUALITY_{}", told_.quality)];
    save(app, &mut tx.of(tenant), context, &row, &now, &events, None)
}

/// The category of a template changes, or has changed. An unknown one counts as marketing, whose rules are strictest.
pub(crate) fn on_category(
    app: &App,
    tx: &mut Tx<'_>,
    context: &Context,
    connection: &ConnectionRow,
    told_: &TemplateCategoryUpdate,
) -> Result<(), Failure> {
    let tenant = connection.workspace;
    let before = told_.previous.as_deref().unwrap_or(&told_.category);
    let Some(row) = named(tx, context, connection, &told_.template, Some(before))? else { return Ok(()) };
    let read = |word: &str| Category::parse(word).unwrap_or(Category::Marketing);
    let mut now = TemplateRow { category: read(&told_.category), updated_at: context.now, ..row.clone() };
    let event = match (&told_.pending, &told_.previous) {
        (Some(pending), None) => {
            now.pending_category = Some(read(pending));
            if now.pending_category == row.pending_category && now.category == row.category {
                return Ok(());
            }
            "CATEGORY_PENDING"
        }
        (_, previous) => {
            now.pending_category = None;
            if now.category == row.category {
                return Ok(());
            }
            now.previous_category = Some(previous.as_deref().map_or(row.category, read));
            "CATEGORY_CHANGED"
        }
    };
    save(app, &mut tx.of(tenant), context, &row, &now, &[event.to_owned()], None)
}
