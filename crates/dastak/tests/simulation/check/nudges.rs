//! Nudges come to one end, by the steps that they may take.

use std::collections::{HashMap, HashSet};

use super::Court;
use crate::sight::{Sight, UNSEEN};

/// What a nudge may become, by what it was (docs/contract/nudges.md#states); a wait may be renewed, a late
/// word noted.
const STEPS: [(Option<&str>, &[&str]); 6] = [
    (None, &["queued", "scheduled", "finished"]),
    (Some("queued"), &["queued", "scheduled", "dialing", "in_progress", "finished"]),
    (Some("scheduled"), &["queued", "scheduled", "dialing", "in_progress", "finished"]),
    (Some("dialing"), &["dialing", "in_progress", "scheduled", "finished"]),
    (Some("in_progress"), &["in_progress", "finished"]),
    (Some("finished"), &["finished"]),
];

impl Court<'_> {
    /// Every nudge has one result, one `nudge.finished` and nothing after it; the dialler's queues are empty.
    pub(super) fn nudges_are_finished(&mut self, sight: &Sight) {
        let mut broken = Vec::new();
        let mut finished: HashMap<&str, usize> = HashMap::new();
        let mut over = HashSet::new();
        for (kind, nudge) in &sight.past.events {
            if over.contains(nudge) && nudge != UNSEEN {
                broken.push(format!("{kind} of {nudge} after its end"));
            }
            if kind == "nudge.finished" {
                *finished.entry(nudge).or_default() += 1;
                over.insert(nudge.clone());
            }
        }
        let mut unseen = finished.get(UNSEEN).copied().unwrap_or(0);
        let dialled: HashSet<&str> = self
            .dials
            .iter()
            .filter_map(|dial| self.calls.get(&dial.call.to_string())?.nudge.as_deref())
            .collect();
        for nudge in self.nudges.values() {
            let mut events = finished.get(nudge.id.as_str()).copied().unwrap_or(0);
            if events == 0 && unseen > 0 {
                (events, unseen) = (1, unseen - 1);
            }
            let result = nudge.result.as_deref();
            if nudge.status != "finished" || result.is_none() || nudge.finished_at.is_none() || events != 1 {
                broken
                    .push(format!("{}: {} {result:?} with {events} nudge.finished", nudge.id, nudge.status));
            }
            let was_dialled = dialled.contains(nudge.id.as_str());
            if result == Some("expired") && was_dialled
                || nudge.live
                    && matches!(result, Some("connected" | "voicemail" | "busy" | "no_answer"))
                    && !was_dialled
            {
                broken.push(format!(
                    "{} is {result:?} and {} dialled",
                    nudge.id,
                    if was_dialled { "was" } else { "never was" }
                ));
            }
        }
        let known: HashSet<&str> = self.nudges.keys().map(String::as_str).collect();
        let promised =
            self.log.nudges.iter().map(|(_, id)| id.to_string()).filter(|id| !known.contains(id.as_str()));
        broken.extend(promised.map(|id| format!("{id} was acknowledged and is lost")));
        if self.count("select count(*) from nudge_queues where pending <> 0 or without_line <> 0 or next_look is not null") != 0 {
            broken.push("a queue of nudges is not empty".into());
        }
        self.broken.extend(broken);
    }

    /// Every step of every nudge is one of the table.
    pub(super) fn decisions_are_legal(&mut self) {
        let sql = "select nudge, status from nudge_timeline order by nudge, seq";
        let steps = self.rows(sql, |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)));
        let mut before: Option<(String, String)> = None;
        for (nudge, status) in steps {
            let from =
                before.as_ref().filter(|(other, _)| *other == nudge).map(|(_, status)| status.as_str());
            let legal =
                STEPS.iter().any(|(before, after)| *before == from && after.contains(&status.as_str()));
            if !legal {
                let from = from.unwrap_or("nothing").to_owned();
                self.say(format!("{nudge} went from {from} to {status}"));
            }
            before = Some((nudge, status));
        }
    }
}
