//! Reading calls and hanging up.

use api::calls::{CallDetail, CallView};
use api::error_codes as codes;
use domain::call::{EndCause, Fact, Stage, Status};
use domain::ids::{Call, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::{SECOND, Timestamp};
use domain::wallet::talk_seconds;
use serde_json::{Value, json};
use store::calls::{self, CallRow, Filter};

use super::apply;
use super::apply::{next_look, save};
use crate::app::{App, Failure, recordings, topics};

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
        status: progress.status.as_str(),
        state: progress.status.stage().as_str(),
        outcome: row.outcome,
        to_number: row.to_number,
        from_number: row.from_number,
        answered: progress.answered_at.is_some(),
        answered_at: progress.answered_at,
        end_cause: progress.end_cause,
        started_at: row.started_at,
        ended_at: progress.ended_at,
        duration_seconds: progress.talk_ms.map(talk_seconds),
        metadata: row.metadata,
    }
}

/// `GET /v1/calls`: the page, and the key of the next one.
pub async fn list(app: &App, tenant: Tenant, mode: Mode, filter: Filter, limit: i64) -> Result<(Vec<CallView>, Option<String>), Failure> {
    let mut rows = app.store.read(move |tx| calls::list(tx, tenant, mode, &filter, limit + 1)).await?;
    let more = rows.len() as i64 > limit;
    rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = rows.last().filter(|_| more).map(|row| row.id.to_string());
    Ok((rows.into_iter().map(view).collect(), next))
}

/// `GET /v1/calls/{id}`.
pub async fn get(app: &App, tenant: Tenant, mode: Mode, id: Id<Call>) -> Result<CallDetail, Failure> {
    let found = app
        .store
        .read(move |tx| {
            let Some(row) = calls::get(tx, tenant, mode, id)? else { return Ok(None) };
            Ok::<_, Failure>(Some((row, calls::content(tx, tenant, id)?)))
        })
        .await?;
    let (row, content) = found.ok_or_else(|| Failure::not_found("call"))?;
    Ok(CallDetail {
        call: view(row),
        summary: content.summary,
        transcript: content.transcript.unwrap_or_else(|| json!([])),
        extracted: content.extracted.unwrap_or_else(|| json!({})),
        recording_url: content.recording.map(|recording| recordings::link(app, recording)),
        full_transcript: json!({"status": content.full_status, "turns": content.full_turns}),
        connector_pushes: content.connector_pushes.unwrap_or_else(|| json!([])),
        latency: content.latency.unwrap_or_else(|| json!([])),
    })
}

/// `POST /v1/calls/{id}/hangup`: asks the carrier, then writes the wish down; the end itself is a fact that follows. A call that is still being
/// placed is hung up by whoever stores the carrier's answer.
pub async fn hang_up(app: &App, tenant: Tenant, mode: Mode, id: Id<Call>) -> Result<Value, Failure> {
    let call = app.store.read(move |tx| calls::get(tx, tenant, mode, id)).await?;
    let now = app.clock.now();
    let call = call.ok_or_else(|| Failure::not_found("call"))?;
    if just_hung_up(&call, now) {
        return Ok(json!({"id": id, "state": "ending"}));
    }
    let call = must_be_live(Some(call))?;
    if call.hang_up_at.is_none() {
        let Some(carrier) = app.carriers.in_mode(mode) else { return Err(Failure::plain(codes::HANGUP_UNAVAILABLE)) };
        if let Some(provider_call) = &call.provider_call
            && carrier.hang_up(provider_call).await.is_err()
        {
            return Err(Failure::plain(codes::HANGUP_FAILED));
        }
        let env = app.call_env();
        app.store
            .tx(move |tx| {
                let found = calls::get_for_update(tx, tenant, id)?.filter(|row| row.mode == mode);
                if found.as_ref().is_some_and(|row| just_hung_up(row, now)) {
                    return Ok(());
                }
                let mut row = must_be_live(found)?;
                if row.hang_up_at.is_none() {
                    row.hang_up_at = Some(now);
                    if row.network.is_some() && row.progress.status != Status::Queued {
                        // A network that is a table carries it out at once.
                        apply(tx, &env, row, Fact::Ended(EndCause::ApiHangup), now)?;
                        return Ok(());
                    }
                    row.next_step_at = next_look(&row, &env);
                    save(tx, &mut row)?;
                    tx.wake(topics::CALLS);
                }
                Ok::<_, Failure>(())
            })
            .await?;
    }
    Ok(json!({"id": id, "state": "ending"}))
}

/// Time in which a repeat of the request that ended a call is answered like the first.
const REPEATED: i64 = SECOND;

/// Whether a call has just been ended by such a request: asking again is no conflict (spec 1 «hangup»).
fn just_hung_up(call: &CallRow, now: Timestamp) -> bool {
    let by_request = call.progress.end_cause.as_deref() == Some(EndCause::ApiHangup.as_str());
    by_request && call.progress.ended_at.is_some_and(|ended| now.0 - ended.0 < REPEATED)
}

fn must_be_live(call: Option<CallRow>) -> Result<CallRow, Failure> {
    let call = call.ok_or_else(|| Failure::not_found("call"))?;
    match call.progress.status.stage() {
        Stage::Ringing | Stage::InProgress => Ok(call),
        Stage::Ended => Err(Failure::new(codes::CALL_NOT_ACTIVE, "the call has ended")),
        Stage::Blocked => Err(Failure::new(codes::CALL_NOT_ACTIVE, "the call was blocked and never dialled")),
    }
}
