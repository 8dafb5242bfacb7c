//! The process that reads strangers' documents has taken from itself what it does not need before it reads a byte.

#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::node::BINARY;

/// The hard limit of this name in `/proc/<pid>/limits`.
fn limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn a_reader_opens_no_file_and_has_512_mb_beside_its_own_size() {
    const MB: u64 = 1024 * 1024;
    // Nothing is written to it, so it waits for its first byte.
    let mut reader = Command::new(BINARY)
        .arg("extract")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a reader");
    let proc = format!("/proc/{}", reader.id());
    let until = Instant::now() + Duration::from_secs(30);
    let limits = loop {
        let limits = std::fs::read_to_string(format!("{proc}/limits")).expect("its limits");
        // The last one that it sets of those that everybody has.
        if limit(&limits, "Max address space").is_some() {
            break limits;
        }
        assert!(Instant::now() < until, "it is not confined:\n{limits}");
        std::thread::yield_now();
    };
    assert_eq!(limit(&limits, "Max open files"), Some(0));
    assert_eq!(limit(&limits, "Max file size"), Some(0));
    let statm = std::fs::read_to_string(format!("{proc}/statm")).expect("its size");
    let size = statm.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096;
    let beside = limit(&limits, "Max address space").unwrap() - size;
    assert!((448 * MB..=512 * MB).contains(&beside), "{} MB", beside / MB);
    drop(reader.stdin.take());
    assert!(!reader.wait().expect("its end").success(), "no document is an error");
}
