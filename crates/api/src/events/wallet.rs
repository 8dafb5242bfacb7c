//! Events of the wallet.

use schemars::JsonSchema;
use serde::Serialize;

/// A wallet that reached a lower level.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LowWallet {
    /// `low` or `exhausted`.
    pub level: String,
    /// The balance, minor units.
    pub balance_minor: i64,
    /// The balance below which the wallet is low, minor units.
    pub threshold_minor: i64,
    /// ISO 4217.
    pub currency: String,
    /// The price of a minute, minor units.
    pub cost_per_minute_minor: i64,
    /// Minutes that the balance pays for; null where minutes cost nothing.
    pub estimated_minutes_left: Option<i64>,
}

impl LowWallet {
    /// A wallet that pays for half an hour.
    pub fn sample() -> Self {
        Self {
            level: "low".into(),
            balance_minor: 17_400,
            threshold_minor: 18_000,
            currency: "INR".into(),
            cost_per_minute_minor: 600,
            estimated_minutes_left: Some(29),
        }
    }
}
