//! What must hold of the messaging channel: what was handed to it against what the store says.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use domain::ids::{ChannelMessage, Id};
use domain::phone::Phone;
use domain::tenant::Tenant;
use domain::time::SECOND;

use super::Court;
use crate::carrier::World;
use crate::clients::{Customer, Promise};
use crate::cloud::Handed;
use crate::sight::Sight;

/// Within this time a claimed message is handed over or not at all, milliseconds: half of its lease.
const CLAIMED: i64 = 60 * SECOND;

/// A message as stored.
struct MessageSeen {
    workspace: Tenant,
    contact: String,
    campaign: Option<String>,
    chat: Option<String>,
    outbound: bool,
    source: String,
    provider: Option<String>,
    status: String,
    error: Option<i64>,
    waits: bool,
}

/// What stands for the event of a message that came in.
const RECEIVED: i64 = 9;

/// How far a status is; the later ones never become earlier ones.
pub fn rank(status: &str) -> Option<i64> {
    match status {
        "queued" => Some(0),
        "delivery_unknown" => Some(1),
        "sent" => Some(2),
        "delivered" => Some(3),
        "read" => Some(4),
        "failed" => Some(5),
        "deleted" => Some(6),
        _ => None,
    }
}

impl Court<'_> {
    fn messages(&self) -> HashMap<String, MessageSeen> {
        let sql = "select id, workspace, contact, campaign, chat, direction = 'outbound', source, provider_id, status, error_code, \
             next_at is not null or lease_until is not null from channel_messages";
        self.rows(sql, |row| {
            let seen = MessageSeen {
                workspace: super::id(row, 1)?,
                contact: row.get(2)?,
                campaign: row.get(3)?,
                chat: row.get(4)?,
                outbound: row.get(5)?,
                source: row.get(6)?,
                provider: row.get(7)?,
                status: row.get(8)?,
                error: row.get(9)?,
                waits: row.get(10)?,
            };
            Ok((row.get(0)?, seen))
        })
        .into_iter()
        .collect()
    }

    pub(super) fn channel_adds_up(&mut self, world: &World, customers: &[Customer], sight: &Sight) {
        let messages = self.messages();
        let mut broken = world.cloud().broken.clone();
        for (number, customer) in customers.iter().enumerate() {
            let (handed, heard, told) = {
                let mut cloud = world.cloud();
                let account = &mut cloud.accounts[number];
                (account.handed.clone(), account.heard.clone(), account.told.clone())
            };
            self.messages_are_single(&handed, &messages, &mut broken);
            self.messages_are_wanted(customer, &handed, &mut broken);
            self.people_are_heard_once(customer, &heard, &messages, &mut broken);
            self.news_are_believed(&told, &messages, &mut broken);
        }
        self.outcomes_are_true(world, &messages, &mut broken);
        self.claims_follow_consent(&messages, &mut broken);
        self.withdrawals_are_told_once(sight, &messages, &mut broken);
        self.messages_are_told_in_order(sight, &messages, &mut broken);
        self.campaigns_reach_people_once(&messages, &mut broken);
        self.replies_are_sent_once(&messages, &mut broken);
        self.nothing_of_the_channel_waits(&messages, &mut broken);
        self.broken.extend(broken);
    }

    /// Nothing is taken twice, nothing that the store or the decision log does not know of.
    fn messages_are_single(
        &self,
        handed: &[Handed],
        messages: &HashMap<String, MessageSeen>,
        broken: &mut Vec<String>,
    ) {
        let allowed: HashSet<String> = self
            .rows(
                "select interaction_id from decision_log where chain = 'audit' and decision = 'allowed'",
                |row| row.get(0),
            )
            .into_iter()
            .collect();
        let mut taken: BTreeMap<&str, i64> = BTreeMap::new();
        let mut keyed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut to_people: BTreeMap<(String, Phone), i64> = BTreeMap::new();
        for message in handed {
            if !allowed.contains(&message.message) {
                broken.push(format!("{} was handed over and is not in the decision log", message.message));
            }
            let Some(known) = messages.get(&message.message) else {
                broken.push(format!("{} was handed over and is not in the store", message.message));
                continue;
            };
            if !message.taken {
                continue;
            }
            *taken.entry(&message.message).or_default() += 1;
            if self.log.channel.keyed.contains(&message.words) {
                keyed.entry(&message.words).or_default().insert(&message.message);
            }
            if let (Some(campaign), Some(to)) = (&known.campaign, message.to) {
                *to_people.entry((campaign.clone(), to)).or_default() += 1;
            }
        }
        for (message, times) in taken.into_iter().filter(|(_, times)| *times > 1) {
            broken.push(format!("{message} was sent {times} times"));
        }
        for (words, sent) in keyed.into_iter().filter(|(_, sent)| sent.len() > 1) {
            broken.push(format!("«{words}» has one key and was sent as {sent:?}"));
        }
        for ((campaign, to), times) in to_people.into_iter().filter(|(_, times)| *times > 1) {
            broken.push(format!("{campaign} sent to {to} {times} times"));
        }
    }

    /// Nothing is handed over to somebody who was opted out through the API or in a call, or was erased, when it was
    /// claimed. A claim is handed over within half of its lease.
    fn messages_are_wanted(&self, customer: &Customer, handed: &[Handed], broken: &mut Vec<String>) {
        for message in handed {
            let Some(to) = message.to else { continue };
            let system = self.is_of_the_system(&message.message);
            for kept in &self.log.promises {
                if message.passed.0 <= kept.passed.0 + CLAIMED {
                    continue;
                }
                let made: Option<Id<ChannelMessage>> = message.message.parse().ok();
                let before = made.is_some_and(|id| id.unix_ms() < kept.asked.0.0);
                let wrong = match kept.promise {
                    Promise::OptedOut(tenant, phone) => tenant == customer.tenant && phone == to && !system,
                    Promise::Erased(tenant, phone) => {
                        tenant == customer.tenant && phone == to && before && !self.went_back
                    }
                    _ => false,
                };
                if wrong {
                    broken.push(format!(
                        "{} went to {to} at {} after {:?} of {}",
                        message.message, message.passed, kept.promise, kept.passed
                    ));
                }
            }
        }
    }

    fn is_of_the_system(&self, message: &str) -> bool {
        self.count(&format!(
            "select count(*) from channel_messages where id = '{message}' and source = 'system'"
        )) > 0
    }

    /// What people wrote and the service acknowledged is there once.
    fn people_are_heard_once(
        &self,
        customer: &Customer,
        heard: &[(String, Phone)],
        messages: &HashMap<String, MessageSeen>,
        broken: &mut Vec<String>,
    ) {
        let mut known: HashMap<&str, i64> = HashMap::new();
        for message in
            messages.values().filter(|message| message.workspace == customer.tenant && !message.outbound)
        {
            if let Some(id) = &message.provider {
                *known.entry(id.as_str()).or_default() += 1;
            }
        }
        for id in known.keys().filter(|id| !heard.iter().any(|(written, _)| written == *id)) {
            broken.push(format!("nobody wrote {id}"));
        }
        for (id, from) in heard {
            let times = known.get(id.as_str()).copied().unwrap_or(0);
            // Who was erased meanwhile is forgotten.
            if times != 1 && !self.log.erasing.contains_key(&(customer.tenant, *from)) {
                broken.push(format!("{id} of {from} was acknowledged and is there {times} times"));
            }
        }
    }

    /// What was told of a message and acknowledged has moved it at least as far.
    fn news_are_believed(
        &self,
        told: &[(String, &'static str)],
        messages: &HashMap<String, MessageSeen>,
        broken: &mut Vec<String>,
    ) {
        for (id, word) in told {
            let Some(message) = messages.get(id) else { continue };
            if rank(&message.status) < rank(word)
                && !(*word == "failed" && matches!(message.status.as_str(), "delivered" | "read"))
            {
                broken.push(format!("{id} was told to be {word} and is {}", message.status));
            }
        }
    }

    /// A message is said to be with the provider only if the provider took it, and said to have failed after it was taken
    /// only if the provider said so.
    fn outcomes_are_true(
        &self,
        world: &World,
        messages: &HashMap<String, MessageSeen>,
        broken: &mut Vec<String>,
    ) {
        let cloud = world.cloud();
        let (mut taken, mut failed) = (HashSet::new(), HashSet::new());
        for account in &cloud.accounts {
            let of_account = account.handed.iter().filter(|message| message.taken);
            taken.extend(of_account.map(|message| message.message.as_str()));
            let told = account.told.iter().filter(|(_, word)| *word == "failed");
            failed.extend(told.map(|(message, _)| message.as_str()));
        }
        for (id, message) in messages.iter().filter(|(_, message)| message.outbound) {
            let with_provider = matches!(message.status.as_str(), "sent" | "delivered" | "read");
            if with_provider && !taken.contains(id.as_str()) {
                broken.push(format!("{id} is {} and was never taken", message.status));
            }
            if message.status == "failed" && taken.contains(id.as_str()) && !failed.contains(id.as_str()) {
                broken.push(format!("{id} was taken and is said to have failed ({:?})", message.error));
            }
        }
    }

    /// Each withdrawal is one row of the decision log and one event. A person gets one confirmation, ever.
    fn withdrawals_are_told_once(
        &self,
        sight: &Sight,
        messages: &HashMap<String, MessageSeen>,
        broken: &mut Vec<String>,
    ) {
        let proved =
            self.count("select count(*) from decision_log where chain = 'consent' and outcome = 'withdrawn'");
        let told = sight.past.all.iter().filter(|event| event.kind == "contact.opted_out").count() as i64;
        if proved != told {
            broken.push(format!("{proved} withdrawals were told {told} times"));
        }
        let mut confirmed: HashMap<&str, i64> = HashMap::new();
        for message in messages.values().filter(|message| message.outbound && message.source == "system") {
            *confirmed.entry(&message.contact).or_default() += 1;
        }
        for (contact, times) in confirmed.into_iter().filter(|(_, times)| *times > 1) {
            broken.push(format!("{contact} was told {times} times that a STOP was understood"));
        }
    }

    /// No message is claimed for a person who has withdrawn before and not come back, by the order of the decision log.
    fn claims_follow_consent(&self, messages: &HashMap<String, MessageSeen>, broken: &mut Vec<String>) {
        // Of the channel, and of everything.
        let mut withdrawn: HashMap<String, (bool, bool)> = HashMap::new();
        let sql = "select chain, interaction_id, decision, outcome, gate_results from decision_log where is_test = 0 order by rowid";
        let rows: Vec<(String, String, String, String, String)> =
            self.rows(sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)));
        for (chain, about, decision, outcome, gates) in rows {
            if chain == "consent" {
                let state = withdrawn.entry(about).or_default();
                let channel = gates.contains("\"channel\":\"chatapp\"");
                let part = if channel { &mut state.0 } else { &mut state.1 };
                match outcome.as_str() {
                    "withdrawn" => *part = true,
                    "restored" => *part = false,
                    _ => {}
                }
                continue;
            }
            if chain != "audit" || decision != "allowed" {
                continue;
            }
            let Some(message) = messages.get(&about) else { continue };
            let (channel, all) = withdrawn.get(&message.contact).copied().unwrap_or_default();
            if (channel || all) && message.source != "system" {
                broken.push(format!("{about} was claimed for somebody who had opted out"));
            }
        }
    }

    /// Each event of a message is told once, in the order of its statuses, and the last one is its status.
    fn messages_are_told_in_order(
        &self,
        sight: &Sight,
        messages: &HashMap<String, MessageSeen>,
        broken: &mut Vec<String>,
    ) {
        let mut last: HashMap<&str, i64> = HashMap::new();
        for (kind, id) in sight.past.messages.iter().filter(|(_, id)| id != crate::sight::UNSEEN) {
            let word = kind.trim_start_matches("message.");
            let rank = if word == "received" { RECEIVED } else { rank(word).unwrap_or(0) };
            if let Some(before) = last.insert(id, rank)
                && (before >= rank || word == "failed" && before > 2)
            {
                broken.push(format!("{kind} of {id} was told after a later one"));
            }
        }
        // An erasure of the same moment empties events before anybody sees whose they are.
        if sight.past.messages.iter().any(|(_, id)| id == crate::sight::UNSEEN) {
            return;
        }
        for (id, message) in messages {
            let status = if message.outbound { rank(&message.status) } else { Some(RECEIVED) };
            let Some(status) = status.filter(|rank| *rank == RECEIVED || (2..=5).contains(rank)) else {
                continue;
            };
            let told = last.get(id.as_str()).copied();
            if told != Some(status) {
                broken.push(format!("{id} is {} and its last event is {told:?}", message.status));
            }
        }
    }

    /// What became of people is what became of their messages.
    fn campaigns_reach_people_once(&self, messages: &HashMap<String, MessageSeen>, broken: &mut Vec<String>) {
        let sql = "select p.campaign, p.message, p.standing, p.step, c.status from channel_campaign_people p \
             join campaigns c on c.id = p.campaign where p.message is not null";
        let people: Vec<(String, String, String, i64, String)> =
            self.rows(sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)));
        for (campaign, id, standing, step, _) in people {
            let Some(message) = messages.get(&id) else {
                broken.push(format!("{campaign} has a person with {id}, which is not there"));
                continue;
            };
            let fits = match message.status.as_str() {
                "queued" => standing == "sending",
                "delivery_unknown" => standing == "delivery_unknown" || step == 3,
                "sent" => standing == "sent",
                "delivered" => standing == "sent" && step >= 1,
                "read" => standing == "sent" && step >= 2,
                "failed" => {
                    matches!(standing.as_str(), "failed" | "skipped" | "frequency_capped") || step == 3
                }
                _ => true,
            };
            if !fits {
                broken.push(format!(
                    "{id} of {campaign} is {} and its person {standing}, {step}",
                    message.status
                ));
            }
        }
        let sql = "select p.list_row, p.standing, r.state from channel_campaign_people p \
             join campaign_rows r on r.id = p.list_row where r.state <> 'invalid'";
        let people: Vec<(String, String, String)> =
            self.rows(sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        for (row, standing, state) in people {
            let expected = match standing.as_str() {
                "sending" => "in_progress",
                "sent" => "reached",
                _ => "unreached",
            };
            if state != expected {
                broken.push(format!("{row} is {state} and its person {standing}"));
            }
        }
        let sql = "select p.campaign, p.total, (select count(*) from channel_campaign_people k where k.campaign = p.campaign), \
             (select count(*) from campaign_rows r where r.campaign = p.campaign and r.state = 'queued'), \
             (select count(*) from campaign_rows r where r.campaign = p.campaign and r.state = 'invalid' and not exists \
             (select 1 from channel_campaign_people k where k.list_row = r.id)) \
             from campaign_progress p join channel_campaigns c on c.campaign = p.campaign";
        let sums: Vec<(String, i64, i64, i64, i64)> =
            self.rows(sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)));
        for (campaign, total, people, queued, invalid) in sums {
            if total != people + queued + invalid {
                broken.push(format!(
                    "{campaign} has {total} rows: {people} people, {queued} waiting, {invalid} invalid"
                ));
            }
        }
    }

    /// What the agent said in a conversation is one message each: a burst is answered once. What was refused before it
    /// was said is a message that failed, and not said.
    fn replies_are_sent_once(&self, messages: &HashMap<String, MessageSeen>, broken: &mut Vec<String>) {
        let (mut sent, mut refused): (HashMap<&str, i64>, HashMap<&str, i64>) =
            (HashMap::new(), HashMap::new());
        for message in messages.values().filter(|message| message.source == "agent") {
            let Some(chat) = &message.chat else { continue };
            // Codes of our own are below zero. One that waited may have been refused, too, after it was said.
            let ours = message.provider.is_none() && message.error.is_some_and(|code| code < 0);
            *if ours { &mut refused } else { &mut sent }.entry(chat.as_str()).or_default() += 1;
        }
        // The words of who was erased are gone; the messages are kept without them.
        let sql = "select c.id, (select count(*) from chat_messages m where m.chat = c.id and m.role = 'agent') from chats c \
             where c.channel = 'chatapp' \
             and not exists (select 1 from contacts k where k.id = c.contact and k.erased_at is not null)";
        let said: Vec<(String, i64)> = self.rows(sql, |row| Ok((row.get(0)?, row.get(1)?)));
        for (chat, said) in said {
            let [sent, refused] =
                [&sent, &refused].map(|counted| counted.get(chat.as_str()).copied().unwrap_or(0));
            if !(sent..=sent + refused).contains(&said) {
                broken.push(format!(
                    "the agent said {said} things in {chat}, sent {sent}, and {refused} were refused"
                ));
            }
        }
    }

    /// In the end nothing waits to be sent or worked.
    fn nothing_of_the_channel_waits(
        &self,
        messages: &HashMap<String, MessageSeen>,
        broken: &mut Vec<String>,
    ) {
        for (id, message) in messages {
            if message.outbound && (message.waits || message.status == "queued") {
                broken.push(format!("{id} is {} ({:?}) and waits", message.status, message.error));
            }
        }
        let waiting = self.count("select count(*) from channel_notifications where payload is not null");
        if waiting != 0 {
            broken.push(format!("{waiting} notifications were never worked"));
        }
    }
}

/// Statuses of messages that went back between two looks.
pub fn went_back(before: &str, after: &str) -> bool {
    rank(after) < rank(before) || before == "failed" && after != "failed" && after != "deleted"
}
