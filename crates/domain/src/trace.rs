//! Trace context of a piece of work, in the format of W3C Trace Context (docs/operating/traces.md).

use std::fmt;
use std::str::FromStr;

/// A trace and the parent span of later work: the content of the header `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceContext {
    /// The trace; never 0.
    pub trace: u128,
    /// The span; never 0.
    pub span: u64,
    /// Whether the trace is recorded.
    pub sampled: bool,
}

impl TraceContext {
    /// The parent of work that an earlier piece of work (`of`) requested, when it happens during another one (`now`):
    /// the current span if that is of the same trace, else the earlier one.
    pub fn nearest(now: Option<Self>, of: Option<Self>) -> Option<Self> {
        match (now, of) {
            (Some(now), Some(of)) if now.trace == of.trace => Some(now),
            (_, Some(of)) => Some(of),
            (now, None) => now,
        }
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, u8::from(self.sampled))
    }
}

/// Not a `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTraceContext;

impl FromStr for TraceContext {
    type Err = NoTraceContext;

    /// Parses version 00, and of later versions the common part.
    fn from_str(text: &str) -> Result<Self, NoTraceContext> {
        let hex = |part: &str, length: usize| {
            let digits = part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
            if part.len() == length && digits {
                u128::from_str_radix(part, 16).map_err(|_| NoTraceContext)
            } else {
                Err(NoTraceContext)
            }
        };
        let mut parts = text.splitn(5, '-');
        let mut part = || parts.next().ok_or(NoTraceContext);
        let (version, trace, span, flags) =
            (hex(part()?, 2)?, hex(part()?, 32)?, hex(part()?, 16)?, hex(part()?, 2)?);
        let more = parts.next().is_some();
        if version == 0xff || (version == 0 && more) || trace == 0 || span == 0 {
            return Err(NoTraceContext);
        }
        Ok(Self { trace, span: u64::try_from(span).map_err(|_| NoTraceContext)?, sampled: flags & 1 == 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_valid_is_read() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let read: TraceContext = good.parse().unwrap();
        assert_eq!(read.to_string(), good);
        assert!(read.sampled);
        for (text, sampled) in [
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", Some(false)),
            // Other flags are of later levels.
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02", Some(false)),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03", Some(true)),
            ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes-later", Some(true)),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", None),
            ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", None),
            ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", None),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", None),
            ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", None),
            ("00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", None),
            ("00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", None),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", None),
            ("0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", None),
            ("", None),
        ] {
            assert_eq!(text.parse::<TraceContext>().ok().map(|read| read.sampled), sampled, "{text}");
        }
    }

    #[test]
    fn work_belongs_to_the_trace_that_asked_for_it() {
        let context = |trace, span| Some(TraceContext { trace, span, sampled: true });
        for (now, of, expected) in [
            (None, None, None),
            (context(1, 1), None, context(1, 1)),
            (None, context(1, 1), context(1, 1)),
            (context(1, 2), context(1, 1), context(1, 2)),
            (context(2, 2), context(1, 1), context(1, 1)),
        ] {
            assert_eq!(TraceContext::nearest(now, of), expected);
        }
    }
}
