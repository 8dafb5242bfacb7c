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
//! | `inflow` | how much comes in from a connection, and waits |
//! | `notifications` | what follows from each |
//! | `takers` | messages and statuses, handed to their nouns |
//! | `messages` | a message is taken: its checks, its row |
//! | `send` | a message goes out, once |
//! | `slots` | slots of busy numbers that a node has reserved |
//! | `statuses` | how it goes on |
//! | `inbound` | what customers write, and what their words mean |
//! | `media` | received files |
//! | `voice_notes` | what is said in them |
//! | `people` | the contacts of those who write and are written to |
//! | `followers` | who hears of messages |
//! | `requests` | messages over the API |
//! | `together` | those that are taken together |
//! | `outcomes` | what came of messages, stored together |
//! | `ahead` | what many messages rest on, read at once |
//! | `view` | a message as clients see it |
//! | `erasing` | what an erasure takes away |
//! | `start` | a conversation is started with a template |
//! | `conversations` | conversations that customers open and carry on |
//! | `speaking` | what agents and teammates say, in chats and in calls |
//! | `hand_over` | helpdesk, teammates, and the end that a client asks for |
//! | `conversation_views` | conversations as clients see them; labels |
//! | `campaigns` | campaigns that send messages |
//! | `board_messages` | messages that the columns of boards send |
//! | `facts` | who else hears of templates, numbers and accounts |
//! | `upkeep` | the daily look at an account |

mod ahead;
pub mod board_messages;
pub mod campaigns;
pub mod connections;
pub mod conversation_views;
pub mod conversations;
pub mod erasing;
pub mod facts;
pub mod followers;
pub mod hand_over;
pub mod inbound;
pub mod inbox;
mod inflow;
pub mod media;
pub mod messages;
pub mod notifications;
pub mod numbers;
mod outcomes;
pub mod people;
pub mod providers;
pub mod requests;
pub mod sandbox;
pub mod send;
mod slots;
pub mod speaking;
pub mod start;
pub mod statuses;
mod takers;
pub mod templates;
mod together;
pub mod upkeep;
pub mod view;
mod voice_notes;

pub use connections::{account, token_refused};
pub use numbers::{Number, Which, sending_number};
pub use providers::provider;
