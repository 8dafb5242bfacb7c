//! Voice activity detection (VAD) in 20 ms ticks.
//!
//! `earshot` classifies 16 ms at 16 kHz. It was measured against `webrtc-vad`: both find all synthesised speech, but
//! `webrtc-vad` takes 180 ms of a cough of 220 ms for voice, where `earshot` finds none at the threshold used here, and
//! `webrtc-vad` needs a C compiler. Neither distinguishes a tone from a voice, so [`super::tone`] is used, too. A noise
//! floor that follows the line keeps out a television in the next room.

use domain::ports::{FRAME, Frame};
use earshot::Detector;

use super::tone;

/// Score above which 16 ms are voice while somebody speaks.
const VOICE: f32 = 0.5;
/// The same while nobody speaks: speech rises above it within 60 ms, a cough stays below.
const ONSET: f32 = 0.65;
/// Voice within the newest [`ONSET_WINDOW`] ticks that makes speech, in 16-ms frames: 96 ms.
const ONSET_FRAMES: u32 = 6;
/// Ticks looked back for it: 200 ms.
const ONSET_WINDOW: usize = 10;
/// How far above the noise of the line voice has to be: 6 dB in amplitude.
const ABOVE_FLOOR: f32 = 2.0;
/// How far below what we say ourselves an echo may be: 18 dB. What is heard while we speak has to be louder.
const ECHO: f32 = 0.125;
/// Root mean square of -50 dBFS.
const QUIET: f32 = 100.0;
/// A fall of energy by this factor below the newest peak and back is a syllable.
const DIP: f32 = 0.4;

/// What a tick changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Somebody began to speak this many milliseconds ago.
    Began(u32),
    /// Somebody has been silent for as long as was asked for; speech ended this many milliseconds ago.
    Paused(u32),
}

/// Follows the sound of one side.
pub struct Activity {
    detector: Box<Detector>,
    /// Sound was judged since the last gap.
    hears: bool,
    /// Samples at 16 kHz that do not fill a frame yet.
    rest: Vec<i16>,
    last: [i16; 3],
    /// Voiced frames of the newest ticks.
    recent: [u8; ONSET_WINDOW],
    at: usize,
    floor: f32,
    echo: f32,
    speaking: bool,
    silent_ms: u32,
    pause_ms: u32,
    spoken_ms: u32,
    voiced_ms: u32,
    syllables: u32,
    peak: f32,
    dipped: bool,
    window: [i16; 240],
    beep: tone::Beep,
    beeped: bool,
}

impl Activity {
    /// Reports a pause after this much silence, milliseconds.
    pub fn new(pause_ms: u32) -> Self {
        Self {
            detector: Detector::default_boxed(),
            hears: false,
            rest: Vec::with_capacity(2 * FRAME + 256),
            last: [0; 3],
            recent: [0; ONSET_WINDOW],
            at: 0,
            floor: QUIET,
            echo: 0.0,
            speaking: false,
            silent_ms: 0,
            pause_ms,
            spoken_ms: 0,
            voiced_ms: 0,
            syllables: 0,
            peak: 0.0,
            dipped: false,
            window: [0; 240],
            beep: tone::Beep::default(),
            beeped: false,
        }
    }

    /// Whether somebody speaks, pauses aside.
    pub fn speaking(&self) -> bool {
        self.speaking
    }

    /// How long ago speech began, milliseconds.
    pub fn spoken_ms(&self) -> u32 {
        self.spoken_ms
    }

    /// How much of the speech was voiced, milliseconds; kept until the next speech begins.
    pub fn voiced_ms(&self) -> u32 {
        self.voiced_ms
    }

    /// Syllables since speech began, roughly: a held sound has none.
    pub fn syllables(&self) -> u32 {
        self.syllables
    }

    /// Whether the newest tick completed a beep.
    pub fn beeped(&self) -> bool {
        self.beeped
    }

    /// Takes a tick: what was heard, and what was said meanwhile.
    pub fn tick(&mut self, heard: Option<&Frame>, said: Option<&Frame>) -> Option<Change> {
        const SILENCE: Frame = [0; FRAME];
        // Ticks without a packet have no sound to classify. A sound thread that is late skips ticks, which come here as
        // nothing: they must cost next to nothing, or it never catches up.
        let arrived = heard.is_some();
        let heard = heard.unwrap_or(&SILENCE);
        self.echo = said.map_or(self.echo * 0.7, |said| (ECHO * rms(said)).max(self.echo * 0.7));
        let loudness = rms(heard);
        self.window.copy_within(FRAME.., 0);
        if let Some(newest) = self.window.get_mut(240 - FRAME..) {
            newest.copy_from_slice(heard);
        }
        let tone = if arrived { tone::frequency(&self.window) } else { None };
        self.beeped = self.beep.tick(tone);
        let frames = if arrived { self.judge(heard) } else { self.nothing() };
        let loud = loudness > (self.floor * ABOVE_FLOOR).max(QUIET) && loudness > self.echo;
        let voiced = if loud && !self.beep.sounding() { frames } else { 0 };
        self.follow(loudness, voiced > 0);
        self.recent[self.at] = voiced;
        self.at = (self.at + 1) % ONSET_WINDOW;
        if self.speaking { self.go_on(voiced, loudness) } else { self.begin() }
    }

    /// No packet: the detector restarts with the next sound.
    fn nothing(&mut self) -> u8 {
        if self.hears {
            self.hears = false;
            self.detector.reset();
            self.rest.clear();
            self.last = [0; 3];
        }
        0
    }

    /// Voiced 16-ms frames that this tick completed.
    fn judge(&mut self, heard: &Frame) -> u8 {
        self.hears = true;
        for &sample in heard {
            let [a, b, c] = self.last.map(f32::from);
            let now = f32::from(sample);
            // Half-way between b and c, from four samples; the detector hears nothing above 4 kHz anyway.
            let between = (9.0 * (b + c) - a - now) / 16.0;
            self.rest.push(self.last[1]);
            self.rest.push(between.clamp(-32768.0, 32767.0) as i16);
            self.last = [self.last[1], self.last[2], sample];
        }
        let mut voiced = 0;
        let mut used = 0;
        while let Some(frame) = self.rest.get(used..used + 256) {
            voiced += u8::from(self.detector.predict_i16(frame) > if self.speaking { VOICE } else { ONSET });
            used += 256;
        }
        self.rest.drain(..used);
        voiced
    }

    /// The noise of the line: falls at once, rises slowly and never under speech.
    fn follow(&mut self, loudness: f32, voiced: bool) {
        if loudness < self.floor {
            self.floor += (loudness - self.floor) * 0.3;
        } else if !voiced && !self.speaking {
            self.floor += (loudness - self.floor) * 0.02;
        } else {
            self.floor *= 1.001;
        }
        self.floor = self.floor.clamp(1.0, 3000.0);
    }

    fn begin(&mut self) -> Option<Change> {
        let voiced: u32 = self.recent.iter().map(|frames| u32::from(*frames)).sum();
        if voiced < ONSET_FRAMES {
            return None;
        }
        let ago = (0..ONSET_WINDOW)
            .find(|back| self.recent[(self.at + back) % ONSET_WINDOW] > 0)
            .map_or(0, |back| ONSET_WINDOW - back);
        let ago = u32::try_from(ago).unwrap_or(0) * 20;
        self.speaking = true;
        self.silent_ms = 0;
        self.spoken_ms = ago;
        self.voiced_ms = voiced * 16;
        self.syllables = 0;
        self.peak = 0.0;
        self.dipped = false;
        Some(Change::Began(ago))
    }

    fn go_on(&mut self, voiced: u8, loudness: f32) -> Option<Change> {
        self.spoken_ms = self.spoken_ms.saturating_add(20);
        self.count_syllable(loudness);
        if voiced > 0 {
            self.silent_ms = 0;
            self.voiced_ms = self.voiced_ms.saturating_add(u32::from(voiced) * 16);
            return None;
        }
        self.silent_ms += 20;
        if self.silent_ms < self.pause_ms {
            return None;
        }
        self.speaking = false;
        self.recent = [0; ONSET_WINDOW];
        Some(Change::Paused(self.silent_ms))
    }

    fn count_syllable(&mut self, loudness: f32) {
        self.peak = (self.peak * 0.97).max(loudness);
        if loudness < self.peak * DIP {
            self.dipped = true;
        } else if self.dipped && loudness > self.peak * 0.7 {
            self.dipped = false;
            self.syllables += 1;
        }
    }
}

fn rms(frame: &Frame) -> f32 {
    let power: f32 = frame.iter().map(|sample| f32::from(*sample) * f32::from(*sample)).sum();
    (power / FRAME as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A voice, roughly: harmonics of a gliding pitch in syllables.
    fn voice(tick: usize) -> Frame {
        std::array::from_fn(|index| {
            let at = (tick * FRAME + index) as f32 / 8000.0;
            let pitch = 140.0 * at + 3.0 * (at * 2.7).sin();
            let syllable = 0.25 + 0.75 * (at * 12.6).sin().abs();
            let voice: f32 = (1..12u8)
                .map(|of| (std::f32::consts::TAU * pitch * f32::from(of)).sin() / f32::from(of))
                .sum();
            (voice * syllable * 5000.0) as i16
        })
    }

    /// Events of a second of voice, `gap` for 600 ms, and voice again, with their ticks.
    fn told(gap: Option<&Frame>) -> Vec<(usize, Change)> {
        let mut activity = Activity::new(300);
        let mut told = Vec::new();
        for tick in 0..130 {
            let sound = voice(tick);
            let heard = if (50..80).contains(&tick) { gap } else { Some(&sound) };
            told.extend(activity.tick(heard, None).map(|change| (tick, change)));
        }
        told
    }

    #[test]
    fn where_nothing_arrives_nobody_speaks_just_as_in_silence() {
        let (nothing, silence) = (told(None), told(Some(&[0; FRAME])));
        let kinds = |told: &[(usize, Change)]| {
            told.iter().map(|(_, change)| std::mem::discriminant(change)).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&nothing), kinds(&silence), "{nothing:?} and {silence:?}");
        let [_, (paused, Change::Paused(300)), (began, Change::Began(_))] = nothing.as_slice() else {
            panic!("{nothing:?}")
        };
        assert_eq!((*paused, *began < 95), (64, true), "{nothing:?}");
    }
}
