//! The prepaid wallet (docs/contract/wallet.md).

use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::{Method::GET, Operation, operation};
use crate::schema::{Field, counted, data, limit, offset};
use crate::scopes::BILLING_READ;

/// The prepaid wallet; money in minor units.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wallet {
    /// Sum of the ledger.
    pub balance_minor: i64,
    /// ISO 4217 code.
    pub currency: String,
    /// Price of one started minute of talk time.
    pub cost_per_minute_minor: i64,
}

/// One line of the ledger.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletTransaction {
    /// Its id.
    pub id: Id<ids::WalletTransaction>,
    /// What it is for; more kinds may come.
    pub kind: String,
    /// Positive adds, negative deducts.
    pub amount_minor: i64,
    /// Sum of the ledger up to and with this line.
    pub balance_after_minor: i64,
    /// Call id, chat id or payment id.
    pub reference: String,
    /// When it was written.
    pub created_at: Timestamp,
}

fn transactions_query() -> Vec<Field> {
    vec![limit(200), offset()]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/v1/wallet", "getWallet", "Wallet", "Balance and price per minute")
        .scope(BILLING_READ)
        .answers(&[(200, Some(data::<Wallet>))]),
    operation(GET, "/v1/wallet/transactions", "listWalletTransactions", "Wallet", "The ledger, newest first")
        .scope(BILLING_READ)
        .query(transactions_query)
        .answers(&[(200, Some(counted::<WalletTransaction>))]),
];
