//! Events of outcome boards.

use domain::board::ColumnType;
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::samples::{CALL, CONTACT, CUSTOMER_REF, at, id};

/// A card that came into a column. It is kept with the automation until that is due, without the reference.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MovedCard {
    pub board_id: Id<ids::Board>,
    /// The campaign that the board belongs to.
    pub campaign_id: Option<Id<ids::Campaign>>,
    /// The agent that the board belongs to, if it is no campaign's.
    pub agent_id: Option<Id<ids::Agent>>,
    pub card_id: Id<ids::Card>,
    pub move_id: Id<ids::BoardMove>,
    pub contact_id: Id<ids::Contact>,
    /// The call that caused the move, or else the last one; null where nobody was called.
    pub call_id: Option<Id<ids::Call>>,
    /// `api` or `sorting`.
    pub moved_by: String,
    /// The column that it left; null for a card that is new.
    pub from: Option<MovedColumn>,
    /// The column that it came into.
    pub to: MovedColumn,
    pub moved_at: Timestamp,
    /// The client's own id of the person, when the event is written.
    #[serde(default)]
    pub external_ref: Option<String>,
}

/// A column of a board.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MovedColumn {
    pub id: Id<ids::BoardColumn>,
    /// Its name in rules and requests.
    pub key: String,
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
