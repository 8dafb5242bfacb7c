//! Reading calls and hanging up.

use api::calls::{Call as CallView, CallDetail, EndingCall};
use api::error_codes as codes;
use domain::call::{EndCause, Fact, HangupRequest, Stage};
use domain::ids::{Call, Id};
use domain::tenant::{Mode, Tenant};
use domain::wallet::talk_seconds;
use serde_json::json;
use store::calls::{self, CallRow, Filter};
use store::{DbError, Tx};

use super::apply;
use super::apply::next_look;
use crate::call_env::save;
use crate::limits::pages;
use crate::{App, Failure, recordings, topics};

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
    }
}

/// `GET /v1/calls`: the page, and the key of the next one.
pub async fn list(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    filter: Filter,
    limit: i64,
) -> Result<(Vec<CallView>, Option<String>), Failure> {
    let page = app.store.read(move |tx| {
        let read = |tx: &mut Tx<'_>, limit: i64, before: Option<&str>| {
            let filter = Filter { before: before.map(str::to_owned), ..filter.clone() };
            let mut rows = calls::list(&mut tx.of(tenant), mode, &filter, limit + 1)?;
            let more = rows.len() as i64 > limit;
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            let next = rows.last().filter(|_| more).map(|row| row.id.to_string());
            Ok::<_, DbError>((rows, next))
        };
        // All fields that can be large.
        pages::read(tx, limit, filter.before.clone(), read, |_, row| {
            Ok((row.id.to_string(), pages::bytes_of(&row.metadata) + 1_000, row))
        })
    });
    let (rows, next) = page.await?;
    rows.iter().for_each(|row| shown(app, row));
    Ok((rows.into_iter().map(view).collect(), next))
}

/// `GET /v1/calls/{id}`.
pub async fn get(app: &App, tenant: Tenant, mode: Mode, id: Id<Call>) -> Result<CallDetail, Failure> {
    let found = app
        .of(tenant)
        .read(move |tx| {
            let Some(row) = calls::get_taken(tx, mode, id)? else { return Ok(None) };
            Ok::<_, Failure>(Some((row, calls::content(tx, id)?)))
        })
        .await?;
    let (row, content) = found.ok_or_else(|| Failure::not_found("call"))?;
    shown(app, &row);
    Ok(CallDetail {
        carrier: row.carrier.clone(),
        call: view(row),
        summary: content.summary,
        transcript: content.transcript.unwrap_or_else(|| json!([])),
        extracted: content.extracted.unwrap_or_else(|| json!({})),
        recording_url: content.recording.map(|recording| recordings::link(app, recording)),
        full_transcript: json!({"status": content.full_status, "turns": content.full_turns}),
        connector_pushes: content.connector_pushes.unwrap_or_else(|| json!([])),
        latency: content.latency.unwrap_or_else(|| json!([])),
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

/// A client that has seen the end of a call gets the error that it is over when it hangs up.
fn shown(app: &App, row: &CallRow) {
    if row.progress.status.stage() == Stage::Ended
        && row.progress.end_cause.as_deref() == Some(EndCause::ApiHangup.as_str())
    {
        app.hung_up.shown(row.id);
    }
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
