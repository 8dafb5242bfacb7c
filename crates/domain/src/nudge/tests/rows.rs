//! The rows about dials, calls and endings.

use super::*;

#[test]
fn a_due_nudge_is_placed_and_stays_queued_while_it_rings() {
    let placing = play(queued(0), &[(CLEAR, NOON)]);
    assert_eq!(placing.actions, [Action::Place]);
    assert_eq!((seen(&placing.next), placing.next.attempts), (("queued", None, None), 0));
    let ringing = play(placing.next, &[(Event::Placed, NOON)]);
    assert_eq!(
        (seen(&ringing.next), ringing.next.attempts, ringing.next.shows_call),
        (("queued", None, None), 1, false)
    );
    assert_eq!(ringing.actions, []);
}

#[test]
fn answered_is_dialing() {
    let step = play(queued(0), &[(CLEAR, NOON), (Event::Placed, NOON), (Event::Answered, NOON)]);
    assert_eq!(seen(&step.next), ("dialing", None, None));
    assert_eq!(step.actions, [Action::Emit(Notice::Dialing)]);
    assert_eq!((step.next.attempts, step.next.next_attempt_at, step.next.shows_call), (1, None, true));
}

#[test]
fn the_agent_on_the_line_is_in_progress() {
    let step = play(
        queued(0),
        &[(CLEAR, NOON), (Event::Placed, NOON), (Event::Answered, NOON), (Event::AgentConnected, NOON)],
    );
    assert_eq!(seen(&step.next), ("in_progress", None, None));
    assert_eq!(step.actions, []);
}

#[test]
fn an_answered_call_that_ends_is_connected() {
    let answered = play(queued(2), &[(CLEAR, NOON), (Event::Placed, NOON), (Event::Answered, NOON)]).next;
    let live = play(answered, &[(Event::AgentConnected, NOON)]).next;
    for cause in [
        EndCause::AgentEnded,
        EndCause::CallerHangup,
        EndCause::SilenceTimeout,
        EndCause::MaxDuration,
        EndCause::TransferHandoff,
        EndCause::ApiHangup,
        EndCause::Error,
    ] {
        assert_finished(&play(live, &[(Event::Ended(cause), NOON)]), "connected", cause.as_str());
        assert_finished(&play(answered, &[(Event::Ended(cause), NOON)]), "connected", cause.as_str());
    }
    assert!(play(live, &[(Event::Ended(EndCause::AgentEnded), NOON)]).next.shows_call);
}

#[test]
fn voicemail_finishes_without_a_retry() {
    let step = play(
        queued(2),
        &[(CLEAR, NOON), (Event::Placed, NOON), (Event::Answered, NOON), (Event::Voicemail, NOON)],
    );
    assert_finished(&step, "voicemail", "agent_ended");
}

#[test]
fn an_opt_out_is_listed_at_once_and_is_the_result_at_the_end() {
    let live = play(
        queued(2),
        &[(CLEAR, NOON), (Event::Placed, NOON), (Event::Answered, NOON), (Event::AgentConnected, NOON)],
    )
    .next;
    let told = play(live, &[(Event::OptedOut, NOON)]);
    assert_eq!(told.actions, [Action::AddToDoNotCall]);
    assert_eq!(
        step(&told.next, Event::OptedOut, NOON).outcome,
        EventOutcome::Ignored(WhyIgnored::AlreadyPast)
    );
    assert_finished(
        &play(told.next, &[(Event::Ended(EndCause::AgentEnded), NOON)]),
        "opted_out",
        "agent_ended",
    );
    assert_finished(&play(told.next, &[(Event::Unsettled, NOON)]), "opted_out", "unsettled");
}

#[test]
fn an_opt_out_found_after_the_call_is_listed_and_changes_no_result() {
    let over = play(
        queued(0),
        &[(CLEAR, NOON), (Event::Answered, NOON), (Event::Ended(EndCause::CallerHangup), NOON)],
    )
    .next;
    let told = play(over, &[(Event::OptedOut, NOON)]);
    assert_eq!((told.actions, told.next.result), (vec![Action::AddToDoNotCall], Some(ResultCode::Connected)));
    // Between two dials, the opt-out prevents the second one.
    let told = play(held_retry(1), &[(Event::OptedOut, NOON)]);
    assert_eq!(told.actions, [Action::AddToDoNotCall, Action::Emit(Notice::Finished)]);
    assert_eq!(told.next.result, Some(ResultCode::OptedOut));
}

#[test]
fn who_opted_out_is_not_dialled_again_whatever_the_carrier_says() {
    let told = play(queued(2), &[(CLEAR, NOON), (Event::Placed, NOON), (Event::OptedOut, NOON)]).next;
    for (event, reason) in [
        (Event::NoAnswer, "no_answer"),
        (Event::AgentFailedToStart, "not_connected"),
        (Event::PlacementFailed(PlacementFailure::Uncertain), "possibly_placed"),
        (Event::PlacementFailed(PlacementFailure::ProviderErrorBeforeRing), "provider_error"),
    ] {
        assert_finished(&play(told, &[(event, NOON)]), "opted_out", reason);
    }
}

#[test]
fn no_answer_and_busy_are_retried_after_the_delay() {
    for (event, result) in [
        (Event::NoAnswer, ResultCode::NoAnswer),
        (Event::Busy, ResultCode::Busy),
        (Event::Ended(EndCause::NoAnswer), ResultCode::NoAnswer),
        (Event::Ended(EndCause::Busy), ResultCode::Busy),
    ] {
        let ended = NOON.plus(20_000);
        let step = play(queued(1), &[(CLEAR, NOON), (Event::Placed, NOON), (event, ended)]);
        let next = ended.plus(30 * MINUTE);
        assert_eq!(seen(&step.next), ("scheduled", None, Some("retry".to_owned())));
        assert_eq!(step.actions, [Action::Emit(Notice::AttemptEnded), Action::WakeAt(next)]);
        assert_eq!(
            (step.next.next_attempt_at, step.next.attempts, step.next.last_result, step.next.shows_call),
            (Some(next), 1, Some(result), false)
        );
        let again = play(step.next, &[(CLEAR, next), (Event::Placed, next), (event, next)]);
        assert_finished(&again, result.as_str(), result.as_str());
        assert_eq!(again.next.attempts, 2);
    }
}

/// A screening assistant or an announcement picked up, and no person came; once before the agent was heard, once after.
#[test]
fn a_call_that_met_no_person_is_retried() {
    for (cause, result) in [(EndCause::NoAnswer, "no_answer"), (EndCause::Busy, "busy")] {
        for connected in [false, true] {
            let mut events = vec![(CLEAR, NOON), (Event::Placed, NOON), (Event::Answered, NOON)];
            events.extend(connected.then_some((Event::AgentConnected, NOON)));
            events.push((Event::Ended(cause), NOON));
            let step = play(queued(1), &events);
            assert_eq!(seen(&step.next), ("scheduled", None, Some("retry".to_owned())), "{result}");
            assert_eq!((step.next.attempts, step.next.shows_call), (1, false), "{result}");
            assert_finished(&play(queued(0), &events), result, result);
        }
    }
}

#[test]
fn without_retries_no_answer_and_busy_are_the_result() {
    for (event, result) in [(Event::NoAnswer, "no_answer"), (Event::Busy, "busy")] {
        let step = play(queued(0), &[(CLEAR, NOON), (Event::Placed, NOON), (event, NOON)]);
        assert_finished(&step, result, result);
        assert!(step.next.shows_call);
    }
}

#[test]
fn a_result_that_the_policy_does_not_name_is_not_retried() {
    let mut nudge = queued(2);
    nudge.retry = Retry::new(2, RetryOn { no_answer: true, busy: false }, 30).unwrap();
    assert_finished(&play(nudge, &[(CLEAR, NOON), (Event::Busy, NOON)]), "busy", "busy");
    assert_eq!(play(nudge, &[(CLEAR, NOON), (Event::NoAnswer, NOON)]).next.status, Status::Scheduled);
}

#[test]
fn a_retry_after_the_expiry_is_none_and_one_at_the_expiry_is_made() {
    let mut nudge = queued(1);
    nudge.expires_at = NOON.plus(30 * MINUTE);
    let held = play(nudge, &[(CLEAR, NOON), (Event::NoAnswer, NOON)]).next;
    assert_eq!(held.next_attempt_at, Some(nudge.expires_at));
    assert_eq!(
        step(&held, Event::Expire, nudge.expires_at).outcome,
        EventOutcome::Ignored(WhyIgnored::NotDue)
    );
    assert_eq!(play(held, &[(CLEAR, nudge.expires_at)]).actions, [Action::Place]);
    assert_finished(
        &play(nudge, &[(CLEAR, NOON), (Event::NoAnswer, NOON.plus(1))]),
        "no_answer",
        "no_answer",
    );
}

#[test]
fn an_agent_that_failed_to_start_counts_and_is_retried() {
    let calls =
        [(CLEAR, NOON), (Event::Placed, NOON), (Event::Answered, NOON), (Event::AgentFailedToStart, NOON)];
    let step = play(queued(1), &calls);
    assert_eq!(seen(&step.next), ("scheduled", None, Some("not_connected".to_owned())));
    assert_eq!((step.next.attempts, step.next.next_attempt_at), (1, Some(NOON.plus(30 * MINUTE))));
    let mut only_busy = queued(1);
    only_busy.retry = Retry::new(1, RetryOn { no_answer: false, busy: true }, 30).unwrap();
    assert_eq!(play(only_busy, &calls).next.status, Status::Scheduled);
}

#[test]
fn an_agent_that_failed_to_start_without_retries_is_failed() {
    assert_finished(
        &play(queued(0), &[(CLEAR, NOON), (Event::Placed, NOON), (Event::AgentFailedToStart, NOON)]),
        "failed",
        "not_connected",
    );
}

#[test]
fn invalid_numbers_rejections_and_carrier_errors_are_failed_and_never_redialled() {
    for (event, reason) in [
        (Event::InvalidNumber, "invalid_number"),
        (Event::Rejected, "rejected"),
        (Event::Sip(603), "rejected"),
        (Event::Sip(404), "invalid_number"),
        (Event::Sip(503), "sip_503"),
        (Event::Sip(403), "sip_403"),
        (Event::Ended(EndCause::ApiHangup), "api_hangup"),
        (Event::Ended(EndCause::Error), "error"),
    ] {
        assert_finished(
            &play(queued(2), &[(CLEAR, NOON), (Event::Placed, NOON), (event, NOON)]),
            "failed",
            reason,
        );
    }
    assert_eq!(
        play(queued(1), &[(CLEAR, NOON), (Event::Sip(486), NOON)]).next.last_result,
        Some(ResultCode::Busy)
    );
    assert_eq!(
        play(queued(1), &[(CLEAR, NOON), (Event::Sip(480), NOON)]).next.last_result,
        Some(ResultCode::NoAnswer)
    );
}

#[test]
fn a_lost_answer_of_the_carrier_is_possibly_placed() {
    for before in [vec![(CLEAR, NOON)], vec![(CLEAR, NOON), (Event::Placed, NOON)]] {
        let nudge = play(queued(2), &before).next;
        let step = play(nudge, &[(Event::PlacementFailed(PlacementFailure::Uncertain), NOON)]);
        assert_finished(&step, "failed", "possibly_placed");
        assert_eq!((step.next.attempts, step.next.shows_call), (1, true));
    }
}

#[test]
fn refusals_at_dial_time_are_failed_with_their_code() {
    for refusal in Refusal::ALL {
        let facts = DueFacts { refusal: Some(*refusal), ..DueFacts::CLEAR };
        assert_finished(&play(queued(2), &[(Event::Due(facts), NOON)]), "failed", refusal.as_str());
        let late = Event::PlacementFailed(PlacementFailure::Refused(*refusal));
        let step = play(queued(2), &[(CLEAR, NOON), (late, NOON)]);
        assert_finished(&step, "failed", refusal.as_str());
        assert_eq!((step.next.attempts, step.next.shows_call), (0, false));
    }
}

#[test]
fn a_released_from_number_and_missing_resident_providers_fail_at_once() {
    let facts = DueFacts { from_number_ok: false, ..DueFacts::CLEAR };
    assert_finished(&play(queued(2), &[(Event::Due(facts), NOON)]), "failed", "from_number_unavailable");
    let facts = DueFacts { providers_ok: false, balance_ok: false, ..DueFacts::CLEAR };
    assert_finished(&play(queued(2), &[(Event::Due(facts), NOON)]), "failed", "india_residency_unavailable");
}

#[test]
fn a_gate_that_refuses_blocks_first_dials_and_retries() {
    for gate in [Gate::Dnd, Gate::OptOut, Gate::FrequencyCap, Gate::Consent] {
        let facts = DueFacts { block: Some(gate), ..DueFacts::CLEAR };
        for (nudge, now) in [(queued(2), NOON), (held_retry(2), NOON.plus(30 * MINUTE))] {
            let step = play(nudge, &[(Event::Due(facts), now)]);
            assert_eq!(
                (seen(&step.next), step.next.block_reason),
                (("finished", Some("blocked"), None), Some(gate))
            );
            assert_eq!((step.actions, step.next.shows_call), (vec![Action::Emit(Notice::Finished)], false));
        }
    }
}

#[test]
fn waiting_nudges_are_cancelled() {
    for nudge in [queued(0), held_retry(1)] {
        assert_finished(&play(nudge, &[(Event::Cancel, NOON)]), "cancelled", "cancelled");
    }
}

#[test]
fn dialled_live_and_finished_nudges_are_not_cancellable() {
    let mut nudge = queued(0);
    for event in
        [CLEAR, Event::Placed, Event::Answered, Event::AgentConnected, Event::Ended(EndCause::AgentEnded)]
    {
        nudge = play(nudge, &[(event, NOON)]).next;
        let refused = step(&nudge, Event::Cancel, NOON);
        assert_eq!(
            (refused.outcome, refused.next, refused.actions),
            (EventOutcome::NotCancellable, nudge, vec![])
        );
    }
}

#[test]
fn a_revoked_key_cancels_what_waits() {
    for nudge in [queued(0), held_retry(1)] {
        assert_finished(&play(nudge, &[(Event::KeyRevoked, NOON)]), "cancelled", "api_key_revoked");
    }
    let facts = DueFacts { key_revoked: true, ..DueFacts::CLEAR };
    assert_finished(&play(queued(0), &[(Event::Due(facts), NOON)]), "cancelled", "api_key_revoked");
}

#[test]
fn a_call_that_is_being_placed_outlives_its_key() {
    let placing = play(queued(0), &[(CLEAR, NOON)]).next;
    assert_eq!(step(&placing, Event::KeyRevoked, NOON).outcome, EventOutcome::Ignored(WhyIgnored::InFlight));
}

#[test]
fn erasure_cancels_what_waits() {
    for nudge in [queued(0), held_retry(1)] {
        let step = play(nudge, &[(Event::Erased, NOON)]);
        assert_finished(&step, "cancelled", "erased");
        assert!(step.next.erased);
    }
}

#[test]
fn erasure_during_a_call_stops_further_dials() {
    let ringing = [(CLEAR, NOON), (Event::Placed, NOON), (Event::Erased, NOON)];
    assert_finished(
        &play(play(queued(2), &ringing).next, &[(Event::NoAnswer, NOON)]),
        "no_answer",
        "no_answer",
    );
    let refused = Event::PlacementFailed(PlacementFailure::ProviderErrorBeforeRing);
    assert_finished(&play(play(queued(2), &ringing).next, &[(refused, NOON)]), "cancelled", "erased");
}

#[test]
fn unheard_calls_and_missing_records_are_closed() {
    let placing = play(queued(2), &[(CLEAR, NOON)]).next;
    let live = play(placing, &[(Event::AgentConnected, NOON)]).next;
    assert_finished(&play(placing, &[(Event::Unsettled, NOON)]), "failed", "unsettled");
    assert_finished(&play(live, &[(Event::Unsettled, NOON)]), "connected", "unsettled");
    for nudge in [placing, live] {
        let step = play(nudge, &[(Event::CallRecordMissing, NOON)]);
        assert_finished(&step, "failed", "call_record_missing");
        assert!(!step.next.shows_call);
    }
}

#[test]
fn lost_placed_and_answered_are_made_up_for() {
    let live = play(queued(0), &[(CLEAR, NOON), (Event::AgentConnected, NOON)]);
    assert_eq!(
        (live.next.attempts, live.next.status, live.actions),
        (1, Status::InProgress, vec![Action::Emit(Notice::Dialing)])
    );
    assert_finished(
        &play(queued(0), &[(CLEAR, NOON), (Event::Ended(EndCause::CallerHangup), NOON)]),
        "connected",
        "caller_hangup",
    );
}

#[test]
fn late_and_repeated_answers_change_nothing() {
    let waiting = held_retry(1);
    let live = play(queued(0), &[(CLEAR, NOON), (Event::Placed, NOON), (Event::AgentConnected, NOON)]).next;
    let over = play(live, &[(Event::Ended(EndCause::AgentEnded), NOON)]).next;
    let carrier = [
        Event::Placed,
        Event::NoAnswer,
        Event::Busy,
        Event::Answered,
        Event::AgentConnected,
        Event::AgentFailedToStart,
        Event::InvalidNumber,
        Event::Rejected,
        Event::Sip(500),
    ];
    for event in carrier {
        assert_eq!(
            step(&waiting, event, NOON).outcome,
            EventOutcome::Ignored(WhyIgnored::NotInFlight),
            "{event:?}"
        );
        assert_eq!(
            step(&live, event, NOON).outcome,
            EventOutcome::Ignored(WhyIgnored::AlreadyPast),
            "{event:?}"
        );
        assert_eq!(
            step(&over, event, NOON).outcome,
            EventOutcome::Ignored(WhyIgnored::Finished),
            "{event:?}"
        );
    }
    for event in [
        CLEAR,
        Event::Expire,
        Event::KeyRevoked,
        Event::Erased,
        Event::Unsettled,
        Event::Ended(EndCause::Error),
        Event::Voicemail,
    ] {
        let ignored = step(&over, event, NOON);
        assert_eq!(
            (ignored.outcome, ignored.next, ignored.actions),
            (EventOutcome::Ignored(WhyIgnored::Finished), over, vec![]),
            "{event:?}"
        );
    }
}
