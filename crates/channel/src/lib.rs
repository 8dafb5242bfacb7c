//! The use cases of the messaging channel (docs/contract/channel.md): connections, numbers, templates, and what its
//! providers tell.
//!
//! | file | holds |
//! |---|---|
//! | `connections` | connecting an account, its credentials, whether its token is accepted |
//! | `numbers` | business numbers, their quality, pauses of their agents |
//! | `templates` | templates: handed in, changed, read from the provider, followed |
//! | `providers` | who carries the messages of an account |
//! | `sandbox` | the provider that carries them nowhere |
//! | `inbox` | notifications: stored before they are acknowledged, worked in order |
//! | `notifications` | what follows from each |
//! | `takers` | messages and statuses, handed to their nouns |
//! | `facts` | who else hears of templates, numbers and accounts |
//! | `upkeep` | the daily look at an account |

pub mod connections;
pub mod facts;
pub mod inbox;
pub mod notifications;
pub mod numbers;
pub mod providers;
pub mod sandbox;
mod takers;
pub mod templates;
pub mod upkeep;

pub use connections::{account, token_refused};
pub use numbers::{Number, Which, sending_number};
pub use providers::provider;
