//! Runs every input of the kept corpora through the functions that the fuzzers use, so that what they once
//! found stays fixed.

use std::path::{Path, PathBuf};

use fuzz_targets::TARGETS;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

#[test]
fn every_kept_input_still_passes() {
    let mut failed = Vec::new();
    for (name, target) in TARGETS {
        let files = files(&corpora().join(name));
        assert!(!files.is_empty(), "{name} has no corpus");
        for file in files {
            let bytes = std::fs::read(&file).expect("readable");
            if std::panic::catch_unwind(|| target(&bytes)).is_err() {
                failed.push(file);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_corpus_is_small_and_has_a_target() {
    for folder in
        std::fs::read_dir(corpora()).expect("fuzz/corpus").map(|entry| entry.expect("an entry").path())
    {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        assert!(fuzz_targets::find(&name).is_some(), "fuzz/corpus/{name} belongs to no target");
        let size: u64 = files(&folder).iter().map(|file| file.metadata().expect("a file").len()).sum();
        assert!(size <= 200_000, "fuzz/corpus/{name} has {size} bytes");
    }
}
