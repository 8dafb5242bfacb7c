//! The messaging channel: what is sent and received there, who carries it, and what its refusals mean
//! (docs/contract/channel.md).
//!
//! | file | holds |
//! |---|---|
//! | `content` | what a message says, and its limits |
//! | `provider` | the port to those who carry messages |
//! | `errors` | what a provider's error codes mean |
//! | `notification` | what a provider tells: messages, statuses, news of templates, numbers and the account |
//! | `template` | templates: what they need, how they are filled, what a new one may look like |
//! | `message` | where a message stands, and what moves it |
//! | `window` | the 24 hours in which a customer may be written to freely |
//! | `consent` | words that stop messages, and those that allow them again |
//! | `limits` | how fast and to how many people may be sent |
//! | `campaign` | campaigns: values, pace, what stops them, what becomes of people |
//! | `preflight` | how long a campaign takes, and what it costs |

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
