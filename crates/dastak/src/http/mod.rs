//! HTTP: from a socket to one use case and back. `router` leads every request the same way; handlers decode,
//! make one `app` call, encode.

mod actions;
pub mod answers;
pub mod body;
pub mod certificates;
pub mod channel_hook;
mod codings;
pub mod connection;
pub mod console;
pub mod console_files;
pub mod dev;
pub mod handler;
pub mod link_page;
pub mod manual;
mod masking;
pub mod mcp;
pub mod multipart;
pub mod openid;
pub mod operator;
pub mod parse_errors;
pub mod people;
pub mod router;
pub mod server;
pub mod sse;
pub mod stream;
pub mod system;
pub mod v1;
