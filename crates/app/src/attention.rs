//! States that need a person, read as they are (docs/contract/live.md#attention).

use api::attention::{AttentionAction, AttentionItem, AttentionKind, AttentionSubject};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use domain::wallet::{Level, level};
use store::{TenantTx, attention, wallet};

use super::{App, Failure};

/// An item about one object.
fn item(
    (kind, action): (AttentionKind, AttentionAction),
    since: impl Into<Option<Timestamp>>,
    count: i64,
    (noun, id, name): (&'static str, Option<String>, Option<String>),
    cause: Option<String>,
) -> AttentionItem {
    let subject = AttentionSubject { r#type: noun, id, name };
    AttentionItem { kind, since: since.into(), count, subject, cause, action }
}

/// `GET /v1/attention`: the most harmful first, and of each kind those that have waited longest.
pub async fn list(app: &App, tenant: Tenant, mode: Mode) -> Result<Vec<AttentionItem>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            let mut all = Vec::new();
            if let Some(at) = attention::broken_log(tx, mode)? {
                let about = (AttentionKind::LogBroken, AttentionAction::Verify);
                all.push(item(about, at, 1, ("decision_log", None, None), None));
            }
            if mode == Mode::Live {
                of_people(tx, &mut all)?;
            }
            of_connections(tx, mode, &mut all)?;
            all.sort_by_key(|item| (item.kind, item.since));
            Ok(all)
        })
        .await
}

/// What waits for a decision of a person, and the money.
fn of_people(tx: &mut TenantTx, all: &mut Vec<AttentionItem>) -> Result<(), Failure> {
    use AttentionAction as Do;
    use AttentionKind as Is;
    if let Some(state) = wallet::state(tx)? {
        let kind = match level(state.balance, state.cost_per_minute, state.low_balance).0 {
            Level::Exhausted => Some(Is::WalletExhausted),
            Level::Low => Some(Is::WalletLow),
            Level::Enough => None,
        };
        all.extend(kind.map(|kind| item((kind, Do::TopUp), None, 1, ("wallet", None, None), None)));
    }
    if let Some((count, chat, since)) = attention::waiting_chats(tx)? {
        let subject = ("chat", Some(chat.to_string()), None);
        all.push(item((Is::ChatsWaiting, Do::Answer), since, count, subject, None));
    }
    if let Some((count, board, since)) = attention::cards_to_review(tx)? {
        let subject = ("board", Some(board.to_string()), None);
        all.push(item((Is::CardsToReview, Do::Review), since, count, subject, None));
    }
    for (id, name, cause, since) in attention::paused_campaigns(tx)? {
        let subject = ("campaign", Some(id.to_string()), Some(name));
        all.push(item((Is::CampaignPaused, Do::Resume), since, 1, subject, Some(cause)));
    }
    Ok(())
}

/// What does not work between the workspace and others.
fn of_connections(tx: &mut TenantTx, mode: Mode, all: &mut Vec<AttentionItem>) -> Result<(), Failure> {
    use AttentionAction as Do;
    use AttentionKind as Is;
    for (id, url, count, since) in attention::failing_endpoints(tx, mode)? {
        let subject = ("webhook_endpoint", Some(id.to_string()), Some(url));
        all.push(item((Is::WebhookFailing, Do::LookAtDeliveries), since, count, subject, None));
    }
    for (id, name, since) in attention::broken_integrations(tx)? {
        let subject = ("integration", Some(id.to_string()), Some(name));
        all.push(item((Is::IntegrationBroken, Do::Reconnect), since, 1, subject, None));
    }
    for (id, name, since) in attention::stopped_streams(tx)? {
        let subject = ("data_stream", Some(id.to_string()), Some(name));
        all.push(item((Is::StreamStopped, Do::Activate), since, 1, subject, None));
    }
    for (id, name, since) in attention::disconnected_numbers(tx)? {
        let subject = ("channel_number", Some(id.to_string()), Some(name));
        all.push(item((Is::NumberDisconnected, Do::Reconnect), since, 1, subject, None));
    }
    for (id, name, since) in attention::rejected_templates(tx)? {
        let subject = ("template", Some(id.to_string()), Some(name));
        all.push(item((Is::TemplateRejected, Do::Edit), since, 1, subject, None));
    }
    Ok(())
}
