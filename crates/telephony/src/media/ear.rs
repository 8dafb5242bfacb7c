//! What hears a call's sound.

/// Samples of one tick: 20 ms of 16-bit mono at 8000 a second.
pub const FRAME: usize = 160;

/// Sound of one tick.
pub type Frame = [i16; FRAME];

/// One tick of a call, 20 ms.
#[derive(Debug, Clone, Copy)]
pub struct Tick<'a> {
    /// What the other side said; none when nothing arrived for this tick (lost, late, held or silent).
    pub heard: Option<&'a Frame>,
    /// What this side said; none when nothing was queued.
    pub said: Option<&'a Frame>,
    /// How long after its time the tick was worked, milliseconds.
    pub late_ms: u32,
}

/// Hears a call, on the thread that carries its sound: nothing here may wait, and little may be allocated.
pub trait Ear: Send {
    /// Called for every tick from the start of the sound to its end, in order.
    fn tick(&mut self, tick: Tick<'_>);

    /// A key was pressed: `0`-`9`, `*`, `#`, `A`-`D`. Once a press, however many packets carried it.
    fn digit(&mut self, key: char);

    /// No packet has arrived for this long, in milliseconds; told once a second from the fifth on while the
    /// line is not on hold.
    fn starved(&mut self, ms: u32);

    /// The last word: there will be no more ticks.
    fn closed(&mut self) {}
}
