//! The service from outside: every test starts one (an app in a box with a fresh store) and speaks HTTP. `TEST_ENGINE` chooses the store;
//! `make test` runs everything on both.

mod app;
mod access;
mod conventions;
mod deliveries;
mod idempotency;
mod listen;
mod operator;
mod receiver;
mod wallet;
mod webhooks;
