//! Readers of what comes with a request and from files, for fuzz targets. Nothing else uses it.

use std::net::IpAddr;

use api::operations::Operation;
use api::schema::object;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};

pub use crate::runtime::crypto::Keyring;

use crate::config::{Network, Values};
use crate::http::v1::recordings::{Part, part};
use crate::http::{handler, router, server};

/// The query of an operation, checked; none when it is refused.
pub fn query(operation: &Operation, text: &str) -> Option<Value> {
    router::read_query(&object(operation.query?()), text).ok()
}

/// Percent encoding undone.
pub fn percent_decode(text: &str) -> Option<String> {
    router::percent_decode(text)
}

/// Whether an `Idempotency-Key` of these bytes is taken by this operation; none when no header can hold them.
pub fn takes_key(operation: &'static Operation, key: &[u8]) -> Option<bool> {
    let headers =
        HeaderMap::from_iter([("idempotency-key".parse().ok()?, HeaderValue::from_bytes(key).ok()?)]);
    Some(router::read_key(operation, &headers).is_ok())
}

/// The key in a cursor that this list gave.
pub fn read_cursor(keyring: &Keyring, operation: &Operation, cursor: &str) -> Option<String> {
    handler::read_cursor(keyring, operation.id, cursor)
}

/// A cursor of this list.
pub fn make_cursor(keyring: &Keyring, operation: &Operation, key: &str) -> String {
    handler::make_cursor(keyring, operation.id, key)
}

/// What of a file of so many bytes a `Range` header asks for: none for all of it, else first and last byte,
/// none of them beyond its end.
pub fn range(header: &str, length: u64) -> Option<Option<(u64, u64)>> {
    match part(Some(header), length) {
        Part::All => None,
        Part::Some(first, last) => Some(Some((first, last))),
        Part::Nothing => Some(None),
    }
}

/// The client of a request with these `X-Forwarded-For` headers.
pub fn client(trusted: &[String], peer: IpAddr, forwarded: &[&[u8]]) -> Option<IpAddr> {
    let network = Network::parse(trusted).ok()?;
    let mut headers = HeaderMap::new();
    for value in forwarded {
        headers.append("x-forwarded-for", HeaderValue::from_bytes(value).ok()?);
    }
    Some(server::client_address(&network, peer, &headers))
}

/// Whether an address belongs to one of these networks; none when they cannot be read.
pub fn trusts(networks: &[String], address: IpAddr) -> Option<bool> {
    Some(Network::parse(networks).ok()?.trusts(address))
}

/// The rows of a file with a calling list, as they are sent, with their lines.
///
/// # Errors
/// The file is no list.
pub fn calling_list(file: &[u8]) -> Result<Vec<(u64, Value)>, String> {
    crate::cli::list_import::fuzzed(file)
}

/// The cells of a registry file that should hold numbers, with their lines.
///
/// # Errors
/// The file is no list.
pub fn registry(file: &[u8]) -> Result<Vec<(u64, String)>, String> {
    crate::cli::dnd_import::fuzzed(file)
}

/// Settings as they are shown, when a file of them can be used.
///
/// # Errors
/// What is wrong with it.
pub fn settings(file: &str) -> Result<String, String> {
    let mut values = Values::default();
    values.add_toml(file, "a file")?;
    values.config(false)?;
    values.print()
}

/// Settings as they are shown, whether or not they can be used together.
///
/// # Errors
/// What is wrong with one of them.
pub fn shown(file: &str) -> Result<String, String> {
    let mut values = Values::default();
    values.add_toml(file, "a file")?;
    values.print()
}

/// A tool's address with arguments that a model chose.
pub fn with_query(url: &str, arguments: &Map<String, Value>) -> String {
    crate::app::tool_calls::with_query(url, arguments)
}

/// The files in the form of an upload, whose boundary is `limit`, and the names of their parts; at most `most` of
/// each.
pub fn upload(form: &[u8], most: usize) -> Option<(Vec<Bytes>, Vec<String>)> {
    let kind = HeaderValue::from_static("multipart/form-data; boundary=limit");
    let headers = HeaderMap::from_iter([(http::header::CONTENT_TYPE, kind)]);
    let reading = crate::http::multipart::read(&headers, Bytes::copy_from_slice(form), most);
    // The form is all there, so nothing is waited for.
    let upload = futures_util::FutureExt::now_or_never(reading)?.ok()?;
    Some((upload.files.into_iter().map(|file| file.bytes).collect(), upload.parts))
}
