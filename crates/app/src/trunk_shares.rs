//! The trunks that several nodes share: who has how many of their channels, and who registers
//! (docs/contract/telephony.md#nodes).

pub use store::trunk_shares::{Ask, Given, LEASE, RegistrarAsk};

use super::{App, Failure, topics};

/// Settles what a process of this node has of trunks, in the order of the asks, and wakes other nodes where that is
/// of use to them. `patient`: processes that have not been heard of for the lease are given up.
///
/// # Errors
/// Those of the store; nobody has been given anything that counts then.
pub async fn settle(app: &App, holder: &str, asks: Vec<Ask>, patient: bool) -> Result<Vec<Given>, Failure> {
    let (holder, node) = (holder.to_owned(), app.ports.node.clone());
    app.store
        .tx(move |tx| {
            let given = store::trunk_shares::settle(tx, &holder, &node, &asks, patient)?;
            if given.iter().any(|given| given.tell) {
                tx.wake(topics::TRUNKS);
            }
            Ok::<_, Failure>(given)
        })
        .await
}

/// Gives back everything that a process has, because it ends.
///
/// # Errors
/// Those of the store; the lease runs out then.
pub async fn release(app: &App, holder: &str) -> Result<(), Failure> {
    let (holder, node) = (holder.to_owned(), app.ports.node.clone());
    app.store
        .tx(move |tx| {
            store::trunk_shares::release(tx, &holder, &node)?;
            tx.wake(topics::TRUNKS);
            Ok::<_, Failure>(())
        })
        .await
}
