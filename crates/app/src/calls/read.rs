//! Reading calls and hanging up.

use std::collections::HashMap;

use api::calls::{Call as CallView, CallDetail, EndingCall, ListedCall};
use api::error_codes as codes;
use domain::call::{EndCause, Fact, HangupRequest, Stage};
use domain::ids::{Call, Id};
use domain::tenant::{Mode, Tenant};
use domain::wallet::talk_seconds;
use serde_json::json;
use store::call_lists::{self, Filter};
use store::calls::{self, CallRow};
use store::{DbError, TenantTx, Tx, search};

use super::apply;
use super::apply::next_look;
use super::counts::Sought;
use crate::call_env::save;
use crate::limits::pages;
use crate::{App, Failure, evaluation_view, recordings, topics};

/// Evaluations of a call that its detail shows.
const SHOWN_EVALUATIONS: i64 = 20;

/// A call as clients see it.
pub fn view(row: CallRow) -> CallView {
    let progress = row.progress;
    CallView {
        id: row.id,
        contact_id: row.contact,
        campaign_id: row.campaign,
        agent_id: row.agent,
        channel: "voice",
        direction: row.direction,
        status: progress.status,
        state: progress.status.stage(),
        outcome: row.outcome,
        to_number: row.to_number,
        from_number: row.from_number,
        answered: progress.answered_at.is_some(),
        answered_at: progress.answered_at,
        answered_by: row.answered_by,
        end_cause: progress.end_cause,
        started_at: row.started_at,
        ended_at: progress.ended_at,
        duration_seconds: progress.talk_ms.map(talk_seconds),
        metadata: row.metadata,
        flow_version: row.flow_version,
    }
}

/// Calls with the names and charges that lists show beside them.
fn listed(tx: &mut TenantTx, rows: Vec<CallRow>) -> Result<Vec<ListedCall>, DbError> {
    let mut people: Vec<_> = rows.iter().filter_map(|row| row.contact).collect();
    people.sort_unstable();
    people.dedup();
    let names: HashMap<_, _> = search::contact_names(tx, &people)?.into_iter().collect();
    let mut agents: Vec<String> = rows.iter().filter_map(|row| Some(row.agent?.to_string())).collect();
    agents.sort_unstable();
    agents.dedup();
    let agents: HashMap<_, _> = search::agent_names(tx, &agents)?.into_iter().collect();
    let over = |row: &&CallRow| !row.progress.status.is_live();
    let settled: Vec<_> =
        rows.iter().filter(over).filter(|row| row.mode == Mode::Live).map(|row| row.id).collect();
    let charged = call_lists::charged(tx, &settled)?;
    let listed = rows.into_iter().map(|row| ListedCall {
        contact_name: row.contact.and_then(|id| names.get(&id).cloned()),
        agent_name: row.agent.and_then(|id| agents.get(&id.to_string()).cloned()),
        charged_minor: (!row.progress.status.is_live()).then(|| charged.get(&row.id).copied().unwrap_or(0)),
        call: view(row),
    });
    Ok(listed.collect())
}

/// `GET /v1/calls`: the page, and the key of the next one.
pub async fn list(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    sought: Sought,
    filter: Filter,
    limit: i64,
) -> Result<(Vec<ListedCall>, Option<String>), Failure> {
    let page = app.store.read(move |tx| {
        let filter = sought.clone().narrow(&mut tx.of(tenant), mode, filter.clone())?;
        let read = |tx: &mut Tx<'_>, limit: i64, before: Option<&str>| {
            let filter = Filter { before: before.map(str::to_owned), ..filter.clone() };
            call_lists::list(&mut tx.of(tenant), mode, &filter, limit)
        };
        // All fields that can be large.
        let (rows, next) = pages::read(tx, limit, filter.before.clone(), read, |_, row| {
            Ok((row.id.to_string(), pages::bytes_of(&row.metadata) + 1_000, row))
        })?;
        let hung_up: Vec<_> = rows.iter().filter(|row| is_hung_up(row)).map(|row| row.id).collect();
        Ok::<_, Failure>((listed(&mut tx.of(tenant), rows)?, hung_up, next))
    });
    let (rows, hung_up, next) = page.await?;
    hung_up.into_iter().for_each(|id| app.hung_up.shown(id));
    Ok((rows, next))
}

/// `GET /v1/calls/{id}`.
pub async fn get(app: &App, tenant: Tenant, mode: Mode, id: Id<Call>) -> Result<CallDetail, Failure> {
    let found = app
        .of(tenant)
        .read(move |tx| {
            let Some(row) = calls::get_taken(tx, mode, id)? else { return Ok(None) };
            let evaluations = evaluation_view::of_conversation(tx, &id.to_string(), None, SHOWN_EVALUATIONS)?;
            let content = calls::content(tx, id)?;
            let (carrier, hung_up) = (row.carrier.clone(), is_hung_up(&row));
            let call = listed(tx, vec![row])?.pop();
            Ok::<_, Failure>(call.map(|call| (call, carrier, hung_up, content, evaluations)))
        })
        .await?;
    let (call, carrier, hung_up, content, evaluations) = found.ok_or_else(|| Failure::not_found("call"))?;
    if hung_up {
        app.hung_up.shown(id);
    }
    Ok(CallDetail {
        carrier,
        call,
        summary: content.summary,
        transcript: content.transcript.unwrap_or_else(|| json!([])),
        extracted: content.extracted.unwrap_or_else(|| json!({})),
        recording_url: content.recording.map(|recording| recordings::link(app, recording)),
        full_transcript: json!({"status": content.full_status, "turns": content.full_turns}),
        connector_pushes: content.connector_pushes.unwrap_or_else(|| json!([])),
        latency: content.latency.unwrap_or_else(|| json!([])),
        evaluations,
        disclosure: content.disclosure,
    })
}

/// `POST /v1/calls/{id}/hangup`: asks the carrier, then writes the wish down; the end itself is a fact that
/// follows.
pub async fn hang_up(app: &App, tenant: Tenant, mode: Mode, id: Id<Call>) -> Result<EndingCall, Failure> {
    let call = app.of(tenant).read(move |tx| calls::get_taken(tx, mode, id)).await?;
    let now = app.clock.now();
    let call = call.ok_or_else(|| Failure::not_found("call"))?;
    let ending = EndingCall { id, state: "ending" };
    if app.hung_up.repeats(id, now) {
        return Ok(ending);
    }
    let call = must_be_live(Some(call))?;
    if is_new(&call) {
        let Some(carrier) = app.carriers.in_mode(mode) else {
            return Err(Failure::plain(codes::HANGUP_UNAVAILABLE));
        };
        if let Some(provider_call) = &call.provider_call
            && carrier.hang_up(provider_call).await.is_err()
        {
            return Err(Failure::plain(codes::HANGUP_FAILED));
        }
        let env = app.call_env();
        let over = app
            .of(tenant)
            .tx(move |tx| {
                let found = calls::get_for_update(tx, id)?.filter(|row| row.mode == mode);
                // It was live a moment ago: another request has ended it meanwhile.
                if found.as_ref().is_some_and(|row| {
                    row.progress.end_cause.as_deref() == Some(EndCause::ApiHangup.as_str())
                }) {
                    return Ok(false);
                }
                let mut row = must_be_live(found)?;
                if is_new(&row) {
                    row.hang_up_at = Some(now);
                    row.upkeep.wish = Some(HangupRequest::HangUp);
                    if row.network.is_some() {
                        // A simulated network carries it out at once.
                        apply(tx, &env, row, Fact::Ended(EndCause::ApiHangup), now)?;
                        return Ok(true);
                    }
                    row.next_step_at = next_look(&row, &env);
                    save(tx, &mut row)?;
                    tx.wake(topics::CALLS);
                    tx.wake(topics::HANGUP_REQUESTS);
                }
                Ok::<_, Failure>(false)
            })
            .await?;
        if over {
            app.hung_up.note(id, now);
        }
    }
    Ok(ending)
}

/// Whether a call was ended by the API: a client that has seen that gets the error that it is over when it hangs up.
fn is_hung_up(row: &CallRow) -> bool {
    row.progress.status.stage() == Stage::Ended
        && row.progress.end_cause.as_deref() == Some(EndCause::ApiHangup.as_str())
}

/// Whether a request to end the call is the first of its kind; the call ends without a goodbye.
fn is_new(call: &CallRow) -> bool {
    call.wish().is_none_or(|known| HangupRequest::HangUp.replaces(known))
}

fn must_be_live(call: Option<CallRow>) -> Result<CallRow, Failure> {
    let call = call.ok_or_else(|| Failure::not_found("call"))?;
    match call.progress.status.stage() {
        Stage::Ringing | Stage::InProgress => Ok(call),
        Stage::Ended => {
            Err(Failure::new(codes::CALL_NOT_ACTIVE, "the call has ended, so it cannot be hung up"))
        }
        Stage::Blocked => Err(Failure::new(
            codes::CALL_NOT_ACTIVE,
            "the call was blocked and never dialled, so it cannot be hung up",
        )),
    }
}
