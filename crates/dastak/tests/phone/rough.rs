//! A bad network: sound is lost, late and out of order both ways, and the conversation comes to its result
//! all the same.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::net::UdpSocket;

use super::baresip::Baresip;
use super::kit::{Kit, alone, folder, question, text, until};
use super::server::understood_as;
use super::sounds::{level, samples, speech};

use crate::shows::Shows;

/// Packets of a thousand that are lost.
const LOST: u64 = 30;
/// Longest delay of a packet, milliseconds; packets overtake each other.
const LATE: u64 = 60;

/// What became of the packets.
#[derive(Debug, Default)]
struct Fate {
    carried: AtomicU64,
    lost: AtomicU64,
    overtaken: AtomicU64,
}

/// Next number of a sequence that its seed determines.
fn next(seed: &AtomicU64) -> u64 {
    let step =
        |seed: u64| seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let before = seed
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |seed| Some(step(seed)))
        .unwrap_or_else(|seed| seed);
    step(before) >> 33
}

async fn socket() -> Arc<UdpSocket> {
    Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port"))
}

fn port(socket: &UdpSocket) -> u16 {
    socket.local_addr().expect("an address").port()
}

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// The port of sound in a message, and the message with another one.
fn with_sound_at(message: &str, port: u16) -> Option<(u16, String)> {
    let (head, body) = message.split_once("\r\n\r\n")?;
    let line = body.lines().find(|line| line.starts_with("m=audio "))?;
    let found = line.split(' ').nth(1)?.parse().ok()?;
    let body = body.replacen(&format!("m=audio {found} "), &format!("m=audio {port} "), 1);
    let is_length = |line: &&str| {
        line.to_ascii_lowercase().starts_with("content-length:")
            || line.to_ascii_lowercase().starts_with("l:")
    };
    let mut lines: Vec<String> =
        head.split("\r\n").filter(|line| !is_length(line)).map(str::to_owned).collect();
    lines.push(format!("Content-Length: {}", body.len()));
    Some((found, format!("{}\r\n\r\n{body}", lines.join("\r\n"))))
}

/// Carries sound from where it arrives on to where it belongs, badly.
fn carry(from: Arc<UdpSocket>, out: Arc<UdpSocket>, to: SocketAddr, seed: Arc<AtomicU64>, fate: Arc<Fate>) {
    let newest = Arc::new(AtomicU64::new(0));
    tokio::spawn(async move {
        let mut bytes = vec![0; 2048];
        let mut number = 0;
        while let Ok((length, _)) = from.recv_from(&mut bytes).await {
            number += 1;
            if next(&seed) % 1000 < LOST {
                fate.lost.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            let (packet, out, late) =
                (bytes[..length].to_vec(), out.clone(), Duration::from_millis(next(&seed) % (LATE + 1)));
            let (mine, newest, fate) = (number, newest.clone(), fate.clone());
            tokio::spawn(async move {
                tokio::time::sleep(late).await;
                if newest.fetch_max(mine, Ordering::Relaxed) > mine {
                    fate.overtaken.fetch_add(1, Ordering::Relaxed);
                }
                fate.carried.fetch_add(1, Ordering::Relaxed);
                let _ = out.send_to(&packet, to).await;
            });
        }
    });
}

/// A trunk in front of a telephone: signalling passes as it is, sound goes through it. One call at a time.
async fn bad_network(phone: u16, seed: u64) -> (u16, Arc<Fate>) {
    let (trunk, toward_phone, toward_service) = (socket().await, socket().await, socket().await);
    let (fate, seed, trunk_port) = (Arc::new(Fate::default()), Arc::new(AtomicU64::new(seed)), port(&trunk));
    let told = fate.clone();
    tokio::spawn(async move {
        let (mut service, mut sound_of_service, mut sound_of_phone) = (None, None, None);
        let mut bytes = vec![0; 65_536];
        while let Ok((length, from)) = trunk.recv_from(&mut bytes).await {
            let message = String::from_utf8_lossy(&bytes[..length]).into_owned();
            let by_phone = from == local(phone);
            // What the phone is told to send its sound to leads to the service, and the other way round.
            let here = if by_phone { port(&toward_service) } else { port(&toward_phone) };
            let changed = with_sound_at(&message, here);
            let message = match changed {
                Some((found, message)) => {
                    *(if by_phone { &mut sound_of_phone } else { &mut sound_of_service }) = Some(found);
                    message
                }
                None => message,
            };
            if let (Some(of_service), Some(of_phone)) = (sound_of_service, sound_of_phone) {
                (sound_of_service, sound_of_phone) = (None, None);
                carry(
                    toward_phone.clone(),
                    toward_service.clone(),
                    local(of_service),
                    seed.clone(),
                    fate.clone(),
                );
                carry(
                    toward_service.clone(),
                    toward_phone.clone(),
                    local(of_phone),
                    seed.clone(),
                    fate.clone(),
                );
            }
            let to = if by_phone { service } else { Some(local(phone)) };
            if !by_phone {
                service = Some(from);
            }
            if let Some(to) = to {
                let _ = trunk.send_to(message.as_bytes(), to).await;
            }
        }
    });
    (trunk_port, told)
}

/// Ticks of 20 ms in which there is sound.
fn loud(samples: &[i16]) -> usize {
    samples.chunks(160).filter(|tick| level(tick) > 200).count()
}

/// Whether what arrived is what was sent, more or less: made-up sound bridges lost packets.
fn whole(arrived: usize, sent: usize) -> bool {
    arrived * 100 >= sent * 80 && arrived * 100 <= sent * 125
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_network_breaks_neither_the_conversation_nor_the_recording() {
    let _alone = alone().await;
    let seed = std::env::var("NETWORK_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(u64::from(std::process::id()));
    println!("NETWORK_SEED={seed}");
    let file = speech(&folder("speech"), "call me later", 0.2, 120.0);
    let phone = Baresip::silent(&["+919812301234"], true);
    let (trunk, fate) = bad_network(phone.port, seed).await;
    let (_server, ears) = understood_as("call me later").await;
    let ears: Vec<_> = ears.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let kit = Kit::at_trunk(trunk, &ears).await;
    let agent = kit.agent("outbound", question()).await;
    let id = kit.place(&agent, "1234").await;
    let call = phone.answering(&file, false, kit.ended(&id)).await;
    call.shows(json!({"endCause": "agent_ended", "outcome": "callback_requested"}));
    assert_eq!(call["extracted"]["when"], "call me later", "{call}");
    let (carried, lost, overtaken) = (
        fate.carried.load(Ordering::Relaxed),
        fate.lost.load(Ordering::Relaxed),
        fate.overtaken.load(Ordering::Relaxed),
    );
    assert!(carried > 400 && lost > 0 && overtaken > 0, "the network was bad: {fate:?}");
    let call = kit.when(&id, "the recording is ready", |call| call["recordingUrl"].is_string()).await;
    let recording = kit.fetch(&text(&call["recordingUrl"])).await;
    let (customer, agent) = (samples(&recording, 0), samples(&recording, 1));
    // What was said is there, on its side: as much sound as there was, but for what little the network ate.
    let said = loud(&samples(&std::fs::read(&file).expect("what the callee says"), 0));
    assert!(
        whole(loud(&customer), said),
        "{} of {said} ticks of the customer were recorded",
        loud(&customer)
    );
    let spoken = loud(&agent);
    assert!(spoken > 50, "the agent is on the right: {spoken}");
    // Lost packets leave no hole in time: the sides are as long as each other and as the call.
    let seconds = i64::try_from(customer.len() / 8000).expect("a length");
    let talked = call["durationSeconds"].as_i64().expect("a duration");
    assert_eq!(customer.len(), agent.len());
    assert!((seconds - talked).abs() <= 2, "{seconds} s were recorded of {talked} s");
    until("the callee's file is written", || !phone.heard().is_empty()).await;
    let arrived = loud(&samples(&phone.heard()[0], 0));
    assert!(whole(arrived, spoken), "{arrived} of {spoken} ticks of the agent arrived");
    kit.is_clean().await;
}
