//! SIP exchanges without sockets, for the fuzz targets.

use rsipstack::sip::{HasHeaders, Header, Method, Request, Response, SipMessage, Uri};

use super::address::{hop_of, safe_user, split_host};
use super::auth::{self, Credentials};
use super::dialog::Dialog;
use super::inbound::{caller, dialog_of};
use super::message::{cseq, header, read_uri, request, response, value};
use super::stream::{Frame, Incoming, LARGEST};
use crate::settings::Transport;

/// Whether the bytes are a message. The user agent catches what panics in here.
pub fn readable(bytes: &[u8]) -> bool {
    read(bytes).is_some()
}

fn read(bytes: &[u8]) -> Option<SipMessage> {
    super::message::readable(bytes, std::net::SocketAddr::from(([192, 0, 2, 1], 5060)), Transport::Udp)
}

/// The messages in what a connection carries, up to the place where it would be ended.
pub fn messages(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut incoming = Incoming::default();
    let mut found = Vec::new();
    for piece in pieces {
        incoming.add(piece);
        loop {
            match incoming.next() {
                Ok(Some(Frame::Message(bytes))) => {
                    assert!(bytes.len() <= LARGEST, "larger than a message may be");
                    found.push(bytes);
                }
                Ok(Some(Frame::KeepAlive)) => {}
                Ok(None) => break,
                Err(_) => return found,
            }
        }
    }
    found
}

/// Reads a datagram as the user agent does and answers it.
///
/// What is written back is read again with the same headers and no other ones: nothing that the other side
/// wrote becomes a line of its own.
pub fn exchange(bytes: &[u8]) {
    match read(bytes) {
        Some(SipMessage::Request(request)) => {
            refuse(&request, bytes.len());
            if let Some(dialog) = dialog_of(&request, "192.0.2.9:5060", Transport::Udp) {
                assert!(caller(&request).len() <= bytes.len());
                speak(dialog, &request);
            }
        }
        Some(SipMessage::Response(response)) => learn(&response),
        None => {}
    }
}

fn refuse(request: &Request, length: usize) {
    let more = vec![header("Unsupported", super::trunk::unknown_demands(request).unwrap_or_default())];
    let answer = response(request, 420, "tag", "agent", more, vec![]);
    let bytes = answer.to_bytes();
    assert!(bytes.len() <= 2 * length + 512, "{} bytes answer {length}", bytes.len());
    let Ok(SipMessage::Response(read)) = SipMessage::try_from(&bytes[..]) else {
        panic!("our answer is not read: {answer}")
    };
    same(answer.headers().iter(), read.headers().iter());
    assert_eq!(read.status_code.code(), 420);
    assert_eq!((value(&read, "Call-ID"), cseq(&read)), (value(request, "Call-ID"), cseq(request)));
}

/// A request within the call that this message began or answered.
fn speak(mut dialog: Dialog, message: &impl HasHeaders) {
    dialog.retarget(message);
    let ask = dialog.ask(Method::Bye, vec![], vec![]);
    let Some(uri) = read_uri(&ask.uri) else { return };
    assert_eq!(read_uri(&uri.to_string()), Some(uri.clone()), "the address of {}", ask.uri);
    let (host, _) = hop_of(&uri, Transport::Udp);
    let _ = split_host(&host);
    let mut headers =
        vec![header("Via", "SIP/2.0/UDP 192.0.2.9:5060;branch=z9hG4bKx;rport"), header("CSeq", "1 BYE")];
    headers.extend(ask.headers);
    let bye = request(ask.method, uri, headers, ask.body);
    let bytes = bye.to_bytes();
    let Ok(SipMessage::Request(read)) = SipMessage::try_from(&bytes[..]) else {
        panic!("our request is not read: {bye}")
    };
    assert_eq!(read.method, Method::Bye);
    same(bye.headers.iter(), read.headers().iter());
}

fn same<'a>(ours: impl Iterator<Item = &'a Header>, read: impl Iterator<Item = &'a Header>) {
    let names = |header: &Header| header.name().to_ascii_lowercase();
    let (ours, read): (Vec<_>, Vec<_>) = (ours.map(names).collect(), read.map(names).collect());
    assert_eq!(ours, read, "headers");
}

fn learn(response: &Response) {
    let mut dialog = Dialog {
        call_id: "call".into(),
        local: "<sip:a@192.0.2.9>;tag=ours".into(),
        local_tag: "ours".into(),
        remote: "<sip:b@192.0.2.1>".into(),
        remote_tag: None,
        target: "sip:b@192.0.2.1".into(),
        routes: vec![],
        contact: "<sip:a@192.0.2.9>".into(),
        remote_seq: None,
    };
    dialog.learn(response);
    speak(dialog.clone(), response);
    let Ok(uri) = Uri::try_from("sip:b@192.0.2.1") else { return };
    let invite = request(Method::Invite, uri, vec![], vec![]);
    let login = Credentials { user: "us\"er".into(), password: "secret".into() };
    for header in auth::answer(response, &invite, &login, false) {
        assert!(!header.value().contains(['\r', '\n']) && !header.value().contains("secret"), "{header}");
    }
}

/// What may stand in an address of ours, a host with its port, and a name beside an address.
pub fn address(text: &str) {
    let user = safe_user(text);
    assert!(user.len() <= 64 && safe_user(&user) == user);
    super::name_addr::fuzzed(text);
    if let Some((host, port)) = split_host(text) {
        assert!(!host.is_empty());
        let again = match (host.contains(':'), port) {
            (true, Some(port)) => format!("[{host}]:{port}"),
            (false, Some(port)) => format!("{host}:{port}"),
            (_, None) => host.clone(),
        };
        assert_eq!(split_host(&again), Some((host, port)), "{text}");
    }
    if let Some(uri) = super::message::safe_uri(text) {
        assert_eq!(super::message::safe_uri(&uri).as_deref(), Some(uri.as_str()), "{text}");
    }
}
