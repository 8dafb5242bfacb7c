//! baresip, a telephone of its own.

use std::io::Write;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::kit::{PATIENCE, folder};

/// A telephone that plays a file into its calls and keeps what it heard.
pub struct Baresip {
    process: Child,
    folder: PathBuf,
    pub port: u16,
    control: u16,
}

/// A port that nobody uses now.
pub fn free_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port()
}

impl Baresip {
    /// Starts one that is called at these numbers; `answers` says whether it picks up by itself. What it says is over when the file is, and then
    /// it hangs up.
    pub fn start(numbers: &[&str], says: &Path, answers: bool) -> Self {
        let folder = folder("baresip");
        let (port, control, sound) = (free_port(), TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port(), free_port() & !1);
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
        let account = |number: &&str| format!("<sip:{number}@127.0.0.1:{port}>;regint=0;answermode={mode};audio_codecs=PCMU/8000/1,PCMA/8000/1\n");
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
            assert!(started.elapsed() < PATIENCE, "baresip did not start: {}", std::fs::read_to_string(folder.join("log")).unwrap_or_default());
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

    /// What it heard so far: the files of its calls, oldest first.
    pub fn heard(&self) -> Vec<Vec<u8>> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&self.folder).unwrap().filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("-dec.wav")));
        files.sort();
        files.iter().map(|path| std::fs::read(path).unwrap()).collect()
    }
}

impl Drop for Baresip {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
