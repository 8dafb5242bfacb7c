//! HTTP: from a socket to one use case and back. `router` leads every request the same way; handlers decode,
//! make one `app` call, encode.

pub mod answers;
pub mod body;
pub mod channel_hook;
pub mod connection;
pub mod dev;
pub mod handler;
pub mod multipart;
pub mod operator;
pub mod parse_errors;
pub mod router;
pub mod server;
pub mod stream;
pub mod system;
pub mod v1;
