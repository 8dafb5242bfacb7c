//! Runs SIPp.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::sockets::taken;
use super::support::{PATIENCE, free_port, ports, until};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A SIPp that plays one call.
pub struct Sipp {
    pub port: u16,
    child: Child,
    name: String,
    folder: PathBuf,
}

/// Plays a scenario as the callee, with values for the words in brackets.
pub async fn callee(name: &str, keys: &[(&str, &str)]) -> Sipp {
    start(name, keys, &[], true).await
}

/// The same over TCP.
pub async fn callee_tcp(name: &str, keys: &[(&str, &str)]) -> Sipp {
    start(name, keys, &["-t", "t1"], true).await
}

/// Plays a scenario as the caller of `port`, from a port that is known before, so that a trunk can be there.
pub async fn caller_from(name: &str, from: u16, port: u16, keys: &[(&str, &str)], more: &[&str]) -> Sipp {
    let target = format!("127.0.0.1:{port}");
    let mut arguments = vec![target.as_str()];
    arguments.extend(more);
    launch(name, from, keys, &arguments, false).await
}

async fn start(name: &str, keys: &[(&str, &str)], more: &[&str], wait: bool) -> Sipp {
    launch(name, free_port(), keys, more, wait).await
}

async fn launch(name: &str, port: u16, keys: &[(&str, &str)], more: &[&str], wait: bool) -> Sipp {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("telephony-sipp-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sipp").join(format!("{name}.xml"));
    // SIPp checks statuses when it loads the file, before its own `-key` values are filled in.
    let mut text =
        std::fs::read_to_string(&scenario).unwrap_or_else(|error| panic!("{}: {error}", scenario.display()));
    for (key, value) in keys {
        text = text.replace(&format!("[{key}]"), value);
    }
    std::fs::write(folder.join("scenario.xml"), text).expect("a file");
    let screen = std::fs::File::create(folder.join("screen")).expect("a file");
    let mut command = Command::new("sipp");
    command.args([
        "-sf",
        "scenario.xml",
        "-i",
        "127.0.0.1",
        "-mi",
        "127.0.0.1",
        "-m",
        "1",
        "-nostdin",
        "-timeout",
        "40s",
        "-timeout_error",
    ]);
    command.args(["-p", &port.to_string(), "-mp", &ports().0.to_string()]);
    command.args(["-trace_err", "-error_file", "errors", "-trace_msg", "-message_file", "messages"]);
    command
        .args(more)
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(screen)
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let child = command.spawn().expect("sipp is needed for these tests (Debian package sip-tester)");
    let sipp = Sipp { port, child, name: name.to_owned(), folder };
    if wait {
        let protocol = if more.contains(&"t1") { "tcp" } else { "udp" };
        until("SIPp listens", || taken(protocol, port).then_some(()).ok_or_else(|| sipp.story())).await;
    }
    sipp
}

impl Sipp {
    /// Waits for its end, which must be one successful call.
    pub async fn succeeds(mut self) -> String {
        let ended = timeout(PATIENCE, self.child.wait()).await;
        let screen = std::fs::read_to_string(self.folder.join("screen")).unwrap_or_default();
        let successes = screen.lines().rev().find_map(|line| {
            let rest = line.trim().strip_prefix("Successful call")?;
            rest.rsplit('|').next()?.trim().parse::<u32>().ok()
        });
        let fine = matches!(&ended, Ok(Ok(status)) if status.success()) && successes == Some(1);
        assert!(
            fine,
            "SIPp scenario {} did not succeed: {ended:?}, {successes:?} calls\n{}",
            self.name,
            self.story()
        );
        std::fs::read_to_string(self.folder.join("messages")).unwrap_or_default()
    }

    /// What was said so far.
    pub fn story(&self) -> String {
        let read = |name: &str| std::fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        format!("{}\n{}", read("errors"), read("messages"))
    }
}

impl Drop for Sipp {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.folder));
    }
}
