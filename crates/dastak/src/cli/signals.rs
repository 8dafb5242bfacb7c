//! Signals of a running service (docs/contract/operator.md#start-and-stop): SIGTERM and Ctrl-C stop it, SIGHUP has it
//! read its settings again.

use clap::ArgMatches;

use super::settings::{SettingsFile, read_values};
use crate::config::{REREAD, Values};
use crate::runtime::logs;
use crate::service::Service;

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Stop,
    HangUp,
}

/// The signals of this process, caught from the moment when this is made.
pub struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
}

impl Signals {
    /// Catches them from now on.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn new() -> Result<Self, String> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let catch = |kind| signal(kind).map_err(|why| why.to_string());
            Ok(Self { terminate: catch(SignalKind::terminate())?, hang_up: catch(SignalKind::hangup())? })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// The next one.
    pub async fn next(&mut self) -> Signal {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => Signal::Stop,
            _ = tokio::signal::ctrl_c() => Signal::Stop,
            _ = self.hang_up.recv() => Signal::HangUp,
        }
        #[cfg(not(unix))]
        {
            let _ = tokio::signal::ctrl_c().await;
            Signal::Stop
        }
    }
}

/// The settings of a running service, which it reads again.
pub struct Settings<'m> {
    name: &'m str,
    matches: &'m ArgMatches,
    /// As they were at the start, but for those that were taken up since.
    values: Values,
}

impl<'m> Settings<'m> {
    pub fn new(name: &'m str, matches: &'m ArgMatches, values: Values) -> Self {
        Self { name, matches, values }
    }

    /// Reads them from where the start read them, and takes up what can change while it runs: which lines are logged, and
    /// the certificate. What is wrong is logged, and nothing changes.
    pub fn read_again(&mut self, service: &Service) {
        match self.take_up(service) {
            Ok(waiting) if waiting.is_empty() => tracing::info!("the settings were read again"),
            Ok(waiting) => tracing::warn!(
                settings = waiting.join(", "),
                "the settings were read again; these have changed and take effect at the next start"
            ),
            Err(why) => tracing::error!(%why, "the settings cannot be taken up; those of before hold"),
        }
    }

    /// The names of the settings that wait for the next start.
    fn take_up(&mut self, service: &Service) -> Result<Vec<String>, String> {
        let dev = service.app.config.dev;
        let values = read_values(self.name, self.matches, SettingsFile::find(self.matches)?.as_ref(), dev)?;
        let config = values.config(dev)?;
        let mut waiting: Vec<String> = self.values.differences(&values);
        match (&service.certificates, &config.tls) {
            (Some(certificates), Some((chain, key))) => {
                certificates.read_again(chain, key)?;
                waiting.retain(|name| !REREAD.contains(&name.as_str()));
            }
            // With or without TLS is decided at the start.
            _ => waiting.retain(|name| name.starts_with("tls_") || !REREAD.contains(&name.as_str())),
        }
        logs::change(config.logs);
        Ok(waiting)
    }
}
