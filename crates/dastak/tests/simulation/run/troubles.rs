//! What befalls the nodes of a run: deaths, standstills, drains, a database that is away, a clock that is set.

use dastak::app::node;
use domain::time::{MINUTE, SECOND, Timestamp};

use super::Play;
use crate::clients::{self, Act};
use crate::life::{self, Life};
use crate::random::Random;

/// What befalls the nodes of a run on PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// A node that is down comes back.
    Back(usize),
    /// A node stands still for so long, and goes on.
    Freeze(usize, i64),
    Thaw(usize),
    /// A node is drained for so long, and is in service again.
    Drain(usize, i64),
    Undrain(usize),
    /// The database cannot be reached for so long, from one node or from all.
    Away(Option<usize>, i64),
    Return(Option<usize>),
    /// Sessions are ended, each by this chance in a hundred.
    Kill(i64),
}

impl Play {
    pub(super) fn be_reborn(&mut self, node: usize) {
        let Some(life) = self.nodes[node].take() else { return };
        let died = self.now();
        life::end(life);
        self.world.loses_lines(node);
        self.sight.look();
        self.end_drain(node);
        let down = if self.random.percent(70) {
            self.random.range(0, 40) * SECOND
        } else {
            self.random.range(1, 600) * MINUTE
        };
        self.world.tell(format!("node {node} died and is back {} s later", down / SECOND));
        let back = died.plus(down);
        self.plan(back, Trouble::Back(node));
        if !self.running().is_empty() {
            return;
        }
        // Nobody is left: one that stands still goes on, or the first that is back begins.
        if let Some(frozen) = (0..self.nodes.len()).find(|node| self.nodes[*node].is_some()) {
            self.troubles.retain(|_, trouble| *trouble != Trouble::Thaw(frozen));
            return self.world.thaw(frozen);
        }
        let first = self.troubles.iter().find(|(_, trouble)| matches!(trouble, Trouble::Back(_)));
        let Some((key, Trouble::Back(node))) = first.map(|(key, trouble)| (*key, *trouble)) else { return };
        self.troubles.remove(&key);
        let at = Timestamp(key.0);
        self.down.push((died, at));
        self.world.move_to(at);
        self.come_back(node, at);
    }

    pub(super) fn come_back(&mut self, node: usize, at: Timestamp) {
        self.lives += 1;
        self.world.set_faulty(false);
        self.nodes[node] = Some(Life::begin(&self.stage, &self.world, self.seed, (node, self.lives), at));
        self.world.set_faulty(!self.calm);
    }

    fn plan(&mut self, at: Timestamp, trouble: Trouble) {
        let number = 1_000 + self.troubles.keys().map(|(_, number)| *number).max().unwrap_or(0);
        self.troubles.insert((at.0, number), trouble);
    }

    fn end_drain(&mut self, node: usize) {
        let now = self.now();
        for (_, _, to) in self.drained.iter_mut().filter(|(of, _, to)| *of == node && to.is_none()) {
            *to = Some(now);
        }
    }

    /// What befalls the nodes now.
    pub(super) fn meet(&mut self, trouble: Trouble) {
        let (now, running) = (self.now(), self.running());
        let all = |node: Option<usize>| node.map_or((0..self.nodes.len()).collect(), |node| vec![node]);
        match trouble {
            Trouble::Back(node) if self.nodes[node].is_none() => self.come_back(node, now),
            Trouble::Freeze(node, ms) if running.len() > 1 && running.contains(&node) => {
                self.met[0] += 1;
                self.plan(now.plus(ms), Trouble::Thaw(node));
                self.world.is_in_trouble(node, now.plus(ms));
                let (ticks, world) = (self.random.range(0, 12), self.world.clone());
                self.life(node).spawn(async move {
                    for _ in 0..ticks {
                        tokio::task::yield_now().await;
                    }
                    world.freeze(node);
                });
            }
            Trouble::Thaw(node) => self.world.thaw(node),
            Trouble::Drain(node, ms) if running.len() > 1 && running.contains(&node) => {
                self.met[2] += 1;
                self.plan(now.plus(ms), Trouble::Undrain(node));
                self.drained.push((node, now, None));
                let app = self.life(node).app.clone();
                self.world.tell(format!("node {node} is drained"));
                // It is drained all the same when the store refuses the line in the log.
                self.life(node).spawn(async move { drop(node::drain(&app, clients::trace()).await) });
            }
            Trouble::Undrain(node) => {
                self.end_drain(node);
                if running.contains(&node) {
                    let app = self.life(node).app.clone();
                    self.world.tell(format!("node {node} is in service"));
                    self.life(node).spawn(async move { drop(node::undrain(&app, clients::trace()).await) });
                } else if self.nodes[node].is_some() {
                    self.plan(now.plus(MINUTE), Trouble::Undrain(node));
                }
            }
            Trouble::Away(node, ms) => {
                self.met[1] += 1;
                let until = now.plus(ms);
                all(node).into_iter().for_each(|node| self.world.be_away(node, until));
                if let Some(alone) = node.filter(|_| self.nodes.len() > 1) {
                    self.world.is_in_trouble(alone, until);
                }
                self.plan(until, Trouble::Return(node));
            }
            Trouble::Return(node) => all(node).into_iter().for_each(|node| self.world.be_back(node)),
            Trouble::Kill(chance) => self.kills = Some(chance),
            Trouble::Back(_) | Trouble::Freeze(..) | Trouble::Drain(..) => {}
        }
    }

    /// Dies while the work of that moment is under way.
    pub(super) fn die_during(&mut self, at: Timestamp) {
        let ticks = self.random.range(0, 12);
        let node = self.pick();
        let (sleeper, world) = (self.life(node).clock.clone(), self.world.clone());
        self.life(node).spawn(async move {
            sleeper.sleep_until(at).await;
            for _ in 0..ticks {
                tokio::task::yield_now().await;
            }
            world.die();
        });
        let now = self.now();
        self.pass(at.max(now));
    }

    /// Sets the clock while the work of this moment is under way.
    pub(super) fn step_clock(&mut self, by: i64) {
        let ticks = self.random.range(0, 12);
        let world = self.world.clone();
        self.stepped += 1;
        self.went_back |= by < 0;
        let node = self.pick();
        self.life(node).spawn(async move {
            for _ in 0..ticks {
                tokio::task::yield_now().await;
            }
            world.step_clock(by);
        });
        self.play_due();
    }
}

/// What befalls the nodes of a run, mostly in moments in which much happens.
pub(super) fn troubles_of(
    seed: u64,
    nodes: usize,
    from: Timestamp,
    acts: &[(Timestamp, Act)],
) -> Vec<(Timestamp, Trouble)> {
    let mut random = Random::named(seed, "troubles");
    let mut all = Vec::new();
    let moment = |random: &mut Random| {
        if random.percent(70) && !acts.is_empty() {
            random.pick(acts).0.plus(random.range(0, 40) * SECOND)
        } else {
            from.plus(random.range(0, 48 * 60) * MINUTE)
        }
    };
    for _ in 0..random.range(0, 5) {
        let ms = random.range(1, 120) * SECOND;
        let node = if random.percent(50) { None } else { Some(random.range(0, nodes as i64 - 1) as usize) };
        all.push((moment(&mut random), Trouble::Away(node, ms)));
    }
    for _ in 0..random.range(0, 8) {
        let chance = *random.pick(&[10, 30, 100]);
        all.push((moment(&mut random), Trouble::Kill(chance)));
    }
    if nodes > 1 {
        for _ in 0..random.range(0, 4) {
            let ms =
                if random.percent(60) { random.range(1, 60) * SECOND } else { random.range(1, 20) * MINUTE };
            all.push((moment(&mut random), Trouble::Freeze(random.range(0, 1) as usize, ms)));
        }
        for _ in 0..random.range(0, 2) {
            let ms = random.range(1, 120) * MINUTE;
            all.push((moment(&mut random), Trouble::Drain(random.range(0, 1) as usize, ms)));
        }
    }
    all
}
