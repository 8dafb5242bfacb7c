//! Sound: how many lines one sound thread carries. Each line runs a full voice detector on a caller who
//! speaks all the time, and speaks itself. The other side is a separate process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use telephony::media::{Agreed, Codec, Direction, Ear, Engine, Figures, Line, Settings, Sources, Tick};

use crate::sound;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const FIRST_PORT: u16 = 40_000;
const STEPS: [usize; 8] = [50, 100, 150, 200, 250, 300, 400, 500];
const WARM_UP: Duration = Duration::from_secs(2);
const TIME: Duration = Duration::from_secs(15);

/// A voice detector as ear.
struct Detector {
    last: i16,
    pending: Vec<i16>,
    detector: Box<earshot::Detector>,
    voiced: Arc<AtomicU64>,
}

impl Ear for Detector {
    fn tick(&mut self, tick: Tick<'_>) {
        let silence = [0; telephony::media::FRAME];
        // The detector wants twice the line's rate.
        for &sample in tick.heard.unwrap_or(&silence) {
            self.pending.extend([self.last.midpoint(sample), sample]);
            self.last = sample;
        }
        while let Some((window, _)) = self.pending.split_first_chunk::<256>() {
            if self.detector.predict_i16(window) >= 0.5 {
                self.voiced.fetch_add(1, Ordering::Relaxed);
            }
            self.pending.drain(..256);
        }
    }

    fn digit(&mut self, _: char) {}

    fn starved(&mut self, _: u32) {}
}

/// What both sides say for so many seconds.
fn speech(seconds: usize) -> Vec<i16> {
    sound::voice(seconds * 8000, 8000)
}

/// What the other side says, over and over, as its packets carry it.
fn payload() -> Vec<u8> {
    speech(4).into_iter().map(sound::mu_law).collect()
}

/// The other side of all lines, as a separate process: `bench lines peer <lines>`. It ends when its standard
/// input ends.
fn peer(lines: usize) -> Result<(), String> {
    let text = |why: std::io::Error| why.to_string();
    let socket = UdpSocket::bind((HERE, 0)).map_err(text)?;
    socket.set_nonblocking(true).map_err(text)?;
    println!("{}", socket.local_addr().map_err(text)?.port());
    std::io::stdout().flush().map_err(text)?;
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0; 1]);
        std::process::exit(0);
    });
    let sound = payload();
    let start = Instant::now();
    let mut bytes = [0u8; 2048];
    for slot in 0u32.. {
        let due = start + Duration::from_millis(u64::from(slot));
        if let Some(wait) = due.checked_duration_since(Instant::now()) {
            std::thread::sleep(wait);
        }
        let tick = slot / 20;
        for line in (0..lines).filter(|line| *line as u32 % 20 == slot % 20) {
            let at = (tick as usize * 160 + line * 1111) % (sound.len() - 160);
            let mut packet = vec![0x80, 0];
            packet.extend((tick as u16).to_be_bytes());
            packet.extend((tick * 160).to_be_bytes());
            packet.extend((line as u32).to_be_bytes());
            packet.extend(&sound[at..at + 160]);
            let _ = socket.send_to(&packet, (HERE, FIRST_PORT + 2 * line as u16));
        }
        while socket.recv_from(&mut bytes).is_ok() {}
    }
    Ok(())
}

/// CPU seconds of the sound thread.
fn cpu_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks
        .filter_map(|task| {
            let stat = std::fs::read_to_string(task.path().join("stat")).ok()?;
            stat.contains("(sound-0)").then_some(())?;
            // Nanoseconds of CPU time; `stat` counts in hundredths of a second and by sampling.
            let schedule = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            schedule.split_ascii_whitespace().next()?.parse::<f64>().ok()
        })
        .sum::<f64>()
        / 1e9
}

struct Round {
    lines: Vec<Line>,
    other: Child,
    voiced: Arc<AtomicU64>,
}

impl Drop for Round {
    fn drop(&mut self) {
        let _ = self.other.kill();
        let _ = self.other.wait();
    }
}

fn connect(engine: &Engine, count: usize) -> Result<Round, String> {
    let text = |why: std::io::Error| why.to_string();
    let mut command = Command::new(std::env::current_exe().map_err(text)?);
    command.args(["lines", "peer", &count.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut other = command.spawn().map_err(text)?;
    let mut port = String::new();
    BufReader::new(other.stdout.take().ok_or("no output")?).read_line(&mut port).map_err(text)?;
    let port: u16 = port.trim().parse().map_err(|_| "no port")?;
    let mut round = Round { lines: Vec::new(), other, voiced: Arc::default() };
    for _ in 0..count {
        let socket = engine.open(HERE).map_err(|why| why.to_string())?;
        let agreed = Agreed {
            remote: SocketAddr::new(HERE, port),
            codec: Codec::Pcmu,
            payload_type: 0,
            telephone_event: Some(101),
            ptime_ms: 20,
            direction: Direction::SendRecv,
            srtp: None,
        };
        let ear =
            Detector { last: 0, pending: Vec::new(), detector: Box::default(), voiced: round.voiced.clone() };
        round.lines.push(engine.connect(socket, agreed, Sources::default(), Box::new(ear)));
    }
    Ok(round)
}

fn row(count: usize, before: &Figures, after: &Figures, cpu: f64, wall: f64) -> f64 {
    let ticks = (after.ticks - before.ticks + after.skipped_ticks - before.skipped_ticks).max(1) as f64;
    let late = (after.late_ticks - before.late_ticks + after.skipped_ticks - before.skipped_ticks) as f64;
    let share = 100.0 * late / ticks;
    println!(
        "| {count} | {share:.3} % | {:.1} % | {:.3} % | {:.1} µs | {} | {} |",
        100.0 * cpu / wall,
        100.0 * cpu / wall / count as f64,
        1e6 * cpu / ticks,
        after.packets_in - before.packets_in,
        after.lost - before.lost,
    );
    share
}

/// Prints the table.
pub fn run(arguments: &[String]) -> Result<(), String> {
    if let [kind, lines] = arguments
        && kind == "peer"
    {
        return peer(lines.parse().map_err(|_| "a number of lines")?);
    }
    println!(
        "One sound thread, PCMU both ways, a voice detector in each line.\n\n\
         | lines | ticks later than 30 ms | of a core | of a core a line | CPU a tick | packets heard | lost |\n|---|---|---|---|---|---|---|"
    );
    let mut most = 0;
    for count in STEPS {
        // A new engine for each round, because the peer learns the ports from its first packets.
        let ports = (FIRST_PORT, FIRST_PORT + 2 * count as u16);
        let engine = Engine::start(Settings { ports, threads: 1 }).map_err(|why| why.to_string())?;
        let round = connect(&engine, count)?;
        std::thread::sleep(WARM_UP);
        let (figures, cpu, start) = (engine.figures(), cpu_seconds(), Instant::now());
        let speech = speech(TIME.as_secs() as usize);
        for line in &round.lines {
            line.play(&speech);
        }
        std::thread::sleep(TIME);
        let share =
            row(count, &figures, &engine.figures(), cpu_seconds() - cpu, start.elapsed().as_secs_f64());
        if round.voiced.load(Ordering::Relaxed) == 0 {
            return Err("no voice was detected: nothing was measured".into());
        }
        if share >= 1.0 {
            break;
        }
        most = count;
    }
    println!("\n{most} lines with less than 1 % of the ticks later than 30 ms.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample of µ-law (ITU-T G.711).
    fn decoded(byte: u8) -> i16 {
        let (sign, exponent, mantissa) = (!byte & 0x80, (!byte >> 4) & 7, i16::from(!byte & 0x0f));
        let size = (((mantissa << 3) + 132) << exponent) - 132;
        if sign == 0 { size } else { -size }
    }

    /// Otherwise the run would measure a detector that has nothing to do.
    #[test]
    fn the_detector_hears_what_the_other_side_says() {
        let voiced = Arc::new(AtomicU64::new(0));
        let mut ear =
            Detector { last: 0, pending: Vec::new(), detector: Box::default(), voiced: voiced.clone() };
        let sound: Vec<i16> = payload().into_iter().map(decoded).collect();
        for frame in sound.as_chunks().0 {
            ear.tick(Tick { heard: Some(frame), said: None, late_ms: 0 });
        }
        let heard = voiced.load(Ordering::Relaxed);
        assert!(heard > 120, "{heard} of 250 windows");
    }
}
