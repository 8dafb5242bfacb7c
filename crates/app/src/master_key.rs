//! The master key and the root keys: the first start makes the roots of all other keys and stores them wrapped; later
//! starts unwrap them; a rotation wraps them again and reseals what was sealed.
//!
//! A rotation has three steps, and a crash between any two of them loses nothing. 1: the old key is copied beside
//! itself, named by its id, and the new key is written beside both, durably. 2: one transaction reseals everything, and
//! from its commit on the new key opens the store. 3: the new key replaces the old one. A start finds out by the
//! store's check value which of the keys it needs, completes a rotation, and uses an old key again if the store is a
//! copy from before it.

use std::path::{Path, PathBuf};

use domain::decision_log::Strand;
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::decision_log;
use store::installation::{self, SEALED, SealedColumn};
use store::operator_log::LogRow;
use store::{DbError, Store, Tx};

use runtime::crypto::{Keyring, MasterKey, Roots};
use runtime::files;

/// The master key's file in the data folder, and the one that replaces it.
const FILE: &str = "master.key";
const NEXT: &str = "master.key.next";

/// Values of the installation: which master key opens it, and the roots of the other keys.
const CHECK: &str = "master_key_check";
const ROOTS: &str = "data_keys";

/// Rows resealed in one batch.
const PAGE: i64 = 500;

/// Where the master key comes from.
#[derive(Debug, Clone)]
pub enum Source {
    Setting(MasterKey),
    Folder(PathBuf),
}

impl Source {
    /// The key by the settings, or the data folder.
    ///
    /// # Errors
    /// When the setting is not a key.
    pub fn of(config: &config::Config) -> Result<Self, String> {
        match &config.master_key {
            Some(text) => Ok(Self::Setting(
                MasterKey::parse(text).ok_or("master_key: found a value that is not 32 bytes in base64")?,
            )),
            None => Ok(Self::Folder(config.data.clone())),
        }
    }
}

/// Why the keys cannot be opened.
#[derive(Debug)]
enum Locked {
    /// The store says so.
    Store(DbError),
    /// The store was made with another master key.
    AnotherKey,
    /// The roots are gone or altered.
    Roots,
}

impl From<DbError> for Locked {
    fn from(error: DbError) -> Self {
        Self::Store(error)
    }
}

impl std::fmt::Display for Locked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Store(why) => why.fmt(f),
            Self::AnotherKey => f.write_str(
                "master_key: this store was made with another master key; bring back <data>/master.key, or set master_key to the same value on every node",
            ),
            Self::Roots => f.write_str("the keys that the master key protects are missing from the store, or were altered; restore the store from a backup"),
        }
    }
}

/// The roots of a store that this key opens.
fn read(tx: &mut Tx<'_>, key: &MasterKey) -> Result<Option<Roots>, Locked> {
    let roots = installation::get(tx, ROOTS)?;
    match (installation::get_for_update(tx, CHECK)?, roots) {
        (None, None) => Ok(None),
        (Some(check), Some(wrapped)) if check == key.check() => {
            key.unwrap(&wrapped).map(Some).ok_or(Locked::Roots)
        }
        // Stores of early versions: every key derives from the master key, until it is changed.
        (Some(check), None) if check == key.early_check() => Ok(Some(Roots::early(key))),
        (Some(check), None) if check == key.check() => Err(Locked::Roots),
        (None, Some(_)) => Err(Locked::Roots),
        (Some(_), _) => Err(Locked::AnotherKey),
    }
}

/// Opens the keys of a store, or creates them for a new one.
async fn unlock(store: &Store, key: &MasterKey) -> Result<Keyring, Locked> {
    let ours = key.clone();
    if let Some(roots) = store.tx(move |tx| read(tx, &ours)).await? {
        return Ok(Keyring::of(&roots));
    }
    let random = |why: String| Locked::Store(DbError::Internal(why));
    let wrapped = key.wrap(&Roots::random().map_err(random)?).map_err(random)?;
    let key = key.clone();
    let roots = store.tx(move |tx| {
        // Another node may be the first; its keys win.
        if installation::get_or_insert(tx, CHECK, &key.check())? == key.check() {
            installation::get_or_insert(tx, ROOTS, &wrapped)?;
        }
        read(tx, &key)
    });
    roots.await?.map(|roots| Keyring::of(&roots)).ok_or(Locked::Roots)
}

/// Whether this key opens a store that has a schema; `None` if no key has been used with it yet. Nothing is changed.
///
/// # Errors
/// When it does not, or the store does not answer; for people.
pub async fn opens(store: &Store, key: Option<MasterKey>) -> Result<Option<()>, String> {
    let found = match key {
        Some(key) => store.tx(move |tx| read(tx, &key).map(|roots| roots.map(drop))).await,
        None => store.read(|tx| Ok(installation::get(tx, CHECK)?)).await.and_then(|check: Option<String>| {
            if check.is_some() { Err(Locked::AnotherKey) } else { Ok(None) }
        }),
    };
    found.map_err(|why: Locked| why.to_string())
}

/// Opens the keys of a store, or creates them for a new one. An interrupted rotation of the master key is completed.
///
/// # Errors
/// When the master key is not the store's, for people.
pub async fn open(store: &Store, source: &Source) -> Result<Keyring, String> {
    let folder = match source {
        Source::Setting(key) => return unlock(store, key).await.map_err(|why| why.to_string()),
        Source::Folder(folder) => folder,
    };
    let (current, next) = (folder.join(FILE), folder.join(NEXT));
    if let Ok(text) = std::fs::read_to_string(&next) {
        let opened = match MasterKey::parse(&text) {
            Some(key) => unlock_known(store, &key).await?,
            None => None,
        };
        if let Some(keyring) = opened {
            keep(&current, &MasterKey::open(&current)?)?;
            std::fs::rename(&next, &current)
                .and_then(|()| files::sync_folder_of(&current))
                .map_err(|why| format!("{}: {why}", current.display()))?;
            tracing::warn!(
                "the change of the master key was interrupted after it took effect; it is complete now"
            );
            return Ok(keyring);
        }
        // It was interrupted before it took effect: the old key is valid, the new one was never used.
        std::fs::remove_file(&next).map_err(|why| format!("{}: {why}", next.display()))?;
        tracing::warn!("a change of the master key was interrupted before it took effect; the old key holds");
    }
    match unlock(store, &MasterKey::open(&current)?).await {
        Err(Locked::AnotherKey) => match take_back(store, folder).await? {
            Some(keyring) => Ok(keyring),
            None => Err(Locked::AnotherKey.to_string()),
        },
        other => other.map_err(|why| why.to_string()),
    }
}

/// The file of a replaced key.
fn kept_file(file: &Path, key: &MasterKey) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", key.id()));
    file.with_file_name(name)
}

/// Keeps a key beside its file, named by its id.
fn keep(file: &Path, key: &MasterKey) -> Result<(), String> {
    let kept = kept_file(file, key);
    let there = std::fs::read_to_string(&kept).ok().and_then(|text| MasterKey::parse(&text));
    if there.is_some_and(|there| there.id() == key.id()) {
        return Ok(());
    }
    files::replace(&kept, format!("{}\n", key.text()).as_bytes())
        .map_err(|why| format!("{}: {why}", kept.display()))
}

/// The master keys of a data folder that are kept for copies of the store from before a change, by their files.
///
/// # Errors
/// When the folder cannot be read.
pub fn kept_keys(folder: &Path) -> Result<Vec<(PathBuf, MasterKey)>, String> {
    let unreadable = |why: std::io::Error| format!("{}: {why}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let key = std::fs::read_to_string(&path).ok().and_then(|text| MasterKey::parse(&text));
        let Some(key) = key.filter(|key| path == kept_file(&folder.join(FILE), key)) else { continue };
        found.push((path, key));
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(found)
}

/// Removes the kept master keys of a data folder: copies of the store from before a change cannot be opened any
/// more. How many there were.
///
/// # Errors
/// The file that cannot be removed, and why.
pub fn discard_kept(folder: &Path) -> Result<usize, String> {
    let kept = kept_keys(folder)?;
    for (path, _) in &kept {
        std::fs::remove_file(path)
            .and_then(|()| files::sync_folder_of(path))
            .map_err(|why| format!("{}: {why}", path.display()))?;
    }
    Ok(kept.len())
}

/// Uses a kept key again that opens the store: it is a copy from before a rotation. The current key is kept instead.
async fn take_back(store: &Store, folder: &Path) -> Result<Option<Keyring>, String> {
    let current = folder.join(FILE);
    for (path, key) in kept_keys(folder)? {
        let Some(keyring) = unlock_known(store, &key).await? else { continue };
        keep(&current, &MasterKey::open(&current)?)?;
        files::replace(&current, format!("{}\n", key.text()).as_bytes())
            .map_err(|why| format!("{}: {why}", current.display()))?;
        tracing::warn!(
            kept = %path.display(),
            "this store was made before the master key was changed; the key of that time is master.key again, and the other one is kept beside it"
        );
        return Ok(Some(keyring));
    }
    Ok(None)
}

/// The keys of a store that this key opens already; `None` when it does not.
async fn unlock_known(store: &Store, key: &MasterKey) -> Result<Option<Keyring>, String> {
    let key = key.clone();
    match store.tx(move |tx| read(tx, &key)).await {
        Ok(roots) => Ok(roots.map(|roots| Keyring::of(&roots))),
        Err(Locked::AnotherKey) => Ok(None),
        Err(why) => Err(why.to_string()),
    }
}

/// The result of a rotation of the master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Resealed secrets.
    pub secrets: u64,
    /// Resealed heads of chains.
    pub heads: u64,
    /// The public key that signs exports and heads from now on.
    pub public_key: String,
}

/// A rotation of the master key, step by step.
pub struct Change {
    old: MasterKey,
    new: MasterKey,
    new_witness: bool,
    /// The temporary file of the new key, and its final place.
    written: PathBuf,
    last: PathBuf,
}

impl Change {
    /// Prepares a rotation. With the key in the settings, the new one goes into the file `new_key`.
    ///
    /// # Errors
    /// What is missing, for people.
    pub fn new(source: &Source, new_key: Option<&Path>, new_witness: bool) -> Result<Self, String> {
        let new = MasterKey::random()?;
        match (source, new_key) {
            (Source::Setting(old), Some(file)) => Ok(Self { old: old.clone(), new, new_witness, written: file.into(), last: file.into() }),
            (Source::Setting(_), None) => {
                Err("the master key comes from the settings: name a new file for the new key with --new-key FILE, and set master_key to its content afterwards".into())
            }
            (Source::Folder(_), Some(_)) => Err("--new-key: the master key is <data>/master.key, and the new one takes its place".into()),
            (Source::Folder(folder), None) => {
                let last = folder.join(FILE);
                if !last.exists() {
                    return Err(format!("{}: no master key there; give --data DIR of the service", last.display()));
                }
                Ok(Self { old: MasterKey::open(&last)?, new, new_witness, written: folder.join(NEXT), last })
            }
        }
    }

    /// Step 1: the old key is kept, and the new one is written.
    ///
    /// # Errors
    /// When the disk refuses, or the file of the new key exists.
    pub fn write_down(&self) -> Result<(), String> {
        if self.written == self.last && self.written.exists() {
            return Err(format!("{}: exists; name a new file for the new key", self.written.display()));
        }
        keep(&self.last, &self.old)?;
        files::create(&self.written, format!("{}\n", self.new.text()).as_bytes())
            .map_err(|why| format!("{}: {why}", self.written.display()))
    }

    /// Step 2: everything is resealed, in one transaction.
    ///
    /// # Errors
    /// What cannot be opened with the old key. Nothing is changed then.
    pub async fn seal_anew(&self, store: &Store, now: Timestamp, log_id: String) -> Result<Changed, String> {
        let (old, new, new_witness) = (self.old.clone(), self.new.clone(), self.new_witness);
        let random = |why: String| Locked::Store(DbError::Internal(why));
        let work = move |tx: &mut Tx<'_>| {
            let roots = read(tx, &old)?.ok_or(Locked::AnotherKey)?;
            let renewed = roots.renewed(new_witness).map_err(random)?;
            let (from, to) = (Keyring::of(&roots), Keyring::of(&renewed));
            let mut secrets = 0;
            for column in SEALED {
                secrets += seal_column(tx, *column, &from, &to)?;
            }
            let heads = seal_heads(tx, &from, &to)?;
            installation::set(tx, ROOTS, &new.wrap(&renewed).map_err(random)?)?;
            installation::set(tx, CHECK, &new.check())?;
            let subject =
                format!("{secrets} secrets and {heads} heads sealed anew, public key {}", to.public_key());
            let row = LogRow {
                id: log_id.clone(),
                at: now,
                operation: "changeMasterKey".into(),
                workspace: None,
                subject,
                request_id: "command line".into(),
            };
            store::operator_log::append(tx, &row)?;
            Ok::<_, Locked>(Changed { secrets, heads, public_key: to.public_key() })
        };
        store.tx_long(work).await.map_err(|why| why.to_string())
    }

    /// Step 3: the new key replaces the old one.
    ///
    /// # Errors
    /// When the disk refuses; the next start does it then.
    pub fn put_in_place(&self) -> Result<(), String> {
        if self.written == self.last {
            return Ok(());
        }
        std::fs::rename(&self.written, &self.last)
            .and_then(|()| files::sync_folder_of(&self.last))
            .map_err(|why| format!("{}: {why}; the next start tries again", self.last.display()))
    }

    /// Where the old key is kept.
    pub fn kept(&self) -> PathBuf {
        kept_file(&self.last, &self.old)
    }

    /// Where the new key is.
    pub fn file(&self) -> &Path {
        &self.last
    }
}

fn seal_column(tx: &mut Tx<'_>, column: SealedColumn, from: &Keyring, to: &Keyring) -> Result<u64, DbError> {
    let (mut after, mut count) = (String::new(), 0);
    loop {
        let rows = column.page(tx, &after, PAGE)?;
        for (key, sealed) in &rows {
            let purpose = format!("{}{key}", column.purpose);
            let open = from.open_sealed(&purpose, sealed).ok_or_else(|| {
                DbError::Internal(format!("the secret of {purpose} cannot be opened with the present master key; nothing was changed"))
            })?;
            column.put(tx, key, &to.seal(&purpose, &open).map_err(DbError::Internal)?)?;
            count += 1;
        }
        match rows.last() {
            Some((key, _)) if rows.len() as i64 == PAGE => after.clone_from(key),
            _ => return Ok(count),
        }
    }
}

/// Reseals the heads of the decision log. An invalid seal stays invalid: a rotation is no amnesty.
fn seal_heads(tx: &mut Tx<'_>, from: &Keyring, to: &Keyring) -> Result<u64, DbError> {
    let (mut after, mut count) = ((String::new(), String::new()), 0);
    loop {
        let rows = decision_log::heads(tx, &after, PAGE)?;
        for (workspace, chain, row) in &rows {
            let (Ok(tenant), Some(strand)) = (workspace.parse::<Tenant>(), Strand::parse(chain)) else {
                continue;
            };
            if row.seal == super::decision_log::seal(from, tenant, strand, &row.head, row.at) {
                decision_log::seal_head(
                    &mut tx.of(tenant),
                    strand,
                    &super::decision_log::seal(to, tenant, strand, &row.head, row.at),
                )?;
                count += 1;
            }
            if let Some((accepted, seal)) = decision_log::accepted(&mut tx.of(tenant), strand)? {
                let text = accepted.sealed_text(tenant, strand);
                if from.verify(&text, &seal) {
                    decision_log::accept_seal(&mut tx.of(tenant), strand, &to.sign(&text))?;
                }
            }
        }
        match rows.last() {
            Some((workspace, chain, _)) if rows.len() as i64 == PAGE => {
                after = (workspace.clone(), chain.clone())
            }
            _ => return Ok(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Values;

    #[test]
    fn a_master_key_is_not_shown() {
        let mut config = Values::default().config(false).unwrap();
        config.master_key = Some("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".into());
        let shown = format!("{:?}", Source::of(&config).unwrap());
        assert!(!shown.contains("[0, 1") && !shown.contains("AAECAw"), "{shown}");
    }
}
