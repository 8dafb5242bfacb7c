//! Search over everything that has a name (docs/contract/search.md).

use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::Method::GET;
use crate::operation::{Operation, operation};
use crate::schema::{Field, list, need, text_of};
use crate::scopes::{CALLS_READ, CONTACTS_READ};

/// Kind of object that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoundType {
    /// A contact.
    Contact,
    /// A call.
    Call,
    /// An agent.
    Agent,
    /// A campaign.
    Campaign,
    /// A run of a campaign.
    CampaignRun,
    /// A knowledge base.
    KnowledgeBase,
    /// A nudge.
    Nudge,
    /// A scheduled call.
    ScheduledCall,
    /// A phone number of the workspace.
    Number,
    /// A recording; its title is the id of its call.
    Recording,
    /// A webhook endpoint.
    WebhookEndpoint,
    /// A delivery of an event.
    Delivery,
    /// An event.
    Event,
}

/// A result of a search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundItem {
    /// Kind of the object, such as `contact` or `call`.
    pub r#type: FoundType,
    /// Id of the object; its prefix says of what kind it is.
    pub id: String,
    /// What people call it: its name, or its id when it has none.
    pub title: String,
    /// Distinguishes it from others of the same name: a reference, a status or a channel; null when there is nothing.
    pub subtitle: Option<String>,
    /// When it was made or took place.
    pub at: Timestamp,
}

fn query() -> Vec<Field> {
    vec![need(
        "q",
        text_of(1, 120).doc(
            "An id, a whole phone number in any usual notation, the beginning of a reference, or the beginnings of words \
             of a name in any script.",
        ),
    )]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[operation(
    GET,
    "/v1/search",
    "search",
    "Search",
    "Find things by name, number, reference or id",
)
.about(
    "At most 20 results, the surest first. An id or a number that is found is the only result. Kinds of \
             things that the key may not read are left out.",
)
.scopes(CALLS_READ, CONTACTS_READ)
.query(query)
.answers(&[(200, Some(list::<FoundItem>))])];
