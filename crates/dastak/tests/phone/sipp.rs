//! SIPp, which answers as a script says.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::baresip::free_port;
use super::kit::folder;

/// A SIPp that waits for one call.
pub struct Sipp {
    process: Child,
    folder: PathBuf,
    pub port: u16,
}

/// A script that sends these answers, `(status, reason, pause before it in milliseconds)`, to one INVITE.
pub fn answers(answers: &[(u16, &str, u32)]) -> String {
    let mut steps = String::new();
    for (status, reason, pause) in answers {
        if *pause > 0 {
            steps.push_str(&format!("<pause milliseconds=\"{pause}\"/>\n"));
        }
        steps.push_str(&format!(
            "<send><![CDATA[\nSIP/2.0 {status} {reason}\n[last_Via:]\n[last_From:]\n[last_To:];tag=[pid]SIPpTag01[call_number]\n[last_Call-ID:]\n\
             [last_CSeq:]\nContact: <sip:[local_ip]:[local_port]>\nContent-Length: 0\n\n]]></send>\n"
        ));
    }
    let ack = if answers.last().is_some_and(|(status, ..)| *status >= 300) {
        "<recv request=\"ACK\"/>\n"
    } else {
        ""
    };
    format!(
        "<?xml version=\"1.0\"?>\n<scenario name=\"answers\">\n<recv request=\"INVITE\"/>\n{steps}{ack}</scenario>\n"
    )
}

impl Sipp {
    pub fn start(script: &str) -> Self {
        let folder = folder("sipp");
        std::fs::write(folder.join("script.xml"), script).unwrap();
        let port = free_port();
        let process = Command::new("sipp")
            .current_dir(&folder)
            .args([
                "-sf",
                "script.xml",
                "-i",
                "127.0.0.1",
                "-mi",
                "127.0.0.1",
                "-p",
                &port.to_string(),
                "-m",
                "1",
                "-nostdin",
                "-timeout",
                "60s",
            ])
            .args(["-trace_err", "-error_file", "errors", "-trace_msg", "-message_file", "messages"])
            .stdout(std::fs::File::create(folder.join("out")).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|why| panic!("sipp is missing ({why}); run `make packages`"));
        Self { process, folder, port }
    }

    /// What was sent and received.
    pub fn messages(&self) -> String {
        std::fs::read_to_string(self.folder.join("messages")).unwrap_or_default()
    }

    /// Waits for its end; whether the call went as the script says.
    pub async fn succeeded(&mut self) -> bool {
        super::kit::until("SIPp ends", || self.process.try_wait().expect("a process").is_some()).await;
        let out = std::fs::read_to_string(self.folder.join("out")).unwrap_or_default();
        out.lines().any(|line| line.contains("Successful call") && line.trim_end().ends_with('1'))
    }
}

impl Drop for Sipp {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
