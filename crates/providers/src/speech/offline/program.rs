//! Running a program of the operating system.

use std::future::Future;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use domain::ports::{ProviderError, ProviderFault};
use tokio::process::{Child, Command};

use super::NAME;

/// A failure of the offline set.
pub(super) fn failed(fault: ProviderFault, detail: impl Into<String>) -> ProviderError {
    ProviderError::new(NAME, fault, detail)
}

/// A command that is killed when its handle is dropped, with pipes for input and output.
pub(super) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .env("LC_ALL", "C.UTF-8");
    command
}

/// Starts it. The error for a missing program names the package that has it.
pub(super) fn start(mut command: Command, package: &str) -> Result<Child, ProviderError> {
    command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::PermissionDenied => {
            missing(&command.as_std().get_program().to_string_lossy(), package)
        }
        _ => failed(
            ProviderFault::Broken,
            format!("{} could not be started: {error}", command.as_std().get_program().to_string_lossy()),
        ),
    })
}

/// Something is not installed.
pub(super) fn missing(what: &str, package: &str) -> ProviderError {
    failed(ProviderFault::NotInstalled, format!("{what} is not there; on Debian: apt-get install {package}"))
}

/// Waits for at most `limit`.
pub(super) async fn within<T>(
    limit: Duration,
    what: &str,
    work: impl Future<Output = T>,
) -> Result<T, ProviderError> {
    tokio::time::timeout(limit, work).await.map_err(|_| {
        failed(ProviderFault::TimedOut, format!("{what} took longer than {} s", limit.as_secs()))
    })
}

/// A program's end that was not a success.
pub(super) fn judge(program: &str, status: ExitStatus) -> Result<(), ProviderError> {
    if status.success() {
        Ok(())
    } else {
        Err(failed(ProviderFault::Broken, format!("{program} ended with {status}")))
    }
}
