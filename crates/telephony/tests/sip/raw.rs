//! A carrier made by hand: it says what a test wants, from the address that the test wants.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

/// Nothing that is waited for takes longer on a healthy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// An address of the loopback.
pub fn here(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
}

/// A datagram socket at an address of the loopback.
pub async fn socket(last: u8) -> UdpSocket {
    UdpSocket::bind((here(last), 0)).await.expect("a port")
}

/// How many datagrams wait in a socket.
pub fn received(socket: &UdpSocket) -> usize {
    let mut bytes = [0; 2048];
    let mut count = 0;
    // A socket that nobody has waited on learns of its datagrams only when it is asked.
    let copy = copy_of(socket);
    while copy.recv_from(&mut bytes).is_ok() {
        count += 1;
    }
    count
}

fn copy_of(socket: &UdpSocket) -> std::net::UdpSocket {
    use std::os::fd::AsFd as _;
    std::net::UdpSocket::from(socket.as_fd().try_clone_to_owned().expect("a copy"))
}

/// One call of a carrier, as its caller.
pub struct Call {
    pub name: String,
    /// The number that is called.
    pub to: String,
    /// The caller, without a tag.
    pub from: String,
    /// Where the user agent listens.
    pub user_agent: SocketAddr,
    /// What the carrier's Contact says.
    pub contact: String,
    /// Where the SDP says that sound goes.
    pub sound: SocketAddr,
    /// Our tag, once answered.
    pub tag: Option<String>,
    /// Acknowledges refusals without having read them.
    pub forges: bool,
    sequence: u32,
}

impl Call {
    pub fn new(name: &str, user_agent: SocketAddr, contact: SocketAddr, sound: SocketAddr) -> Self {
        Self {
            name: name.into(),
            to: "+918040000000".into(),
            from: "<sip:+919800000001@carrier>".into(),
            user_agent,
            contact: format!("<sip:caller@{contact}>"),
            sound,
            tag: None,
            forges: false,
            sequence: 1,
        }
    }

    /// A request of the call, with these further headers.
    pub fn request(&self, method: &str, transport: &str, more: &str, body: &str) -> String {
        let Self { name, to, from, user_agent, contact, sequence, .. } = self;
        let tag = self.tag.as_ref().map(|tag| format!(";tag={tag}")).unwrap_or_default();
        // The ACK of a 2xx is a transaction of its own, the ACK of a refusal and a CANCEL are not.
        let own = if self.tag.is_some() { method } else { "first" };
        let kind = if body.is_empty() { "" } else { "Content-Type: application/sdp\r\n" };
        format!(
            "{method} sip:{to}@{user_agent} SIP/2.0\r\nVia: SIP/2.0/{transport} {user_agent};branch=z9hG4bK{name}{sequence}{own};rport\r\n\
             From: {from};tag=theirs\r\nTo: <sip:{to}@{user_agent}>{tag}\r\nCall-ID: {name}\r\nCSeq: {sequence} {method}\r\n\
             Max-Forwards: 70\r\nContact: {contact}\r\n{more}{kind}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    pub fn sdp(&self) -> String {
        let (ip, port) = (self.sound.ip(), self.sound.port());
        format!("v=0\r\no=- 1 1 IN IP4 {ip}\r\ns=-\r\nc=IN IP4 {ip}\r\nt=0 0\r\nm=audio {port} RTP/AVP 0\r\n")
    }

    pub fn invite(&self, transport: &str, more: &str) -> String {
        self.request("INVITE", transport, more, &self.sdp())
    }

    /// Sends an INVITE from this socket and waits for an answer from 200 on, which it returns.
    pub async fn ask(&mut self, from: &UdpSocket, more: &str) -> String {
        from.send_to(self.invite("UDP", more).as_bytes(), self.user_agent).await.expect("sent");
        let answer = self.answer(from).await;
        if answer.starts_with("SIP/2.0 200") {
            self.learn(&answer);
        } else {
            let tag = answer
                .split_once(";tag=theirs")
                .and_then(|(_, rest)| rest.split_once(";tag="))
                .map(|(_, tag)| tag.lines().next().unwrap_or(""));
            let ack = self.request("ACK", "UDP", "", "");
            let ack = match tag {
                Some(tag) if !self.forges => ack.replacen(
                    &format!("@{}>\r\nCall-ID", self.user_agent),
                    &format!("@{}>;tag={tag}\r\nCall-ID", self.user_agent),
                    1,
                ),
                _ => ack,
            };
            from.send_to(ack.as_bytes(), self.user_agent).await.expect("sent");
            self.sequence += 1;
        }
        answer
    }

    /// The next answer from 200 on to the INVITE sent last.
    pub async fn answer(&self, to: &UdpSocket) -> String {
        let (call, number) =
            (format!("Call-ID: {}\r\n", self.name), format!("CSeq: {} INVITE\r\n", self.sequence));
        loop {
            let message = message(to).await;
            let is_final = message.starts_with("SIP/2.0 ") && !message.starts_with("SIP/2.0 1");
            if is_final && message.contains(&call) && message.contains(&number) {
                return message;
            }
        }
    }

    fn learn(&mut self, answer: &str) {
        let to = answer.lines().find(|line| line.starts_with("To:")).expect("a To");
        self.tag = Some(to.split_once(";tag=").expect("a tag").1.trim().to_owned());
    }

    pub async fn acknowledge(&self, from: &UdpSocket) {
        from.send_to(self.request("ACK", "UDP", "", "").as_bytes(), self.user_agent).await.expect("sent");
    }

    /// A request inside of the call, numbered anew.
    pub fn next(&mut self, method: &str, body: &str) -> String {
        self.sequence += 1;
        self.request(method, "UDP", "", body)
    }
}

/// The next message to this socket.
pub async fn message(socket: &UdpSocket) -> String {
    let mut bytes = vec![0; 65_535];
    let (length, _) =
        timeout(PATIENCE, socket.recv_from(&mut bytes)).await.expect("a message in time").expect("a message");
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

/// Where an answer says that sound goes.
pub fn sound_of(answer: &str) -> SocketAddr {
    let of = |start: &str| {
        answer.lines().find_map(|line| line.strip_prefix(start)).expect("a line of SDP").trim().to_owned()
    };
    let port: u16 = of("m=audio ").split(' ').next().and_then(|port| port.parse().ok()).expect("a port");
    SocketAddr::new(of("c=IN IP4 ").parse().expect("an address"), port)
}

/// Packets of µ-law, one after the other.
pub struct Sound {
    number: u16,
    source: u32,
}

impl Sound {
    pub fn new(source: u32) -> Self {
        Self { number: 1, source }
    }

    pub fn packet(&mut self) -> Vec<u8> {
        let mut bytes = vec![0x80, 0];
        bytes.extend(self.number.to_be_bytes());
        bytes.extend((u32::from(self.number) * 160).to_be_bytes());
        bytes.extend(self.source.to_be_bytes());
        bytes.extend([0x12; 160]);
        self.number += 1;
        bytes
    }
}

/// A connection from an address of the loopback; none when it was not even accepted.
pub async fn connection(last: u8, to: SocketAddr) -> Option<TcpStream> {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind((here(last), 0).into()).expect("a port");
    timeout(PATIENCE, socket.connect(to)).await.expect("connected in time").ok()
}

/// Sends bytes and reads until the other side closes; what it said until then.
pub async fn until_closed(stream: &mut TcpStream, bytes: &[u8]) -> Vec<u8> {
    // A side that has closed already tells so here, or below.
    drop(stream.write_all(bytes).await);
    let mut said = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut said)).await;
    assert!(read.is_ok(), "not closed: {}", String::from_utf8_lossy(&said));
    said
}

/// Waits a moment: for what is repeated until a condition holds.
pub async fn moment() {
    tokio::time::sleep_until(tokio::time::Instant::now() + Duration::from_millis(20)).await;
}
