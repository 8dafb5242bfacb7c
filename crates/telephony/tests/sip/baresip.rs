//! baresip picks up.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use telephony::sip::{EndedBy, Leg, LegEvent};

use super::support::{Kit, Recorder, answered, event, free_port, order, ports, rest, tone, trunk, until};

struct Baresip {
    port: u16,
    control: u16,
    folder: PathBuf,
    child: Child,
}

impl Baresip {
    /// Plays a tone of this length, then hangs up; `mode` is `auto` or `manual`.
    async fn start(mode: &str, seconds: usize) -> Self {
        // It takes the port after that of SIP as well, for TLS.
        let (port, control, media) = (ports().0, free_port(), ports());
        let folder = std::env::temp_dir().join(format!("telephony-baresip-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        wav(&folder.join("callee.wav"), &tone(seconds * 1000));
        std::fs::write(folder.join("contacts"), "").expect("written");
        let account = format!(
            "<sip:+919812345678@127.0.0.1:{port}>;regint=0;answermode={mode};audio_codecs=PCMU/8000/1,PCMA/8000/1\n"
        );
        std::fs::write(folder.join("accounts"), account).expect("written");
        let here = folder.display();
        let config = format!(
            "sip_listen 127.0.0.1:{port}\nnet_interface 127.0.0.1\nrtp_ports {}-{}\naudio_source aufile,{here}/callee.wav\naudio_player aubridge,peer1\naudio_alert aubridge,alert1\n\
             ausrc_srate 8000\nauplay_srate 8000\nausrc_channels 1\nauplay_channels 1\njitter_buffer_type fixed\njitter_buffer_delay 1-5\nmodule_path /usr/lib/baresip/modules\n\
             module g711.so\nmodule aufile.so\nmodule sndfile.so\nmodule aubridge.so\nsnd_path {here}\nmodule_tmp uuid.so\nmodule_tmp account.so\nmodule_app menu.so\nmodule_app ctrl_tcp.so\n\
             ctrl_tcp_listen 127.0.0.1:{control}\n",
            media.0, media.1
        );
        std::fs::write(folder.join("config"), config).expect("written");
        let log = std::fs::File::create(folder.join("log")).expect("a file");
        let child = Command::new("baresip")
            .arg("-f")
            .arg(&folder)
            .arg("-v")
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(Stdio::null())
            .spawn()
            .expect("baresip is needed for these tests (Debian package baresip-core)");
        let peer = Self { port, control, folder, child };
        until("baresip listens", || {
            let sip = super::sockets::taken("udp", port);
            let commands = TcpStream::connect(("127.0.0.1", control)).is_ok();
            (sip && commands)
                .then_some(())
                .ok_or_else(|| std::fs::read_to_string(peer.folder.join("log")).unwrap_or_default())
        })
        .await;
        peer
    }

    /// One command, which must be taken.
    fn command(&self, command: &str, params: &str) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.control)).expect("control");
        stream.set_read_timeout(Some(Duration::from_secs(2))).expect("a time-out");
        let body = format!("{{\"command\":\"{command}\",\"params\":\"{params}\",\"token\":\"t\"}}");
        stream.write_all(format!("{}:{body},", body.len()).as_bytes()).expect("sent");
        let mut buffer = [0; 4096];
        let length = stream.read(&mut buffer).unwrap_or_default();
        let answer = String::from_utf8_lossy(&buffer[..length]).into_owned();
        // News of the call may come before the answer.
        assert!(
            answer.contains("\"ok\":true") || answer.contains("\"event\":true"),
            "{command}: {answer}\n{}",
            std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
        );
    }

    /// Loudness of what it heard.
    fn heard(&self) -> f64 {
        let files = std::fs::read_dir(&self.folder).expect("the folder");
        let dump = files
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.to_string_lossy().ends_with("-dec.wav"));
        let bytes = dump.and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
        let samples: Vec<f64> = bytes
            .get(44..)
            .unwrap_or_default()
            .chunks_exact(2)
            .map(|pair| f64::from(i16::from_le_bytes([pair[0], pair[1]])))
            .collect();
        (samples.iter().map(|sample| sample * sample).sum::<f64>() / samples.len().max(1) as f64).sqrt()
    }
}

impl Drop for Baresip {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        drop(std::fs::remove_dir_all(&self.folder));
    }
}

fn wav(path: &Path, samples: &[i16]) {
    let data = samples.len() as u32 * 2;
    let mut bytes = Vec::new();
    bytes.extend(b"RIFF");
    bytes.extend((36 + data).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16u32.to_le_bytes());
    bytes.extend([1, 0, 1, 0]);
    bytes.extend(8000u32.to_le_bytes());
    bytes.extend(16000u32.to_le_bytes());
    bytes.extend([2, 0, 16, 0]);
    bytes.extend(b"data");
    bytes.extend(data.to_le_bytes());
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    std::fs::write(path, bytes).expect("written");
}

async fn dialled(peer: &Baresip) -> (Kit, Leg) {
    let mut over = trunk(peer.port);
    over.number_format = telephony::settings::NumberFormat::E164;
    let kit = Kit::start(vec![over]).await;
    let leg = kit.user_agent.dial(order("baresip")).await.expect("baresip takes the call");
    (kit, leg)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sound_keys_and_hold() {
    let peer = Baresip::start("auto", 20).await;
    let (kit, mut leg) = dialled(&peer).await;
    answered(&mut leg).await;
    let ear = Recorder::default();
    let line = leg.control.connect(Box::new(ear.clone())).expect("sound");
    line.play(&tone(1500));
    until("we hear baresip", || {
        (ear.loudness(400) > 3000.0).then_some(()).ok_or(ear.loudness(400).to_string())
    })
    .await;
    peer.command("sndcode", "7");
    until("its key arrives", || (ear.digits() == "7").then_some(()).ok_or(ear.digits())).await;
    peer.command("hold", "");
    assert_eq!(event(&mut leg).await, LegEvent::Held(true));
    peer.command("resume", "");
    assert_eq!(event(&mut leg).await, LegEvent::Held(false));
    until("our sound was sent", || {
        (line.played_ms() >= 1400).then_some(()).ok_or(line.played_ms().to_string())
    })
    .await;
    leg.control.hang_up().await;
    let (_, end) = rest(&mut leg).await;
    assert_eq!(end.by, EndedBy::Us);
    until("baresip heard us", || (peer.heard() > 1000.0).then_some(()).ok_or(peer.heard().to_string())).await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_hangs_up_or_declines() {
    let hangs_up = async {
        let peer = Baresip::start("auto", 20).await;
        let (kit, mut leg) = dialled(&peer).await;
        answered(&mut leg).await;
        peer.command("hangup", "");
        let (_, end) = rest(&mut leg).await;
        assert_eq!(end.by, EndedBy::Them);
        kit.finish().await;
    };
    let declines = async {
        let peer = Baresip::start("manual", 20).await;
        let (kit, mut leg) = dialled(&peer).await;
        assert_eq!(event(&mut leg).await, LegEvent::Ringing);
        peer.command("hangup", "");
        let (_, end) = rest(&mut leg).await;
        // 486 or 487: it depends on what baresip thinks of the call.
        let status = end.status.expect("a final answer");
        assert!(matches!(status, 486 | 487), "{status}");
        assert_eq!(
            (end.by, end.fact),
            (EndedBy::Them, telephony::sip::outcome::of_final(status, None, true))
        );
        kit.finish().await;
    };
    let held = async {
        let peer = Baresip::start("manual", 20).await;
        let (kit, mut leg) = dialled(&peer).await;
        peer.command("accept", "");
        answered(&mut leg).await;
        leg.control.hold(true).await;
        leg.control.hold(false).await;
        leg.control.hang_up().await;
        rest(&mut leg).await;
        kit.finish().await;
    };
    tokio::join!(hangs_up, declines, held);
}
