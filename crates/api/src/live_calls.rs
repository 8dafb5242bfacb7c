//! Calls that ring or talk, as they go (docs/contract/live.md#live-calls).

use domain::call::{Direction, Stage};
use domain::conversation;
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::operation::Method::GET;
use crate::operation::{Operation, operation};
use crate::schema::{Field, cursor, limit, page};
use crate::scopes::CALLS_READ;

/// Who said something on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LiveSpeaker {
    /// The agent.
    Agent,
    /// The person on the line.
    Customer,
}

impl From<conversation::Role> for LiveSpeaker {
    fn from(role: conversation::Role) -> Self {
        match role {
            conversation::Role::Agent => Self::Agent,
            conversation::Role::Customer => Self::Customer,
        }
    }
}

/// Why somebody should look at a live call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallFlag {
    /// The person asks for a human, and the agent tries to bring one in.
    AsksForPerson,
    /// The person has asked not to be called again.
    AskedNotToBeCalled,
    /// The agent took more than two seconds for an answer.
    SlowReaction,
    /// Nobody has said anything for more than eight seconds.
    Silent,
}

/// A turn of a live call, at most 500 characters of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LiveTurn {
    /// Number of the turn in the call, from 0.
    pub turn: usize,
    /// Who speaks: `agent` or `customer`.
    pub who: LiveSpeaker,
    /// The words so far. Of a turn that is not complete they are a guess, and the next ones replace them.
    pub text: String,
    /// Whether the turn is complete.
    pub complete: bool,
    /// When its newest words were recognised or said.
    pub at: Timestamp,
}

/// What was said last on a call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LastWords {
    /// Who said it: `agent` or `customer`.
    pub who: LiveSpeaker,
    /// What was said in the turn.
    pub text: String,
    /// When they were said.
    pub at: Timestamp,
}

/// The step of a flow that a call is in.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LiveStep {
    /// Id of the node in the flow of the agent.
    pub id: String,
    /// Its label for people; null without one.
    pub name: Option<String>,
}

/// A call that rings or talks.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LiveCall {
    /// Id of the call, `call_…`.
    pub id: Id<ids::Call>,
    /// Id of the contact; null for an incoming call whose caller is unknown.
    pub contact_id: Option<Id<ids::Contact>>,
    /// Id of the campaign that placed the call; null for any other call.
    pub campaign_id: Option<Id<ids::Campaign>>,
    /// Id of the agent on the call; null when no agent answers.
    pub agent_id: Option<Id<ids::Agent>>,
    /// Name of the agent; null when there is none.
    pub agent_name: Option<String>,
    /// `outbound` if the agent called, `inbound` if the customer did.
    pub direction: Direction,
    /// Where the call is: `ringing` or `in_progress`.
    pub state: Stage,
    /// The number that was called, E.164.
    pub to_number: String,
    /// The number that called, E.164.
    pub from_number: String,
    /// When the call was placed, or came in.
    pub started_at: Timestamp,
    /// When its state began.
    pub since: Timestamp,
    /// What was said last; null before anything was said, and on simulated calls.
    pub last_words: Option<LastWords>,
    /// The newest turns, oldest first; at most 40, and none on simulated calls.
    pub turns: Vec<LiveTurn>,
    /// The step of the flow that it is in; null before the first, and on simulated calls.
    pub step: Option<LiveStep>,
    /// Why somebody should look at it; empty when all is well.
    pub flags: Vec<CallFlag>,
    /// Values that were captured so far, by name; at most 50.
    pub captured: Map<String, Value>,
    /// What the call would cost if it ended now, in minor units, without further legs.
    pub cost_so_far_minor: i64,
    /// Number of its newest news; the deltas of its topic go on from here.
    pub seq: i64,
}

fn query() -> Vec<Field> {
    vec![limit(100), cursor()]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[operation(
    GET,
    "/v1/calls/live",
    "listLiveCalls",
    "Calls",
    "Calls that ring or talk now, newest first",
)
.about(
    "What is said on a call is shown while it is said, without what must not be kept. A call that another node of the \
     service holds shows it within two seconds after the first request. A call that has ended is not in the list any \
     more; its transcript follows with `GET /v1/calls/{id}`.",
)
.scope(CALLS_READ)
.query(query)
.answers(&[(200, Some(page::<LiveCall>))])];
