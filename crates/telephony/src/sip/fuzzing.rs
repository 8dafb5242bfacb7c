//! Entry points of the fuzz targets: untrusted SIP messages and bodies, parsed as the user agent parses them.

use rsipstack::sip::{HasHeaders, SipMessage};

use super::message::{cseq, parameter, q850, retry_after, sdp_of, uri_of, user_of, value, values};
use super::stream::{Frame, Incoming, LARGEST};
use super::timers::{Session, min_se};
use crate::settings::Transport;

/// A datagram: the message with everything that is read of it. A panic of the stack's reader counts, although
/// the user agent survives it.
pub fn message(bytes: &[u8]) {
    let from = std::net::SocketAddr::from(([127, 0, 0, 1], 5060));
    let Some(message) = super::message::readable(bytes, from, Transport::Udp) else { return };
    match &message {
        SipMessage::Request(request) => {
            of_any(request, &request.body);
            drop(Session::answer(request));
            drop(super::trunk::unknown_demands(request));
            super::auth::fuzzed_proof(value(request, "Authorization").unwrap_or_default());
            super::requests::fuzzed(value(request, "Content-Type").unwrap_or_default(), &request.body);
        }
        SipMessage::Response(response) => {
            of_any(response, &response.body);
            let _ = (Session::settled(response, true), min_se(response));
            super::auth::fuzzed(response);
        }
    }
}

fn of_any(message: &impl HasHeaders, body: &[u8]) {
    let _ = (q850(message), retry_after(message), cseq(message), sdp_of(message, body));
    for name in ["From", "To", "Contact", "P-Asserted-Identity", "Refer-To"] {
        let Some(value) = value(message, name) else { continue };
        let _ = (parameter(value, "tag"), uri_of(value).and_then(user_of));
        drop(uri_of(value).and_then(super::message::safe_uri));
    }
    drop(values(message, "Record-Route"));
}

/// What a connection carries, in pieces: each with its length before it.
pub fn stream(mut bytes: &[u8]) {
    let mut incoming = Incoming::default();
    while let Some((length, rest)) = bytes.split_first() {
        let (piece, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        bytes = rest;
        incoming.add(piece);
        loop {
            match incoming.next() {
                Ok(Some(Frame::Message(bytes))) => {
                    assert!(bytes.len() <= LARGEST, "larger than a message may be");
                    message(&bytes);
                }
                Ok(Some(Frame::KeepAlive)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

/// Bodies of requests inside of a call: keys of an INFO, the status in a NOTIFY.
pub fn body(bytes: &[u8]) {
    for kind in ["application/dtmf-relay", "application/dtmf"] {
        super::requests::fuzzed(kind, bytes);
    }
}
