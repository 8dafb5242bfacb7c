//! The measured processes: the release binary and the yardstick.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The operator token of every server that is measured.
pub const TOKEN: &str = "operator-token-of-the-bench";
const MASTER_KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";

/// A server process that is ended when dropped.
pub struct Server {
    child: Child,
    /// `host:port`.
    pub address: String,
    /// Time from the start of the process to its ready line.
    pub ready_after: Duration,
}

impl Server {
    fn start(mut command: Command, log: Stdio) -> Result<Self, String> {
        let started = Instant::now();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|why| format!("{command:?}: {why}"))?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("no output")?;
        BufReader::new(out).read_line(&mut line).map_err(|why| why.to_string())?;
        let ready: Value =
            serde_json::from_str(&line).map_err(|why| format!("ready line {line:?}: {why}"))?;
        let address = ready["listen"].as_str().ok_or("no address")?.to_owned();
        Ok(Self { child, address, ready_after: started.elapsed() })
    }

    /// The release binary, on a data folder or a PostgreSQL database. Its carrier is the sandbox, which
    /// answers at once; phones with sound are measured by the runs on lines.
    pub fn dastak(data: &Path, database_url: Option<&str>) -> Result<Self, String> {
        Self::binary(&beside("dastak")?, data, database_url)
    }

    /// The same with another build of it.
    pub fn binary(binary: &Path, data: &Path, database_url: Option<&str>) -> Result<Self, String> {
        let mut command = Command::new(binary);
        // The same for all, so that one after the other may work on one database, and several beside each other.
        command.env("DASTAK_MASTER_KEY", MASTER_KEY).env("DASTAK_OPERATOR_TOKEN", TOKEN);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .env("DASTAK_WEBHOOKS__ALLOW_INSECURE", "true");
        command
            .env("DASTAK_TELEPHONY__CARRIER", "sandbox")
            .env("DASTAK_TELEPHONY__CONCURRENT_CALLS", "1000000");
        command.env("DASTAK_TELEPHONY__SANDBOX_LINES", "0");
        if let Some(url) = database_url {
            command.args(["--database-url", url]);
        }
        Self::start(command, Stdio::null())
    }

    /// The release binary with a settings file, its log in `<data>/log`; only on these cores (in the syntax
    /// of `taskset -c`), if any are given.
    pub fn configured(data: &Path, settings: &Path, cores: Option<&str>) -> Result<Self, String> {
        let binary = beside("dastak")?;
        let mut command = Command::new(if cores.is_some() { Path::new("taskset") } else { &binary });
        if let Some(cores) = cores {
            command.args(["-c", cores]).arg(&binary);
        }
        command.args(["serve", "--data"]).arg(data).arg("--config").arg(settings);
        let log = std::fs::File::create(data.join("log")).map_err(|why| why.to_string())?;
        Self::start(command, log.into())
    }

    /// A bare axum handler.
    pub fn bare() -> Result<Self, String> {
        let mut command = Command::new(std::env::current_exe().map_err(|why| why.to_string())?);
        command.arg("yardstick");
        Self::start(command, Stdio::null())
    }

    /// CPU seconds used so far.
    pub fn cpu_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
        // utime and stime are fields 14 and 15 of the line, in hundredths of a second.
        (ticks(11) + ticks(12)) / 100.0
    }

    /// CPU time of the threads that live, nanoseconds: finer than [`Server::cpu_seconds`], for short runs.
    pub fn cpu_nanoseconds(&self) -> u64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id()));
        tasks
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok())
            .filter_map(|text| text.split(' ').next()?.parse::<u64>().ok())
            .sum()
    }

    /// Resident memory in MB.
    pub fn memory_mb(&self) -> f64 {
        self.status_mb("VmRSS:")
    }

    /// Memory of its own in MB: without the pages of the database that the system lends it.
    pub fn own_mb(&self) -> f64 {
        self.status_mb("RssAnon:")
    }

    /// The most memory of its own while `work` runs, looked at every 2 ms, in MB.
    pub async fn own_peak_mb<T>(&self, work: impl Future<Output = T>) -> (f64, T) {
        let (mut most, mut looks) = (self.own_mb(), tokio::time::interval(Duration::from_millis(2)));
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                outcome = &mut work => return (most, outcome),
                _ = looks.tick() => most = most.max(self.own_mb()),
            }
        }
    }

    fn status_mb(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
    }

    /// Open file descriptors.
    pub fn descriptors(&self) -> usize {
        self.entries("fd")
    }

    pub fn threads(&self) -> usize {
        self.entries("task")
    }

    fn entries(&self, folder: &str) -> usize {
        std::fs::read_dir(format!("/proc/{}/{folder}", self.child.id())).map_or(0, Iterator::count)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A binary in the same folder as this one.
pub fn beside(name: &str) -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|why| why.to_string())?;
    Ok(here.with_file_name(name))
}

/// Serves a constant JSON until killed.
pub async fn yardstick() -> Result<(), String> {
    let body = r#"{"data":{"key":{"id":"key_00000000000000000000000000","name":"constant"},"workspace":{"name":"constant"}}}"#;
    let answer = move || async move { ([("content-type", "application/json")], body) };
    let router = axum::Router::new().route("/v1/me", axum::routing::get(answer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|why| why.to_string())?;
    println!(
        "{}",
        serde_json::json!({"listen": listener.local_addr().map_err(|why| why.to_string())?.to_string()})
    );
    axum::serve(listener, router).await.map_err(|why| why.to_string())
}
