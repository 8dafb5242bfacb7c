//! The guarded client against real sockets that misbehave in every known way.

mod addresses;
mod answers;
mod connections;
mod peer;
mod tls;
