//! The stream of one tab: the topics that it asked for, the messages that it gets, and when it ends.

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use api::error_codes;
use domain::ids::{Call, Id, User};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use domain::topic::Topic;
use runtime::shares::Share;
use serde_json::{Value, json};
use store::changes::{self, Position, RESUMED};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::time::{Instant, sleep_until};

use super::HEARTBEAT;
use super::hub::{Batch, Counts, Hub, Room, coalesced};
use super::topics::{Changed, Invalidation, of_row};
use crate::node::Stopping;
use crate::{App, Failure, presence};

/// The most events, and the most other changes, that a resumed stream gets.
const MOST_RESUMED: i64 = 5_000;
/// Least time between two checks whether the member may still see the stream.
const CHECKED: Duration = Duration::from_secs(1);
/// What a tab may ask for.
pub const MOST_TOPICS: usize = 32;

/// Most streams that are open on a node at once: of a session, of a member, of a workspace, of all.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub session: usize,
    pub member: usize,
    pub workspace: usize,
    pub node: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { session: 4, member: 8, workspace: 200, node: 2_000 }
    }
}

/// What a tab asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requested {
    /// Topics as a whole; with nothing asked for, all.
    topics: BTreeSet<Topic>,
    calls: BTreeSet<Id<Call>>,
    chats: BTreeSet<String>,
    all: bool,
}

impl Requested {
    /// Reads `calls,live,call:{id},chat:{id}`; every topic, and no deltas, without a text.
    ///
    /// # Errors
    /// `invalid_request` that names `topics`.
    pub fn read(text: Option<&str>) -> Result<Self, Failure> {
        let Some(text) = text else { return Ok(Self { all: true, ..Self::default() }) };
        let wrong = |what: &str| Failure::field("topics", what.to_owned());
        let parts: BTreeSet<&str> = text.split(',').map(str::trim).collect();
        if parts.len() > MOST_TOPICS {
            return Err(wrong("must have at most 32 topics"));
        }
        let mut asked = Self::default();
        for part in parts {
            match part.split_once(':') {
                None => {
                    let words: Vec<&str> = Topic::ALL.iter().map(|topic| topic.as_str()).collect();
                    let topic = Topic::parse(part);
                    asked.topics.insert(topic.ok_or_else(|| {
                        wrong(&format!("must be call:{{id}}, chat:{{id}} or of {}", words.join(", ")))
                    })?);
                }
                Some(("call", id)) => {
                    asked
                        .calls
                        .insert(id.parse().map_err(|_| wrong("has a call: without the id of a call"))?);
                }
                Some(("chat", id)) => {
                    let id: Id<domain::ids::Chat> =
                        id.parse().map_err(|_| wrong("has a chat: without the id of a chat"))?;
                    asked.chats.insert(id.to_string());
                }
                Some(_) => return Err(wrong("must name topics, call:{id} or chat:{id}")),
            }
        }
        Ok(asked)
    }

    /// Whether it needs the looks at live calls.
    fn watches_live(&self) -> bool {
        let live = [Topic::Live, Topic::Calls, Topic::Chats, Topic::Conversations];
        self.all || !self.calls.is_empty() || live.iter().any(|topic| self.topics.contains(topic))
    }

    fn wants(&self, changed: &Changed) -> bool {
        let named = |object: &String| match changed.topic {
            Topic::Calls | Topic::Live => object.parse().is_ok_and(|id| self.calls.contains(&id)),
            Topic::Chats | Topic::Conversations => self.chats.contains(object),
            _ => false,
        };
        let list = || match changed.topic {
            Topic::Calls | Topic::Live => !self.calls.is_empty(),
            Topic::Chats | Topic::Conversations => !self.chats.is_empty(),
            _ => false,
        };
        self.all || self.topics.contains(&changed.topic) || changed.object.as_ref().map_or_else(list, named)
    }

    fn wants_news(&self, call: Id<Call>, partial: bool) -> bool {
        self.calls.contains(&call) || (!partial && self.topics.contains(&Topic::Live))
    }

    fn wants_counts(&self) -> bool {
        [Topic::Live, Topic::Chats, Topic::Conversations].iter().any(|topic| self.topics.contains(topic))
    }
}

/// A message to a tab.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The stream has begun. Without `resumed` the tab reads everything now.
    Ready { resumed: bool },
    /// An object changed; without an id a list as a whole.
    Invalidate { topic: Topic, object: Option<String>, version: Timestamp },
    /// News of something that the tab asked for, as they are. The words may hold numbers of people.
    Delta(Value),
    /// Something was missed: the tab reads everything anew.
    Reset,
    /// Nothing for a while.
    Heartbeat,
}

/// Whether the member may still see the stream.
pub type StillAllowed =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<bool, Failure>> + Send>> + Send + Sync>;

/// Who opens a stream, and from where it goes on.
pub struct Beginning {
    pub tenant: Tenant,
    pub mode: Mode,
    pub member: Id<User>,
    /// What the session is known by in this process; never shown.
    pub session: String,
    pub requested: Requested,
    /// `Last-Event-ID` of the tab.
    pub last: Option<String>,
    pub still_allowed: StillAllowed,
}

/// An open stream.
pub struct MemberStream {
    app: Arc<App>,
    tenant: Tenant,
    mode: Mode,
    member: Id<User>,
    requested: Requested,
    hub: Arc<Hub>,
    room: Watched,
    batches: Receiver<Arc<Batch>>,
    /// Messages that wait to be sent, the last of them with the position after it.
    queue: VecDeque<(Message, Option<Position>)>,
    heartbeat: Instant,
    stopped: Stopping,
    still_allowed: StillAllowed,
    /// When the member was checked last, and how often access had changed by then.
    checked: (Instant, u64),
    /// Until then it is not tried again to store that the member is there.
    unseen_until: Instant,
    _places: (Share<String>, Share<(Tenant, Id<User>)>, Share<Tenant>, Share<()>),
}

/// The reader of a workspace while this stream listens.
struct Watched(Arc<Room>, bool);

impl Watched {
    fn new(room: Arc<Room>, live: bool) -> Self {
        if live {
            room.watches_live(true);
        }
        Self(room, live)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if self.1 {
            self.0.watches_live(false);
        }
    }
}

/// Opens a stream.
///
/// # Errors
/// `rate_limited` when the session, the member, the workspace or the node has as many as it may; those of the store.
pub async fn open(app: &Arc<App>, limits: Limits, beginning: Beginning) -> Result<MemberStream, Failure> {
    let Beginning { tenant, mode, member, session, requested, last, still_allowed } = beginning;
    let hub = Hub::of(app);
    let full = |whose: &str, most: usize| {
        let message = format!("{whose} has {most} streams open, which is the limit; close one of them first");
        Failure { retry_after: Some(5), ..Failure::new(error_codes::RATE_LIMITED, message) }
    };
    let places = (
        hub.sessions.take(session, 1, limits.session).ok_or_else(|| full("this session", limits.session))?,
        hub.members
            .take((tenant, member), 1, limits.member)
            .ok_or_else(|| full("this member", limits.member))?,
        hub.workspaces
            .take(tenant, 1, limits.workspace)
            .ok_or_else(|| full("the workspace", limits.workspace))?,
        hub.node.take((), 1, limits.node).ok_or_else(|| full("the node", limits.node))?,
    );
    // It listens before it reads, so that nothing falls between the two.
    let checked = (Instant::now(), hub.access_changes());
    let (room, batches) = hub.enter(app, tenant).await?;
    let mut stream = MemberStream {
        room: Watched::new(room, requested.watches_live()),
        app: app.clone(),
        tenant,
        mode,
        member,
        requested,
        hub,
        batches,
        queue: VecDeque::new(),
        heartbeat: Instant::now() + HEARTBEAT,
        stopped: app.node.stopped(),
        still_allowed,
        checked,
        unseen_until: Instant::now(),
        _places: places,
    };
    stream.begin(last).await?;
    Ok(stream)
}

impl MemberStream {
    /// Tells what was missed since the position of `Last-Event-ID`.
    async fn begin(&mut self, last: Option<String>) -> Result<(), Failure> {
        let now = self.app.clock.now();
        let Some(last) = last else {
            let position = self.app.store.read(move |tx| changes::current(tx, now)).await?;
            self.queue.push_back((Message::Ready { resumed: false }, Some(position)));
            return Ok(());
        };
        let known = self.position_of(&last).filter(|position| now.0 - position.at().0 <= RESUMED);
        let read = self.app.of(self.tenant).read(move |tx| {
            let missed = match &known {
                Some(known) => changes::since(tx, known, now, MOST_RESUMED)?,
                None => None,
            };
            match missed {
                Some(missed) => Ok(Ok(missed)),
                None => Ok::<_, Failure>(Err(changes::current(tx.unbound(), now)?)),
            }
        });
        match read.await? {
            Err(current) => self.queue.push_back((Message::Reset, Some(current))),
            Ok(missed) => {
                self.queue.push_back((Message::Ready { resumed: true }, None));
                let mut told = coalesced(missed.rows.into_iter().flat_map(of_row));
                // A call that begins to ring writes no event.
                for topic in [Topic::Calls, Topic::Live] {
                    let changed = Changed { topic, object: None };
                    told.push(Invalidation { changed, mode: Some(self.mode), version: now });
                }
                self.tell(&told, None);
                if let Some((_, last)) = self.queue.back_mut() {
                    *last = Some(missed.position);
                }
            }
        }
        Ok(())
    }

    /// The next thing to tell, and the id from which the stream can be resumed after it. `None`: it is over.
    pub async fn next(&mut self) -> Option<(Message, Option<String>)> {
        loop {
            if let Some((message, position)) = self.queue.pop_front() {
                self.heartbeat = Instant::now() + HEARTBEAT;
                self.is_present().await;
                return Some((message, position.map(|position| self.id_of(&position))));
            }
            let bell = self.hub.access();
            let access = bell.notified();
            let changed = self.hub.access_changes() != self.checked.1;
            let due = self.checked.0 + CHECKED;
            tokio::select! {
                biased;
                () = self.stopped.wait() => return None,
                () = access, if !changed => {}
                () = sleep_until(due), if changed => if !self.is_allowed().await { return None },
                batch = self.batches.recv() => match batch {
                    Ok(batch) => self.take(&batch)?,
                    Err(RecvError::Lagged(_)) => {
                        self.batches = self.batches.resubscribe();
                        self.queue.push_back((Message::Reset, Some(self.room.0.position())));
                    }
                    Err(RecvError::Closed) => return None,
                },
                () = sleep_until(self.heartbeat) => {
                    if !self.is_allowed().await {
                        return None;
                    }
                    // The position is read first: what was passed on before it is in the queue or was told.
                    let position = self.room.0.position();
                    let position = self.batches.is_empty().then_some(position);
                    self.queue.push_back((Message::Heartbeat, position));
                }
            }
        }
    }

    /// A member with an open stream is present (docs/contract/inbox.md#presence).
    async fn is_present(&mut self) {
        if Instant::now() < self.unseen_until {
            return;
        }
        if let Err(why) = presence::touch(&self.app, self.tenant, self.member).await {
            self.unseen_until = Instant::now() + HEARTBEAT;
            Failure::from(why).warn_about(self.member, "it could not be stored that a member was seen");
        }
    }

    /// A failure of the store is no reason to end it.
    async fn is_allowed(&mut self) -> bool {
        self.checked = (Instant::now(), self.hub.access_changes());
        (self.still_allowed)().await.unwrap_or_else(|failure| {
            failure.warn("whether a member may still see a stream could not be read");
            true
        })
    }

    /// Queues the messages of a batch that this tab gets; `None` when the reader has ended.
    fn take(&mut self, batch: &Batch) -> Option<()> {
        match batch {
            Batch::Changes(changed, position) => self.tell(changed, Some(position)),
            Batch::Derived(changed) => self.tell(changed, None),
            Batch::Deltas(deltas) => {
                for delta in deltas.iter().filter(|delta| delta.mode == self.mode) {
                    if self.requested.wants_news(delta.call, delta.partial) {
                        let mut data = delta.data.clone();
                        data["topic"] = Value::from(format!("call:{}", delta.call));
                        self.queue.push_back((Message::Delta(data), None));
                    }
                }
            }
            Batch::Counts(Counts { mode, live_calls, waiting_chats }) => {
                if *mode == self.mode && self.requested.wants_counts() {
                    let data =
                        json!({"topic": "counts", "liveCalls": live_calls, "waitingChats": waiting_chats});
                    self.queue.push_back((Message::Delta(data), None));
                }
            }
            Batch::Reset(position) => self.queue.push_back((Message::Reset, Some(position.clone()))),
            Batch::Over => return None,
        }
        Some(())
    }

    fn tell(&mut self, changed: &[Invalidation], position: Option<&Position>) {
        let before = self.queue.len();
        for one in changed {
            let for_others = one.changed.topic == Topic::Bell
                && one.changed.object.as_deref() != Some(&self.member.to_string());
            let shows = one.mode.is_none_or(|mode| mode == self.mode);
            if shows && !for_others && self.requested.wants(&one.changed) {
                let Changed { topic, object } = one.changed.clone();
                self.queue.push_back((Message::Invalidate { topic, object, version: one.version }, None));
            }
        }
        // The position counts once all of it was told.
        if self.queue.len() > before
            && let Some((_, last)) = self.queue.back_mut()
        {
            *last = position.cloned();
        }
    }

    /// `Last-Event-ID` of a position, signed for this workspace and mode.
    fn id_of(&self, position: &Position) -> String {
        let text = position.to_string();
        let signature = self.app.keyring.sign(&self.signed(&text));
        format!("{text}.{signature}")
    }

    fn position_of(&self, id: &str) -> Option<Position> {
        let (text, signature) = id.rsplit_once('.')?;
        let genuine = self.app.keyring.verify(&self.signed(text), signature);
        text.parse().ok().filter(|_| genuine)
    }

    fn signed(&self, position: &str) -> String {
        format!("stream:{}:{}:{position}", self.tenant, self.mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = "call_01k9v5x2m8e6fs4v0q3n7w1y34";
    const OTHER: &str = "call_01k9v5x2m8e6fs4v0q3n7w1y35";
    const CHAT: &str = "chatsess_01k9v5x2m8e6fs4v0q3n7w1y34";

    fn changed(topic: Topic, object: Option<&str>) -> Changed {
        Changed { topic, object: object.map(str::to_owned) }
    }

    #[test]
    fn a_tab_is_told_what_it_asked_for() {
        let asked = Requested::read(Some(&format!("campaigns, call:{CALL},chat:{CHAT}"))).unwrap();
        for (topic, object, told) in [
            (Topic::Campaigns, Some("cmp_1"), true),
            (Topic::Campaigns, None, true),
            (Topic::Agents, None, false),
            (Topic::Calls, Some(CALL), true),
            (Topic::Live, Some(CALL), true),
            (Topic::Calls, Some(OTHER), false),
            // The list holds what it asked for.
            (Topic::Calls, None, true),
            (Topic::Conversations, Some(CHAT), true),
            (Topic::Documents, Some(CHAT), false),
        ] {
            assert_eq!(asked.wants(&changed(topic, object)), told, "{topic} {object:?}");
        }
        let (call, other) = (CALL.parse().unwrap(), OTHER.parse().unwrap());
        assert!(asked.wants_news(call, true) && !asked.wants_news(other, false) && !asked.wants_counts());
        let live = Requested::read(Some("live")).unwrap();
        assert!(live.wants_news(other, false) && !live.wants_news(other, true) && live.wants_counts());
        let all = Requested::read(None).unwrap();
        assert!(all.wants(&changed(Topic::Keys, None)) && !all.wants_news(call, false));
    }

    #[test]
    fn other_topics_are_refused_with_their_field() {
        let many: Vec<String> =
            (0..33).map(|at| format!("call:{}{at:02}", &CALL[..CALL.len() - 2])).collect();
        for text in ["", "cats", "calls,", "call:", "call:cmp_1", "agent:agt_1", "chat:7", &many.join(",")] {
            let refused = Requested::read(Some(text)).unwrap_err();
            assert_eq!(refused.error, error_codes::INVALID_REQUEST, "{text}");
            assert!(refused.message.starts_with("topics "), "{}", refused.message);
        }
        assert!(Requested::read(Some(&many[..32].join(","))).is_ok());
    }
}
