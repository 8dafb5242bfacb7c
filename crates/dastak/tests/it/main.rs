//! The service from outside: every test starts one (an app in a box with a fresh store) and speaks HTTP. `TEST_ENGINE` chooses the store;
//! `make test` runs everything on both.

mod app;
mod access;
mod agents;
mod conventions;
mod flows;
mod idempotency;
mod numbers;
mod operator;
mod scheduled_calls;
mod wallet;
