//! A service with a trunk, loopback providers, a workspace and agents: the start of every run with real
//! calls.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::load::request;
use crate::server::Server;
use crate::skeleton::{call, workspace};

/// The service, and how to reach it.
pub struct Live {
    pub server: Server,
    pub data: PathBuf,
    pub workspace: String,
    pub key: String,
    token: String,
    pack: String,
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

/// How it is set up.
pub struct Setup<'a> {
    /// Port of the SIP peer.
    pub peer: u16,
    /// Base URL of the providers.
    pub providers: &'a str,
    /// The cores that it may use, in the syntax of `taskset -c`.
    pub cores: Option<&'a str>,
    /// How many seconds an unanswered dial rings.
    pub ring_timeout: u32,
}

impl Live {
    pub async fn start(setup: &Setup<'_>) -> Result<Self, String> {
        let data = std::env::temp_dir().join(format!("dastak-live-{}-{}", std::process::id(), setup.peer));
        std::fs::create_dir_all(&data).map_err(|why| why.to_string())?;
        let Setup { peer, providers, cores, ring_timeout } = setup;
        let settings = format!(
            "listen = \"127.0.0.1:0\"\n[webhooks]\nallow_insecure = true\n[telephony]\ncarrier = \"sip\"\nconcurrent_calls = 100000\n\
             machine_answer = \"off\"\nring_timeout = {ring_timeout}\n[telephony.sip]\nlisten = \"127.0.0.1:0\"\nrtp_ports = \"20000-23999\"\n\
             [[telephony.sip.trunks]]\nname = \"peer\"\naddress = \"127.0.0.1:{peer}\"\nchannels = 100000\noptions_interval = 0\n\
             [speech]\nto_text = [\"openai\"]\nfrom_text = [\"openai\"]\n[speech.openai]\nbase_url = \"{providers}\"\n\
             [language_model]\nproviders = [\"loopback\"]\n[language_model.loopback]\nbase_url = \"{providers}\"\nmodel = \"loopback\"\n"
        );
        let file = data.join("dastak.toml");
        std::fs::write(&file, settings).map_err(|why| why.to_string())?;
        let server = Server::configured(&data, &file, *cores)
            .map_err(|why| format!("{why}\n{}", tail(&data.join("log"))))?;
        let token = std::fs::read_to_string(data.join("operator.token"))
            .map_err(|why| why.to_string())?
            .trim()
            .to_owned();
        let (id, key) = workspace(&server.address, &token).await?;
        let mut live = Self { server, data, workspace: id, key, token, pack: String::new() };
        live.operator("PATCH", "", &json!({"limits": {"concurrentCalls": 10_000}})).await?;
        live.operator("POST", "/numbers", &json!({"number": "08045670001"})).await?;
        let hours = json!([{"days": [0, 1, 2, 3, 4, 5, 6], "from": "00:00", "to": "24:00"}]);
        let pack = json!({"name": "any time", "hours": hours, "caps": {"perDay": 1000, "perWeek": 1000}});
        live.pack = text(&live.operator("POST", "/compliance-packs", &pack).await?["data"]["id"])?;
        Ok(live)
    }

    /// A request of the operator about the workspace.
    pub async fn operator(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        call(
            &self.server.address,
            method,
            &format!("/operator/v1/workspaces/{}{path}", self.workspace),
            &self.token,
            body,
        )
        .await
    }

    /// A request with the live key.
    pub async fn api(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        call(&self.server.address, method, path, &self.key, body).await
    }

    /// An active agent that plays this flow; without one, a single step in which the model talks.
    pub async fn agent(&self, nodes: Option<Value>) -> Result<String, String> {
        let body = json!({"name": "Bench", "systemPrompt": "Be brief.", "policyRef": self.pack});
        let agent = text(&self.api("POST", "/v1/agents", &body).await?["data"]["id"])?;
        if let Some(nodes) = nodes {
            let version = self.api("GET", &format!("/v1/agents/{agent}/flow"), &Value::Null).await?["data"]["draftVersion"].clone();
            let flow = json!({"graph": {"startNodeId": nodes[0]["id"], "nodes": nodes, "variables": []}, "baseVersion": version});
            self.api("PUT", &format!("/v1/agents/{agent}/flow"), &flow).await?;
            self.api("POST", &format!("/v1/agents/{agent}/flow/publish"), &json!({})).await?;
        }
        self.api("POST", &format!("/v1/agents/{agent}/status"), &json!({"status": "active"})).await?;
        Ok(agent)
    }

    /// Places a call and returns its id.
    pub async fn place(&self, agent: &str, number: &str) -> Result<String, String> {
        let placed = self.api("POST", "/v1/calls", &json!({"agentId": agent, "toNumber": number})).await?;
        text(&placed["interactionId"])
    }

    /// The text of `/metrics`.
    pub async fn figures(&self) -> Result<Figures, String> {
        let mut socket =
            tokio::net::TcpStream::connect(&self.server.address).await.map_err(|why| why.to_string())?;
        socket
            .write_all(&request("GET", "/metrics", &self.token, "connection: close\r\n", ""))
            .await
            .map_err(|why| why.to_string())?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.map_err(|why| why.to_string())?;
        Ok(Figures(answer))
    }

    /// Waits until a figure is zero and returns its last value.
    pub async fn until_zero(&self, name: &str, patience: Duration) -> Result<f64, String> {
        let started = Instant::now();
        loop {
            let value = self.figures().await?.of(name);
            if value == 0.0 || started.elapsed() > patience {
                return Ok(value);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// The text of `/metrics`.
#[derive(Clone)]
pub struct Figures(String);

impl Figures {
    /// A figure, summed over its labels; 0 when there is none with the name.
    pub fn of(&self, name: &str) -> f64 {
        let value = |line: &str| line.rsplit(' ').next().and_then(|value| value.parse::<f64>().ok());
        let named = |line: &&str| line.split([' ', '{']).next() == Some(name);
        self.0.lines().filter(named).filter_map(value).sum()
    }
}

fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("no text: {value}"))
}

/// The last lines of a file.
pub fn tail(file: &std::path::Path) -> String {
    let all = std::fs::read_to_string(file).unwrap_or_default();
    let lines: Vec<&str> = all.lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}
