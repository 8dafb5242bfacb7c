//! Changes to a store that was restored from a backup (docs/operating/README.md, Backup).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use config::Config;
use runtime::clock::Clock;
use runtime::files;
use runtime::ids::Ids;
use store::after_calls::StepRow;
use store::operator_log::LogRow;
use store::{DbError, Store};

use crate::{operator_log, recordings};

/// A recording that is not stored yet, and the path of its file now.
pub struct Waiting {
    step: StepRow,
    file: PathBuf,
}

/// Fills the spool of this data folder, durably: with the restored files, and with recordings that were stored while
/// the backup was made. The store is not changed.
///
/// # Errors
/// The store cannot be read, or a file cannot be copied; for people.
pub async fn spool(store: &Store, config: &Config) -> Result<Vec<Waiting>, String> {
    let name = config.data.join("node.name");
    let node = match fs::read_to_string(&name) {
        Ok(node) => node.trim().to_owned(),
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(failed(&name, &why)),
    };
    let steps: Result<Vec<StepRow>, DbError> =
        store.read(move |tx| store::after_calls::recordings_of_node(tx, &node)).await;
    let spool = recordings::spool(config);
    let mut waiting = Vec::new();
    for step in steps.map_err(|why| why.to_string())? {
        let Some(name) = step.file.as_deref().and_then(|file| Path::new(file).file_name()) else { continue };
        let file = spool.join(name);
        if let Some(id) = step.recording
            && !file.exists()
        {
            files::make_folder(&spool).map_err(|why| failed(&spool, &why))?;
            let stored = config.data.join(recordings::key_of(id));
            match fs::copy(&stored, &file) {
                Ok(_) => {
                    File::open(&file).and_then(|copy| copy.sync_all()).map_err(|why| failed(&file, &why))?
                }
                // It was erased meanwhile, or lost before.
                Err(why) if why.kind() == io::ErrorKind::NotFound => {}
                Err(why) => return Err(failed(&stored, &why)),
            }
        }
        waiting.push(Waiting { step, file });
    }
    if !waiting.is_empty() && spool.exists() {
        files::sync_tree(&spool).map_err(|why| failed(&spool, &why))?;
    }
    Ok(waiting)
}

fn failed(file: &Path, why: &io::Error) -> String {
    format!("{}: {why}", file.display())
}

/// Stores in one transaction the paths of these recordings, and a line in the operator log that the store was restored:
/// `subject` names the backup's time.
pub async fn settle(store: &Store, waiting: Vec<Waiting>, subject: String) -> Result<(), DbError> {
    let clock = Clock::real();
    let row = LogRow {
        id: operator_log::new_id(&Ids::new(clock.clone())),
        at: clock.now(),
        operation: "restoreBackup".into(),
        workspace: None,
        subject,
        request_id: "command line".into(),
    };
    store
        .tx(move |tx| {
            for Waiting { step, file } in &waiting {
                store::after_calls::move_file(tx, step, &file.display().to_string())?;
            }
            store::sessions::delete_all(tx)?;
            store::operator_log::append(tx, &row)
        })
        .await
}
