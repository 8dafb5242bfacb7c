//! Tone generator: DTMF and beeps, 16-bit linear PCM, mono, 8000 Hz.

use std::f32::consts::TAU;

const RATE: f32 = 8000.0;
/// Level of a single tone, −10 dB below full scale; each of the two tones of a key is half of it.
const LEVEL: f32 = 10_000.0;
/// Samples in which a tone swells and dies away, 2 ms, so that it does not click.
const EDGE: usize = 16;

/// The two frequencies of a key, Hz (ITU-T Q.23).
const ROWS: [f32; 4] = [697.0, 770.0, 852.0, 941.0];
const COLUMNS: [f32; 4] = [1209.0, 1336.0, 1477.0, 1633.0];
/// Keys by row and column.
const PAD: [[char; 4]; 4] =
    [['1', '2', '3', 'A'], ['4', '5', '6', 'B'], ['7', '8', '9', 'C'], ['*', '0', '#', 'D']];

fn mix(frequencies: &[f32], ms: u32) -> Vec<i16> {
    let samples = ms as usize * 8;
    let level = LEVEL / frequencies.len().max(1) as f32;
    (0..samples)
        .map(|index| {
            let edge = (index + 1).min(samples - index).min(EDGE) as f32 / EDGE as f32;
            let sum: f32 =
                frequencies.iter().map(|hertz| (TAU * (hertz * index as f32 / RATE).fract()).sin()).sum();
            (sum * level * edge) as i16
        })
        .collect()
}

/// A single tone of `hertz` for `ms` milliseconds.
pub fn tone(hertz: f32, ms: u32) -> Vec<i16> {
    mix(&[hertz], ms)
}

/// The tone of a key (`0`-`9`, `*`, `#`, `A`-`D`) for `ms` milliseconds; silence for anything else.
pub fn dtmf(key: char, ms: u32) -> Vec<i16> {
    let key = key.to_ascii_uppercase();
    for (row, keys) in ROWS.iter().zip(PAD) {
        if let Some(column) = keys.iter().position(|known| *known == key) {
            return mix(&[*row, COLUMNS[column]], ms);
        }
    }
    vec![0; ms as usize * 8]
}
