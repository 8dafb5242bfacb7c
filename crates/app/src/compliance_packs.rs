//! Compliance packs: the built-in ones and those that the operator makes for a workspace.

use api::operator_agents::{CompliancePack as PackView, pack_field_names};
use domain::compliance::{Pack, is_custom_reference};
use domain::ids::{CompliancePack, Id};
use domain::tenant::Tenant;
use serde_json::{Map, Value};
use store::TenantTx;
use store::compliance_packs::{self, PackRow};

use super::operator_log::{self, Trace};
use super::{App, Failure, access};

/// What a `policyRef` names: a built-in pack, a custom one of this workspace, or nothing.
pub fn resolve(tx: &mut TenantTx, policy_ref: &str) -> Result<Option<Pack>, Failure> {
    if !is_custom_reference(policy_ref) {
        return Ok(Pack::built_in(policy_ref));
    }
    let Ok(id) = policy_ref.parse::<Id<CompliancePack>>() else { return Ok(None) };
    let Some(row) = compliance_packs::get(tx, id)? else { return Ok(None) };
    let pack = Pack::parse_custom(policy_ref, &row.body)
        .map_err(|why| Failure::internal(format!("{policy_ref}: {why}")))?;
    Ok(Some(pack))
}

fn view(row: PackRow) -> PackView {
    let body = match row.body {
        Value::Object(body) => body,
        _ => Map::new(),
    };
    PackView { id: row.id, body, created_at: row.created_at }
}

/// Makes a pack; it cannot be changed or deleted, since agents and decisions name it.
pub async fn create(app: &App, trace: Trace, tenant: Tenant, mut body: Value) -> Result<PackView, Failure> {
    let context = app.context();
    let id = context.ids.make::<CompliancePack>();
    Pack::parse_custom(&id.to_string(), &body).map_err(|why| Failure::field(&why.field, why.problem))?;
    if let Value::Object(fields) = &mut body {
        let known = pack_field_names();
        fields.retain(|name, _| known.contains(name));
    }
    let row = PackRow { id, body, created_at: context.now };
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            compliance_packs::insert(tx, &row)?;
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            Ok(view(row.clone()))
        })
        .await
}

/// The packs made for a workspace.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<PackView>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            Ok(compliance_packs::list(tx)?.into_iter().map(view).collect())
        })
        .await
}
