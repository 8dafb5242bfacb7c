//! The service from outside: every test starts one (an app in a box with a fresh store) and speaks HTTP. `TEST_ENGINE` chooses the store;
//! `make test` runs everything on both.

mod access;
mod agents;
mod analytics;
mod app;
mod call_faults;
mod call_simulation;
mod calls;
mod contacts;
mod conventions;
mod decision_log;
mod deliveries;
mod dialler;
mod do_not_call;
mod erasure;
mod flows;
mod idempotency;
mod lines;
mod listen;
mod nudge_transitions;
mod nudges;
mod numbers;
mod operator;
mod receiver;
mod scheduled_calls;
mod wallet;
mod webhooks;
