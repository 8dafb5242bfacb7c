//! Exporter of traces: OTLP over HTTP, in protobuf (docs/operating/traces.md).

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http::header::CONTENT_TYPE;

use crate::http::{Net, Peer};

/// Longest wait for a connection, and for the response.
const TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, Clone)]
pub struct Collector(Peer);

impl Collector {
    /// The collector at an address without `/v1/traces`, with the value of its header `Authorization`.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub fn new(endpoint: &str, authorization: Option<&str>) -> Result<Self, String> {
        let headers: Vec<(&'static str, String)> =
            authorization.map(|value| ("authorization", value.to_owned())).into_iter().collect();
        let net = Net::new(Vec::new())?;
        Peer::new(&net, "traces", endpoint, TIMEOUT, &headers).map(Self)
    }

    /// Sends an `ExportTraceServiceRequest`.
    ///
    /// # Errors
    /// Why the collector rejected it, for the log.
    pub async fn send(&self, request: Vec<u8>) -> Result<(), String> {
        let headers = [(CONTENT_TYPE, "application/x-protobuf".to_owned())];
        let answer = self
            .0
            .ask(Method::POST, "/v1/traces", &headers, Bytes::from(request))
            .await
            .map_err(|why| why.to_string())?;
        let answer = answer.accepted().await.map_err(|why| why.to_string())?;
        // Read to its end, so that the connection is reused.
        answer.whole(64 * 1024).await.map(drop).map_err(|why| why.to_string())
    }
}
