//! Events of the wallet.

use schemars::JsonSchema;
use serde::Serialize;

/// A wallet whose balance reached a lower level.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LowWallet {
    /// `low`, or `exhausted` when not one minute is left.
    pub level: String,
    /// Balance in minor units (paise).
    pub balance_minor: i64,
    /// The balance below which the level is `low`, in minor units.
    pub threshold_minor: i64,
    /// Currency of the amounts, an ISO 4217 code.
    pub currency: String,
    /// Price of one started minute of talk time, in minor units.
    pub cost_per_minute_minor: i64,
    /// Minutes that the balance pays for; null when a minute costs nothing.
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
