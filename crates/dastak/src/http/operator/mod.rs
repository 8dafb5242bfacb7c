//! `/operator/v1`: what the public API leaves to a console (docs/contract/operator.md).

mod agents;
mod audit;
mod boards;
mod campaigns;
mod channel;
mod channel_conversations;
mod chats;
mod dnd;
mod do_not_call;
mod documents;
mod integrations;
pub(crate) mod knowledge_files;
mod node;
mod transfer_numbers;
mod workspace;

use std::sync::Arc;

use api::envelope::Counted;
use api::operator::{NewNumber, NumberUpdate};

use self::workspace::workspace;
use super::handler::{Handler, Outcome, Reply, Request};
use crate::app::{App, keys, members, numbers, operator_log, sign_in_links, wallet, workspaces};
use crate::open;

/// The handlers of the operator API by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    let mut handlers = vec![
        ("createWorkspace", open!(create_workspace)),
        ("listWorkspaces", open!(list_workspaces)),
        ("getWorkspace", open!(get_workspace)),
        ("updateWorkspace", open!(update_workspace)),
        ("createKey", open!(create_key)),
        ("listKeys", open!(list_keys)),
        ("rotateKey", open!(rotate_key)),
        ("revokeKey", open!(revoke_key)),
        ("createWalletEntry", open!(create_wallet_entry)),
        ("listWalletEntries", open!(list_wallet_entries)),
        ("createNumber", open!(create_number)),
        ("updateNumber", open!(update_number)),
        ("listWorkspaceNumbers", open!(list_numbers)),
        ("releaseNumber", open!(release_number)),
        ("createMember", open!(create_member)),
        ("listMembers", open!(list_members)),
        ("createSignInLink", open!(create_sign_in_link)),
        ("liftOptOut", open!(do_not_call::lift_opt_out)),
        ("removeDoNotCall", open!(do_not_call::remove)),
        ("createTransferNumber", open!(transfer_numbers::create)),
        ("listTransferNumbers", open!(transfer_numbers::list)),
        ("deleteTransferNumber", open!(transfer_numbers::delete)),
        ("addDnd", open!(dnd::add)),
        ("removeDnd", open!(dnd::remove)),
        ("startDndImport", open!(dnd::start_import)),
        ("addDndImportNumbers", open!(dnd::import_numbers)),
        ("finishDndImport", open!(dnd::finish_import)),
        ("cancelDndImport", open!(dnd::cancel_import)),
        ("acceptLog", open!(audit::accept)),
        ("listOperatorLog", open!(list_log)),
    ];
    handlers.extend(agents::handlers());
    handlers.extend(integrations::handlers());
    handlers.extend(campaigns::handlers());
    handlers.extend(knowledge_files::handlers());
    handlers.extend(boards::handlers());
    handlers.extend(channel::handlers());
    handlers.extend(channel_conversations::handlers());
    handlers.extend(chats::handlers());
    handlers.extend(documents::handlers());
    handlers.extend(node::handlers());
    handlers
}

async fn create_workspace(app: Arc<App>, mut request: Request) -> Outcome {
    let (trace, once) = (request.trace(), request.take_once());
    Ok(Reply::answer(workspaces::create(&app, trace, once, request.body()?).await?))
}

async fn list_workspaces(app: Arc<App>, request: Request) -> Outcome {
    let (rows, next) = workspaces::list(&app, request.cursor(&app)?, request.query_number("limit")).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

async fn get_workspace(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &workspaces::get(&app, workspace(&request)?).await?)
}

async fn update_workspace(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(200, &workspaces::update(&app, trace, tenant, request.body()?).await?)
}

async fn create_key(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(201, &keys::create(&app, trace, tenant, request.role, request.body()?).await?)
}

async fn list_keys(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &keys::list(&app, workspace(&request)?).await?)
}

async fn rotate_key(app: Arc<App>, mut request: Request) -> Outcome {
    let key = request.id_in_path("key", "key")?;
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(200, &keys::rotate(&app, trace, tenant, key, request.role, request.body()?).await?)
}

async fn revoke_key(app: Arc<App>, request: Request) -> Outcome {
    let key = request.id_in_path("key", "key")?;
    Reply::data(200, &keys::revoke(&app, request.trace(), workspace(&request)?, key).await?)
}

async fn create_wallet_entry(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace, once) = (workspace(&request)?, request.trace(), request.take_once());
    Ok(Reply::answer(wallet::create_entry(&app, trace, once, tenant, request.body()?).await?))
}

async fn list_wallet_entries(app: Arc<App>, request: Request) -> Outcome {
    let (data, total) = wallet::transactions(
        &app,
        workspace(&request)?,
        request.query_number("limit"),
        request.query_number("offset"),
    )
    .await?;
    Reply::json(200, &Counted { data, total })
}

async fn create_number(app: Arc<App>, mut request: Request) -> Outcome {
    let body: NewNumber = request.body()?;
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(201, &numbers::create(&app, trace, tenant, body.number, body.carrier).await?)
}

async fn update_number(app: Arc<App>, mut request: Request) -> Outcome {
    let (id, body): (_, NumberUpdate) = (request.id_in_path("id", "number")?, request.body()?);
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(200, &numbers::set_carrier(&app, trace, tenant, id, body.carrier).await?)
}

async fn list_numbers(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &numbers::list(&app, workspace(&request)?).await?)
}

async fn release_number(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path("id", "number")?;
    Reply::data(200, &numbers::release(&app, request.trace(), workspace(&request)?, id).await?)
}

async fn create_member(app: Arc<App>, mut request: Request) -> Outcome {
    let (tenant, trace) = (workspace(&request)?, request.trace());
    Reply::data(201, &members::create(&app, trace, tenant, request.body()?).await?)
}

async fn list_members(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &members::list(&app, workspace(&request)?).await?)
}

async fn create_sign_in_link(app: Arc<App>, mut request: Request) -> Outcome {
    let trace = request.trace();
    Reply::data(201, &sign_in_links::create(&app, trace, request.body()?).await?)
}

async fn list_log(app: Arc<App>, request: Request) -> Outcome {
    let (rows, next) = operator_log::list(&app, request.cursor(&app)?, request.query_number("limit")).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}
