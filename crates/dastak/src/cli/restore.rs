//! `dastak restore`: puts a backup folder back into a data folder without an installation, and checks it.
//!
//! A file in the data folder says that a restore is at work, or was interrupted. As long as it is there, nothing
//! starts on the folder; the next restore begins anew. It goes last, when everything was checked. The store learns of
//! the restore in one transaction, right before that.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use store::kept_objects::{self, KeptNoun};
use store::{DbError, Store};

use super::backup::{
    FORMAT, MANIFEST, MASTER_KEY, Manifest, OPERATOR_TOKEN, Objects, Origin, STORE, SUMS, create, key_of,
    name_of,
};
use crate::app::master_key::{self, Source};
use crate::app::{Wakes, restored};
use crate::config::Config;
use crate::runtime::crypto::{MasterKey, copy_hashed};
use crate::runtime::files;
use crate::service;

/// Longest line of the list of files, bytes.
const LONGEST_LINE: u64 = 4096;
/// Objects that are looked at in one read.
const PAGE: i64 = 1_000;
/// Objects of a bucket that are asked for.
const ASKED: usize = 1_000;

/// Called with the name of each completed step: a test ends the process there.
pub type Reached<'a> = &'a (dyn Fn(&'static str) + Sync);

fn failed(file: &Path, why: impl std::fmt::Display) -> String {
    format!("{}: {why}", file.display())
}

/// Puts a backup folder back into the data folder of these settings, and tells what is there.
///
/// # Errors
/// Those of [`put_in_place`].
pub async fn restore(config: Config, folder: &Path, reached: Reached<'_>) -> Result<(), String> {
    put_in_place(&config, folder, reached).await?.iter().for_each(|line| eprintln!("{line}"));
    Ok(())
}

/// Puts a backup folder back into the data folder of these settings, and checks it. Returns what to tell the operator.
///
/// # Errors
/// What is wrong with the backup, the settings or the folder, for people; the folder is as it was before then.
pub async fn put_in_place(
    config: &Config,
    folder: &Path,
    reached: Reached<'_>,
) -> Result<Vec<String>, String> {
    let manifest = read_manifest(folder)?;
    check_settings(config, &manifest)?;
    let target = Target::take(&config.data, reached)?;
    match put_back(config, folder, &manifest, reached).await {
        Ok(mut lines) => {
            target.release()?;
            reached("released");
            lines.push(format!("restored: {} as of {}", config.data.display(), manifest.made_at));
            Ok(lines)
        }
        Err(why) => {
            target.undo();
            Err(why)
        }
    }
}

fn read_manifest(folder: &Path) -> Result<Manifest, String> {
    let file = folder.join(MANIFEST);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            return Err(format!(
                "{}: no {MANIFEST} there: not a folder that dastak backup has completed",
                folder.display()
            ));
        }
        Err(why) => return Err(failed(&file, why)),
    };
    let manifest: Manifest = serde_json::from_str(&text).map_err(|why| failed(&file, why))?;
    if manifest.format != FORMAT {
        return Err(format!(
            "{}: found format {}; this program reads {FORMAT}: use the dastak that made it ({})",
            file.display(),
            manifest.format,
            manifest.version
        ));
    }
    Ok(manifest)
}

/// Whether the settings are those of the installation that the backup is of.
fn check_settings(config: &Config, manifest: &Manifest) -> Result<(), String> {
    match (manifest.store.as_str(), &config.database_url) {
        ("sqlite", Some(_)) => {
            return Err("database_url: the backup holds an embedded store, which is not put into PostgreSQL; leave the setting out".into());
        }
        ("postgresql", None) => {
            return Err("database_url: the backup is of an installation on PostgreSQL; restore the database first, and name it".into());
        }
        _ => {}
    }
    let objects = Objects::of(config);
    if objects != manifest.objects {
        let told = |objects: &Objects| match objects {
            Objects::Files => "storage.kind = files".to_owned(),
            Objects::S3 { endpoint, bucket } => format!("the bucket {bucket} of {endpoint}"),
        };
        return Err(format!(
            "storage: found {}; the backup's recordings and files are with {}",
            told(&objects),
            told(&manifest.objects)
        ));
    }
    match &config.master_key {
        Some(text) => {
            let key =
                MasterKey::parse(text).ok_or("master_key: found a value that is not 32 bytes in base64")?;
            if key.id() != manifest.master_key.id {
                return Err(format!(
                    "master_key: found the key {}; the backup opens with {}",
                    key.id(),
                    manifest.master_key.id
                ));
            }
        }
        None if manifest.master_key.origin == Origin::Setting => {
            return Err(format!(
                "master_key: missing; the backup opens with the key {}, which was a setting",
                manifest.master_key.id
            ));
        }
        None => {}
    }
    Ok(())
}

/// A data folder that is being filled.
struct Target {
    data: PathBuf,
    mark: PathBuf,
    /// Locked for as long as this restore is at work.
    _lock: File,
}

impl Target {
    /// Takes a data folder that has no installation, or what an interrupted restore left there.
    fn take(data: &Path, reached: Reached<'_>) -> Result<Self, String> {
        files::make_folder(data).map_err(|why| failed(data, why))?;
        let mark = data.join(files::RESTORING);
        let resumed = mark.exists();
        let refused = |found: &Path| {
            format!(
                "data: {} has an installation already ({}); name a new folder with --data, or move this one away",
                data.display(),
                found.file_name().unwrap_or_default().to_string_lossy()
            )
        };
        if !resumed && let Some(found) = installed(data)?.first() {
            return Err(refused(found));
        }
        let lock = match files::private(File::options().write(true).create_new(!resumed)).open(&mark) {
            Ok(lock) => lock,
            // The restore that was at work a moment ago is done, or has made its mark in this moment.
            Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {
                return Err(at_work(data));
            }
            Err(why) => return Err(failed(&mark, why)),
        };
        if lock.try_lock().is_err() || !is_file_at(&lock, &mark) {
            return Err(at_work(data));
        }
        files::sync_folder_of(&mark).map_err(|why| failed(&mark, why))?;
        reached("marked");
        let target = Self { data: data.to_owned(), mark, _lock: lock };
        if resumed {
            // All of it came from the restore that was interrupted.
            target.empty(reached)?;
        } else if let Some(found) = installed(data)?.first() {
            // A service that began here in the same moment keeps its files; one that looks for the mark only now stops.
            target.release()?;
            return Err(refused(found));
        }
        Ok(target)
    }

    fn empty(&self, reached: Reached<'_>) -> Result<(), String> {
        for path in installed(&self.data)? {
            let found = fs::symlink_metadata(&path).map_err(|why| failed(&path, why))?;
            let removed = if found.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(|why| failed(&path, why))?;
            reached("removed");
        }
        Ok(())
    }

    /// The restore is complete: the service may start here.
    fn release(&self) -> Result<(), String> {
        fs::remove_file(&self.mark)
            .and_then(|()| files::sync_folder_of(&self.mark))
            .map_err(|why| failed(&self.mark, why))
    }

    /// Leaves the folder as it was before. What cannot be removed stays with the mark, and nothing starts on it.
    fn undo(&self) {
        if let Err(why) = self.empty(&|_| ()).and_then(|()| self.release()) {
            eprintln!("what was restored so far could not be removed: {why}");
        }
    }
}

fn at_work(data: &Path) -> String {
    format!("data: another restore into {} is at work, or has just ended", data.display())
}

/// What an installation has in a data folder, but for the mark of a restore.
fn installed(data: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(data).map_err(|why| failed(data, why))? {
        let name = entry.map_err(|why| failed(data, why))?.file_name();
        if name != files::RESTORING && files::is_ours(&name.to_string_lossy()) {
            found.push(data.join(name));
        }
    }
    found.sort();
    Ok(found)
}

/// Whether the file that is open is the one that has this name now.
fn is_file_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let same =
            |one: &fs::Metadata, other: &fs::Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
        matches!((&file.metadata(), &fs::metadata(path)), (Ok(one), Ok(other)) if same(one, other))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

/// Copies the files, opens the store with its key, and looks whether all is there. Returns what to tell.
async fn put_back(
    config: &Config,
    folder: &Path,
    manifest: &Manifest,
    reached: Reached<'_>,
) -> Result<Vec<String>, String> {
    copy_files(config, folder, manifest, reached)?;
    files::sync_tree(&config.data).map_err(|why| failed(&config.data, why))?;
    reached("files durable");
    if manifest.store == "sqlite" {
        check_tables(&config.data.join(STORE), manifest)?;
    }
    if config.master_key.is_none() && !config.data.join(MASTER_KEY).exists() {
        return Err(format!(
            "{MASTER_KEY}: not in the backup; put the key {} there, or set master_key",
            manifest.master_key.id
        ));
    }
    if config.operator_token.is_empty() && !config.data.join(OPERATOR_TOKEN).exists() {
        return Err(format!(
            "{OPERATOR_TOKEN}: not in the backup, where it was a setting: set operator_token"
        ));
    }
    let store = service::open_store_of(config, &Wakes::default(), manifest.store == "postgresql").await?;
    master_key::open(&store, &Source::of(config)?).await?;
    reached("store opened");
    let waiting = restored::spool(&store, config).await?;
    reached("spool filled");
    let mut lines = vec![
        format!("files: {} with the SHA-256 that the backup lists", manifest.files),
        format!("master key: {} opens the store", manifest.master_key.id),
        format!(
            "operator token: {}",
            if config.operator_token.is_empty() { "that of the backup" } else { "by the settings" }
        ),
    ];
    if manifest.store == "sqlite" {
        lines.push(format!("store: {} tables with their rows, no damage", manifest.tables.len()));
    }
    for noun in KeptNoun::ALL {
        lines.push(check_objects(&store, config, noun).await?);
    }
    let (bases, passages) =
        store.read(store::knowledge::totals).await.map_err(|why: DbError| why.to_string())?;
    lines.push(format!(
        "knowledge: {passages} passages of {bases} bases; their indexes are made at the first search"
    ));
    if !waiting.is_empty() {
        lines.push(format!("recordings that were not stored yet: {}; the start stores them", waiting.len()));
    }
    reached("checked");
    let subject = format!("backup of {} by {}", manifest.made_at, manifest.version);
    restored::settle(&store, waiting, subject).await.map_err(|why| why.to_string())?;
    reached("settled");
    Ok(lines)
}

/// Copies what the backup lists, each file with the hash that is listed.
fn copy_files(
    config: &Config,
    folder: &Path,
    manifest: &Manifest,
    reached: Reached<'_>,
) -> Result<(), String> {
    let list = folder.join(SUMS);
    let open = || File::open(&list).map_err(|why| failed(&list, why));
    let (sum, _) = copy_hashed(&mut open()?, &mut io::sink()).map_err(|why| failed(&list, why))?;
    if sum != manifest.sums {
        return Err(format!(
            "{}: is not the list that {MANIFEST} names; the backup was altered",
            list.display()
        ));
    }
    let mut lines = BufReader::new(open()?);
    let mut line = String::new();
    loop {
        line.clear();
        let read =
            lines.by_ref().take(LONGEST_LINE).read_line(&mut line).map_err(|why| failed(&list, why))?;
        if read == 0 {
            return Ok(());
        }
        let listed = line.strip_suffix('\n').and_then(|line| line.split_once("  ")).filter(|(_, name)| {
            !name.is_empty()
                && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
                && name.split('/').next().is_some_and(files::is_ours)
        });
        let (sum, name) = listed
            .ok_or_else(|| format!("{}: «{}» is no file of a backup", list.display(), line.trim_end()))?;
        copy_file(config, folder, sum, name)?;
        reached("file copied");
    }
}

fn copy_file(config: &Config, folder: &Path, sum: &str, name: &str) -> Result<(), String> {
    let (from, to) = (folder.join(name), config.data.join(name));
    // A key that is kept elsewhere comes by its setting.
    let by_setting = (name == MASTER_KEY && config.master_key.is_some())
        || (name == OPERATOR_TOKEN && !config.operator_token.is_empty())
        || name.starts_with("master.key.");
    let found = match fs::symlink_metadata(&from) {
        Err(why) if why.kind() == io::ErrorKind::NotFound && by_setting => return Ok(()),
        other => other.map_err(|why| failed(&from, why))?,
    };
    if !found.is_file() {
        return Err(failed(&from, "is not a file"));
    }
    if let Some(above) = to.parent() {
        files::make_folder(above).map_err(|why| failed(above, why))?;
    }
    let mut source = File::open(&from).map_err(|why| failed(&from, why))?;
    let (found, _) = copy_hashed(&mut source, &mut create(&to)?).map_err(|why| failed(&to, why))?;
    if found != sum {
        return Err(failed(&from, "is not as it was when the backup was made: its SHA-256 differs"));
    }
    Ok(())
}

fn check_tables(store: &Path, manifest: &Manifest) -> Result<(), String> {
    let tables = store::db::tables_of_copy(store).map_err(|why| failed(store, why))?;
    if tables == manifest.tables {
        return Ok(());
    }
    let other = manifest.tables.iter().find(|(name, rows)| tables.get(*name) != Some(*rows));
    let which = other.map_or("a table that the backup does not name".to_owned(), |(name, rows)| {
        format!("{name}: {} rows, not {rows}", tables.get(name).copied().unwrap_or(0))
    });
    Err(failed(store, format!("is not as it was when the backup was made: {which}")))
}

/// Looks whether the objects that the store names are there. Says how many are not.
async fn check_objects(store: &Store, config: &Config, noun: KeptNoun) -> Result<String, String> {
    let objects = match Objects::of(config) {
        Objects::Files => None,
        Objects::S3 { .. } => Some(bucket(config)?),
    };
    let (mut all, mut missing, mut cursor) = (0_usize, 0_usize, (String::new(), 0));
    loop {
        let after = cursor.clone();
        let (page, next) = store
            .read(move |tx| kept_objects::page(tx, noun, &after, PAGE))
            .await
            .map_err(|why: DbError| why.to_string())?;
        for object in &page {
            let Some(key) = key_of(object) else { continue };
            let there = match &objects {
                None => fs::metadata(config.data.join(&key))
                    .is_ok_and(|found| object.bytes.is_none_or(|bytes| found.len() == bytes.unsigned_abs())),
                Some(_) if all >= ASKED => true,
                Some(objects) => objects.open(&key, 0, 1).await.map_err(|why| why.to_string())?.is_some(),
            };
            all += 1;
            missing += usize::from(!there);
        }
        if page.len() < usize::try_from(PAGE).unwrap_or(usize::MAX) {
            break;
        }
        cursor = next;
    }
    let asked = if objects.is_some() && all > ASKED {
        format!(" ({ASKED} of them were asked for in the bucket)")
    } else {
        String::new()
    };
    Ok(match missing {
        0 => format!("{}: {all}, all there{asked}", name_of(noun)),
        missing => {
            format!("{}: {all}, of which {missing} are not there{asked}; they answer 404", name_of(noun))
        }
    })
}

fn bucket(config: &Config) -> Result<std::sync::Arc<dyn domain::ports::ObjectStore>, String> {
    providers::storage::build(&config.providers.storage, &providers::http::Net::new(Vec::new())?)
}
