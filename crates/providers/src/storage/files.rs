//! A folder: each object is a file, and exists completely or not at all.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::ports::{Answer, ObjectStore, Pieces, ProviderError, ProviderFault};

use super::key;

/// Objects are written here first; no key names this folder.
const UNFINISHED: &str = ".unfinished";
/// Bytes that are read at a time.
const PIECE: usize = 64 * 1024;
/// Age at which an unfinished file is a leftover of a crash and is removed at the start.
const LEFT_OVER: Duration = Duration::from_secs(3600);

/// Objects as files of a folder.
#[derive(Debug, Clone)]
pub struct Files {
    folder: Arc<PathBuf>,
    written: Arc<AtomicU64>,
}

impl Files {
    /// The store in this folder, which is created if need be. Blocks for a moment.
    ///
    /// # Errors
    /// When the folder cannot be created or read.
    pub fn open(folder: &Path) -> io::Result<Files> {
        let unfinished = folder.join(UNFINISHED);
        fs::create_dir_all(&unfinished)?;
        for entry in fs::read_dir(&unfinished)? {
            let entry = entry?;
            let old = entry
                .metadata()
                .and_then(|data| data.modified())
                .ok()
                .and_then(|at| at.elapsed().ok())
                .is_some_and(|age| age > LEFT_OVER);
            if old {
                // Left for the next start if it cannot be removed.
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(Files { folder: Arc::new(folder.to_owned()), written: Arc::new(AtomicU64::new(0)) })
    }

    fn write(&self, key: &str, body: &[u8]) -> io::Result<()> {
        self.write_with(key, |file| file.write_all(body))
    }

    /// Writes under a temporary name, syncs it, and renames it.
    fn write_with(&self, key: &str, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let target = self.folder.join(key);
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.folder.join(UNFINISHED).join(format!("{}-{number}", std::process::id()));
        let finish = || {
            let mut file = File::create(&unfinished)?;
            write(&mut file)?;
            file.sync_all()?;
            drop(file);
            let folder = target.parent().unwrap_or(&self.folder);
            self.create_durably(folder)?;
            fs::rename(&unfinished, &target)?;
            File::open(folder)?.sync_all()
        };
        let outcome = finish();
        if outcome.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        outcome
    }

    /// Creates a folder durably: each new name is synced in the folder above it.
    fn create_durably(&self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = folder.ancestors().take_while(|at| !at.exists()).collect();
        for new in missing.into_iter().rev() {
            match fs::create_dir(new) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            if let Some(above) = new.parent() {
                File::open(above)?.sync_all()?;
            }
        }
        Ok(())
    }

    /// Runs blocking work on a thread for it.
    async fn blocking<T: Send + 'static>(
        &self,
        what: &str,
        work: impl FnOnce(&Files) -> io::Result<T> + Send + 'static,
    ) -> Result<T, ProviderError> {
        let files = self.clone();
        blocking(what, move || work(&files)).await
    }
}

/// Runs blocking work on a thread for it.
async fn blocking<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, ProviderError> {
    let failed = |fault, detail: String| ProviderError::new(key::NAME, fault, format!("{what}: {detail}"));
    match runtime::blocking::run(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(failed(fault(error.kind()), error.kind().to_string())),
        Err(_) => Err(failed(ProviderFault::Broken, "stopped half-way".to_owned())),
    }
}

/// A part of a file.
struct Part {
    file: Option<File>,
    left: u64,
}

impl Pieces for Part {
    fn next(&mut self) -> Answer<'_, Result<Option<Vec<u8>>, ProviderError>> {
        Box::pin(async move {
            let Some(mut file) = self.file.take() else { return Ok(None) };
            let wanted = self.left.min(PIECE as u64);
            let read = move || {
                let mut piece = Vec::with_capacity(wanted as usize);
                (&mut file).take(wanted).read_to_end(&mut piece)?;
                Ok((piece, file))
            };
            let (piece, file) = blocking("reading", read).await?;
            self.left -= piece.len() as u64;
            if self.left > 0 && !piece.is_empty() {
                self.file = Some(file);
            }
            Ok(Some(piece).filter(|piece| !piece.is_empty()))
        })
    }
}

fn fault(kind: ErrorKind) -> ProviderFault {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => ProviderFault::Limited,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ProviderFault::Forbidden,
        _ => ProviderFault::Broken,
    }
}

impl ObjectStore for Files {
    fn put<'a>(&'a self, key: &'a str, _: &'a str, body: Vec<u8>) -> Answer<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let key = key.to_owned();
            self.blocking("writing", move |files| files.write(&key, &body)).await
        })
    }

    fn open<'a>(
        &'a self,
        key: &'a str,
        first: u64,
        length: u64,
    ) -> Answer<'a, Result<Option<Box<dyn Pieces>>, ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let key = key.to_owned();
            let open = move |files: &Files| {
                let mut file = match File::open(files.folder.join(key)) {
                    Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                        return Ok(None);
                    }
                    other => other?,
                };
                file.seek(SeekFrom::Start(first))?;
                Ok(Some(Box::new(Part { file: Some(file), left: length }) as Box<dyn Pieces>))
            };
            self.blocking("reading", open).await
        })
    }

    fn delete<'a>(&'a self, key: &'a str) -> Answer<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let key = key.to_owned();
            let remove = move |files: &Files| {
                let path = files.folder.join(key);
                match fs::remove_file(&path) {
                    Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                        Ok(())
                    }
                    Err(error) => Err(error),
                    // An erased recording must not come back after a power cut.
                    Ok(()) => File::open(path.parent().unwrap_or(&files.folder))?.sync_all(),
                }
            };
            self.blocking("removing", remove).await
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            const PROBE: &str = "doctor-probe";
            self.put(PROBE, "text/plain", b"probe".to_vec()).await?;
            let back = self.get(PROBE).await?;
            self.delete(PROBE).await?;
            if back.as_deref() == Some(b"probe") {
                Ok(format!("{} can be written and read", self.folder.display()))
            } else {
                Err(ProviderError::new(
                    key::NAME,
                    ProviderFault::Broken,
                    "what was written could not be read",
                ))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder that is removed again.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("dastak-files-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_write_that_fails_half_way_leaves_the_old_object_and_nothing_else() {
        let folder = Folder::new("half");
        let files = Files::open(&folder.0).unwrap();
        files.write("a/b.wav", b"old").unwrap();
        let full = |file: &mut File| {
            file.write_all(b"ne")?;
            Err(ErrorKind::StorageFull.into())
        };
        assert_eq!(files.write_with("a/b.wav", full).unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(fs::read(folder.0.join("a/b.wav")).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.0.join(UNFINISHED)).unwrap().count(), 0);
        assert_eq!(fault(ErrorKind::StorageFull), ProviderFault::Limited);
    }

    #[tokio::test]
    async fn objects_are_kept_replaced_and_removed() {
        let folder = Folder::new("life");
        let files = Files::open(&folder.0).unwrap();
        assert_eq!(files.get("a/b").await, Ok(None));
        files.put("a/b", "text/plain", b"one".to_vec()).await.unwrap();
        files.put("a/b", "text/plain", b"two".to_vec()).await.unwrap();
        let again = Files::open(&folder.0).unwrap();
        assert_eq!(again.get("a/b").await, Ok(Some(b"two".to_vec())));
        assert_eq!(again.get("a/b/c").await, Ok(None), "a file is no folder");
        again.delete("a/b").await.unwrap();
        again.delete("a/b").await.unwrap();
        assert_eq!(files.get("a/b").await, Ok(None));
        let long: Vec<u8> = (0..200_000_u32).map(|at| at as u8).collect();
        files.put("a/long", "audio/wav", long.clone()).await.unwrap();
        for (first, length) in
            [(0, 1), (70_000, 65_536), (70_000, 100_000), (199_999, 10), (300_000, 5), (5, 0)]
        {
            let (mut part, mut read) =
                (files.open("a/long", first, length).await.unwrap().unwrap(), Vec::new());
            while let Some(piece) = part.next().await.unwrap() {
                assert!(piece.len() <= PIECE);
                read.extend(piece);
            }
            let (from, to) = (long.len().min(first as usize), long.len().min((first + length) as usize));
            assert_eq!(read, long[from..to], "{first} {length}");
        }
        for key in ["../x", "/etc/passwd", ".unfinished/x"] {
            assert_eq!(
                files.put(key, "text/plain", vec![]).await.unwrap_err().fault,
                ProviderFault::Refused,
                "{key}"
            );
            assert_eq!(files.get(key).await.unwrap_err().fault, ProviderFault::Refused, "{key}");
        }
        assert!(files.check().await.unwrap().contains("can be written and read"));
    }

    #[tokio::test]
    async fn what_a_crash_left_is_removed_when_it_is_old() {
        let folder = Folder::new("crash");
        Files::open(&folder.0).unwrap();
        let (old, young) = (folder.0.join(UNFINISHED).join("1-1"), folder.0.join(UNFINISHED).join("1-2"));
        fs::write(&young, "x").unwrap();
        let file = File::create(&old).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
        Files::open(&folder.0).unwrap();
        assert!(!old.exists() && young.exists());
    }
}
