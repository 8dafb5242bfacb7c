//! The throttle of sign-in (docs/contract/members.md#throttle): wrong passwords by account, by address and by device. An
//! attempt counts before its password is checked and is taken back if it was right, so that attempts at the same moment
//! cannot pass together. A refused attempt computes nothing.
//!
//! Counters are slots of fixed tables, found by a keyed hash: no number of attempts makes them grow, and nobody can choose
//! a slot. The counts are of this node.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use domain::time::{MINUTE, SECOND, Timestamp};
use runtime::crypto::Keyring;

use super::access::network_of;

/// Slots of each table.
const SLOTS: usize = 1 << 16;
/// Wrong passwords of an account, or of a device that it knows, before it must wait.
const WRONG_OF_ACCOUNT: u32 = 10;
/// The same of an IPv4 address or an IPv6 /64, behind which there may be an office.
const WRONG_OF_ADDRESS: u32 = 50;
/// The first wait; each further wrong password doubles it.
const FIRST_WAIT: i64 = MINUTE;
const LONGEST_WAIT: i64 = 15 * MINUTE;
/// Time without an attempt after which the count starts anew.
const FORGOTTEN: i64 = 30 * MINUTE;

#[derive(Debug, Clone, Copy)]
struct Slot {
    wrong: u32,
    last: Timestamp,
    /// No attempt is allowed before.
    until: Timestamp,
}

impl Slot {
    const NEW: Self = Self { wrong: 0, last: Timestamp(0), until: Timestamp(0) };

    /// Counts an attempt; `Err` with the milliseconds to wait.
    fn enter(&mut self, allowed: u32, now: Timestamp) -> Result<(), i64> {
        if now < self.until {
            return Err(self.until.0 - now.0);
        }
        if self.last.plus(FORGOTTEN) <= now {
            self.wrong = 0;
        }
        self.last = now;
        self.wrong = self.wrong.saturating_add(1);
        if self.wrong >= allowed {
            let doubled = FIRST_WAIT << (self.wrong - allowed).min(10);
            self.until = now.plus(doubled.min(LONGEST_WAIT));
        }
        Ok(())
    }

    /// Takes an attempt back.
    fn leave(&mut self) {
        self.wrong = self.wrong.saturating_sub(1);
        self.until = Timestamp(0);
    }
}

struct Table(Mutex<Box<[Slot]>>);

impl Default for Table {
    fn default() -> Self {
        Self(Mutex::new(vec![Slot::NEW; SLOTS].into()))
    }
}

impl Table {
    fn of<T>(&self, slot: usize, with: impl FnOnce(&mut Slot) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)[slot])
    }
}

/// The attempts of a node.
#[derive(Default)]
pub struct Attempts {
    accounts: Table,
    addresses: Table,
    devices: Table,
}

/// What an attempt counts toward.
#[derive(Debug, Clone)]
pub struct Origin {
    account: usize,
    address: usize,
    /// Of a device that has signed in to this account before: only its own count applies.
    device: Option<usize>,
}

fn slot(keyring: &Keyring, what: &str) -> usize {
    let hash = keyring.hash(what);
    hash.get(..8).and_then(|digits| usize::from_str_radix(digits, 16).ok()).unwrap_or(0) % SLOTS
}

impl Origin {
    /// An attempt to sign in with this address; `device` is the name that a known device bears.
    pub fn new(keyring: &Keyring, email: &str, address: IpAddr, device: Option<&str>) -> Self {
        Self {
            account: slot(keyring, &format!("attempt:account:{email}")),
            address: slot(keyring, &format!("attempt:address:{}", network_of(address))),
            device: device.map(|device| slot(keyring, &format!("attempt:device:{device}"))),
        }
    }
}

impl Attempts {
    /// Counts an attempt.
    ///
    /// # Errors
    /// The seconds to wait.
    pub fn enter(&self, origin: &Origin, now: Timestamp) -> Result<(), i64> {
        let seconds = |wait: i64| ((wait + SECOND - 1) / SECOND).max(1);
        if let Some(device) = origin.device {
            return self.devices.of(device, |slot| slot.enter(WRONG_OF_ACCOUNT, now)).map_err(seconds);
        }
        self.addresses.of(origin.address, |slot| slot.enter(WRONG_OF_ADDRESS, now)).map_err(seconds)?;
        self.accounts.of(origin.account, |slot| slot.enter(WRONG_OF_ACCOUNT, now)).map_err(|wait| {
            // It was not checked, so the address did nothing wrong.
            self.addresses.of(origin.address, Slot::leave);
            seconds(wait)
        })
    }

    /// Takes an attempt back whose password was right, or was not checked.
    pub fn leave(&self, origin: &Origin) {
        match origin.device {
            Some(device) => self.devices.of(device, Slot::leave),
            None => {
                self.addresses.of(origin.address, Slot::leave);
                self.accounts.of(origin.account, Slot::leave);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * MINUTE;

    fn origin(email: &str, address: &str, device: Option<&str>) -> Origin {
        Origin::new(&Keyring::new(&[7; 32]), email, address.parse().unwrap(), device)
    }

    #[test]
    fn an_account_waits_longer_each_time_and_its_owners_device_does_not() {
        let (attempts, now) = (Attempts::default(), Timestamp(HOUR));
        for number in 0..10 {
            let from = origin("asha@example.com", &format!("192.0.2.{number}"), None);
            assert_eq!(attempts.enter(&from, now), Ok(()), "{number}");
        }
        let stranger = origin("asha@example.com", "198.51.100.7", None);
        assert_eq!(attempts.enter(&stranger, now), Err(60));
        assert_eq!(attempts.enter(&origin("ravi@example.com", "198.51.100.7", None), now), Ok(()));
        let known = origin("asha@example.com", "192.0.2.1", Some("her laptop"));
        assert_eq!(attempts.enter(&known, now), Ok(()));
        attempts.leave(&known);
        let mut at = now;
        for wait in [60, 120, 240, 480, 900, 900] {
            assert_eq!(attempts.enter(&stranger, at), Err(wait));
            at = at.plus(wait * SECOND);
            assert_eq!(attempts.enter(&stranger, at), Ok(()), "one after each wait");
        }
        assert_eq!(attempts.enter(&stranger, at.plus(FORGOTTEN)), Ok(()));
        assert_eq!(attempts.enter(&stranger, at.plus(FORGOTTEN)), Ok(()), "it was forgotten");
    }

    #[test]
    fn a_right_password_is_taken_back() {
        let (attempts, now) = (Attempts::default(), Timestamp(HOUR));
        let own = origin("asha@example.com", "192.0.2.1", None);
        for _ in 0..100 {
            assert_eq!(attempts.enter(&own, now), Ok(()));
            attempts.leave(&own);
        }
    }

    #[test]
    fn an_address_waits_whatever_accounts_it_tries() {
        let (attempts, now) = (Attempts::default(), Timestamp(HOUR));
        let passed = (0..100)
            .filter(|number| {
                let from = origin(&format!("{number}@example.com"), &format!("2001:db8::{number}"), None);
                attempts.enter(&from, now).is_ok()
            })
            .count();
        assert_eq!(passed, 50, "a network of 64 bits is one address");
    }
}
