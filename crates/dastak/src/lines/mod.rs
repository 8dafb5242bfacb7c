//! Live calls of this node, from the dial to the last fact. A call is a leg (`domain::ports::Leg`) with a `voice`
//! conversation; over which carrier the leg runs is not known here. `open` alone chooses between SIP trunks and the
//! sandbox's phones.
//!
//! | file | holds |
//! |---|---|
//! | `open` | the composition root: which gateways dial |
//! | `live` | the live calls of this node, and how they end with it |
//! | `carrier` | the carrier of live calls, as the use cases know it |
//! | `carriers` | the list of carriers: which gateway dials over which |
//! | `session` | one call: its leg, its conversation, its facts in order |
//! | `facts` | storing facts in order, with retries while the store is unavailable |
//! | `services` | what a conversation requests of the service: tools, knowledge, transfers |
//! | `passages` | prefetch of knowledge base passages while the customer speaks |
//! | `transfer` | transfers: blind (referral) and attended (a second leg, bridged) |
//! | `inbound` | incoming calls |
//! | `figures` | metrics of calls and of speech and language providers |
//! | `sandbox`, `room` | the phones of the sandbox, and the limit of its concurrent calls |
//!
//! One node owns a call. It is dialled after its intent is stored; its facts are reported after the outcome of the dial is
//! stored ([`Carrier::settled`]). The node renews its lease on live calls every few seconds (`jobs/lines`); the store ends
//! the calls of a node whose lease expired. What a fact means is decided in `app::calls`.

#![allow(
    clippy::disallowed_methods,
    reason = "lines exist on a real clock only: the peers at their other end have one"
)]

mod carrier;
mod carriers;
mod facts;
mod figures;
mod inbound;
mod live;
mod open;
mod passages;
mod room;
mod sandbox;
mod services;
mod session;
mod transfer;

pub use self::carrier::LineCarrier;
pub use self::figures::{LineFigures, ProviderFigures};
pub use self::live::{LEASE, Lines};

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The first line of a source that names SIP.
    fn names_sip(source: &str) -> Option<&str> {
        source.lines().find(|line| line.contains("telephony::sip") || line.contains("telephony::{"))
    }

    /// Calls are written on the port of legs. What chooses the implementation is `open`, which names no SIP either.
    #[test]
    fn calls_know_no_sip() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lines");
        let mut read = 0;
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("a file").path();
            let source = std::fs::read_to_string(&path).expect("a text");
            // Not this test.
            let source = source.split("#[cfg(test)]").next().unwrap_or_default();
            assert_eq!(names_sip(source), None, "{}", path.display());
            read += 1;
        }
        assert!(read > 8, "the sources were read: {read}");
        assert!(
            names_sip("use telephony::sip::Leg;").is_some() && names_sip("use telephony::{sip};").is_some()
        );
    }
}
