//! Extraction of files, web pages and voice notes, in a separate process: their bytes are untrusted.

use std::fmt;

use super::Answer;
use crate::knowledge::ReadDocument;
use crate::tenant::Tenant;

/// A file or a page to be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadOrder {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its name; the ending says which text it is where the content does not.
    pub name: String,
    /// The content type from a server, for a page; it counts instead of the name.
    pub content_type: Option<String>,
    /// The encoding from a server.
    pub charset: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Read {
    pub document: ReadDocument,
    /// Whether it is a page that scripts render: it has little text and has scripts.
    pub built_by_script: bool,
}

closed_sets::words! {
    /// Limits of a document (docs/contract/knowledge-files.md#limits).
    pub enum ReadLimit {
        /// Bytes of a file or a page.
        Bytes = "bytes",
        Pages = "pages",
        /// Characters of the whole document.
        Characters = "characters",
        /// Paragraphs, headings and rows.
        Blocks = "blocks",
        /// Characters of a cell of a table.
        Cell = "cell",
        /// Columns of a table.
        Columns = "columns",
        /// Entries of an archive.
        Entries = "entries",
        /// Bytes of a part of an archive after decompression.
        Unpacked = "unpacked",
        /// Bytes of memory while it is read.
        Memory = "memory",
        /// Seconds while it is read.
        Time = "time",
        /// Nesting depth of its parts.
        Nesting = "nesting",
    }
}

impl ReadLimit {
    /// What goes beyond it, for people; a number follows.
    fn what(self) -> &'static str {
        match self {
            Self::Bytes => "it has more bytes than",
            Self::Pages => "it has more pages than",
            Self::Characters => "it has more characters than",
            Self::Blocks => "it has more paragraphs, headings and rows than",
            Self::Cell => "a cell of a table has more characters than",
            Self::Columns => "a table has more columns than",
            Self::Entries => "its archive has more entries than",
            Self::Unpacked => "a part of it unpacks to more bytes than",
            Self::Memory => "reading it takes more bytes of memory than",
            Self::Time => "reading it takes more seconds than",
            Self::Nesting => "its parts lie deeper within each other than",
        }
    }
}

/// Why a document was not read. `Display` continues a sentence after the name of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// Of an unsupported type: its name.
    Unsupported(String),
    /// Broken, encrypted, or not what it claims to be: how.
    Damaged(String),
    /// It goes beyond a limit, which has this size.
    Beyond(ReadLimit, u64),
    /// Too many documents are being read at once.
    Busy,
    /// Reading could not begin here: why, for the log.
    Failed(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(what) => write!(f, "it is {what}, which is not read"),
            Self::Damaged(how) => f.write_str(how),
            // How deep that is depends on what the parts are.
            Self::Beyond(ReadLimit::Nesting, _) => f.write_str("its parts lie too deep within each other"),
            Self::Beyond(limit, most) => write!(f, "{} {most}", limit.what()),
            Self::Busy => f.write_str("too many documents are being read at once"),
            Self::Failed(_) => f.write_str("it could not be read here"),
        }
    }
}

impl std::error::Error for Unreadable {}

/// The time limit of an extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Haste {
    /// That of a file which the operator uploads.
    Usual,
    /// Less: for what a stranger sent or somebody waits for.
    Short,
}

/// The extraction service. Workspaces are served round-robin: one document of each is read at a time.
pub trait DocumentReader: Send + Sync {
    /// Reads one for a workspace. Dropping the answer ends the work.
    fn read(&self, tenant: Tenant, haste: Haste, order: ReadOrder) -> Answer<'_, Result<Read, Unreadable>>;

    /// The sound of a voice note (Ogg with Opus), as samples of [`super::SAMPLE_RATE`]. Dropping the answer ends the work.
    fn sound(&self, tenant: Tenant, bytes: Vec<u8>) -> Answer<'_, Result<Vec<i16>, Unreadable>>;
}
