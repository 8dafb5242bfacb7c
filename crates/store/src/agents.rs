//! Agents and their flows. A deleted agent is not found by any function here; its row stays, since calls
//! speak of it.

use const_format::formatcp;
use domain::agent::{Channel, Status};
use domain::call::Direction;
use domain::compliance::Communication;
use domain::ids::{Agent, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::topic::Topic;
use serde_json::Value as Json;

use crate::changes;
use crate::chats::FLOW_IS_FREE;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx};
use crate::{flow_tries, flow_versions, flow_visits, params, test_links};

row! {
    #[derive(Debug, Clone)]
    pub struct AgentRow in "agents" {
        id: Id<Agent>,
        name: String,
        /// Voice id, or empty for the default.
        voice: String,
        language: String,
        /// Further languages that the customer is followed into, a list.
        languages: Json,
        /// Voices by language, an object.
        voices: Json,
        /// The providers that its conversations prefer, an object.
        models: Json,
        /// Whether the voice is given numbers, dates and the like in words.
        speakable: bool,
        /// Words that are said in another way, a list of `{written, spoken}`.
        pronunciations: Json,
        /// Why it calls, said to assistants that screen calls; empty for none.
        call_reason: String,
        /// Whether what must not be kept is taken out of its conversations; `None`: as its vertical has it.
        redact: Option<bool>,
        /// Whether it is published.
        status: Status,
        /// Whether it speaks or writes.
        channel: Channel,
        direction: Direction,
        system_prompt: String,
        /// `collections`, `onboarding` or `prompt-driven`.
        workflow_template: String,
        vertical: String,
        policy_ref: String,
        /// The kind of commercial communication that its calls are.
        communication: Communication,
        /// Ids of tools, a list.
        tool_ids: Json,
        /// Numbers it may transfer to, a list.
        allowed_transfer_numbers: Json,
        /// What to extract, a list.
        extraction_schema: Json,
        knowledge_base: Option<String>,
        /// Whether API writes answer 423.
        locked: bool,
        /// Whether the flow was edited as a flow.
        flow_edited: bool,
        draft_version: i64,
        /// The flow being edited. An id of a flow never gets another graph.
        draft_flow: String,
        /// The flow that conversations run. Its graph is read only to run it or to show it.
        published_flow: String,
        /// Number of the published flow among the versions of the agent, from 1.
        published_version: i64,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
    insert with { workspace: Tenant }
}

const COLUMNS: &str = AgentRow::COLUMNS;

pub fn get(tx: &mut TenantTx, id: Id<Agent>) -> Result<Option<AgentRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from agents where workspace = ?1 and id = ?2 and deleted_at is null"),
        params![id],
    )
}

/// One agent, with a shared lock (FOR SHARE).
pub fn get_shared(tx: &mut TenantTx, id: Id<Agent>) -> Result<Option<AgentRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from agents where workspace = ?1 and id = ?2 and deleted_at is null /*pg for share*/"),
        params![id])
}

/// One agent, locked until the transaction ends.
pub fn get_for_update(tx: &mut TenantTx, id: Id<Agent>) -> Result<Option<AgentRow>, DbError> {
    tx.one(
        formatcp!("select {COLUMNS} from agents where workspace = ?1 and id = ?2 and deleted_at is null /*pg for update*/"),
        params![id])
}

row! {
    /// What a list of agents shows.
    #[derive(Debug, Clone)]
    pub struct AgentListing {
        id: Id<Agent>,
        name: String,
        /// Voice id, or empty for the default.
        voice: String,
        language: String,
        /// Whether it is published.
        status: Status,
        /// Whether it speaks or writes.
        channel: Channel,
        direction: Direction,
    }
}

/// All agents of a workspace, newest first.
pub fn list(tx: &mut TenantTx) -> Result<Vec<AgentListing>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from agents where workspace = ?1 and deleted_at is null order by id desc",
        AgentListing::COLUMNS
    );
    tx.all(SQL, &[])
}

pub fn insert(tx: &mut TenantTx, row: &AgentRow) -> Result<(), DbError> {
    changes::note(tx, row.created_at, None, Topic::Agents, Some(&row.id.to_string()))?;
    tx.exec(AgentRow::INSERT, &row.values()).map(|_| ())
}

/// Saves the settings of an agent: everything but channel, direction, status, lock and flow.
pub fn update_settings(tx: &mut TenantTx, row: &AgentRow) -> Result<(), DbError> {
    changes::note(tx, row.updated_at, None, Topic::Agents, Some(&row.id.to_string()))?;
    let (sql, values) = update!(
        "agents" of tenant set {
            name: &row.name,
            voice: &row.voice,
            language: &row.language,
            languages: &row.languages,
            voices: &row.voices,
            models: &row.models,
            speakable: row.speakable,
            pronunciations: &row.pronunciations,
            call_reason: &row.call_reason,
            redact: row.redact,
            system_prompt: &row.system_prompt,
            workflow_template: &row.workflow_template,
            vertical: &row.vertical,
            policy_ref: &row.policy_ref,
            communication: row.communication,
            tool_ids: &row.tool_ids,
            allowed_transfer_numbers: &row.allowed_transfer_numbers,
            extraction_schema: &row.extraction_schema,
            knowledge_base: row.knowledge_base.as_deref(),
            updated_at: row.updated_at,
        }
        where "id = ?2 and deleted_at is null", row.id
    );
    tx.exec(sql, &values).map(|_| ())
}

/// Publishes (`active`) or unpublishes (`draft`) an agent.
pub fn set_status(tx: &mut TenantTx, id: Id<Agent>, status: Status, now: Timestamp) -> Result<(), DbError> {
    changes::note(tx, now, None, Topic::Agents, Some(&id.to_string()))?;
    tx.exec(
        "update agents set status = ?3, updated_at = ?4 where workspace = ?1 and id = ?2 and deleted_at is null",
        params![id, status, now],
    )?;
    Ok(())
}

/// Locks or unlocks an agent; `false` without one.
pub fn set_locked(tx: &mut TenantTx, id: Id<Agent>, locked: bool) -> Result<bool, DbError> {
    let changed = tx.exec(
        "update agents set locked = ?3 where workspace = ?1 and id = ?2 and deleted_at is null",
        params![id, locked],
    )?;
    Ok(changed > 0)
}

/// Deletes an agent with its flows.
pub fn delete(tx: &mut TenantTx, id: Id<Agent>, now: Timestamp) -> Result<(), DbError> {
    changes::note(tx, now, None, Topic::Agents, Some(&id.to_string()))?;
    tx.exec(
        "update agents set deleted_at = ?3 where workspace = ?1 and id = ?2 and deleted_at is null",
        params![id, now],
    )?;
    flow_versions::forget(tx, id)?;
    flow_visits::forget(tx, id)?;
    flow_tries::forget(tx, id)?;
    test_links::forget(tx, id, None)?;
    tx.later(
        formatcp!("delete from flows where workspace = ?1 and agent = ?2 and {FLOW_IS_FREE}"),
        params![id],
    )
}

/// Adds a flow under a new id; `needs` is what a call needs of it, if it is published at once.
pub fn add_flow(
    tx: &mut TenantTx,
    agent: Id<Agent>,
    id: &str,
    graph: &str,
    needs: Option<&str>,
) -> Result<(), DbError> {
    tx.later(
        "insert into flows (workspace, id, agent, graph, bytes, needs) values (?1, ?2, ?3, ?4, ?5, ?6)",
        params![id, agent, graph, graph.len() as i64, needs],
    )
}

/// The graph of a flow, as JSON text.
pub fn graph(tx: &mut TenantTx, flow: &str) -> Result<Option<String>, DbError> {
    tx.one("select graph from flows where workspace = ?1 and id = ?2", params![flow])
}

/// What a call needs of a flow, as JSON text; `None` of one that was published before that was written down.
pub fn needs(tx: &mut TenantTx, flow: &str) -> Result<Option<String>, DbError> {
    Ok(tx.one("select needs from flows where workspace = ?1 and id = ?2", params![flow])?.flatten())
}

/// Writes down what a call needs of a flow.
pub fn set_needs(tx: &mut TenantTx, flow: &str, needs: &str) -> Result<(), DbError> {
    tx.later("update flows set needs = ?3 where workspace = ?1 and id = ?2", params![flow, needs])
}

/// Drops a flow that is neither draft nor published; a flow that a chat still uses is dropped with the chat.
pub fn drop_flow(tx: &mut TenantTx, flow: &str) -> Result<(), DbError> {
    tx.later(
        formatcp!("delete from flows where workspace = ?1 and id = ?2 and {FLOW_IS_FREE}"),
        params![flow],
    )
}

/// A flow by workspace and id, and the bytes of its graph.
pub type FlowOfCall = (Tenant, String, i64);

/// Across workspaces: the published flows of the simulated calls that are due, in the order of
/// [`crate::calls::due`]; `None` for a call that needs none.
pub fn flows_of_due(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<Option<FlowOfCall>>, DbError> {
    let found: Vec<(Tenant, Option<String>, Option<i64>)> = tx.all(
        "select calls.workspace, flows.id, flows.bytes from calls \
         left join agents on agents.workspace = calls.workspace and agents.id = calls.agent and calls.network is not null and agents.deleted_at is null \
         left join flows on flows.workspace = agents.workspace and flows.id = agents.published_flow \
         where calls.next_step_at is not null and calls.next_step_at <= ?1 order by calls.next_step_at limit ?2",
        params![now, limit],
    )?;
    let flow =
        |(workspace, flow, bytes): (Tenant, Option<String>, Option<i64>)| Some((workspace, flow?, bytes?));
    Ok(found.into_iter().map(flow).collect())
}

/// Makes a flow the draft over version `base`, with who saved it and the name of the member, and marks the flow as edited;
/// the new version, or `None` when the draft has another version by now.
pub fn save_draft(
    tx: &mut TenantTx,
    id: Id<Agent>,
    flow: &str,
    base: i64,
    (author, author_name): (&str, Option<&str>),
    now: Timestamp,
) -> Result<Option<i64>, DbError> {
    changes::note(tx, now, None, Topic::Flows, Some(&id.to_string()))?;
    tx.one(
        "update agents set draft_flow = ?3, draft_version = draft_version + 1, flow_edited = 1, updated_at = ?5, \
         draft_author = ?6, draft_author_name = ?7, draft_at = ?5 \
         where workspace = ?1 and id = ?2 and draft_version = ?4 and deleted_at is null returning draft_version",
        params![id, flow, base, now, author, author_name])
}

row! {
    /// Who saved the draft of a flow; nothing for a draft that is made of the agent's settings, and for one from before
    /// this was kept.
    #[derive(Debug, Clone, Default)]
    pub struct DraftAuthor {
        author: Option<String> as "draft_author",
        /// The name of the member then.
        name: Option<String> as "draft_author_name",
        at: Option<Timestamp> as "draft_at",
    }
}

/// Who saved the draft of an agent's flow.
pub fn draft_author(tx: &mut TenantTx, id: Id<Agent>) -> Result<DraftAuthor, DbError> {
    const SQL: &str = formatcp!(
        "select {} from agents where workspace = ?1 and id = ?2 and deleted_at is null",
        DraftAuthor::COLUMNS
    );
    Ok(tx.one(SQL, params![id])?.unwrap_or_default())
}

/// Makes the draft of this version the published flow, under the next number unless it is published already, and marks
/// the flow as edited; `false` when the draft has another version by now.
pub fn publish_draft(
    tx: &mut TenantTx,
    id: Id<Agent>,
    version: i64,
    now: Timestamp,
) -> Result<bool, DbError> {
    changes::note(tx, now, None, Topic::Flows, Some(&id.to_string()))?;
    let changed = tx.exec(
        "update agents set published_version = published_version + case when published_flow = draft_flow then 0 else 1 end, \
         published_flow = draft_flow, flow_edited = 1, updated_at = ?4 \
         where workspace = ?1 and id = ?2 and draft_version = ?3 and deleted_at is null",
        params![id, version, now],
    )?;
    Ok(changed > 0)
}

/// Replaces the draft and the published flow by one that is generated from the agent's settings, and drops the old
/// ones.
pub fn replace_flow(tx: &mut TenantTx, id: Id<Agent>, flow: &str) -> Result<(), DbError> {
    tx.exec(
        "update agents set draft_flow = ?3, published_flow = ?3, draft_version = draft_version + 1, \
         published_version = published_version + 1, draft_author = null, draft_author_name = null, draft_at = null \
         where workspace = ?1 and id = ?2 and deleted_at is null",
        params![id, flow],
    )?;
    tx.later(
        formatcp!("delete from flows where workspace = ?1 and agent = ?2 and id <> ?3 and {FLOW_IS_FREE}"),
        params![id, flow],
    )
}

/// The name of an agent, deleted or not.
pub fn name_of(tx: &mut TenantTx, id: Id<Agent>) -> Result<Option<String>, DbError> {
    tx.one("select name from agents where workspace = ?1 and id = ?2", params![id])
}
