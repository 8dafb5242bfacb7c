//! Events of scheduled calls: their payload is the scheduled call as the API shows it.

use domain::scheduled_call::Status;
use serde_json::json;

use super::samples::{AGENT, CUSTOMER_REF, PHONE, at, id};
use crate::scheduled_calls::ScheduledCall;

pub(super) fn cancelled() -> ScheduledCall {
    ScheduledCall {
        id: id("scall_01k9v5x2m8e6fs4v0q3n7w1y35"),
        agent_id: id(AGENT),
        status: Status::Cancelled,
        scheduled_at: at("2026-01-16T05:30:00.000Z"),
        next_attempt_at: None,
        attempts: 0,
        call_id: None,
        reason: Some("api_key_revoked"),
        to_number: PHONE.into(),
        from_number: None,
        external_ref: Some(CUSTOMER_REF.into()),
        variables: json!({"name": "Asha"}),
        metadata: json!({}),
        created_at: at("2026-01-15T12:00:00.000Z"),
    }
}
