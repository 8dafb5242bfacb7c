//! Workspaces, as the operator makes and changes them.

use api::account::OwnWorkspaceChange;
use api::operator::{FEATURES, LIMITS, NewWorkspace, Workspace as WorkspaceView, WorkspaceChange};
use domain::compliance::EntityClass;
use domain::compliance::dlt::DltId;
use domain::tenant::Tenant;
use domain::topic::Topic;
use serde_json::{Map, Value, json};
use store::wallet::Floor;
use store::workspaces::{self, WorkspaceRow};

use super::idempotency::{Answer, Once};
use super::operator_log::{self, Trace};
use super::{App, Failure, access, actions, calls, changes, held_up, wallet};

/// Price of a chat unless the operator says otherwise (docs/contract/operator.md#workspaces), minor units.
const COST_PER_CHAT: i64 = 500;
/// The same of a graded conversation.
const COST_PER_EVALUATION: i64 = 100;

fn view(row: WorkspaceRow) -> WorkspaceView {
    WorkspaceView {
        features: FEATURES
            .iter()
            .map(|name| ((*name).to_owned(), json!(access::feature_on(&row, name))))
            .collect(),
        limits: LIMITS
            .iter()
            .map(|(name, _)| ((*name).to_owned(), json!(access::limit(&row, name))))
            .collect(),
        id: row.id,
        name: row.name,
        kyb_verified: row.kyb_verified,
        suspended: row.suspended,
        balance_minor: row.balance,
        reserved_minor: row.reserved,
        currency: row.currency,
        cost_per_minute_minor: row.cost_per_minute,
        cost_per_chat_minor: row.cost_per_chat,
        cost_per_evaluation_minor: row.cost_per_evaluation,
        low_balance_minor: row.low_balance,
        marketing_opt_in_rule: row.marketing_opt_in_rule,
        regulated_as: row.regulated_as,
        dlt_entity_id: row.dlt_entity_id,
        created_at: row.created_at,
    }
}

/// Makes a workspace; a first balance is booked as `signup_grant`.
pub async fn create(app: &App, trace: Trace, once: Once, body: NewWorkspace) -> Result<Answer, Failure> {
    let context = app.context();
    let row = WorkspaceRow {
        id: context.ids.make(),
        name: body.name,
        kyb_verified: body.kyb_verified,
        suspended: false,
        currency: body.currency,
        cost_per_minute: body.cost_per_minute_minor,
        cost_per_chat: COST_PER_CHAT,
        cost_per_evaluation: COST_PER_EVALUATION,
        low_balance: None,
        marketing_opt_in_rule: true,
        features: Map::new(),
        limits: Map::new(),
        regulated_as: EntityClass::Undeclared,
        dlt_entity_id: None,
        balance: 0,
        reserved: 0,
        created_at: context.now,
    };
    once.run(app, 201, move |tx| {
        workspaces::insert(tx, &row)?;
        if body.balance_minor > 0 {
            wallet::post(
                &mut tx.of(row.id),
                &context,
                "signup_grant",
                body.balance_minor,
                "signup",
                Floor::Reserved,
            )?;
        }
        operator_log::append(tx, &context, &trace, Some(row.id), &row.id.to_string())?;
        let made = workspaces::get(&mut tx.of(row.id))?
            .ok_or_else(|| Failure::internal("a new workspace is not there"))?;
        Ok(json!({"data": view(made)}))
    })
    .await
}

/// All workspaces, newest first.
pub async fn list(
    app: &App,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<WorkspaceView>, Option<String>), Failure> {
    let rows = app.store.read(move |tx| workspaces::list(tx, before.as_deref(), limit)).await?;
    let next = (rows.len() as i64 == limit).then(|| rows.last().map(|row| row.id.to_string())).flatten();
    Ok((rows.into_iter().map(view).collect(), next))
}

pub async fn get(app: &App, tenant: Tenant) -> Result<WorkspaceView, Failure> {
    app.of(tenant).read(workspaces::get).await?.map(view).ok_or_else(|| Failure::not_found("workspace"))
}

/// `PATCH /v1/workspace`: what its admins may change themselves.
///
/// # Errors
/// There is none.
pub async fn update_own(
    app: &App,
    tenant: Tenant,
    change: OwnWorkspaceChange,
) -> Result<WorkspaceView, Failure> {
    let (context, access_changes) = (app.context(), app.access_changes());
    app.of(tenant)
        .tx(move |tx| {
            let mut row = access::workspace_for_update(tx)?;
            let before = view(row.clone());
            row.name = change.name.clone().unwrap_or(row.name);
            row.low_balance = change.low_balance_minor.unwrap_or(row.low_balance);
            workspaces::update(tx, &row)?;
            changes::note(tx, context.now, Topic::Settings, tenant)?;
            access_changes(tx)?;
            let after = view(row);
            actions::about(tx, tenant);
            actions::changed(tx, &before, &after);
            Ok::<_, Failure>(after)
        })
        .await
}

fn merge(into: &mut Map<String, Value>, change: Option<Map<String, Value>>, known: impl Fn(&str) -> bool) {
    for (name, value) in change.into_iter().flatten() {
        if known(&name) {
            into.insert(name, value);
        }
    }
}

fn read_dlt_id(text: &str) -> Result<String, Failure> {
    let id = DltId::parse(text).ok_or_else(|| {
        Failure::field("dltEntityId", "must be 1 to 64 letters, digits, hyphens and underscores")
    })?;
    Ok(id.as_str().to_owned())
}

/// Changes what the body names, at once on every node.
pub async fn update(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    change: WorkspaceChange,
) -> Result<WorkspaceView, Failure> {
    let context = app.context();
    let dlt_entity_id = match &change.dlt_entity_id {
        Some(Some(text)) => Some(Some(read_dlt_id(text)?)),
        Some(None) => Some(None),
        None => None,
    };
    let (access_changes, hooks) = (app.access_changes(), app.hooks);
    let changed = app
        .store
        .tx(move |tx| {
            let mut row = workspaces::get_for_update(&mut tx.of(tenant))?
                .ok_or_else(|| Failure::not_found("workspace"))?;
            let (change, before) = (change.clone(), view(row.clone()));
            if change.suspended == Some(true) {
                calls::end_all(&mut tx.of(tenant), context.now)?;
                hooks.suspend(&mut tx.of(tenant), context.now)?;
            }
            row.name = change.name.unwrap_or(row.name);
            row.kyb_verified = change.kyb_verified.unwrap_or(row.kyb_verified);
            row.suspended = change.suspended.unwrap_or(row.suspended);
            row.cost_per_minute = change.cost_per_minute_minor.unwrap_or(row.cost_per_minute);
            row.cost_per_chat = change.cost_per_chat_minor.unwrap_or(row.cost_per_chat);
            row.cost_per_evaluation = change.cost_per_evaluation_minor.unwrap_or(row.cost_per_evaluation);
            row.low_balance = change.low_balance_minor.unwrap_or(row.low_balance);
            row.marketing_opt_in_rule = change.marketing_opt_in_rule.unwrap_or(row.marketing_opt_in_rule);
            row.regulated_as = change.regulated_as.unwrap_or(row.regulated_as);
            row.dlt_entity_id = dlt_entity_id.clone().unwrap_or(row.dlt_entity_id);
            merge(&mut row.features, change.features, |name| FEATURES.contains(&name));
            merge(&mut row.limits, change.limits, |name| LIMITS.iter().any(|(known, _)| *known == name));
            workspaces::update(tx, &row)?;
            changes::note(&mut tx.of(tenant), context.now, Topic::Settings, tenant)?;
            access_changes(tx)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &tenant.to_string())?;
            let changed = view(row);
            actions::changed(tx, &before, &changed);
            Ok::<_, Failure>(changed)
        })
        .await?;
    if !changed.suspended {
        held_up::wake(app, tenant).await;
    }
    Ok(changed)
}
