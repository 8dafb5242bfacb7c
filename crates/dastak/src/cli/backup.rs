//! `dastak backup`: a copy of what a restore needs, made while the service runs.
//!
//! The store is copied first, as a snapshot, then the files: every file that the snapshot names is there, unless it was
//! deleted meanwhile. `backup.json` is written last; a folder without it is not a complete backup.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use providers::settings::Storage;
use serde::{Deserialize, Serialize};
use store::kept_objects::{KeptNoun, KeptObject};

use crate::app::{master_key, recordings};
use crate::config::Config;
use crate::runtime::clock::Clock;
use crate::runtime::crypto::{MasterKey, copy_hashed};
use crate::runtime::files;

/// File name of the manifest of a backup folder.
pub(super) const MANIFEST: &str = "backup.json";
/// The files of a backup with their SHA-256, as `sha256sum -c` reads them.
pub(super) const SUMS: &str = "SHA256SUMS";
/// The embedded store.
pub(super) const STORE: &str = "dastak.db";
/// The master key.
pub(super) const MASTER_KEY: &str = "master.key";
/// The bearer token of the operator.
pub(super) const OPERATOR_TOKEN: &str = "operator.token";
/// Where calls of this node are recorded while they last.
pub(super) const SPOOL: &str = "spool";
/// Folders of objects, where the object storage is the file system.
const OBJECTS: [&str; 3] = ["recordings", "documents", "channel"];
/// Small files of the data folder that a restore needs, if they exist.
const SMALL: [&str; 4] = [MASTER_KEY, OPERATOR_TOKEN, "node.name", "demo.env"];
/// The version of the folder's layout.
pub(super) const FORMAT: u32 = 1;

/// The manifest of a backup folder.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub format: u32,
    /// The version of dastak that made it.
    pub version: String,
    pub made_at: String,
    /// `sqlite` or `postgresql`; a PostgreSQL database is not part of the backup.
    pub store: String,
    /// Rows of each table of the embedded store.
    pub tables: BTreeMap<String, i64>,
    /// The id of the master key that decrypts the store.
    pub master_key: Secret,
    pub operator_token: Origin,
    pub objects: Objects,
    /// Objects that the store names and that were deleted while the backup was made.
    pub gone: u64,
    pub files: u64,
    pub bytes: u64,
    /// SHA-256 of the list of files.
    pub sums: String,
}

/// A key by its short name, and where it comes from.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Secret {
    pub id: String,
    pub origin: Origin,
}

/// Where a secret comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Origin {
    /// A file of the data folder, which is part of the backup.
    File,
    /// A setting, which is not.
    Setting,
}

/// Where recordings, documents and received files are.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub(super) enum Objects {
    /// In the backup.
    Files,
    /// In a bucket, which is not part of the backup.
    S3 { endpoint: String, bucket: String },
}

impl Objects {
    /// Where the settings keep them.
    pub(super) fn of(config: &Config) -> Self {
        match &config.providers.storage {
            Storage::Files(_) => Self::Files,
            Storage::S3 { endpoint, bucket, .. } => {
                Self::S3 { endpoint: endpoint.clone(), bucket: bucket.clone() }
            }
        }
    }
}

/// The key of an object that the store names.
pub(super) fn key_of(object: &KeptObject) -> Option<String> {
    match object.noun {
        KeptNoun::Recordings => object.name.parse().ok().map(recordings::key_of),
        KeptNoun::Documents | KeptNoun::Media => Some(object.name.clone()),
    }
}

/// The file names of a noun's objects.
pub(super) const fn name_of(noun: KeptNoun) -> &'static str {
    match noun {
        KeptNoun::Recordings => "recordings",
        KeptNoun::Documents => "files of documents",
        KeptNoun::Media => "received files",
    }
}

fn failed(file: &Path, why: &io::Error) -> String {
    format!("{}: {why}", file.display())
}

/// Copies the service of these settings: all of it into a folder, or its store into a file.
pub(super) fn backup(config: &Config, path: &str) -> Result<(), String> {
    let to = Path::new(path);
    let folder = path.ends_with(std::path::is_separator) || to.is_dir();
    let store = config.data.join(STORE);
    if config.database_url.is_none() && !store.exists() {
        return Err(format!("{}: no store there; give --data DIR of the service", store.display()));
    }
    files::refuse_unfinished(&config.data)?;
    match (folder, &config.database_url) {
        (true, _) => {
            say(to, &backup_all(config, to)?, config);
            Ok(())
        }
        (false, None) => backup_store(config, &store, to),
        (false, Some(_)) => Err(
            "this installation uses PostgreSQL: copy the database with pg_dump (or your provider's snapshots), and the rest with dastak backup DIR/".into(),
        ),
    }
}

/// Copies everything that a restore needs into a new or empty folder; prints nothing.
///
/// # Errors
/// Why the backup failed, for the operator.
pub fn back_up(config: &Config, to: &Path) -> Result<(), String> {
    backup_all(config, to).map(drop)
}

/// Copies the embedded store and its master key.
fn backup_store(config: &Config, from: &Path, to: &Path) -> Result<(), String> {
    let key = PathBuf::from(format!("{}.{MASTER_KEY}", to.display()));
    for path in [to, &key] {
        if path.exists() {
            return Err(format!("{} exists; name a new file", path.display()));
        }
    }
    let copied = copy_store_and_key(from, to, &config.data.join(MASTER_KEY), &key);
    if let Err(why) = copied {
        // A partial copy is removed.
        let _ = (fs::remove_file(to), fs::remove_file(&key));
        return Err(why);
    }
    let megabytes = fs::metadata(to).map_or(0, |meta| meta.len()) / 1_000_000;
    eprintln!("\rwritten: {} ({megabytes} MB) and {}", to.display(), key.display());
    eprintln!(
        "this is the store alone: recordings, received files and the operator token are not in it (dastak backup DIR/ takes them). To restore, put the two files back as <data>/{STORE} and <data>/{MASTER_KEY} of a stopped service, and remove {STORE}-wal and {STORE}-shm"
    );
    Ok(())
}

/// Copies the store and its key into files that only their owner reads.
fn copy_store_and_key(from: &Path, to: &Path, master_key: &Path, key: &Path) -> Result<(), String> {
    let text = fs::read(master_key).map_err(|why| failed(master_key, &why))?;
    copy_store(from, to)?;
    files::create(key, &text).map_err(|why| failed(key, &why))
}

/// Copies the embedded store as a snapshot, and reports progress.
fn copy_store(from: &Path, to: &Path) -> Result<(), String> {
    files::create(to, &[]).map_err(|why| failed(to, &why))?;
    let total = fs::metadata(from).map_or(0, |meta| meta.len());
    let (done, watch) = std::sync::mpsc::channel::<()>();
    let target = to.to_owned();
    let progress = std::thread::spawn(move || {
        while watch.recv_timeout(Duration::from_millis(500))
            == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            let size = fs::metadata(&target).map_or(0, |meta| meta.len());
            if io::stderr().is_terminal() {
                eprint!("\r{} of about {} MB", size / 1_000_000, total / 1_000_000);
            }
        }
    });
    let copied = store::db::backup_sqlite(from, to).map_err(|why| why.to_string());
    drop(done);
    let _ = progress.join();
    copied?;
    File::open(to).and_then(|copy| copy.sync_all()).map_err(|why| failed(to, &why))
}

fn backup_all(config: &Config, to: &Path) -> Result<Manifest, String> {
    let ours = !to.exists();
    files::make_folder(to).map_err(|why| failed(to, &why))?;
    if fs::read_dir(to).map_err(|why| failed(to, &why))?.next().is_some() {
        return Err(format!("{}: is not empty; name a new folder", to.display()));
    }
    match fill(config, to) {
        Ok(manifest) => Ok(manifest),
        Err(why) => {
            // Without its manifest the folder is not a backup, so its files are removed.
            let _ = if ours { fs::remove_dir_all(to) } else { empty(to) };
            Err(why)
        }
    }
}

/// Removes the contents of a folder.
fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
    }
    Ok(())
}

fn fill(config: &Config, to: &Path) -> Result<Manifest, String> {
    let mut copy = Copy::begin(&config.data, to)?;
    let embedded = config.database_url.is_none();
    let mut tables = BTreeMap::new();
    if embedded {
        let store = to.join(STORE);
        copy_store(&config.data.join(STORE), &store)?;
        tables = store::db::tables_of_copy(&store).map_err(|why| why.to_string())?;
        copy.note(STORE)?;
    }
    for name in SMALL {
        copy.file(name.as_ref())?;
    }
    for (kept, _) in master_key::kept_keys(&config.data)? {
        copy.file(kept.file_name().unwrap_or_default().as_ref())?;
    }
    // Before the objects: a file that leaves the spool is an object by then.
    copy.folder(SPOOL.as_ref())?;
    let objects = Objects::of(config);
    if objects == Objects::Files {
        for folder in OBJECTS {
            copy.folder(folder.as_ref())?;
        }
    }
    let gone = if embedded && objects == Objects::Files { missing(to)? } else { 0 };
    let (files_count, bytes, sums) = copy.end()?;
    let (master_key, origin) = match &config.master_key {
        Some(text) => (MasterKey::parse(text), Origin::Setting),
        None => {
            let file = to.join(MASTER_KEY);
            let text = fs::read_to_string(&file).map_err(|why| failed(&file, &why))?;
            (MasterKey::parse(&text), Origin::File)
        }
    };
    let master_key = master_key.ok_or("the master key is not 32 bytes in base64")?;
    let from_file = config.operator_token.is_empty();
    let manifest = Manifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        made_at: Clock::real().now().to_string(),
        store: if embedded { "sqlite" } else { "postgresql" }.into(),
        tables,
        master_key: Secret { id: master_key.id(), origin },
        operator_token: if from_file { Origin::File } else { Origin::Setting },
        objects,
        gone,
        files: files_count,
        bytes,
        sums,
    };
    files::sync_tree(to).map_err(|why| failed(to, &why))?;
    let text = serde_json::to_string_pretty(&manifest).map_err(|why| why.to_string())?;
    let file = to.join(MANIFEST);
    files::create(&file, format!("{text}\n").as_bytes()).map_err(|why| failed(&file, &why))?;
    Ok(manifest)
}

/// Number of objects that the copied store names but that were not copied: they were deleted while the backup was made.
fn missing(to: &Path) -> Result<u64, String> {
    let mut gone = 0;
    let count = |object: KeptObject| {
        if !key_of(&object).is_some_and(|key| to.join(key).is_file()) {
            gone += 1;
        }
    };
    store::db::objects_of_copy(&to.join(STORE), count).map_err(|why| why.to_string())?;
    Ok(gone)
}

fn say(to: &Path, manifest: &Manifest, config: &Config) {
    eprintln!("\rwritten: {} ({} files, {} MB)", to.display(), manifest.files, manifest.bytes / 1_000_000);
    if manifest.gone > 0 {
        eprintln!(
            "{} recordings or files that the store names are not on this disk: they were deleted meanwhile, or lie elsewhere",
            manifest.gone
        );
    }
    if config.database_url.is_some() {
        eprintln!(
            "the database is not in it: copy that with pg_dump or a snapshot, before this backup, and keep the two together"
        );
    }
    if let Objects::S3 { endpoint, bucket } = &manifest.objects {
        eprintln!(
            "recordings and received files are not in it: they are in the bucket {bucket} of {endpoint}"
        );
    }
    if manifest.master_key.origin == Origin::Setting {
        eprintln!(
            "the master key is not in it: it is the setting master_key (key {}); keep it",
            manifest.master_key.id
        );
    } else {
        eprintln!(
            "the master key {} is in it: whoever has this folder has everything",
            manifest.master_key.id
        );
    }
    eprintln!(
        "settings (dastak.toml, environment) are not in it. To restore: dastak restore {} --data NEW-FOLDER",
        to.display()
    );
}

/// Files that are copied, and the list of them.
struct Copy<'a> {
    from: &'a Path,
    to: &'a Path,
    sums: BufWriter<File>,
    files: u64,
    bytes: u64,
}

impl<'a> Copy<'a> {
    fn begin(from: &'a Path, to: &'a Path) -> Result<Self, String> {
        let sums = create(&to.join(SUMS))?;
        Ok(Self { from, to, sums: BufWriter::new(sums), files: 0, bytes: 0 })
    }

    /// Copies a file, unless it does not exist any more.
    fn file(&mut self, name: &Path) -> Result<(), String> {
        let from = self.from.join(name);
        let found = match fs::symlink_metadata(&from) {
            Ok(found) => found,
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(why) => return Err(failed(&from, &why)),
        };
        if !found.is_file() {
            return Err(format!("{}: is not a file of the service; move it elsewhere", from.display()));
        }
        let mut source = match File::open(&from) {
            Ok(source) => source,
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(why) => return Err(failed(&from, &why)),
        };
        let target = self.to.join(name);
        let (sum, bytes) =
            copy_hashed(&mut source, &mut create(&target)?).map_err(|why| failed(&target, &why))?;
        self.list(&sum, bytes, name)
    }

    /// Copies a folder recursively.
    fn folder(&mut self, name: &Path) -> Result<(), String> {
        let from = self.from.join(name);
        let entries = match fs::read_dir(&from) {
            Ok(entries) => entries,
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(why) => return Err(failed(&from, &why)),
        };
        let target = self.to.join(name);
        files::make_folder(&target).map_err(|why| failed(&target, &why))?;
        for entry in entries {
            let entry = entry.map_err(|why| failed(&from, &why))?;
            let inside = name.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.folder(&inside)?;
            } else {
                self.file(&inside)?;
            }
        }
        Ok(())
    }

    /// Lists a file that is in the backup already.
    fn note(&mut self, name: &str) -> Result<(), String> {
        let file = self.to.join(name);
        let hash = || copy_hashed(&mut File::open(&file)?, &mut io::sink());
        let (sum, bytes) = hash().map_err(|why| failed(&file, &why))?;
        self.list(&sum, bytes, name.as_ref())
    }

    fn list(&mut self, sum: &str, bytes: u64, name: &Path) -> Result<(), String> {
        let text = name
            .to_str()
            .filter(|text| !text.contains(['\n', '\r', '\\']))
            .ok_or_else(|| format!("{}: has a name that the service gives no file", name.display()))?;
        writeln!(self.sums, "{sum}  {text}").map_err(|why| failed(&self.to.join(SUMS), &why))?;
        self.files += 1;
        self.bytes += bytes;
        Ok(())
    }

    /// Ends the list: files, bytes, and the SHA-256 of the list.
    fn end(mut self) -> Result<(u64, u64, String), String> {
        let list = self.to.join(SUMS);
        let mut hash = || {
            self.sums.flush()?;
            copy_hashed(&mut File::open(&list)?, &mut io::sink())
        };
        let (sum, _) = hash().map_err(|why| failed(&list, &why))?;
        Ok((self.files, self.bytes, sum))
    }
}

/// A new file that only its owner reads.
pub(super) fn create(file: &Path) -> Result<File, String> {
    files::private(File::options().write(true).create_new(true)).open(file).map_err(|why| failed(file, &why))
}
