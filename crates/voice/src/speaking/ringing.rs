//! The Indian ringback tone, softly: 400 and 450 Hz, 0.4 s on, 0.2 s off, 0.4 s on, 2 s off.

use std::sync::LazyLock;

/// Peak of each of the two tones: -26 dBFS.
const LEVEL: f32 = 820.0;

static CADENCE: LazyLock<Vec<i16>> = LazyLock::new(|| {
    let tone = |at: usize| {
        let angle = std::f32::consts::TAU * at as f32 / 8000.0;
        (LEVEL * ((angle * 400.0).sin() + (angle * 450.0).sin())) as i16
    };
    let on = |at: usize| at < 3200 || (4800..8000).contains(&at);
    (0..24_000).map(|at| if on(at) { tone(at) } else { 0 }).collect()
});

/// One cycle of it, at 8000 samples a second.
pub(crate) fn cadence() -> &'static [i16] {
    &CADENCE
}
