//! The edges that a conversation took, for the figures of a flow and for its tester, and where a flow could not go
//! on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The edge by which a conversation enters its first node. It comes from no node.
pub const START: &str = "start";
/// Most different edges that one conversation counts; more of them are taken, but not counted.
pub const MAX_EDGES: usize = 500;
/// Most edges that wait for the words before them.
const MAX_UNHEARD: usize = 2 * MAX_EDGES;

/// An edge that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenEdge {
    /// The node that it leaves; empty for [`START`].
    pub from: String,
    /// The field of the node that holds it: `next`, `onFail`, `exits[1].next`, …
    pub edge: String,
    /// The node that it enters.
    pub to: String,
}

/// How often a conversation took an edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeVisits {
    /// The node that it leaves; empty for [`START`].
    pub from: String,
    /// The field of the node that holds it.
    pub edge: String,
    pub visits: u32,
}

/// Where a flow could not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The node that was left, if one was.
    pub node_id: Option<String>,
    /// The field of that node; empty where it is none of its edges.
    pub edge: String,
    pub why: StopReason,
}

/// Why a flow could not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The flow does not say where it starts.
    NoStart,
    /// The edge leads nowhere.
    MissingEdge,
    /// The edge names a node that does not exist.
    UnknownStep,
    /// A node would be entered twice without anything in between.
    EndlessLoop,
    /// More than [`MAX_REQUESTS`](super::MAX_REQUESTS) requests without a word of the customer.
    TooManyRequests,
    /// The node at which the conversation waited is gone.
    StepGone,
}

/// The edges of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Path {
    /// How often each edge was taken, by node and field.
    taken: BTreeMap<String, BTreeMap<String, u32>>,
    /// Edges that the interpreter took ahead of the voice, each with the number of the text before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unheard: Vec<(u64, String, String)>,
}

impl Path {
    pub(super) fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.unheard.is_empty()
    }

    /// Takes an edge after the text of this number.
    pub(super) fn take(&mut self, said: u64, sounded: u64, from: &str, edge: &str) {
        if said <= sounded {
            self.count(from, edge);
        } else if self.unheard.len() < MAX_UNHEARD {
            self.unheard.push((said, from.to_owned(), edge.to_owned()));
        }
    }

    fn count(&mut self, from: &str, edge: &str) {
        if let Some(visits) = self.taken.get_mut(from).and_then(|edges| edges.get_mut(edge)) {
            *visits = visits.saturating_add(1);
        } else if self.taken.values().map(BTreeMap::len).sum::<usize>() < MAX_EDGES {
            self.taken.entry(from.to_owned()).or_default().insert(edge.to_owned(), 1);
        }
    }

    /// All texts up to this number have been spoken.
    pub(super) fn heard(&mut self, sounded: u64) {
        let ready = self.unheard.iter().take_while(|(said, ..)| *said <= sounded).count();
        let ready: Vec<_> = self.unheard.drain(..ready).collect();
        ready.iter().for_each(|(_, from, edge)| self.count(from, edge));
    }

    /// The customer has left: what was taken ahead of the voice was not reached.
    pub(super) fn forget_unheard(&mut self) {
        self.unheard.clear();
    }

    /// Each edge with how often it was taken, by node and field.
    pub(super) fn edges(&self) -> Vec<EdgeVisits> {
        let edges = self.taken.iter().flat_map(|(from, edges)| {
            edges.iter().map(|(edge, visits)| EdgeVisits {
                from: from.clone(),
                edge: edge.clone(),
                visits: *visits,
            })
        });
        edges.collect()
    }
}
