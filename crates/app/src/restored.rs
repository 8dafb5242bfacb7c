//! What changes in a store that was put back from a backup (docs/operating/README.md, Backup).

use std::fs;
use std::path::Path;

use config::Config;
use runtime::clock::Clock;
use runtime::ids::Ids;
use store::operator_log::LogRow;
use store::{DbError, Store};

use crate::{operator_log, recordings};

/// Recordings that are not stored yet lie in another folder now. One that was stored while the backup was made is
/// taken from there. Returns how many there are.
pub async fn move_spool(store: &Store, config: &Config) -> Result<usize, DbError> {
    let Ok(node) = fs::read_to_string(config.data.join("node.name")) else { return Ok(0) };
    let (data, spool) = (config.data.clone(), recordings::spool(config));
    store
        .tx(move |tx| {
            let steps = store::after_calls::recordings_of_node(tx, node.trim())?;
            for row in &steps {
                let Some(name) = row.file.as_deref().and_then(|file| Path::new(file).file_name()) else {
                    continue;
                };
                let file = spool.join(name);
                if let Some(id) = row.recording
                    && !file.exists()
                {
                    // Where it is not there either, it was erased meanwhile, or lost before.
                    let _ = fs::copy(data.join(recordings::key_of(id)), &file);
                }
                store::after_calls::move_file(tx, row, &file.display().to_string())?;
            }
            Ok(steps.len())
        })
        .await
}

/// Writes into the operator's log that the store is an older one that was put back: `subject` says of when.
pub async fn note(store: &Store, subject: String) -> Result<(), DbError> {
    let clock = Clock::real();
    let row = LogRow {
        id: operator_log::new_id(&Ids::new(clock.clone())),
        at: clock.now(),
        operation: "restoreBackup".into(),
        workspace: None,
        subject,
        request_id: "command line".into(),
    };
    store.tx(move |tx| store::operator_log::append(tx, &row)).await
}
