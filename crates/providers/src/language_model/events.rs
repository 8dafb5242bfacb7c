//! Server-sent events, split anywhere.

/// Longest line, bytes.
const LONGEST: usize = 1 << 20;

/// Collects the data lines of a stream. Every line of a chat completion is one JSON value, so lines are not joined:
/// servers that forget the blank line between two events work, too.
#[derive(Default)]
pub(super) struct Events {
    held: Vec<u8>,
}

/// A line that never ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Events {
    /// Takes bytes and returns the values of the complete `data:` lines.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            self.held.extend_from_slice(piece);
            if matches!(piece.last(), Some(b'\n' | b'\r')) {
                lines.extend(self.line());
            }
        }
        if self.held.len() > LONGEST { Err(TooLong) } else { Ok(lines) }
    }

    /// The last line, which had no end.
    pub(super) fn finish(&mut self) -> Option<String> {
        self.line()
    }

    fn line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.held);
        // Lines end at ASCII bytes, so no character is split.
        let text = String::from_utf8_lossy(&line);
        let data = text.trim_start_matches('\u{feff}').trim().strip_prefix("data:")?.trim();
        (!data.is_empty()).then(|| data.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_gives_the_same_lines() {
        let stream = ": ping\r\n\r\ndata: {\"a\":\"नमस्ते\"}\r\n\r\nevent: x\ndata:{\"b\":1}\rdata: [DONE]\n\n";
        let expected = ["{\"a\":\"नमस्ते\"}", "{\"b\":1}", "[DONE]"];
        for size in 1..stream.len() {
            let mut events = Events::default();
            let mut lines = Vec::new();
            for piece in stream.as_bytes().chunks(size) {
                lines.extend(events.push(piece).unwrap());
            }
            lines.extend(events.finish());
            assert_eq!(lines, expected, "pieces of {size}");
        }
    }

    #[test]
    fn a_last_line_needs_no_end_and_an_endless_one_is_refused() {
        let mut events = Events::default();
        assert_eq!(events.push(b"data: 1").unwrap(), [""; 0]);
        assert_eq!(events.finish().as_deref(), Some("1"));
        assert_eq!(events.push(&vec![b'x'; LONGEST + 1]), Err(TooLong));
    }
}
