//! Pages of lists, bounded in bytes: a page of large rows ends before its limit, and its cursor goes on.

use serde::Serialize;
use store::Tx;

/// Bytes after which a page ends; one row is always on it (docs/security.md#limits).
pub const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Rows in the first read. Each further read has twice as many, so that a page of large rows is not read whole before
/// it is cut, and one of small rows takes few reads.
const FIRST_PIECE: i64 = 10;

/// Reads a page of at most `limit` rows after `after`, and the key after which the next one begins, if there may be
/// more. `read` reads this many rows after a key and returns the next key; `shown` makes the answer of a row, with its
/// key and its bytes.
///
/// # Errors
/// Those of the closures.
pub fn read<R, T, E>(
    tx: &mut Tx<'_>,
    limit: i64,
    after: Option<String>,
    mut read: impl FnMut(&mut Tx<'_>, i64, Option<&str>) -> Result<(Vec<R>, Option<String>), E>,
    mut shown: impl FnMut(&mut Tx<'_>, R) -> Result<(String, usize, T), E>,
) -> Result<(Vec<T>, Option<String>), E> {
    let (mut page, mut bytes, mut piece) = (Vec::new(), 0_usize, FIRST_PIECE);
    let (mut after, mut last) = (after, None);
    loop {
        let wanted = piece.min(limit - page.len() as i64);
        let (rows, next) = read(tx, wanted, after.as_deref())?;
        let whole = rows.len() as i64 >= wanted;
        for row in rows {
            let (key, size, item) = shown(tx, row)?;
            bytes = bytes.saturating_add(size);
            if bytes > PAGE_BYTES && !page.is_empty() {
                return Ok((page, last));
            }
            page.push(item);
            last = Some(key);
        }
        match next {
            Some(next) if whole && (page.len() as i64) < limit => after = Some(next),
            next => return Ok((page, next)),
        }
        piece *= 2;
    }
}

/// The same where `read` returns answers, and `key` their keys.
///
/// # Errors
/// Those of the closure.
pub fn views<T: Serialize, E>(
    tx: &mut Tx<'_>,
    limit: i64,
    after: Option<String>,
    read_piece: impl FnMut(&mut Tx<'_>, i64, Option<&str>) -> Result<(Vec<T>, Option<String>), E>,
    key: impl Fn(&T) -> String,
) -> Result<(Vec<T>, Option<String>), E> {
    read(tx, limit, after, read_piece, |_, view| Ok((key(&view), bytes_of(&view), view)))
}

/// The key of the last row of a full page, after which the list may go on.
pub fn last<R>(rows: &[R], limit: i64, key: impl Fn(&R) -> String) -> Option<String> {
    rows.last().filter(|_| rows.len() as i64 >= limit).map(key)
}

/// Bytes of a value in an answer.
pub fn bytes_of(value: &impl Serialize) -> usize {
    /// Counts what is written to it.
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // What cannot be written fails where it is sent.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}
