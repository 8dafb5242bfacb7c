//! Media statistics: packets, loss, jitter buffer, tick lateness.

use std::sync::atomic::{AtomicU64, Ordering};

/// Upper edges of the lateness classes of [`Figures::lateness`], milliseconds; the last class has no edge.
pub const LATENESS_MS: [u32; 8] = [1, 2, 5, 10, 20, 30, 60, 100];

/// What all lines did since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Lines open now.
    pub lines: u64,
    /// RTP ports in use now, by lines and by calls that have no sound yet.
    pub ports_in_use: u64,
    /// RTP ports there are.
    pub ports: u64,
    pub ticks: u64,
    /// Ticks worked more than 30 ms after their time.
    pub late_ticks: u64,
    /// Ticks given up because their thread was more than 100 ms behind.
    pub skipped_ticks: u64,
    /// Ticks by how late they were worked: up to the edges of [`LATENESS_MS`], and more.
    pub lateness: [u64; LATENESS_MS.len() + 1],
    /// Packets that were heard, telephone events included.
    pub packets_in: u64,
    pub packets_out: u64,
    /// Packets that the operating system did not take.
    pub packets_unsent: u64,
    /// Packets of the other sides that never came.
    pub lost: u64,
    /// Packets that came twice.
    pub duplicate: u64,
    /// Packets that came after a later one.
    pub reordered: u64,
    /// Packets that came after their sound was due.
    pub late_packets: u64,
    /// Packets that were no RTP, of an unknown kind, or not authentic.
    pub unreadable: u64,
    /// Packets from an address that is not the call's.
    pub foreign: u64,
    /// Packets that came before the sound began, thrown away.
    pub early: u64,
    /// Lines closed because their ear failed.
    pub failed_ears: u64,
}

/// What one line did since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineFigures {
    pub ticks: u64,
    /// Ticks worked more than 30 ms after their time.
    pub late_ticks: u64,
    /// Packets that were heard, telephone events included.
    pub packets_in: u64,
    pub packets_out: u64,
    /// Packets that the operating system did not take.
    pub packets_unsent: u64,
    /// Packets of the other side that never came.
    pub lost: u64,
    /// Packets that came twice.
    pub duplicate: u64,
    /// Packets that came after a later one.
    pub reordered: u64,
    /// Packets that came after their sound was due.
    pub late_packets: u64,
    /// Packets that were no RTP, of an unknown kind, or not authentic.
    pub unreadable: u64,
    /// Packets from an address that is not the call's.
    pub foreign: u64,
    /// Packets that came before the sound began, thrown away.
    pub early: u64,
    /// Ticks in which missing sound was made up.
    pub concealed: u64,
    /// How long sound waits in the jitter buffer, milliseconds.
    pub delay_ms: u32,
}

macro_rules! totals {
    ($($name:ident),*) => {
        /// The sums of one sound thread.
        #[derive(Debug, Default)]
        pub(super) struct Totals {
            pub(super) skipped_ticks: AtomicU64,
            pub(super) failed_ears: AtomicU64,
            lateness: [AtomicU64; LATENESS_MS.len() + 1],
            $($name: AtomicU64,)*
        }

        impl Totals {
            /// Adds what a line did between two of its figures.
            pub(super) fn add(&self, before: &LineFigures, after: &LineFigures) {
                $(
                    let more = after.$name.wrapping_sub(before.$name);
                    if more != 0 {
                        self.$name.fetch_add(more, Ordering::Relaxed);
                    }
                )*
            }

            /// Adds these sums to `figures`.
            pub(super) fn sum(&self, figures: &mut Figures) {
                figures.skipped_ticks += self.skipped_ticks.load(Ordering::Relaxed);
                figures.failed_ears += self.failed_ears.load(Ordering::Relaxed);
                for (sum, part) in figures.lateness.iter_mut().zip(&self.lateness) {
                    *sum += part.load(Ordering::Relaxed);
                }
                $(figures.$name += self.$name.load(Ordering::Relaxed);)*
            }
        }
    };
}

totals!(
    ticks,
    late_ticks,
    packets_in,
    packets_out,
    packets_unsent,
    lost,
    duplicate,
    reordered,
    late_packets,
    unreadable,
    foreign,
    early
);

impl Totals {
    /// Counts a tick that was worked `ms` after its time.
    pub(super) fn lateness(&self, ms: u32) {
        let class = LATENESS_MS.partition_point(|edge| *edge < ms);
        if let Some(class) = self.lateness.get(class) {
            class.fetch_add(1, Ordering::Relaxed);
        }
    }
}
