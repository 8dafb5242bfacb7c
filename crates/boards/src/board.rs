//! The owner of a board, and its creation on first use.

use app::{Context, Failure};
use domain::board::{REVIEW_BELOW, defaults};
use domain::call::Direction;
use domain::ids::{Agent, Campaign, Id};

use serde_json::json;
use store::boards::{self, BoardRow, ColumnRow, WholeBoard};
use store::calls::CallRow;
use store::{DbError, TenantTx};

/// The owner of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Campaign(Id<Campaign>),
    /// An agent that answers calls or chats, or whose nudges reach people.
    Agent(Id<Agent>),
}

impl Owner {
    /// The owner of the board of a call: its campaign, or for an incoming call and for a nudge its agent.
    pub(crate) fn of_call(call: &CallRow) -> Option<Self> {
        match (call.campaign, call.agent) {
            (Some(campaign), _) => Some(Owner::Campaign(campaign)),
            (None, Some(agent)) if call.direction == Direction::Inbound || call.nudge.is_some() => {
                Some(Owner::Agent(agent))
            }
            _ => None,
        }
    }

    /// The owner as it is stored with its board.
    pub(crate) fn text(self) -> String {
        match self {
            Owner::Campaign(id) => id.to_string(),
            Owner::Agent(id) => id.to_string(),
        }
    }

    /// Parses a stored owner.
    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        text.parse()
            .map(Owner::Campaign)
            .or_else(|_| text.parse().map(Owner::Agent))
            .map_err(|_| Failure::internal(format!("a board belongs to {text}")))
    }

    pub(crate) fn not_found(self) -> Failure {
        Failure::not_found(match self {
            Owner::Campaign(_) => "campaign",
            Owner::Agent(_) => "agent that answers calls or chats",
        })
    }

    /// The purpose of its calls; `None` when there is no such campaign or agent.
    fn workflow(self, tx: &mut TenantTx) -> Result<Option<String>, DbError> {
        match self {
            Owner::Campaign(id) => boards::workflow_of_campaign(tx, id),
            Owner::Agent(id) => boards::workflow_of_agent(tx, id),
        }
    }

    /// Whether the owner has, or may have, a board.
    pub(crate) fn exists(self, tx: &mut TenantTx) -> Result<bool, DbError> {
        match self {
            Owner::Campaign(_) => Ok(self.workflow(tx)?.is_some()),
            Owner::Agent(id) => boards::agent_shows_board(tx, id),
        }
    }
}

/// The board of a campaign or an agent, created on first use with the columns of its workflow; `None` when there is no
/// such campaign or agent. Concurrent first uses get the same board.
pub(crate) fn ensure(
    tx: &mut TenantTx,
    context: &Context,
    owner: Owner,
) -> Result<Option<WholeBoard>, Failure> {
    let tenant = tx.tenant();
    let name = owner.text();
    if let Some(board) = boards::of_owner(tx, &name)? {
        return Ok(Some(board));
    }
    let Some(workflow) = owner.workflow(tx)? else { return Ok(None) };
    let board = BoardRow {
        id: context.ids.make(),
        workspace: tenant,
        owner: name.clone(),
        review_below: thousandths(REVIEW_BELOW),
        created_at: context.now,
        version: 0,
    };
    let columns: Vec<ColumnRow> = (0..)
        .zip(defaults(&workflow))
        .map(|(position, column)| ColumnRow {
            id: context.ids.make(),
            board: board.id,
            position,
            name: column.name.to_owned(),
            key: column.kind.as_str().to_owned(),
            kind: column.kind,
            rules: json!([]),
            automations: json!([]),
            color: None,
            cards: 0,
            reached: 0,
        })
        .collect();
    boards::insert(tx, &board, &columns)?;
    Ok(boards::of_owner(tx, &name)?)
}

/// A part of one as it is stored.
pub(crate) fn thousandths(part: f64) -> i64 {
    (part * 1000.0).round() as i64
}

/// The owner in the form of the API.
pub(crate) fn part_of_one(thousandths: i64) -> f64 {
    thousandths as f64 / 1000.0
}
