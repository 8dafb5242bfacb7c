//! SIPp as the telephones of a soak. Depending on the number's last digits they answer and talk, are busy, or
//! ring until the caller gives up.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::sound;

/// Last digits of numbers that are busy.
pub const BUSY: &str = "11";
/// Last digits of numbers where nobody picks up.
pub const NOBODY: &str = "22";
/// Milliseconds after which a customer hangs up if the agent has not.
const PATIENCE: u32 = 30_000;

/// A running SIPp; ended when dropped.
pub struct Sipp {
    process: Child,
    folder: PathBuf,
}

impl Drop for Sipp {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A free port of this machine.
pub fn free_port() -> Result<u16, String> {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").map_err(|why| why.to_string())?;
    socket.local_addr().map(|address| address.port()).map_err(|why| why.to_string())
}

impl Sipp {
    /// Starts it in a folder, on a port.
    pub fn start(folder: &Path, port: u16) -> Result<Self, String> {
        let text = |why: std::io::Error| why.to_string();
        std::fs::write(folder.join("telephones.xml"), scenario()).map_err(text)?;
        // Two seconds of speech and four of silence, repeatedly, so that the agent is listened to and
        // sometimes interrupted.
        let mut voice: Vec<u8> = sound::voice(16_000, 8000).into_iter().map(sound::mu_law).collect();
        voice.resize(48_000, 0xff);
        std::fs::write(folder.join("voice.ul"), voice).map_err(text)?;
        let out = File::create(folder.join("sipp.out")).map_err(text)?;
        let process = Command::new("sipp")
            .current_dir(folder)
            .args([
                "-sf",
                "telephones.xml",
                "-i",
                "127.0.0.1",
                "-mi",
                "127.0.0.1",
                "-p",
                &port.to_string(),
                "-nostdin",
            ])
            .args(["-mp", "40000", "-rtp_threadtasks", "25", "-l", "1000"])
            .args(["-trace_err", "-error_file", "sipp.errors"])
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(Stdio::null())
            .spawn()
            .map_err(|why| format!("sipp: {why}"))?;
        Ok(Self { process, folder: folder.to_owned() })
    }

    /// Checks that it still runs; the error is the end of its output.
    pub fn alive(&mut self) -> Result<(), String> {
        match self.process.try_wait() {
            Ok(None) => Ok(()),
            _ => Err(format!(
                "SIPp ended: {}",
                crate::live::tail(&self.folder.join("sipp.errors"))
                    + &crate::live::tail(&self.folder.join("sipp.out"))
            )),
        }
    }
}

fn answer(status: &str, cseq: &str, rest: &str) -> String {
    format!(
        "<send><![CDATA[\nSIP/2.0 {status}\n[last_Via:]\n[last_From:]\n[last_To:];tag=[pid]SIPpTag01[call_number]\n[last_Call-ID:]\n{cseq}\n\
         Contact: <sip:peer@[local_ip]:[local_port]>\n{rest}\n]]></send>\n"
    )
}

const SDP: &str = "Content-Type: application/sdp\nContent-Length: [len]\n\nv=0\no=- 1 1 IN IP4 [local_ip]\ns=-\nc=IN IP4 [media_ip]\nt=0 0\n\
    m=audio [auto_media_port] RTP/AVP 0\na=sendrecv\n";
const EMPTY: &str = "Content-Length: 0\n";

fn scenario() -> String {
    let last = "[last_CSeq:]";
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE scenario SYSTEM \"sipp.dtd\">\n<scenario name=\"telephones\">\n",
    );
    text += &format!(
        "<recv request=\"INVITE\"><action>\n\
         <ereg regexp=\"sip:[+]?[0-9]*{BUSY}@\" search_in=\"hdr\" header=\"To:\" check_it=\"false\" assign_to=\"busy\"/>\n\
         <ereg regexp=\"sip:[+]?[0-9]*{NOBODY}@\" search_in=\"hdr\" header=\"To:\" check_it=\"false\" assign_to=\"nobody\"/>\n\
         <ereg regexp=\".*\" search_in=\"hdr\" header=\"From:\" assign_to=\"from\"/>\n\
         <ereg regexp=\".*\" search_in=\"hdr\" header=\"To:\" assign_to=\"to\"/>\n\
         <ereg regexp=\"sip:[^>]*\" search_in=\"hdr\" header=\"Contact:\" assign_to=\"contact\"/>\n</action></recv>\n\
         <nop next=\"busy\" test=\"busy\"/>\n"
    );
    text += &answer("180 Ringing", last, EMPTY);
    text += "<nop next=\"nobody\" test=\"nobody\"/>\n<pause milliseconds=\"300\"/>\n";
    text += &answer("200 OK", last, SDP).replace("<send>", "<send retrans=\"500\">");
    text += &format!(
        "<recv request=\"ACK\"/>\n<nop><action><exec rtp_stream=\"voice.ul,-1,0\"/></action></nop>\n\
         <recv request=\"BYE\" timeout=\"{PATIENCE}\" ontimeout=\"hangup\"/>\n"
    );
    // An existing dialog already has its tag in To.
    text += &answer("200 OK", last, EMPTY).replace(";tag=[pid]SIPpTag01[call_number]", "");
    text += "<nop next=\"end\"/>\n<label id=\"hangup\"/>\n<send retrans=\"500\"><![CDATA[\nBYE [$contact] SIP/2.0\nVia: SIP/2.0/UDP [local_ip]:[local_port];branch=[branch]\n\
        Max-Forwards: 70\nFrom:[$to];tag=[pid]SIPpTag01[call_number]\nTo:[$from]\n[last_Call-ID:]\nCSeq: 1 BYE\nContent-Length: 0\n\n]]></send>\n\
        <recv request=\"BYE\" optional=\"true\" next=\"crossed\"/>\n<recv response=\"200\"/>\n<nop next=\"end\"/>\n<label id=\"crossed\"/>\n";
    text += &answer("200 OK", last, EMPTY).replace(";tag=[pid]SIPpTag01[call_number]", "");
    text += "<nop next=\"end\"/>\n<label id=\"busy\"/>\n";
    text += &answer("486 Busy Here", last, EMPTY);
    text +=
        "<recv request=\"ACK\"/>\n<nop next=\"end\"/>\n<label id=\"nobody\"/>\n<recv request=\"CANCEL\"/>\n";
    text += &answer("200 OK", last, EMPTY);
    text += &answer("487 Request Terminated", "CSeq: 1 INVITE", EMPTY);
    text += "<recv request=\"ACK\"/>\n<label id=\"end\"/>\n<nop/>\n</scenario>\n";
    text
}
