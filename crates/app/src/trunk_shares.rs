//! Trunks that several nodes share: the allocation of their channels, and who registers
//! (docs/contract/telephony.md#nodes).

pub use store::trunk_shares::{GrantedShare, LEASE, RegistrarRequest, ShareRequest};

use super::{App, Failure, topics};

/// Settles the channels of a process of this node, in the order of the requests, and wakes other nodes where they can
/// use the result. `patient`: the channels of processes with an expired lease are released.
///
/// # Errors
/// Those of the store; no allocation counts then.
pub async fn settle(
    app: &App,
    holder: &str,
    asks: Vec<ShareRequest>,
    patient: bool,
) -> Result<Vec<GrantedShare>, Failure> {
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

/// Releases everything that a process has, because it ends.
///
/// # Errors
/// Those of the store; the lease expires then.
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
