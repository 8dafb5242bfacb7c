//! baresip, a telephone of its own.

use std::future::Future;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use super::kit::{PATIENCE, folder};
use super::sounds::{level, silence};

/// So many ticks of 20 ms with sound are speech; after so many without sound the speaker has finished.
const SPEECH_TICKS: usize = 25;
const PAUSE_TICKS: usize = 45;

/// A telephone that plays files into its calls and keeps what it heard.
pub struct Baresip {
    process: Child,
    folder: PathBuf,
    pub port: u16,
    control: u16,
}

/// A port that nobody uses now. It is below those that the system gives away by itself: between this look and
/// its use, nobody else takes it.
pub fn free_port() -> u16 {
    const FIRST: u16 = 11_000;
    const PORTS: u16 = 8_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() * 61 % u32::from(PORTS)).expect("small");
    for _ in 0..PORTS / 10 {
        let port = FIRST + (start + NEXT.fetch_add(10, Ordering::Relaxed)) % PORTS / 10 * 10;
        if super::sockets::is_free(port) {
            return port;
        }
    }
    panic!("no free port");
}

impl Baresip {
    /// Starts one that is called at these numbers and says nothing; `answers` says whether it picks up by
    /// itself.
    pub fn silent(numbers: &[&str], answers: bool) -> Self {
        Self::start(numbers, &silence(&folder("silence"), 150.0), answers)
    }

    /// Starts one that is called at these numbers; `answers` says whether it picks up by itself. What it says
    /// is over when the file is, and then it hangs up.
    pub fn start(numbers: &[&str], says: &Path, answers: bool) -> Self {
        let folder = folder("baresip");
        // Ten ports are one telephone's.
        let (port, control, sound) = (free_port(), free_port(), free_port());
        let config = format!(
            "sip_listen 127.0.0.1:{port}\nnet_interface 127.0.0.1\nrtp_ports {sound}-{}\naudio_source aufile,{}\naudio_player aubridge,peer{port}\n\
             audio_alert aubridge,alert{port}\nausrc_srate 8000\nauplay_srate 8000\nausrc_channels 1\nauplay_channels 1\njitter_buffer_type fixed\n\
             jitter_buffer_delay 1-5\nmodule_path /usr/lib/baresip/modules\nmodule g711.so\nmodule aufile.so\nmodule sndfile.so\nmodule aubridge.so\n\
             snd_path {}\nmodule_tmp uuid.so\nmodule_tmp account.so\nmodule_app menu.so\nmodule_app ctrl_tcp.so\nctrl_tcp_listen 127.0.0.1:{control}\n",
            sound + 8,
            says.display(),
            folder.display()
        );
        std::fs::write(folder.join("config"), config).unwrap();
        std::fs::write(folder.join("contacts"), "").unwrap();
        let mode = if answers { "auto" } else { "manual" };
        let account = |number: &&str| {
            format!(
                "<sip:{number}@127.0.0.1:{port}>;regint=0;answermode={mode};audio_codecs=PCMU/8000/1,PCMA/8000/1\n"
            )
        };
        std::fs::write(folder.join("accounts"), numbers.iter().map(account).collect::<String>()).unwrap();
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let process = Command::new("baresip")
            .args(["-f", folder.to_str().unwrap(), "-v"])
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|why| panic!("baresip is missing ({why}); run `make packages`"));
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", control)).is_err() {
            assert!(
                started.elapsed() < PATIENCE,
                "baresip did not start: {}",
                std::fs::read_to_string(folder.join("log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { process, folder, port, control }
    }

    /// Presses a key of its menu: `accept`, `hangup`, `dial`, `sndcode`, `hold`, `resume`.
    pub fn command(&self, command: &str, parameters: &str) {
        let body = format!("{{\"command\":\"{command}\",\"params\":\"{parameters}\",\"token\":\"t\"}}");
        let mut stream = TcpStream::connect(("127.0.0.1", self.control)).expect("baresip listens");
        stream.write_all(format!("{}:{body},", body.len()).as_bytes()).expect("a command");
    }

    /// Says this now, in every call.
    pub fn say(&self, file: &Path) {
        self.command("ausrc", &format!("aufile,{}", file.display()));
    }

    /// Says this once somebody has spoken and waits, for the first time or every time; everything else goes
    /// on meanwhile.
    pub async fn answering<T>(&self, file: &Path, every_time: bool, work: impl Future<Output = T>) -> T {
        let answers = async {
            let mut answered = 0;
            loop {
                let newest = self.files().len().saturating_sub(1);
                if self.was_spoken_to(newest, answered) {
                    answered = self.position(newest);
                    self.say(file);
                    if !every_time {
                        std::future::pending::<()>().await;
                    }
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::select! {
            done = work => done,
            () = answers => unreachable!("it answers for ever"),
        }
    }

    /// How far the sound goes that it heard so far in one of its calls, in samples. Its time is the sound's
    /// own, however slow the machine is.
    pub fn position(&self, call: usize) -> usize {
        self.heard_from(call, 0).len()
    }

    /// Whether somebody has spoken since then and finished.
    fn was_spoken_to(&self, call: usize, since: usize) -> bool {
        let loud: Vec<bool> =
            self.heard_from(call, since).chunks_exact(160).map(|tick| level(tick) > 200).collect();
        let spoken = loud.iter().filter(|loud| **loud).count() >= SPEECH_TICKS;
        spoken && loud.iter().rev().take_while(|loud| !**loud).count() >= PAUSE_TICKS
    }

    /// Samples of a call; the file's header is not right before its end.
    fn heard_from(&self, call: usize, since: usize) -> Vec<i16> {
        const HEADER: usize = 44;
        let bytes = self.files().get(call).and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
        let samples = bytes.get(HEADER..).unwrap_or_default().chunks_exact(2).skip(since);
        samples.map(|sample| i16::from_le_bytes([sample[0], sample[1]])).collect()
    }

    /// What it heard so far: the files of its calls, oldest first.
    pub fn heard(&self) -> Vec<Vec<u8>> {
        self.files().iter().map(|path| std::fs::read(path).unwrap()).collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&self.folder).unwrap().filter_map(|entry| Some(entry.ok()?.path())).collect();
        files
            .retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("-dec.wav")));
        files.sort();
        files
    }
}

impl Drop for Baresip {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
