//! Events of an account of the messaging channel and its numbers (docs/contract/channel.md).

use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::samples::{BUSINESS, PHONE_NUMBER_ID, at};

/// A business number whose quality rating changed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NumberQuality {
    /// The provider's id of the number.
    pub phone_number_id: String,
    /// The business number, E.164.
    pub business_number: String,
    /// The previous rating: `GREEN`, `YELLOW` or `RED`.
    pub previous_quality: String,
    /// The new rating: `GREEN`, `YELLOW` or `RED`.
    pub quality: String,
}

impl NumberQuality {
    pub(super) fn sample() -> Self {
        Self {
            phone_number_id: PHONE_NUMBER_ID.into(),
            business_number: BUSINESS.into(),
            previous_quality: "GREEN".into(),
            quality: "YELLOW".into(),
        }
    }
}

/// A business number on which agents pause their replies.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NumberPause {
    /// The provider's id of the number.
    pub phone_number_id: String,
    /// The business number, E.164.
    pub business_number: String,
    /// When the pause ends; a later event may extend it.
    pub paused_until: Timestamp,
}

impl NumberPause {
    pub(super) fn sample() -> Self {
        Self {
            phone_number_id: PHONE_NUMBER_ID.into(),
            business_number: BUSINESS.into(),
            paused_until: at("2026-01-15T11:00:00.000Z"),
        }
    }
}

/// A restriction of the business account by the provider, with details in the provider's own form.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountRestriction {
    /// The provider's word: `ACCOUNT_RESTRICTION`, `ACCOUNT_VIOLATION` or `DISABLED_UPDATE`.
    pub event: String,
    /// Details of a restriction; null for other events.
    pub restriction_info: Option<Value>,
    /// Details of a violation; null for other events.
    pub violation_info: Option<Value>,
    /// Details of a ban; null for other events.
    pub ban_info: Option<Value>,
}

impl AccountRestriction {
    pub(super) fn sample() -> Self {
        Self {
            event: "ACCOUNT_RESTRICTION".into(),
            restriction_info: Some(json!([{"restriction_type": "RESTRICTED_BIZ_INITIATED_MESSAGING"}])),
            violation_info: None,
            ban_info: None,
        }
    }
}
