//! HTTP: from a socket to one use case and back. `router` leads every request the same way; handlers decode,
//! make one `app` call, encode.

pub mod body;
pub mod channel_hook;
pub mod connection;
pub mod dev;
pub mod handler;
pub mod multipart;
pub mod operator;
pub mod router;
pub mod server;
pub mod stream;
pub mod system;
pub mod v1;
