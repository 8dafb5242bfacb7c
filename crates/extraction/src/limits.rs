//! Limits of a document, whatever its format.

/// Most bytes of a file or a page.
pub const MAX_BYTES: usize = 20 * 1024 * 1024;
pub const MAX_PAGES: usize = 2_000;
/// Most characters of a document.
pub const MAX_CHARACTERS: usize = 1_000_000;
/// Most blocks of a document.
pub const MAX_BLOCKS: usize = 50_000;
/// Most characters of a cell of a table.
pub const MAX_CELL: usize = 20_000;
/// Most columns of a table.
pub const MAX_COLUMNS: usize = 256;
/// Most bytes of a part of an archive after decompression.
pub const MAX_UNPACKED: usize = 64 * 1024 * 1024;
/// A page with scripts and less text than this is assumed to be rendered by scripts.
pub const LITTLE_TEXT: usize = 200;
