//! Settings of telephone lines.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use telephony::settings::{
    Codec, DEFAULT_CARRIER, Encryption, InboundTransport, Network, NumberFormat, Settings, Transport, Trunk,
};

use super::Values;

/// The carrier of live calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// No carrier: a live placement answers 503.
    None,
    /// The simulated phone network in the process.
    Sandbox,
    /// SIP trunks.
    Sip,
}

/// Action when an answering machine picks up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineAnswer {
    /// No detection.
    Off,
    /// The call ends as voicemail.
    HangUp,
    /// This is said after the beep, then the call ends as voicemail.
    Leave(String),
}

/// The carrier of live calls, and its settings.
#[derive(Debug, Clone)]
pub struct Telephony {
    /// Who.
    pub carrier: Carrier,
    /// Calls at once on the whole platform.
    pub concurrent_calls: i64,
    /// Whether real carriers are used although the database may lose that they were.
    pub may_dial_twice: bool,
    /// Talk after which the agent says goodbye.
    pub max_duration: Duration,
    /// Silence after which the agent asks whether somebody is there.
    pub silence_prompt: Duration,
    /// Delay of a tool or a model after which the agent says a filler; `None` for never.
    pub filler_after: Option<Duration>,
    /// Answering machines.
    pub machine_answer: MachineAnswer,
    /// Longest wait for a person after a screening assistant or an announcement has picked up.
    pub person_wait: Duration,
    /// Concurrent calls that the sandbox plays with audio.
    pub sandbox_lines: usize,
    /// The SIP side; its trunks are empty unless the carrier is `sip`.
    pub sip: Settings,
}

impl Telephony {
    /// Names of the carriers of live calls, in the order of the settings; a number may name one of them. The first one is
    /// the default. Empty unless [`Telephony::carrier`] is a real one.
    pub fn carriers(&self) -> Vec<&str> {
        self.sip.carriers()
    }
}

/// Reads the section.
pub(super) fn read(values: &Values) -> Result<Telephony, String> {
    let carrier = match values.text("telephony.carrier")?.as_str() {
        "sip" => Carrier::Sip,
        "sandbox" => Carrier::Sandbox,
        _ => Carrier::None,
    };
    if carrier == Carrier::Sip && values.text("clock")? == "manual" {
        return Err("clock: found manual together with telephony.carrier = sip; a manual clock goes with sandbox or none".into());
    }
    let machine_answer =
        match values.text("telephony.machine_answer")?.as_str() {
            "off" => MachineAnswer::Off,
            "leave_message" => MachineAnswer::Leave(values.some_text("telephony.machine_message")?.ok_or(
                "telephony.machine_message: missing; telephony.machine_answer = leave_message says it",
            )?),
            _ => MachineAnswer::HangUp,
        };
    let filler = seconds(values, "telephony.filler_after")?;
    Ok(Telephony {
        carrier,
        concurrent_calls: values.number("telephony.concurrent_calls")?,
        may_dial_twice: values.flag("telephony.may_dial_twice_after_failover")?,
        max_duration: seconds(values, "telephony.max_duration")?,
        silence_prompt: seconds(values, "telephony.silence_prompt")?,
        filler_after: (!filler.is_zero()).then_some(filler),
        machine_answer,
        person_wait: seconds(values, "telephony.person_wait")?,
        sandbox_lines: count(values, "telephony.sandbox_lines")?,
        sip: sip(values, carrier)?,
    })
}

fn seconds(values: &Values, name: &str) -> Result<Duration, String> {
    Ok(Duration::from_secs(values.number(name)?.unsigned_abs()))
}

fn count(values: &Values, name: &str) -> Result<usize, String> {
    usize::try_from(values.number(name)?).map_err(|_| format!("{name}: too large"))
}

fn parsed<T: std::str::FromStr>(values: &Values, name: &str, allowed: &str) -> Result<Option<T>, String> {
    let Some(text) = values.some_text(name)? else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("{name}: found «{text}»; allowed: {allowed}"))
}

fn sip(values: &Values, carrier: Carrier) -> Result<Settings, String> {
    const ADDRESS: &str = "an address with a port such as 0.0.0.0:5060";
    let listen = parsed::<SocketAddr>(values, "telephony.sip.listen", ADDRESS)?
        .ok_or_else(|| format!("telephony.sip.listen: missing; allowed: {ADDRESS}"))?;
    let (cert, key) =
        (values.some_text("telephony.sip.tls_cert")?, values.some_text("telephony.sip.tls_key")?);
    let tls = match (parsed::<SocketAddr>(values, "telephony.sip.tls_listen", ADDRESS)?, cert, key) {
        (Some(address), Some(cert), Some(key)) => Some((address, cert.into(), key.into())),
        (None, None, None) => None,
        _ => return Err(
            "telephony.sip.tls_listen: goes together with telephony.sip.tls_cert and telephony.sip.tls_key"
                .into(),
        ),
    };
    let ports = values.text("telephony.sip.rtp_ports")?;
    let rtp_ports = ports
        .split_once('-')
        .and_then(|(first, last)| Some((first.trim().parse::<u16>().ok()?, last.trim().parse::<u16>().ok()?)))
        .filter(|(first, last)| *first > 0 && last > first)
        .ok_or_else(|| {
            format!("telephony.sip.rtp_ports: found «{ports}»; allowed: two ports such as 20000-29999")
        })?;
    let threads = match count(values, "telephony.sip.media_threads")? {
        0 => std::thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1)),
        threads => threads,
    };
    let trunks = if carrier == Carrier::Sip { trunks(values)? } else { Vec::new() };
    Ok(Settings {
        listen,
        tls,
        tls_ca: values.some_text("telephony.sip.tls_ca")?.map(Into::into),
        public_address: parsed::<IpAddr>(
            values,
            "telephony.sip.public_address",
            "an address such as 203.0.113.7",
        )?,
        rtp_ports,
        ring_timeout: seconds(values, "telephony.ring_timeout")?,
        response_timeout: seconds(values, "telephony.sip.response_timeout")?,
        media_threads: threads,
        user_agent: values.text("brand")?,
        shared: false,
        trunks,
    })
}

/// Longest name of a carrier, bytes; numbers and calls store it.
const LONGEST_CARRIER: usize = 64;

const TRUNK: [&str; 19] = [
    "name",
    "carrier",
    "address",
    "transport",
    "outbound_proxy",
    "username",
    "password",
    "register",
    "codecs",
    "number_format",
    "user_phone",
    "caller_id",
    "encryption",
    "options_interval",
    "channels",
    "inbound_from",
    "inbound_transport",
    "inbound_auth",
    "media_from",
];

fn trunks(values: &Values) -> Result<Vec<Trunk>, String> {
    let found = values.value("telephony.sip.trunks")?;
    let mut trunks: Vec<Trunk> = Vec::new();
    for (index, table) in found.as_array().into_iter().flatten().filter_map(toml::Value::as_table).enumerate()
    {
        let trunk = trunk(&Section { name: format!("telephony.sip.trunks[{}]", index + 1), table })?;
        if trunks.iter().any(|other| other.name == trunk.name) {
            return Err(format!(
                "telephony.sip.trunks[{}].name: «{}» is the name of another trunk",
                index + 1,
                trunk.name
            ));
        }
        trunks.push(trunk);
    }
    if trunks.is_empty() {
        return Err(
            "telephony.sip.trunks: found none; with telephony.carrier = sip at least one trunk is needed"
                .into(),
        );
    }
    Ok(trunks)
}

fn trunk(section: &Section<'_>) -> Result<Trunk, String> {
    if let Some(strange) = section.table.keys().find(|key| !TRUNK.contains(&key.as_str())) {
        let meant = domain::nearest::hint(strange, TRUNK.iter().copied());
        let allowed = TRUNK.join(", ");
        return Err(format!("{}.{strange}: no such setting{meant}; allowed are {allowed}", section.name));
    }
    let codecs = section
        .list("codecs", &[("PCMU", Codec::Pcmu), ("PCMA", Codec::Pcma)])?
        .unwrap_or_else(|| vec![Codec::Pcmu, Codec::Pcma]);
    if codecs.is_empty() {
        return Err(format!("{}.codecs: found none; allowed: PCMU, PCMA", section.name));
    }
    let carrier = section.text("carrier")?.unwrap_or_else(|| DEFAULT_CARRIER.to_owned());
    if carrier.len() > LONGEST_CARRIER || carrier.chars().any(char::is_control) {
        return Err(format!(
            "{}.carrier: allowed: at most {LONGEST_CARRIER} bytes of text, without control characters",
            section.name
        ));
    }
    let (username, password) = (section.text("username")?, section.text("password")?);
    let inbound_auth = section.flag("inbound_auth")?;
    if inbound_auth && (username.is_none() || password.is_none()) {
        return Err(format!("{}.inbound_auth: goes together with username and password", section.name));
    }
    Ok(Trunk {
        name: section.required("name")?,
        carrier,
        address: section.required("address")?,
        transport: section.word(
            "transport",
            &[("udp", Transport::Udp), ("tcp", Transport::Tcp), ("tls", Transport::Tls)],
        )?,
        outbound_proxy: section.text("outbound_proxy")?,
        username,
        password,
        register: section.flag("register")?,
        codecs,
        number_format: section.word(
            "number_format",
            &[
                ("e164", NumberFormat::E164),
                ("plain", NumberFormat::Plain),
                ("national", NumberFormat::National),
            ],
        )?,
        user_phone: section.flag_or("user_phone", true)?,
        caller_id: section.text("caller_id")?,
        encryption: section.word(
            "encryption",
            &[("when_offered", Encryption::WhenOffered), ("required", Encryption::Required)],
        )?,
        options_interval: Duration::from_secs(
            section.number("options_interval", 30, 0, 3600)?.unsigned_abs(),
        ),
        channels: u32::try_from(section.number("channels", 30, 1, 100_000)?).unwrap_or(30),
        inbound_from: section.networks("inbound_from")?,
        inbound_transport: section.word(
            "inbound_transport",
            &[("any", InboundTransport::Any), ("tcp", InboundTransport::Tcp), ("tls", InboundTransport::Tls)],
        )?,
        inbound_auth,
        media_from: section.networks("media_from")?,
    })
}

/// A section of a list.
struct Section<'t> {
    name: String,
    table: &'t toml::Table,
}

impl Section<'_> {
    fn text(&self, key: &str) -> Result<Option<String>, String> {
        match self.table.get(key) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(_) => Err(format!("{}.{key}: allowed: text", self.name)),
        }
    }

    fn required(&self, key: &str) -> Result<String, String> {
        self.text(key)?.ok_or_else(|| format!("{}.{key}: missing", self.name))
    }

    /// One of the words; the first is the default.
    fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<T, String> {
        let Some(text) = self.text(key)? else {
            return words
                .first()
                .map(|(_, value)| *value)
                .ok_or_else(|| format!("{}.{key}: missing", self.name));
        };
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.ok_or_else(|| {
            format!(
                "{}.{key}: found \"{text}\"; allowed: {}",
                self.name,
                words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
            )
        })
    }

    fn texts(&self, key: &str) -> Result<Option<Vec<String>>, String> {
        match self.table.get(key) {
            None => Ok(None),
            Some(toml::Value::Array(items)) if items.iter().all(toml::Value::is_str) => {
                Ok(Some(items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()))
            }
            Some(_) => Err(format!("{}.{key}: allowed: a list of texts", self.name)),
        }
    }

    fn networks(&self, key: &str) -> Result<Vec<Network>, String> {
        let read = |text: String| {
            text.parse().map_err(|()| {
                format!(
                    "{}.{key}: found «{text}»; allowed: addresses and networks such as 203.0.113.0/24",
                    self.name
                )
            })
        };
        self.texts(key)?.unwrap_or_default().into_iter().map(read).collect()
    }

    fn list<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<Vec<T>>, String> {
        let Some(texts) = self.texts(key)? else { return Ok(None) };
        let allowed = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let read = |text: &String| words.iter().find(|(word, _)| word == text).map(|(_, value)| *value);
        texts
            .iter()
            .map(|text| {
                read(text).ok_or_else(|| format!("{}.{key}: found \"{text}\"; allowed: {allowed}", self.name))
            })
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn flag(&self, key: &str) -> Result<bool, String> {
        self.flag_or(key, false)
    }

    fn flag_or(&self, key: &str, default: bool) -> Result<bool, String> {
        match self.table.get(key) {
            None => Ok(default),
            Some(toml::Value::Boolean(flag)) => Ok(*flag),
            Some(_) => Err(format!("{}.{key}: allowed: true, false", self.name)),
        }
    }

    fn number(&self, key: &str, default: i64, min: i64, max: i64) -> Result<i64, String> {
        match self.table.get(key) {
            None => Ok(default),
            Some(toml::Value::Integer(number)) if (min..=max).contains(number) => Ok(*number),
            Some(found) => Err(format!(
                "{}.{key}: found {found}; allowed: a whole number from {min} to {max}",
                self.name
            )),
        }
    }
}

/// A section with its password hidden.
pub(super) fn masked(section: toml::Value) -> toml::Value {
    match section {
        toml::Value::Table(mut table) => {
            // An unknown name may be a misspelt password.
            for (_, value) in
                table.iter_mut().filter(|(key, _)| *key == "password" || !TRUNK.contains(&key.as_str()))
            {
                *value = toml::Value::String("********".into());
            }
            toml::Value::Table(table)
        }
        other => other,
    }
}
