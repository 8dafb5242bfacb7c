//! What must hold of evaluations: all are over, each with verdicts has one event and, where a model graded it, one charge;
//! those of a conversation are numbered, and the sums by day count the last of each.

use std::collections::{BTreeMap, BTreeSet};

use super::Court;

/// An evaluation as stored.
struct Seen {
    id: String,
    chat: String,
    number: Option<i64>,
    trigger: String,
    status: String,
    charged: i64,
    pending: bool,
    /// Whether the person of the chat was erased: its event is emptied.
    erased: bool,
    /// What its results say: the verdicts.
    verdicts: i64,
}

impl Court<'_> {
    fn evaluations(&self) -> Vec<Seen> {
        let sql = "select r.id, r.conversation, r.run_no, r.started_by, r.status, r.charged, r.next_at is not null, \
             exists (select 1 from chats c join contacts k on k.id = c.contact where c.id = r.conversation and k.erased_at is not null), \
             r.passed + r.failed + r.not_applicable from evaluation_runs r order by r.conversation, r.run_no";
        self.rows(sql, |row| {
            Ok(Seen {
                id: row.get(0)?,
                chat: row.get(1)?,
                number: row.get(2)?,
                trigger: row.get(3)?,
                status: row.get(4)?,
                charged: row.get(5)?,
                pending: row.get(6)?,
                erased: row.get(7)?,
                verdicts: row.get(8)?,
            })
        })
    }

    pub(super) fn evaluations_add_up(&mut self) {
        let mut broken = Vec::new();
        let runs = self.evaluations();
        let told = self.told_of_evaluations();
        let mut charged = self.charges_of_evaluations();
        let (mut numbers, mut by_themselves): (BTreeMap<&str, i64>, BTreeMap<&str, i64>) = Default::default();
        for run in &runs {
            if run.pending || run.status == "pending" {
                broken.push(format!("{} of {} is not over", run.id, run.chat));
            }
            let events = told.get(&run.id).copied().unwrap_or(0);
            let expected = i64::from(run.number.is_some() && !run.erased);
            if events != expected && !(run.erased && events <= 1) {
                broken.push(format!("{} was told {events} times, not {expected}", run.id));
            }
            let expected = if run.charged > 0 { vec![-run.charged] } else { Vec::new() };
            let found = charged.remove(&run.id).unwrap_or_default();
            if found != expected || (run.charged > 0 && run.status != "graded") {
                broken.push(format!("{} ({}) was charged {found:?}, not {expected:?}", run.id, run.status));
            }
            if let Some(number) = run.number {
                let last = numbers.entry(&run.chat).or_default();
                *last += 1;
                if *last != number || run.verdicts != 2 {
                    broken.push(format!(
                        "{} is number {number} of {} with {} verdicts",
                        run.id, run.chat, run.verdicts
                    ));
                }
            }
            *by_themselves.entry(&run.chat).or_default() += i64::from(run.trigger == "auto");
        }
        broken.extend(charged.keys().map(|id| format!("{id} was charged, and there is no such evaluation")));
        broken.extend(
            by_themselves
                .iter()
                .filter(|(_, count)| **count > 1)
                .map(|(chat, count)| format!("{chat} was graded by itself {count} times")),
        );
        let known: BTreeSet<&str> = runs.iter().map(|run| run.chat.as_str()).collect();
        for chat in self.chats_to_grade() {
            if !known.contains(chat.as_str()) {
                broken.push(format!("{chat} is over and was never graded"));
            }
        }
        let counted = self.count(
            "select coalesce(sum(passed + failed + not_applicable), 0) from evaluation_days where criterion = 'polite'",
        );
        if counted != numbers.len() as i64 {
            broken.push(format!("{counted} conversations are counted, {} have verdicts", numbers.len()));
        }
        let running = self
            .count("select count(*) from evaluation_sweeps where next_at is not null or status = 'running'");
        if running > 0 {
            broken.push(format!("{running} sweeps are not over"));
        }
        self.broken.extend(broken);
    }

    /// How often each evaluation was told.
    fn told_of_evaluations(&self) -> BTreeMap<String, i64> {
        let sql = "select json_extract(envelope, '$.data.runId'), count(*) from events where type = 'chat.evaluated' and envelope is not null group by 1";
        self.rows(sql, |row| Ok((row.get(0)?, row.get(1)?))).into_iter().collect()
    }

    fn charges_of_evaluations(&self) -> BTreeMap<String, Vec<i64>> {
        let sql = "select reference, amount from wallet_entries where kind = 'evaluation_charge'";
        let mut charged: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for (reference, amount) in self.rows(sql, |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))
        {
            charged.entry(reference).or_default().push(amount);
        }
        charged
    }

    /// Chats that are over, in which a customer wrote who was not erased, of agents that are graded.
    fn chats_to_grade(&self) -> Vec<String> {
        self.rows(
            "select c.id from chats c join evaluation_settings s on s.agent = c.agent and s.enabled = 1 where c.state = 'ended' \
             and c.customer_messages > 0 and c.end_cause <> 'erased' and (c.analysis is null or c.analysis <> 'pending') \
             and not exists (select 1 from contacts k where k.id = c.contact and k.erased_at is not null)",
            |row| row.get(0),
        )
    }
}
