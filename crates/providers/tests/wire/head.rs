//! How the servers of tests read the head of a request.

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// The head of the next request, and what of its body came with it; `None` when the client has gone.
pub async fn read_head(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    Some((head, bytes.split_off(end + 4)))
}
