//! Every error that a client can see, with its code and status: one table for the service and the OpenAPI
//! document.

use std::borrow::Cow;
use std::collections::BTreeSet;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

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

impl ErrorCode {
    /// Path of the page about it, at the address of the service (docs/contract/README.md#errors).
    pub fn doc_url(&self) -> String {
        format!("/docs/errors/{}", self.code)
    }

    /// The body of an answer with it: what is wrong, for people, and details.
    pub fn body(&self, error: &str, meta: Option<&Value>) -> Value {
        let mut body = json!({"error": error, "code": self.code, "docUrl": self.doc_url()});
        if let Some(meta) = meta {
            body["meta"] = meta.clone();
        }
        body
    }
}

/// The code of one of [`ALL`].
pub enum ErrorWord {}

impl JsonSchema for ErrorWord {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("ErrorCode")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: BTreeSet<&str> = ALL.iter().map(|error| error.code).collect();
        json_schema!({"type": "string", "enum": words, "description": "Code of an error, such as `not_found`. Each has a page of its own in `docUrl`."})
    }
}

macro_rules! codes {
    ($($name:ident = $status:literal $code:literal $meaning:literal,)*) => {
        $(#[doc = $meaning] pub const $name: &ErrorCode = &ErrorCode { code: $code, status: $status, meaning: $meaning };)*
        /// All of them, by name.
        pub const ALL: &[&ErrorCode] = &[$($name),*];
    };
}

codes! {
    INVALID_REQUEST = 400 "invalid_request" "A field or a parameter is missing or wrong; `error` and `meta.field` name the first one. Correct it; nothing was changed.",
    MALFORMED_JSON = 400 "malformed_json" "The body is not valid JSON; `error` says where. Correct it and send it again.",
    UNKNOWN_FIELD = 400 "unknown_field" "The body has fields that do not exist; `meta.fields` lists them. Remove or rename them.",
    INVALID_CURSOR = 400 "invalid_cursor" "`cursor` is not one that this list returned. Start again without a cursor.",
    INVALID_IDEMPOTENCY_KEY = 400 "invalid_idempotency_key" "The header `Idempotency-Key` is missing where it is required, empty, or longer than 255 characters. Send a text of 1 to 255 characters.",
    INVALID_VARIABLES = 400 "invalid_variables" "`variables` has a value that is not a string, a number or a boolean, or exceeds a limit; `meta.key` names it. Correct it.",
    FROM_NUMBER_NOT_OWNED = 400 "from_number_not_owned" "`fromNumber` is not an active number of the workspace. Use one of `GET /v1/numbers`.",
    NO_PHONE_NUMBER = 400 "no_phone_number" "The workspace has no phone number. Ask the operator to assign one before placing live calls.",
    KNOWLEDGE_BASE_NOT_FOUND = 400 "knowledge_base_not_found" "`knowledgeBaseId` is not a knowledge base of the workspace. Use an id of `GET /v1/knowledge-bases`, or null.",
    VERTICAL_NOT_ALLOWED = 400 "vertical_not_allowed" "`vertical` of a chat agent must be `general`. Regulated verticals are for call agents.",
    NUMBER_AGENT_NOT_PUBLISHED = 400 "agent_not_published" "The agent in `agentId` is not published. Set its status to `active` first.",
    NUMBER_AGENT_NOT_CALL = 400 "agent_not_call" "The agent in `agentId` is a chat agent and cannot answer calls. Choose a call agent.",
    AGENT_NOT_INBOUND = 400 "agent_not_inbound" "The agent in `agentId` is outbound and cannot answer calls. Choose an inbound agent.",
    SCHEDULED_AT_IN_PAST = 400 "scheduled_at_in_past" "`scheduledAt` is more than 5 seconds in the past. Send a time in the future, or place the call now.",
    SCHEDULED_AT_TOO_FAR = 400 "scheduled_at_too_far" "`scheduledAt` is more than 30 days ahead. Send an earlier time.",
    INVALID_WEBHOOK_URL = 400 "invalid_webhook_url" "`url` is not a public https:// address. Private, loopback and other addresses are refused.",
    TEMPLATE_NOT_FOUND = 400 "template_not_found" "The template does not exist in the workspace. Use an id, or a name and a language, of `GET /v1/chatapp/templates`.",
    CHANNEL_NOT_SUPPORTED = 400 "channel_not_supported" "`channel` of a campaign must be `voice` or `chatapp`.",
    LIST_MISSES_VARIABLES = 400 "missing_required_variables" "A row of the calling list lacks variables that the agent's flow requires; `meta.missing` names them, `meta.row` the first such row. Add them; nothing was stored.",
    PHONE_IMMUTABLE = 400 "phone_immutable" "`phone` of a contact cannot change once it is set. Create another contact for the other number.",
    NO_VALID_NUMBERS = 400 "no_valid_numbers" "`phones` has no valid Indian (+91) number. Correct at least one.",
    COLUMN_NOT_ON_BOARD = 400 "column_not_on_board" "The column does not exist on this board; `meta.field` names the parameter. Use a column id of the board.",
    MAPPING_INCOMPLETE = 400 "missing_required_variables" "`variableMapping` lacks variables that the agent's flow requires; `meta.missing` names them. Add them.",
    ASSIGNEE_NOT_ALLOWED = 400 "assignee_not_allowed" "The person is not a teammate who can reply. Use one of `GET /v1/chatapp/assignees`.",
    UNAUTHORIZED = 401 "unauthorized" "The key is missing, unknown, expired or revoked. Send a valid key as `Authorization: Bearer KEY`.",
    INSUFFICIENT_BALANCE = 402 "insufficient_balance" "The wallet does not cover the call or chat, holds of live ones included. Ask the operator to top it up; a retry alone does not help.",
    CHAT_NOT_ENABLED = 403 "chat_not_enabled" "The agent in `agentId` is a call agent. Choose a chat agent.",
    AGENT_OFFLINE = 403 "agent_offline" "It is outside the agent's business hours. Try again within them.",
    SIGN_IN_FAILED = 401 "sign_in_failed" "The e-mail address or the password is wrong.",
    INVITATION_INVALID = 403 "invitation_invalid" "The invitation was used, revoked or replaced, or is over. Ask for another one.",
    SIGN_IN_LINK_INVALID = 403 "sign_in_link_invalid" "The link was used or is over (it works once, for 15 minutes). Ask the operator for another one.",
    OPENID_REFUSED = 403 "openid_refused" "The identity provider signed nobody in who is known here; `error` says why. Try again, or sign in with a password.",
    PASSWORD_WRONG = 403 "password_wrong" "The present password is wrong. Nothing was changed.",
    API_SCOPE_MISSING = 403 "api_scope_missing" "The key lacks the scope in `meta.scope`. Ask the operator for a key with this scope.",
    WORKSPACE_SUSPENDED = 403 "workspace_suspended" "The workspace is suspended. Ask the operator to lift the suspension.",
    ROLE_MISSING = 403 "role_missing" "The member's role does not allow this; `meta.role` is the least that does. Ask one of the admins in `meta.admins`.",
    CROSS_SITE = 403 "cross_site" "A request with a session that changes something did not come from a page of the service. Send it from the console.",
    KYB_REQUIRED = 403 "kyb_required" "The workspace is not verified (KYB), so it cannot place live calls. Ask the operator to verify it, or use a test key.",
    TEST_MODE_READ_ONLY = 403 "test_mode_read_only" "A test key cannot change this. Use a live key.",
    PLAN_FEATURE_LOCKED = 403 "plan_feature_locked" "The feature is off for this workspace. Ask the operator to switch it on.",
    FEATURE_DISABLED = 403 "feature_disabled" "Chats, or campaigns on the messaging channel, are off for this workspace. Ask the operator to switch them on.",
    CHATAPP_DISABLED = 403 "chatapp_disabled" "The messaging channel is off for this workspace. Ask the operator to switch it on.",
    CONTACT_OPTED_OUT = 403 "contact_opted_out" "The contact may not be written to; `meta.reason` is `opted_out`, `do_not_call`, `erased` or `marketing_stopped`. Do not retry.",
    OPT_IN_REQUIRED = 403 "opt_in_required" "A marketing template needs a recorded opt-in of the contact. Send `optIn` if the contact has agreed, or use another template.",
    LINK_INVALID = 403 "link_invalid" "The link has expired (it works for five minutes) or was altered. Read the call again for a fresh link.",
    CHATAPP_AGENTS_OFF = 403 "chatapp_agents_off" "Agents on the messaging channel are off for this workspace. Ask the operator to switch them on.",
    NOT_FOUND = 404 "not_found" "No such object exists in the workspace and mode of the key. Check the id, and whether a live or a test key created it.",
    AGENT_UNAVAILABLE = 404 "agent_unavailable" "The agent in `agentId` does not exist or is not published. Publish it, or choose another one.",
    AGENT_NOT_FOUND = 404 "agent_not_found" "The agent in `agentId` does not exist. Use an id of `GET /v1/agents`.",
    METHOD_NOT_ALLOWED = 405 "method_not_allowed" "The path does not support this method. The header `Allow` lists those that it supports.",
    REQUEST_TIMEOUT = 408 "request_timeout" "The body did not arrive in time. Nothing was changed; send the request again.",
    IDEMPOTENCY_IN_PROGRESS = 409 "idempotency_in_progress" "The first request with this `Idempotency-Key` is still running. Send the request again in a few seconds.",
    PHONE_TAKEN = 409 "phone_taken" "`phone` belongs to another contact; `meta.existingId` is its id. Update that contact instead.",
    OPT_OUT_DOWNGRADE = 409 "opt_out_downgrade" "`optOut: false` does not lift an opt-out. Only the operator can lift one.",
    CONTACT_HAS_HISTORY = 409 "contact_has_history" "The contact has calls or messages, so it cannot be deleted. Erase it instead.",
    CHATAPP_NOT_CONNECTED = 409 "chatapp_not_connected" "The workspace has no connection with the messaging channel, no number on it, or a number that cannot send. Ask the operator to connect one.",
    WINDOW_CLOSED = 409 "window_closed" "The customer has not written to this number within 24 hours, so only a template can be sent.",
    CONFLICT = 409 "conflict" "The current state does not allow this; `error` says why. Read the object again.",
    HANDBACK_UNPAID = 409 "insufficient_balance" "The chat cannot be handed back: the wallet does not cover it. It stays with people.",
    HANDBACK_OFFLINE = 409 "agent_offline" "The chat cannot be handed back: it is outside the agent's business hours. It stays with people.",
    HANDBACK_AGENT = 409 "agent_unavailable" "The chat cannot be handed back: its agent is deleted or not published. It stays with people.",
    HANDBACK_BRAIN = 409 "brain_unavailable" "The chat cannot be handed back: the agent's flow cannot run; `meta` says what it lacks. It stays with people.",
    HANDBACK_FEATURE = 409 "feature_disabled" "The chat cannot be handed back: chats are off for the workspace. It stays with people.",
    HANDBACK_CHANNEL = 409 "chatapp_disabled" "The chat cannot be handed back: the messaging channel is off for the workspace. It stays with people.",
    HANDBACK_AGENTS = 409 "chatapp_agents_off" "The chat cannot be handed back: agents on the messaging channel are off for the workspace. It stays with people.",
    STREAM_ATTACHED = 409 "stream_attached" "A data stream feeds the calling list, so rows can only be added. Detach the stream to replace the list.",
    CAMPAIGN_LAUNCHED = 409 "campaign_launched" "The campaign was published, so its list and its template are fixed. Create another campaign.",
    PREFLIGHT_BLOCKED = 409 "preflight_blocked" "The campaign cannot be published; `meta.report.blockers` lists why. Resolve these first.",
    CHATAPP_CAMPAIGN = 409 "chatapp_campaign" "This is not possible for a campaign on the messaging channel. Its progress is in `chatapp.stats` of the campaign.",
    CAMPAIGN_LIMIT = 409 "campaign_limit" "The workspace has 5,000 campaigns, which is the limit. Delete some first.",
    CALL_NOT_ACTIVE = 409 "call_not_active" "The call has ended, or was blocked, so it cannot be hung up.",
    AGENT_USES_FLOW = 409 "agent_uses_flow" "The agent's flow was edited as a flow, so `systemPrompt` cannot change. Edit the flow with `PUT /v1/agents/{id}/flow`.",
    FLOW_CONFLICT = 409 "flow_conflict" "`baseVersion` is not the version of the draft; `meta.draftVersion` is. Read the flow again and repeat the edit; nothing was overwritten.",
    AGENT_IN_USE = 409 "agent_in_use" "A number or a campaign uses the agent; `meta` names it. Choose another agent there first.",
    SCHEDULED_CALL_NOT_CANCELLABLE = 409 "scheduled_call_not_cancellable" "The scheduled call is being dialled, or is placed, failed or cancelled; see `meta.status`. Hang the call up instead.",
    ENDPOINT_LIMIT = 409 "endpoint_limit" "The workspace has 20 webhook endpoints, which is the limit. Delete one first.",
    STREAM_LIMIT = 409 "stream_limit" "The workspace has 100 data streams, which is the limit. Delete one first.",
    KNOWLEDGE_BASE_LIMIT = 409 "knowledge_base_limit" "The workspace has 100 knowledge bases, which is the limit. Delete one first.",
    KNOWLEDGE_BASE_FULL = 409 "knowledge_base_full" "The document exceeds a limit of knowledge bases; `meta.limit` is that limit. Remove documents first.",
    STREAM_PAUSED = 409 "stream_paused" "The data stream is not active and accepts no records. Set its status to `active`, then send them again.",
    DELIVERY_REDACTED = 409 "delivery_redacted" "The payload was emptied because its contact was erased, so the delivery cannot be sent again.",
    CONTACT_ERASED = 410 "contact_erased" "The contact was erased. Do not retry.",
    NUDGE_IN_FLIGHT = 409 "nudge_in_flight" "Another nudge to `toNumber` is live; `meta.nudgeId` is its id. Wait until it is finished, or cancel it.",
    NUDGE_NOT_CANCELLABLE = 409 "nudge_not_cancellable" "The nudge is being dialled, live or finished, so it cannot be cancelled. Hang its call up instead.",
    REPLY_IN_PROGRESS = 409 "reply_in_progress" "The agent still replies to the previous message. Send the message again after that reply.",
    DOCUMENT_NOT_REQUESTED = 409 "document_not_requested" "The agent does not wait for a document. Send it when the agent has asked for one.",
    SESSION_ENDED = 409 "session_ended" "The chat has ended. Open another session.",
    ACTIVE_SESSION_EXISTS = 409 "active_session_exists" "The contact has an open conversation on this number; `meta.chatId` is its id. Send into it with `onActiveSession: send_in_session`.",
    AGENT_NOT_ACTIVE = 409 "agent_not_active" "The agent in `agentId` is not published. Set its status to `active` first.",
    AGENT_NUMBER_MISSING = 409 "agent_number_missing" "No business number is bound to the agent in `agentId`. Ask the operator to bind one.",
    AGENT_NUMBER_MISMATCH = 409 "agent_number_mismatch" "`from` is not the agent's number; `meta.phoneNumberId` is. Leave `from` out, or send that one.",
    CONVERSATION_ENDED = 409 "conversation_ended" "The conversation has ended. Start another one.",
    HELD_BY_TEAMMATE = 409 "held_by_teammate" "A teammate handles the conversation in the inbox. It must be handed back there first.",
    HELD_BY_HELPDESK = 409 "held_by_helpdesk" "A helpdesk handles the conversation. It must hand it back first.",
    PAYLOAD_TOO_LARGE = 413 "payload_too_large" "The body exceeds the limit, which is 5 MB for most requests; `error` gives it. Send less in one request.",
    RANGE_NOT_SATISFIABLE = 416 "range_not_satisfiable" "The header `Range` begins beyond the end of the file. Request a range that exists.",
    MISSING_REQUIRED_VARIABLES = 422 "missing_required_variables" "`variables` and the contact lack values that the agent's flow requires; `meta.missing` names them. Send them in `variables`.",
    CALL_BLOCKED = 422 "call_blocked" "A compliance gate refused the call; `meta.blockReason` names it. Do not retry unless the reason has changed.",
    IDEMPOTENCY_KEY_REUSED = 422 "idempotency_key_reused" "This `Idempotency-Key` was used with another request. Use a new key for a new request.",
    AGENT_NOT_PUBLISHED = 422 "agent_not_published" "The agent in `agentId` is not published. Set its status to `active` first.",
    AGENT_NOT_CALL = 422 "agent_not_call" "The agent in `agentId` is a chat agent. Choose a call agent.",
    AGENT_NOT_OUTBOUND = 422 "agent_not_outbound" "The agent in `agentId` is inbound. Choose an outbound agent.",
    PHONE_NUMBER_REQUIRED = 422 "phone_number_required" "Several business numbers are connected and none is the default. Name one in `chatapp.phoneNumberId`.",
    CHATAPP_CONFIG_UNEXPECTED = 422 "chatapp_config_unexpected" "`chatapp` is only for a campaign with the channel `chatapp`. Leave it out.",
    PROVIDER_REFUSED = 422 "provider_refused" "The messaging channel's provider refused the request; `meta.error` has its code, title and detail.",
    TEMPLATE_UNAVAILABLE = 422 "template_unavailable" "The template is not approved, so it cannot be sent. Use one whose status is `APPROVED`.",
    TEMPLATE_PARAMS_INVALID = 422 "template_params_invalid" "`template.params` has missing, extra or wrong values; `meta.issues` lists them. Correct them.",
    INVALID_NUMBER = 422 "invalid_number" "`to` is neither an international number nor a customer's id on the channel. Send the number with its country code.",
    INVALID_OPT_IN = 422 "invalid_opt_in" "`optIn.capturedAt` is in the future. Send the time at which the contact agreed.",
    DLT_REQUIRED = 422 "dlt_required" "The pack requires registered ids (DLT) of a promotional campaign; `meta.field` names the one that is missing or of another form.",
    FLOW_NOT_READY = 422 "flow_not_ready" "The agent's flow cannot run; `meta.issues` lists why. Correct the flow and publish it.",
    WORKFLOW_TEMPLATE_INVALID = 422 "workflow_template_invalid" "`workflowTemplate` does not fit the regulated `vertical`. Use `prompt-driven`, or a template of the vertical.",
    COMPLIANCE_PACK_INVALID = 422 "compliance_pack_invalid" "`policyRef` is not a compliance pack of the regulated `vertical`. Use a pack of its family.",
    BRAIN_UNAVAILABLE = 422 "brain_unavailable" "The agent's flow cannot run in a chat; `meta` says what it lacks.",
    AGENT_NOT_CHATAPP = 422 "agent_not_chatapp" "The agent in `agentId` is not a chat agent. Choose a chat agent.",
    AGENT_LOCKED = 423 "agent_locked" "The operator has locked the agent, so it cannot be changed over the API. Ask the operator to unlock it.",
    DOCUMENT_UNREADABLE = 422 "document_unreadable" "The file or page is damaged, encrypted, or has no text; `error` says which.",
    DOCUMENT_UNSUPPORTED = 422 "document_unsupported" "The format of the file or page is not supported; `error` says what it is. Convert it first.",
    DOCUMENT_TOO_LARGE = 422 "document_too_large" "The file or page exceeds the limit named in `meta.limit`, which is `meta.most`. Split it.",
    LINK_NOT_FETCHED = 422 "link_not_fetched" "The page in `url` could not be fetched; `meta.reason` says why.",
    INVALID_SCHEDULE = 422 "invalid_schedule" "`scheduledAt` or `expiresAt` is not possible; `error` says why. Correct them.",
    OUTSIDE_CALLING_WINDOW = 422 "outside_calling_window" "The calling window is closed at that time and `outsideWindow` is `reject`; `meta.nextWindowAt` is the next opening. Schedule it then, or send `queue`.",
    PENDING_LIMIT = 429 "pending_limit" "Too many nudges of this workspace and mode are queued or scheduled. Try again after `Retry-After` seconds.",
    CONCURRENCY_LIMIT = 429 "concurrency_limit" "All lines of the workspace or the platform are in use. Try again after `Retry-After` seconds.",
    TIER_LIMIT_REACHED = 429 "tier_limit_reached" "The account has written to as many contacts in 24 hours as its messaging limit allows. `Retry-After` says when the next one fits.",
    RATE_LIMITED = 429 "rate_limited" "Too many requests. Try again after `Retry-After` seconds.",
    INTERNAL = 500 "internal_error" "An internal error occurred. Quote `requestId` to the operator.",
    CALL_NOT_PLACED = 502 "call_not_placed" "The carrier refused the call before any ring, so nobody was called. The request can be sent again.",
    POSSIBLY_PLACED = 502 "possibly_placed" "The carrier's answer was lost, so the phone may have rung. The call is listed and is never repeated.",
    HANGUP_FAILED = 502 "hangup_failed" "The carrier did not end the call, which is still live. Try again.",
    REPLY_FAILED = 502 "reply_failed" "The agent could not reply, and the message was taken back. Send it again.",
    DELIVERY_FAILED = 502 "delivery_failed" "The channel refused the message; `meta.error` has the code, title and detail.",
    RECIPIENT_UNSUPPORTED = 502 "recipient_unsupported" "A customer's id in `to` cannot receive this kind of message. Send it to the customer's number.",
    VOICE_UNAVAILABLE = 503 "voice_unavailable" "No carrier or no speech provider that keeps data in India is available. Ask the operator to configure one.",
    HANGUP_UNAVAILABLE = 503 "hangup_unavailable" "The carrier of this call is no longer configured, so the call cannot be hung up here. Ask the operator.",
    PROVIDER_UNAVAILABLE = 503 "provider_unavailable" "The messaging channel's provider gave no clear answer in time. The message may still arrive and is never sent again.",
    INBOX_FULL = 503 "inbox_full" "Too many notifications of this account are queued. Send them again later.",
    UNAVAILABLE = 503 "unavailable" "The service cannot read or write its store now. Nothing was changed unless `error` says so; try again.",
}
