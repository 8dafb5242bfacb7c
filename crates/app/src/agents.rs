//! Agents: their settings, publishing, locks, and whether one can place calls (docs/contract/agents.md).

use std::collections::{BTreeMap, BTreeSet};

use api::agents::{
    Agent as AgentSummary, AgentDetail, AgentModels, AgentSettings, KnownModels, LANGUAGES, Pronunciation,
};
use api::error_codes::{
    AGENT_IN_USE, AGENT_LOCKED, AGENT_NOT_CALL, AGENT_NOT_OUTBOUND, AGENT_NOT_PUBLISHED, AGENT_USES_FLOW,
    COMPLIANCE_PACK_INVALID, KNOWLEDGE_BASE_NOT_FOUND, VERTICAL_NOT_ALLOWED, WORKFLOW_TEMPLATE_INVALID,
};
use domain::actor::Actor;
use domain::agent::{Channel, Status};
use domain::call::Direction;
use domain::compliance::{Communication, GuardRefusal, Vertical, WorkflowTemplate, guard};
use domain::ids::{Agent, Id};
use domain::phone::Phone;
use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::topic::Topic;
use serde_json::{Value, json};
use store::agents::{self, AgentListing, AgentRow};
use store::{TenantTx, knowledge, numbers};

use super::operator_log::{self, Trace};
use super::{App, Failure, access, actions, changes, compliance_packs, tools, voices};

use super::flow_versions::{self, Publication};
use super::published_flows::OwnFlow;
pub use super::published_flows::{flow_readiness, published_flow, required_variables};

/// The languages of an agent, its own first.
pub fn languages_of(row: &AgentRow) -> Vec<String> {
    let listed = row.languages.as_array().into_iter().flatten().filter_map(Value::as_str);
    let others = listed.filter(|language| *language != row.language);
    std::iter::once(row.language.as_str()).chain(others).map(str::to_owned).collect()
}

fn view(row: AgentRow) -> AgentDetail {
    let redact = redacts(&row);
    let languages = languages_of(&row);
    AgentDetail {
        languages,
        voices: row.voices,
        models: row.models,
        summary: AgentSummary {
            id: row.id,
            name: row.name,
            voice: row.voice,
            language: row.language,
            status: row.status,
            channel: row.channel,
            direction: row.direction,
        },
        system_prompt: row.system_prompt,
        workflow_template: row.workflow_template,
        vertical: row.vertical,
        policy_ref: row.policy_ref,
        communication: row.communication,
        allowed_transfer_numbers: row.allowed_transfer_numbers,
        extraction_schema: row.extraction_schema,
        knowledge_base_id: row.knowledge_base,
        tool_ids: row.tool_ids,
        speakable: row.speakable,
        pronunciations: row.pronunciations,
        call_reason: row.call_reason,
        redact,
    }
}

/// Whether what must not be kept is taken out of an agent's conversations: as it says, else as its vertical has it
/// (docs/contract/agents.md#redaction). One with an unknown vertical is redacted.
pub fn redacts(row: &AgentRow) -> bool {
    row.redact.unwrap_or_else(|| Vertical::parse(&row.vertical).is_none_or(Vertical::is_regulated))
}

/// The agent of this id.
///
/// # Errors
/// 404.
pub fn find(tx: &mut TenantTx, id: Id<Agent>) -> Result<AgentRow, Failure> {
    agents::get(tx, id)?.ok_or_else(|| Failure::not_found("agent"))
}

/// The agent of this id, locked until the transaction ends.
///
/// # Errors
/// 404.
pub fn find_for_update(tx: &mut TenantTx, id: Id<Agent>) -> Result<AgentRow, Failure> {
    agents::get_for_update(tx, id)?.ok_or_else(|| Failure::not_found("agent"))
}

/// The agent of this id, locked for a change through the API.
///
/// # Errors
/// 404, then 423 while it is locked.
pub fn find_writable(tx: &mut TenantTx, id: Id<Agent>) -> Result<AgentRow, Failure> {
    let row = find_for_update(tx, id)?;
    if row.locked { Err(Failure::plain(AGENT_LOCKED)) } else { Ok(row) }
}

/// Whether an agent can place calls: published, a call agent, outbound. The order is that of
/// docs/contract/agents.md#who-may-call-and-answer.
///
/// # Errors
/// 422 `agent_not_published`, `agent_not_call` or `agent_not_outbound`.
pub fn check_outbound(row: &AgentRow) -> Result<(), Failure> {
    if row.status != Status::Active {
        return Err(Failure::plain(AGENT_NOT_PUBLISHED));
    }
    if row.channel != Channel::Call {
        return Err(Failure::plain(AGENT_NOT_CALL));
    }
    if row.direction != Direction::Outbound {
        return Err(Failure::plain(AGENT_NOT_OUTBOUND));
    }
    Ok(())
}

/// All agents of a workspace, newest first.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<AgentSummary>, Failure> {
    let view = |line: AgentListing| AgentSummary {
        id: line.id,
        name: line.name,
        voice: line.voice,
        language: line.language,
        status: line.status,
        channel: line.channel,
        direction: line.direction,
    };
    Ok(app.of(tenant).read(agents::list).await?.into_iter().map(view).collect())
}

pub async fn get(app: &App, tenant: Tenant, id: Id<Agent>) -> Result<AgentDetail, Failure> {
    app.of(tenant).read(move |tx| find(tx, id)).await.map(view)
}

/// An agent before its settings are known.
fn blank(id: Id<Agent>, now: Timestamp, channel: Channel, direction: Direction) -> AgentRow {
    AgentRow {
        id,
        name: String::new(),
        voice: String::new(),
        language: String::new(),
        languages: json!([]),
        voices: json!({}),
        models: json!({}),
        speakable: true,
        pronunciations: json!([]),
        call_reason: String::new(),
        redact: None,
        status: Status::Draft,
        channel,
        direction,
        system_prompt: String::new(),
        workflow_template: String::new(),
        vertical: String::new(),
        policy_ref: String::new(),
        communication: Communication::Service,
        tool_ids: json!([]),
        allowed_transfer_numbers: json!([]),
        extraction_schema: json!([]),
        knowledge_base: None,
        locked: false,
        flow_edited: false,
        draft_version: 1,
        draft_flow: String::new(),
        published_flow: String::new(),
        published_version: 1,
        created_at: now,
        updated_at: now,
    }
}

/// The flow of an agent with these settings, made outside of a transaction. Inside, it is made again if they have
/// changed.
fn own_flow(row: &AgentRow, body: &AgentSettings) -> Result<OwnFlow, Failure> {
    let mut wanted = row.clone();
    if let Some(prompt) = &body.system_prompt {
        wanted.system_prompt.clone_from(prompt);
    }
    if let Some(ids) = &body.tool_ids {
        wanted.tool_ids = json!(each_once(ids));
    }
    if let Some(knowledge_base) = &body.knowledge_base_id {
        wanted.knowledge_base.clone_from(knowledge_base);
    }
    OwnFlow::of(&wanted)
}

fn each_once(ids: &[String]) -> Vec<&String> {
    let mut seen = BTreeSet::new();
    ids.iter().filter(|id| seen.insert(*id)).collect()
}

/// Creates an agent as a draft; its one-step flow is published at once. `body` has its defaults.
pub async fn create(
    app: &App,
    tenant: Tenant,
    by: Actor,
    body: AgentSettings,
) -> Result<AgentDetail, Failure> {
    let context = app.context();
    let channel = body.channel.unwrap_or_default();
    let direction = match (channel, body.direction) {
        (Channel::Chat, Some(Direction::Outbound)) => {
            return Err(Failure::field("direction", "must be inbound for a chat agent"));
        }
        (Channel::Chat, _) => Direction::Inbound,
        (Channel::Call, given) => given.unwrap_or(Direction::Outbound),
    };
    let empty = blank(context.ids.make(), context.now, channel, direction);
    let (known, own) = (Known::of(app), own_flow(&empty, &body)?);
    app.of(tenant)
        .tx(move |tx| {
            let mut row = empty.clone();
            apply(tx, &mut row, &body, &known)?;
            let own = if own.fits(&row) { own.clone() } else { OwnFlow::of(&row)? };
            row.draft_flow = own.store(tx, &context, row.id)?;
            row.published_flow.clone_from(&row.draft_flow);
            agents::insert(tx, &row)?;
            let publication = Publication { by, note: None, now: context.now };
            flow_versions::publish(tx, &row, own.graph(), &publication)?;
            actions::about(tx, row.id);
            let made = view(row);
            actions::changed(tx, &(), &made);
            Ok(made)
        })
        .await
}

/// Updates the fields of the body. An agent whose flow nobody edited gets a new one-step flow, published at once, when
/// its prompt, tools or knowledge base change.
pub async fn update(
    app: &App,
    tenant: Tenant,
    id: Id<Agent>,
    by: Actor,
    body: AgentSettings,
) -> Result<AgentDetail, Failure> {
    let (context, providers) = (app.context(), Known::of(app));
    let known = app.of(tenant).read(move |tx| find(tx, id)).await?;
    let own = own_flow(&known, &body)?;
    app.of(tenant)
        .tx(move |tx| {
            let before = find_writable(tx, id)?;
            for (field, given, fixed) in [
                ("channel", body.channel.map(Channel::as_str), before.channel.as_str()),
                ("direction", body.direction.map(Direction::as_str), before.direction.as_str()),
            ] {
                if given.is_some_and(|given| given != fixed) {
                    return Err(Failure::field(
                        field,
                        format!("cannot change once the agent is created; it is {fixed}"),
                    ));
                }
            }
            let mut row = before.clone();
            apply(tx, &mut row, &body, &providers)?;
            if before.flow_edited && row.system_prompt != before.system_prompt {
                return Err(Failure::plain(AGENT_USES_FLOW));
            }
            row.updated_at = context.now;
            agents::update_settings(tx, &row)?;
            let own = if own.fits(&row) { own.clone() } else { OwnFlow::of(&row)? };
            if !before.flow_edited && !own.fits(&before) {
                flow_versions::keep_published(tx, &before)?;
                row.published_flow = own.store(tx, &context, id)?;
                row.published_version += 1;
                agents::replace_flow(tx, id, &row.published_flow)?;
                let publication = Publication { by, note: None, now: context.now };
                flow_versions::publish(tx, &row, own.graph(), &publication)?;
            }
            let changed = view(row);
            actions::changed(tx, &view(before), &changed);
            Ok(changed)
        })
        .await
}

/// What the installation has, by which settings are checked.
struct Known {
    voices: Vec<String>,
    models: KnownModels,
}

impl Known {
    fn of(app: &App) -> Self {
        Self { voices: voices::ids(app), models: voices::models(app) }
    }
}

/// The languages that the customer is followed into, each once.
fn read_languages(given: &[String]) -> Result<Vec<&String>, Failure> {
    for (index, code) in given.iter().enumerate() {
        if given[..index].contains(code) {
            return Err(Failure::field(&format!("languages[{index}]"), format!("is listed twice: {code}")));
        }
    }
    Ok(given.iter().collect())
}

/// Voices by language. An empty one is left out: the agent's `voice` speaks that language.
fn read_voices(
    given: &BTreeMap<String, String>,
    known: &[String],
) -> Result<BTreeMap<String, String>, Failure> {
    for (language, voice) in given {
        let field = format!("voices.{language}");
        if !LANGUAGES.iter().any(|(code, _)| code == language) {
            return Err(Failure::field(&field, "is not a language that agents speak"));
        }
        if !voice.is_empty() && !known.contains(voice) {
            return Err(Failure::field(
                &field,
                "must be an id of GET /v1/voices, or empty for the agent's voice",
            ));
        }
    }
    Ok(given.iter().filter(|(_, voice)| !voice.is_empty()).map(|(at, of)| (at.clone(), of.clone())).collect())
}

/// Providers that the installation has.
fn read_models<'a>(given: &'a AgentModels, known: &KnownModels) -> Result<&'a AgentModels, Failure> {
    for (field, named, list) in [
        ("recogniser", &given.recogniser, &known.recognisers),
        ("synthesiser", &given.synthesiser, &known.synthesisers),
        ("languageModel", &given.language_model, &known.language_models),
    ] {
        if named.as_ref().is_some_and(|name| !list.contains(name)) {
            let allowed = if list.is_empty() { "there is none".to_owned() } else { list.join(", ") };
            return Err(Failure::field(&format!("models.{field}"), format!("must be one of: {allowed}")));
        }
    }
    Ok(given)
}

/// Writes the given settings into the row, after checking each.
fn apply(tx: &mut TenantTx, row: &mut AgentRow, body: &AgentSettings, known: &Known) -> Result<(), Failure> {
    fn set(field: &mut String, given: &Option<String>) {
        if let Some(given) = given {
            field.clone_from(given);
        }
    }
    set(&mut row.name, &body.name);
    set(&mut row.system_prompt, &body.system_prompt);
    set(&mut row.voice, &body.voice);
    set(&mut row.language, &body.language);
    set(&mut row.workflow_template, &body.workflow_template);
    set(&mut row.vertical, &body.vertical);
    set(&mut row.policy_ref, &body.policy_ref);
    if body
        .voice
        .as_deref()
        .is_some_and(|voice| !voice.is_empty() && !known.voices.iter().any(|known| known == voice))
    {
        return Err(Failure::field(
            "voice",
            "must be an id of GET /v1/voices, or empty for the default voice",
        ));
    }
    if let Some(given) = &body.languages {
        row.languages = json!(read_languages(given)?);
    }
    if let Some(given) = &body.voices {
        row.voices = json!(read_voices(given, &known.voices)?);
    }
    if let Some(given) = &body.models {
        row.models = json!(read_models(given, &known.models)?);
    }
    if let Some(given) = &body.allowed_transfer_numbers {
        row.allowed_transfer_numbers = json!(read_transfer_numbers(given)?);
    }
    if let Some(given) = &body.extraction_schema {
        let repeated = given
            .iter()
            .enumerate()
            .find(|(index, item)| given[..*index].iter().any(|earlier| earlier.key == item.key));
        if let Some((index, item)) = repeated {
            return Err(Failure::field(
                &format!("extractionSchema[{index}].key"),
                format!("must be unique; {} is used twice", item.key),
            ));
        }
        row.extraction_schema = json!(given);
    }
    row.communication = body.communication.unwrap_or(row.communication);
    if let Some(given) = body.speakable {
        row.speakable = given;
    }
    if let Some(given) = &body.pronunciations {
        row.pronunciations = json!(read_pronunciations(given)?);
    }
    if let Some(given) = &body.call_reason {
        if given.chars().any(char::is_control) {
            return Err(Failure::field("callReason", "must be in one line"));
        }
        given.trim().clone_into(&mut row.call_reason);
    }
    row.redact = body.redact.or(row.redact);
    if let Some(given) = &body.tool_ids {
        row.tool_ids = json!(read_tool_ids(tx, given)?);
    }
    if let Some(given) = &body.knowledge_base_id {
        if let Some(id) = given
            && !knowledge_base_exists(tx, id)?
        {
            return Err(
                Failure::plain(KNOWLEDGE_BASE_NOT_FOUND).with_meta(json!({"field": "knowledgeBaseId"}))
            );
        }
        row.knowledge_base.clone_from(given);
    }
    if body.policy_ref.is_some() && compliance_packs::resolve(tx, &row.policy_ref)?.is_none() {
        return Err(Failure::field(
            "policyRef",
            "must be a built-in compliance pack or one of the workspace",
        ));
    }
    if body.vertical.is_some() || body.workflow_template.is_some() || body.policy_ref.is_some() {
        check_compliance(tx, row)?;
    }
    Ok(())
}

/// Transfer numbers in their stored form: `+91…`, each once.
fn read_transfer_numbers(given: &[String]) -> Result<Vec<String>, Failure> {
    let mut numbers = Vec::with_capacity(given.len());
    for (index, text) in given.iter().enumerate() {
        let field = || format!("allowedTransferNumbers[{index}]");
        let number = Phone::normalize(text)
            .map_err(|_| Failure::field(&field(), "must be an Indian (+91) number"))?
            .to_string();
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    Ok(numbers)
}

/// Pronunciations without spaces around them.
fn read_pronunciations(given: &[Pronunciation]) -> Result<Vec<Pronunciation>, Failure> {
    let (mut list, mut known) = (Vec::with_capacity(given.len()), BTreeSet::new());
    for (index, one) in given.iter().enumerate() {
        let (written, spoken) = (one.written.trim(), one.spoken.trim());
        for (field, text) in [("written", written), ("spoken", spoken)] {
            if text.is_empty() || text.chars().any(char::is_control) {
                let field = format!("pronunciations[{index}].{field}");
                return Err(Failure::field(&field, "must be one line with at least one letter or digit"));
            }
        }
        if !known.insert(written.to_lowercase()) {
            let field = format!("pronunciations[{index}].written");
            return Err(Failure::field(&field, format!("must be unique; {written} is listed twice")));
        }
        list.push(Pronunciation { written: written.to_owned(), spoken: spoken.to_owned() });
    }
    Ok(list)
}

/// Ids of tools that exist, each once.
fn read_tool_ids(tx: &mut TenantTx, given: &[String]) -> Result<Vec<String>, Failure> {
    let known = if given.is_empty() { Default::default() } else { tools::ids(tx)? };
    let mut ids: Vec<String> = Vec::with_capacity(given.len());
    for (index, id) in given.iter().enumerate() {
        if !known.contains(id) {
            return Err(Failure::field(&format!("toolIds[{index}]"), "must be an id of GET /v1/tools"));
        }
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
    Ok(ids)
}

/// Whether the workspace has this knowledge base. It is kept from being deleted until the transaction ends.
fn knowledge_base_exists(tx: &mut TenantTx, id: &str) -> Result<bool, Failure> {
    match id.parse() {
        Ok(id) => Ok(knowledge::keep(tx, id)?),
        Err(_) => Ok(false),
    }
}

/// The vertical guard and the compliance pack, when an agent is saved and again when it is published.
fn check_compliance(tx: &mut TenantTx, row: &AgentRow) -> Result<(), Failure> {
    let vertical = Vertical::parse(&row.vertical)
        .ok_or_else(|| Failure::internal(format!("{}: unknown vertical", row.id)))?;
    let template = WorkflowTemplate::parse(&row.workflow_template)
        .ok_or_else(|| Failure::internal(format!("{}: unknown template", row.id)))?;
    let pack = compliance_packs::resolve(tx, &row.policy_ref)?;
    guard(vertical, template, row.channel == Channel::Chat, pack.as_ref()).map_err(|refusal| {
        let (error, field) = match refusal {
            GuardRefusal::ChatAgent(_) => (VERTICAL_NOT_ALLOWED, "vertical"),
            GuardRefusal::Template(..) => (WORKFLOW_TEMPLATE_INVALID, "workflowTemplate"),
            GuardRefusal::UnknownPack | GuardRefusal::PackOfOtherFamily(_) => {
                (COMPLIANCE_PACK_INVALID, "policyRef")
            }
        };
        Failure::new(error, refusal.to_string()).with_meta(json!({"field": field}))
    })
}

/// Publishes (`active`) or unpublishes (`draft`) an agent. Publishing checks vertical, pack and flow again, since tools
/// may have been deleted.
pub async fn set_status(
    app: &App,
    tenant: Tenant,
    id: Id<Agent>,
    status: Status,
) -> Result<AgentDetail, Failure> {
    let now = app.clock.now();
    app.of(tenant)
        .tx(move |tx| {
            let mut row = find_writable(tx, id)?;
            if status == Status::Active {
                check_compliance(tx, &row)?;
                flow_readiness(tx, &row)?;
            }
            if row.status != status {
                agents::set_status(tx, id, status, now)?;
                actions::changed(
                    tx,
                    &json!({"status": row.status.as_str()}),
                    &json!({"status": status.as_str()}),
                );
                row.status = status;
            }
            Ok(view(row))
        })
        .await
}

/// Campaigns in an error.
const NAMED: i64 = 20;

/// The users of an agent, which block its deletion: campaigns that are not over, and the numbers that it answers, by
/// voice and on the messaging channel. The agent's row is locked by the caller, and everything that attaches an agent
/// to something locks it, too.
///
/// # Errors
/// 409 `agent_in_use`.
pub fn agent_in_use(tx: &mut TenantTx, id: Id<Agent>) -> Result<(), Failure> {
    let campaigns = store::campaigns::of_agent(tx, id, NAMED)?;
    if let Some(first) = campaigns.first() {
        let ids: Vec<_> = campaigns.iter().map(|campaign| campaign.id).collect();
        let message =
            format!("the campaign {} uses the agent; complete or delete the campaign first", first.id);
        return Err(Failure::new(AGENT_IN_USE, message).with_meta(json!({"campaignIds": ids})));
    }
    if let Some(number) = store::channel_accounts::number_of_agent(tx, id)? {
        let message = format!(
            "the agent answers messages to {}; bind another agent to the number first",
            number.number
        );
        return Err(Failure::new(AGENT_IN_USE, message).with_meta(json!({"numberIds": [number.id]})));
    }
    let answered = numbers::answered_by(tx, id)?;
    let Some(first) = answered.first() else { return Ok(()) };
    let ids: Vec<String> = answered.iter().map(|number| number.id.to_string()).collect();
    let message =
        format!("the agent answers calls to {}; choose another agent for the number first", first.number);
    Err(Failure::new(AGENT_IN_USE, message).with_meta(json!({"numberIds": ids})))
}

/// Deletes an unused agent.
pub async fn delete(app: &App, tenant: Tenant, id: Id<Agent>) -> Result<(), Failure> {
    let now = app.clock.now();
    app.of(tenant)
        .tx(move |tx| {
            let row = find_writable(tx, id)?;
            agent_in_use(tx, id)?;
            agents::delete(tx, id, now)?;
            actions::changed(tx, &view(row), &());
            Ok(())
        })
        .await
}

/// The operator locks or unlocks an agent against changes through the API.
pub async fn set_locked(
    app: &App,
    trace: Trace,
    tenant: Tenant,
    id: Id<Agent>,
    locked: bool,
) -> Result<(), Failure> {
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            if !agents::set_locked(tx, id, locked)? {
                return Err(Failure::not_found("agent"));
            }
            changes::note(tx, context.now, Topic::Agents, id)?;
            actions::changed(tx, &json!({"locked": !locked}), &json!({"locked": locked}));
            operator_log::append(tx, &context, &trace, Some(tenant), &id.to_string())?;
            Ok(())
        })
        .await
}
