//! Ceilings of a document, whatever its format.

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
/// Most bytes that a part of an archive unpacks to.
pub const MAX_UNPACKED: usize = 64 * 1024 * 1024;
/// A page with scripts that says less than this is taken for one that scripts build.
pub const LITTLE_TEXT: usize = 200;
