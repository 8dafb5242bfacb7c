//! What the boards of campaigns do in a run: every column tells of the cards that come into it, and whom a
//! campaign has talked to or could not reach goes onto the list of an earlier one.

use std::sync::Arc;

use ::boards::Owner;
use api::boards::{BoardChange, ColumnChange};
use dastak::app::operator_log::Trace;
use dastak::app::{App, Failure};
use domain::board::ColumnType;
use domain::ids::{Campaign, Id};
use domain::tenant::Tenant;
use serde_json::json;

/// Gives the board of a campaign its automations; again after a crash.
pub async fn automate(
    app: &Arc<App>,
    tenant: Tenant,
    campaign: Id<Campaign>,
    earlier: Option<Id<Campaign>>,
) -> Result<(), Failure> {
    let board = ::boards::board(app, tenant, Owner::Campaign(campaign)).await?;
    let columns = board.columns.into_iter().map(|column| {
        let mut automations = vec![json!({"type": "event"})];
        if let (ColumnType::Open | ColumnType::NoContact, Some(earlier)) = (column.r#type, earlier) {
            automations.push(json!({"type": "add_to_campaign", "campaignId": earlier}));
        }
        ColumnChange {
            id: Some(column.id.to_string()),
            name: column.name,
            key: column.key,
            r#type: column.r#type.as_str().to_owned(),
            color: None,
            rules: json!([]),
            automations: json!(automations),
        }
    });
    let change =
        BoardChange { columns: columns.collect(), move_cards: Vec::new(), review_below: None, version: None };
    let trace = Trace { operation: "updateBoard", request_id: "req_simulation".into() };
    ::boards::update(app, trace, tenant, board.board_id, change).await.map(|_| ())
}
