//! Agents and their flows.

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
    /// The flow being edited.
    pub draft: Json,
    /// Counts drafts.
    pub draft_version: i64,
    /// The flow that calls run.
    pub published: Option<Json>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

const COLUMNS: &str = "id, name, voice, language, status, channel, direction, system_prompt, workflow_template, vertical, policy_ref, tool_ids, \
     allowed_transfer_numbers, extraction_schema, knowledge_base, locked, flow_edited, draft, draft_version, published, created_at, updated_at";

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
        draft: row.json(17)?,
        draft_version: row.int(18)?,
        published: row.opt_json(19)?,
        created_at: row.time(20)?,
        updated_at: row.time(21)?,
    })
}

/// One agent.
pub fn get(tx: &mut Tx<'_>, tenant: Tenant, id: Id<Agent>) -> Result<Option<AgentRow>, DbError> {
    tx.one(&format!("select {COLUMNS} from agents where workspace = ?1 and id = ?2 and deleted_at is null"), params![tenant, id], read)
}
