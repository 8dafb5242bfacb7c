//! The parts of a request besides its body: query, cursor, headers; and the address of a tool with arguments
//! from a model.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use api::operations::{self, Idempotency, Operation};
use api::schema::object;
use dastak::fuzzing as service;
use providers::guarded_client::Policy;
use serde_json::{Map, Value};

use crate::draw::Draw;

static QUERIES: LazyLock<Vec<&'static Operation>> =
    LazyLock::new(|| operations::all().filter(|row| row.query.is_some()).collect());

/// The operation's index in the table, then the query string.
///
/// An accepted query holds only what the table names, and is accepted again without further change.
pub fn query(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let operation = QUERIES[usize::from(*first) % QUERIES.len()];
    if let Some(plain) = service::percent_decode(text) {
        assert!(plain.len() <= text.len() && (text.contains('%') || plain == text));
    }
    let Some(query) = service::query(operation, text) else { return };
    let schema = object(operation.query.expect("a query")());
    let names = query.as_object().expect("an object").keys();
    assert!(names.into_iter().all(|name| schema.fields().iter().any(|field| field.name == *name)), "{query}");
    let mut again = query.clone();
    assert_eq!(schema.check(&mut again), Ok(()), "{}", operation.id);
    assert_eq!(again, query, "{}", operation.id);
    assert!(!query.to_string().contains("\\u0000"), "{query}");
}

/// A cursor.
///
/// A list accepts only its own cursors, and reads each as it was made.
pub fn cursor(data: &[u8]) {
    let keyring = service::Keyring::new(&[7; 32]);
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (one, other) = (QUERIES[0], QUERIES[1]);
    let made = service::make_cursor(&keyring, one, text);
    assert_eq!(service::read_cursor(&keyring, one, &made).as_deref(), Some(text));
    assert_eq!(service::read_cursor(&keyring, other, &made), None);
    if let Some(key) = service::read_cursor(&keyring, one, text) {
        assert_eq!(service::make_cursor(&keyring, one, &key), text, "a forged cursor was accepted");
    }
    let mut changed = made.into_bytes();
    let at = data.len() % changed.len();
    changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
    let changed = String::from_utf8(changed).expect("ASCII");
    assert_eq!(service::read_cursor(&keyring, one, &changed), None, "{changed}");
}

/// One byte for the header and one for its context, then `Range`, `X-Forwarded-For` or `Idempotency-Key`.
///
/// A range lies within the file. The client is the peer unless the peer is trusted, and never a trusted proxy
/// when the proxy names another address. A key has 1 to 255 visible characters.
pub fn headers(data: &[u8]) {
    let mut draw = Draw::new(data);
    match draw.below(3) {
        0 => {
            let length = [0, 1, 10, u64::MAX][draw.below(4)];
            let Ok(text) = std::str::from_utf8(draw.rest()) else { return };
            if let Some(Some((first, last))) = service::range(text, length) {
                assert!(first <= last && last < length, "{first} to {last} of {length}");
            }
        }
        1 => forwarded(&mut draw),
        _ => {
            let operation = operations::all()
                .find(|row| row.idempotency != Idempotency::Ignored)
                .expect("an operation with a key");
            let key = draw.rest();
            if service::takes_key(operation, key) == Some(true) {
                let plain = key.trim_ascii();
                assert!(
                    (1..=255).contains(&plain.len())
                        && plain.iter().all(|byte| (b' '..=b'~').contains(byte) || *byte == b'\t')
                );
            }
        }
    }
}

fn forwarded(draw: &mut Draw<'_>) {
    let trusted: Vec<String> =
        ["10.0.0.0/8", "::1", "192.0.2.0/24"].into_iter().take(draw.below(4)).map(str::to_owned).collect();
    let peer = draw.of(&[
        IpAddr::V4(Ipv4Addr::new(10, 1, 1, 1)),
        IpAddr::V6(Ipv6Addr::LOCALHOST),
        IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9)),
    ]);
    let values: Vec<&[u8]> = draw.rest().split(|byte| *byte == b'\n').collect();
    let Some(client) = service::client(&trusted, peer, &values) else { return };
    let trusts = |address| service::trusts(&trusted, address) == Some(true);
    if !trusts(peer) {
        assert_eq!(client, peer);
        return;
    }
    // The entry of the last trusted proxy decides, if it can be read.
    let plain = |value: &&&[u8]| value.iter().all(|byte| *byte == b'\t' || (b' '..=b'~').contains(byte));
    let last = values
        .last()
        .filter(plain)
        .and_then(|value| std::str::from_utf8(value).ok())
        .and_then(|value| value.rsplit(',').next());
    if let Some(address) =
        last.and_then(|hop| hop.trim().parse::<IpAddr>().ok()).filter(|address| !trusts(*address))
    {
        assert_eq!(client, address);
    }
}

/// The address of a tool, and arguments chosen by a model as JSON after a line feed.
///
/// Arguments cannot change the scheme, the host or the path of the tool.
pub fn tool_address(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (url, arguments) = text.split_once('\n').unwrap_or((text, "{}"));
    let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(arguments) else { return };
    let policy = Policy::default();
    let Ok(target) = policy.check_url(url) else { return };
    let filled = service::with_query(url, &arguments);
    assert!(filled.is_ascii() && filled.starts_with(url), "{filled}");
    if let Ok(again) = policy.check_url(&filled) {
        assert_eq!(again.to_string(), target.to_string());
    }
    let added = &filled[url.len()..];
    assert_eq!(added.matches(['&', '?']).count(), arguments.len(), "{filled}");
    assert!(!added.contains(['#', '/', ' ', '\r', '\n', '\\']), "{filled}");
}
