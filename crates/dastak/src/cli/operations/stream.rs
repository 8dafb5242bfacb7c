//! The reply of a chat as server-sent events (docs/contract/chats.md#streaming), printed as it is written.

use serde_json::Value;

use super::super::client::Answer;
use super::super::failed::Failed;
use super::super::output::{say, write};
use super::show;

/// Most bytes of one event.
const LARGEST: usize = 1024 * 1024;

/// Parts a stream into its events.
#[derive(Default)]
pub struct Events {
    line: Vec<u8>,
    name: String,
    data: String,
}

impl Events {
    /// The events that are complete with this piece: name and data of each.
    pub fn push(&mut self, piece: &[u8]) -> Result<Vec<(String, String)>, Failed> {
        let mut events = Vec::new();
        for byte in piece {
            if *byte != b'\n' {
                self.line.push(*byte);
                if self.line.len() + self.data.len() > LARGEST {
                    return Err("the service sent an event of more than 1 MB".into());
                }
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = String::from_utf8_lossy(&line);
            let line = line.strip_suffix('\r').unwrap_or(&line);
            if line.is_empty() {
                let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
                if !data.is_empty() {
                    events.push((name, data));
                }
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut self.name),
                "data" => {
                    if !self.data.is_empty() {
                        self.data.push('\n');
                    }
                    self.data.push_str(value);
                }
                _ => {}
            }
        }
        Ok(events)
    }
}

/// Prints the reply of a stream.
pub async fn print(mut answer: Answer) -> Result<(), Failed> {
    let (mut events, mut shown) = (Events::default(), String::new());
    while let Some(piece) = answer.next().await? {
        for (name, data) in events.push(&piece)? {
            let data: Value = serde_json::from_str(&data)
                .map_err(|why| Failed::from(format!("the service sent an event that is not JSON: {why}")))?;
            match name.as_str() {
                "text" => {
                    let text = data["text"].as_str().unwrap_or_default();
                    shown.push_str(text);
                    write(show::lines(text).as_bytes())?;
                }
                "done" => return finish(&data["data"], &shown),
                "error" => {
                    say("")?;
                    let said = data["error"].as_str().unwrap_or("the reply failed");
                    let code = data["code"].as_str().unwrap_or_default();
                    return Err(Failed::answered(
                        502,
                        format!("{} ({})", show::plain(said), show::plain(code)),
                    ));
                }
                _ => {}
            }
        }
    }
    Err(Failed::lost("the stream ended before the reply was complete; `dastak chats get` shows the chat"))
}

/// The whole reply is what counts: what was streamed before a person took the chat is not.
fn finish(data: &Value, shown: &str) -> Result<(), Failed> {
    let reply = data["reply"].as_str().unwrap_or_default();
    if shown.trim() != reply.trim() {
        if !shown.is_empty() {
            say("\n(that was taken back; the reply is:)")?;
        }
        write(show::lines(reply).as_bytes())?;
    }
    say("")?;
    if data["handedOff"] == true {
        say("(a person takes over)")?;
    }
    if data["ended"] == true {
        say("(the chat has ended)")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_parted_wherever_the_pieces_end() {
        let sent =
            ":\n\nevent: text\r\ndata: {\"text\":\"नमस्ते\"}\r\n\r\nid: 1\nevent: done\ndata: {\ndata: }\n\n";
        let expected =
            [("text".to_owned(), "{\"text\":\"नमस्ते\"}".to_owned()), ("done".to_owned(), "{\n}".to_owned())];
        for size in 1..sent.len() {
            let mut events = Events::default();
            let found: Vec<_> =
                sent.as_bytes().chunks(size).flat_map(|piece| events.push(piece).unwrap()).collect();
            assert_eq!(found, expected, "pieces of {size}");
        }
    }

    #[test]
    fn an_event_has_a_ceiling() {
        let mut events = Events::default();
        assert!(events.push(&vec![b'a'; LARGEST + 1]).is_err());
    }
}
