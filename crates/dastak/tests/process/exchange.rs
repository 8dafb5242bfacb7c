//! A telephone exchange that speaks just enough SIP over UDP to be dialled, counts what reached it, and never
//! forgets a call.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::sync::watch;

/// Longer than any condition takes: a test that reaches it has failed.
pub const PATIENCE: Duration = Duration::from_secs(150);

/// What reached the exchange.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// INVITEs that open a call, by dialled number: Call-ID and branch of each; a repeated datagram counts
    /// once.
    pub invites: BTreeMap<String, BTreeSet<(String, String)>>,
    /// Call-IDs that were hung up.
    pub byes: BTreeSet<String>,
    /// Call-IDs that the callee hung up, and the service answered it.
    pub left: BTreeSet<String>,
    /// Datagrams of calls, repeated ones too.
    pub datagrams: u64,
    /// Whether any sound came: an agent is on a line.
    pub sound: bool,
    /// Call-IDs of calls that ring or are answered, and where each was made.
    pub lines: BTreeMap<String, SocketAddr>,
    /// The most of them that there ever were at once.
    pub most_lines: usize,
    /// Contacts that are registered now.
    pub registered: BTreeSet<String>,
    /// The most of them that there ever were at once.
    pub most_registered: usize,
}

impl Seen {
    /// The one Call-ID under which a number was dialled.
    pub fn call_id(&self, number: &str) -> Option<String> {
        self.invites.get(number)?.iter().next().map(|(id, _)| id.clone())
    }
}

/// The exchange. The last digit of a dialled number says what happens: 1 nothing at all (unless a test lets it be picked up), 2 `100` and no more,
/// 3 rings for ever, 4 rings and is answered, 6 is refused by the exchange itself, anything else is busy.
/// Every REGISTER is accepted.
pub struct Exchange {
    pub port: u16,
    /// Where sound is taken.
    sound: u16,
    socket: Arc<UdpSocket>,
    seen: Arc<Mutex<Seen>>,
    calls: Arc<Mutex<BTreeMap<String, (String, SocketAddr)>>>,
    changed: watch::Receiver<u64>,
    quiet: Arc<AtomicBool>,
}

impl Exchange {
    pub async fn start() -> Self {
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await.expect("a port"));
        // Sound is taken and not heard; see [`Exchange::stay_quiet`].
        let ear = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
        let sound = ear.local_addr().expect("an address").port();
        let port = socket.local_addr().expect("an address").port();
        let (seen, calls): (Arc<Mutex<Seen>>, Arc<Mutex<BTreeMap<_, _>>>) = Default::default();
        let (change, changed) = watch::channel(0);
        let (heard, hears) = (seen.clone(), change.clone());
        let quiet = Arc::new(AtomicBool::new(false));
        let stays = quiet.clone();
        tokio::spawn(async move {
            let mut bytes = vec![0; 2_048];
            while let Ok((length, from)) = ear.recv_from(&mut bytes).await {
                if stays.load(Ordering::SeqCst) && length > 12 {
                    // The same packet, in which nothing is said: µ-law and A-law write silence in their ways.
                    let silence = if bytes[1] & 0x7f == 8 { 0xd5 } else { 0xff };
                    bytes[12..length].fill(silence);
                    let _ = ear.send_to(&bytes[..length], from).await;
                }
                if !std::mem::replace(&mut heard.lock().unwrap().sound, true) {
                    hears.send_modify(|count| *count += 1);
                }
            }
        });
        let (here, kept, open) = (socket.clone(), seen.clone(), calls.clone());
        tokio::spawn(async move {
            let mut bytes = vec![0; 65_536];
            while let Ok((length, from)) = here.recv_from(&mut bytes).await {
                let message = String::from_utf8_lossy(&bytes[..length]).into_owned();
                for answer in take(&message, from, sound, port, &kept, &open) {
                    let _ = here.send_to(answer.as_bytes(), from).await;
                }
                change.send_modify(|count| *count += 1);
            }
        });
        Self { port, sound, socket, seen, calls, changed, quiet }
    }

    /// Phones that answer stay on the line and send silence. Without this they send nothing at all, and their calls
    /// are given up after a while.
    pub fn stay_quiet(&self) {
        self.quiet.store(true, Ordering::SeqCst);
    }

    /// Settings of a service that has this exchange as its only trunk.
    pub fn trunk(&self) -> String {
        self.trunk_with("channels = 1000")
    }

    /// The same with these settings of the trunk.
    pub fn trunk_with(&self, more: &str) -> String {
        format!(
            "[{{name = \"exchange\", address = \"127.0.0.1:{}\", options_interval = 0, {more}}}]",
            self.port
        )
    }

    pub fn seen(&self) -> Seen {
        self.seen.lock().unwrap().clone()
    }

    /// Where the INVITEs came from.
    pub fn sources(&self) -> BTreeSet<SocketAddr> {
        self.calls.lock().unwrap().values().map(|(_, from)| *from).collect()
    }

    /// Waits until something holds of what was seen.
    pub async fn until(&self, what: &str, holds: impl Fn(&Seen) -> bool) {
        let mut changed = self.changed.clone();
        let waited =
            tokio::time::timeout(PATIENCE, changed.wait_for(|_| holds(&self.seen.lock().unwrap()))).await;
        assert!(waited.is_ok(), "{what}: never seen; {:?}", self.seen());
    }

    /// A callee of whom nothing was heard picks up.
    pub async fn pick_up(&self, number: &str) {
        let id = self.seen().call_id(number).expect("dialled");
        let (invite, service) = self.calls.lock().unwrap().get(&id).cloned().expect("a call");
        let text = answer(&invite, "200 OK", self.port, &offer(self.sound));
        self.socket.send_to(text.as_bytes(), service).await.expect("sent");
    }

    /// The callee hangs up, and says so until the service has answered.
    pub async fn hang_up(&self, call_id: &str) {
        let (invite, service) = self.calls.lock().unwrap().get(call_id).cloned().expect("a call");
        let contact = header(&invite, "Contact").split(['<', '>']).nth(1).unwrap_or_default().to_owned();
        let (from, to) = (header(&invite, "From"), header(&invite, "To"));
        let message = format!(
            "BYE {contact} SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:{};branch=z9hG4bKbye{call_id}\r\nMax-Forwards: 70\r\nFrom: {to};tag=exchange\r\n\
             To: {from}\r\nCall-ID: {call_id}\r\nCSeq: 7 BYE\r\nContent-Length: 0\r\n\r\n",
            self.port
        );
        self.seen.lock().unwrap().lines.remove(call_id);
        let again = async {
            let mut pace = tokio::time::interval(Duration::from_millis(500));
            loop {
                pace.tick().await;
                self.socket.send_to(message.as_bytes(), service).await.expect("sent");
            }
        };
        tokio::select! {
            () = self.until("the answer to BYE", |seen| seen.left.contains(call_id)) => {}
            () = again => {}
        }
    }
}

fn header(message: &str, name: &str) -> String {
    let line = message
        .lines()
        .find(|line| line.split(':').next().is_some_and(|found| found.eq_ignore_ascii_case(name)));
    line.and_then(|line| line.split_once(':')).map_or_else(String::new, |(_, value)| value.trim().to_owned())
}

fn answer(request: &str, status: &str, port: u16, body: &str) -> String {
    let mut text = format!("SIP/2.0 {status}\r\n");
    for line in request.lines().filter(|line| line.to_ascii_lowercase().starts_with("via:")) {
        text.push_str(&format!("{line}\r\n"));
    }
    let to = header(request, "To");
    let tag = if to.contains("tag=") { "" } else { ";tag=exchange" };
    text.push_str(&format!("From: {}\r\nTo: {to}{tag}\r\n", header(request, "From")));
    text.push_str(&format!(
        "Call-ID: {}\r\nCSeq: {}\r\n",
        header(request, "Call-ID"),
        header(request, "CSeq")
    ));
    text.push_str(&format!("Contact: <sip:exchange@127.0.0.1:{port}>\r\n"));
    if !body.is_empty() {
        text.push_str("Content-Type: application/sdp\r\n");
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    text
}

/// What a phone of the exchange offers.
fn offer(sound: u16) -> String {
    format!(
        "v=0\r\no=exchange 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio {sound} RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n"
    )
}

/// Takes a message down and says what is answered.
fn take(
    message: &str,
    from: SocketAddr,
    sound: u16,
    port: u16,
    seen: &Mutex<Seen>,
    calls: &Mutex<BTreeMap<String, (String, SocketAddr)>>,
) -> Vec<String> {
    let Some((method, rest)) = message.split_once(' ') else { return Vec::new() };
    let id = header(message, "Call-ID");
    if !matches!(method, "OPTIONS") {
        seen.lock().unwrap().datagrams += 1;
    }
    match method {
        "INVITE" => {
            let number = rest.split([':', '@']).nth(1).unwrap_or_default().to_owned();
            let branch = header(message, "Via")
                .split("branch=")
                .nth(1)
                .unwrap_or_default()
                .split(';')
                .next()
                .unwrap_or_default()
                .to_owned();
            seen.lock().unwrap().invites.entry(number.clone()).or_default().insert((id.clone(), branch));
            calls.lock().unwrap().insert(id.clone(), (message.to_owned(), from));
            if matches!(number.chars().last(), Some('3' | '4')) {
                let mut seen = seen.lock().unwrap();
                seen.lines.insert(id, from);
                seen.most_lines = seen.most_lines.max(seen.lines.len());
            }
            match number.chars().last() {
                Some('1') => Vec::new(),
                Some('2') => vec![answer(message, "100 Trying", port, "")],
                Some('3') => vec![answer(message, "180 Ringing", port, "")],
                Some('4') => {
                    vec![
                        answer(message, "180 Ringing", port, ""),
                        answer(message, "200 OK", port, &offer(sound)),
                    ]
                }
                Some('6') => vec![answer(message, "503 Service Unavailable", port, "")],
                _ => vec![answer(message, "486 Busy Here", port, "")],
            }
        }
        "BYE" => {
            let mut seen = seen.lock().unwrap();
            seen.lines.remove(&id);
            seen.byes.insert(id);
            vec![answer(message, "200 OK", port, "")]
        }
        "REGISTER" => {
            let contact = header(message, "Contact");
            let who = contact.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
            let mut seen = seen.lock().unwrap();
            if contact.contains("expires=0") {
                seen.registered.remove(&who);
            } else {
                seen.registered.insert(who);
            }
            seen.most_registered = seen.most_registered.max(seen.registered.len());
            vec![answer(message, "200 OK", port, "")]
        }
        "CANCEL" => {
            seen.lock().unwrap().lines.remove(&id);
            let invite = calls.lock().unwrap().get(&id).map(|(invite, _)| invite.clone());
            let ended = invite.map(|invite| answer(&invite, "487 Request Terminated", port, ""));
            std::iter::once(answer(message, "200 OK", port, "")).chain(ended).collect()
        }
        "OPTIONS" => vec![answer(message, "200 OK", port, "")],
        "SIP/2.0" if header(message, "CSeq").ends_with("BYE") => {
            seen.lock().unwrap().left.insert(id);
            Vec::new()
        }
        _ => Vec::new(),
    }
}
