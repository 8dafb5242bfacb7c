//! What must hold of chats: a reply is given once and to what was said, messages stay in order, an event is told
//! once, and a chat is charged once.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use domain::tenant::Tenant;

use super::Court;
use crate::chats::reply_to;

/// A chat as stored.
struct ChatSeen {
    id: String,
    workspace: Tenant,
    /// Whether it is on the messaging channel.
    carried: bool,
    /// Whether its person was erased: its words and events are gone.
    erased: bool,
    /// Whether people of the team have it; on the messaging channel for as long as that takes.
    waits: bool,
    ended: bool,
    writing: bool,
    price: i64,
    counted: i64,
    handed_off: bool,
    /// Role and words, in their order.
    messages: Vec<(i64, String, String)>,
}

impl Court<'_> {
    fn chats(&self) -> Vec<ChatSeen> {
        let mut messages: HashMap<String, Vec<(i64, String, String)>> = HashMap::new();
        let sql = "select chat, seq, role, words from chat_messages order by chat, seq";
        for (chat, message) in
            self.rows(sql, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?))))
        {
            let chat: String = chat;
            messages.entry(chat).or_default().push(message);
        }
        let sql = "select id, workspace, state = 'ended', turn_kind is not null, price, messages, handoff_at is not null, channel = 'chatapp', \
             exists (select 1 from contacts k where k.id = chats.contact and k.erased_at is not null), \
             state in ('awaiting_human', 'human') from chats order by id";
        let mut chats = self.rows(sql, |row| {
            Ok(ChatSeen {
                id: row.get(0)?,
                workspace: super::id(row, 1)?,
                ended: row.get(2)?,
                writing: row.get(3)?,
                price: row.get(4)?,
                counted: row.get(5)?,
                handed_off: row.get(6)?,
                carried: row.get(7)?,
                erased: row.get(8)?,
                waits: row.get(9)?,
                messages: Vec::new(),
            })
        });
        for chat in &mut chats {
            chat.messages = messages.remove(&chat.id).unwrap_or_default();
        }
        chats
    }

    pub(super) fn chats_add_up(&mut self) {
        let mut broken = Vec::new();
        let chats = self.chats();
        for chat in &chats {
            if chat.writing || !(chat.ended || chat.carried && chat.waits) {
                broken.push(format!("{} is not over", chat.id));
            }
            if !chat.erased {
                messages_are_in_order(chat, &mut broken);
            }
        }
        self.what_clients_were_told(&chats, &mut broken);
        self.events_of_chats(&chats, &mut broken);
        self.people_own_chats(&chats, &mut broken);
        self.charges_of_chats(&chats, &mut broken);
        self.broken.extend(broken);
    }

    /// What was answered is in the chat, once, and what was said to have failed is not.
    fn what_clients_were_told(&self, chats: &[ChatSeen], broken: &mut Vec<String>) {
        let by_id: HashMap<&str, &ChatSeen> = chats.iter().map(|chat| (chat.id.as_str(), chat)).collect();
        let known = &self.log.chats;
        for (_, id) in &known.opened {
            if !by_id.contains_key(id.to_string().as_str()) {
                broken.push(format!("{id} was opened and is not in the store"));
            }
        }
        let said = |id: &str, role: &str, words: &str| {
            let of = by_id.get(id).into_iter().flat_map(|chat| &chat.messages);
            of.filter(|(_, by, text)| by == role && text == words).count()
        };
        let mut answered = HashSet::new();
        for (id, words, reply) in &known.said {
            let id = id.to_string();
            answered.insert(words);
            if said(&id, "user", words) != 1 {
                broken.push(format!("«{words}» was taken and is not in {id} once"));
            }
            if let Some(reply) = reply
                && (*reply != reply_to(words) || said(&id, "agent", reply) != 1)
            {
                broken.push(format!("«{words}» was answered «{reply}», which is not in {id} once"));
            }
        }
        for (id, words) in known.failed.iter().filter(|(_, words)| !answered.contains(words)) {
            if said(&id.to_string(), "user", words) != 0 {
                broken.push(format!("the reply to «{words}» failed, and it is still in {id}"));
            }
        }
    }

    fn events_of_chats(&self, chats: &[ChatSeen], broken: &mut Vec<String>) {
        let mut told: BTreeMap<(String, String), i64> = BTreeMap::new();
        let sql = "select type, json_extract(envelope, '$.data.chatId') from events where type like 'chat.%' and envelope is not null";
        for (kind, chat) in self.rows(sql, |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))) {
            *told.entry((chat, kind)).or_default() += 1;
        }
        for chat in chats.iter().filter(|chat| !chat.erased) {
            let of = |kind: &str| told.get(&(chat.id.clone(), kind.to_owned())).copied().unwrap_or(0);
            let expected = [("chat.started", 1), ("chat.completed", i64::from(chat.ended))];
            for (kind, times) in expected {
                if of(kind) != times {
                    broken.push(format!("{} was told {} times of {}, not {times}", kind, of(kind), chat.id));
                }
            }
            if of("chat.analyzed") > 1 {
                broken.push(format!("the analysis of {} was told more than once", chat.id));
            }
        }
    }

    /// A chat passes from the agent to people and back by one step at a time, each told once, and the agent says nothing
    /// while people have it. Each event says how many messages there were.
    fn people_own_chats(&self, chats: &[ChatSeen], broken: &mut Vec<String>) {
        let mut steps: HashMap<String, Vec<(String, i64, Option<String>)>> = HashMap::new();
        let sql = "select json_extract(envelope, '$.data.chatId'), type, transcript, \
             json_extract(envelope, '$.data.assignedTo.userId') from events where type in \
             ('chat.handoff_requested', 'chat.assigned', 'chat.handed_back') and envelope is not null order by rowid";
        for (chat, kind, transcript, to) in self.rows(sql, |row| {
            let to: Option<String> = row.get(3)?;
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, to))
        }) {
            let messages = transcript.split(' ').nth(1).and_then(|number| number.parse().ok());
            steps.entry(chat).or_default().push((kind, messages.expect("a number of messages"), to));
        }
        for chat in chats.iter().filter(|chat| !chat.erased) {
            let told = steps.remove(&chat.id).unwrap_or_default();
            let mut owned = Vec::new();
            // Since which message people have it, and whether the agent asked for them.
            let (mut people, mut asked, mut assigned) = (None, false, None);
            for (kind, messages, to) in &told {
                let fits = match kind.as_str() {
                    "chat.handoff_requested" => people.is_none(),
                    // By hand it goes from one member to another.
                    "chat.assigned" => assigned != to.as_ref(),
                    _ => people.is_some(),
                };
                if !fits {
                    broken.push(format!("{kind} of {} does not follow from {told:?}", chat.id));
                }
                match kind.as_str() {
                    "chat.handed_back" => {
                        owned.extend(people.take().map(|from| from..=*messages));
                        (asked, assigned) = (false, None);
                    }
                    _ => {
                        people = people.or(Some(messages + 1));
                        asked |= kind == "chat.handoff_requested";
                        assigned = to.as_ref().or(assigned);
                    }
                }
            }
            owned.extend(people.map(|from| from..=i64::MAX));
            if asked != chat.handed_off || people.is_some() != chat.waits && !chat.ended {
                broken.push(format!("who has {} is not what was told: {told:?}", chat.id));
            }
            for (seq, role, words) in &chat.messages {
                if role == "agent" && owned.iter().any(|range| range.contains(seq)) {
                    broken.push(format!(
                        "the agent said «{words}» in {} while people had it: {told:?}",
                        chat.id
                    ));
                }
            }
            let of = |wanted: &str| told.iter().any(|(kind, ..)| kind == wanted);
            let known = &self.log.chats;
            let is = |id: &&domain::ids::Id<domain::ids::Chat>| id.to_string() == chat.id;
            if known.taken.iter().any(|id| is(&id)) && !of("chat.assigned") {
                broken.push(format!("{} was taken over and nobody was told", chat.id));
            }
            if known.given_back.iter().any(|id| is(&id)) && !of("chat.handed_back") {
                broken.push(format!("{} was given back and nobody was told", chat.id));
            }
            for (_, words) in known.written.iter().filter(|(id, _)| is(&id)) {
                if !chat.messages.iter().any(|(_, role, text)| role == "human" && text == words) {
                    broken.push(format!("a teammate wrote «{words}», which is not in {}", chat.id));
                }
            }
        }
    }

    /// A chat in which the customer wrote costs its price, once; another one nothing.
    fn charges_of_chats(&self, chats: &[ChatSeen], broken: &mut Vec<String>) {
        let sql = "select reference, workspace, amount from wallet_entries where kind = 'chat_charge'";
        let mut charged: BTreeMap<String, Vec<(Tenant, i64)>> = BTreeMap::new();
        for (chat, tenant, amount) in self.rows(sql, |row| Ok((row.get(0)?, super::id(row, 1)?, row.get(2)?)))
        {
            charged.entry(chat).or_default().push((tenant, amount));
        }
        for chat in chats {
            let wrote = chat.messages.iter().any(|(_, role, _)| role == "user");
            let expected: Vec<(Tenant, i64)> = match wrote && chat.price > 0 && chat.ended {
                true => vec![(chat.workspace, -chat.price)],
                false => Vec::new(),
            };
            let found = charged.remove(&chat.id).unwrap_or_default();
            // Of one whose words are gone nobody can say whether the customer wrote.
            if found != expected && !(chat.erased && found.len() <= 1) {
                broken.push(format!("{} was charged {found:?}, not {expected:?}", chat.id));
            }
        }
        broken.extend(charged.keys().map(|chat| format!("{chat} was charged, and there is no such chat")));
    }
}

/// Messages are numbered without a gap; the agent greets at most once, at the beginning, and answers what the customer
/// said just before, once. On the messaging channel a burst is answered as a whole, what came while a reply was written
/// is for the next one, and what clients send past the agent stands in between.
fn messages_are_in_order(chat: &ChatSeen, broken: &mut Vec<String>) {
    let numbers = chat.messages.iter().map(|(seq, ..)| *seq);
    if !numbers.eq(1..=chat.counted) {
        broken.push(format!("the messages of {} are not numbered from 1 to {}", chat.id, chat.counted));
    }
    // What the customer said and the agent has not answered.
    let mut open: VecDeque<&str> = VecDeque::new();
    for (at, (_, role, words)) in chat.messages.iter().enumerate() {
        match role.as_str() {
            "user" => open.push_back(words),
            "agent" => {
                let before = at.checked_sub(1).and_then(|before| chat.messages.get(before));
                let fits = match (before, words.strip_prefix("re: ")) {
                    (None, answer) => answer.is_none(),
                    (Some(_), Some(said)) if chat.carried => {
                        said.split('\n').all(|line| open.pop_front() == Some(line))
                    }
                    // Somebody took it over before its first words.
                    (Some(_), None) if !chat.carried => {
                        chat.messages[..at].iter().all(|(_, role, _)| role != "agent")
                    }
                    (Some((_, role, said)), _) => role == "user" && *words == reply_to(said),
                };
                if !fits {
                    broken.push(format!("«{words}» in {} does not fit {:?}", chat.id, chat.messages));
                }
            }
            _ => {}
        }
    }
}
