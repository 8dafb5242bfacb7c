//! The data that a conversation on a line needs, read when the call is answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::agents::AgentModels;
use domain::call::{Direction, question};
use domain::conversation::speakable::{Pronunciation, Pronunciations, Speakable};
use domain::conversation::{Flow, NodeKind, fill, text_of};
use domain::ids::{Agent, Call, Id};
use domain::phone::Phone;
use domain::tenant::Tenant;
use domain::trace::TraceContext;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use store::{agents, calls, contacts, workspaces};

use super::agent;
use crate::agents::languages_of;
use crate::{App, Failure, access, tool_calls};

/// What a conversation needs of the call and its agent.
#[derive(Debug, Clone)]
pub struct Talk {
    pub agent: Id<Agent>,
    pub flow: Arc<Flow>,
    /// Number of the version that `flow` is.
    pub flow_version: i64,
    /// Values of the conversation.
    pub variables: Map<String, Value>,
    pub language: String,
    /// The languages that the customer is followed into, the own one first.
    pub languages: Vec<String>,
    /// Names of the contact, for recognisers.
    pub names: Vec<String>,
    /// Voices by language.
    pub voices: BTreeMap<String, String>,
    /// The providers that it prefers.
    pub models: AgentModels,
    /// Voice id; empty for the default one.
    pub voice: String,
    /// Whether what must not be kept is taken out of the conversation.
    pub redact: bool,
    /// How the agent's texts are prepared for its voice.
    pub speakable: Speakable,
    /// Numbers that the agent may transfer to, `+91…`.
    pub allowed_numbers: Vec<String>,
    /// Whether the workspace keeps recordings.
    pub record: bool,
    /// The number that is shown, also to whom the call is transferred.
    pub own_number: String,
    /// The carrier that calls from this number go out on; `None` for the first one of the settings.
    pub carrier: Option<String>,
    /// `outbound` or `inbound`.
    pub direction: Direction,
    /// Who calls and why, to an assistant that screens calls.
    pub introduction: Introduction,
    /// The number that was called, `None` for incoming calls and after an erasure.
    pub called: Option<Phone>,
    /// The question of the simulated person, if a phone of the sandbox is called (docs/contract/sandbox.md#questions).
    pub question: Option<String>,
    /// The trace of the placement.
    pub trace: Option<TraceContext>,
}

/// How the agent introduces itself to a screening assistant.
#[derive(Debug, Clone)]
pub struct Introduction {
    /// Name of the agent.
    pub agent: String,
    /// Name of the workspace.
    pub company: String,
    /// Why it calls, with the variables filled in; empty for no reason of its own.
    pub reason: String,
}

impl Talk {
    /// Whether any step of the flow may press keys.
    pub fn presses_keys(&self) -> bool {
        let presses = |kind: &NodeKind| match kind {
            NodeKind::Converse(converse) => converse.tool_ids.iter().any(|id| id == tool_calls::PRESS_KEYS),
            NodeKind::Tool(tool) => tool.tool_id == tool_calls::PRESS_KEYS,
            _ => false,
        };
        self.flow.nodes.iter().any(|node| presses(&node.kind))
    }

    /// Whether parts of the recording must not be kept: it is redacted, or the flow has secret questions.
    pub fn hides_sound(&self) -> bool {
        let secret = |kind: &NodeKind| matches!(kind, NodeKind::Collect(collect) if collect.field.secret);
        self.redact || self.flow.nodes.iter().any(|node| secret(&node.kind))
    }

    /// Whether any step of the flow may answer from the agent's knowledge base.
    pub fn uses_knowledge(&self) -> bool {
        let uses = |kind: &NodeKind| matches!(kind, NodeKind::Converse(converse) if converse.use_knowledge);
        self.flow.nodes.iter().any(|node| uses(&node.kind))
    }
}

/// Reads it; `None` when call or agent are gone.
pub async fn talk(app: &App, tenant: Tenant, id: Id<Call>) -> Result<Option<Talk>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            let Some(row) = calls::find(tx, id)? else { return Ok(None) };
            let Some(agent) = (match row.agent {
                Some(agent) => agents::get(tx, agent)?,
                None => None,
            }) else {
                return Ok(None);
            };
            let Some(workspace) = workspaces::get(tx)? else { return Ok(None) };
            let numbers = agent
                .allowed_transfer_numbers
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|number| number.as_str().map(str::to_owned));
            let speakable =
                Speakable::new(&agent.language, agent.speakable, pronunciations(&agent.pronunciations));
            let called = match row.direction {
                Direction::Outbound => Phone::normalize(&row.to_number).ok(),
                Direction::Inbound => None,
            };
            let reason = fill(&agent.call_reason, |name| row.variables.get(name).map(text_of));
            let introduction =
                Introduction { agent: agent.name.clone(), company: workspace.name.clone(), reason };
            let contact = match row.contact {
                Some(contact) => contacts::get(tx, contact)?,
                None => None,
            };
            let names = contact.into_iter().flat_map(|contact| [contact.name, contact.company]);
            let own_number =
                if row.direction == Direction::Inbound { row.to_number } else { row.from_number };
            Ok::<_, Failure>(Some(Talk {
                carrier: match row.direction {
                    Direction::Outbound => row.carrier,
                    Direction::Inbound => store::numbers::carrier_of(tx, &own_number)?,
                },
                own_number,
                called,
                introduction,
                redact: crate::agents::redacts(&agent),
                agent: agent.id,
                flow_version: agent.published_version,
                flow: agent::flow(tx, Some(&agent))?,
                allowed_numbers: numbers.collect(),
                record: access::feature_on(&workspace, "recording"),
                direction: row.direction,
                question: question(&row.metadata),
                trace: row.trace,
                variables: row.variables,
                names: names.flatten().collect(),
                languages: languages_of(&agent),
                voices: setting(&agent.voices),
                models: setting(&agent.models),
                language: agent.language,
                voice: agent.voice,
                speakable,
            }))
        })
        .await
}

/// A setting of an agent, from its row; the default if it has none.
pub fn setting<T: DeserializeOwned + Default>(stored: &Value) -> T {
    T::deserialize(stored).unwrap_or_default()
}

/// The pronunciations of an agent, from its row.
fn pronunciations(list: &Value) -> Pronunciations {
    let part = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
    let read =
        |one: &Value| Some(Pronunciation { written: part(one, "written")?, spoken: part(one, "spoken")? });
    Pronunciations::new(list.as_array().into_iter().flatten().filter_map(read))
}
