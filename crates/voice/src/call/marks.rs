//! What happens in the turns besides their words: tools, and fields that are captured.

use domain::call::{CaptureMark, MAX_MARKS, ToolMark};
use serde_json::{Map, Value};

use super::clock::since;

/// A tool that was called.
struct CalledTool {
    request: u64,
    at: u64,
    mark: ToolMark,
}

/// Marks as far as the call has gone.
pub(crate) struct Marks {
    /// Time of the line at the answer.
    origin: u64,
    tools: Vec<CalledTool>,
    captures: Vec<CaptureMark>,
    captured: Map<String, Value>,
}

impl Marks {
    /// Begins at this time of the line.
    pub fn new(origin: u64) -> Self {
        Self { origin, tools: Vec::new(), captures: Vec::new(), captured: Map::new() }
    }

    /// The interpreter's request calls a tool.
    pub fn called(&mut self, request: u64, tool: &str, now: u64) {
        if self.tools.len() < MAX_MARKS {
            let at_ms = since(now, self.origin);
            let mark = ToolMark { at_ms, tool: tool.to_owned(), took_ms: None, ok: None };
            self.tools.push(CalledTool { request, at: now, mark });
        }
    }

    /// The tool of a request has answered, or failed.
    pub fn answered(&mut self, request: u64, ok: bool, now: u64) {
        let open = |called: &&mut CalledTool| called.request == request && called.mark.ok.is_none();
        if let Some(called) = self.tools.iter_mut().find(open) {
            called.mark.ok = Some(ok);
            called.mark.took_ms = Some(since(now, called.at));
        }
    }

    /// These fields are captured now.
    pub fn captured(&mut self, fields: &Map<String, Value>, now: u64) {
        for (field, value) in fields {
            if self.captured.get(field) == Some(value) {
                continue;
            }
            self.captured.insert(field.clone(), value.clone());
            if self.captures.len() < MAX_MARKS {
                self.captures.push(CaptureMark { at_ms: since(now, self.origin), field: field.clone() });
            }
        }
    }

    pub fn into_parts(self) -> (Vec<ToolMark>, Vec<CaptureMark>) {
        (self.tools.into_iter().map(|called| called.mark).collect(), self.captures)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_capture_and_each_tool_has_its_time() {
        let mut marks = Marks::new(1_000);
        let fields = |value: Value| value.as_object().cloned().unwrap_or_default();
        marks.captured(&fields(json!({"amount": 5})), 1_500);
        marks.captured(&fields(json!({"amount": 5, "day": "mon"})), 1_700);
        marks.captured(&fields(json!({"amount": 6, "day": "mon"})), 1_900);
        marks.called(7, "lookup", 2_000);
        marks.called(8, "lookup", 2_100);
        marks.answered(7, false, 2_450);
        marks.answered(7, true, 2_500);
        let (tools, captures) = marks.into_parts();
        let seen: Vec<_> = captures.iter().map(|mark| (mark.at_ms, mark.field.as_str())).collect();
        assert_eq!(seen, [(500, "amount"), (700, "day"), (900, "amount")]);
        let seen: Vec<_> = tools.iter().map(|mark| (mark.at_ms, mark.took_ms, mark.ok)).collect();
        assert_eq!(seen, [(1_000, Some(450), Some(false)), (1_100, None, None)]);
    }

    #[test]
    fn they_are_bounded() {
        let mut marks = Marks::new(0);
        for n in 0..2 * MAX_MARKS as u64 {
            marks.called(n, "lookup", n);
            marks.captured(&Map::from_iter([(format!("f{n}"), json!(1))]), n);
        }
        let (tools, captures) = marks.into_parts();
        assert_eq!((tools.len(), captures.len()), (MAX_MARKS, MAX_MARKS));
    }
}
