//! Helpers to read and write SIP headers and messages.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rsipstack::sip::headers::make_header;
use rsipstack::sip::{HasHeaders, Header, Method, Request, Response, SipMessage, StatusCode, Uri, Version};
use rsipstack::transaction::key::{TransactionKey, TransactionRole};
use rsipstack::transaction::random_text;
use rsipstack::transport::SipConnection;

use super::name_addr;
pub(super) use super::name_addr::{parameter, uri_of, user_of};
use crate::settings::Transport;

/// Methods that are supported.
pub(super) const ALLOW: &str = "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, NOTIFY, REFER";
/// Extensions that are supported.
pub(super) const SUPPORTED: &str = "100rel, timer";
/// Put on a final answer that the stack made up: a time-out or a broken connection.
pub(super) const MADE_UP: &str = "X-Made-Up";

pub(super) fn header(name: &str, value: impl Into<String>) -> Header {
    make_header(name, value.into())
}

/// First value of a header; its full name, in any case.
pub(super) fn value<'a>(message: &'a impl HasHeaders, name: &str) -> Option<&'a str> {
    message
        .headers()
        .iter()
        .find(|header| header.name().eq_ignore_ascii_case(name))
        .map(|header| header.value().trim())
}

/// All values of a header that is a list, split at commas outside quotes and angle brackets.
pub(super) fn values(message: &impl HasHeaders, name: &str) -> Vec<String> {
    let headers = message.headers().iter().filter(|header| header.name().eq_ignore_ascii_case(name));
    headers.flat_map(|header| name_addr::list(header.value())).collect()
}

/// Whether a list header names this token.
pub(super) fn lists(message: &impl HasHeaders, name: &str, token: &str) -> bool {
    values(message, name).iter().any(|one| one.eq_ignore_ascii_case(token))
}

/// The cause of a `Reason: Q.850;cause=17` header.
pub(super) fn q850(message: &impl HasHeaders) -> Option<u16> {
    values(message, "Reason")
        .iter()
        .filter(|one| one.get(..5).is_some_and(|protocol| protocol.eq_ignore_ascii_case("q.850")))
        .find_map(|one| parameter(one, "cause")?.parse().ok())
}

/// Seconds of a `Retry-After`, at most an hour.
pub(super) fn retry_after(message: &impl HasHeaders) -> Option<u64> {
    let digits: String =
        value(message, "Retry-After")?.chars().take_while(char::is_ascii_digit).take(9).collect();
    digits.parse::<u64>().ok().map(|seconds| seconds.min(3600))
}

/// Number and method of the CSeq.
pub(super) fn cseq(message: &impl HasHeaders) -> Option<(u32, String)> {
    let (number, method) = value(message, "CSeq")?.split_once(char::is_whitespace)?;
    Some((number.parse().ok()?, method.trim().to_owned()))
}

/// Whether the stack made this answer up, because none came or the connection broke.
pub(super) fn made_up(response: &Response) -> bool {
    value(response, MADE_UP).is_some()
}

/// The body as text, when it is SDP (or does not say what it is).
pub(super) fn sdp_of(message: &impl HasHeaders, body: &[u8]) -> Option<String> {
    let kind = value(message, "Content-Type").unwrap_or("application/sdp");
    let kind = kind.split(';').next().unwrap_or_default().trim();
    (!body.is_empty() && kind.eq_ignore_ascii_case("application/sdp"))
        .then(|| String::from_utf8_lossy(body).into_owned())
}

/// Headers of a body of SDP.
pub(super) fn sdp_body(sdp: String) -> (Header, Vec<u8>) {
    (header("Content-Type", "application/sdp"), sdp.into_bytes())
}

/// Reads an address so that it is written as it was read. The stack percent-encodes a user when it writes, `%`
/// too, but does not decode it when it reads: `sip:%2B91…` would become `sip:%252B91…`, another address. So it
/// is decoded here.
pub(super) fn read_uri(text: &str) -> Option<Uri> {
    let mut uri = Uri::try_from(text).ok()?;
    if let Some(auth) = &mut uri.auth {
        auth.user = decoded(&auth.user, |_| true);
        auth.password = auth.password.as_ref().map(|password| decoded(password, |_| true));
    }
    Some(uri)
}

/// An address without percent-encoding that is not needed: the stack adds some when it reads a header.
pub(super) fn plain_uri(text: &str) -> String {
    decoded(text, |byte| byte.is_ascii_alphanumeric() || b"-_.!~*+".contains(&byte))
}

/// Undoes the percent-encoding of these bytes; a text in which they would not be UTF-8 stays as it is.
fn decoded(text: &str, which: impl Fn(u8) -> bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = (*first == b'%')
            .then(|| after.get(..2))
            .flatten()
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())
            .filter(|byte| which(*byte));
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// A SIP address of the other side, parsed and written anew, so that nothing else can hide in it.
pub(super) fn safe_uri(text: &str) -> Option<String> {
    let written = read_uri(text)?.to_string();
    (!written.contains(['<', '>', '\r', '\n', ' ', '"'])).then_some(written)
}

pub(super) fn new_tag() -> String {
    random_text(12)
}

/// A fresh branch of a `Via`.
pub(super) fn new_branch() -> String {
    format!("z9hG4bK{}", random_text(20))
}

/// A request of these headers; none of them may be a `Content-Length`.
pub(super) fn request(method: Method, uri: Uri, headers: Vec<Header>, body: Vec<u8>) -> Request {
    Request { method, uri, version: Version::V2, headers: headers.into(), body }
}

/// An answer to a request: it repeats the headers that it must, and adds our tag to a `To` that has none.
pub(super) fn response(
    to: &Request,
    status: u16,
    tag: &str,
    agent: &str,
    more: Vec<Header>,
    body: Vec<u8>,
) -> Response {
    let mut headers: Vec<Header> = Vec::new();
    for one in to.headers.iter() {
        match one {
            Header::Via(_) | Header::From(_) | Header::CallId(_) | Header::CSeq(_) => {
                headers.push(one.clone())
            }
            Header::RecordRoute(_) if (101..300).contains(&status) => headers.push(one.clone()),
            Header::To(to) => {
                let text = to.value();
                if status > 100 && parameter(text, "tag").is_none() {
                    headers.push(header("To", format!("{text};tag={tag}")));
                } else {
                    headers.push(one.clone());
                }
            }
            _ => {}
        }
    }
    headers.push(header("Server", agent));
    headers.extend(more);
    headers.push(header("Content-Length", body.len().to_string()));
    Response {
        status_code: StatusCode::from(status),
        wire_reason: None,
        version: Version::V2,
        headers: headers.into(),
        body,
    }
}

/// Parses a message, and everything that the stack will parse of it, so that what goes wrong goes wrong here.
/// Its `Via` is made to say where it came from.
pub(super) fn readable(bytes: &[u8], from: SocketAddr, transport: Transport) -> Option<SipMessage> {
    let read = AssertUnwindSafe(|| {
        let message = SipMessage::try_from(bytes).ok()?;
        let message = SipConnection::update_msg_received(message, from, transport.carried()).ok()?;
        match &message {
            SipMessage::Request(request) => {
                TransactionKey::from_request(request, TransactionRole::Server).ok()?
            }
            SipMessage::Response(response) => {
                TransactionKey::from_response(response, TransactionRole::Client).ok()?
            }
        };
        let _ = message.to_bytes();
        Some(message)
    });
    catch_unwind(read).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(lines: &str) -> Request {
        Request::try_from(format!("BYE sip:a@b SIP/2.0\r\n{}\r\n\r\n", lines.replace('\n', "\r\n")).as_str())
            .expect("a request")
    }

    #[test]
    fn what_is_encoded_in_an_address_is_not_encoded_once_more() {
        for (text, expected) in [
            ("sip:%2B919812345678@h", "sip:+919812345678@h"),
            ("sip:a%20b%40c:p%3aq@h;x=%41", "sip:a%20b%40c:p%3Aq@h;x=%41"),
            ("sip:a%0D%0Ab@h", "sip:a%0D%0Ab@h"),
            ("sip:50%@h", "sip:50%25@h"),
            ("sip:%FF@h", "sip:%25FF@h"),
            ("sip:h", "sip:h"),
        ] {
            let written = read_uri(text).expect("an address").to_string();
            assert_eq!(written, expected, "{text}");
            assert_eq!(read_uri(&written).expect("an address").to_string(), written, "{text}");
        }
        assert_eq!(plain_uri("sip:%2B91%40x%3B@h"), "sip:+91%40x%3B@h");
    }

    #[test]
    fn causes_and_lists() {
        let bye = message(
            "Reason: SIP;cause=200;text=\"a, b\", Q.850;cause=38\nRoute: <sip:a;lr>, <sip:b,c;lr>\nRoute: <sip:d>\nSupported: timer,100rel\nRetry-After: 120 (soon);duration=3",
        );
        assert_eq!(q850(&bye), Some(38));
        assert_eq!(values(&bye, "Route"), ["<sip:a;lr>", "<sip:b,c;lr>", "<sip:d>"]);
        assert!(lists(&bye, "supported", "TIMER") && !lists(&bye, "supported", "gruu"));
        assert_eq!(retry_after(&bye), Some(120));
        assert_eq!(q850(&message("Reason: é;cause=3")), None);
        assert_eq!(q850(&message("Reason: Q.850;text=\"a>;cause=3, \\\"\";cause=17")), Some(17));
        assert_eq!(q850(&message("CSeq: 1 BYE")), None);
    }

    #[test]
    fn an_answer_repeats_what_it_must() {
        let invite = message(
            "Via: SIP/2.0/UDP a;branch=z\nRecord-Route: <sip:p;lr>\nFrom: <sip:x@y>;tag=1\nTo: <sip:z@y>\nCall-ID: c\nCSeq: 3 BYE\nSubject: no",
        );
        let answer = response(&invite, 200, "t", "ua", vec![], b"x".to_vec());
        let text = answer.to_string();
        for line in [
            "Via: SIP/2.0/UDP a;branch=z",
            "Record-Route: <sip:p;lr>",
            "To: <sip:z@y>;tag=t",
            "Server: ua",
            "Content-Length: 1",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("Subject"));
        assert!(!response(&invite, 100, "t", "ua", vec![], vec![]).to_string().contains("tag=t"));
        assert_eq!(cseq(&answer), Some((3, "BYE".into())));
    }
}
