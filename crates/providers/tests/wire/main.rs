//! Adapters against servers on this machine that speak each provider's wire format over real sockets.

#[allow(dead_code, reason = "shared with the tests of the service, which use all of it")]
mod bucket;
mod chain;
mod embeddings;
mod errors;
mod fakes;
mod following;
mod head;
mod model;
mod openai_speech;
mod recognisers;
mod server;
mod storage;
mod synthesisers;
