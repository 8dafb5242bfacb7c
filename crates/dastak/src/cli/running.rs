//! What a running service leaves in its data folder for the commands beside it: where it is reached, and whether it is
//! `dastak dev`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::client::Client;
use crate::runtime::files;
use crate::service::Service;

const FILE: &str = "dastak.running";

/// How long it gets to say how it is.
const PATIENCE: Duration = Duration::from_secs(8);

/// A running service by what it wrote at its start.
#[derive(Debug, Serialize, Deserialize)]
pub struct Running {
    /// Address of its listener.
    listen: String,
    /// Whether the listener speaks TLS.
    tls: bool,
    version: String,
    pub dev: bool,
}

/// How a running service is.
pub enum Health {
    Ready,
    /// `/readyz` says why it is not ready.
    NotReady(String),
    /// It takes connections; over TLS it is not asked for more, since its certificate is not for this address.
    Connects,
    /// It was killed: nobody answers.
    Gone,
}

/// The file of a running service; removed in an orderly stop.
pub struct Mark(PathBuf);

impl Mark {
    /// Writes down where the service is.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(service: &Service) -> Result<Self, String> {
        let config = &service.app.config;
        let running = Running {
            listen: service.address.to_string(),
            tls: config.tls.is_some(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dev: config.dev,
        };
        let file = config.data.join(FILE);
        let text = serde_json::to_string(&running).map_err(|why| why.to_string())?;
        files::replace(&file, format!("{text}\n").as_bytes())
            .map_err(|why| format!("{}: {why}", file.display()))?;
        Ok(Self(file))
    }

    /// Removes it.
    pub fn remove(self) {
        if let Err(why) = std::fs::remove_file(&self.0) {
            tracing::warn!(file = %self.0.display(), %why, "could not be removed");
        }
    }
}

impl Running {
    /// The service of a data folder, if one was started and has not stopped in order.
    pub fn of(data: &Path) -> Option<Self> {
        serde_json::from_str(&std::fs::read_to_string(data.join(FILE)).ok()?).ok()
    }

    /// How it is.
    pub async fn health(&self) -> Health {
        if self.tls {
            let connecting = tokio::net::TcpStream::connect(&self.listen);
            return match tokio::time::timeout(PATIENCE, connecting).await {
                Ok(Ok(_)) => Health::Connects,
                _ => Health::Gone,
            };
        }
        let Ok(client) = Client::new(&format!("http://{}", self.listen), "") else { return Health::Gone };
        match client.send_within("GET", "/readyz", None, PATIENCE).await {
            Ok((200, _)) => Health::Ready,
            Ok((_, answer)) => {
                let reason = answer.get("reason").and_then(Value::as_str);
                Health::NotReady(reason.unwrap_or("it gives no reason").to_owned())
            }
            Err(_) => Health::Gone,
        }
    }

    /// What it is and where.
    pub fn shown(&self) -> String {
        let command = if self.dev { "dev" } else { "serve" };
        format!("dastak {command} {} on {}", self.version, self.listen)
    }
}
