//! Members and invitations (docs/contract/members.md#members).

use std::sync::Arc;

use api::members::MemberChange;

use crate::app::access::Caller;
use crate::app::{App, invitations, members};
use crate::http::handler::{Outcome, Reply, Request};

pub async fn list(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &members::list_for_members(&app, caller.tenant()).await?)
}

pub async fn update(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let (id, change): (_, MemberChange) = (request.id_in_path("id", "member")?, request.body()?);
    let (tenant, actor) = (caller.tenant(), caller.actor());
    Reply::data(200, &members::set_role(&app, tenant, actor, id, change.role).await?)
}

pub async fn remove(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "member")?;
    members::remove(&app, caller.tenant(), caller.actor(), id).await?;
    Ok(Reply::nothing())
}

pub async fn invite(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let body = request.body()?;
    Reply::data(201, &invitations::create(&app, &caller, body).await?)
}

pub async fn invitations(app: Arc<App>, caller: Caller, _: Request) -> Outcome {
    Reply::data(200, &invitations::list(&app, caller.tenant()).await?)
}

pub async fn revoke_invitation(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", "invitation")?;
    invitations::revoke(&app, caller.tenant(), id).await?;
    Ok(Reply::nothing())
}
