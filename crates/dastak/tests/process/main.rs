//! The binary as a process: started, killed, starved of its disk and its database, run twice, asked on its
//! command line. `TEST_ENGINE` chooses the store where both make sense.

// These tests watch processes, which live in real time.
#![allow(clippy::disallowed_methods)]

#[allow(dead_code, reason = "shared with the tests of the adapters, which use all of it")]
#[path = "../../../providers/tests/wire/bucket.rs"]
mod bucket;
mod channel;
mod chats;
mod command_line;
mod crash;
mod customers;
mod deliveries;
mod dialler;
mod drain;
mod engines;
mod exchange;
#[allow(dead_code, reason = "shared with the other test binary, which uses all of it")]
#[path = "../it/fakes/mod.rs"]
mod fakes;
mod faults;
mod forgetful;
#[path = "../../../providers/tests/wire/head.rs"]
mod head;
mod hostile;
#[allow(dead_code, reason = "shared with the tests of the store, which use all of it")]
#[path = "../../../store/tests/postgres/meddler.rs"]
mod meddler;
#[allow(dead_code, reason = "shared with the other test binary, which uses all of it")]
#[path = "../phone/server.rs"]
mod model;
mod node;
mod nodes;
mod operating;
mod phone_calls;
mod private_files;
mod reader;
#[allow(dead_code, reason = "shared with the other test binary, which uses all of it")]
#[path = "../it/receiver.rs"]
mod receiver;
mod recordings;
mod restores;
#[path = "../it/shows.rs"]
mod shows;
mod trips;
mod trunks;
#[allow(dead_code, reason = "shared with the tests of the store, which use all of it")]
#[path = "../../../store/tests/postgres/wire.rs"]
mod wire;
mod witness;
