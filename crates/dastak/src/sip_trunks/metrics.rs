//! Metrics of SIP, RTP and the trunks, read when `/metrics` is requested.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use telephony::sip::TrunkHealth;

use super::SipTrunks;

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: usize) -> fmt::Result {
    let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
    gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
}

fn counter(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    let counter = ConstCounter::new(value);
    counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)
}

/// Writes the metrics of these trunks; of a node without trunks, the same ones at 0.
///
/// # Errors
/// Those of the encoder.
pub fn encode(e: &mut DescriptorEncoder<'_>, trunks: Option<&SipTrunks>) -> fmt::Result {
    let sip = trunks.map(|trunks| trunks.user_agent.figures()).unwrap_or_default();
    let sound = trunks.map(|trunks| trunks.engine.figures()).unwrap_or_default();
    gauge(e, "sip_legs", "Legs of calls, those included that wait for the answer to their BYE", sip.legs)?;
    gauge(e, "sip_dialogs", "SIP dialogs", sip.dialogs)?;
    gauge(e, "sip_transactions", "SIP transactions", sip.transactions)?;
    gauge(e, "sip_streams", "Open TCP and TLS connections of the SIP side", sip.streams)?;
    gauge(e, "sip_queued_bytes", "Bytes that wait for TCP and TLS connections to take them", sip.queued)?;
    counter(
        e,
        "sip_refused",
        "Datagrams, connections and requests of strangers that were dropped",
        sip.refused,
    )?;
    counter(e, "sip_junk", "Messages that could not be read, or were too large or too slow", sip.junk)?;
    counter(e, "sip_crowded", "Datagrams and connections that were one too many of one peer", sip.crowded)?;
    gauge(e, "rtp_lines", "Lines with sound", usize::try_from(sound.lines).unwrap_or(usize::MAX))?;
    gauge(
        e,
        "rtp_ports_in_use",
        "RTP ports in use",
        usize::try_from(sound.ports_in_use).unwrap_or(usize::MAX),
    )?;
    for (name, help, value) in [
        ("rtp_ticks", "Ticks of sound worked, 20 ms each", sound.ticks),
        ("rtp_late_ticks", "Ticks worked more than 30 ms after their time", sound.late_ticks),
        (
            "rtp_skipped_ticks",
            "Ticks given up because their thread was more than 100 ms behind",
            sound.skipped_ticks,
        ),
        ("rtp_packets_in", "Packets heard", sound.packets_in),
        ("rtp_packets_out", "Packets sent", sound.packets_out),
        ("rtp_packets_lost", "Packets of the other sides that never came", sound.lost),
        ("rtp_packets_late", "Packets that came after their sound was due", sound.late_packets),
        ("rtp_packets_foreign", "Packets from an address that is not the call's", sound.foreign),
        ("rtp_packets_early", "Packets that came before the sound began", sound.early),
        ("rtp_failed_ears", "Lines closed because their ear failed", sound.failed_ears),
    ] {
        counter(e, name, help, value)?;
    }
    let health = trunks.map(|trunks| trunks.user_agent.trunks()).unwrap_or_default();
    self::trunks(e, &health)
}

fn trunks(encoder: &mut DescriptorEncoder<'_>, trunks: &[TrunkHealth]) -> fmt::Result {
    type Value = fn(&TrunkHealth) -> Option<u32>;
    let figures: [(&str, &str, Value); 4] = [
        (
            "trunk_up",
            "Whether a trunk answers the OPTIONS or REGISTER of this node; not there where neither is sent",
            |trunk| trunk.up.map(u32::from),
        ),
        (
            "trunk_channels",
            "Calls that this node may carry over a trunk now, of the channels that all nodes share",
            |trunk| Some(trunk.channels),
        ),
        ("trunk_calls", "Calls of this node over a trunk", |trunk| Some(trunk.calls)),
        (
            "trunk_registered",
            "Whether this node is registered at a trunk where one of the nodes is to be",
            |trunk| trunk.registered.map(u32::from),
        ),
    ];
    for (name, help, value) in figures {
        let kind = prometheus_client::metrics::MetricType::Gauge;
        let mut family = encoder.encode_descriptor(name, help, None, kind)?;
        for trunk in trunks {
            let labels = [("trunk", trunk.name.as_str())];
            if let Some(value) = value(trunk) {
                ConstGauge::new(i64::from(value)).encode(family.encode_family(&labels)?)?;
            }
        }
    }
    Ok(())
}
