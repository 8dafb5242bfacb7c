//! The use cases of the messaging channel (docs/contract/channel.md): connected accounts and their numbers, templates,
//! messages in both directions, conversations with agents, and campaigns.
//!
//! The files in layers. A file uses files of its own layer and of those above it in this table; a test holds that no
//! circle of dependencies is longer than three files.
//!
//! | layer | file | holds |
//! |---|---|---|
//! | vocabulary | `events` | what happens to messages, templates, numbers and accounts, as this crate observes it |
//! | | `view` | a message in the form of the API |
//! | | `people` | contacts of senders and recipients |
//! | | `campaigns::outcomes` | what messages and account events mean for campaigns |
//! | the provider | `notification_queue` | the queue of received notifications |
//! | | `sandbox` | a provider that delivers nothing and reports simulated outcomes |
//! | | `providers` | the provider of an account: the Cloud API or the sandbox |
//! | | `accounts` | an account opened with its credentials; whether its token is accepted |
//! | | `numbers` | business numbers, their quality, pauses of their agents |
//! | | `provider_errors` | what a provider's error means for the person and the number |
//! | observers | `voice_notes` | transcripts of voice notes |
//! | | `media` | received files |
//! | | `conversations` | conversations with agents, as they follow from messages |
//! | messages | `slots` | send slots that this node has reserved (PostgreSQL only) |
//! | | `prefetch` | reads in advance what a batch of messages needs (PostgreSQL only) |
//! | | `messages` | a message is accepted: checks, row, dispatch |
//! | outbound | `settle` | the outcome of a sent message is stored |
//! | | `outcome_batches` | batches outcomes into one transaction |
//! | | `deliver` | a claimed message is handed to the provider |
//! | | `send_queue` | the send queues of the numbers |
//! | inbound | `templates` | templates: submitted, changed, synchronised with the provider |
//! | | `unkept` | what a customer's message may be stored as
//! | | `inbound` | what customers write, and stop words |
//! | | `statuses` | delivery statuses of sent messages |
//! | | `notifications` | one notification is worked |
//! | | `inflow` | rate and backlog limits of notifications |
//! | | `inbox` | the webhook of an account, and the worker of the queue |
//! | use cases | `requests`, `request_batches` | messages over the API, and those that share a transaction |
//! | | `start` | a conversation is started with a template |
//! | | `speaking` | what agents and teammates say, in chats and in calls |
//! | | `conversation_views` | conversations in the form of the API; labels |
//! | | `hand_over` | hand-over to a helpdesk or a teammate, and handback |
//! | | `campaigns` | campaigns that send messages |
//! | | `board_messages` | messages that board columns send |
//! | operation | `connections` | an account is connected or disconnected |
//! | | `upkeep` | the daily check of an account |
//! | | `erasing` | erasure of a person |
//!
//! **An inbound message**: `inbox::receive` checks the signature and stores its items (`notification_queue`) before the
//! provider is answered. `inbox::work` takes what is due, in order for each person → `notifications::handle` →
//! `inbound::message` stores the message → `messages::dispatch` lets `conversations` and `campaigns::outcomes` observe it
//! and writes the webhook event. All of it is one transaction, which also removes the item from the queue. A status of a
//! sent message takes the same way through `statuses::status`.
//!
//! **An outbound message**: `requests`, `start`, `speaking`, `campaigns::sending` or `board_messages` →
//! `messages::accept` checks it and stores its row, claimed by the caller or queued. A queued one waits for
//! `send_queue::look`, which claims it when its number has a slot and repeats the checks. Then `deliver::deliver` asks the
//! provider once, outside of any transaction, and `outcome_batches` → `settle` stores the answer and dispatches the
//! change of status as above.

mod accounts;
pub mod board_messages;
pub mod campaigns;
pub mod connections;
pub mod conversation_views;
pub mod conversations;
mod deliver;
pub mod erasing;
mod events;
pub mod hand_over;
pub mod inbound;
pub mod inbox;
mod inflow;
pub mod media;
pub mod messages;
mod notification_queue;
pub mod notifications;
pub mod numbers;
mod outcome_batches;
pub mod people;
mod prefetch;
mod provider_errors;
pub mod providers;
mod request_batches;
pub mod requests;
pub mod sandbox;
pub mod send_queue;
mod settle;
mod slots;
pub mod speaking;
pub mod start;
pub mod statuses;
pub mod templates;
mod unkept;
pub mod upkeep;
pub mod view;
mod voice_notes;

pub use accounts::{account, token_refused};
pub use numbers::{Number, Which, sending_number};
pub use providers::provider;
