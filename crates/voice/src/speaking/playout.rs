//! The playout buffer: pieces of text with their audio, and how much of it was sent, which counts as heard.
//!
//! Positions are samples since the conversation began. At most [`AHEAD_MS`] are queued on the line: so little has to be
//! taken back when the agent pauses.

use std::collections::VecDeque;
use std::sync::Arc;

use domain::conversation::speakable::Spoken as Sentence;
use domain::ports::Mouth;

/// Sound queued on the line, milliseconds.
const AHEAD_MS: u32 = 600;
/// Below this the line's queue is refilled, milliseconds.
const LOW_MS: u32 = 300;
/// Samples that a character of the spoken form takes, roughly; for a piece whose sound is not complete yet.
const PER_CHARACTER: u64 = 560;

/// How the interpreter identifies an utterance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is in the interpreter's history.
    Written,
    /// The model is still saying it: not in the history yet.
    Forming,
    /// The call's own (`one moment`): it is in the transcript only.
    Beside,
}

#[derive(Debug)]
struct Piece {
    id: u64,
    text: Sentence,
    start: Option<u64>,
    end: Option<u64>,
}

/// One thing that the agent says: a text of the flow, or a turn of the model.
#[derive(Debug)]
struct Utterance {
    id: u64,
    kind: Kind,
    pieces: Vec<Piece>,
    /// No more pieces will come.
    whole: bool,
    /// Its number among the texts of the interpreter, which is notified when it has sounded.
    said: Option<u64>,
    /// When its first sample was sent, time of the line.
    started_at: Option<u64>,
    ended_at: u64,
}

/// An utterance that is over, heard to its end or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spoken {
    pub id: u64,
    pub kind: Kind,
    pub said: Option<u64>,
    /// What was heard of it.
    pub heard: String,
    /// Not all of it was heard.
    pub cut_off: bool,
    pub started_at: Option<u64>,
    pub ended_at: u64,
}

/// The agent's sound and the texts that it belongs to.
pub(super) struct Playout {
    mouth: Arc<dyn Mouth>,
    /// Sound that is not queued on the line yet.
    ready: VecDeque<i16>,
    /// The newest sound queued on the line, to be able to take it back.
    handed_tail: VecDeque<i16>,
    handed: u64,
    paused: bool,
    utterances: VecDeque<Utterance>,
}

impl Playout {
    /// Plays into `mouth`.
    pub fn new(mouth: Arc<dyn Mouth>) -> Self {
        Self {
            mouth,
            ready: VecDeque::new(),
            handed_tail: VecDeque::new(),
            handed: 0,
            paused: false,
            utterances: VecDeque::new(),
        }
    }

    /// Begins an utterance; its pieces follow.
    pub fn begin(&mut self, id: u64, kind: Kind) {
        self.utterances.push_back(Utterance {
            id,
            kind,
            pieces: Vec::new(),
            whole: false,
            said: None,
            started_at: None,
            ended_at: 0,
        });
    }

    /// Adds a sentence to an utterance; its sound follows.
    pub fn add_piece(&mut self, utterance: u64, piece: u64, text: Sentence) {
        if let Some(utterance) = self.utterance(utterance) {
            utterance.pieces.push(Piece { id: piece, text, start: None, end: None });
        }
    }

    fn utterance(&mut self, id: u64) -> Option<&mut Utterance> {
        self.utterances.iter_mut().find(|utterance| utterance.id == id)
    }

    /// No more pieces of this utterance will come.
    pub fn finish(&mut self, utterance: u64) {
        if let Some(utterance) = self.utterance(utterance) {
            utterance.whole = true;
        }
    }

    /// The utterance is in the interpreter's history from now on.
    pub fn written(&mut self, utterance: u64) {
        if let Some(utterance) = self.utterance(utterance) {
            utterance.kind = Kind::Written;
        }
    }

    /// The utterance is this text of the interpreter.
    pub fn number(&mut self, utterance: u64, said: u64) {
        if let Some(utterance) = self.utterance(utterance) {
            utterance.said = Some(said);
        }
    }

    /// When the first sample of an utterance under way was sent.
    pub fn started(&self, utterance: u64) -> Option<u64> {
        self.utterances.iter().find(|one| one.id == utterance)?.started_at
    }

    /// Adds sound of a piece.
    pub fn append(&mut self, piece: u64, samples: &[i16]) {
        let at = self.appended();
        if let Some(piece) = self.piece(piece) {
            piece.start.get_or_insert(at);
        }
        self.ready.extend(samples);
    }

    /// The sound of a piece is complete, or there will be none.
    pub fn end_piece(&mut self, piece: u64) {
        let at = self.appended();
        if let Some(piece) = self.piece(piece) {
            piece.start.get_or_insert(at);
            piece.end = Some(at);
        }
    }

    /// Adds sound that belongs to no text.
    pub fn append_plain(&mut self, samples: &[i16]) {
        self.ready.extend(samples);
    }

    fn piece(&mut self, id: u64) -> Option<&mut Piece> {
        self.utterances.iter_mut().flat_map(|utterance| &mut utterance.pieces).find(|piece| piece.id == id)
    }

    fn appended(&self) -> u64 {
        self.handed + self.ready.len() as u64
    }

    fn played(&self) -> u64 {
        self.handed.saturating_sub(u64::from(self.mouth.queued_ms()) * 8)
    }

    /// Sound that is made and not yet sent, milliseconds.
    pub fn left_ms(&self) -> u64 {
        self.appended().saturating_sub(self.played()) / 8
    }

    /// Whether there is nothing to say and everything was sent.
    pub fn idle(&self) -> bool {
        self.ready.is_empty() && self.utterances.is_empty() && self.mouth.queued_ms() == 0
    }

    /// Whether no words are being spoken, whatever else sounds.
    pub fn silent(&self) -> bool {
        self.utterances.is_empty()
    }

    /// Refills the line's queue and returns the finished utterances. `now` is the time of the line.
    pub fn pump(&mut self, now: u64) -> Vec<Spoken> {
        self.top_up();
        self.over(now)
    }

    /// Queues sound on the line when it runs low.
    pub fn top_up(&mut self) {
        if !self.paused {
            let queued = self.mouth.queued_ms();
            if queued < LOW_MS {
                let room = usize::try_from(AHEAD_MS - queued).unwrap_or(0) * 8;
                let count = room.min(self.ready.len());
                if count > 0 {
                    let sound: Vec<i16> = self.ready.drain(..count).collect();
                    self.mouth.play(&sound);
                    self.handed += count as u64;
                    self.handed_tail.extend(&sound);
                    let surplus = self
                        .handed_tail
                        .len()
                        .saturating_sub(usize::try_from(AHEAD_MS + LOW_MS).unwrap_or(0) * 8);
                    self.handed_tail.drain(..surplus);
                }
            }
        }
    }

    /// The finished utterances.
    pub fn over(&mut self, now: u64) -> Vec<Spoken> {
        let played = self.played();
        for utterance in &mut self.utterances {
            let began = utterance.pieces.iter().find_map(|piece| piece.start.filter(|start| *start < played));
            if let (None, Some(began)) = (utterance.started_at, began) {
                utterance.started_at = Some(now.saturating_sub((played - began) / 8));
            }
        }
        let mut over = Vec::new();
        while let Some(first) = self.utterances.front_mut() {
            let done =
                first.whole && first.pieces.iter().all(|piece| piece.end.is_some_and(|end| end <= played));
            if !done {
                break;
            }
            let end = first.pieces.iter().filter_map(|piece| piece.end).max().unwrap_or(played);
            first.ended_at = now.saturating_sub((played - end) / 8);
            if let Some(first) = self.utterances.pop_front() {
                over.push(first.spoken(played));
            }
        }
        over
    }

    /// When to pump again, milliseconds from now; `None` when the line's queue is empty.
    pub fn due(&self) -> Option<u64> {
        if self.paused {
            return None;
        }
        let queued = u64::from(self.mouth.queued_ms());
        let top_up = match (self.ready.is_empty(), queued) {
            (false, queued) => Some(queued.saturating_sub(200).max(20)),
            (true, 0) => None,
            (true, queued) => Some(queued.min(200)),
        };
        top_up.into_iter().chain(self.first_is_over_in()).min()
    }

    /// Milliseconds until the current utterance is over: something may wait for just that.
    fn first_is_over_in(&self) -> Option<u64> {
        let first = self.utterances.front().filter(|first| first.whole)?;
        let ends: Option<Vec<u64>> = first.pieces.iter().map(|piece| piece.end).collect();
        let left = ends?.into_iter().max()?.saturating_sub(self.played());
        (left > 0).then(|| left.div_ceil(8))
    }

    /// Presses keys; false if the line takes none.
    pub fn press_keys(&self, keys: &str) -> bool {
        self.mouth.send_digits(keys)
    }

    /// Pauses; unsent sound is kept.
    pub fn pause(&mut self) {
        if self.paused {
            return;
        }
        self.paused = true;
        let dropped = self.mouth.clear().min(self.handed_tail.len());
        let from = self.handed_tail.len() - dropped;
        let back: Vec<i16> = self.handed_tail.drain(from..).collect();
        self.handed -= dropped as u64;
        for sample in back.into_iter().rev() {
            self.ready.push_front(sample);
        }
    }

    /// Resumes.
    pub fn resume(&mut self) {
        self.paused = false;
    }

    /// Drops all unsent sound, and returns what was heard of the cut-off utterances, in order.
    pub fn discard(&mut self, now: u64) -> Vec<Spoken> {
        self.pause();
        self.paused = false;
        let played = self.played();
        self.ready.clear();
        self.handed_tail.clear();
        let cut = self.utterances.drain(..).map(|mut utterance| {
            utterance.ended_at = now;
            utterance.spoken(played)
        });
        cut.collect()
    }
}

impl Utterance {
    fn spoken(&self, played: u64) -> Spoken {
        let mut heard: Vec<String> = Vec::new();
        for piece in &self.pieces {
            match (piece.start, piece.end) {
                // No synthesiser could speak this sentence.
                (Some(start), Some(end)) if start == end => {}
                (Some(_), Some(end)) if end <= played => heard.push(piece.text.written().trim().to_owned()),
                (Some(start), end) if start < played => {
                    let length =
                        end.map_or(PER_CHARACTER * piece.text.length() as u64, |end| end - start).max(1);
                    heard.push(piece.text.heard(played - start, length));
                }
                _ => {}
            }
        }
        heard.retain(|text| !text.is_empty());
        Spoken {
            id: self.id,
            kind: self.kind,
            said: self.said,
            heard: heard.join(" "),
            cut_off: !self.whole
                || !self.pieces.iter().all(|piece| piece.end.is_some_and(|end| end <= played)),
            started_at: self.started_at,
            ended_at: self.ended_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Line(Mutex<(Vec<i16>, usize)>);

    impl Line {
        fn send(&self, samples: usize) {
            let mut line = self.0.lock().expect("a lock");
            line.1 = (line.1 + samples).min(line.0.len());
        }
        fn sent(&self) -> Vec<i16> {
            let line = self.0.lock().expect("a lock");
            line.0[..line.1].to_vec()
        }
    }

    impl Mouth for Line {
        fn play(&self, samples: &[i16]) {
            self.0.lock().expect("a lock").0.extend(samples);
        }
        fn clear(&self) -> usize {
            let mut line = self.0.lock().expect("a lock");
            let (all, sent) = (line.0.len(), line.1);
            line.0.truncate(sent);
            all - sent
        }
        fn queued_ms(&self) -> u32 {
            let line = self.0.lock().expect("a lock");
            u32::try_from((line.0.len() - line.1).div_ceil(8)).expect("small")
        }
        fn send_digits(&self, _: &str) -> bool {
            false
        }
    }

    fn speaking(texts: &[&str], samples_each: usize) -> (Arc<Line>, Playout) {
        let line = Arc::new(Line::default());
        let mut playout = Playout::new(Arc::clone(&line) as Arc<dyn Mouth>);
        playout.begin(1, Kind::Written);
        let mut next = 0i16;
        for (id, text) in texts.iter().enumerate() {
            let id = id as u64;
            playout.add_piece(1, id, Sentence::plain(text));
            let sound: Vec<i16> = (0..samples_each)
                .map(|_| {
                    next += 1;
                    next
                })
                .collect();
            playout.append(id, &sound);
            playout.end_piece(id);
        }
        playout.finish(1);
        (line, playout)
    }

    #[test]
    fn every_sample_is_sent_once_and_in_order_whatever_the_pauses() {
        let (line, mut playout) = speaking(&["one two", "three"], 8000);
        let mut over = Vec::new();
        for tick in 0..150u64 {
            over.extend(playout.pump(tick * 20));
            match tick % 17 {
                5 => playout.pause(),
                9 => playout.resume(),
                _ => {}
            }
            line.send(160);
        }
        over.extend(playout.pump(3000));
        assert_eq!(line.sent(), (1..=16000).collect::<Vec<i16>>());
        assert_eq!(over.iter().map(|spoken| spoken.heard.as_str()).collect::<Vec<_>>(), ["one two three"]);
        assert!(playout.idle());
    }

    #[test]
    fn the_line_is_never_far_ahead() {
        let (line, mut playout) = speaking(&["a long story"], 30_000);
        for tick in 0..100u64 {
            playout.pump(tick * 20);
            assert!(line.queued_ms() <= AHEAD_MS);
            assert!(tick == 0 || line.queued_ms() > 0, "the line ran dry");
            line.send(160);
        }
    }

    #[test]
    fn what_is_cut_off_was_heard_as_far_as_it_was_sent() {
        let (line, mut playout) =
            speaking(&["Your loan is due.", "Please pay two thousand rupees today."], 8000);
        for tick in 0..75u64 {
            playout.pump(tick * 20);
            line.send(160);
        }
        let cut = playout.discard(1500);
        assert_eq!(cut[0].heard, "Your loan is due. Please pay two");
        assert_eq!(line.queued_ms(), 0);
        assert!(playout.idle());
    }

    #[test]
    fn a_sentence_without_a_sound_was_not_heard() {
        let (line, mut playout) = speaking(&["Your loan is due."], 800);
        playout.begin(2, Kind::Written);
        playout.add_piece(2, 9, Sentence::plain("Nobody can speak this."));
        playout.end_piece(9);
        playout.finish(2);
        playout.number(2, 7);
        assert!(playout.pump(0).is_empty(), "not before what comes before it");
        line.send(800);
        let over = playout.pump(100);
        let told: Vec<_> = over.iter().map(|spoken| (spoken.heard.as_str(), spoken.said)).collect();
        assert_eq!(told, [("Your loan is due.", None), ("", Some(7))]);
    }
}
