//! MCP over standard input and output, for clients that start the server themselves.

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio;

use crate::{Api, Server};

/// Serves one client until its input ends.
///
/// # Errors
/// The client does not speak MCP, or the connection broke.
pub async fn serve<A: Api>(server: Server<A>) -> Result<(), String> {
    let running = match server.serve(stdio()).await {
        Ok(running) => running,
        // It left before it began.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(why) => return Err(format!("the client does not speak MCP: {why}")),
    };
    running.waiting().await.map(drop).map_err(|why| why.to_string())
}
