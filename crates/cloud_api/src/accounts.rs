//! The account, its numbers, its subscription.

use domain::channel::provider::{Account, Fault, NumberState};
use serde_json::{Value, json};

use crate::client::Cloud;
use crate::wire::{Ask, accepted, one_line, path};

/// The requested fields of a number.
const FIELDS: &str = "id,display_phone_number,verified_name,quality_rating,quality_score,status,throughput,\
    whatsapp_business_manager_messaging_limit,messaging_limit_tier";
/// Most pages of numbers that are read.
const PAGES: usize = 10;

/// Validates the access token.
pub(crate) async fn check(cloud: &Cloud, account: &Account) -> Result<(), Fault> {
    let ask = Ask::get(path(&[&account.business_account], &[("fields", "id,name")]));
    accepted(account, cloud.exchange(account, ask).await).map(|_| ())
}

/// Subscribes the app to the account's notifications. A callback that is not an https address is left to the app's own
/// settings.
pub(crate) async fn subscribe(
    cloud: &Cloud,
    account: &Account,
    callback: &str,
    verify_token: &str,
) -> Result<(), Fault> {
    let body = if callback.starts_with("https://") {
        json!({"override_callback_uri": callback, "verify_token": verify_token})
    } else {
        json!({})
    };
    let ask = Ask::post(path(&[&account.business_account, "subscribed_apps"], &[]), &body);
    accepted(account, cloud.exchange(account, ask).await).map(|_| ())
}

/// The numbers of the account.
pub(crate) async fn numbers(cloud: &Cloud, account: &Account) -> Result<Vec<NumberState>, Fault> {
    let mut found = Vec::new();
    let mut after: Option<String> = None;
    for _ in 0..PAGES {
        let mut query = vec![("fields", FIELDS), ("limit", "100")];
        if let Some(after) = &after {
            query.push(("after", after));
        }
        let ask = Ask::get(path(&[&account.business_account, "phone_numbers"], &query));
        let page = accepted(account, cloud.exchange(account, ask).await)?;
        found.extend(page.get("data").and_then(Value::as_array).into_iter().flatten().filter_map(number));
        match next(&page) {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    Ok(found)
}

/// The cursor of the next page, if there is one.
pub(crate) fn next(page: &Value) -> Option<String> {
    page.pointer("/paging/next")?;
    page.pointer("/paging/cursors/after").and_then(Value::as_str).map(str::to_owned)
}

fn number(item: &Value) -> Option<NumberState> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).map(|text| one_line(text, 200));
    let quality = text("quality_rating").or_else(|| {
        item.pointer("/quality_score/score").and_then(Value::as_str).map(|text| one_line(text, 200))
    });
    Some(NumberState {
        phone_number_id: text("id")?,
        display_number: text("display_phone_number").unwrap_or_default(),
        verified_name: text("verified_name"),
        quality,
        tier: text("whatsapp_business_manager_messaging_limit").or_else(|| text("messaging_limit_tier")),
        status: text("status"),
        high_rate: item.pointer("/throughput/level").and_then(Value::as_str) == Some("HIGH"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_with_the_present_and_the_former_fields() {
        let read = number(&json!({
            "id": "111", "display_phone_number": "+91 80471 11222", "verified_name": "Acme", "quality_rating": "GREEN",
            "status": "CONNECTED", "throughput": {"level": "HIGH"}, "whatsapp_business_manager_messaging_limit": "TIER_2K",
            "messaging_limit_tier": "TIER_1K", "new_field": [1],
        }))
        .unwrap();
        assert_eq!(
            (read.phone_number_id.as_str(), read.tier.as_deref(), read.high_rate),
            ("111", Some("TIER_2K"), true)
        );
        let read =
            number(&json!({"id": "1", "quality_score": {"score": "RED"}, "messaging_limit_tier": "TIER_1K"}))
                .unwrap();
        assert_eq!(
            (read.quality.as_deref(), read.tier.as_deref(), read.high_rate),
            (Some("RED"), Some("TIER_1K"), false)
        );
        assert_eq!(number(&json!({"display_phone_number": "+91"})), None);
    }

    #[test]
    fn the_last_page_names_no_next_one() {
        let cursors = json!({"before": "a", "after": "b"});
        assert_eq!(next(&json!({"paging": {"cursors": cursors, "next": "https://x"}})).as_deref(), Some("b"));
        assert_eq!(next(&json!({"paging": {"cursors": cursors}})), None);
        assert_eq!(next(&json!({})), None);
    }
}
