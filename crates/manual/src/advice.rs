//! What to do about each error code. Beside its meaning in `api::error_codes`, which says what happened.

/// What a client, or the person behind it, does next.
pub fn of(code: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(each, _)| *each == code).map(|(_, text)| *text)
}

/// Codes, in the order of the table of errors, and what to do.
const ADVICE: &[(&str, &str)] = &[
    (
        "invalid_request",
        "Read `meta.field`: it is the path of the first wrong field, and `error` says what it must be. The same request fails again, so correct it before you send it; do not retry.",
    ),
    (
        "malformed_json",
        "Let a JSON library write the body instead of joining texts. From a shell, look at quotes: `-d '{…}'` in single quotes, or `-d @file.json`.",
    ),
    (
        "unknown_field",
        "Most operations ignore fields that they do not know; nudges and the start of a conversation refuse them, because a misspelt `expiresAt` would call somebody too late. Compare `meta.fields` with the body in the reference.",
    ),
    (
        "invalid_cursor",
        "Pass back `nextCursor` exactly as it came, to the same operation with the same filters. A cursor of another list, or one that was cut, begins nowhere: read from the first page.",
    ),
    (
        "invalid_idempotency_key",
        "Make one key for each thing that you want to happen, such as the id of your order, and send it again only when you repeat the same request. [Idempotency and retries](/docs/guides/idempotency).",
    ),
    (
        "invalid_variables",
        "Look at the value under `meta.key`. Turn dates and lists into text before you send them, and keep within the limits of the operation.",
    ),
    (
        "from_number_not_owned",
        "Leave `fromNumber` out: the first active number is used. Or list the numbers with `GET /v1/numbers`; numbers are assigned by the operator.",
    ),
    (
        "no_phone_number",
        "A live call must show a number of the workspace, and it has none. Until the operator assigns one, use a test key, which needs none.",
    ),
    (
        "knowledge_base_not_found",
        "The base may have been deleted, or belong to another workspace. Send null for an agent that answers without one.",
    ),
    (
        "vertical_not_allowed",
        "Regulated verticals carry rules about calling hours and disclosure, which chats do not have. Create the chat agent with `general`.",
    ),
    (
        "agent_not_published",
        "Publish the agent with `POST /v1/agents/{id}/status` and `{\"status\": \"active\"}`. If that is refused, `meta.issues` says what its flow lacks.",
    ),
    (
        "agent_not_call",
        "Choose an agent whose `channel` is `call`. The channel of an agent is fixed when it is created.",
    ),
    (
        "agent_not_inbound",
        "Choose an agent whose `direction` is `inbound`, or create one: an outbound agent is written to begin a call, not to answer one.",
    ),
    (
        "scheduled_at_in_past",
        "Check the clock of the machine that sends, and the time zone of the text: every time needs `Z` or an offset.",
    ),
    (
        "scheduled_at_too_far",
        "Keep the date in your own system and schedule the call when it is less than 30 days ahead, or put the person on the list of a campaign.",
    ),
    (
        "invalid_webhook_url",
        "Use a public address with `https`. For a laptop, receive events with `dastak listen` instead of an endpoint; `dastak dev` accepts `http` and loopback addresses.",
    ),
    (
        "template_not_found",
        "Run `POST /v1/chatapp/templates/sync` if the template was made at the provider a moment ago, and compare name and language: `en` and `en_US` are different.",
    ),
    ("channel_not_supported", "Leave `channel` out for a campaign of calls."),
    (
        "missing_required_variables",
        "Send each name of `meta.missing` with a value that is not blank. To make a variable optional, give it a default in the agent's flow.",
    ),
    (
        "phone_immutable",
        "A number identifies a person, so it is never exchanged on a record. Create a contact for the new number; if the person asked for it, erase the old one.",
    ),
    (
        "no_valid_numbers",
        "Send numbers of Indian subscribers, in any usual notation: `+91 98123 45678`, `09812345678`. The answer of a valid request lists the invalid ones.",
    ),
    (
        "column_not_on_board",
        "Read the board again: columns can be renamed and removed while a page shows the old ones.",
    ),
    (
        "assignee_not_allowed",
        "The teammate must be an owner, an admin or an editor. Choose one of `GET /v1/chatapp/assignees`.",
    ),
    (
        "unauthorized",
        "Send `Authorization: Bearer KEY` and check that the whole key was copied and that it is one of this service. An expired key and a revoked one look the same; after twenty wrong keys in a minute the address has to wait for a minute.",
    ),
    (
        "insufficient_balance",
        "Read `GET /v1/wallet`, have the operator add money, and send the request again. Nudges and scheduled calls wait by themselves; subscribe to `wallet.low` to be told before it happens.",
    ),
    (
        "chat_not_enabled",
        "Choose an agent whose `channel` is `chat`. One agent does not do both: create a second one with the same prompt.",
    ),
    (
        "agent_offline",
        "Offer your customer another way now, and open the chat within the hours that the operator set for the agent.",
    ),
    (
        "sign_in_failed",
        "Type the password again, or ask the operator for a sign-in link. After several failures the address has to wait.",
    ),
    ("invitation_invalid", "An invitation works once. Ask the admin who sent it for another one."),
    (
        "sign_in_link_invalid",
        "A link works once, within 15 minutes. Ask the operator for another one, and open it in the browser that you want to sign in with.",
    ),
    (
        "openid_refused",
        "Read `error`: mostly the e-mail address of the identity provider is not that of a member. Ask an admin to invite that address.",
    ),
    (
        "password_wrong",
        "Type the present password again. If nobody knows it, the operator can make a sign-in link, which lets you choose another one.",
    ),
    (
        "api_scope_missing",
        "`meta.scope` names the scope. The scopes of a key are fixed, so the operator makes a new key that has it; [scopes](/docs/scopes) lists what each allows.",
    ),
    (
        "workspace_suspended",
        "Nothing that you send differently helps. Ask the operator why the workspace is suspended.",
    ),
    (
        "role_missing",
        "Ask one of the people in `meta.admins`: they can do it, or give you the role in `meta.role`.",
    ),
    (
        "cross_site",
        "Requests with a session belong to the console in the browser. A program uses an API key.",
    ),
    (
        "kyb_required",
        "The operator verifies a workspace before it may call real people. Meanwhile a test key does everything but ring a phone.",
    ),
    (
        "test_mode_read_only",
        "Agents, contacts, campaigns and settings are shared by both modes, so a test key only reads them. Set them up with a live key and try them with a test key.",
    ),
    ("plan_feature_locked", "The operator switches features on for a workspace. Nothing was changed."),
    (
        "feature_disabled",
        "The operator switches features on for a workspace. Chats that are open go on while the feature is off.",
    ),
    (
        "chatapp_disabled",
        "The operator switches the messaging channel on for a workspace. What is queued is sent afterwards.",
    ),
    (
        "contact_opted_out",
        "Remove the person from your list of recipients. Only the operator can lift an opt-out, when the person has asked for it.",
    ),
    (
        "opt_in_required",
        "Ask for consent in your own product and record it with `optIn` of the message, or send a utility template: those need no opt-in.",
    ),
    (
        "link_invalid",
        "Read the call again and follow the new link within five minutes. Do not store links; store the id of the call.",
    ),
    (
        "chatapp_agents_off",
        "The operator switches agents on the messaging channel on for a workspace. Teammates can still write in the inbox.",
    ),
    (
        "not_found",
        "Look at the mode: what a test key made is invisible to live keys and the other way round. Otherwise the id belongs to another workspace, or the object was deleted.",
    ),
    (
        "agent_unavailable",
        "Publish the agent with `POST /v1/agents/{id}/status`, or use an id of `GET /v1/agents?status=active`.",
    ),
    (
        "agent_not_found",
        "Use an id of `GET /v1/agents`. Agents belong to one workspace, which your key decides.",
    ),
    (
        "method_not_allowed",
        "Compare method and path with the reference. `Allow` in the answer lists the methods that the path has.",
    ),
    (
        "request_timeout",
        "A body has 30 seconds, and 10 for its next piece. On a slow line send smaller lists: a staged list takes them in pieces.",
    ),
    (
        "idempotency_in_progress",
        "Wait a second or two and send the same request with the same key: you get the answer of the first one.",
    ),
    (
        "phone_taken",
        "Update the contact in `meta.existingId` instead, or find out which of your two records is the right one.",
    ),
    (
        "opt_out_downgrade",
        "Leave `optOut` out of updates that are not about it. To lift an opt-out, the operator records that the person asked for it.",
    ),
    (
        "contact_has_history",
        "`POST /v1/contacts/{id}/erase` empties everything about the person and keeps the records that the law wants. It cannot be undone.",
    ),
    (
        "chatapp_not_connected",
        "The operator connects the account and binds a number; [the channel](/docs/guides/channel) says how. If there is one, its status at the provider is in `GET /v1/chatapp/numbers`.",
    ),
    (
        "window_closed",
        "Send an approved template: it may be sent at any time, and when the customer answers, the window is open again for 24 hours.",
    ),
    (
        "conflict",
        "Somebody or something changed the object first. Read it again, look at its status, and decide whether the request still makes sense.",
    ),
    (
        "brain_unavailable",
        "`meta` says what is missing: `nodeId` needs a language model, which the operator configures; `missing` are variables; `issues` are tools that are gone.",
    ),
    (
        "stream_attached",
        "Add people with records of the stream. To replace the whole list, detach the stream first; who is on the list stays there.",
    ),
    ("campaign_launched", "Create another campaign with the new list or template, and end this one."),
    (
        "preflight_blocked",
        "Go through `meta.report.blockers`; each names what to change. `POST /v1/campaigns/{id}/preflight` tells the same without publishing.",
    ),
    (
        "chatapp_campaign",
        "Read `chatapp.stats` of the campaign instead. Runs, summaries and staged lists are for campaigns of calls.",
    ),
    ("campaign_limit", "Delete campaigns that nobody needs any more; the calls that they made are kept."),
    ("call_not_active", "Nothing is left to do: the call is over. `GET /v1/calls/{id}` says how it ended."),
    (
        "agent_uses_flow",
        "The prompt is a step of the flow now. Read the flow, change the `prompt` of that step, and save and publish it.",
    ),
    (
        "flow_conflict",
        "Somebody saved the flow after you read it. Read it again, apply your change to what is there, and save with its version.",
    ),
    (
        "agent_in_use",
        "Give the number or the campaign in `meta` another agent, or end the campaign. Then delete the agent.",
    ),
    (
        "scheduled_call_not_cancellable",
        "If it is being dialled or in progress, hang up its call with `POST /v1/calls/{id}/hangup`. Otherwise it is over already.",
    ),
    (
        "endpoint_limit",
        "One endpoint can receive every event. Delete those that nobody reads, and let one receiver pass events on.",
    ),
    (
        "stream_limit",
        "Delete streams that nothing sends to any more; people whom they brought stay on their lists.",
    ),
    (
        "knowledge_base_limit",
        "Put documents of one subject into one base, and delete bases that no agent uses (`agentCount` is 0).",
    ),
    (
        "knowledge_base_full",
        "Remove documents that are out of date, or split the subject into two bases for two agents.",
    ),
    (
        "stream_paused",
        "Keep the records and send them again once the stream is active: `PATCH /v1/data-streams/{id}` with `{\"status\": \"active\"}`. `lastError` says why it stopped.",
    ),
    (
        "delivery_redacted",
        "The person was erased, and what was about them with it. There is nothing to send; treat the delivery as done.",
    ),
    (
        "contact_erased",
        "Delete your own copy of the person, and drop the request. Create a new contact only if the person comes back.",
    ),
    (
        "nudge_in_flight",
        "One number has one live nudge, so that nobody is called twice for two reasons. Wait for `nudge.finished` of the nudge in `meta.nudgeId`, or cancel it.",
    ),
    (
        "nudge_not_cancellable",
        "If it is being dialled, hang up its call: `callId` of the nudge. If it is finished, nothing is left to cancel.",
    ),
    (
        "reply_in_progress",
        "Send one message at a time in a chat. Collect what the customer writes meanwhile, and send it as one message when the reply is there.",
    ),
    (
        "document_not_requested",
        "Upload when the last reply asked for a document. Otherwise send the file's content as text, or let a teammate take the chat.",
    ),
    (
        "session_ended",
        "Open another session. `endCause` of the old one says whether it was idle for too long.",
    ),
    (
        "active_session_exists",
        "Send with `onActiveSession: send_in_session`, or end the conversation in `meta.chatId` first.",
    ),
    (
        "agent_not_active",
        "Publish the agent with `POST /v1/agents/{id}/status` and `{\"status\": \"active\"}`.",
    ),
    (
        "agent_number_missing",
        "The operator binds a business number to the agent. Until then choose an agent that has one: `agentId` in `GET /v1/chatapp/numbers`.",
    ),
    ("agent_number_mismatch", "An agent writes from its own number only. Leave `from` out."),
    ("conversation_ended", "Start another conversation with `POST /v1/chatapp/conversations`."),
    ("held_by_teammate", "Let the teammate finish, or ask them to hand the conversation back in the inbox."),
    ("held_by_helpdesk", "The helpdesk hands it back with `POST /v1/chatapp/conversations/{id}/handback`."),
    (
        "payload_too_large",
        "Split the request: contacts and records go in batches of up to 500, a calling list in pieces of a staged list.",
    ),
    (
        "range_not_satisfiable",
        "Ask without `Range`, or begin below the length in `Content-Range` of the answer.",
    ),
    (
        "call_blocked",
        "`meta.blockReason` names the gate. Outside the hours, use a nudge or a scheduled call, which wait; for `dnd` and `opt_out` do not call this person; for `frequency_cap` wait for the next day. [Compliance in India](/docs/guides/compliance).",
    ),
    (
        "idempotency_key_reused",
        "Your program used one key for two things, or changed the body of a repeat. Make the key of what the request is about, and send repeats unchanged.",
    ),
    ("agent_not_outbound", "Choose an agent whose `direction` is `outbound`."),
    (
        "phone_number_required",
        "Name the sender in `chatapp.phoneNumberId`, an id of `GET /v1/chatapp/numbers`, or let the operator make one number the default.",
    ),
    (
        "chatapp_config_unexpected",
        "Leave `chatapp` out of a campaign of calls, or create the campaign with `\"channel\": \"chatapp\"`.",
    ),
    (
        "provider_refused",
        "`meta.error` is what the provider said; its code is explained in [the channel](/docs/contract/channel#provider-errors). A repeat is refused as well.",
    ),
    (
        "template_unavailable",
        "Wait until the provider has approved the template (`chatapp.template.updated` tells you), or send another one.",
    ),
    (
        "template_params_invalid",
        "Go through `meta.issues`: each names a field and whether its value is missing, extra, too long or not allowed.",
    ),
    (
        "invalid_number",
        "Write the number with its country code: `+91 98123 45678`. Ten digits alone could be of any country.",
    ),
    (
        "invalid_opt_in",
        "Send the moment at which the person agreed, with a time zone. If your clock runs ahead, correct it.",
    ),
    (
        "dlt_required",
        "Have the operator enter the entity id of the workspace, and send the template id in `dltTemplateRef`. Both come from your registration with a telecom operator.",
    ),
    (
        "flow_not_ready",
        "`meta.issues` lists each node and what is wrong with it. Correct the flow, publish it, and send the request again.",
    ),
    (
        "workflow_template_invalid",
        "Use `prompt-driven`, which fits every vertical, or a template of the agent's vertical.",
    ),
    (
        "compliance_pack_invalid",
        "Choose a pack whose family is that of the vertical: `collections@2026`, `lending@2026`, `financial-services@2026`, or a custom pack of the workspace.",
    ),
    ("agent_not_chatapp", "Choose an agent whose `channel` is `chat`."),
    (
        "agent_locked",
        "The operator locks agents that were reviewed. Ask for it to be unlocked, or create another agent.",
    ),
    (
        "document_unreadable",
        "Open the file yourself: is it protected by a password, or a scan without text? Save it again, or run text recognition over it first.",
    ),
    ("document_unsupported", "Convert it to PDF, Word, HTML, Markdown, CSV or plain text."),
    (
        "document_too_large",
        "Split the document at its chapters; each part is found by itself. `meta.limit` says which limit it is.",
    ),
    (
        "link_not_fetched",
        "Open the address in a browser without signing in. `meta.reason` says what went wrong; a page that needs a password can be added as text instead.",
    ),
    (
        "invalid_schedule",
        "Read `error`. A nudge lives for 72 hours at most and 24 without `expiresAt`, and `scheduledAt` must be before its end.",
    ),
    (
        "outside_calling_window",
        "Send `outsideWindow: queue` and the nudge waits for the next opening, or send it again at `meta.nextWindowAt`.",
    ),
    (
        "pending_limit",
        "Let the waiting nudges be dialled first, or cancel those that are out of date with `POST /v1/nudges/cancel`. For large lists use a campaign.",
    ),
    (
        "concurrency_limit",
        "Wait the seconds of `Retry-After`. Nudges, scheduled calls and campaigns wait for lines by themselves; prefer them to a loop around `POST /v1/calls`.",
    ),
    (
        "tier_limit_reached",
        "Wait the seconds of `Retry-After`: the provider limits to how many people an account writes first in 24 hours, and raises the limit with good quality.",
    ),
    (
        "rate_limited",
        "Wait the seconds of `Retry-After`, then go on more slowly: `X-RateLimit-Remaining` of each answer says how much is left of the minute.",
    ),
    (
        "internal_error",
        "Send the request again once, with the same `Idempotency-Key`. If it fails again, give the operator the `requestId`: the cause is in the log under it.",
    ),
    (
        "call_not_placed",
        "Nobody was called, so you may send the request again, also with the same `Idempotency-Key`. If it repeats, the operator looks at the trunk with `dastak doctor`.",
    ),
    (
        "possibly_placed",
        "Do not call again: the person's phone may have rung. The call is in the list with what is known of it, and events follow if it was answered.",
    ),
    ("hangup_failed", "Send the hang-up again; it changes nothing once the call is over."),
    ("reply_failed", "Send the message again. After the third failure in a row a person gets the chat."),
    (
        "delivery_failed",
        "`meta.error` has the provider's code: [the table](/docs/contract/channel#provider-errors) says what follows from it. The message is kept as `failed`; do not send it again unchanged.",
    ),
    (
        "recipient_unsupported",
        "Send it to the customer's phone number, or send a kind of content that a customer's id can receive, such as text.",
    ),
    (
        "voice_unavailable",
        "Nothing in the request is wrong. The operator configures a trunk and speech ([going live](/docs/guides/going-live)); a test key works without both.",
    ),
    (
        "hangup_unavailable",
        "The call's carrier was removed from the settings while it went on. Ask the operator; the call ends at its longest duration at the latest.",
    ),
    (
        "provider_unavailable",
        "Do not send the message again: it may have arrived. Its status follows with `message.delivered` or `message.failed`, and `GET /v1/chatapp/messages/{id}` shows it.",
    ),
    (
        "inbox_full",
        "This is for the provider, who sends the notification again by itself. If it goes on for long, the operator looks at the node's load.",
    ),
    (
        "unavailable",
        "Wait a few seconds, and send the request again with the same `Idempotency-Key`. Nothing was stored unless `error` says so.",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use api::error_codes::ALL;

    use super::*;

    #[test]
    fn every_code_has_advice() {
        let codes: HashSet<&str> = ALL.iter().map(|error| error.code).collect();
        let known: HashSet<&str> = ADVICE.iter().map(|(code, _)| *code).collect();
        let without: Vec<_> = codes.difference(&known).collect();
        assert!(without.is_empty(), "no row of ADVICE for {without:?}");
        let unknown: Vec<_> = known.difference(&codes).collect();
        assert!(unknown.is_empty(), "no such codes: {unknown:?}");
        assert_eq!(known.len(), ADVICE.len(), "a code has two rows");
        for (code, text) in ADVICE {
            assert!(text.len() > 40 && text.ends_with('.'), "{code}: {text}");
        }
    }
}
