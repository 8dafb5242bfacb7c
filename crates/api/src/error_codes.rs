//! Every error that a client can see, with its code and status: one table for the service and the OpenAPI
//! document.

/// A row of the table: the machine-readable code, the HTTP status, and what it means.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorCode {
    /// What clients branch on.
    pub code: &'static str,
    /// HTTP status.
    pub status: u16,
    /// Meaning, for the API reference.
    pub meaning: &'static str,
}

macro_rules! codes {
    ($($name:ident = $status:literal $code:literal $meaning:literal,)*) => {
        $(#[doc = $meaning] pub const $name: &ErrorCode = &ErrorCode { code: $code, status: $status, meaning: $meaning };)*
        /// All of them, by name.
        pub const ALL: &[&ErrorCode] = &[$($name),*];
    };
}

codes! {
    INVALID_REQUEST = 400 "invalid_request" "A field or parameter is missing or wrong; `error` and `meta.field` name the first one.",
    MALFORMED_JSON = 400 "malformed_json" "The body is not JSON.",
    UNKNOWN_FIELD = 400 "unknown_field" "The body has fields that do not exist; `meta.fields` lists them.",
    INVALID_CURSOR = 400 "invalid_cursor" "The cursor is not one that this list gave.",
    INVALID_IDEMPOTENCY_KEY = 400 "invalid_idempotency_key" "`Idempotency-Key` is missing where it is required, empty, or longer than 255 characters.",
    INVALID_VARIABLES = 400 "invalid_variables" "A variable is not a string, a number or a boolean; `meta.key` names it.",
    FROM_NUMBER_NOT_OWNED = 400 "from_number_not_owned" "`fromNumber` is not an active number of the workspace.",
    NO_PHONE_NUMBER = 400 "no_phone_number" "The workspace owns no number: buy one before placing calls.",
    KNOWLEDGE_BASE_NOT_FOUND = 400 "knowledge_base_not_found" "`knowledgeBaseId` names no knowledge base of the workspace.",
    VERTICAL_NOT_ALLOWED = 400 "vertical_not_allowed" "A chat agent cannot have a regulated vertical.",
    NUMBER_AGENT_NOT_PUBLISHED = 400 "agent_not_published" "The agent for a number must be published (`status: active`).",
    NUMBER_AGENT_NOT_CALL = 400 "agent_not_call" "A chat agent cannot answer a number.",
    AGENT_NOT_INBOUND = 400 "agent_not_inbound" "An outbound agent cannot answer a number.",
    SCHEDULED_AT_IN_PAST = 400 "scheduled_at_in_past" "`scheduledAt` lies in the past.",
    SCHEDULED_AT_TOO_FAR = 400 "scheduled_at_too_far" "`scheduledAt` is more than 30 days ahead.",
    INVALID_WEBHOOK_URL = 400 "invalid_webhook_url" "The URL is not a public https:// address.",
    CHANNEL_NOT_SUPPORTED = 400 "channel_not_supported" "Campaigns have the channel `voice` or `chatapp`.",
    LIST_MISSES_VARIABLES = 400 "missing_required_variables" "The agent's flow needs variables that a row of the calling list lacks; `meta.missing` names them, `meta.row` the first such row.",
    PHONE_IMMUTABLE = 400 "phone_immutable" "A contact's number cannot change once it is set.",
    NO_VALID_NUMBERS = 400 "no_valid_numbers" "None of the numbers is a valid Indian (+91) number.",
    MAPPING_INCOMPLETE = 400 "missing_required_variables" "The agent's flow needs variables that `variableMapping` does not cover; `meta.missing` names them.",
    UNAUTHORIZED = 401 "unauthorized" "The key is missing, unknown, expired or revoked.",
    INSUFFICIENT_BALANCE = 402 "insufficient_balance" "The wallet cannot cover the call, calls in progress counted.",
    API_SCOPE_MISSING = 403 "api_scope_missing" "The key lacks the scope in `meta.scope`.",
    WORKSPACE_SUSPENDED = 403 "workspace_suspended" "The workspace is suspended.",
    KYB_REQUIRED = 403 "kyb_required" "The workspace must be verified (KYB) before placing calls.",
    TEST_MODE_READ_ONLY = 403 "test_mode_read_only" "A test key cannot change this.",
    PLAN_FEATURE_LOCKED = 403 "plan_feature_locked" "The feature is off for this workspace.",
    FEATURE_DISABLED = 403 "feature_disabled" "The workspace does not have this channel.",
    LINK_INVALID = 403 "link_invalid" "The link is over (it works for five minutes) or was altered; read the call again for a fresh one.",
    NOT_FOUND = 404 "not_found" "No such thing in this workspace.",
    METHOD_NOT_ALLOWED = 405 "method_not_allowed" "The path exists, the method does not.",
    REQUEST_TIMEOUT = 408 "request_timeout" "The body did not arrive in time.",
    IDEMPOTENCY_IN_PROGRESS = 409 "idempotency_in_progress" "The first request with this key is still running.",
    PHONE_TAKEN = 409 "phone_taken" "The number belongs to the contact in `meta.existingId`.",
    OPT_OUT_DOWNGRADE = 409 "opt_out_downgrade" "An opt-out cannot be lifted through the API.",
    CONTACT_HAS_HISTORY = 409 "contact_has_history" "The contact has been called; erase it instead.",
    CONFLICT = 409 "conflict" "The current state does not allow this.",
    STREAM_ATTACHED = 409 "stream_attached" "A stream feeds the calling list: people can only be added to it.",
    CAMPAIGN_LIMIT = 409 "campaign_limit" "The workspace has as many campaigns as it can have; delete some.",
    CALL_NOT_ACTIVE = 409 "call_not_active" "The call is over, or was blocked.",
    AGENT_USES_FLOW = 409 "agent_uses_flow" "The agent's flow was edited as a flow, so `systemPrompt` cannot change; edit the flow.",
    FLOW_CONFLICT = 409 "flow_conflict" "The draft is not `baseVersion` any more; `meta.draftVersion` is its version.",
    AGENT_IN_USE = 409 "agent_in_use" "Something still uses the agent; `meta` names it.",
    SCHEDULED_CALL_NOT_CANCELLABLE = 409 "scheduled_call_not_cancellable" "The scheduled call is placed, failed, cancelled, or being dialled.",
    ENDPOINT_LIMIT = 409 "endpoint_limit" "The workspace has 20 webhook endpoints already.",
    STREAM_LIMIT = 409 "stream_limit" "The workspace has 100 data streams already.",
    STREAM_PAUSED = 409 "stream_paused" "The data stream is paused and takes no records.",
    DELIVERY_REDACTED = 409 "delivery_redacted" "The payload was emptied because the person it was about was erased.",
    CONTACT_ERASED = 410 "contact_erased" "The contact was erased.",
    NUDGE_IN_FLIGHT = 409 "nudge_in_flight" "Another nudge to this number is live; `meta.nudgeId` is its id.",
    NUDGE_NOT_CANCELLABLE = 409 "nudge_not_cancellable" "The nudge is being dialled, is live, or is finished.",
    PAYLOAD_TOO_LARGE = 413 "payload_too_large" "The body is larger than 5 MB.",
    RANGE_NOT_SATISFIABLE = 416 "range_not_satisfiable" "The range lies beyond the end of the file.",
    MISSING_REQUIRED_VARIABLES = 422 "missing_required_variables" "The agent's flow needs variables that are neither given nor saved; `meta.missing` names them.",
    CALL_BLOCKED = 422 "call_blocked" "A compliance gate refused the call; `meta.blockReason` names it.",
    IDEMPOTENCY_KEY_REUSED = 422 "idempotency_key_reused" "The key was used with a different request.",
    AGENT_NOT_PUBLISHED = 422 "agent_not_published" "The agent must be published (`status: active`).",
    AGENT_NOT_CALL = 422 "agent_not_call" "The agent is a chat agent.",
    AGENT_NOT_OUTBOUND = 422 "agent_not_outbound" "The agent is for inbound calls.",
    CHATAPP_CONFIG_UNEXPECTED = 422 "chatapp_config_unexpected" "Only a campaign on the chat-app channel has `chatapp` settings.",
    FLOW_NOT_READY = 422 "flow_not_ready" "The flow cannot run as it is; `meta.issues` lists why.",
    WORKFLOW_TEMPLATE_INVALID = 422 "workflow_template_invalid" "The `workflowTemplate` does not fit the regulated vertical.",
    COMPLIANCE_PACK_INVALID = 422 "compliance_pack_invalid" "The regulated vertical needs a compliance pack of its family in `policyRef`.",
    AGENT_LOCKED = 423 "agent_locked" "The agent is locked by its creator; the API cannot change it.",
    INVALID_SCHEDULE = 422 "invalid_schedule" "`scheduledAt` and `expiresAt` do not fit together or the present.",
    OUTSIDE_CALLING_WINDOW = 422 "outside_calling_window" "The calling window is closed then and `outsideWindow` is `reject`; `meta.nextWindowAt` is when it opens.",
    PENDING_LIMIT = 429 "pending_limit" "Too many nudges of this workspace and mode are queued or scheduled.",
    CONCURRENCY_LIMIT = 429 "concurrency_limit" "All lines of the workspace or the platform are in use; wait `Retry-After` seconds.",
    RATE_LIMITED = 429 "rate_limited" "Too many requests; wait `Retry-After` seconds.",
    INTERNAL = 500 "internal_error" "Something failed here; quote `requestId`.",
    CALL_NOT_PLACED = 502 "call_not_placed" "The carrier refused the call before anything rang; nobody was called.",
    POSSIBLY_PLACED = 502 "possibly_placed" "The carrier's answer was lost: the callee may have been rung. The call is listed; it is not dialled again.",
    HANGUP_FAILED = 502 "hangup_failed" "The carrier did not end the call; it is still live, try again.",
    VOICE_UNAVAILABLE = 503 "voice_unavailable" "No India-resident voice provider is configured.",
    HANGUP_UNAVAILABLE = 503 "hangup_unavailable" "The carrier of this call is not configured here any more.",
    UNAVAILABLE = 503 "unavailable" "The store cannot be reached or cannot write; nothing was changed, retry later.",
}
