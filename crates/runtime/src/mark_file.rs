//! The file of marks in the data folder: the newest record of each chain of the decision log that this node has seen
//! ([`domain::decision_log::mark`]). One line a mark, each with a keyed hash. Lines are appended, the newest of a chain
//! wins, and now and then the file is compacted. After a crash it may have an older mark or an incomplete last line:
//! the file may lag behind the store, it never leads.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::decision_log::Strand;
use domain::decision_log::mark::Mark;
use domain::tenant::Tenant;

use crate::crypto::{Keyring, same};
use crate::files;

/// Name in the data folder.
pub const NAME: &str = "log-marks";
/// The file is compacted at this many bytes, and as many again for each current line.
const ROOM: u64 = 1 << 20;
const LINE: u64 = 512;

pub type Known = HashMap<(Tenant, Strand), Mark>;

/// The file; [`MarkFile::open`] returns its content.
pub struct MarkFile {
    path: PathBuf,
    keyring: Arc<Keyring>,
    /// Its size; `None` when it must be rewritten first.
    size: Option<u64>,
}

impl MarkFile {
    /// Reads the file, which need not exist.
    ///
    /// # Errors
    /// When it exists and cannot be read.
    pub fn open(path: &Path, keyring: &Arc<Keyring>) -> Result<(Self, Known), String> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(why) if why.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(why) => return Err(format!("{}: {why}", path.display())),
        };
        let (mut known, mut strange) = (Known::new(), 0_u64);
        let text = String::from_utf8_lossy(&bytes);
        let whole = text.is_empty() || text.ends_with('\n');
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        for line in complete.lines() {
            match read(line, keyring) {
                Some((tenant, strand, mark)) => {
                    let newest = known.entry((tenant, strand)).or_insert_with(|| mark.clone());
                    if mark.is_beyond(newest) {
                        *newest = mark;
                    }
                }
                None => strange += 1,
            }
        }
        if strange > 0 {
            tracing::error!(file = %path.display(), lines = strange, "lines of this file are not of this installation, or were altered; they are ignored");
        }
        let size = (whole && strange == 0).then_some(bytes.len() as u64);
        Ok((Self { path: path.to_owned(), keyring: keyring.clone(), size }, known))
    }

    /// Whether the file must be rewritten, with all `count` current marks.
    pub fn wants_all(&self, count: usize) -> bool {
        self.size.is_none_or(|size| size > ROOM + LINE * count as u64)
    }

    /// Appends marks, durably.
    ///
    /// # Errors
    /// When the disk fails; then the file must be rewritten.
    pub fn add(&mut self, marks: &[(Tenant, Strand, Mark)]) -> io::Result<()> {
        let text: String =
            marks.iter().map(|(tenant, strand, mark)| self.line(*tenant, *strand, mark)).collect();
        // Until this has succeeded, the end of the file is unknown.
        let size = self.size.take().unwrap_or(0);
        let mut file = files::private(OpenOptions::new().append(true).create(true)).open(&self.path)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        if size == 0 {
            files::sync_folder_of(&self.path)?;
        }
        self.size = Some(size + text.len() as u64);
        Ok(())
    }

    /// Rewrites the file, atomically.
    ///
    /// # Errors
    /// When the disk fails; the file is unchanged.
    pub fn write_anew(&mut self, all: &Known) -> io::Result<()> {
        let text: String =
            all.iter().map(|((tenant, strand), mark)| self.line(*tenant, *strand, mark)).collect();
        self.size = None;
        files::replace(&self.path, text.as_bytes())?;
        self.size = Some(text.len() as u64);
        Ok(())
    }

    fn line(&self, tenant: Tenant, strand: Strand, mark: &Mark) -> String {
        let line = mark.line(tenant, strand);
        let seal = self.keyring.mark(&line);
        format!("{line} {seal}\n")
    }
}

fn read(line: &str, keyring: &Keyring) -> Option<(Tenant, Strand, Mark)> {
    let (line, seal) = line.rsplit_once(' ')?;
    same(keyring.mark(line).as_bytes(), seal.as_bytes()).then(|| Mark::parse(line)).flatten()
}

/// Appends a line to an append-only file, durably.
pub fn add_line(path: &Path, text: &str) -> io::Result<()> {
    let mut file: File = files::private(OpenOptions::new().append(true).create(true)).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use domain::decision_log::Head;

    use super::*;

    fn mark(seq: u64) -> Mark {
        Mark { head: Head { seq, hash: format!("{seq:064x}") }, generation: 0 }
    }

    fn add(file: &mut MarkFile, known: &mut Known, key: (Tenant, Strand), seq: u64) {
        known.insert(key, mark(seq));
        if file.wants_all(known.len()) {
            file.write_anew(known).unwrap();
        } else {
            file.add(&[(key.0, key.1, mark(seq))]).unwrap();
        }
    }

    #[test]
    fn marks_survive_a_torn_end_and_nobody_else_writes_them() {
        let folder = std::env::temp_dir().join(format!("dastak-marks-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(NAME);
        let _ = std::fs::remove_file(&path);
        let keyring = Arc::new(Keyring::new(&[7; 32]));
        let key = |number: u32| {
            (format!("ws_{number:026}").parse::<Tenant>().unwrap(), Strand::all().next().unwrap())
        };
        let (mut file, mut known) = MarkFile::open(&path, &keyring).unwrap();
        assert!(known.is_empty());
        for (number, seq) in [(1, 3), (2, 5), (1, 9)] {
            add(&mut file, &mut known, key(number), seq);
        }
        assert_eq!(MarkFile::open(&path, &keyring).unwrap().1, known);
        // A crash in the middle of a line, and a line of another installation.
        let text = std::fs::read_to_string(&path).unwrap();
        let torn = &text[..text.len() - 7];
        std::fs::write(&path, torn).unwrap();
        let (mut file, mut left) = MarkFile::open(&path, &keyring).unwrap();
        assert_eq!((left[&key(1)].head.seq, left[&key(2)].head.seq), (3, 5));
        add(&mut file, &mut left, key(2), 6);
        assert_eq!(MarkFile::open(&path, &keyring).unwrap().1, left);
        assert!(MarkFile::open(&path, &Arc::new(Keyring::new(&[8; 32]))).unwrap().1.is_empty());
        std::fs::write(&path, text.replace(&format!("{:064x}", 9), &format!("{:064x}", 8))).unwrap();
        assert_eq!(MarkFile::open(&path, &keyring).unwrap().1[&key(1)].head.seq, 3);
        // The file does not grow for ever.
        let (mut file, mut known) = MarkFile::open(&path, &keyring).unwrap();
        file.size = Some(ROOM * 2);
        add(&mut file, &mut known, key(3), 1);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 3);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
