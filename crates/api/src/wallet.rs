//! The prepaid wallet (docs/contract/wallet.md).

use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::{Method::GET, Operation, operation};
use crate::schema::{Field, counted, data, limit, offset};
use crate::scopes::BILLING_READ;

/// The prepaid wallet of the workspace.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wallet {
    /// Sum of the ledger in minor units (paise); holds are not deducted.
    pub balance_minor: i64,
    /// Currency of the amounts, an ISO 4217 code.
    pub currency: String,
    /// Price of one started minute of talk time, in minor units.
    pub cost_per_minute_minor: i64,
}

/// A line of the ledger; lines never change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletTransaction {
    /// Id of the line, `wtx_…`.
    pub id: Id<ids::WalletTransaction>,
    /// `signup_grant`, `topup`, `adjustment`, `call_charge`, `chat_charge` or
    /// `evaluation_charge`; more kinds may be added.
    pub kind: String,
    /// Amount in minor units: positive adds, negative deducts.
    pub amount_minor: i64,
    /// Balance after this line, in minor units.
    pub balance_after_minor: i64,
    /// Id of the call or chat that was charged, or the operator's reference.
    pub reference: String,
    /// When the line was written.
    pub created_at: Timestamp,
}

fn transactions_query() -> Vec<Field> {
    vec![limit(200), offset()]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/v1/wallet", "getWallet", "Wallet", "Balance of the wallet and price per minute")
        .scope(BILLING_READ)
        .answers(&[(200, Some(data::<Wallet>))]),
    operation(
        GET,
        "/v1/wallet/transactions",
        "listWalletTransactions",
        "Wallet",
        "Lines of the ledger, newest first",
    )
    .scope(BILLING_READ)
    .query(transactions_query)
    .answers(&[(200, Some(counted::<WalletTransaction>))]),
];
