//! The client of the messaging channel's Cloud API: requests, responses, webhook notifications (docs/channel.md).
//!
//! | file | holds |
//! |---|---|
//! | `client` | the client and its settings |
//! | `wire` | one request, and the meaning of an unsuccessful response |
//! | `sending` | sends messages |
//! | `media` | fetches and uploads files |
//! | `templates` | templates and samples of their headers |
//! | `accounts` | the account, its numbers, its subscription |
//! | `provider` | the port [`domain::channel::Provider`] |
//! | `notifications` | webhook notifications: signature, items |
//!
//! All requests go through the guarded client, since responses of the API name the addresses of media. Messages are sent
//! at most once: see `sending`.

mod accounts;
mod client;
mod media;
pub mod notifications;
mod provider;
mod sending;
mod templates;
mod wire;

pub use client::Cloud;
