//! What must hold of campaigns: no row called twice for one attempt, counters that add up, sessions that end, and
//! an end that is told once.

use std::collections::{BTreeMap, HashMap};

use domain::campaign::{DayTime, Schedule, Settings, Window};
use domain::phone::Phone;
use domain::time::{SECOND, Timestamp};
use domain::wallet::talk_seconds;

use super::Court;
use crate::sight::Sight;

/// A campaign as stored.
struct CampaignSeen {
    id: String,
    /// Whether it sends messages instead of calling.
    sends: bool,
    workspace: domain::tenant::Tenant,
    status: String,
    retries: i64,
    schedule: Schedule,
    /// Dials, answered calls, talk time and cost as counted.
    counted: [i64; 4],
    exhausted: bool,
    run: Option<String>,
    next_look: Option<Timestamp>,
}

impl Court<'_> {
    fn campaigns(&self) -> Vec<CampaignSeen> {
        let sql = "select c.id, c.workspace, c.status, c.retry_count, c.start_at, c.end_at, c.daily_from, c.daily_to, \
             p.dialled, p.answered, p.talk_ms, p.spent_minor, \
             p.total > 0 and p.queued + p.held + p.in_progress + p.retryable = 0 and c.streams = 0, p.run, c.channel = 'chatapp', p.next_look \
             from campaigns c join campaign_progress p on p.campaign = c.id order by c.id";
        self.rows(sql, |row| {
            let moment = |column| row.get::<_, Option<i64>>(column).map(|at| at.map(Timestamp));
            let time = |column| {
                row.get::<_, Option<String>>(column).map(|text| text.as_deref().and_then(DayTime::parse))
            };
            let settings = Settings {
                start_at: moment(4)?,
                end_at: moment(5)?,
                daily_from: time(6)?,
                daily_to: time(7)?,
                ..Settings::default()
            };
            Ok(CampaignSeen {
                id: row.get(0)?,
                workspace: super::id(row, 1)?,
                status: row.get(2)?,
                retries: row.get(3)?,
                schedule: Schedule::of(&settings).expect("a schedule"),
                counted: [row.get(8)?, row.get(9)?, row.get(10)?, row.get(11)?],
                exhausted: row.get(12)?,
                run: row.get(13)?,
                sends: row.get(14)?,
                next_look: row.get::<_, Option<i64>>(15)?.map(Timestamp),
            })
        })
    }

    pub(super) fn campaigns_add_up(&mut self, sight: &Sight) {
        let mut broken = Vec::new();
        for campaign in self.campaigns() {
            if !campaign.sends {
                self.dials_of_a_campaign(&campaign, &mut broken);
                self.counters_of_a_campaign(&campaign, &mut broken);
            }
            self.end_of_a_campaign(&campaign, sight, &mut broken);
        }
        self.broken.extend(broken);
    }

    /// Nobody is called more often than the attempts allow, or twice at once, or outside the schedule.
    fn dials_of_a_campaign(&self, campaign: &CampaignSeen, broken: &mut Vec<String>) {
        let mut of_person: BTreeMap<Phone, Vec<Timestamp>> = BTreeMap::new();
        for dial in self.dials {
            let Some(call) = self.calls.get(&dial.call.to_string()) else { continue };
            if call.campaign.as_ref() != Some(&campaign.id) {
                continue;
            }
            of_person.entry(dial.to).or_default().push(dial.passed);
            let open = matches!(campaign.schedule.window(dial.at), Window::Open { .. });
            if !open && !self.went_back {
                broken.push(format!("{} was dialled at {} outside {}", dial.call, dial.at, campaign.id));
            }
        }
        for (phone, mut dials) in of_person {
            // Who was erased may have come onto the list again.
            if self.log.erasing.contains_key(&(campaign.workspace, phone)) {
                continue;
            }
            dials.sort();
            if dials.len() as i64 > campaign.retries + 1 {
                broken.push(format!("{} called somebody {} times", campaign.id, dials.len()));
            }
            if dials.windows(2).any(|two| two[0] == two[1]) {
                broken.push(format!("{} called somebody twice at one moment", campaign.id));
            }
        }
    }

    /// What was counted of its calls is what they came to.
    fn counters_of_a_campaign(&self, campaign: &CampaignSeen, broken: &mut Vec<String>) {
        let [dialled, answered, talk_ms, spent] = campaign.counted;
        let one = |sql: &str| self.count(&sql.replace("?1", &format!("'{}'", campaign.id)));
        let attempts = one("select coalesce(sum(attempts), 0) from campaign_rows where campaign = ?1");
        if attempts != dialled {
            broken.push(format!("{} counts {dialled} dials, its rows {attempts}", campaign.id));
        }
        let placed = one("select coalesce(sum(placed), 0) from campaign_runs where campaign = ?1");
        if placed != dialled {
            broken.push(format!("{} counts {dialled} dials, its runs {placed}", campaign.id));
        }
        let calls = one("select count(*) from calls where campaign = ?1 and answered_at is not null");
        let mut talk = 0;
        let mut charges = 0;
        let charged: HashMap<String, i64> = self
            .rows("select reference, amount from wallet_entries where kind = 'call_charge'", |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
            })
            .into_iter()
            .collect();
        for (id, call) in self.calls.iter().filter(|(_, call)| call.campaign.as_ref() == Some(&campaign.id)) {
            // As the figures over calls have them: a machine answers, too.
            talk += talk_seconds(call.talk_ms.unwrap_or(0)) * SECOND;
            let own = charged.iter().filter(|(reference, _)| {
                reference.as_str() == id
                    || reference.strip_prefix(id.as_str()).is_some_and(|rest| rest.starts_with(':'))
            });
            charges -= own.map(|(_, amount)| amount).sum::<i64>();
        }
        if (calls, talk) != (answered, talk_ms) {
            broken.push(format!(
                "{} counts {answered} answered, {talk_ms} ms; its calls {calls}, {talk}",
                campaign.id
            ));
        }
        if charges != spent {
            broken.push(format!("{} counts {spent} spent, the ledger {charges}", campaign.id));
        }
    }

    /// A session ends, and so does a campaign of which nobody can be reached any more; it is told once.
    fn end_of_a_campaign(&self, campaign: &CampaignSeen, sight: &Sight, broken: &mut Vec<String>) {
        let one = |sql: &str| self.count(&sql.replace("?1", &format!("'{}'", campaign.id)));
        if one("select count(*) from campaign_rows where campaign = ?1 and state = 'in_progress'") != 0 {
            broken.push(format!("{} has a row whose call never ended", campaign.id));
        }
        let open =
            one("select count(*) from campaign_runs where campaign = ?1 and status in ('queued', 'running')");
        if open > 1 || open == 1 && (campaign.status != "active" || campaign.run.is_none()) {
            broken.push(format!("{} is {} and has {open} runs that go on", campaign.id, campaign.status));
        }
        let told = sight.past.finished.iter().filter(|id| **id == campaign.id).count();
        if told != usize::from(campaign.status == "completed") {
            broken.push(format!("{} is {} and was finished {told} times", campaign.id, campaign.status));
        }
        if campaign.status == "active" && campaign.exhausted {
            let (kind, next) = (if campaign.sends { "messages" } else { "calls" }, campaign.next_look);
            broken.push(format!("{} ({kind}, next look {next:?}) is exhausted and goes on", campaign.id));
        }
    }
}
