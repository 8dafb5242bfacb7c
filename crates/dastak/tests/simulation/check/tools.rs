//! What must hold of tools: what the model decided once reaches a tool under one key, and one that must not be asked
//! twice at most once.

use std::collections::BTreeMap;

use super::{Court, Past};
use crate::carrier::World;
use crate::tools::Asked;

impl Court<'_> {
    pub(super) fn tools_are_asked_once(&mut self, world: &World, past: &Past) {
        let mut asked = world.workshop().asked.clone();
        if let Some((from, to)) = past.gap {
            asked.retain(|one| one.passed < from || one.passed > to);
        }
        let mut decided: BTreeMap<(&str, &str), Vec<&Asked>> = BTreeMap::new();
        let mut keys: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
        for one in &asked {
            let what = (one.chat.as_str(), one.words.as_str());
            if one.key.is_empty() || one.chat.is_empty() {
                self.say(format!("a tool was asked without a key or a chat: {one:?}"));
            }
            decided.entry(what).or_default().push(one);
            if *keys.entry(&one.key).or_insert(what) != what {
                self.say(format!("the key {} was used for two calls of a tool", one.key));
            }
        }
        for ((chat, words), requests) in decided {
            let first = requests[0];
            if requests.iter().any(|one| one.key != first.key) {
                self.say(format!(
                    "«{words}» of {chat} reached {} under several keys: {requests:?}",
                    first.tool
                ));
            }
            if !first.repeatable && requests.len() > 1 {
                self.say(format!("«{words}» of {chat} reached {} {} times", first.tool, requests.len()));
            }
        }
    }
}
