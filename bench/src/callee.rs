//! Telephones that answer: a small SIP peer over UDP, with one socket for the sound of all its calls. It is
//! made for measuring: packets are timed when they are read, not at a 20 ms tick, and a call costs next to
//! nothing. The rest of SIP is tested elsewhere.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::sound;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Samples in a packet.
const TICK: usize = 160;
/// Silence of the agent after which the customer speaks.
const POLITE: Duration = Duration::from_millis(400);
/// How long to wait for an answer of the agent.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was measured in one call.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// When its INVITE was read.
    pub invited: Option<Instant>,
    /// When its 200 was sent.
    pub answered: Option<Instant>,
    /// When the agent's first sound was read.
    pub first_sound: Option<Instant>,
    /// Each turn: when the last packet of the customer's speech was sent, and the first of the agent's answer
    /// read.
    pub turns: Vec<(Instant, Instant)>,
    /// Turns that were never answered.
    pub unanswered: usize,
    /// Whether a BYE was received or answered.
    pub over: bool,
}

enum Doing {
    /// Listens to the agent; whether anything was heard since.
    Listening(bool),
    /// Speaks; the next packet.
    Speaking(usize),
    /// Has spoken, and waits for the answer.
    Waiting(Instant),
}

struct Call {
    /// Where the sound is sent.
    remote: SocketAddr,
    doing: Doing,
    last_loud: Instant,
    sequence: u16,
    /// The number that was called.
    number: String,
    /// The answer to the INVITE, kept in case the INVITE is repeated.
    answer: String,
    /// The BYE that was sent.
    goodbye: String,
    from: SocketAddr,
    slot: u32,
}

#[derive(Default)]
struct State {
    calls: HashMap<String, Call>,
    /// Call-IDs by the port from which the other side sends its sound.
    by_port: HashMap<u16, String>,
    seen: HashMap<String, Seen>,
    next_slot: u32,
}

struct Shared {
    state: Mutex<State>,
    stop: AtomicBool,
    sip: UdpSocket,
    rtp: UdpSocket,
    speech: Vec<u8>,
}

/// The telephones. When dropped, they fall silent without hanging up.
pub struct Callee {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Callee {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Callee {
    /// Starts them; everything that a customer says takes `speech`.
    pub fn start(speech: Duration) -> Result<Self, String> {
        let text = |why: std::io::Error| why.to_string();
        let (sip, rtp) =
            (UdpSocket::bind((HERE, 0)).map_err(text)?, UdpSocket::bind((HERE, 0)).map_err(text)?);
        sip.set_read_timeout(Some(Duration::from_millis(100))).map_err(text)?;
        rtp.set_nonblocking(true).map_err(text)?;
        let samples = (speech.as_secs_f64() * 8000.0) as usize / TICK * TICK;
        let speech = sound::voice(samples, 8000).into_iter().map(sound::mu_law).collect();
        let shared =
            Arc::new(Shared { state: Mutex::default(), stop: AtomicBool::new(false), sip, rtp, speech });
        let (one, other) = (Arc::clone(&shared), Arc::clone(&shared));
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().name(name.into()).spawn(run).map_err(text)
        };
        let threads = vec![
            spawn("peer-sip", Box::new(move || one.signal()))?,
            spawn("peer-sound", Box::new(move || other.carry()))?,
        ];
        Ok(Self { shared, threads })
    }

    /// The SIP port.
    pub fn port(&self) -> u16 {
        self.shared.sip.local_addr().map_or(0, |address| address.port())
    }

    /// What was measured so far in the call to this number.
    pub fn seen(&self, number: &str) -> Seen {
        self.shared.lock().seen.get(number).cloned().unwrap_or_default()
    }

    /// What was measured in all calls.
    pub fn all_seen(&self) -> Vec<Seen> {
        self.shared.lock().seen.values().cloned().collect()
    }

    /// Hangs up every call.
    pub fn hang_up(&self) {
        let state = self.shared.lock();
        for call in state.calls.values() {
            let _ = self.shared.sip.send_to(call.goodbye.as_bytes(), call.from);
        }
    }

    /// Number of live calls.
    pub fn calls(&self) -> usize {
        self.shared.lock().calls.len()
    }
}

// --- signalling

fn header<'a>(message: &'a str, name: &str) -> Option<&'a str> {
    let found = |line: &'a str| {
        line.split_once(':')
            .filter(|(of, _)| of.trim().eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    };
    message.lines().take_while(|line| !line.is_empty()).find_map(found)
}

/// The answer to a request, with these lines at its end.
fn answer(request: &str, status: &str, tag: &str, rest: &str) -> String {
    let mut text = format!("SIP/2.0 {status}\r\n");
    for line in request.lines().take_while(|line| !line.is_empty()) {
        let name = line.split(':').next().unwrap_or_default().trim();
        if ["via", "from", "call-id", "cseq", "record-route"].contains(&name.to_ascii_lowercase().as_str()) {
            let _ = write!(text, "{line}\r\n");
        } else if name.eq_ignore_ascii_case("to") {
            let _ = if line.contains("tag=") {
                write!(text, "{line}\r\n")
            } else {
                write!(text, "{line};tag={tag}\r\n")
            };
        }
    }
    text + rest
}

const EMPTY: &str = "Content-Length: 0\r\n\r\n";

impl Shared {
    fn signal(&self) {
        let mut bytes = [0u8; 4096];
        while !self.stop.load(Ordering::Acquire) {
            let Ok((length, from)) = self.sip.recv_from(&mut bytes) else { continue };
            let now = Instant::now();
            let Ok(message) = std::str::from_utf8(&bytes[..length]) else { continue };
            let Some(id) = header(message, "Call-ID").map(str::to_owned) else { continue };
            match message.split(' ').next().unwrap_or_default() {
                "INVITE" => self.invited(message, &id, from, now),
                "BYE" => {
                    self.send(&answer(message, "200 OK", "x", EMPTY), from);
                    self.over(&id);
                }
                "OPTIONS" | "CANCEL" => self.send(&answer(message, "200 OK", "x", EMPTY), from),
                "SIP/2.0" if header(message, "CSeq").is_some_and(|value| value.ends_with("BYE")) => {
                    self.over(&id)
                }
                _ => {}
            }
        }
    }

    fn send(&self, text: &str, to: SocketAddr) {
        // The other side repeats a lost message.
        let _ = self.sip.send_to(text.as_bytes(), to);
    }

    fn over(&self, id: &str) {
        let mut state = self.lock();
        if let Some(call) = state.calls.remove(id) {
            state.by_port.remove(&call.remote.port());
            state.seen.entry(call.number).or_default().over = true;
        }
    }

    fn invited(&self, message: &str, id: &str, from: SocketAddr, now: Instant) {
        if let Some(call) = self.lock().calls.get(id) {
            return self.send(&call.answer, from);
        }
        let port = message
            .lines()
            .find_map(|line| line.strip_prefix("m=audio ")?.split(' ').next()?.parse::<u16>().ok());
        let number = message
            .split("sip:")
            .nth(1)
            .and_then(|rest| rest.split('@').next())
            .unwrap_or_default()
            .to_owned();
        let (Some(port), Some(to), Some(caller), Some(contact)) =
            (port, header(message, "To"), header(message, "From"), header(message, "Contact"))
        else {
            return self.send(&answer(message, "400 Bad Request", "x", EMPTY), from);
        };
        let here = self.sip.local_addr().map_or_else(|_| String::new(), |address| address.to_string());
        let rtp = self.rtp.local_addr().map_or(0, |address| address.port());
        let sdp = format!(
            "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio {rtp} RTP/AVP 0\r\na=sendrecv\r\n"
        );
        let tag = format!("{:x}", self.lock().next_slot);
        let about = format!(
            "Contact: <sip:peer@{here}>\r\nContent-Type: application/sdp\r\nContent-Length: {}\r\n\r\n{sdp}",
            sdp.len()
        );
        let ringing = answer(message, "180 Ringing", &tag, &format!("Contact: <sip:peer@{here}>\r\n{EMPTY}"));
        let accepted = answer(message, "200 OK", &tag, &about);
        let target = contact.split(['<', '>']).find(|part| part.starts_with("sip:")).unwrap_or(contact);
        let goodbye = format!(
            "BYE {target} SIP/2.0\r\nVia: SIP/2.0/UDP {here};branch=z9hG4bK{tag}bye{}\r\nMax-Forwards: 70\r\nFrom: {to};tag={tag}\r\nTo: {caller}\r\n\
             Call-ID: {id}\r\nCSeq: 1 BYE\r\n{EMPTY}",
            from.port()
        );
        {
            let mut state = self.lock();
            let slot = state.next_slot;
            state.next_slot += 1;
            state.by_port.insert(port, id.to_owned());
            let remote = SocketAddr::new(HERE, port);
            let call = Call {
                remote,
                doing: Doing::Listening(false),
                last_loud: now,
                sequence: 0,
                number: number.clone(),
                answer: accepted.clone(),
                goodbye,
                from,
                slot,
            };
            state.calls.insert(id.to_owned(), call);
            state.seen.insert(number.clone(), Seen { invited: Some(now), ..Seen::default() });
        }
        self.send(&ringing, from);
        self.send(&accepted, from);
        self.lock().seen.entry(number).or_default().answered = Some(Instant::now());
    }
}

// --- sound

impl Shared {
    fn carry(&self) {
        let start = Instant::now();
        let mut bytes = [0u8; 2048];
        for slot in 0u32.. {
            if self.stop.load(Ordering::Acquire) {
                return;
            }
            let due = start + Duration::from_millis(u64::from(slot));
            if let Some(wait) = due.checked_duration_since(Instant::now()) {
                std::thread::sleep(wait);
            }
            let state = &mut *self.lock();
            while let Ok((length, from)) = self.rtp.recv_from(&mut bytes) {
                self.hear(state, from.port(), bytes.get(12..length).unwrap_or_default());
            }
            let State { calls, seen, .. } = state;
            for call in calls.values_mut().filter(|call| call.slot % 20 == slot % 20) {
                self.tick(call, seen);
            }
        }
    }

    fn hear(&self, state: &mut State, port: u16, payload: &[u8]) {
        let Some(call) = state.by_port.get(&port).and_then(|id| state.calls.get_mut(id)) else { return };
        if !sound::is_loud(payload) {
            return;
        }
        let now = Instant::now();
        call.last_loud = now;
        let Some(seen) = state.seen.get_mut(&call.number) else { return };
        seen.first_sound.get_or_insert(now);
        if let Doing::Waiting(since) = call.doing {
            seen.turns.push((since, now));
        }
        if !matches!(call.doing, Doing::Speaking(_)) {
            call.doing = Doing::Listening(true);
        }
    }

    fn tick(&self, call: &mut Call, seen: &mut HashMap<String, Seen>) {
        let now = Instant::now();
        match call.doing {
            Doing::Listening(true) if now.duration_since(call.last_loud) > POLITE => {
                call.doing = Doing::Speaking(0)
            }
            Doing::Waiting(since) if now.duration_since(since) > PATIENCE => {
                if let Some(seen) = seen.get_mut(&call.number) {
                    seen.unanswered += 1;
                }
                call.doing = Doing::Speaking(0);
            }
            _ => {}
        }
        const SILENCE: [u8; TICK] = [0xff; TICK];
        let mut payload: &[u8] = &SILENCE;
        if let Doing::Speaking(at) = call.doing {
            payload = self.speech.get(at..at + TICK).unwrap_or(&SILENCE);
            call.doing = Doing::Speaking(at + TICK);
        }
        let mut packet = [0u8; 12 + TICK];
        packet[0] = 0x80;
        packet[2..4].copy_from_slice(&call.sequence.to_be_bytes());
        packet[4..8].copy_from_slice(&(u32::from(call.sequence) * TICK as u32).to_be_bytes());
        packet[8..12].copy_from_slice(&(call.slot + 1).to_be_bytes());
        packet[12..].copy_from_slice(payload);
        call.sequence = call.sequence.wrapping_add(1);
        let _ = self.rtp.send_to(&packet, call.remote);
        if matches!(call.doing, Doing::Speaking(at) if at >= self.speech.len()) {
            call.doing = Doing::Waiting(Instant::now());
        }
    }
}
