//! Templates (docs/contract/channel.md#templates): submitted to the provider, which reviews them; their last known
//! state is stored. Requests of clients are here, updates from the provider in `news`.

mod news;

pub(crate) use news::{look_soon, on_category, on_quality, on_status, sync_all};

use std::sync::Arc;

use api::channel_templates::{
    ChannelTemplate as View, ChannelTemplateChange, MAX_TEMPLATES, NewChannelTemplate, SyncedTemplates,
    TemplateComponent,
};
use api::error_codes::{CHATAPP_DISABLED, TEMPLATE_NOT_FOUND};
use app::access::Caller;
use app::limits::pages;
use app::{App, Context, Failure, topics};
use domain::channel::provider::{Sample, TemplateState};
use domain::channel::template::{self, NewTemplate, TemplateRef, is_named};
use domain::channel::{Account, Category, Template, TemplateStatus};
use domain::ids::{ChannelTemplate, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::Value;
use store::channel_templates::{self, TemplateRow};
use store::{TenantTx, Tx, channel_accounts};

use crate::accounts::{account, brought, not_connected};
use crate::campaigns::outcomes::on_account_event;
use crate::events::AccountEvent;
use crate::numbers::emit;
use crate::providers::provider;
use news::{is_expected, updated};

/// Largest sample of a header, bytes.
pub const MAX_SAMPLE: usize = 16 << 20;

/// The template that a request names.
///
/// # Errors
/// 400 `template_not_found`.
pub fn find(tx: &mut TenantTx, which: &TemplateRef) -> Result<Template, Failure> {
    let row = match which {
        TemplateRef::Id(id) => channel_templates::get(tx, *id)?,
        TemplateRef::Name { name, language } => channel_templates::by_name(tx, name, language)?,
    };
    // A template that is known only from a notification has no components yet.
    row.filter(|row| !is_expected(row)).map(template).ok_or_else(|| Failure::plain(TEMPLATE_NOT_FOUND))
}

/// The domain value of a template's row.
pub(crate) fn template(row: TemplateRow) -> Template {
    Template {
        id: row.id,
        provider_id: row.provider_id,
        name: row.name,
        language: row.language,
        category: row.category,
        status: row.status,
        components: match row.components {
            Value::Array(components) => components,
            _ => Vec::new(),
        },
        named: row.named,
    }
}

fn parts(components: &Value) -> Vec<TemplateComponent> {
    let list = components.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_object).cloned().map(TemplateComponent).collect()
}

fn view(row: TemplateRow) -> View {
    View {
        id: row.id.to_string(),
        components: parts(&row.components),
        name: row.name,
        language: row.language,
        category: row.category,
        pending_category: row.pending_category,
        status: row.status,
        quality_score: row.quality,
        rejected_reason: row.rejected_reason,
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

fn raw(components: &[TemplateComponent]) -> Vec<Value> {
    components.iter().map(|component| Value::Object(component.0.clone())).collect()
}

fn misfit(misfit: domain::channel::content::Misfit) -> Failure {
    Failure::field(&misfit.field, misfit.must)
}

/// Fails unless the channel is on for the workspace.
///
/// # Errors
/// 403 `chatapp_disabled`.
pub fn need_channel(caller: &Caller) -> Result<(), Failure> {
    caller.need_feature("chatappChannel").map_err(|_| Failure::plain(CHATAPP_DISABLED))
}

/// A page of templates, newest first, with the cursor of the next page.
pub async fn list(
    app: &App,
    tenant: Tenant,
    after: Option<String>,
    name: Option<String>,
    status: Option<TemplateStatus>,
    limit: i64,
) -> Result<(Vec<View>, Option<String>), Failure> {
    let page = app.store.read(move |tx| {
        let read = |tx: &mut Tx<'_>, limit: i64, after: Option<&str>| {
            let mut rows =
                channel_templates::page(&mut tx.of(tenant), after, name.as_deref(), status, limit + 1)?;
            let more = rows.len() as i64 > limit;
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            let next = rows.last().filter(|_| more).map(|row| row.id.stored());
            let keyed = rows.into_iter().map(|row| (row.id.stored(), view(row))).collect();
            Ok::<_, Failure>((keyed, next))
        };
        pages::read(tx, limit, after.clone(), read, |_, (key, view): (String, View)| {
            Ok((key, pages::bytes_of(&view), view))
        })
    });
    page.await
}

/// One template.
///
/// # Errors
/// There is no such template.
pub async fn get(app: &App, tenant: Tenant, id: Id<ChannelTemplate>) -> Result<View, Failure> {
    let row =
        app.store.read(move |tx| Ok::<_, Failure>(channel_templates::get(&mut tx.of(tenant), id)?)).await?;
    row.map(view).ok_or_else(missing)
}

fn missing() -> Failure {
    Failure::not_found("template")
}

fn simulated(app: &App) -> String {
    format!("TEST_{}", app.ids.random_text(20))
}

/// The row of a template that the provider has created.
fn row_of(id: Id<ChannelTemplate>, account: &Account, state: &TemplateState, now: Timestamp) -> TemplateRow {
    let pending = state.correct_category.as_deref().and_then(Category::parse);
    let category = Category::parse(&state.category).unwrap_or(Category::Marketing);
    TemplateRow {
        id,
        connection: account.connection,
        provider_id: state.provider_id.clone(),
        name: state.name.clone(),
        language: state.language.clone(),
        category,
        pending_category: pending.filter(|pending| *pending != category),
        previous_category: None,
        status: TemplateStatus::parse(&state.status).unwrap_or(TemplateStatus::Pending),
        named: is_named(&state.components, state.parameter_format.as_deref()),
        components: Value::Array(state.components.clone()),
        quality: state.quality.clone(),
        rejected_reason: state.rejected_reason.clone(),
        created_at: now,
        updated_at: now,
    }
}

/// Submits a template. A test key only validates it.
///
/// # Errors
/// 400 naming what is invalid; 409 when name and language are taken, or there are too many; the provider's error.
pub async fn create(app: &Arc<App>, caller: &Caller, body: NewChannelTemplate) -> Result<View, Failure> {
    need_channel(caller)?;
    let (tenant, components) = (caller.tenant(), raw(&body.components));
    let wanted = NewTemplate {
        named: is_named(&components, None),
        name: body.name,
        language: body.language,
        category: body.category,
        components,
    };
    wanted.check().map_err(misfit)?;
    let (name, language) = (wanted.name.clone(), wanted.language.clone());
    let (known, count) = app
        .of(tenant)
        .read(move |tx| {
            channel_accounts::get(tx)?.ok_or_else(not_connected)?;
            let known = channel_templates::by_name(tx, &name, &language)?.is_some();
            Ok::<_, Failure>((known, channel_templates::count(tx)?))
        })
        .await?;
    if known {
        return Err(Failure::conflict(
            "a template with this name and language exists; change it, or choose another name",
        ));
    }
    if count >= MAX_TEMPLATES {
        return Err(Failure::conflict(format!(
            "the workspace has {MAX_TEMPLATES} templates, which is the limit; delete one first"
        )));
    }
    let now = app.clock.now();
    if caller.mode() == Mode::Test {
        return Ok(View {
            id: simulated(app),
            name: wanted.name,
            language: wanted.language,
            category: wanted.category,
            pending_category: None,
            status: TemplateStatus::Pending,
            components: body.components,
            quality_score: None,
            rejected_reason: None,
            created_at: now,
            updated_at: now,
        });
    }
    let account = account(app, tenant).await?;
    let answer = provider(app, &account).create_template(&account, &wanted).await;
    let created = brought(app, &account, answer).await?;
    let state = TemplateState {
        provider_id: created.provider_id,
        name: wanted.name,
        language: wanted.language,
        category: created.category,
        correct_category: None,
        status: created.status,
        components: wanted.components,
        parameter_format: wanted.named.then(|| "NAMED".to_owned()),
        quality: None,
        rejected_reason: None,
    };
    let row = row_of(app.ids.make(), &account, &state, now);
    app.of(tenant)
        .tx(move |tx| {
            // A look at the provider's list may have come first.
            match channel_templates::by_name(tx, &row.name, &row.language)? {
                Some(known) => Ok(view(known)),
                None => {
                    channel_templates::insert(tx, &row)?;
                    app::actions::about(tx, row.id);
                    Ok::<_, Failure>(view(row.clone()))
                }
            }
        })
        .await
}

/// Changes a template, which the provider reviews again. A test key only validates it.
///
/// # Errors
/// There is no such template; what is wrong with the change; 409 for another category of an approved one; what the
/// provider says.
pub async fn update(
    app: &Arc<App>,
    caller: &Caller,
    id: Id<ChannelTemplate>,
    body: ChannelTemplateChange,
) -> Result<View, Failure> {
    need_channel(caller)?;
    let tenant = caller.tenant();
    let row =
        app.store.read(move |tx| Ok::<_, Failure>(channel_templates::get(&mut tx.of(tenant), id)?)).await?;
    let row = row.ok_or_else(missing)?;
    if body.components.is_none() && body.category.is_none() {
        return Err(Failure::field("components", "is required, unless category is given"));
    }
    let category = body.category.unwrap_or(row.category);
    if category != row.category && row.status == TemplateStatus::Approved {
        return Err(Failure::conflict(
            "category of an approved template cannot change; create another template",
        ));
    }
    let components = body.components.as_ref().map(|components| raw(components));
    let all = components.clone().unwrap_or_else(|| row.components.as_array().cloned().unwrap_or_default());
    let named = is_named(&all, None);
    template::check_components(&all, category, named).map_err(misfit)?;
    let now = app.clock.now();
    let changed = TemplateRow {
        category,
        components: Value::Array(all),
        named,
        status: TemplateStatus::Pending,
        rejected_reason: None,
        updated_at: now,
        ..row.clone()
    };
    if caller.mode() == Mode::Test {
        return Ok(View { id: simulated(app), ..view(changed) });
    }
    let account = account(app, tenant).await?;
    let word = (category != row.category).then(|| category.as_str());
    let answer =
        provider(app, &account).edit_template(&account, &row.provider_id, components.as_deref(), word).await;
    brought(app, &account, answer).await?;
    let app_ = app.clone();
    app.of(tenant)
        .tx(move |tx| {
            let current = channel_templates::get_for_update(tx, id)?.ok_or_else(missing)?;
            // Notifications that arrived since then are newer than the response.
            let status =
                if current.updated_at > changed.updated_at { current.status } else { changed.status };
            let saved = TemplateRow { status, quality: current.quality, ..changed.clone() };
            channel_templates::save(tx, &saved)?;
            let fact = template(saved.clone());
            on_account_event(
                &app_,
                tx,
                &AccountEvent::Template { template: &fact, became_marketing: false },
            )?;
            Ok::<_, Failure>(view(saved))
        })
        .await
}

/// Deletes a template in its language. A test key changes nothing.
///
/// # Errors
/// There is no such template; what the provider says.
pub async fn delete(app: &Arc<App>, caller: &Caller, id: Id<ChannelTemplate>) -> Result<String, Failure> {
    need_channel(caller)?;
    let tenant = caller.tenant();
    let row =
        app.store.read(move |tx| Ok::<_, Failure>(channel_templates::get(&mut tx.of(tenant), id)?)).await?;
    let row = row.ok_or_else(missing)?;
    if caller.mode() == Mode::Test {
        return Ok(simulated(app));
    }
    let account = account(app, tenant).await?;
    let answer = provider(app, &account).delete_template(&account, &row.name, &row.provider_id).await;
    brought(app, &account, answer).await?;
    let (app_, context) = (app.clone(), app.context());
    app.of(tenant).tx(move |tx| gone(&app_, tx, &context, id)).await?;
    Ok(id.to_string())
}

/// Deletes a template, publishes its event, and pauses campaigns that use it. Idempotent.
fn gone(app: &App, tx: &mut TenantTx, context: &Context, id: Id<ChannelTemplate>) -> Result<(), Failure> {
    let Some(row) = channel_templates::get_for_update(tx, id)? else { return Ok(()) };
    channel_templates::delete(tx, id)?;
    let row = TemplateRow { status: TemplateStatus::Deleted, updated_at: context.now, ..row };
    emit(tx, context, updated(&row, row.status.as_str(), None))?;
    tx.wake(topics::CHANNEL_CAMPAIGNS);
    on_account_event(app, tx, &AccountEvent::Template { template: &template(row), became_marketing: false })
}

/// Deletes the templates of a workspace, which belong to an account that is no longer connected.
pub(crate) fn forget(tx: &mut TenantTx) -> Result<(), Failure> {
    for row in channel_templates::all(tx)? {
        channel_templates::delete(tx, row.id)?;
    }
    Ok(())
}

/// Uploads a sample of a header. Returns its handle. A test key only validates it.
///
/// # Errors
/// What is wrong with the file; the connection has no `appId`; what the provider says.
pub async fn upload_sample(
    app: &Arc<App>,
    caller: &Caller,
    name: &str,
    bytes: &[u8],
) -> Result<String, Failure> {
    need_channel(caller)?;
    let account = account(app, caller.tenant()).await?;
    if account.provider == domain::channel::ProviderKind::Cloud && account.app.is_none() {
        return Err(Failure::field(
            "appId",
            "is missing in the connection; ask the operator to add it, header samples need it",
        ));
    }
    if bytes.is_empty() || bytes.len() > MAX_SAMPLE {
        return Err(Failure::field(
            "file",
            format!("must have at least 1 byte and at most {} MB", MAX_SAMPLE >> 20),
        ));
    }
    let mime_type =
        file_type(bytes).ok_or_else(|| Failure::field("file", "must be a JPEG, PNG, MP4 or PDF file"))?;
    if caller.mode() == Mode::Test {
        return Ok(simulated(app));
    }
    let plain: String = name.chars().filter(|sign| !sign.is_control()).take(200).collect();
    let name = if plain.is_empty() { "sample".to_owned() } else { plain };
    let sample = Sample { name, mime_type: mime_type.to_owned(), bytes: bytes.to_vec() };
    let answer = provider(app, &account).upload_sample(&account, &sample).await;
    brought(app, &account, answer).await
}

/// The type of a file by its first bytes.
fn file_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("application/pdf"),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some("video/mp4"),
        _ => None,
    }
}

/// Synchronises templates with the provider's list. A test key changes nothing.
///
/// # Errors
/// 409 without a connection; what the provider says.
pub async fn sync(app: &Arc<App>, caller: &Caller) -> Result<SyncedTemplates, Failure> {
    need_channel(caller)?;
    let account = account(app, caller.tenant()).await?;
    if caller.mode() == Mode::Test {
        return Ok(SyncedTemplates::default());
    }
    sync_all(app, &account, false).await
}
