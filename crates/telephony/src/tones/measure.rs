//! What a tick sounds like.

use std::f32::consts::TAU;

use crate::media::{FRAME, Frame};

const RATE: f32 = 8000.0;

/// Mean square of a tick.
pub(super) fn energy(frame: &Frame) -> f32 {
    let sum: f32 = frame.iter().map(|sample| f32::from(*sample) * f32::from(*sample)).sum();
    sum / FRAME as f32
}

/// The part of the mean square that lies at `hertz` (Goertzel); for a pure tone of that frequency it is all
/// of it.
pub(super) fn at(frame: &Frame, hertz: f32) -> f32 {
    let turn = 2.0 * (TAU * hertz / RATE).cos();
    let (mut one, mut two) = (0.0f32, 0.0f32);
    for sample in frame {
        let zero = f32::from(*sample) + turn * one - two;
        two = one;
        one = zero;
    }
    let power = one * one + two * two - turn * one * two;
    let samples = FRAME as f32;
    2.0 * power / (samples * samples)
}

/// The frequency of a tick that is nothing but one tone between 400 and 2000 Hz, within some 10 Hz.
pub(super) fn single(frame: &Frame, energy: f32) -> Option<f32> {
    // For a tone of angular frequency w, x[n-2] + x[n+2] = 2 cos(2w) x[n]: the least squares say w. Lag 2 has
    // no second reading below 2 kHz.
    let (mut above, mut below) = (0.0f32, 0.0f32);
    for window in frame.windows(5) {
        let middle = f32::from(window[2]);
        above += middle * (f32::from(window[0]) + f32::from(window[4]));
        below += 2.0 * middle * middle;
    }
    if below <= 0.0 {
        return None;
    }
    let guess = (above / below).clamp(-1.0, 1.0).acos() / 2.0 / TAU * RATE;
    // Noise pulls the estimate toward 1 kHz: looked for on both sides.
    let (power, hertz) = [-45.0, -30.0, -15.0, 0.0, 15.0, 30.0, 45.0]
        .into_iter()
        .map(|off| (at(frame, guess + off), guess + off))
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    let pure = power >= 0.8 * energy && (380.0..=2020.0).contains(&hertz);
    pure.then_some(hertz)
}
