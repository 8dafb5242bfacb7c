//! `/v1`: one file a noun.

mod account;
mod wallet;
mod webhooks;

pub use wallet::Ledger;

use super::handler::Handler;
use crate::keyed;

/// The handlers of the public API by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("getAccount", keyed!(account::get)),
        ("getWallet", keyed!(wallet::get)),
        ("listWalletTransactions", keyed!(wallet::transactions)),
        ("listWebhooks", keyed!(webhooks::list)),
        ("createWebhook", keyed!(webhooks::create)),
        ("getWebhook", keyed!(webhooks::get)),
        ("updateWebhook", keyed!(webhooks::update)),
        ("deleteWebhook", keyed!(webhooks::delete)),
        ("rotateWebhookSecret", keyed!(webhooks::rotate_secret)),
        ("testWebhook", keyed!(webhooks::test)),
        ("listWebhookDeliveries", keyed!(webhooks::deliveries)),
        ("getWebhookDelivery", keyed!(webhooks::delivery)),
        ("replayWebhookDelivery", keyed!(webhooks::replay)),
        ("listEvents", keyed!(webhooks::events)),
        ("triggerEvent", keyed!(webhooks::trigger)),
    ]
}
