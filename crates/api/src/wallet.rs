//! The prepaid wallet (docs/contract/wallet.md).

use domain::ids::{Id, WalletTransaction};
use domain::time::Timestamp;
use serde::Serialize;

use crate::operations::{Method::GET, Operation, operation};
use crate::schema::{Field, Schema, count, data, id, limit, list, need, object, offset, text, time};
use crate::scopes::BILLING_READ;

/// Answer of `GET /v1/wallet`; money in minor units.
#[derive(Debug, Serialize)]
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
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Transaction {
    /// Its id.
    pub id: Id<WalletTransaction>,
    /// What it is for; the list of kinds is open.
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

/// Shape of [`Wallet`].
pub fn wallet() -> Schema {
    object(vec![need("balanceMinor", count()), need("currency", text()), need("costPerMinuteMinor", count())])
}

/// Shape of [`Transaction`].
pub fn transaction() -> Schema {
    object(vec![
        need("id", id::<WalletTransaction>()),
        need("kind", text()),
        need("amountMinor", count()),
        need("balanceAfterMinor", count()),
        need("reference", text()),
        need("createdAt", time()),
    ])
}

fn wallet_answer() -> Schema {
    data(wallet())
}

fn transactions_answer() -> Schema {
    object(vec![need("data", list(transaction())), need("total", count())])
}

fn transactions_query() -> Vec<Field> {
    vec![limit(200), offset()]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, "/v1/wallet", "getWallet", "Wallet", "Balance and price per minute")
        .scope(BILLING_READ)
        .answers(&[(200, Some(wallet_answer))]),
    operation(GET, "/v1/wallet/transactions", "listWalletTransactions", "Wallet", "The ledger, newest first")
        .scope(BILLING_READ)
        .query(transactions_query)
        .answers(&[(200, Some(transactions_answer))]),
];
