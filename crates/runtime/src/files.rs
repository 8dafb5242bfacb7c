//! Permissions of the service's files: folders 0700, files 0600, also those that existed with wider permissions.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Prefixes of the names that this program creates in its data folder. Nothing else in there is touched: the folder may
/// be shared.
const OURS: &[&str] = &[
    "dastak.",
    "operator.token",
    "master.key",
    "log-marks",
    "demo.env",
    "node.name",
    "recordings",
    "documents",
    "channel",
    "knowledge-",
    "spool",
    "uploads",
    ".unfinished",
];

/// Bytes on the disk of a folder: those that this user may still write, and all. `None` where the system does not
/// report it.
#[must_use]
pub fn room(folder: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(folder).ok()?;
        Some((disk.f_bavail.saturating_mul(disk.f_frsize), disk.f_blocks.saturating_mul(disk.f_frsize)))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// Sets the umask: files of this process are readable by its owner only.
pub fn keep_private() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
}

/// The same options, for a file that only its owner reads.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Creates a folder (and its parents) with mode 0700.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Checks that a folder is there and can be written, or that it can be made; nothing is made.
///
/// # Errors
/// The path in the way, and why.
pub fn can_make_folder(path: &Path) -> Result<(), String> {
    let wrong = |at: &Path, why: &dyn std::fmt::Display| Err(format!("{}: {why}", at.display()));
    let here = |at: &Path| if at.as_os_str().is_empty() { PathBuf::from(".") } else { at.to_owned() };
    for at in path.ancestors().map(here) {
        match fs::metadata(&at) {
            Ok(found) if !found.is_dir() => return wrong(&at, &"is no folder"),
            Ok(_) => {
                #[cfg(unix)]
                {
                    let wanted = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
                    if let Err(why) = rustix::fs::access(&at, wanted) {
                        return wrong(&at, &io::Error::from(why));
                    }
                }
                return Ok(());
            }
            Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(why) => return wrong(&at, &why),
        }
    }
    Ok(())
}

/// Syncs the folder of a file, so that its name is durable.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    File::open(folder)?.sync_all()
}

/// Writes a new file, durably; it must not exist.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    sync_folder_of(path)
}

/// Replaces a file atomically and durably.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let mut file = private(OpenOptions::new().write(true).create(true).truncate(true)).open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&new, path)?;
    sync_folder_of(path)
}

/// Marker in a data folder: a restore is in progress, or was interrupted.
pub const RESTORING: &str = "dastak.restoring";

/// Refuses a data folder with an incomplete restore.
///
/// # Errors
/// The message for people.
pub fn refuse_unfinished(data: &Path) -> Result<(), String> {
    if data.join(RESTORING).exists() {
        return Err(format!(
            "data: a restore into {} is at work, or was interrupted; run dastak restore again",
            data.display()
        ));
    }
    Ok(())
}

/// Whether a name in a data folder is one that this program creates.
pub fn is_ours(name: &str) -> bool {
    name != "dastak.toml" && OURS.iter().any(|ours| name.starts_with(ours))
}

/// Syncs everything below a folder.
///
/// # Errors
/// When the disk refuses.
pub fn sync_tree(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sync_tree(&path)?;
        } else {
            File::open(&path)?.sync_all()?;
        }
    }
    File::open(folder)?.sync_all()
}

/// Removes the permissions of others from the data folder and from what this program created there; returns how many
/// files and folders that were. Links are not followed.
///
/// # Errors
/// The first file whose permissions cannot be changed, and why.
#[cfg(unix)]
pub fn tighten(data: &Path) -> Result<u64, String> {
    let mut changed =
        u64::from(restrict(data, &fs::metadata(data).map_err(|why| format!("{}: {why}", data.display()))?)?);
    let mut left: Vec<PathBuf> = Vec::new();
    for entry in entries(data)? {
        if entry
            .file_name()
            .is_some_and(|name| OURS.iter().any(|ours| name.to_string_lossy().starts_with(ours)))
        {
            left.push(entry);
        }
    }
    while let Some(path) = left.pop() {
        // A file that is gone needs no permissions: recordings come and go.
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if found.is_symlink() {
            continue;
        }
        changed += u64::from(restrict(&path, &found)?);
        if found.is_dir() {
            left.extend(entries(&path)?);
        }
    }
    Ok(changed)
}

/// Other systems have other permissions.
#[cfg(not(unix))]
pub fn tighten(_: &Path) -> Result<u64, String> {
    Ok(0)
}

#[cfg(unix)]
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()
    });
    read.map_err(|why| format!("{}: {why}", folder.display()))
}

#[cfg(unix)]
fn restrict(path: &Path, found: &fs::Metadata) -> Result<bool, String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = found.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(false);
    }
    if mode & 0o1000 != 0 {
        return Err(format!(
            "{}: this folder belongs to everybody; choose a data folder of the service's own",
            path.display()
        ));
    }
    match fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700)) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(why) => Err(format!("{}: others may read it, and that cannot be changed: {why}", path.display())),
        Ok(()) => Ok(true),
    }
}
