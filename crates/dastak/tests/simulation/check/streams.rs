//! What must hold of streams: what was accepted is known and on every list that it belongs on, what was rejected
//! was told once, nothing of a source is lost, and calls are written back once.

use std::collections::{BTreeMap, HashMap, HashSet};

use domain::ids::{DataStream, Id};
use domain::phone::Phone;
use domain::tenant::Tenant;
use domain::time::{HOUR, Timestamp};
use serde_json::Value;

use super::{Court, Past};
use crate::carrier::World;
use crate::clients::Promise;
use crate::sight::Sight;
use crate::sources::Account;
use crate::streams::StreamKnown;

/// What is still on its way at the end may be this old.
const ON_ITS_WAY: i64 = 4 * HOUR;

/// A stream that is read, as stored.
struct Reading {
    workspace: Tenant,
    start_at: Timestamp,
    next_at: Option<i64>,
    leads_only: bool,
}

impl Court<'_> {
    pub(super) fn streams_add_up(&mut self, world: &World, sight: &Sight, past: &Past) {
        self.lists_have_everybody_once(past);
        self.rejections_are_told_once(sight);
        self.answers_are_true();
        self.pauses_are_kept(past);
        let sources = world.sources();
        self.broken.extend(sources.broken.iter().cloned());
        for stream in &self.log.streams {
            self.nothing_is_lost(stream, &sources.accounts[stream.customer], world.passed());
        }
        self.calls_are_written_once(&sources.accounts, past);
    }

    fn lists_have_everybody_once(&mut self, past: &Past) {
        let twice: Vec<String> = self.rows(
            "select phone || ' is more than once on the list of ' || campaign from campaign_rows where valid = 1 \
             group by campaign, list, phone having count(*) > 1",
            |row| row.get(0),
        );
        self.broken.extend(twice);
        // A campaign that was over for a while took nobody meanwhile.
        let over: HashSet<String> = self
            .log
            .promises
            .iter()
            .filter_map(|kept| match &kept.promise {
                Promise::Completed(id) => Some(id.to_string()),
                _ => None,
            })
            .collect();
        let missing: Vec<(String, String, i64)> = self.rows(
            "select r.id, a.campaign, r.received_at from stream_records r join stream_campaigns a on a.stream = r.stream \
             join campaigns c on c.id = a.campaign where r.status = 'accepted' and r.phone_hash is not null \
             and c.status in ('draft', 'active', 'paused') and c.end_at is null and c.completed_at is null \
             and not exists (select 1 from campaign_rows w where w.campaign = a.campaign and w.list = c.list and w.phone_hash = r.phone_hash)",
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        );
        for (record, campaign, received) in missing {
            if !over.contains(&campaign) && received <= past.end.0 {
                self.say(format!("{record} is not on the list of {campaign}"));
            }
        }
    }

    fn rejections_are_told_once(&mut self, sight: &Sight) {
        let mut told: BTreeMap<&str, usize> = BTreeMap::new();
        for record in &sight.past.rejected {
            *told.entry(record).or_default() += 1;
        }
        let invalid: Vec<String> =
            self.rows("select id from stream_records where status = 'invalid'", |row| row.get(0));
        let mut broken = Vec::new();
        for record in &invalid {
            if !told.contains_key(record.as_str()) {
                broken.push(format!("{record} was rejected, and nobody was told"));
            }
        }
        broken.extend(
            told.iter()
                .filter(|(_, times)| **times > 1)
                .map(|(record, times)| format!("{record} was told to be rejected {times} times")),
        );
        self.broken.extend(broken);
    }

    fn answers_are_true(&mut self) {
        let stored: HashSet<(String, String)> = self
            .rows("select stream, id from stream_records where status = 'accepted'", |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .into_iter()
            .collect();
        let mut seen = HashSet::new();
        let mut broken = Vec::new();
        for taken in &self.log.taken {
            if !stored.contains(&(taken.stream.to_string(), taken.record.to_string())) {
                broken.push(format!("{} was accepted and is not there", taken.record));
            }
            if !seen.insert(taken.record) {
                broken.push(format!("{} was accepted twice", taken.record));
            }
        }
        self.broken.extend(broken);
    }

    fn pauses_are_kept(&mut self, past: &Past) {
        if past.went_back {
            return;
        }
        let records: Vec<(String, String, i64)> = self
            .rows("select id, stream, received_at from stream_records", |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            });
        let resumed = |stream: Id<DataStream>, from: Timestamp, to: Timestamp| {
            self.log.promises.iter().any(|kept| {
                kept.promise == Promise::StreamPaused(stream, false)
                    && from <= kept.asked.0
                    && kept.asked.0 <= to
            })
        };
        let mut broken = Vec::new();
        for kept in &self.log.promises {
            let Promise::StreamPaused(stream, true) = kept.promise else { continue };
            for (record, _, received) in records.iter().filter(|(_, of, _)| *of == stream.to_string()) {
                if *received > kept.at.0 && !resumed(stream, kept.asked.0, Timestamp(*received)) {
                    broken.push(format!("{record} was taken although its stream was paused at {}", kept.at));
                }
            }
        }
        self.broken.extend(broken);
    }

    fn was_erased(&self, tenant: Tenant, person: Option<Phone>) -> bool {
        person.is_some_and(|phone| self.log.erasing.contains_key(&(tenant, phone)))
    }

    /// Everything in the source of a stream that is its own has become a record, and nothing else.
    fn nothing_is_lost(&mut self, stream: &StreamKnown, account: &Account, end: Timestamp) {
        let sql = format!(
            "select p.workspace, p.start_at, p.next_at, s.config, s.status, s.last_error from stream_polls p join data_streams s on s.id = p.stream where p.stream = '{}'",
            stream.id
        );
        let readings = self.rows(&sql, |row| {
            let config: Value = serde_json::from_str(&row.get::<_, String>(3)?).unwrap_or_default();
            let status: String = row.get(4)?;
            let error: Option<String> = row.get(5)?;
            let reading = Reading {
                workspace: super::id(row, 0)?,
                start_at: Timestamp(row.get(1)?),
                next_at: row.get(2)?,
                leads_only: config["lifecycleStage"] == "lead",
            };
            Ok((reading, status, error))
        });
        let Some((reading, status, error)) = readings.into_iter().next() else { return };
        if status != "active" {
            return self.say(format!("{} is {status} in the end: {error:?}", stream.id));
        }
        if reading.next_at.is_none() {
            self.say(format!("{} is active, and nobody is going to check it", stream.id));
        }
        let records: Vec<(Option<String>, Option<String>)> = self.rows(
            &format!("select external_id, payload from stream_records where stream = '{}'", stream.id),
            |row| Ok((row.get(0)?, row.get(1)?)),
        );
        if stream.kind == "crm_1" {
            let known: HashSet<&str> = records.iter().filter_map(|(id, _)| id.as_deref()).collect();
            let lost: Vec<String> = account
                .contacts
                .iter()
                .filter(|contact| {
                    contact.created >= reading.start_at
                        && contact.created.0 < end.0 - ON_ITS_WAY
                        && (!reading.leads_only || contact.stage == "lead")
                        && !known.contains(contact.id.as_str())
                        && !self.was_erased(reading.workspace, contact.person)
                })
                .map(|contact| {
                    format!("contact {} of {} was lost by {}", contact.id, contact.created, stream.id)
                })
                .collect();
            self.broken.extend(lost);
            return;
        }
        let known: HashSet<String> = records
            .iter()
            .filter_map(|(_, payload)| {
                let payload: Value = serde_json::from_str(payload.as_deref()?).ok()?;
                payload["City"].as_str().map(str::to_owned)
            })
            .collect();
        let first = self.log.first_rows.get(&(stream.customer, stream.name.clone())).copied().unwrap_or(0);
        let number = |word: &str| word.trim_start_matches("row-").parse::<u64>().unwrap_or(u64::MAX);
        let mut broken = Vec::new();
        if !stream.existing {
            for row in
                account.rows.iter().filter(|row| number(&row.word) < first && known.contains(&row.word))
            {
                broken.push(format!("{} was there before {} and was taken", row.word, stream.id));
            }
        } else {
            let lost = account
                .rows
                .iter()
                .filter(|row| !known.contains(&row.word) && !self.was_erased(reading.workspace, row.person));
            broken.extend(lost.map(|row| format!("{} was lost by {}", row.word, stream.id)));
        }
        self.broken.extend(broken);
    }

    fn calls_are_written_once(&mut self, accounts: &[Account; 2], past: &Past) {
        let mut written: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut broken = Vec::new();
        for note in accounts.iter().flat_map(|account| &account.notes) {
            let call = note.title.rsplit_once('(').and_then(|(_, call)| call.strip_suffix(')'));
            let call = call.unwrap_or_default();
            if !self.calls.contains_key(call) {
                broken.push(format!("«{}» was written, which is no call", note.title));
            }
            written.entry(call).or_default().push(&note.id);
        }
        // A customer that connects two streams in one moment has two integrations with one account: each writes a call.
        let integrations: HashMap<String, usize> = self
            .rows(
                "select workspace, count(*) from integrations where provider = 'hubspot' group by workspace",
                |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs() as usize)),
            )
            .into_iter()
            .collect();
        for (call, notes) in &written {
            let whose = self.calls.get(*call).map(|call| call.workspace.to_string()).unwrap_or_default();
            let most = integrations.get(&whose).copied().unwrap_or(1);
            // A look-up two minutes later by a clock that was set is one at once.
            if notes.len() > most && !past.stepped {
                broken.push(format!("{call} was written {} times", notes.len()));
            }
        }
        let debts: Vec<(String, i64, Option<i64>, Option<String>)> = self
            .rows("select call, created_at, next_at, written from integration_pushes", |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            });
        for (call, created, next, note) in debts {
            if next.is_some() && created < past.end.0 - ON_ITS_WAY {
                broken.push(format!("{call} was never written back"));
            }
            let there = written.get(call.as_str()).map_or(&[][..], Vec::as_slice);
            if note.as_ref().is_some_and(|note| !there.contains(&note.as_str())) {
                broken.push(format!("{call} is said to be written as {note:?}, the system has {there:?}"));
            }
        }
        self.broken.extend(broken);
    }
}
