//! A calling list from a request: its rows are streamed into the store, beside the current list, and take effect
//! atomically (docs/contract/campaigns.md#calling-list). The list is never in memory as a whole, and nobody waits for
//! all of it.

use std::collections::HashSet;

use api::campaigns::{CallingList, NewCallingListRow};
use app::{App, Failure, topics};
use domain::campaign::Tally;
use domain::ids::{Campaign, Id};
use domain::phone::E164;
use domain::tenant::Tenant;
use store::campaigns;
use store::campaigns::list::{self as lists, FreshRow};

use super::campaign::totals;
use super::find_for_update;
use super::list::{
    Lacking, Needed, aside, check_needed, check_quiet, check_replaceable, needed, put_in_force, read_rows,
};

/// Rows in one transaction.
pub(crate) const PIECE: usize = 2_000;

/// A list that is being filled.
pub struct Filling {
    tenant: Tenant,
    campaign: Id<Campaign>,
    list: i64,
    needed: Needed,
    seen: HashSet<E164>,
    /// The missing variables of its rows; once there are some, no more rows are stored.
    lacking: Lacking,
    rows: usize,
}

impl Filling {
    /// Begins a list beside the current one.
    ///
    /// # Errors
    /// 404, and 409 for a campaign whose list cannot be replaced.
    pub async fn begin(app: &App, tenant: Tenant, campaign: Id<Campaign>) -> Result<Self, Failure> {
        let now = app.clock.now();
        let (list, needed) = app
            .of(tenant)
            .tx(move |tx| {
                let row = find_for_update(tx, campaign)?;
                check_replaceable(&row)?;
                check_quiet(tx, &row)?;
                let list = row.newest_list + 1;
                campaigns::set_list(tx, campaign, row.list, list, now)?;
                lists::begin_filling(tx, campaign, list, now)?;
                // One that a crash leaves behind is given up in time.
                tx.wake(topics::LISTS);
                Ok::<_, Failure>((list, needed(tx, &row)?))
            })
            .await?;
        let (seen, lacking) = (HashSet::new(), Lacking::default());
        Ok(Self { tenant, campaign, list, needed, seen, lacking, rows: 0 })
    }

    /// Adds the next rows, each checked against its limits.
    ///
    /// # Errors
    /// 400 names the row, 409 when the list cannot be replaced any more.
    pub async fn add(&mut self, app: &App, rows: Vec<NewCallingListRow>) -> Result<(), Failure> {
        let (context, needed, before) = (app.context(), self.needed.clone(), self.rows);
        let (mut seen, mut lacking) = (std::mem::take(&mut self.seen), std::mem::take(&mut self.lacking));
        self.rows += rows.len();
        let (mut fresh, bytes);
        (fresh, bytes, self.seen, self.lacking) = aside(move || {
            let (fresh, bytes) = read_rows(&context, &needed, rows, before, &mut seen, &mut lacking)?;
            Ok((fresh, bytes, seen, lacking))
        })
        .await?;
        let mut at = before as i64 + 1;
        while !fresh.is_empty() && !self.lacking.any() {
            let rest = fresh.split_off(fresh.len().min(PIECE));
            let count = fresh.len() as i64;
            // The bytes of all of them are counted with the first.
            let bytes = if at == before as i64 + 1 { bytes } else { 0 };
            self.store(app, at, std::mem::replace(&mut fresh, rest), bytes).await?;
            at += count;
        }
        Ok(())
    }

    async fn store(&self, app: &App, position: i64, rows: Vec<FreshRow>, bytes: i64) -> Result<(), Failure> {
        let (tenant, campaign, list, now) = (self.tenant, self.campaign, self.list, app.clock.now());
        app.of(tenant)
            .tx_long(move |tx| {
                let row = find_for_update(tx, campaign)?;
                check_replaceable(&row)?;
                let valid = rows.iter().filter(|row| row.valid).count() as i64;
                if !lists::fill(tx, campaign, list, (rows.len() as i64, valid, bytes), now)? {
                    return Err(given_up());
                }
                Ok(lists::insert_all(tx, campaign, list, position, &rows)?)
            })
            .await
    }

    /// Makes the list the current one; returns how many rows it has.
    ///
    /// # Errors
    /// 400 `missing_required_variables`, 409 as at the beginning, and when the agent's flow was published again
    /// meanwhile.
    pub async fn finish(&self, app: &App) -> Result<CallingList, Failure> {
        self.lacking.check()?;
        let (tenant, campaign, list, now) = (self.tenant, self.campaign, self.list, app.clock.now());
        let needed = self.needed.clone();
        app.of(tenant)
            .tx(move |tx| {
                let row = find_for_update(tx, campaign)?;
                check_replaceable(&row)?;
                check_quiet(tx, &row)?;
                check_needed(tx, &row, &needed)?;
                // As stored: somebody may have been erased meanwhile.
                let (total, queued) = lists::filled(tx, campaign, list)?.ok_or_else(given_up)?;
                let counts = Tally { total, queued, invalid: total - queued, ..Tally::default() };
                lists::unstage(tx, campaign, list)?;
                put_in_force(tx, &row, list, row.newest_list, &counts, now)?;
                Ok(totals(&counts))
            })
            .await
    }

    /// Abandons the list; its rows are deleted soon. If even that fails, it expires in an hour.
    pub async fn give_up(self, app: &App) {
        let Self { tenant, campaign, list, .. } = self;
        let given_up = app
            .of(tenant)
            .tx(move |tx| {
                tx.wake(topics::LISTS);
                lists::give_up_filling(tx, campaign, list)
            })
            .await;
        if let Err(why) = given_up {
            Failure::from(why).warn_about(campaign, "a calling list that was refused is removed later");
        }
    }
}

fn given_up() -> Failure {
    Failure::conflict("the list was not uploaded within an hour and was deleted; send it again")
}
