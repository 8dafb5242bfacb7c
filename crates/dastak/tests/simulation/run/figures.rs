//! What happened in runs, added up.

use crate::faults::Counts;

/// What happened, added up.
#[derive(Debug, Default)]
pub struct Figures {
    pub runs: u64,
    /// Sessions that were ended, nodes that stood still, and times that the database was away or a node was drained.
    pub troubles: [u64; 4],
    pub acts: u64,
    pub dials: u64,
    pub legs: u64,
    /// Calls that took their leave because of an empty wallet.
    pub exhausted: u64,
    pub crashes: u64,
    pub restores: u64,
    /// Chats that teammates took over.
    pub takeovers: u64,
    /// Chats that round robin gave to members.
    pub assigned: u64,
    /// Requests that reached tools.
    pub tools: u64,
    pub nudges: u64,
    pub scheduled: u64,
    /// Records that were taken in, and calls that were written back.
    pub records: u64,
    pub notes: u64,
    /// Messages that the channel was handed, and notifications that it was relieved of.
    pub messages: u64,
    pub told: u64,
    pub steps: u64,
    pub boundaries: Counts,
}

impl Figures {
    pub fn add(&mut self, other: &Figures) {
        self.runs += other.runs;
        self.troubles.iter_mut().zip(other.troubles).for_each(|(sum, more)| *sum += more);
        self.acts += other.acts;
        self.dials += other.dials;
        self.legs += other.legs;
        self.exhausted += other.exhausted;
        self.crashes += other.crashes;
        self.restores += other.restores;
        self.takeovers += other.takeovers;
        self.assigned += other.assigned;
        self.tools += other.tools;
        self.nudges += other.nudges;
        self.scheduled += other.scheduled;
        self.records += other.records;
        self.notes += other.notes;
        self.messages += other.messages;
        self.told += other.told;
        self.steps += other.steps;
        for (boundary, count) in &other.boundaries {
            let sum = self.boundaries.entry(boundary.clone()).or_default();
            sum.crossed += count.crossed;
            sum.crashed += count.crashed;
            sum.refused += count.refused;
            sum.unheard += count.unheard;
            sum.slow += count.slow;
        }
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            acts,
            dials,
            legs,
            exhausted,
            crashes,
            restores,
            takeovers,
            assigned,
            tools,
            nudges,
            scheduled,
            records,
            notes,
            messages,
            told,
            steps,
            boundaries,
            ..
        } = self;
        let [killed, frozen, away, drained] = self.troubles;
        if killed + frozen + away + drained > 0 {
            write!(
                f,
                "{killed} sessions ended, nodes stood still {frozen} times, the database was away {away} times, nodes were drained {drained} times, "
            )?;
        }
        let lethal = boundaries.values().filter(|count| count.crashed > 0).count();
        write!(
            f,
            "{acts} acts, {dials} dials, {legs} second legs, {exhausted} calls that ran out of money, {crashes} crashes (at {lethal} of {} boundaries, and between them), {restores} restores, {takeovers} chats taken over, {assigned} given by round robin, {tools} requests to tools, {steps} steps of the clock, {nudges} nudges, {scheduled} scheduled calls, {records} records of streams, {notes} calls written back, {messages} messages handed over, {told} notifications",
            boundaries.keys().filter(|(name, _)| !name.starts_with("read ")).count(),
        )
    }
}
