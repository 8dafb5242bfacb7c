//! Calls that come in on a trunk.

use std::sync::{Arc, Weak};

use domain::call::Fact;
use domain::ports::{IncomingLeg, IncomingLegs, Leg, LegMedia};
use store::calls::CallRow;
use tokio::sync::mpsc;

use super::facts::Facts;
use super::live::Lines;
use super::session::{Meeting, Session, hold};
use crate::app::App;
use crate::app::calls::{Caller, Welcome, answerable};
use crate::runtime::traces::SpanKind;

/// Ringing calls that wait for admission; more are answered 503.
const RINGING: usize = 256;

/// Where trunks ring.
pub(super) struct Doorbell(mpsc::Sender<Box<dyn IncomingLeg>>);

/// The task that answers calls which come in.
pub(super) struct Answering(mpsc::Receiver<Box<dyn IncomingLeg>>);

impl Doorbell {
    pub(super) fn new() -> (Self, Answering) {
        let (ring, calls) = mpsc::channel(RINGING);
        (Self(ring), Answering(calls))
    }
}

impl IncomingLegs for Doorbell {
    fn incoming(&self, call: Box<dyn IncomingLeg>) {
        if let Err(full) = self.0.try_send(call) {
            full.into_inner().reject(503);
        }
    }
}

impl Answering {
    /// Answers for as long as the lines are there.
    pub(super) fn start(mut self, lines: &Arc<Lines>) {
        let lines: Weak<Lines> = Arc::downgrade(lines);
        tokio::spawn(async move {
            while let Some(call) = self.0.recv().await {
                let Some(lines) = lines.upgrade() else { return call.reject(503) };
                tokio::spawn(async move { answer(&lines, call).await });
            }
        });
    }
}

async fn answer(lines: &Arc<Lines>, call: Box<dyn IncomingLeg>) {
    let Some(app) = lines.app().filter(|app| app.node.in_service()) else { return call.reject(503) };
    let caller = Caller {
        to: call.to().to_owned(),
        from: call.from().to_owned(),
        provider_call: call.provider_call().to_owned(),
        carrier: call.carrier().to_owned(),
    };
    // What the call leaves behind belongs to the trace that begins here.
    let mut span = app.traces.begin(SpanKind::Server, "incoming call", None);
    let welcome = span.within(answerable(&app, caller)).await;
    let result = match &welcome {
        Ok(Welcome::Answer(_)) => "answered",
        Ok(Welcome::Decline(..)) => "declined",
        Err(_) => "error",
    };
    span.set("dastak.call.result", result);
    if welcome.is_err() {
        span.failed(result);
    }
    drop(span);
    let row = match welcome {
        Ok(Welcome::Answer(row)) => row,
        Ok(Welcome::Decline(status, reason)) => {
            tracing::info!(status, reason, "a call that came in was declined");
            return call.reject(status);
        }
        Err(failure) => {
            failure.log("a call that came in could not be written down");
            return call.reject(503);
        }
    };
    call.ring();
    let (tenant, id) = (row.workspace, row.id);
    let (facts, written) = Facts::of(&app, tenant, id);
    match pick_up(lines, &app, call, &row).await {
        Some((leg, meeting, line)) => {
            facts.tell(Fact::Answered);
            let orders = hold(lines, tenant, id, &leg.control, None);
            let Leg { control, events } = leg;
            let session = Session { lines: lines.clone(), app: app.clone(), tenant, id, control, facts };
            session.talk(meeting, line, events, orders).await;
            drop(session);
            written.wait().await;
            lines.forget(id);
        }
        None => {
            facts.tell(Fact::NoAnswer);
            drop(facts);
            written.wait().await;
        }
    }
}

/// Answers with an ear for the caller; none when the caller gave up, or the agent cannot be read.
async fn pick_up(
    lines: &Lines,
    app: &App,
    call: Box<dyn IncomingLeg>,
    row: &CallRow,
) -> Option<(Leg, Meeting, Arc<dyn LegMedia>)> {
    let Some((meeting, ear)) = Meeting::prepare(lines, app, row.workspace, row.id).await else {
        call.reject(480);
        return None;
    };
    match call.answer(Box::new(ear)).await {
        Ok(leg) => leg.control.media().map(|line| (leg, meeting, line)),
        Err(why) => {
            tracing::info!(call = %row.id, ?why, "a call that came in was not answered after all");
            None
        }
    }
}
