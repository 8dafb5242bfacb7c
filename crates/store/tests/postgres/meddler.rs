//! A way to the server on which somebody meddles with what is said.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a way to the database does to what is said on it.
#[derive(Debug, Clone, Copy)]
pub enum Meddler {
    /// Writes one text of a client instead of another one of the same length.
    Instead(&'static str, &'static str),
    /// Keeps notifications to itself.
    Deaf,
}

/// A way to a database on which somebody meddles; its URL.
pub async fn meddled(database: &str, meddler: Meddler) -> String {
    let (user, rest) = database.split_once('@').expect("a URL");
    let (address, name) = rest.split_once('/').expect("a database");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("{user}@{}/{name}", listener.local_addr().expect("an address"));
    let address = address.to_owned();
    tokio::spawn(async move {
        while let Ok((here, _)) = listener.accept().await {
            let Ok(there) = TcpStream::connect(&address).await else { return };
            let ((from_client, to_client), (from_server, to_server)) =
                (here.into_split(), there.into_split());
            tokio::spawn(say(from_client, to_server, meddler));
            tokio::spawn(hear(from_server, to_client, meddler));
        }
    });
    url
}

/// What a client says. A statement is sent at once, so it is not cut in two here.
async fn say(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, meddler: Meddler) {
    let mut piece = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let mut said = piece[..length].to_vec();
        if let Meddler::Instead(what, with) = meddler {
            assert_eq!(what.len(), with.len());
            while let Some(at) = said.windows(what.len()).position(|part| part == what.as_bytes()) {
                said[at..at + what.len()].copy_from_slice(with.as_bytes());
            }
        }
        if to.write_all(&said).await.is_err() {
            return;
        }
    }
}

/// What the server says, message by message: a letter, a length, and the rest.
async fn hear(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, meddler: Meddler) {
    let mut head = [0; 5];
    while from.read_exact(&mut head).await.is_ok() {
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut rest = vec![0; length - 4];
        if from.read_exact(&mut rest).await.is_err() {
            return;
        }
        if matches!(meddler, Meddler::Deaf) && head[0] == b'A' {
            continue;
        }
        if to.write_all(&head).await.is_err() || to.write_all(&rest).await.is_err() {
            return;
        }
    }
}
