//! One call on a line, from the dial to its last fact.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::call::{Direction, EndCause, Fact, Report};
use domain::ids::{Call, Id};
use domain::ports::{DialOrder, Leg, LegControl, LegEvent, LegEvents, LegMedia};
use domain::tenant::Tenant;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::facts::Facts;
use super::live::{Held, Lines};
use super::sandbox;
use super::services::LineServices;
use super::transfer::{Fork, ForkedEar, Referral};
use crate::app::recording_uploads::Uploading;
use crate::app::{App, calls, recording_uploads, recordings};
use crate::config::MachineAnswer;
use voice::{self, Amd, CallPhrases, Command, HearingSettings, Order};

/// Longest wait for the outcome of the dial to be stored; its lease is over by then, and somebody else has
/// given the call up.
const SETTLED: Duration = Duration::from_secs(60);
/// Time in which the agent takes its leave when the wallet does not cover the next minute: less than what is
/// left of the last one.
pub(super) const LEAVE: Duration = Duration::from_secs(9);
/// Longest wait for a conversation to end after the line has.
const AFTERWORD: Duration = Duration::from_secs(10);

/// A call on a line.
pub(super) struct Session {
    pub(super) lines: Arc<Lines>,
    pub(super) app: Arc<App>,
    pub(super) tenant: Tenant,
    pub(super) id: Id<Call>,
    pub(super) control: Arc<dyn LegControl>,
    pub(super) facts: Facts,
}

/// Takes a call that a trunk took: held from now on, reported once [`domain::ports::Carrier::settled`] says
/// so. The carrier's id of it.
pub(super) fn begin(lines: &Arc<Lines>, app: &Arc<App>, order: &DialOrder, leg: Leg) -> String {
    let (settle, settled) = oneshot::channel();
    let (tenant, id) = (order.workspace, order.call);
    let provider_call = leg.control.provider_call().to_owned();
    let orders = hold(lines, tenant, id, &leg.control, Some(settle));
    let (lines, app) = (lines.clone(), app.clone());
    tokio::spawn(async move {
        match tokio::time::timeout(SETTLED, settled).await {
            Ok(Ok(true)) => carry(&lines, &app, tenant, id, leg, orders).await,
            _ => {
                tracing::warn!(call = %id, "the call was given up before its dial was stored; dropping the line");
                leg.control.hang_up().await;
            }
        }
        lines.forget(id);
    });
    provider_call
}

/// Writes down that this node holds a call; what is asked of the call comes out of the receiver.
pub(super) fn hold(
    lines: &Lines,
    tenant: Tenant,
    id: Id<Call>,
    control: &Arc<dyn LegControl>,
    settled: Option<oneshot::Sender<bool>>,
) -> mpsc::Receiver<Command> {
    let (commands, orders) = mpsc::channel(8);
    let held = Held {
        tenant,
        provider_call: control.provider_call().to_owned(),
        control: control.clone(),
        commands,
        settled,
        requested: None,
    };
    lines.lock().insert(id, held);
    orders
}

/// Carries a call that was dialled from its first ring to its last fact, and waits until that is stored.
async fn carry(
    lines: &Arc<Lines>,
    app: &Arc<App>,
    tenant: Tenant,
    id: Id<Call>,
    leg: Leg,
    mut orders: mpsc::Receiver<Command>,
) {
    let (facts, written) = Facts::of(app, tenant, id);
    let Leg { control, mut events } = leg;
    let session = Session { lines: lines.clone(), app: app.clone(), tenant, id, control, facts };
    let ring = async {
        let rung = session.ring(events.as_mut(), &mut orders).await;
        if rung.is_ok() {
            session.facts.tell(Fact::Answered);
        }
        rung
    };
    // It is read while the phone rings: the person who answers does not wait, and no call ends because the store goes away
    // at that moment.
    let (rung, talk) = tokio::join!(ring, Meeting::read(app, tenant, id));
    match rung {
        Ok(()) => {
            let talk = match talk {
                None => Meeting::read(app, tenant, id).await,
                read => read,
            };
            let met = talk.and_then(|talk| {
                let (meeting, ear) = Meeting::begin(lines, app, tenant, id, talk);
                session.control.connect(Box::new(ear)).map(|line| (meeting, line))
            });
            match met {
                Some((meeting, line)) => session.talk(meeting, line, events, orders).await,
                None => {
                    session.control.hang_up().await;
                    session.facts.tell(Fact::AgentFailed);
                }
            }
        }
        Err(fact) => session.facts.tell(fact),
    }
    drop(session);
    written.wait().await;
}

/// What a conversation needs before there is sound.
pub(super) struct Meeting {
    talk: calls::Talk,
    hearing: voice::Hearing,
    fork: Fork,
    /// Sends the recording while it grows.
    uploading: Option<Uploading>,
}

impl Meeting {
    /// Reads the call's agent and opens the recording; a store that is down for a moment is asked again.
    pub(super) async fn prepare(
        lines: &Lines,
        app: &App,
        tenant: Tenant,
        id: Id<Call>,
    ) -> Option<(Self, ForkedEar)> {
        let talk = Self::read(app, tenant, id).await?;
        Some(Self::begin(lines, app, tenant, id, talk))
    }

    /// Reads the call's agent; `None` when it is gone, or the store is.
    async fn read(app: &App, tenant: Tenant, id: Id<Call>) -> Option<calls::Talk> {
        for pause in [50, 200, 500] {
            match calls::talk(app, tenant, id).await {
                Ok(talk) => return talk,
                Err(failure) => {
                    failure.log_about(id, "a call's agent could not be read");
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                }
            }
        }
        None
    }

    /// Opens the recording.
    fn begin(lines: &Lines, app: &App, tenant: Tenant, id: Id<Call>, talk: calls::Talk) -> (Self, ForkedEar) {
        let hidden = talk.hides_sound();
        let opened = if talk.record { recorder(lines, app, id, hidden) } else { None };
        let (recorder, uploading) = opened.map_or((None, None), |(recorder, file)| {
            // What is sent while the call lasts cannot become silence afterwards.
            let uploading = if hidden { None } else { recording_uploads::begin(app, tenant, id, file) };
            (Some(recorder), uploading)
        });
        let (ear, hearing) = voice::hearing(&HearingSettings::default(), recorder);
        let fork = Fork::default();
        let ear = fork.ear(ear);
        (Self { talk, hearing, fork, uploading }, ear)
    }
}

/// A call without a recording goes on all the same. Parts of a `hidden` one become silence at its end.
fn recorder(
    lines: &Lines,
    app: &App,
    id: Id<Call>,
    hidden: bool,
) -> Option<((voice::Recorder, voice::Recording), PathBuf)> {
    let folder = recordings::spool(&app.config);
    let file = folder.join(format!("{id}.wav"));
    let made = std::fs::create_dir_all(&folder).map_err(|why| why.to_string());
    let open = || {
        if !hidden {
            return lines.recordings.open(&file);
        }
        let folder = recordings::unredacted(&app.config);
        std::fs::create_dir_all(&folder).map_err(|why| why.to_string())?;
        lines.recordings.open_unredacted(&folder.join(format!("{id}.wav")), &file)
    };
    let opened = made.and_then(|()| open()).map(|opened| (opened, file.clone()));
    opened.map_err(|why| tracing::error!(call = %id, %why, "a call is not recorded: no file")).ok()
}

impl Session {
    /// Waits until the call is answered; otherwise returns how the dial ended.
    async fn ring(
        &self,
        events: &mut dyn LegEvents,
        orders: &mut mpsc::Receiver<Command>,
    ) -> Result<(), Fact> {
        let mut asked = None;
        loop {
            tokio::select! {
                event = events.next() => match event {
                    // An answer that crossed our hang-up is ended by the signalling.
                    Some(LegEvent::Answered) if asked.is_none() => return Ok(()),
                    Some(LegEvent::Ended(end)) => return Err(asked.map_or(end.fact, Fact::Ended)),
                    Some(_) => {}
                    None => return Err(asked.map_or(Fact::Lost, Fact::Ended)),
                },
                Some(order) = orders.recv() => if let Command::HangUp(cause) | Command::TakeLeave(cause) = order {
                    asked.get_or_insert(cause);
                    self.drop_line();
                },
            }
        }
    }

    /// Ends the signalling without waiting for it.
    fn drop_line(&self) {
        let control = self.control.clone();
        tokio::spawn(async move { control.hang_up().await });
    }

    /// Holds the conversation and tells how it ended.
    pub(super) async fn talk(
        &self,
        meeting: Meeting,
        line: Arc<dyn LegMedia>,
        mut events: Box<dyn LegEvents>,
        mut orders: mpsc::Receiver<Command>,
    ) {
        // It ends with the conversation.
        let Meeting { talk, hearing, fork, uploading: _uploading } = meeting;
        let flow_version = Some(talk.flow_version);
        let (commands, told) = mpsc::channel(8);
        let (referral, referred) = Referral::new();
        let question = talk.question.clone().filter(|_| talk.direction == Direction::Outbound);
        let asked = self.lines.phones.as_ref().zip(question);
        let asked = asked.map(|(phones, question)| phones.will_ask(self.control.provider_call(), question));
        let times = sandbox::times(asked.is_some(), talk.called);
        let services = Arc::new(LineServices::new(self, &talk, line.clone(), fork, referred));
        let speech = self.lines.speech_of(&self.app.speech, &talk.models);
        let conversation =
            voice::hold(self.order(talk, &times), speech, line, hearing, services.clone(), told);
        tokio::pin!(conversation);
        let started = Instant::now();
        // When the call ends whatever is being said, and how.
        let mut curtain = self.lines.phones.as_ref().map(|_| (started + times.talk, EndCause::AgentEnded));
        let longest = started + self.app.config.telephony.max_duration;
        let mut over = false;
        let held = loop {
            tokio::select! {
                held = &mut conversation => break held,
                event = events.next(), if !over => match event {
                    Some(LegEvent::Held(hold)) => forward(&commands, Command::Hold(hold)).await,
                    Some(LegEvent::TransferDone(done)) => referral.done(done),
                    Some(LegEvent::Ended(_)) | None => {
                        over = true;
                        forward(&commands, Command::PeerGone).await;
                        // The line is gone: what is left to do is little, and must not hold the call for
                        // ever.
                        match tokio::time::timeout(AFTERWORD, &mut conversation).await {
                            Ok(held) => break held,
                            Err(_) => {
                                tracing::error!(call = %self.id, "a conversation did not end with its line");
                                return self.facts.tell(Fact::Lost);
                            }
                        }
                    }
                    Some(_) => {}
                },
                Some(order) = orders.recv() => {
                    if let Command::TakeLeave(cause) = order {
                        curtain = Some((Instant::now() + LEAVE, cause));
                    }
                    forward(&commands, order).await;
                }
                () = tokio::time::sleep_until(curtain.map_or(started, |(at, _)| at)), if curtain.is_some() => {
                    if let Some((_, cause)) = curtain.take() {
                        forward(&commands, Command::HangUp(cause)).await;
                    }
                }
            }
        };
        let mut end = held.end;
        if !over && end == Fact::Ended(EndCause::TransferHandoff) {
            let stopped = services.stay_bridged(events.as_mut(), &mut orders, longest).await;
            end = stopped.map_or(end, Fact::Ended);
        }
        // Nobody is left with a person who was brought in for a call that is over.
        services.part().await;
        self.control.hang_up().await;
        self.facts.tell_with(end, Some(Report { flow_version, ..held.report }));
    }

    fn order(&self, talk: calls::Talk, times: &sandbox::Times) -> Order {
        let settings = &self.app.config.telephony;
        let amd = match &settings.machine_answer {
            _ if talk.direction == Direction::Inbound => Amd::Off,
            MachineAnswer::Off => Amd::Off,
            MachineAnswer::HangUp => Amd::HangUp,
            MachineAnswer::Leave(message) => Amd::LeaveMessage(message.clone()),
        };
        let who = &talk.introduction;
        let introduction =
            CallPhrases::of(&talk.language).introduction(&who.agent, &who.company, &who.reason);
        Order {
            menus: talk.presses_keys(),
            introduction,
            person_wait: settings.person_wait,
            workspace: Some(self.tenant),
            allowed_numbers: talk.allowed_numbers,
            amd,
            names: talk.names,
            languages: talk.languages,
            voices: talk.voices,
            speakable: talk.speakable,
            redact: talk.redact,
            max_duration: settings.max_duration,
            silence: settings.silence_prompt,
            filler_after: settings.filler_after.unwrap_or(Duration::MAX),
            end_after: self.lines.phones.as_ref().map(|_| times.goodbye_after),
            // The offline recogniser understands no sentence that it does not expect.
            phrases: self.lines.phones.as_ref().and(talk.question).into_iter().collect(),
            ..Order::new(talk.flow, talk.variables, talk.language, talk.voice)
        }
    }
}

async fn forward(commands: &mpsc::Sender<Command>, command: Command) {
    // A conversation that is over takes no more.
    let _ = commands.send(command).await;
}
