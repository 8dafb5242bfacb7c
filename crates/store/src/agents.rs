//! Agents and their flows. A deleted agent is not found by any function here; its row stays, since calls
//! speak of it.

use domain::ids::{Agent, Id};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use serde_json::Value as Json;

use crate::db::{DbError, Row, Tx};
use crate::params;

/// An agent as stored.
#[derive(Debug, Clone)]
pub struct AgentRow {
    /// Its id.
    pub id: Id<Agent>,
    /// Name.
    pub name: String,
    /// Voice id, or empty for the default.
    pub voice: String,
    /// Language code.
    pub language: String,
    /// `draft` or `active`.
    pub status: String,
    /// `call` or `chat`.
    pub channel: String,
    /// `outbound` or `inbound`.
    pub direction: String,
    /// Instructions.
    pub system_prompt: String,
    /// `collections`, `onboarding` or `prompt-driven`.
    pub workflow_template: String,
    /// Vertical.
    pub vertical: String,
    /// Compliance pack.
    pub policy_ref: String,
    /// Ids of tools, a list.
    pub tool_ids: Json,
    /// Numbers it may transfer to, a list.
    pub allowed_transfer_numbers: Json,
    /// What to extract, a list.
    pub extraction_schema: Json,
    /// Knowledge base.
    pub knowledge_base: Option<String>,
    /// Whether API writes answer 423.
    pub locked: bool,
    /// Whether the flow was edited as a flow.
    pub flow_edited: bool,
    /// Counts drafts.
    pub draft_version: i64,
    /// The flow being edited. An id of a flow never gets another graph.
    pub draft_flow: String,
    /// The flow that conversations run: only who runs or shows it has to read its graph.
    pub published_flow: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

const COLUMNS: &str = "id, name, voice, language, status, channel, direction, system_prompt, workflow_template, vertical, policy_ref, tool_ids, \
     allowed_transfer_numbers, extraction_schema, knowledge_base, locked, flow_edited, draft_version, draft_flow, published_flow, created_at, updated_at";

fn read(row: &Row<'_>) -> Result<AgentRow, DbError> {
    Ok(AgentRow {
        id: row.id(0)?,
        name: row.text(1)?,
        voice: row.text(2)?,
        language: row.text(3)?,
        status: row.text(4)?,
        channel: row.text(5)?,
        direction: row.text(6)?,
        system_prompt: row.text(7)?,
        workflow_template: row.text(8)?,
        vertical: row.text(9)?,
        policy_ref: row.text(10)?,
        tool_ids: row.json(11)?,
        allowed_transfer_numbers: row.json(12)?,
        extraction_schema: row.json(13)?,
        knowledge_base: row.opt_text(14)?,
        locked: row.flag(15)?,
        flow_edited: row.flag(16)?,
        draft_version: row.int(17)?,
        draft_flow: row.text(18)?,
        published_flow: row.text(19)?,
        created_at: row.time(20)?,
        updated_at: row.time(21)?,
    })
}

/// One agent.
pub fn get(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Agent>) -> Result<Option<AgentRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from agents where workspace = ?1 and id = ?2 and deleted_at is null"),
        params![tenant, id],
        read,
    )
}

/// One agent, kept from changing until the transaction ends.
pub fn get_for_update(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Agent>) -> Result<Option<AgentRow>, DbError> {
    tx.one(
        &format!("select {COLUMNS} from agents where workspace = ?1 and id = ?2 and deleted_at is null /*pg for update*/"),
        params![tenant, id],
        read,
    )
}

/// What a list of agents shows.
#[derive(Debug, Clone)]
pub struct AgentLine {
    /// Its id.
    pub id: Id<Agent>,
    /// Name.
    pub name: String,
    /// Voice id, or empty for the default.
    pub voice: String,
    /// Language code.
    pub language: String,
    /// `draft` or `active`.
    pub status: String,
    /// `call` or `chat`.
    pub channel: String,
    /// `outbound` or `inbound`.
    pub direction: String,
}

/// All agents of a workspace, newest first.
pub fn list(tx: &mut Tx<'_>, tenant: Tenant) -> Result<Vec<AgentLine>, DbError> {
    tx.all(
        "select id, name, voice, language, status, channel, direction from agents where workspace = ?1 and deleted_at is null order by id desc",
        params![tenant],
        |row| {
            Ok(AgentLine {
                id: row.id(0)?,
                name: row.text(1)?,
                voice: row.text(2)?,
                language: row.text(3)?,
                status: row.text(4)?,
                channel: row.text(5)?,
                direction: row.text(6)?,
            })
        },
    )
}

/// Adds an agent.
pub fn insert(tx: &mut Tx<'_>, tenant: Tenant, row: &AgentRow) -> Result<(), DbError> {
    tx.exec(
        "insert into agents (id, workspace, name, voice, language, status, channel, direction, system_prompt, workflow_template, vertical, policy_ref, \
         tool_ids, allowed_transfer_numbers, extraction_schema, knowledge_base, locked, flow_edited, draft_flow, published_flow, draft_version, \
         created_at, updated_at) \
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)",
        params![
            row.id,
            tenant,
            &row.name,
            &row.voice,
            &row.language,
            &row.status,
            &row.channel,
            &row.direction,
            &row.system_prompt,
            &row.workflow_template,
            &row.vertical,
            &row.policy_ref,
            &row.tool_ids,
            &row.allowed_transfer_numbers,
            &row.extraction_schema,
            row.knowledge_base.as_deref(),
            row.locked,
            row.flow_edited,
            &row.draft_flow,
            &row.published_flow,
            row.draft_version,
            row.created_at,
            row.updated_at
        ],
    )?;
    Ok(())
}

/// Saves the settings of an agent: everything but channel, direction, status, lock and flow.
pub fn update_settings(tx: &mut Tx<'_>, tenant: Tenant, row: &AgentRow) -> Result<(), DbError> {
    tx.exec(
        "update agents set name = ?3, voice = ?4, language = ?5, system_prompt = ?6, workflow_template = ?7, vertical = ?8, policy_ref = ?9, \
         tool_ids = ?10, allowed_transfer_numbers = ?11, extraction_schema = ?12, knowledge_base = ?13, updated_at = ?14 \
         where workspace = ?1 and id = ?2 and deleted_at is null",
        params![
            tenant,
            row.id,
            &row.name,
            &row.voice,
            &row.language,
            &row.system_prompt,
            &row.workflow_template,
            &row.vertical,
            &row.policy_ref,
            &row.tool_ids,
            &row.allowed_transfer_numbers,
            &row.extraction_schema,
            row.knowledge_base.as_deref(),
            row.updated_at
        ],
    )?;
    Ok(())
}

/// Publishes (`active`) or unpublishes (`draft`) an agent.
pub fn set_status(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Agent>,
    status: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.exec(
        "update agents set status = ?3, updated_at = ?4 where workspace = ?1 and id = ?2 and deleted_at is null",
        params![tenant, id, status, now],
    )?;
    Ok(())
}

/// Locks or unlocks an agent; `false` without one.
pub fn set_locked(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Agent>, locked: bool) -> Result<bool, DbError> {
    let changed = tx.exec(
        "update agents set locked = ?3 where workspace = ?1 and id = ?2 and deleted_at is null",
        params![tenant, id, locked],
    )?;
    Ok(changed > 0)
}

/// Deletes an agent with its flows.
pub fn delete(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Agent>, now: Timestamp) -> Result<(), DbError> {
    tx.exec(
        "update agents set deleted_at = ?3 where workspace = ?1 and id = ?2 and deleted_at is null",
        params![tenant, id, now],
    )?;
    tx.later("delete from flows where workspace = ?1 and agent = ?2", params![tenant, id])
}

/// Adds a flow under a new id; `needs` is what a call needs of it, if it is published at once.
pub fn add_flow(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    agent: Id<Agent>,
    id: &str,
    graph: &str,
    needs: Option<&str>,
) -> Result<(), DbError> {
    tx.later(
        "insert into flows (id, workspace, agent, graph, bytes, needs) values (?1, ?2, ?3, ?4, ?5, ?6)",
        params![id, tenant, agent, graph, graph.len() as i64, needs],
    )
}

/// The graph of a flow, as JSON text.
pub fn graph(tx: &mut Tx<'_>, tenant: Tenant, flow: &str) -> Result<Option<String>, DbError> {
    tx.one("select graph from flows where workspace = ?1 and id = ?2", params![tenant, flow], |row| {
        row.text(0)
    })
}

/// What a call needs of a flow, as JSON text; `None` of one that was published before that was written down.
pub fn needs(tx: &mut Tx<'_>, tenant: Tenant, flow: &str) -> Result<Option<String>, DbError> {
    Ok(tx
        .one("select needs from flows where workspace = ?1 and id = ?2", params![tenant, flow], |row| {
            row.opt_text(0)
        })?
        .flatten())
}

/// Writes down what a call needs of a flow.
pub fn set_needs(tx: &mut Tx<'_>, tenant: Tenant, flow: &str, needs: &str) -> Result<(), DbError> {
    tx.later("update flows set needs = ?3 where workspace = ?1 and id = ?2", params![tenant, flow, needs])
}

/// Drops a flow that is neither draft nor published any more.
pub fn drop_flow(tx: &mut Tx<'_>, tenant: Tenant, flow: &str) -> Result<(), DbError> {
    tx.later("delete from flows where workspace = ?1 and id = ?2", params![tenant, flow])
}

/// A flow by workspace and id, and the bytes of its graph.
pub type FlowOfCall = (Tenant, String, i64);

/// The published flows of the calls that are due on a network that is a table, in the order of
/// [`crate::calls::due`]; `None` for a call that needs none.
pub fn flows_of_due(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<Option<FlowOfCall>>, DbError> {
    tx.all(
        "select calls.workspace, flows.id, flows.bytes from calls \
         left join agents on agents.workspace = calls.workspace and agents.id = calls.agent and calls.network is not null and agents.deleted_at is null \
         left join flows on flows.workspace = agents.workspace and flows.id = agents.published_flow \
         where calls.next_step_at is not null and calls.next_step_at <= ?1 order by calls.next_step_at limit ?2",
        params![now, limit],
        |row| {
            let workspace = row.id(0)?;
            Ok(row.opt_text(1)?.zip(row.opt_int(2)?).map(|(flow, bytes)| (workspace, flow, bytes)))
        },
    )
}

/// Makes a flow the draft over version `base` and marks the flow as edited; the new version, or `None` when
/// the draft has another version by now.
pub fn save_draft(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Agent>,
    flow: &str,
    base: i64,
    now: Timestamp,
) -> Result<Option<i64>, DbError> {
    tx.one(
        "update agents set draft_flow = ?3, draft_version = draft_version + 1, flow_edited = 1, updated_at = ?5 \
         where workspace = ?1 and id = ?2 and draft_version = ?4 and deleted_at is null returning draft_version",
        params![tenant, id, flow, base, now],
        |row| row.int(0),
    )
}

/// Makes the draft of this version the published flow and marks the flow as edited; `false` when the draft
/// has another version by now.
pub fn publish_draft(
    tx: &mut Tx<'_>,
    tenant: Tenant,
    id: Id<Agent>,
    version: i64,
    now: Timestamp,
) -> Result<bool, DbError> {
    let changed = tx.exec(
        "update agents set published_flow = draft_flow, flow_edited = 1, updated_at = ?4 \
         where workspace = ?1 and id = ?2 and draft_version = ?3 and deleted_at is null",
        params![tenant, id, version, now],
    )?;
    Ok(changed > 0)
}

/// Replaces draft and published flow by one made from the agent's settings, and drops what they were.
pub fn replace_flow(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Agent>, flow: &str) -> Result<(), DbError> {
    tx.exec(
        "update agents set draft_flow = ?3, published_flow = ?3, draft_version = draft_version + 1 \
         where workspace = ?1 and id = ?2 and deleted_at is null",
        params![tenant, id, flow],
    )?;
    tx.later("delete from flows where workspace = ?1 and agent = ?2 and id <> ?3", params![tenant, id, flow])
}

/// The name of an agent, deleted or not.
pub fn name_of(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Agent>) -> Result<Option<String>, DbError> {
    tx.one("select name from agents where workspace = ?1 and id = ?2", params![tenant, id], |row| row.text(0))
}
