//! Request bodies, for every operation that has one.

use std::collections::HashMap;
use std::sync::LazyLock;

use api::operations::{self, Operation};
use api::schema::{Misfit, Schema, Unread, parse};
use domain::compliance::Pack;
use domain::conversation::Flow;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::draw::Draw;

/// Reads a checked body as its handler does.
type Read = fn(Value) -> Result<(), String>;

fn is<T: DeserializeOwned>(body: Value) -> Result<(), String> {
    serde_json::from_value::<T>(body).map(drop).map_err(|why| why.to_string())
}

/// The body of a call, whose variables and metadata have their own rules.
fn call(body: Value) -> Result<(), String> {
    let call: api::calls::NewCall = serde_json::from_value(body).map_err(|why| why.to_string())?;
    accepted(call.variables, &call.metadata);
    Ok(())
}

fn accepted(variables: Map<String, Value>, metadata: &Map<String, Value>) {
    if let Ok((kept, _)) = domain::call::accept(variables) {
        for value in kept.values() {
            assert!(
                value.as_str().is_none_or(|text| text.chars().count() <= 120),
                "a longer value than is allowed was kept"
            );
        }
        let (again, _) = domain::call::accept(kept.clone()).expect("what was accepted is accepted again");
        assert_eq!(again, kept);
    }
    let _ = domain::call::check_metadata(metadata);
}

/// The body of a flow, which is also read by the conversation's own rules.
fn flow(body: Value) -> Result<(), String> {
    let body: api::agents::FlowEdit = serde_json::from_value(body).map_err(|why| why.to_string())?;
    if let Ok(flow) = Flow::parse(&body.graph) {
        crate::flow::judged(&flow);
    }
    Ok(())
}

/// The body of a pack, which is read by the rules of compliance; writing and reading it again changes
/// nothing.
fn pack(body: Value) -> Result<(), String> {
    if let Ok(pack) = Pack::parse_custom("cpk_fuzz", &body) {
        let again = Pack::parse_custom("cpk_fuzz", &pack.to_json());
        assert_eq!(again.as_ref().map(Pack::to_json), Ok(pack.to_json()), "{body}");
    }
    Ok(())
}

/// The body of a batch, in which each contact is read as an upsert.
fn batch(body: Value) -> Result<(), String> {
    let upsert = &ROWS["upsertContact"].schema;
    for item in body["contacts"].as_array().ok_or("no contacts")? {
        let mut item = item.clone();
        if upsert.check(&mut item).is_ok() {
            is::<api::contacts::ContactChange>(item)?;
        }
    }
    Ok(())
}

fn has_word(body: &Value, name: &str) -> Result<(), String> {
    body[name].as_str().map(drop).ok_or_else(|| format!("{name} is no text"))
}

/// How the body of each operation is read.
const READS: &[(&str, Read)] = &[
    ("placeCall", call),
    ("scheduleCall", is::<api::scheduled_calls::NewScheduledCall>),
    ("createNudge", is::<api::nudges::NewNudge>),
    ("cancelNudges", is::<api::nudges::NudgeCancellation>),
    ("preflightNudge", is::<api::nudges::NudgePreflight>),
    ("createAgent", is::<api::agents::AgentSettings>),
    ("updateAgent", is::<api::agents::AgentSettings>),
    ("setAgentStatus", |body| has_word(&body, "status")),
    ("saveFlow", flow),
    ("publishFlow", is::<api::flow_versions::FlowPublication>),
    ("restoreFlowVersion", is::<api::flow_versions::FlowRestore>),
    ("setFlowPresence", is::<api::flow_versions::FlowPresence>),
    ("tryFlow", is::<api::flow_tries::NewFlowTry>),
    ("sendTryMessage", is::<api::flow_tries::NewTryMessage>),
    ("goBackInTry", is::<api::flow_tries::TryBack>),
    ("createTestLink", is::<api::test_links::NewTestLink>),
    ("sendTestMessage", is::<api::chats::NewChatMessage>),
    ("setInboundAgent", is::<api::numbers::InboundAgent>),
    ("upsertContact", is::<api::contacts::ContactChange>),
    ("upsertContacts", batch),
    ("updateContact", is::<api::contacts::ContactChange>),
    ("addDoNotCall", is::<api::do_not_call::NewDoNotCallNumbers>),
    ("createWebhook", is::<api::webhooks::NewWebhookEndpoint>),
    ("updateWebhook", is::<api::webhooks::WebhookEndpointChange>),
    ("testWebhook", |body| has_word(&body, "type")),
    ("replayFailedDeliveries", is::<api::webhooks::FailedReplay>),
    ("triggerEvent", |body| has_word(&body, "type")),
    ("createWorkspace", is::<api::operator::NewWorkspace>),
    ("updateWorkspace", is::<api::operator::WorkspaceChange>),
    ("createKey", is::<api::operator::NewApiKey>),
    ("rotateKey", is::<api::operator::RotateKey>),
    ("createWalletEntry", is::<api::operator::NewWalletEntry>),
    ("createNumber", |body| has_word(&body, "number")),
    ("updateNumber", is::<api::operator::NumberUpdate>),
    ("createTransferNumber", is::<api::transfer_numbers::NewTransferNumber>),
    ("createIntegration", is::<api::integrations::NewIntegration>),
    ("updateIntegration", is::<api::integrations::IntegrationChange>),
    ("createMember", is::<api::operator::NewMember>),
    ("addDnd", is::<api::dnd::NewDndNumbers>),
    ("addDndImportNumbers", is::<api::dnd::DndImportPiece>),
    ("createTool", is::<api::operator_agents::NewTool>),
    ("createCompliancePack", pack),
    ("acceptLog", is::<api::audit::AcceptLog>),
    ("createDataStream", is::<api::data_streams::NewDataStream>),
    ("updateDataStream", is::<api::data_streams::DataStreamChange>),
    ("createKnowledgeBase", is::<api::knowledge_bases::NewKnowledgeBase>),
    ("addKnowledgeText", is::<api::knowledge_bases::NewText>),
    ("addKnowledgeLink", is::<api::knowledge_files::NewKnowledgeLink>),
    ("attachStream", is::<api::data_streams::NewAttachment>),
    ("startConversation", is::<api::channel_conversations::NewConversation>),
    ("takeConversationOver", is::<api::channel_conversations::ConversationTakeover>),
    ("handConversationBack", is::<api::channel_conversations::ConversationHandback>),
    ("assignConversation", is::<api::channel_conversations::ConversationAssignment>),
    ("createChatLabel", is::<api::channel_conversations::NewChatLabel>),
    ("setChatLabels", is::<api::channel_conversations::ChatLabels>),
    ("openChatSession", is::<api::chats::NewChatSession>),
    ("sendChannelMessage", is::<api::channel_messages::NewChannelMessage>),
    ("putChannelConnection", is::<api::channel_accounts::NewChannelConnection>),
    ("bindChannelNumber", is::<api::channel_accounts::NewChannelNumber>),
    ("createChannelTemplate", is::<api::channel_templates::NewChannelTemplate>),
    ("updateChannelTemplate", is::<api::channel_templates::ChannelTemplateChange>),
    ("injectCustomerMessage", is::<api::dev::CustomerMessage>),
    // Its signature is checked before it is read; `channel_webhook` reads it.
    ("receiveChannelNotification", |_| Ok(())),
    ("sendChatMessage", is::<api::chats::NewChatMessage>),
    ("writeChatMessage", is::<api::chats::NewChatMessage>),
    ("reviewDocument", is::<api::documents::DocumentReview>),
    ("takeChatOver", is::<api::chats::ChatTakeover>),
    ("setInboxCeiling", is::<api::inbox::InboxCeiling>),
    ("setInboxAvailability", is::<api::inbox::InboxAvailability>),
    ("setInboxSettings", is::<api::inbox::InboxSettingsChange>),
    ("assignInboxChat", is::<api::inbox::InboxAssignee>),
    ("writeInboxMessage", is::<api::chats::NewTeammateMessage>),
    ("markInboxChatRead", is::<api::inbox::InboxRead>),
    ("createChatNote", is::<api::inbox::NewChatNote>),
    ("createSavedAnswer", is::<api::inbox::NewSavedAnswer>),
    ("updateSavedAnswer", is::<api::inbox::NewSavedAnswer>),
    ("setBusinessHours", is::<api::chats::BusinessHours>),
    ("createCampaign", is::<api::campaigns::NewCampaign>),
    ("updateCampaign", is::<api::campaigns::CampaignChange>),
    ("setCampaignStatus", is::<api::campaigns::CampaignStatusChange>),
    ("setCampaignContacts", is::<api::campaigns::NewCallingList>),
    ("addStagedRows", is::<api::campaigns::StagedListPiece>),
    ("editStagedRow", is::<api::campaigns::StagedListEdit>),
    ("applyStagedList", is::<api::campaigns::ApplyStagedList>),
    ("addListImportRows", is::<api::campaigns::ListImportPiece>),
    ("preflightNudges", is::<api::campaigns::NudgeBatchPreflight>),
    ("moveCampaignCard", is::<api::boards::CardMove>),
    ("moveAgentCard", is::<api::boards::CardMove>),
    ("undoCampaignCardMove", is::<api::boards::UndoCardMove>),
    ("undoAgentCardMove", is::<api::boards::UndoCardMove>),
    ("updateOwnWorkspace", is::<api::account::OwnWorkspaceChange>),
    ("updateBoard", is::<api::boards::BoardChange>),
    ("readNotifications", is::<api::bell::ReadNotifications>),
    ("setAgentEvaluation", is::<api::evaluations::NewAgentEvaluation>),
    ("tryEvaluation", is::<api::evaluations::EvaluationTrial>),
    ("setEvaluationMarks", is::<api::evaluations::NewEvaluationMarks>),
    ("previewEvaluationSweep", is::<api::evaluations::NewEvaluationSweep>),
    ("startEvaluationSweep", is::<api::evaluations::NewEvaluationSweep>),
    ("updateMember", is::<api::members::MemberChange>),
    ("inviteMember", is::<api::members::NewInvitation>),
    ("acceptInvitation", is::<api::members::AcceptInvitation>),
    ("useSignInLink", is::<api::members::UseSignInLink>),
    ("createSignInLink", is::<api::members::NewSignInLink>),
    ("signIn", is::<api::people::SignIn>),
    ("updateMe", is::<api::people::ProfileChange>),
    ("changePassword", is::<api::people::PasswordChange>),
    ("setClock", |_| Ok(())),
];

struct Row {
    operation: &'static Operation,
    schema: Schema,
    /// The schema as JSON Schema, from which [`by_schema`] generates values.
    drawn_from: Value,
    read: Read,
}

static ROWS: LazyLock<HashMap<&'static str, Row>> = LazyLock::new(|| {
    let reads: HashMap<&str, Read> = READS.iter().copied().collect();
    let row = |operation: &'static Operation| {
        let schema = operation.body?();
        let read = reads
            .get(operation.id)
            .unwrap_or_else(|| panic!("{} takes a body and is not in READS", operation.id));
        Some((operation.id, Row { operation, drawn_from: schema.to_json(), schema, read: *read }))
    };
    // Those that a handler reads itself have a target of their own.
    operations::all().filter(|operation| !operation.body_raw).filter_map(row).collect()
});

/// The names in order, because a map has no fixed order.
static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names: Vec<&str> = ROWS.keys().copied().collect();
    names.sort_unstable();
    names
});

/// A JSON body behind the operation's name and a line feed.
///
/// A body that its schema accepts is accepted again without further change and can be read as its type. A
/// refusal names the field and what it must be. Reading by the schema gives the same as reading any JSON,
/// except for unknown fields and for ceilings.
pub fn text(data: &[u8]) {
    let Some(at) = data.iter().position(|byte| *byte == b'\n') else { return };
    let (name, body) = data.split_at(at);
    let Some(row) = std::str::from_utf8(name).ok().and_then(|name| ROWS.get(name)) else { return };
    read(row, &body[1..]);
}

/// A body generated from an operation's schema, mostly valid; asserts what [`text`] asserts.
pub fn by_schema(data: &[u8]) {
    let mut draw = Draw::new(data);
    let row = &ROWS[draw.of(&NAMES)];
    let body = value(&row.drawn_from, &mut draw, 0).to_string();
    read(row, body.as_bytes());
}

fn read(row: &Row, bytes: &[u8]) {
    let by_schema = parse(&row.schema, bytes);
    let mut any = serde_json::from_slice::<Value>(bytes).ok();
    let fits = any.as_mut().is_some_and(|any| row.schema.check(any).is_ok());
    let mut body = match by_schema {
        Ok(body) => body,
        Err(Unread::Malformed(why)) => {
            assert!(any.is_none(), "{}: JSON that is not read: {why}", row.operation.id);
            return;
        }
        Err(Unread::Misfit(misfit)) => return refused(&misfit),
    };
    assert!(values(&body) <= row.schema.most_values(), "{}: {} values", row.operation.id, values(&body));
    let outcome = row.schema.check(&mut body);
    if let Err(misfit) = &outcome {
        refused(misfit);
    }
    let Some(any) = any else { return };
    assert_eq!(
        outcome.is_ok(),
        fits,
        "{}: read by its schema and as any JSON: {outcome:?}",
        row.operation.id
    );
    if fits {
        assert!(is_within(&body, &any), "{}: {body} is not part of {any}", row.operation.id);
        checked(row, body);
    }
}

fn refused(misfit: &Misfit) {
    assert!(!misfit.must.is_empty());
    assert!(misfit.unknown.is_empty() || misfit.unknown.contains(&misfit.field));
    assert!(
        misfit.unknown.len() <= 100 && misfit.field.len() <= 4096 && misfit.must.len() <= 8192,
        "{misfit:?}"
    );
}

/// How many values a value contains, including itself.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Object(map) => map.values().map(values).sum(),
        _ => 0,
    }
}

/// Whether a value equals another one except that some fields of objects are missing.
fn is_within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|whole| is_within(value, whole)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(part, whole)| is_within(part, whole))
        }
        _ => part == whole,
    }
}

fn checked(row: &Row, body: Value) {
    let mut again = body.clone();
    assert_eq!(row.schema.check(&mut again), Ok(()), "{}: a checked body was refused", row.operation.id);
    assert_eq!(again, body, "{}: a checked body was changed again", row.operation.id);
    if let Err(why) = (row.read)(body) {
        panic!("{}: schema and type differ: {why}", row.operation.id);
    }
}

/// Texts that some rule examines.
const TEXTS: &[&str] = &[
    "",
    "a",
    "+919812345678",
    "09812345678",
    "agt_01h455vb4pex5vsknk084sn02q",
    "2026-11-23T09:30:00+05:30",
    "2026-11-23",
    "2026-11-23T04:00:00Z",
    "https://example.com/hook",
    "Asia/Kolkata",
    "en",
    "hi",
    "09:00",
    "24:00",
    "all",
    "calls:write",
    "call.ended",
    "INR",
    "{{name}}",
    "नमस्ते 🙂",
    "0",
    "-1",
    "\u{0}",
    "name@example.com",
];

/// Keys for objects with arbitrary keys.
const KEYS: &[&str] = &[
    "name",
    "a",
    "_x1",
    "1a",
    "",
    "नाम",
    "nodes",
    "id",
    "type",
    "__proto__",
    "key",
    "limits",
    "requestsPerMinute",
];

/// A value that fits the schema, occasionally one that does not.
fn value(shape: &Value, draw: &mut Draw<'_>, depth: usize) -> Value {
    if draw.one_in(24) {
        return any(draw, depth);
    }
    if let Some(choices) = shape["anyOf"].as_array() {
        return value(&choices[draw.below(choices.len())], draw, depth);
    }
    let kind = match &shape["type"] {
        Value::Array(kinds) => {
            if draw.one_in(4) {
                return Value::Null;
            }
            kinds[0].as_str().unwrap_or_default()
        }
        kind => kind.as_str().unwrap_or_default(),
    };
    match kind {
        "string" => string(shape, draw),
        "integer" => integer(shape, draw),
        "number" => json!(f64::from(draw.short()) / 16.0 - 100.0),
        "boolean" => json!(draw.byte() & 1 == 1),
        "array" => {
            let least = shape["minItems"].as_u64().unwrap_or(0);
            let many = least.min(8) + draw.below(3) as u64;
            (0..many).map(|_| value(&shape["items"], draw, depth + 1)).collect()
        }
        "object" => object(shape, draw, depth),
        _ => any(draw, depth),
    }
}

fn object(shape: &Value, draw: &mut Draw<'_>, depth: usize) -> Value {
    let mut fields = Map::new();
    let required = |name: &str| {
        shape["required"].as_array().is_some_and(|names| names.iter().any(|required| required == name))
    };
    for (name, shape) in shape["properties"].as_object().into_iter().flatten() {
        if (required(name) && !draw.one_in(40)) || draw.one_in(3) {
            fields.insert(name.clone(), value(shape, draw, depth + 1));
        }
    }
    if shape["additionalProperties"].is_object() || draw.one_in(16) {
        for _ in 0..draw.below(4) {
            let key = draw.of(KEYS).to_owned();
            fields.insert(key, value(&shape["additionalProperties"], draw, depth + 1));
        }
    }
    Value::Object(fields)
}

fn string(shape: &Value, draw: &mut Draw<'_>) -> Value {
    if let Some(words) = shape["enum"].as_array() {
        return words[draw.below(words.len())].clone();
    }
    let fitting = match shape["format"].as_str() {
        Some("date-time") => Some("2026-11-23T09:30:00+05:30"),
        Some("date") => Some("2026-11-23"),
        Some("uri") => Some("https://example.com/hook"),
        _ => None,
    };
    match (draw.below(4), fitting) {
        (0 | 1, Some(text)) => json!(text),
        (0..=2, _) => json!(draw.of(TEXTS)),
        _ => json!(draw.text()),
    }
}

fn integer(shape: &Value, draw: &mut Draw<'_>) -> Value {
    let least = shape["minimum"].as_i64().unwrap_or(i64::MIN);
    let most = shape["maximum"].as_i64().unwrap_or(i64::MAX);
    match draw.below(6) {
        0 => json!(least),
        1 => json!(most),
        2 => json!(least.saturating_sub(1)),
        3 => json!(most.saturating_add(1)),
        4 => json!(f64::from(draw.byte())),
        _ => json!(least.max(0).saturating_add(i64::from(draw.byte())).min(most)),
    }
}

/// Any JSON.
pub(crate) fn any(draw: &mut Draw<'_>, depth: usize) -> Value {
    let deep = depth > 8;
    match draw.below(if deep { 6 } else { 8 }) {
        0 => Value::Null,
        1 => json!(draw.byte() & 1 == 1),
        2 => json!(i64::from(draw.short()) - 100),
        3 => json!([0.5, -0.0, 1e300, 5.0][draw.below(4)]),
        4 => json!(draw.of(TEXTS)),
        5 => json!(draw.text()),
        6 => (0..draw.below(4)).map(|_| any(draw, depth + 1)).collect(),
        _ => (0..draw.below(4))
            .map(|_| (draw.of(KEYS).to_owned(), any(draw, depth + 1)))
            .collect::<Map<_, _>>()
            .into(),
    }
}
