//! Webhooks: the outbox and the delivery engine (docs/contract/webhooks.md#deliveries).
//!
//! [`Engine::emit`] writes an event and its deliveries into the transaction of a use case (a transactional outbox),
//! already leased to this node, and passes them on in memory after the commit, so that usually nothing is read back.
//! Each endpoint has a lane: a bounded queue with a number of workers that adapts to its health, so that a slow or dead
//! receiver delays no other. Deliveries that do not fit into the lane are queued in the store. Outcomes are batched per
//! transaction. Deliveries of a dead node are due again when its lease expires; on an embedded store, at the next
//! start. Delivery is at-least-once.
//!
//! | file | holds |
//! |---|---|
//! | `pending` | an attempt to be made, one that has ended |
//! | `lanes` | a bounded queue and workers for each endpoint |
//! | `readers` | clients that wait for events (long polling) |
//! | `engine`, `endpoints` | the state of a node, and its cache of endpoints |
//! | `record` | outcomes are stored in batches |
//! | `outbox` | events and their deliveries are written and replayed |
//! | `attempt` | one attempt is made |
//! | `scan`, `sweep` | due deliveries are leased; old events are deleted |
//! | `jobs` | the loops |
//!
//! The engine opens transactions of its own, for deliveries and the outbox only.
//!
//! Three jobs: `dispatch` gives lanes workers, `record` stores outcomes, `scan` leases due deliveries and refills
//! lanes.

mod attempt;
mod endpoints;
mod engine;
mod jobs;
mod lanes;
mod outbox;
mod pending;
mod readers;
mod record;
mod scan;
mod sweep;

pub use attempt::sign;
pub use endpoints::{Endpoint, purpose};
pub use engine::{Engine, Settings};
pub use outbox::{Audience, NewEvent, Replayed, complete};
pub use readers::{MAX_READERS, Reader, Readers};
pub use sweep::KEPT;
