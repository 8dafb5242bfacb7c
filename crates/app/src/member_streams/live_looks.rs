//! What the streams of a workspace are told of its live calls: states, which come from the table of calls, since a call
//! that begins to ring writes no event; and words, which this node or another one has heard.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::call::Status;
use domain::ids::{Call, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::{MINUTE, SECOND, Timestamp};
use domain::topic::Topic;
use serde_json::{Value, json};
use store::live_calls;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::hub::{Batch, Counts, Delta};
use super::topics::{Changed, Invalidation};
use crate::calls::live::{LiveCalls, LiveState, WATCHED, Watching};
use crate::{App, Failure};

/// Time between two looks at the table.
const REST: Duration = Duration::from_secs(1);
/// Least time between two counts.
const COUNTED: Duration = Duration::from_secs(5);
/// Live calls of a mode that are watched at most, the newest.
const MOST_CALLS: i64 = 1_000;
/// Chats that are counted at most.
const MOST_WAITING: i64 = 1_000;
/// What other nodes have stored since the last look begins so long before it: their clocks may differ, and commits take time.
const OVERLAP: i64 = 15 * SECOND;
/// The state of a call that nobody has stored for so long is dropped, milliseconds: its node is gone.
pub(super) const ABANDONED: i64 = 15 * MINUTE;

/// The number of the last news of a call before the first look at its words, which tells none of those before it.
const UNSEEN: i64 = i64::MAX;

/// What was told of a call.
struct Known {
    mode: Mode,
    status: Status,
    seq: i64,
}

/// What was told of the live calls of a workspace.
pub(super) struct LiveLooks {
    tenant: Tenant,
    watching: Watching,
    calls: HashMap<Id<Call>, Known>,
    /// States that other nodes have stored.
    stored: HashMap<Id<Call>, LiveState>,
    begun: bool,
    next: Option<Instant>,
    from: Timestamp,
    watched_until: Timestamp,
    counts: Vec<Counts>,
    counted: Option<Instant>,
}

impl LiveLooks {
    pub fn new(app: &App, tenant: Tenant) -> Self {
        Self {
            tenant,
            watching: LiveCalls::of(app).watch(tenant),
            calls: HashMap::new(),
            stored: HashMap::new(),
            begun: false,
            next: None,
            from: Timestamp(0),
            watched_until: Timestamp(0),
            counts: Vec::new(),
            counted: None,
        }
    }

    /// Notified when something was said in a call of this node.
    pub fn said(&self) -> Arc<Notify> {
        self.watching.bell()
    }

    /// When it is to look again.
    pub fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Tells what is new.
    pub async fn look(&mut self, app: &App, tell: impl Fn(Batch)) {
        let now = Instant::now();
        if self.next.is_none_or(|next| now >= next) {
            if let Err(failure) = self.read(app, &tell).await {
                failure.warn("live calls could not be looked at for those who watch them; trying again");
            }
            self.next = Some(now + REST);
        }
        self.tell_words(LiveCalls::of(app).states(self.tenant), &tell);
        let stored = std::mem::take(&mut self.stored);
        self.tell_words(stored, &tell);
        // Nothing of the others is known to anybody here yet: they only ring, or another node has not stored them since nobody
        // watched. All that comes of them is new.
        self.calls.values_mut().filter(|known| known.seq == UNSEEN).for_each(|known| known.seq = 0);
    }

    /// Reads the table, and what other nodes have stored.
    async fn read(&mut self, app: &App, tell: &impl Fn(Batch)) -> Result<(), Failure> {
        let (now, from) = (app.clock.now(), self.from);
        let shared = app.store.shared();
        let counts = self.counted.is_none_or(|at| at.elapsed() >= COUNTED);
        let read = app.of(self.tenant).read(move |tx| {
            let live = live_calls::statuses(tx, Mode::Live, MOST_CALLS)?;
            let test = live_calls::statuses(tx, Mode::Test, MOST_CALLS)?;
            let stored = if shared { live_calls::list(tx, from, MOST_CALLS)? } else { Vec::new() };
            let waiting = if counts { Some(live_calls::waiting_chats(tx, MOST_WAITING)?) } else { None };
            Ok::<_, Failure>((live, test, stored, waiting))
        });
        let (live, test, stored, waiting) = read.await?;
        if shared && now > self.watched_until.plus(-WATCHED / 2) {
            let until = now.plus(WATCHED);
            app.of(self.tenant).tx(move |tx| live_calls::watch(tx, until)).await?;
            self.watched_until = until;
        }
        self.from = now.plus(-OVERLAP);
        self.stored =
            stored.into_iter().filter_map(|(id, text, ..)| Some((id, LiveState::read(&text)?))).collect();
        if let Some(waiting) = waiting {
            self.counted = Some(Instant::now());
            self.tell_counts([(Mode::Live, live.len(), waiting), (Mode::Test, test.len(), 0)], tell);
        }
        self.tell_states(live, test, now, tell);
        Ok(())
    }

    fn tell_counts(&mut self, of: [(Mode, usize, i64); 2], tell: &impl Fn(Batch)) {
        let counts: Vec<Counts> = of
            .into_iter()
            .map(|(mode, live_calls, waiting_chats)| Counts { mode, live_calls, waiting_chats })
            .collect();
        for new in counts.iter().filter(|new| !self.counts.contains(new)) {
            tell(Batch::Counts(*new));
        }
        self.counts = counts;
    }

    fn tell_states(
        &mut self,
        live: Vec<(Id<Call>, Status)>,
        test: Vec<(Id<Call>, Status)>,
        now: Timestamp,
        tell: &impl Fn(Batch),
    ) {
        let both =
            live.into_iter().map(|of| (of, Mode::Live)).chain(test.into_iter().map(|of| (of, Mode::Test)));
        let mut before = std::mem::take(&mut self.calls);
        let (mut changed, mut deltas) = (Vec::new(), Vec::new());
        let mut say = |id: Id<Call>, mode: Mode, state: &str| {
            for topic in [Topic::Calls, Topic::Live] {
                let of = Changed { topic, object: Some(id.to_string()) };
                changed.push(Invalidation { changed: of, mode: Some(mode), version: now });
            }
            let data = json!({"kind": "state", "state": state});
            deltas.push(Delta { mode, call: id, partial: false, data });
        };
        for ((id, status), mode) in both {
            let known = before.remove(&id);
            let seq = known.as_ref().map_or(if self.begun { 0 } else { UNSEEN }, |known| known.seq);
            if self.begun && known.as_ref().is_none_or(|known| known.status.stage() != status.stage()) {
                say(id, mode, status.stage().as_str());
            }
            self.calls.insert(id, Known { mode, status, seq });
        }
        for (id, known) in before {
            say(id, known.mode, domain::call::Stage::Ended.as_str());
        }
        self.begun = true;
        if !changed.is_empty() {
            tell(Batch::Derived(super::hub::coalesced(changed.into_iter())));
            tell(Batch::Deltas(deltas));
        }
    }

    /// Tells what was said in known calls since the last time.
    fn tell_words(&mut self, states: HashMap<Id<Call>, LiveState>, tell: &impl Fn(Batch)) {
        let (mut deltas, mut lost) = (Vec::new(), Vec::new());
        for (id, state) in states {
            let Some(known) = self.calls.get_mut(&id) else { continue };
            let mode = known.mode;
            // What was said before anybody watched is in the list of live calls.
            match state.since(known.seq.min(state.rev())) {
                Some(news) => deltas.extend(news.into_iter().map(|(seq, partial, mut data)| {
                    data["seq"] = Value::from(seq);
                    Delta { mode, call: id, partial, data }
                })),
                None => lost.push(Invalidation {
                    changed: Changed { topic: Topic::Live, object: Some(id.to_string()) },
                    mode: Some(mode),
                    version: self.from,
                }),
            }
            known.seq = state.rev();
        }
        if !lost.is_empty() {
            tell(Batch::Derived(lost));
        }
        if !deltas.is_empty() {
            tell(Batch::Deltas(deltas));
        }
    }
}
