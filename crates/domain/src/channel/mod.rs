//! Rules of the messaging channel: content, providers, errors, statuses (docs/contract/channel.md).
//!
//! | file | holds |
//! |---|---|
//! | `content` | the content of a message, and its limits |
//! | `provider` | the port of messaging providers |
//! | `errors` | error codes of the provider and their effect |
//! | `notification` | webhook notifications: messages, statuses, templates, numbers, the account |
//! | `template` | templates: placeholders, filling, validation of new ones |
//! | `message` | the state machine of a message's status |
//! | `window` | the 24-hour customer service window |
//! | `consent` | stop words |
//! | `limits` | rate limits and messaging tiers |
//! | `campaign` | campaigns: values, rate, pauses, outcomes |
//! | `preflight` | estimates of duration and cost |

pub mod campaign;
pub mod consent;
pub mod content;
pub mod errors;
pub mod limits;
pub mod message;
pub mod notification;
pub mod preflight;
pub mod provider;
pub mod template;
pub mod window;

pub use content::{
    Ask, Button, Content, FilledTemplate, Interactive, ListRow, ListSection, Location, Media, MediaKind,
    MediaSource, Outgoing, Recipient,
};
pub use errors::{Effect, ProviderError};
pub use message::{Direction, Happened, LocalError, MessageStatus, Source, Times};
pub use notification::Notification;
pub use provider::{Account, Fault, Provider, ProviderKind, Sent};
pub use template::{Category, Params, Template, TemplateStatus};
