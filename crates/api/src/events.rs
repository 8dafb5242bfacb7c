//! The catalog of events (docs/contract/webhooks.md#events): every type, whether it must be picked, and a
//! sample of its payload.

use serde_json::{Value, json};

/// A row of the catalog.
#[derive(Debug, Clone, Copy)]
pub struct EventType {
    /// Its name on the wire.
    pub name: &'static str,
    /// Whether an endpoint receives it only when it names it.
    pub pick_only: bool,
    /// When it fires.
    pub meaning: &'static str,
    /// A payload as it could be, with made-up ids.
    pub sample: fn() -> Value,
}

/// The row with this name.
pub fn find(name: &str) -> Option<&'static EventType> {
    ALL.iter().find(|kind| kind.name == name)
}

/// All names, in the order of the catalog.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|kind| kind.name).collect()
}

macro_rules! catalog {
    ($($name:literal $sample:expr, $meaning:literal;)*) => {
        /// Every event type.
        pub const ALL: &[EventType] = &[$(EventType { name: $name, pick_only: pick_only($name), meaning: $meaning, sample: $sample }),*];
    };
}

/// `message.*` and `chat.evaluated` must be picked.
const fn pick_only(name: &str) -> bool {
    let (name, prefix, evaluated) = (name.as_bytes(), b"message.", b"chat.evaluated");
    starts_with(name, prefix) || (name.len() == evaluated.len() && starts_with(name, evaluated))
}

const fn starts_with(name: &[u8], prefix: &[u8]) -> bool {
    let mut at = 0;
    while at < prefix.len() {
        if at >= name.len() || name[at] != prefix[at] {
            return false;
        }
        at += 1;
    }
    true
}

catalog! {
    "call.started" call_started, "The call connected: the callee answered, or the inbound agent picked up.";
    "call.completed" call_completed, "A connected call ended.";
    "call.failed" call_failed, "The call never connected.";
    "call.transferred" call_transferred, "The agent handed the caller to a person who answered.";
    "transcript.ready" call_completed, "Transcript and extracted fields are saved.";
    "recording.ready" call_completed, "The recording is available.";
    "outcome.captured" call_completed, "The call's outcome was set.";
    "nudge.scheduled" nudge_scheduled, "A nudge is held for a future time.";
    "nudge.dialing" nudge_dialing, "A nudge call was placed and answered.";
    "nudge.attempt_ended" nudge_attempt_ended, "An attempt ended unanswered and a retry was scheduled.";
    "nudge.finished" nudge_finished, "A nudge reached its final result.";
    "scheduled_call.cancelled" scheduled_call_cancelled, "A scheduled call was cancelled and will not be placed.";
    "contact.opted_out" contact_opted_out, "A contact was put on the do-not-call list, or replied STOP.";
    "campaign.finished" campaign_finished, "A campaign completed.";
    "board.card_moved" card_moved, "A card came into a column of a board that tells of it.";
    "wallet.low" wallet_low, "The wallet is low, or cannot cover a call.";
    "stream.record_rejected" record_rejected, "A data stream received a record that cannot be dialled.";
    "message.received" message_received, "A customer sent the chat-app number a message.";
    "message.sent" message_sent, "The channel accepted a message.";
    "message.delivered" message_delivered, "A message reached the customer's phone.";
    "message.read" message_read, "The customer read a message.";
    "message.failed" message_failed, "A message failed at the channel, or was refused because the customer opted out.";
    "chat.started" chat_started, "A chat began.";
    "chat.completed" chat_completed, "A chat ended.";
    "chat.analyzed" chat_analyzed, "A finished chat was analysed.";
    "chat.taken_over" chat_taken_over, "A helpdesk took a conversation over.";
    "chat.handed_back" chat_handed_back, "A helpdesk handed a conversation back.";
    "chat.assigned" chat_assigned, "A conversation was assigned to a teammate.";
    "chat.handoff_requested" chat_handoff_requested, "A conversation waits for a person.";
    "chat.evaluated" chat_evaluated, "A finished chat was graded.";
    "document.received" document_received, "A document step finished in a chat.";
    "document.updated" document_updated, "A teammate verified or rejected a document.";
    "chatapp.number_quality_changed" number_quality_changed, "A number's quality rating changed.";
    "chatapp.account_restricted" account_restricted, "The provider restricted, flagged or disabled the business account.";
    "chatapp.number_ai_paused" number_ai_paused, "AI replies on a number pause for an hour.";
    "chatapp.template.updated" template_updated, "A template changed at the provider.";
    "webhook.test" webhook_test, "A test event sent on request.";
}

const AGENT: &str = "agt_01k9v5x2m8e6fs4v0q3n7w1y2z";
const CONTACT: &str = "con_01k9v5x2m8e6fs4v0q3n7w1y30";
const CALL: &str = "call_01k9v5x2m8e6fs4v0q3n7w1y31";
const CHAT: &str = "chatsess_01k9v5x2m8e6fs4v0q3n7w1y32";
const PHONE: &str = "+919812345678";
const BUSINESS: &str = "+918045670001";
const PHONE_NUMBER_ID: &str = "106540352242922";

fn with(mut base: Value, more: Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
        base.extend(more);
    }
    base
}

fn call_started() -> Value {
    json!({
        "callId": CALL,
        "agentId": AGENT,
        "campaignId": null,
        "contactId": CONTACT,
        "externalRef": "cust_1042",
        "direction": "outbound",
        "toNumber": PHONE,
        "fromNumber": BUSINESS,
        "answeredAt": "2026-01-15T10:00:02.000Z",
        "endedAt": null,
        "durationSeconds": null,
        "endCause": null,
        "outcome": null,
        "metadata": {},
    })
}

fn call_completed() -> Value {
    with(
        call_started(),
        json!({"endedAt": "2026-01-15T10:00:44.000Z", "durationSeconds": 42, "endCause": "agent_ended", "outcome": "interested"}),
    )
}

fn call_failed() -> Value {
    // `blockReason` comes with a dial of a campaign that a gate refused.
    with(
        call_started(),
        json!({"answeredAt": null, "endedAt": "2026-01-15T10:00:15.000Z", "durationSeconds": null, "endCause": "no_answer", "blockReason": null}),
    )
}

fn call_transferred() -> Value {
    with(
        call_started(),
        json!({"transferredTo": "+918045670002", "transferredAt": "2026-01-15T10:00:30.000Z"}),
    )
}

fn nudge() -> Value {
    json!({
        "id": "ndg_01k9v5x2m8e6fs4v0q3n7w1y33",
        "agentId": AGENT,
        "status": "scheduled",
        "result": null,
        "statusReason": "outside_calling_window",
        "blockReason": null,
        "toNumber": PHONE,
        "fromNumber": BUSINESS,
        "externalRef": "order_77",
        "variables": {"name": "Asha"},
        "metadata": {},
        "outsideWindow": "queue",
        "scheduledAt": null,
        "nextAttemptAt": "2026-01-16T03:30:00.000Z",
        "expiresAt": "2026-01-16T16:00:00.000Z",
        "retry": {"maxRetries": 1, "on": ["no_answer", "busy"], "delayMinutes": 30},
        "attempts": 0,
        "callId": null,
        "livemode": false,
        "createdAt": "2026-01-15T16:00:00.000Z",
        "finishedAt": null,
    })
}

fn attempt() -> Value {
    json!({
        "callId": CALL,
        "startedAt": "2026-01-16T03:30:00.000Z",
        "answeredAt": "2026-01-16T03:30:02.000Z",
        "endedAt": "2026-01-16T03:30:44.000Z",
        "endCause": "agent_ended",
        "durationSeconds": 42,
        "outcome": "interested",
        "summary": "Asha will pay on Friday.",
        "extracted": {"payment_date": "2026-01-16"},
    })
}

fn nudge_scheduled() -> Value {
    nudge()
}

fn nudge_dialing() -> Value {
    with(
        nudge(),
        json!({"status": "dialing", "statusReason": null, "nextAttemptAt": null, "attempts": 1, "callId": CALL}),
    )
}

fn nudge_attempt_ended() -> Value {
    let unanswered = json!({"answeredAt": null, "endCause": "no_answer", "durationSeconds": null, "outcome": null, "summary": null, "extracted": {}});
    with(nudge(), json!({"statusReason": "retry", "attempts": 1, "attempt": with(attempt(), unanswered)}))
}

fn nudge_finished() -> Value {
    let finished = json!({
        "status": "finished",
        "result": "connected",
        "statusReason": "agent_ended",
        "nextAttemptAt": null,
        "attempts": 1,
        "finishedAt": "2026-01-16T03:30:44.000Z",
    });
    with(with(with(nudge(), finished), attempt()), json!({"attempt": attempt()}))
}

fn scheduled_call_cancelled() -> Value {
    json!({
        "id": "scall_01k9v5x2m8e6fs4v0q3n7w1y35",
        "agentId": AGENT,
        "status": "cancelled",
        "scheduledAt": "2026-01-16T05:30:00.000Z",
        "nextAttemptAt": null,
        "attempts": 0,
        "callId": null,
        "reason": "api_key_revoked",
        "toNumber": PHONE,
        "fromNumber": null,
        "externalRef": "cust_1042",
        "variables": {"name": "Asha"},
        "metadata": {},
        "createdAt": "2026-01-15T12:00:00.000Z",
    })
}

fn contact_opted_out() -> Value {
    // `callId` comes with an opt-out on a call, `channel` with one on the messaging channel.
    json!({
        "contactId": CONTACT,
        "externalRef": "cust_1042",
        "phone": PHONE,
        "source": "call",
        "callId": CALL,
        "channel": null,
    })
}

fn campaign_finished() -> Value {
    json!({
        "campaignId": "cmp_01k9v5x2m8e6fs4v0q3n7w1y34",
        "name": "January reminders",
        "agentId": AGENT,
        "reason": "list_complete",
        "finishedAt": "2026-01-15T12:00:00.000Z",
        // A campaign on the messaging channel says so, and how far its messages came.
        "channel": null,
        "stats": null,
    })
}

fn wallet_low() -> Value {
    json!({
        "level": "low",
        "balanceMinor": 17_400,
        "thresholdMinor": 18_000,
        "currency": "INR",
        "costPerMinuteMinor": 600,
        "estimatedMinutesLeft": 29,
    })
}

fn record_rejected() -> Value {
    json!({
        "streamId": "dst_01k9v5x2m8e6fs4v0q3n7w1y35",
        "streamName": "Website leads",
        "recordId": "dsr_01k9v5x2m8e6fs4v0q3n7w1y36",
        "reason": "no_phone",
        "payload": {"name": "Asha"},
        "receivedAt": "2026-01-15T10:00:00.000Z",
    })
}

fn message() -> Value {
    json!({
        "messageId": "camsg_01k9v5x2m8e6fs4v0q3n7w1y37",
        "providerMessageId": "TEST_01k9v5x2m8",
        "chatId": CHAT,
        "threadId": "msgth_01k9v5x2m8e6fs4v0q3n7w1y38",
        "agentId": AGENT,
        "contactId": CONTACT,
        "externalRef": "cust_1042",
        "direction": "outbound",
        "source": "agent",
        "type": "text",
        "text": "Your order is on its way.",
        "template": null,
        "media": null,
        "from": BUSINESS,
        "to": PHONE,
        "customerUserId": null,
        "customerUsername": null,
        "phoneNumberId": PHONE_NUMBER_ID,
        "status": "sent",
        "timestamp": "2026-01-15T10:00:00.000Z",
        "statuses": {"sentAt": "2026-01-15T10:00:00.000Z", "deliveredAt": null, "readAt": null, "failedAt": null},
        // What a message has beside its words comes with messages that have it.
        "reaction": null,
        "interactive": null,
        "location": null,
        "content": null,
        "replyTo": null,
    })
}

fn message_received() -> Value {
    let inbound = json!({
        "direction": "inbound",
        "source": "customer",
        "text": "Where is my order?",
        "from": PHONE,
        "to": BUSINESS,
        "status": "received",
        "statuses": {"sentAt": null, "deliveredAt": null, "readAt": null, "failedAt": null},
    });
    with(message(), inbound)
}

fn message_sent() -> Value {
    message()
}

fn message_delivered() -> Value {
    let statuses = json!({"sentAt": "2026-01-15T10:00:00.000Z", "deliveredAt": "2026-01-15T10:00:01.000Z", "readAt": null, "failedAt": null});
    with(message(), json!({"status": "delivered", "statuses": statuses}))
}

fn message_read() -> Value {
    let statuses = json!({"sentAt": "2026-01-15T10:00:00.000Z", "deliveredAt": "2026-01-15T10:00:01.000Z", "readAt": "2026-01-15T10:00:09.000Z", "failedAt": null});
    with(message(), json!({"status": "read", "statuses": statuses}))
}

fn message_failed() -> Value {
    let statuses =
        json!({"sentAt": null, "deliveredAt": null, "readAt": null, "failedAt": "2026-01-15T10:00:00.000Z"});
    let error = json!({"code": -1004, "title": "window_closed", "detail": "free text outside the 24-hour window; send a template"});
    with(message(), json!({"status": "failed", "statuses": statuses, "error": error}))
}

fn chat_started() -> Value {
    json!({
        "chatId": CHAT,
        "channel": "chatapp",
        "agentId": AGENT,
        "contactId": CONTACT,
        "externalRef": "cust_1042",
        "customer": {"phone": PHONE, "name": "Asha", "userId": null, "username": null},
        "businessNumber": BUSINESS,
        "origin": "inbound",
        "linkedCallId": null,
        "status": "active",
        "endCause": null,
        "startedAt": "2026-01-15T10:00:00.000Z",
        "endedAt": null,
        "messageCount": 1,
        "handoff": null,
        "isTest": false,
        "metadata": {},
        "adReferral": null,
    })
}

fn chat() -> Value {
    let transcript = json!([
        // `failed` comes with what the messaging channel did not deliver.
        {"role": "human", "text": "Your order is late.", "failed": true},
        {"role": "user", "text": "Where is my order?"},
        {"role": "agent", "text": "It is on its way."},
    ]);
    with(chat_started(), json!({"messageCount": 3, "transcript": transcript}))
}

fn chat_completed() -> Value {
    with(chat(), json!({"status": "ended", "endCause": "completed", "endedAt": "2026-01-15T10:05:00.000Z"}))
}

fn chat_analyzed() -> Value {
    let analysis = json!({"summary": "Asha asked where her order is.", "extracted": {}, "sentiment": "neutral", "outcome": "answered"});
    with(chat_completed(), json!({"analysis": analysis}))
}

fn chat_taken_over() -> Value {
    with(chat(), json!({"by": "helpdesk", "agentName": "Support", "note": null}))
}

fn chat_handed_back() -> Value {
    with(chat(), json!({"by": "helpdesk", "note": null, "messagesAdded": 2}))
}

fn chat_assigned() -> Value {
    let assigned = json!({"userId": "usr_01k9v5x2m8e6fs4v0q3n7w1y39", "name": "Support"});
    let by = json!({"apiKeyId": "key_01k9v5x2m8e6fs4v0q3n7w1y3b"});
    with(chat(), json!({"assignedTo": assigned, "assignedBy": by, "reason": "manual"}))
}

fn chat_handoff_requested() -> Value {
    with(chat(), json!({"reason": null, "handoffAt": "2026-01-15T10:03:00.000Z"}))
}

fn chat_evaluated() -> Value {
    json!({
        "chatId": CHAT,
        "channel": "chatapp",
        "agentId": AGENT,
        "contactId": CONTACT,
        "runId": "run_01k9v5x2m8e6fs4v0q3n7w1y3a",
        "runNo": 1,
        "trigger": "auto",
        "model": "offline",
        "evaluatedAt": "2026-01-15T10:06:00.000Z",
        "passed": 1,
        "failed": 0,
        "notApplicable": 0,
        "results": [{
            "criterionKey": "polite",
            "name": "Polite",
            "kind": "pass_fail",
            "passThreshold": null,
            "verdict": "pass",
            "score": null,
            "reasoning": "The agent stayed polite.",
        }],
    })
}

fn document_received() -> Value {
    json!({
        "documentId": "doc_01k9v5x2m8e6fs4v0q3n7w1y3b",
        "interactionId": CHAT,
        "chatSessionId": CHAT,
        "agentId": AGENT,
        "nodeId": "ask_id",
        "label": "Identity card",
        "status": "unverified",
        "fields": {"name": "Asha", "number": "XXXX XXXX 1234"},
        "reasons": [],
        "attempts": 1,
        "parts": [{"part": "front", "contentType": "image/jpeg"}],
        "reviewedAt": null,
        "createdAt": "2026-01-15T10:00:00.000Z",
        "updatedAt": "2026-01-15T10:00:00.000Z",
    })
}

fn document_updated() -> Value {
    with(
        document_received(),
        json!({"status": "verified", "reviewedAt": "2026-01-15T11:00:00.000Z", "updatedAt": "2026-01-15T11:00:00.000Z"}),
    )
}

fn number_quality_changed() -> Value {
    json!({"phoneNumberId": PHONE_NUMBER_ID, "businessNumber": BUSINESS, "previousQuality": "GREEN", "quality": "YELLOW"})
}

fn account_restricted() -> Value {
    json!({"event": "ACCOUNT_RESTRICTION", "restrictionInfo": [{"restriction_type": "RESTRICTED_BIZ_INITIATED_MESSAGING"}], "violationInfo": null, "banInfo": null})
}

fn number_ai_paused() -> Value {
    json!({"phoneNumberId": PHONE_NUMBER_ID, "businessNumber": BUSINESS, "pausedUntil": "2026-01-15T11:00:00.000Z"})
}

fn template_updated() -> Value {
    json!({
        "templateId": "tpl_01k9v5x2m8e6fs4v0q3n7w1y3c",
        "providerTemplateId": "594425479261596",
        "name": "order_update",
        "language": "en",
        "status": "APPROVED",
        "category": "UTILITY",
        "previousCategory": null,
        "pendingCategory": null,
        "qualityScore": null,
        "event": "APPROVED",
        "reason": null,
    })
}

fn card_moved() -> Value {
    json!({
        "boardId": "brd_01k9v5x2m8e6fs4v0q3n7w1y40",
        "campaignId": "cmp_01k9v5x2m8e6fs4v0q3n7w1y41",
        "agentId": null,
        "cardId": "card_01k9v5x2m8e6fs4v0q3n7w1y42",
        "moveId": "move_01k9v5x2m8e6fs4v0q3n7w1y43",
        "contactId": CONTACT,
        "externalRef": "cust_1042",
        "callId": CALL,
        "movedBy": "sorting",
        "from": {"id": "col_01k9v5x2m8e6fs4v0q3n7w1y44", "key": "new", "type": "new"},
        "to": {"id": "col_01k9v5x2m8e6fs4v0q3n7w1y45", "key": "won", "type": "won"},
        "movedAt": "2026-01-15T10:01:00.000Z",
    })
}

fn webhook_test() -> Value {
    json!({"endpointId": null, "message": TEST_MESSAGE})
}

/// What `webhook.test` says.
pub const TEST_MESSAGE: &str = "This is a test event.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pick_only_are_messages_and_evaluations() {
        let picked: Vec<_> = ALL.iter().filter(|kind| kind.pick_only).map(|kind| kind.name).collect();
        assert_eq!(
            picked,
            [
                "message.received",
                "message.sent",
                "message.delivered",
                "message.read",
                "message.failed",
                "chat.evaluated"
            ]
        );
        assert_eq!(ALL.len(), 37);
        assert!(ALL.iter().all(|kind| (kind.sample)().is_object()));
    }
}
