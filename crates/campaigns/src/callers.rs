//! The caller ids of a campaign (docs/contract/campaigns.md#caller-ids): several in rotation, each with a daily cap of
//! dials, and always the same one for the same person.

use domain::campaign::Schedule;
use domain::ids::{Campaign, Id};

use domain::time::Timestamp;
use store::campaigns::list::EntryRow;
use store::campaigns::{CampaignRow, due};
use store::{DbError, TenantTx, Tx};

/// The number for one dial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This number of the pool.
    Number(String),
    /// The number of this person, or every number of the pool, has reached its cap for today.
    Full,
    /// There is no pool.
    Any,
}

/// A number of the pool.
#[derive(Debug, Clone)]
struct Own {
    number: String,
    cap: i64,
    /// Dials today, including those of this round.
    dials: i64,
    /// Of these, those not stored yet.
    new: i64,
}

/// The pool of a campaign, as far as the workspace owns it, with the dials of today.
#[derive(Debug, Clone)]
pub(crate) struct Callers {
    pool: bool,
    numbers: Vec<Own>,
}

impl Callers {
    /// The current pool of a campaign.
    pub(crate) fn of(
        tx: &mut Tx<'_>,
        campaign: &CampaignRow,
        schedule: &Schedule,
        owned: &[String],
        now: Timestamp,
    ) -> Result<Self, DbError> {
        let pool = &campaign.settings.caller_ids;
        if pool.is_empty() {
            return Ok(Self { pool: false, numbers: Vec::new() });
        }
        let dialled = due::dials_of_day(&mut tx.of(campaign.workspace), campaign.id, schedule.day(now))?;
        let dials_of =
            |number: &str| dialled.iter().find(|(known, _)| known == number).map_or(0, |(_, dials)| *dials);
        let numbers = pool
            .iter()
            .filter(|own| owned.contains(&own.number))
            .map(|own| Own {
                number: own.number.clone(),
                cap: own.daily_cap,
                dials: dials_of(&own.number),
                new: 0,
            })
            .collect();
        Ok(Self { pool: true, numbers })
    }

    /// Whether there is a pool of which the workspace owns no number any more.
    pub(crate) fn none_owned(&self) -> bool {
        self.pool && self.numbers.is_empty()
    }

    /// The number for a person: the one that called before, else the one with the fewest dials today.
    pub(crate) fn choose(&self, row: &EntryRow) -> Choice {
        if !self.pool {
            return Choice::Any;
        }
        let of_person = self.numbers.iter().find(|own| Some(&own.number) == row.from_number.as_ref());
        let candidates = match of_person {
            Some(own) => std::slice::from_ref(own),
            None => &self.numbers[..],
        };
        candidates
            .iter()
            .filter(|own| own.dials < own.cap)
            .min_by_key(|own| own.dials)
            .map_or(Choice::Full, |own| Choice::Number(own.number.clone()))
    }

    /// A dial from this number.
    pub(crate) fn count(&mut self, number: &str) {
        if let Some(own) = self.numbers.iter_mut().find(|own| own.number == number) {
            own.dials += 1;
            own.new += 1;
        }
    }

    /// Stores the dials of this round.
    pub(crate) fn store(&self, tx: &mut TenantTx, campaign: Id<Campaign>, day: i64) -> Result<(), DbError> {
        for own in self.numbers.iter().filter(|own| own.new > 0) {
            due::count_dials(tx, campaign, &own.number, day, own.new)?;
        }
        Ok(())
    }
}
