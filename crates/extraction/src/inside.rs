//! The sandboxed process `dastak extract`. It drops its privileges, reads one document or voice note from standard
//! input and writes the result to standard output.
//!
//! On standard input: a line of JSON with the name, the content type and the encoding, then the bytes up to the end. On
//! standard output: one JSON value, the document or the sound, or the error.

use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use domain::knowledge::{Block, BlockKind, ReadDocument};
use domain::ports::{Read, ReadLimit, ReadOrder, Unreadable};
use serde::{Deserialize, Serialize};

use crate::{MAX_BYTES, sound};

/// Memory limit, in bytes of address space beyond what the program has at its start.
pub const MAX_MEMORY: u64 = 512 * 1024 * 1024;
/// Limit of CPU time.
pub const MAX_TIME: Duration = Duration::from_secs(20);
/// Longest line before the bytes.
const MAX_HEADER: usize = 16 * 1024;

/// The header before the bytes.
#[derive(Serialize, Deserialize)]
struct Header {
    name: String,
    content_type: Option<String>,
    charset: Option<String>,
    /// Whether the bytes are a voice note.
    #[serde(default)]
    sound: bool,
}

/// The result.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Document {
        title: Option<String>,
        built_by_script: bool,
        blocks: Vec<WireBlock>,
    },
    /// Samples, two bytes each, in base64.
    Sound(String),
    Unsupported(String),
    Damaged(String),
    Beyond {
        limit: String,
        most: u64,
    },
}

/// A block: its kind (`h1` to `h6`, `p`, `r`), its text, its page.
#[derive(Serialize, Deserialize)]
struct WireBlock(String, String, Option<u32>);

impl WireBlock {
    fn of(block: Block) -> Self {
        let kind = match block.kind {
            BlockKind::Heading(level) => format!("h{level}"),
            BlockKind::Paragraph => "p".into(),
            BlockKind::TableRow => "r".into(),
        };
        Self(kind, block.text, block.page)
    }

    fn block(self) -> Option<Block> {
        let kind = match self.0.as_str() {
            "p" => BlockKind::Paragraph,
            "r" => BlockKind::TableRow,
            heading => BlockKind::Heading(heading.strip_prefix('h')?.parse().ok()?),
        };
        Some(Block { kind, text: self.1, page: self.2 })
    }
}

/// The header line of a document.
pub(crate) fn header(order: &ReadOrder) -> Vec<u8> {
    let header = Header {
        name: order.name.clone(),
        content_type: order.content_type.clone(),
        charset: order.charset.clone(),
        sound: false,
    };
    line_of(&header)
}

/// The same for a voice note.
pub(crate) fn header_of_sound() -> Vec<u8> {
    line_of(&Header { name: String::new(), content_type: None, charset: None, sound: true })
}

fn line_of(header: &Header) -> Vec<u8> {
    let mut line = serde_json::to_vec(header).unwrap_or_default();
    line.push(b'\n');
    line
}

/// The result of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Made {
    Document(Read),
    Sound(Vec<i16>),
}

/// Parses the output of the process; `None` when it is no result.
pub(crate) fn outcome(bytes: &[u8]) -> Option<Result<Made, Unreadable>> {
    Some(match serde_json::from_slice(bytes).ok()? {
        Outcome::Sound(samples) => {
            let bytes = BASE64.decode(samples).ok()?;
            let samples = bytes.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]]));
            Ok(Made::Sound(samples.collect()))
        }
        Outcome::Document { title, built_by_script, blocks } => {
            let blocks = blocks.into_iter().map(WireBlock::block).collect::<Option<Vec<Block>>>()?;
            Ok(Made::Document(Read { document: ReadDocument { title, blocks }, built_by_script }))
        }
        Outcome::Unsupported(what) => Err(Unreadable::Unsupported(what)),
        Outcome::Damaged(how) => Err(Unreadable::Damaged(how)),
        Outcome::Beyond { limit, most } => Err(Unreadable::Beyond(ReadLimit::parse(&limit)?, most)),
    })
}

fn wire(outcome: Result<Made, Unreadable>) -> Result<Outcome, String> {
    Ok(match outcome {
        Ok(Made::Sound(samples)) => {
            let bytes: Vec<u8> = samples.into_iter().flat_map(i16::to_le_bytes).collect();
            Outcome::Sound(BASE64.encode(bytes))
        }
        Ok(Made::Document(Read { document, built_by_script })) => Outcome::Document {
            title: document.title,
            built_by_script,
            blocks: document.blocks.into_iter().map(WireBlock::of).collect(),
        },
        Err(Unreadable::Unsupported(what)) => Outcome::Unsupported(what),
        Err(Unreadable::Damaged(how)) => Outcome::Damaged(how),
        Err(Unreadable::Beyond(limit, most)) => Outcome::Beyond { limit: limit.as_str().to_owned(), most },
        Err(Unreadable::Busy) => return Err("busy".into()),
        Err(Unreadable::Failed(why)) => return Err(why),
    })
}

/// Reads one document from standard input, with this limit of CPU time.
///
/// # Errors
/// The process cannot be sandboxed, or its input and output are not those of a worker.
pub fn run(time: Duration) -> Result<(), String> {
    confine(time)?;
    let mut input = Vec::new();
    io::stdin()
        .take((MAX_HEADER + MAX_BYTES + 1) as u64)
        .read_to_end(&mut input)
        .map_err(|why| why.to_string())?;
    let end = input.iter().take(MAX_HEADER).position(|byte| *byte == b'\n').ok_or("no header")?;
    let header: Header = serde_json::from_slice(&input[..end]).map_err(|why| why.to_string())?;
    let bytes = input.split_off(end + 1);
    drop(input);
    let Header { name, content_type, charset, sound } = header;
    let made = match sound {
        true => sound::decode(&bytes).map(Made::Sound),
        false => crate::read(&ReadOrder { bytes, name, content_type, charset }).map(Made::Document),
    };
    let outcome = wire(made)?;
    let answer = serde_json::to_vec(&outcome).map_err(|why| why.to_string())?;
    io::stdout().write_all(&answer).map_err(|why| why.to_string())
}

/// Sandboxes this process: limits of memory, time, files, sockets, other processes. It keeps its three standard
/// streams.
#[cfg(unix)]
fn confine(time: Duration) -> Result<(), String> {
    use rustix::process::{Resource, Rlimit, nice, setrlimit};
    let limit = |resource, most: u64| {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
            .map_err(|why| format!("a limit cannot be set: {why}"))
    };
    // Nothing can be opened once the limits are set.
    #[cfg(target_os = "linux")]
    let has = address_space()?;
    // Lowest priority: telephone calls go first.
    nice(10).map_err(|why| why.to_string())?;
    limit(Resource::Cpu, time.as_secs())?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    // No file and no socket can be opened besides the three that are, whichever of them is closed.
    limit(Resource::Nofile, 0)?;
    #[cfg(target_os = "linux")]
    {
        limit(Resource::As, has + MAX_MEMORY)?;
        // Counts for users other than root.
        limit(Resource::Nproc, 0)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn confine(_: Duration) -> Result<(), String> {
    Err("documents are read in a confined process, which this system does not have".into())
}

/// Bytes of address space that this process has.
#[cfg(target_os = "linux")]
fn address_space() -> Result<u64, String> {
    let line = std::fs::read_to_string("/proc/self/statm").map_err(|why| format!("its own size: {why}"))?;
    let pages = line
        .split(' ')
        .next()
        .and_then(|pages| pages.parse::<u64>().ok())
        .ok_or("its own size: no number")?;
    Ok(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_what_comes_back() {
        let read = Read {
            document: ReadDocument {
                title: Some("Fees \"2026\"".into()),
                blocks: vec![
                    Block { kind: BlockKind::Heading(2), text: "शुल्क".into(), page: Some(3) },
                    Block { kind: BlockKind::Paragraph, text: "a".into(), page: None },
                    Block { kind: BlockKind::TableRow, text: "City: Pune".into(), page: None },
                ],
            },
            built_by_script: true,
        };
        for result in [
            Ok(Made::Document(read)),
            Ok(Made::Sound(vec![0, -1, i16::MIN, i16::MAX])),
            Err(Unreadable::Unsupported("an image".into())),
            Err(Unreadable::Damaged("it is half".into())),
        ]
        .into_iter()
        .chain(ReadLimit::ALL.iter().map(|limit| Err(Unreadable::Beyond(*limit, 7))))
        {
            let bytes = serde_json::to_vec(&wire(result.clone()).unwrap()).unwrap();
            assert_eq!(outcome(&bytes), Some(result));
        }
        assert_eq!(outcome(b"{\"document\""), None);
    }
}
