//! The media half of a leg: RTP port, SDP offer/answer, and the media stream once an ear is connected.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard};

use crate::media::sdp::{self, OfferSettings};
use crate::media::{Agreed, Direction, Ear, Engine, Line, SdpError, Socket, Sources};
use crate::settings::{Codec, Encryption};

/// How the sound of a leg travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The codec of the sound we send.
    pub codec: Codec,
    /// Where the other side said it receives.
    pub remote: SocketAddr,
    /// Whether sound is encrypted (SRTP).
    pub encrypted: bool,
    /// Whether the other side takes keys as RFC 4733 events.
    pub digits: bool,
    /// Whether the other side has put us on hold.
    pub held: bool,
}

impl From<&Agreed> for Connection {
    fn from(agreed: &Agreed) -> Self {
        Self {
            codec: agreed.codec,
            remote: agreed.remote,
            encrypted: agreed.srtp.is_some(),
            digits: agreed.telephone_event.is_some(),
            held: agreed.held(),
        }
    }
}

/// The sound of one leg, shared by the task of the leg and the owner of the leg.
pub(super) struct Sound {
    engine: Engine,
    sources: Sources,
    state: Mutex<State>,
}

struct State {
    ours: OfferSettings,
    socket: Option<Socket>,
    agreed: Option<Agreed>,
    line: Option<Line>,
    closed: bool,
}

impl Sound {
    /// Takes an RTP port at `bind`; `shown` is the address advertised to the other side, `sources` where its sound
    /// may come from beside the one it names.
    ///
    /// # Errors
    /// No port is free, or the address is not of this machine.
    pub fn open(
        engine: &Engine,
        bind: IpAddr,
        shown: IpAddr,
        sources: Sources,
        codecs: &[Codec],
        encryption: Encryption,
    ) -> Result<Self, String> {
        let socket = engine.open(bind).map_err(|error| error.to_string())?;
        let ours = OfferSettings::new(shown, socket.port(), codecs.to_vec(), encryption);
        let state = State { ours, socket: Some(socket), agreed: None, line: None, closed: false };
        Ok(Self { engine: engine.clone(), sources, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The offer of a new INVITE.
    pub fn offer(&self) -> String {
        sdp::offer(&self.state().ours)
    }

    /// A further offer, in a re-INVITE; `hold` says whether the other side should be silent.
    pub fn offer_again(&self, hold: bool) -> String {
        let mut state = self.state();
        let direction = if hold { Direction::SendOnly } else { Direction::SendRecv };
        state.ours = state.ours.next(direction);
        sdp::offer(&state.ours)
    }

    /// The other side's answer to our offer. Answers whether what the other side wants to hear has changed,
    /// as [`Sound::on_offer`] does.
    pub fn on_answer(&self, answer: &str) -> Result<Settled, SdpError> {
        let mut state = self.state();
        let agreed = sdp::agree(&state.ours, answer)?;
        Ok(state.settle(agreed))
    }

    /// The other side's offer: gives our answer's text and what was settled.
    pub fn on_offer(&self, offer: &str) -> Result<(String, Settled), SdpError> {
        let mut state = self.state();
        if state.agreed.is_some() {
            let direction = state.ours.direction;
            state.ours = state.ours.next(direction);
        }
        let (text, agreed) = sdp::answer(offer, &state.ours)?;
        Ok((text, state.settle(agreed)))
    }

    /// What is agreed so far.
    pub fn connection(&self) -> Option<Connection> {
        self.state().agreed.as_ref().map(Connection::from)
    }

    /// Starts the sound; `None` before anything is agreed, after the end, and the second time.
    pub fn connect(&self, ear: Box<dyn Ear>) -> Option<Line> {
        let mut state = self.state();
        if state.closed || state.line.is_some() {
            return None;
        }
        let agreed = state.agreed.clone()?;
        let socket = state.socket.take()?;
        let line = self.engine.connect(socket, agreed, self.sources.clone(), ear);
        state.line = Some(line.clone());
        Some(line)
    }

    /// The line, once connected and not closed.
    pub fn line(&self) -> Option<Line> {
        self.state().line.clone()
    }

    /// Mutes our side of the line, or unmutes it.
    pub fn set_hold(&self, hold: bool) {
        if let Some(line) = &self.state().line {
            line.hold(hold);
        }
    }

    /// Ends the sound and frees the port. May be called again.
    pub fn close(&self) {
        let (line, socket) = {
            let mut state = self.state();
            state.closed = true;
            (state.line.take(), state.socket.take())
        };
        if let Some(line) = line {
            line.close();
        }
        drop(socket);
    }
}

/// What an offer or an answer changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settled {
    /// How the sound travels now.
    pub connection: Connection,
    /// The other side has put us on hold, or taken us back.
    pub held: Option<bool>,
}

impl State {
    fn settle(&mut self, agreed: Agreed) -> Settled {
        let connection = Connection::from(&agreed);
        let before = self.agreed.as_ref().is_some_and(Agreed::held);
        if let Some(line) = &self.line {
            line.update(agreed.clone());
        }
        self.agreed = Some(agreed);
        Settled { connection, held: (before != connection.held).then_some(connection.held) }
    }
}
