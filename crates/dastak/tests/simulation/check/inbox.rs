//! What must hold of round robin: a chat has one holder at a time, an assignment is told once, and nobody is given a chat
//! who is absent or has as many as they may.

use std::collections::HashMap;

use domain::ids::{Id, User};
use domain::time::{MINUTE, Timestamp};

use super::{Court, Past};
use crate::clients::Customer;
use crate::inbox::{CEILING, LOW_CEILING, Presence, Told};

/// How long a member who was seen is present.
const PRESENT: i64 = 2 * MINUTE;

/// An event about who has a chat.
struct Said {
    chat: String,
    kind: String,
    at: Timestamp,
    to: Option<String>,
    reason: Option<String>,
    by_nobody: bool,
}

/// Assignments by round robin in the store.
pub fn assignments(file: &std::path::Path) -> u64 {
    let sql = "select count(*) from events where type = 'chat.assigned' and json_extract(envelope, '$.data.reason') = 'round_robin'";
    let count: i64 = crate::stage::open(file).query_row(sql, [], |row| row.get(0)).expect("a count");
    count.unsigned_abs()
}

impl Court<'_> {
    pub(super) fn round_robin_holds(&mut self, customers: &[Customer], past: &Past) {
        let sql = "select json_extract(envelope, '$.data.chatId'), type, json_extract(envelope, '$.createdAt'), \
             json_extract(envelope, '$.data.assignedTo.userId'), json_extract(envelope, '$.data.reason'), \
             json_extract(envelope, '$.data.assignedBy') is null from events \
             where type in ('chat.assigned', 'chat.handed_back', 'chat.completed') and envelope is not null order by rowid";
        let told = self.rows(sql, |row| {
            let at: String = row.get(2)?;
            Ok(Said {
                chat: row.get(0)?,
                kind: row.get(1)?,
                at: Timestamp::parse(&at).expect("a moment"),
                to: row.get(3)?,
                reason: row.get(4)?,
                by_nobody: row.get(5)?,
            })
        });
        let ceiling = |member: &str| {
            let low = customers.iter().any(|customer| customer.team[1].to_string() == member);
            if low { LOW_CEILING } else { CEILING }
        };
        // Who has each chat, and whether round robin gave it to them.
        let mut held: HashMap<&str, (&str, bool)> = HashMap::new();
        let mut broken = Vec::new();
        for said in &told {
            let Some(to) = said.to.as_deref().filter(|_| said.kind == "chat.assigned") else {
                held.remove(said.chat.as_str());
                continue;
            };
            let given = said.reason.as_deref() == Some("round_robin");
            if given != said.by_nobody {
                broken.push(format!("who assigned {} does not fit {:?}", said.chat, said.reason));
            }
            let before = held.insert(&said.chat, (to, given));
            if !given {
                continue;
            }
            if let Some((holder, _)) = before {
                broken.push(format!("{} was given to {to} while {holder} had it", said.chat));
            }
            let has = held.values().filter(|(holder, given)| *holder == to && *given).count();
            if has > ceiling(to) {
                broken.push(format!("{to} was given {} beyond the ceiling: {has}", said.chat));
            }
            // A clock that was set, and a store that was put back, know other moments.
            if !past.stepped && past.gap.is_none() && !was_present(&self.log.presence, to, said.at) {
                broken.push(format!("{to} was given {} at {} and was absent", said.chat, said.at));
            }
        }
        self.broken.extend(broken);
    }
}

/// Whether a member may have been present at a moment: a change may have happened at any time from when it was asked for
/// until it was answered.
fn was_present(told: &[Told], member: &str, at: Timestamp) -> bool {
    let own: Vec<&Told> = told.iter().filter(|told| is(told.member, member)).collect();
    let seen = own
        .iter()
        .any(|told| told.asked <= at && told.answered.is_none_or(|answered| at <= answered.plus(PRESENT)));
    let gone = own.iter().any(|went| {
        let Some(answered) = went.answered.filter(|answered| went.what == Presence::Went && *answered < at)
        else {
            return false;
        };
        debug_assert!(went.asked <= answered);
        !own.iter().any(|came| {
            came.what == Presence::Came
                && came.asked <= at
                && came.answered.is_none_or(|answered| answered >= went.asked)
        })
    });
    seen && !gone
}

fn is(id: Id<User>, text: &str) -> bool {
    id.with_text(|id| id == text)
}
