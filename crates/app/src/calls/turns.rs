//! `GET /v1/calls/{id}/turns`: the turns of a call with their times and what happened in them.

use api::calls::{ProvidersOfCall, ReactionParts, TurnOfCall, TurnTool, TurnsOfCall};
use domain::call::{TimedTurn, TurnDetails, TurnLatency};
use domain::ids::{Call, Id};
use domain::tenant::{Mode, Tenant};
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::calls;

use crate::{App, Failure};

/// The turns of a call; none until it is over, and once its person is erased.
pub async fn turns(app: &App, tenant: Tenant, mode: Mode, id: Id<Call>) -> Result<TurnsOfCall, Failure> {
    let found = app
        .of(tenant)
        .read(move |tx| match calls::get_taken(tx, mode, id)? {
            Some(_) => Ok::<_, Failure>(Some(calls::content(tx, id)?)),
            None => Ok(None),
        })
        .await?;
    let content = found.ok_or_else(|| Failure::not_found("call"))?;
    let turns: Vec<TimedTurn> = stored(content.turns)?;
    let latency: Vec<TurnLatency> = stored(content.latency)?;
    let details: TurnDetails = stored(content.turn_details)?;
    Ok(view(id, turns, &latency, details))
}

/// What a column holds; a call without it has none.
fn stored<T: DeserializeOwned + Default>(value: Option<Value>) -> Result<T, Failure> {
    let read = value.map(serde_json::from_value).transpose();
    Ok(read.map_err(|why| Failure::internal(format!("turns of a call: {why}")))?.unwrap_or_default())
}

fn seconds(ms: i64) -> f64 {
    ms as f64 / 1_000.0
}

fn view(id: Id<Call>, turns: Vec<TimedTurn>, latency: &[TurnLatency], details: TurnDetails) -> TurnsOfCall {
    // The turn in which something happens is the last one that has begun.
    let starts: Vec<i64> = turns.iter().map(|turn| turn.start_ms).collect();
    let turn_at = |at_ms: i64| starts.partition_point(|start| *start <= at_ms).saturating_sub(1);
    let mut shown: Vec<TurnOfCall> = turns
        .into_iter()
        .enumerate()
        .map(|(place, turn)| TurnOfCall {
            turn: place,
            role: turn.role,
            text: turn.text,
            start: seconds(turn.start_ms),
            end: seconds(turn.end_ms),
            heard_until: details.cut_off.contains(&place).then(|| seconds(turn.end_ms)),
            reaction: latency.iter().find(|latency| latency.turn == place).and_then(parts),
            tools: Vec::new(),
            captures: Vec::new(),
        })
        .collect();
    for mark in details.tools {
        if let Some(turn) = shown.get_mut(turn_at(mark.at_ms)) {
            let (at, took_ms, ok) = (seconds(mark.at_ms), mark.took_ms, mark.ok);
            turn.tools.push(TurnTool { tool: mark.tool, at, took_ms, ok });
        }
    }
    for mark in details.captures {
        if let Some(turn) = shown.get_mut(turn_at(mark.at_ms)) {
            turn.captures.push(mark.field);
        }
    }
    let providers = details.providers;
    let providers = ProvidersOfCall {
        recognition: providers.recognition,
        model: providers.model,
        synthesis: providers.synthesis,
    };
    TurnsOfCall { call_id: id, providers, turns: shown }
}

/// The parts of a reaction, which add up to its first packet; `None` when nothing was heard.
fn parts(latency: &TurnLatency) -> Option<ReactionParts> {
    let total = latency.first_packet_ms?;
    let mut last = 0;
    let mut until = |at: Option<i64>| {
        // A provider may be done before the step before it is known to be; then it took no time of its own.
        let at = at.unwrap_or(last).clamp(last, total.max(last));
        at - std::mem::replace(&mut last, at)
    };
    Some(ReactionParts {
        recognition: until(latency.transcript_ms.map(|at| at.min(latency.endpoint_ms))),
        endpointing: until(Some(latency.endpoint_ms)),
        model: until(latency.first_token_ms),
        synthesis: until(latency.first_audio_ms),
        playout: until(Some(total)),
        total,
    })
}

#[cfg(test)]
mod tests {
    use domain::call::{CaptureMark, ToolMark};
    use domain::conversation::Role;

    use super::*;

    #[test]
    fn the_parts_of_a_reaction_add_up() {
        let of = |transcript_ms, endpoint_ms, first_token_ms, first_audio_ms| TurnLatency {
            turn: 0,
            endpoint_ms,
            transcript_ms,
            first_token_ms,
            first_audio_ms,
            first_packet_ms: Some(900),
        };
        let whole = parts(&of(Some(180), 400, Some(600), Some(850))).unwrap();
        let each = |parts: &ReactionParts| {
            [parts.recognition, parts.endpointing, parts.model, parts.synthesis, parts.playout]
        };
        assert_eq!(each(&whole), [180, 220, 200, 250, 50]);
        // No model; words that came after the end was judged; sound that was ready before.
        for latency in
            [of(Some(500), 300, None, Some(250)), of(None, 0, None, None), of(Some(1_000), 1_000, None, None)]
        {
            let parts = parts(&latency).unwrap();
            assert_eq!(each(&parts).iter().sum::<i64>(), parts.total, "{latency:?}");
            assert!(each(&parts).iter().all(|part| *part >= 0));
        }
        assert!(parts(&TurnLatency { first_packet_ms: None, ..of(None, 0, None, None) }).is_none());
    }

    #[test]
    fn tools_and_captures_stand_in_the_turn_that_made_them() {
        let turn = |role, start_ms, end_ms| TimedTurn {
            role,
            text: "words".into(),
            start_ms,
            end_ms,
            language: None,
        };
        let turns = vec![
            turn(Role::Agent, 500, 1_000),
            turn(Role::Customer, 1_200, 2_000),
            turn(Role::Agent, 2_500, 3_100),
        ];
        let tool = |at_ms| ToolMark { at_ms, tool: "lookup".into(), took_ms: Some(5), ok: Some(true) };
        let details = TurnDetails {
            cut_off: vec![0],
            tools: vec![tool(2_100), tool(100)],
            captures: vec![CaptureMark { at_ms: 2_600, field: "day".into() }],
            ..TurnDetails::default()
        };
        let shown = view(Id::new(1, 1), turns, &[], details).turns;
        let seen: Vec<_> =
            shown.iter().map(|turn| (turn.heard_until, turn.tools.len(), turn.captures.len())).collect();
        assert_eq!(seen, [(Some(1.0), 1, 0), (None, 1, 0), (None, 0, 1)]);
        assert!(
            view(
                Id::new(1, 1),
                Vec::new(),
                &[],
                TurnDetails { tools: vec![tool(1)], ..TurnDetails::default() }
            )
            .turns
            .is_empty()
        );
    }
}
