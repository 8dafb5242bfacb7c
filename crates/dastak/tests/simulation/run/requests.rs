//! Everything that happens at a moment: what clients ask for, and news of the world. Who is not answered asks again.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use domain::ids::{Call, Id};
use domain::tenant::Tenant;
use domain::time::SECOND;

use super::Play;
use crate::carrier::News;
use crate::clients::{self, Act, Outcome};
use crate::cloud;

/// Real time after which the store's nodes try a server again that they found away.
const TRIED_AGAIN: std::time::Duration = std::time::Duration::from_millis(600);

/// The states of what is open.
const RUNNING: u8 = 0;
const DONE: u8 = 1;
const AGAIN: u8 = 2;

/// What is to happen at a moment, or under way.
pub(super) enum Due {
    Act(Act),
    News(News),
}

/// A request that was not answered yet: what it is, how it stands, and at which node.
pub(super) type Open = (Due, Arc<AtomicU8>, usize);

/// Time after which a client asks another node, when the one that it asked says nothing.
const PATIENCE: i64 = 10 * SECOND;

impl Play {
    /// Clients without an answer ask again: at once if their node crashed, a second later if the store refused, and
    /// after a while if nothing is heard of the node.
    pub(super) fn ask_again(&mut self, dead: &[usize]) {
        let (again, later) = (self.now().plus(SECOND), self.now().plus(PATIENCE));
        let mut acts = Vec::new();
        for (due, state, node) in std::mem::take(&mut self.open) {
            let at = match state.load(Ordering::SeqCst) {
                DONE => continue,
                AGAIN => again,
                _ if dead.contains(&node) => again,
                _ if self.world.nodes.is_frozen(node) => later,
                _ => {
                    self.open.push((due, state, node));
                    continue;
                }
            };
            match due {
                // The conversation that wanted it died with the service.
                Due::News(News::Transfer(..)) => {}
                // And so did the line.
                Due::News(News::Fact(call, _) | News::Leg(call, ..))
                    if dead.contains(&node) && self.world.holder(call) == Some(node) => {}
                // A node that stands still has not forgotten what it is about to report.
                Due::News(News::Fact(call, _) | News::Leg(call, ..))
                    if at == later && self.world.holder(call) == Some(node) =>
                {
                    self.open.push((due, state, node));
                }
                Due::Act(act) => acts.push((at, act)),
                Due::News(news) => self.world.send(at, news),
            }
        }
        if !acts.is_empty() {
            self.acts.extend(acts);
            self.acts.make_contiguous().sort_by_key(|(at, _)| *at);
        }
    }

    /// Everything due at this moment happens at once.
    pub(super) fn play_due(&mut self) {
        let now = self.now();
        let mut due = Vec::new();
        while self.acts.front().is_some_and(|(at, _)| *at <= now) {
            due.extend(self.acts.pop_front().map(|(_, act)| Due::Act(act)));
        }
        while let Some(news) = self.world.take_news(now) {
            due.push(Due::News(news));
        }
        let mut owners = HashMap::new();
        for due in due {
            let state = Arc::new(AtomicU8::new(RUNNING));
            let mut node = self.pick();
            if let Due::News(News::Fact(call, _) | News::Transfer(call, _) | News::Leg(call, ..)) = &due
                && let Some(holder) = self.world.holder(*call)
            {
                if self.nodes[holder].is_none() {
                    continue;
                }
                if self.world.nodes.is_frozen(holder) {
                    // It hears of it when it goes on.
                    if let Due::News(news) = due {
                        self.world.send(now.plus(PATIENCE), news);
                    }
                    continue;
                }
                node = holder;
                if let Due::News(News::Fact(call, fact)) = &due {
                    self.world.reports(*call, *fact);
                }
            }
            let (app, world, customers, log, flag) = (
                self.life(node).app.clone(),
                self.world.clone(),
                self.customers.clone(),
                self.log.clone(),
                state.clone(),
            );
            let answered = move |outcome| {
                flag.store(if outcome == Outcome::Done { DONE } else { AGAIN }, Ordering::SeqCst)
            };
            match due {
                Due::Act(act) => {
                    self.world.tell(format!("{act:?}"));
                    self.open.push((Due::Act(act.clone()), state, node));
                    self.life(node).spawn(async move {
                        answered(clients::perform(app, world, customers, log, act).await)
                    });
                }
                Due::News(News::Transfer(call, to)) => {
                    let Some(tenant) = self.owner(&mut owners, call) else { continue };
                    self.open.push((Due::News(News::Transfer(call, to)), state, node));
                    self.life(node).spawn(async move {
                        answered(clients::transfer(app, world, log, call, tenant, to).await)
                    });
                }
                Due::News(News::Leg(call, leg, fact)) => {
                    self.world.tell(format!("{fact:?} of leg {leg} of {call}"));
                    let Some(tenant) = self.owner(&mut owners, call) else { continue };
                    self.open.push((Due::News(News::Leg(call, leg, fact)), state, node));
                    self.life(node).spawn(async move {
                        answered(clients::report_leg(app, log, call, tenant, leg, fact).await)
                    });
                }
                Due::News(News::Answer(answer)) => drop(answer.send(())),
                Due::News(News::Look(other, woken)) => self.world.look_by_itself(other, woken),
                Due::News(News::Told(notification)) => {
                    self.open.push((Due::News(News::Told(notification.clone())), state, node));
                    self.life(node).spawn(async move {
                        answered(cloud::report(app, world, customers, log, notification).await)
                    });
                }
                Due::News(News::Fact(call, fact)) => {
                    self.world.tell(format!("{fact:?} of {call}"));
                    let Some(tenant) = self.owner(&mut owners, call) else { continue };
                    self.open.push((Due::News(News::Fact(call, fact)), state, node));
                    self.life(node).spawn(async move {
                        answered(clients::report(app, world, log, call, tenant, fact).await)
                    });
                }
            }
        }
        let kills = self.kills.take();
        if let Some(chance) = kills {
            std::thread::sleep(std::time::Duration::from_micros(self.random.range(0, 3_000).unsigned_abs()));
            let killed = self.stage.kill_sessions(chance) as u64;
            self.killed += killed;
            self.world.tell(format!("{killed} sessions are ended"));
        }
        self.settle_moment();
        if kills.is_some() {
            // Otherwise much virtual time would pass while the server counts as away.
            std::thread::sleep(TRIED_AGAIN);
        }
    }

    fn owner(&self, known: &mut HashMap<Id<Call>, Option<Tenant>>, call: Id<Call>) -> Option<Tenant> {
        *known.entry(call).or_insert_with(|| self.sight.owner(call))
    }
}
