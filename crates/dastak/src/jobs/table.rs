//! The table of jobs. They start in this order; a simulation of the same seed depends on it.

use std::sync::Arc;

use domain::time::{HOUR, MINUTE, SECOND};
use integrations::ConnectedSystems;
use store::{DbError, WakeSet};

use super::Fails::{Error, Warning};
use super::Work::{Makes, Polls, Starts};
use super::{
    AGAIN, Fails, JobRow, Next, NodeParts, On, Poll, Polled, Work, after_calls, boards, channel_inbox,
    channel_media, channel_upkeep, chats, cleanup, dialler, evaluations, hangup_requests, holds, lines,
    live_calls, log_marks, mails, partitions, poll, polls, pushes, recording_uploads, scheduled_calls,
    trunks,
};
use crate::app::after_call::Lane;
use crate::app::member_streams::Hub;
use crate::app::recording_uploads::{GROWN, LEFT};
use crate::app::{App, Wakes, analytics, calls, due_dials, keys, node, topics};
use crate::lines::Lines;

/// No commit wakes it.
const BY_TIME: WakeSet = WakeSet(0);

/// A job whose whole work is this expression.
macro_rules! polls {
    ($app:ident => $work:expr) => {
        Polls(|$app: Arc<App>| Box::pin(async move { $work }))
    };
}

/// The same, for a use case that works what is due and returns when the next item is.
macro_rules! due {
    ($work:path) => {
        polls!(app => Ok(Next::Due($work(&app).await?)))
    };
}

/// Every job.
pub static JOBS: &[JobRow] = &[
    job("cleanup", BY_TIME, HOUR, Error("cleanup failed"), polls!(app => cleanup::poll(&app).await)),
    job(
        "partitions",
        BY_TIME,
        5 * MINUTE,
        Error("partitions could not be created or dropped; it is retried"),
        polls!(app => partitions::poll(&app).await),
    )
    .on(On::Shared),
    // Keeps PostgreSQL's statistics of fast-growing tables up to date. Each node runs the job; one of them at a time works
    // on a table.
    job(
        "statistics",
        BY_TIME,
        2 * SECOND,
        Error("what the database knows of its tables could not be refreshed"),
        polls!(app => nothing_due(store::statistics::refresh(&app.store).await)),
    )
    .on(On::ManyNodes),
    // Checks whether what the database server acknowledges survives its loss, and its clock
    // (docs/contract/operator.md#health). A connection that is back after it was lost wakes it: another server may have
    // taken over.
    job(
        "node",
        topics::NODE,
        AGAIN,
        Error("the database server could not be looked at"),
        polls!(app => nothing_due(node::look(&app).await)),
    )
    .on(On::ManyNodes),
    // Tells the streams of members that something changed without an event, or that sessions may have
    // (docs/contract/live.md).
    job(
        "changes",
        WakeSet(topics::CHANGES.0 | topics::ACCESS.0),
        HOUR,
        Warning("streams could not be told of changes"),
        polls!(app => {
            let hub = Hub::of(&app);
            hub.noted();
            hub.access_changed();
            Ok(Next::Due(None))
        }),
    ),
    // Stores what is said in this node's live calls while somebody on another node watches. A call that is answered wakes it.
    job(
        "live_calls_for_others",
        topics::HOLDS,
        SECOND,
        Warning("what is said in live calls could not be stored for other nodes"),
        polls!(app => {
            let again = app.clock.now().plus(SECOND);
            let holds = app.lines.as_ref().is_some_and(|lines| lines.held() > 0);
            let busy = calls::live::publish(&app).await? || holds;
            Ok(Next::At(busy.then_some(again)))
        }),
    )
    .on(On::ManyNodes),
    // Receives refusals of the carrier on other nodes, and claims the one dial after a pause (docs/dialler.md).
    job(
        "carrier",
        topics::CARRIER,
        AGAIN,
        Error("refusals of the carrier could not be looked at"),
        due!(due_dials::look_at_refusals),
    )
    .on(On::ManyNodes),
    // Deletes rows of calling lists that were replaced, deleted or given up.
    job(
        "calling_lists",
        topics::LISTS,
        10 * MINUTE,
        Warning("rows of old calling lists could not be deleted"),
        due!(::campaigns::list::sweep),
    ),
    // Puts earlier records of streams on lists where the node that began it is gone.
    job(
        "backfills",
        topics::STREAMS,
        10 * MINUTE,
        Warning("earlier records of a stream could not be put on a list"),
        due!(::streams::backfill::finish_abandoned),
    ),
    job(
        "live_calls",
        topics::CALLS,
        AGAIN,
        Error("a look at due calls failed"),
        Makes(|node| live_calls::work(node.app)),
    ),
    job(
        "scheduled_calls",
        topics::SCHEDULED_CALLS,
        AGAIN,
        Warning("a look at scheduled calls failed"),
        polls!(app => scheduled_calls::poll(&app).await),
    )
    .in_service(),
    call_hours("call_hours", topics::CALLS).on(On::OneNode),
    // It looks every minute at what was quiet for five: a commit of any node would wake it on all.
    call_hours("call_hours_by_time", BY_TIME).on(On::ManyNodes),
    // A call's first increase is later than the longest rest.
    job(
        "holds",
        topics::HOLDS,
        30 * SECOND,
        Error("the holds of live calls could not be looked at"),
        polls!(app => holds::poll(&app).await),
    )
    .retry(SECOND),
    // Every node tells the carrier which calls are to end; the one that holds a call ends it. What a lost wake-up would
    // leave undone is found when the node renews its leases.
    job(
        "hangup_requests",
        topics::HANGUP_REQUESTS,
        SECOND,
        Error("the calls that are to end could not be looked at"),
        polls!(app => hangup_requests::poll(&app).await),
    ),
    job(
        "trunks",
        topics::TRUNKS,
        AGAIN,
        Warning("the channels of trunks could not be shared"),
        Makes(trunks::work),
    ),
    job(
        "lines",
        BY_TIME,
        lines::RENEWAL,
        Error("the calls of this node could not be looked at"),
        Makes(lines::work),
    )
    .retry(lines::RETRY),
    loops("log_marks", |node| log_marks::start(node.app)),
    loops("webhooks", |node| node.app.webhooks.start()),
    after_calls("after_calls_recordings", |node| after_calls::work(node, Lane::Recordings)),
    after_calls("after_calls_words", |node| after_calls::work(node, Lane::Words)),
    uploads("uploads_growing", BY_TIME, GROWN, recording_uploads::growing),
    uploads("uploads_settling", topics::AFTER_CALLS, LEFT, recording_uploads::settling),
    job(
        "boards",
        topics::BOARDS,
        AGAIN,
        Warning("a look at automations of boards failed"),
        polls!(app => boards::poll(&app).await),
    ),
    job(
        "chats",
        topics::CHATS,
        AGAIN,
        Warning("a look at chats failed"),
        polls!(app => chats::poll(&app).await),
    ),
    // Gives chats that wait for a person to members who are present (docs/contract/inbox.md#round-robin).
    job(
        "round_robin",
        topics::INBOX,
        AGAIN,
        Warning("chats that wait could not be given to members"),
        polls!(app => {
            let due = ::chats::inbox::give(&app).await?;
            let more = due == ::chats::inbox::Due::Now;
            Ok(if more { Next::At(Some(app.clock.now())) } else { Next::Due(None) })
        }),
    ),
    job(
        "chat_analyses",
        topics::CHATS,
        AGAIN,
        Warning("a look at analyses of chats failed"),
        Makes(chats::analyses),
    ),
    // Grades finished conversations (docs/contract/evaluation.md).
    job(
        "evaluations",
        topics::EVALUATIONS,
        AGAIN,
        Warning("a look at conversations to be graded failed"),
        Makes(evaluations::work),
    ),
    job(
        "evaluation_sweeps",
        topics::EVALUATIONS,
        AGAIN,
        Warning("a look at sweeps of evaluations failed"),
        polls!(app => evaluations::sweeps(&app).await),
    ),
    job(
        "channel_inbox",
        topics::CHANNEL_NOTIFICATIONS,
        AGAIN,
        Warning("a look at notifications of the messaging channel failed"),
        Makes(channel_inbox::work),
    ),
    // Passes the messages of campaigns on (docs/contract/campaigns.md#sending), in fair rounds.
    job(
        "channel_campaigns",
        topics::CHANNEL_CAMPAIGNS,
        AGAIN,
        Warning("the messages of campaigns could not be handed over"),
        due!(channel::campaigns::sending::look),
    ),
    // Sends what waits on the messaging channel (docs/contract/channel-messages.md#sending).
    job(
        "channel_sends",
        topics::CHANNEL_SENDS,
        AGAIN,
        Warning("a look at messages to be sent failed"),
        due!(channel::send_queue::look),
    ),
    job(
        "channel_media",
        topics::CHANNEL_SENDS,
        AGAIN,
        Warning("received files could not be looked at or dropped"),
        Makes(channel_media::work),
    ),
    job(
        "channel_upkeep",
        topics::CHANNEL_NOTIFICATIONS,
        MINUTE,
        Warning("a look at accounts of the messaging channel failed"),
        polls!(app => channel_upkeep::poll(&app).await),
    ),
    // Deletes the files of deleted documents, and of uploads that were never accepted.
    job(
        "documents",
        topics::CHATS,
        MINUTE,
        Warning("files of documents could not be looked at"),
        due!(::chats::drop_due),
    ),
    // Removes the rows of deleted knowledge bases, and updates open indexes when their bases change, before the next
    // query.
    job(
        "knowledge",
        topics::KNOWLEDGE,
        30 * SECOND,
        Warning("knowledge bases could not be looked after"),
        polls!(app => {
            let now = app.clock.now();
            let complete = ::knowledge::look_after(&app).await?;
            Ok(if complete { Next::Due(None) } else { Next::At(Some(now)) })
        }),
    ),
    // Computes embeddings of passages that have none (docs/knowledge.md#vectors).
    job(
        "embeddings",
        topics::KNOWLEDGE,
        MINUTE,
        Warning("vectors of passages could not be made"),
        Makes(|node| {
            node.app.speech.embeddings.as_ref()?;
            poll(async |app| Ok(Next::Due(::knowledge::embed(&app).await?)))
        }),
    ),
    job("dialler", topics::DIALLER, AGAIN, Error("a look at what is due failed"), Makes(dialler::work))
        .in_service(),
    job("mails", topics::MAILS, 30 * SECOND, Error("a look at due e-mail failed"), Makes(mails::work)),
    job(
        "polls",
        topics::STREAMS,
        AGAIN,
        Warning("a look at streams that are due failed"),
        Makes(polls::work),
    ),
    job(
        "pushes",
        topics::PUSHES,
        AGAIN,
        Warning("a look at calls to be written back failed"),
        Makes(pushes::work),
    ),
    // Writes when keys were used on this node (docs/contract/keys.md#last-use).
    job(
        "key_uses",
        BY_TIME,
        HOUR,
        Warning("the last uses of keys could not be written"),
        polls!(app => {
            keys::write_uses(&app).await?;
            Ok(Next::At(Some(app.clock.now().plus(HOUR))))
        }),
    ),
];

/// Starts all jobs, in the order of the table.
pub fn start_all(
    app: &Arc<App>,
    wakes: &Wakes,
    lines: Option<&Arc<Lines>>,
    connected: Option<&Arc<ConnectedSystems>>,
) {
    for row in JOBS {
        row.start(wakes, &NodeParts { app, signal: &app.clock.signal(), lines, connected });
    }
}

/// A job that rests `rest` after a failure, and at most on a store with many nodes.
const fn job(name: &'static str, wakes: WakeSet, rest: i64, fails: Fails, work: Work) -> JobRow {
    JobRow { name, wakes, latest: rest, retry: rest, on: On::Any, in_service: false, fails, work }
}

/// Loops of its own, which start in this place.
const fn loops(name: &'static str, start: fn(&NodeParts<'_>)) -> JobRow {
    job(name, BY_TIME, 0, Error(""), Starts(start))
}

/// Packs hours of calls that have gone quiet, so that metrics over a long time read few bytes.
const fn call_hours(name: &'static str, wakes: WakeSet) -> JobRow {
    let work = polls!(app => {
        while analytics::pack_due(&app).await? && !app.clock.stopping() {}
        Ok(Next::Due(analytics::next_pack(&app).await?))
    });
    job(name, wakes, MINUTE, Error("packing hours of calls failed"), work)
}

const fn after_calls(name: &'static str, make: fn(&NodeParts<'_>) -> Option<Poll>) -> JobRow {
    job(name, topics::AFTER_CALLS, AGAIN, Warning("a look at what calls owe failed"), Makes(make))
}

const fn uploads(
    name: &'static str,
    wakes: WakeSet,
    rest: i64,
    make: fn(&NodeParts<'_>) -> Option<Poll>,
) -> JobRow {
    job(name, wakes, rest, Warning("a look at uploads of recordings failed"), Makes(make))
}

/// The result of work that nothing is due after; it is done again after the rest of its job.
fn nothing_due(done: Result<(), DbError>) -> Polled {
    done?;
    Ok(Next::Due(None))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_job_has_a_name_of_its_own() {
        let names: HashSet<_> = JOBS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), JOBS.len());
    }

    /// Without a rest, a job that fails would ask a store that is away without a pause.
    #[test]
    fn every_job_rests_after_a_failure() {
        for row in JOBS.iter().filter(|row| !matches!(row.work, Work::Starts(_))) {
            assert!(row.retry >= SECOND && row.latest >= SECOND, "{}", row.name);
        }
    }
}
