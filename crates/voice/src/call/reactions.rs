//! Response latency: from the end of the customer's turn to the first audio of the reply, by stage.

use domain::call::TurnLatency;

use super::clock::since;
use super::transcript::Transcript;

/// The reaction in progress.
struct Reaction {
    /// When the customer's turn ended, time of the line.
    speech_end: u64,
    latency: TurnLatency,
    /// The utterance that answers it.
    utterance: Option<u64>,
}

/// The reaction to the newest turn of the customer, and the measured ones.
#[derive(Default)]
pub(crate) struct Reactions {
    current: Option<Reaction>,
    measured: Vec<(u64, TurnLatency)>,
}

impl Reactions {
    /// The customer's turn ended at `speech_end`, and its words were there at `words_at`; both were known
    /// `now`.
    pub fn begin(&mut self, speech_end: u64, words_at: Option<u64>, now: u64) {
        let latency = TurnLatency {
            endpoint_ms: since(now, speech_end),
            transcript_ms: words_at.map(|at| since(at, speech_end)),
            ..TurnLatency::default()
        };
        self.current = Some(Reaction { speech_end, latency, utterance: None });
    }

    /// The agent says this; the first utterance after the customer's turn is the reaction to it.
    pub fn utterance(&mut self, utterance: u64) {
        if let Some(reaction) = &mut self.current {
            reaction.utterance.get_or_insert(utterance);
        }
    }

    /// The model has written something.
    pub fn token(&mut self, now: u64) {
        if let Some(reaction) = self.current.as_mut().filter(|reaction| reaction.utterance.is_none()) {
            let after = since(now, reaction.speech_end);
            reaction.latency.first_token_ms.get_or_insert(after);
        }
    }

    /// The synthesiser has made sound.
    pub fn audio(&mut self, now: u64) {
        if let Some(reaction) = self.current.as_mut().filter(|reaction| reaction.utterance.is_some()) {
            let after = since(now, reaction.speech_end);
            reaction.latency.first_audio_ms.get_or_insert(after);
        }
    }

    /// The utterance whose first sample is awaited.
    pub fn awaited(&self) -> Option<u64> {
        self.current.as_ref()?.utterance
    }

    /// The first sample of the awaited utterance was sent at this time, when there were so many turns. Returns
    /// the measured reaction.
    pub fn sounded(&mut self, started: u64, turn: usize) -> Option<TurnLatency> {
        let utterance = self.awaited()?;
        let mut reaction = self.current.take()?;
        reaction.latency.first_packet_ms = Some(since(started, reaction.speech_end));
        reaction.latency.turn = turn;
        self.measured.push((utterance, reaction.latency.clone()));
        Some(reaction.latency)
    }

    /// The reactions that are in the transcript, each with the index of its turn.
    pub fn into_latency(self, transcript: &Transcript) -> Vec<TurnLatency> {
        let placed = self.measured.into_iter().filter_map(|(utterance, latency)| {
            Some(TurnLatency { turn: transcript.place(utterance)?, ..latency })
        });
        placed.collect()
    }
}
