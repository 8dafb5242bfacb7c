//! `Idempotency-Key`, one mechanism for every endpoint that has it (docs/contract/README.md#idempotency).
//!
//! A request whose whole effect is one transaction reserves its key, does its work and stores its answer in that
//! transaction: a refusal or a crash rolls the reservation back. A request with an external effect ([`Once::reserve`] …
//! [`Once::finish`]) holds the key under a lease.

use std::collections::BTreeSet;

use api::error_codes;
use domain::tenant::Mode;
use domain::time::{DAY, MINUTE, Timestamp};
use serde_json::Value;
pub use store::idempotency::TakenKey;
use store::idempotency::{self, KeyState, Slot};
use store::{DbError, Tx};

use super::{App, Failure, actions};

/// Keys deleted in one transaction.
const BATCH: i64 = 500;
/// Lease of a reservation after a crash of its holder.
const LEASE: i64 = 2 * MINUTE;
/// Longest answer that is stored, bytes. Ceilings of requests keep answers far below.
const LONGEST_ANSWER: usize = 256 * 1024;

/// A stored answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// JSON body.
    pub body: String,
    /// Whether an earlier request made it.
    pub replayed: bool,
}

/// The idempotency of one request; without a key it does nothing.
#[derive(Debug, Clone)]
pub struct Once(Option<Slot>);

/// The result of a reservation.
pub enum Claim {
    /// It runs, and must finish or free its key.
    Mine,
    /// The first answer, to be returned again.
    Given(Answer),
}

/// Deletes keys after their 24 hours; returns when the next expire, tomorrow at the latest.
pub async fn sweep(app: &App) -> Result<Timestamp, DbError> {
    let now = app.clock.now();
    loop {
        // Keys that are made from now on are not old before tomorrow.
        let due = match app.store.read(idempotency::oldest).await? {
            Some(oldest) => oldest.plus(idempotency::KEPT).min(now.plus(DAY)),
            None => now.plus(DAY),
        };
        if due > now {
            return Ok(due);
        }
        app.store.tx(move |tx| idempotency::sweep(tx, now, BATCH)).await?;
    }
}

/// Which of these keys, of one workspace, mode and operation, were used before.
pub fn used<'a>(
    tx: &mut Tx<'_>,
    all: impl IntoIterator<Item = &'a Once>,
) -> Result<BTreeSet<String>, DbError> {
    let slots: Vec<&Slot> = all.into_iter().filter_map(|once| once.0.as_ref()).collect();
    Ok(idempotency::used(tx, &slots)?.into_iter().collect())
}

/// Stores the answers of batched requests, with keys of which none was used before. If one is used by now, the
/// transaction runs again on a shared store.
pub(crate) fn keep_new(
    tx: &mut Tx<'_>,
    now: Timestamp,
    kept: &[(Slot, Answer, String)],
) -> Result<(), Failure> {
    let done = |(slot, answer, contact): &(Slot, Answer, String)| TakenKey {
        slot: slot.clone(),
        done: true,
        until: now.plus(LEASE),
        answer: Some((answer.status, answer.body.clone())),
        contact: Some(contact.clone()),
    };
    take_new(tx, now, &kept.iter().map(done).collect::<Vec<_>>())
}

/// Reserves keys of batched requests, of which none was used before. If one is used by now, the transaction runs again
/// on a shared store.
pub fn take_new(tx: &mut Tx<'_>, now: Timestamp, taken: &[TakenKey]) -> Result<(), Failure> {
    Ok(idempotency::insert_taken(tx, now, taken)?)
}

impl Once {
    /// No key was sent.
    pub fn unkeyed() -> Self {
        Self(None)
    }

    /// A key was sent; `fingerprint` identifies the request.
    pub fn keyed(
        workspace: String,
        mode: Mode,
        operation: &'static str,
        key: String,
        fingerprint: String,
        holder: String,
    ) -> Self {
        Self(Some(Slot { workspace, mode, operation, key, fingerprint, former: None, holder }))
    }

    /// Also accepts the fingerprint that the previous version stored for the request.
    #[must_use]
    pub fn or_former(self, fingerprint: String) -> Self {
        Self(self.0.map(|slot| Slot { former: Some(fingerprint), ..slot }))
    }

    /// Reserves the key, in the caller's transaction.
    pub fn reserve(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<Claim, Failure> {
        let Some(slot) = &self.0 else { return Ok(Claim::Mine) };
        match idempotency::reserve(tx, slot, now, now.plus(LEASE))? {
            KeyState::Fresh => Ok(Claim::Mine),
            KeyState::Replay { status, body } => {
                actions::unchanged(tx);
                Ok(Claim::Given(Answer { status, body, replayed: true }))
            }
            KeyState::InProgress => Err(Failure::plain(error_codes::IDEMPOTENCY_IN_PROGRESS)),
            KeyState::Reused => Err(Failure::plain(error_codes::IDEMPOTENCY_KEY_REUSED)),
        }
    }

    /// The key, if one was sent.
    pub fn key(&self) -> Option<&str> {
        self.0.as_ref().map(|slot| slot.key.as_str())
    }

    /// The answer of a request, and its key ([`keep_new`]).
    pub(crate) fn answer(&self, status: u16, body: &Value) -> Result<(Answer, Option<Slot>), Failure> {
        let answer = Answer { status, body: body.to_string(), replayed: false };
        if self.0.is_some() && answer.body.len() > LONGEST_ANSWER {
            return Err(Failure::internal(format!(
                "an answer of {} bytes cannot be kept",
                answer.body.len()
            )));
        }
        Ok((answer, self.0.clone()))
    }

    /// The answer of a batched request, and its key to be reserved ([`take_new`]).
    ///
    /// # Errors
    /// The answer is too long.
    pub fn done(
        &self,
        now: Timestamp,
        status: u16,
        body: &Value,
        contact: &str,
    ) -> Result<(Answer, Option<TakenKey>), Failure> {
        let (answer, slot) = self.answer(status, body)?;
        let taken = slot.map(|slot| TakenKey {
            slot,
            done: true,
            until: now.plus(LEASE),
            answer: Some((status, answer.body.clone())),
            contact: Some(contact.to_owned()),
        });
        Ok((answer, taken))
    }

    /// The key of a request as it is to be taken ([`take_new`]) and held as by [`Once::hold_until`].
    pub fn held_until(
        &self,
        until: Timestamp,
        (status, body): (u16, &Value),
        contact: &str,
    ) -> Option<TakenKey> {
        self.0.clone().map(|slot| TakenKey {
            slot,
            done: false,
            until,
            answer: Some((status, body.to_string())),
            contact: Some(contact.to_owned()),
        })
    }

    /// The key of a request as it is to be taken ([`take_new`]) and held as by [`Once::hold`].
    pub fn held(&self, now: Timestamp) -> Option<TakenKey> {
        let slot = self.0.clone()?;
        Some(TakenKey { slot, done: false, until: now.plus(LEASE), answer: None, contact: None })
    }

    /// Stores the answer, in the caller's transaction. `contact` is its person, for erasure.
    pub fn finish(
        &self,
        tx: &mut Tx<'_>,
        status: u16,
        body: &Value,
        contact: Option<&str>,
    ) -> Result<Answer, Failure> {
        let (answer, slot) = self.answer(status, body)?;
        if let Some(slot) = slot {
            idempotency::finish(tx, &slot, status, &answer.body, contact)?;
        }
        Ok(answer)
    }

    /// Holds the key for its 24 hours, in the transaction before the external effect: whatever happens to this request,
    /// no other one runs it again. [`Once::finish`] and [`Once::free`] still work.
    pub fn hold(&self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        if let Some(slot) = &self.0 {
            idempotency::keep_held(tx, slot)?;
        }
        Ok(())
    }

    /// Holds the key as [`Once::hold`] does, with the answer that a retry gets when no other was stored by `until`: the
    /// process may die, or the transaction's own answer be lost.
    pub fn hold_until(
        &self,
        tx: &mut Tx<'_>,
        until: Timestamp,
        (status, body): (u16, &Value),
        contact: &str,
    ) -> Result<(), Failure> {
        if let Some(slot) = &self.0 {
            idempotency::keep_held_until(tx, slot, until, (status, &body.to_string()), Some(contact))?;
        }
        Ok(())
    }

    /// Key and holder, for the node that finishes or frees the key after a crash of this request.
    pub fn key_and_holder(&self) -> Option<(String, String)> {
        self.0.as_ref().map(|slot| (slot.key.clone(), slot.holder.clone()))
    }

    /// Frees the key after a refusal that stored nothing.
    pub fn free(&self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        if let Some(slot) = &self.0 {
            idempotency::free(tx, slot)?;
        }
        Ok(())
    }

    /// Runs a request whose whole effect is one transaction, and stores its answer.
    pub async fn run(
        self,
        app: &App,
        status: u16,
        mut work: impl FnMut(&mut Tx<'_>) -> Result<Value, Failure> + Send + 'static,
    ) -> Result<Answer, Failure> {
        let now = app.clock.now();
        app.store
            .tx(move |tx| match self.reserve(tx, now)? {
                Claim::Given(answer) => Ok(answer),
                Claim::Mine => {
                    let body = work(tx)?;
                    self.finish(tx, status, &body, None)
                }
            })
            .await
    }
}
