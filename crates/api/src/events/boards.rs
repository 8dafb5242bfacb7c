//! Events of outcome boards.

use domain::board::ColumnType;
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::samples::{CALL, CONTACT, CUSTOMER_REF, at, id};

/// A card that was moved into a column. It is stored with the automation until that is due, without the
/// reference.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MovedCard {
    /// Id of the outcome board.
    pub board_id: Id<ids::Board>,
    /// Id of the campaign that the board belongs to; null for the board of an agent.
    pub campaign_id: Option<Id<ids::Campaign>>,
    /// Id of the agent that the board belongs to; null for the board of a campaign.
    pub agent_id: Option<Id<ids::Agent>>,
    /// Id of the card on the board.
    pub card_id: Id<ids::Card>,
    /// Id of the move, which is different for every move.
    pub move_id: Id<ids::BoardMove>,
    /// Id of the contact, `con_…`.
    pub contact_id: Id<ids::Contact>,
    /// Id of the call that caused the move, or of the last call; null if the contact was never called.
    pub call_id: Option<Id<ids::Call>>,
    /// `api` for a move by hand, `sorting` for one by a rule, an outcome or the language model.
    pub moved_by: String,
    /// The column that the card left; null for a new card.
    pub from: Option<MovedColumn>,
    /// The column that the card was moved into.
    pub to: MovedColumn,
    /// When the card was moved.
    pub moved_at: Timestamp,
    /// Your own id of the contact; null without one.
    pub external_ref: Option<String>,
}

/// A column of an outcome board.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MovedColumn {
    /// Id of the column.
    pub id: Id<ids::BoardColumn>,
    /// Key of the column, unique on the board.
    pub key: String,
    /// What the column means, whatever its name.
    pub r#type: ColumnType,
}

impl MovedCard {
    pub(super) fn sample() -> Self {
        let column = |column, key: &str, r#type| MovedColumn { id: id(column), key: key.into(), r#type };
        Self {
            board_id: id("brd_01k9v5x2m8e6fs4v0q3n7w1y40"),
            campaign_id: Some(id("cmp_01k9v5x2m8e6fs4v0q3n7w1y41")),
            agent_id: None,
            card_id: id("card_01k9v5x2m8e6fs4v0q3n7w1y42"),
            move_id: id("move_01k9v5x2m8e6fs4v0q3n7w1y43"),
            contact_id: id(CONTACT),
            call_id: Some(id(CALL)),
            moved_by: "sorting".into(),
            from: Some(column("col_01k9v5x2m8e6fs4v0q3n7w1y44", "new", ColumnType::New)),
            to: column("col_01k9v5x2m8e6fs4v0q3n7w1y45", "won", ColumnType::Won),
            moved_at: at("2026-01-15T10:01:00.000Z"),
            external_ref: Some(CUSTOMER_REF.into()),
        }
    }
}
