//! Events of an account of the messaging channel and its numbers (docs/contract/channel.md).

use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::samples::{BUSINESS, PHONE_NUMBER_ID, at};

/// A number whose quality rating changed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NumberQuality {
    /// The provider's id of the number.
    pub phone_number_id: String,
    /// The number, E.164.
    pub business_number: String,
    /// `GREEN`, `YELLOW` or `RED`.
    pub previous_quality: String,
    /// `GREEN`, `YELLOW` or `RED`.
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

/// A number on which agents do not reply for a while.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NumberPause {
    /// The provider's id of the number.
    pub phone_number_id: String,
    /// The number, E.164.
    pub business_number: String,
    /// The end of the pause.
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

/// What the provider did to the business account. The details are in the provider's form.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountRestriction {
    /// The provider's word: `ACCOUNT_RESTRICTION`, `ACCOUNT_VIOLATION` or `DISABLED_UPDATE`.
    pub event: String,
    pub restriction_info: Option<Value>,
    pub violation_info: Option<Value>,
    /// Why it is disabled.
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
