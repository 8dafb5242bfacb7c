//! The static check of a user-given URL: what can be refused before any packet is sent.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use http::uri::PathAndQuery;
use http::{HeaderValue, Uri};
use rustls::pki_types::ServerName;

use super::address::Reach;

/// Longest accepted URL, in bytes.
pub const MAX_URL_LENGTH: usize = 2048;

/// Ports from 1024 up that belong to databases, caches, control planes, mail and chat relays. A signed POST
/// must not become a way to speak to them, even where they are exposed to the Internet. No receivers are
/// there. Below 1024 only 443 is accepted (and 80 in development).
const REFUSED_PORTS: [u16; 40] = [
    1080, 1433, 1434, 1521, 1723, 1883, 2049, 2181, 2375, 2376, 2379, 2380, 3128, 3306, 3389, 4369, 5060,
    5061, 5432, 5433, 5672, 5900, 5984, 5985, 5986, 6379, 6443, 6667, 6697, 8086, 8500, 9042, 9092, 9200,
    9300, 10250, 11211, 11434, 27017, 50051,
];

/// Name endings that never mean a public host (RFC 6761, RFC 6762, RFC 8375, and the internal zone of
/// clouds).
const LOCAL_SUFFIXES: [&str; 8] =
    ["localhost", "localdomain", "local", "internal", "intranet", "home.arpa", "lan", "corp"];

/// Why a URL was refused. `Display` is a sentence for the person who typed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlRefused {
    /// Over [`MAX_URL_LENGTH`].
    TooLong,
    /// Not `https://` (in development, `http://` is accepted as well).
    Scheme,
    /// Spaces, control characters, backslashes or characters outside ASCII, or no URL at all.
    Malformed,
    /// A user name or password before the host.
    UserInfo,
    /// A part after `#`, which would never be sent.
    Fragment,
    /// No host, or one that is not a domain name or an address in its usual spelling (`0x7f.1`, `2130706433`
    /// and the like).
    Host,
    /// A host name that is local by definition, such as `localhost` or `printer.local`.
    LocalName,
    /// An address that is not public.
    Address,
    /// A port that receivers do not use; see the module's list.
    Port,
}

impl fmt::Display for UrlRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UrlRefused::TooLong => "the URL is longer than 2048 characters",
            UrlRefused::Scheme => "the URL must start with https://",
            UrlRefused::Malformed => "the URL is not valid; write other than ASCII characters percent-encoded (in the host: as punycode)",
            UrlRefused::UserInfo => "the URL must not contain a user name or password",
            UrlRefused::Fragment => "the URL must not contain a fragment (#)",
            UrlRefused::Host => "the URL's host is not a valid domain name or address",
            UrlRefused::LocalName => "the URL's host is a local name, not a public one",
            UrlRefused::Address => "the URL's address is not a public one",
            UrlRefused::Port => "the URL's port is not allowed; use 443 or a port from 1024 up that no well-known service uses",
        })
    }
}

impl std::error::Error for UrlRefused {}

/// A URL that passed the static check, in the form requests need. Cheap to clone; its `Display` and `Debug`
/// show the origin only, since paths may hold secrets.
#[derive(Clone)]
pub struct Target(Arc<Parts>);

struct Parts {
    origin: Arc<Origin>,
    uri: Uri,
    host_header: HeaderValue,
    server_name: ServerName<'static>,
}

/// Requests of the same origin share connections.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) https: bool,
    pub(super) host: Host,
    pub(super) port: u16,
}

#[derive(PartialEq, Eq, Hash)]
pub(super) enum Host {
    Name(String),
    Address(IpAddr),
}

impl Target {
    /// The host as written in the URL: a lower-case name, or an address (IPv6 without brackets).
    pub fn host(&self) -> String {
        match &self.0.origin.host {
            Host::Name(name) => name.clone(),
            Host::Address(address) => address.to_string(),
        }
    }

    /// The port requests go to.
    pub fn port(&self) -> u16 {
        self.0.origin.port
    }

    /// Whether requests are encrypted.
    pub fn is_https(&self) -> bool {
        self.0.origin.https
    }

    /// The path with its query.
    pub fn path_and_query(&self) -> &str {
        self.0.uri.path_and_query().map_or("/", PathAndQuery::as_str)
    }

    /// The same place with this path and query, which begin with a slash, below its own path. They come from
    /// the program, so they may be longer than a URL that a user gives.
    ///
    /// # Errors
    /// When they are no path and query.
    pub fn below(&self, path_and_query: &str) -> Result<Target, UrlRefused> {
        if !path_and_query.starts_with('/') {
            return Err(UrlRefused::Malformed);
        }
        let path = format!("{}{path_and_query}", self.0.uri.path().trim_end_matches('/'));
        let path: PathAndQuery = path.try_into().map_err(|_| UrlRefused::Malformed)?;
        Ok(Target(Arc::new(Parts {
            origin: self.0.origin.clone(),
            uri: Uri::from(path),
            host_header: self.0.host_header.clone(),
            server_name: self.0.server_name.clone(),
        })))
    }

    pub(super) fn origin(&self) -> &Arc<Origin> {
        &self.0.origin
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.0.uri
    }

    pub(super) fn host_header(&self) -> &HeaderValue {
        &self.0.host_header
    }

    pub(super) fn server_name(&self) -> &ServerName<'static> {
        &self.0.server_name
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_https() { "https" } else { "http" };
        match &self.0.origin.host {
            Host::Address(IpAddr::V6(v6)) => write!(f, "{scheme}://[{v6}]:{}", self.port()),
            Host::Address(v4) => write!(f, "{scheme}://{v4}:{}", self.port()),
            Host::Name(name) => write!(f, "{scheme}://{name}:{}", self.port()),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

/// Checks a URL without touching the network.
pub(super) fn check(url: &str, reach: Reach) -> Result<Target, UrlRefused> {
    if url.len() > MAX_URL_LENGTH {
        return Err(UrlRefused::TooLong);
    }
    if url.bytes().any(|b| !b.is_ascii_graphic() || b == b'\\') {
        return Err(UrlRefused::Malformed);
    }
    if url.contains('#') {
        return Err(UrlRefused::Fragment);
    }
    let (scheme, rest) = url.split_once("://").ok_or(UrlRefused::Scheme)?;
    let https = match scheme.to_ascii_lowercase().as_str() {
        "https" => true,
        "http" if reach == Reach::Development => false,
        _ => return Err(UrlRefused::Scheme),
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if authority.contains('@') {
        return Err(UrlRefused::UserInfo);
    }
    let (host_text, port_text) = split_port(authority)?;
    let host = parse_host(&host_text.to_ascii_lowercase(), reach)?;
    let default_port = if https { 443 } else { 80 };
    let port = parse_port(port_text, default_port)?;
    if !port_allowed(port, reach) {
        return Err(UrlRefused::Port);
    }
    assemble(https, host, port, port != default_port, path)
}

/// `host`, `host:port`, `[v6]`, `[v6]:port`; the brackets stay with the host.
fn split_port(authority: &str) -> Result<(&str, Option<&str>), UrlRefused> {
    let after_host = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']').ok_or(UrlRefused::Host)? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, rest) = authority.split_at(after_host);
    match rest.strip_prefix(':') {
        Some(port) => Ok((host, Some(port))),
        None if rest.is_empty() => Ok((host, None)),
        None => Err(UrlRefused::Host),
    }
}

fn parse_port(text: Option<&str>, default_port: u16) -> Result<u16, UrlRefused> {
    match text {
        None => Ok(default_port),
        Some(text) if text.starts_with('0') || !text.bytes().all(|b| b.is_ascii_digit()) => {
            Err(UrlRefused::Port)
        }
        Some(text) => text.parse().map_err(|_| UrlRefused::Port),
    }
}

fn port_allowed(port: u16, reach: Reach) -> bool {
    match port {
        443 => true,
        80 => reach == Reach::Development,
        _ => port >= 1024 && !REFUSED_PORTS.contains(&port),
    }
}

fn parse_host(text: &str, reach: Reach) -> Result<Host, UrlRefused> {
    if let Some(v6) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr = v6.parse().map_err(|_| UrlRefused::Host)?;
        return public_host(address.into(), reach);
    }
    if !is_domain_name(text) {
        return Err(UrlRefused::Host);
    }
    let last_label = text.rsplit('.').next().unwrap_or(text);
    if looks_like_a_number(last_label) {
        // Browsers and the C library read 2130706433, 0x7f.1 and 0177.0.0.1 as 127.0.0.1: only the plain
        // dotted form is one here.
        let address: Ipv4Addr = text.parse().map_err(|_| UrlRefused::Host)?;
        return public_host(address.into(), reach);
    }
    if reach == Reach::Public && is_local_name(text) {
        return Err(UrlRefused::LocalName);
    }
    Ok(Host::Name(text.to_owned()))
}

fn public_host(address: IpAddr, reach: Reach) -> Result<Host, UrlRefused> {
    if reach.allows(address) { Ok(Host::Address(address)) } else { Err(UrlRefused::Address) }
}

/// Labels of letters, digits, `-` and `_`, 1 to 63 long, 253 in all, no dot at the end.
fn is_domain_name(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    text.len() <= 253 && text.split('.').all(label)
}

fn looks_like_a_number(label: &str) -> bool {
    let hexadecimal =
        label.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    hexadecimal || label.bytes().all(|b| b.is_ascii_digit())
}

/// A name without a dot is completed by the resolver's search list, so it is local too.
fn is_local_name(name: &str) -> bool {
    let under =
        |suffix: &str| name.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    !name.contains('.') || LOCAL_SUFFIXES.iter().any(|suffix| under(suffix))
}

fn assemble(https: bool, host: Host, port: u16, show_port: bool, path: &str) -> Result<Target, UrlRefused> {
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let path: PathAndQuery = path.try_into().map_err(|_| UrlRefused::Malformed)?;
    let (text, server_name) = match &host {
        Host::Name(name) => (name.clone(), ServerName::try_from(name.clone()).map_err(|_| UrlRefused::Host)?),
        Host::Address(IpAddr::V6(v6)) => (format!("[{v6}]"), ServerName::IpAddress(IpAddr::V6(*v6).into())),
        Host::Address(v4) => (v4.to_string(), ServerName::IpAddress((*v4).into())),
    };
    let header_text = if show_port { format!("{text}:{port}") } else { text };
    let host_header = header_text.try_into().map_err(|_| UrlRefused::Host)?;
    Ok(Target(Arc::new(Parts {
        origin: Arc::new(Origin { https, host, port }),
        uri: Uri::from(path),
        host_header,
        server_name,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strict(url: &str) -> Result<String, UrlRefused> {
        check(url, Reach::Public).map(|target| {
            format!("{target} {} {}", target.uri(), target.host_header().to_str().unwrap_or("?"))
        })
    }

    #[test]
    fn accepted_urls_in_their_working_form() {
        let cases = [
            ("https://example.com", "https://example.com:443 / example.com"),
            ("HTTPS://Hooks.Example.COM:443/A?b=C", "https://hooks.example.com:443 /A?b=C hooks.example.com"),
            ("https://example.com?x=1", "https://example.com:443 /?x=1 example.com"),
            ("https://example.com:8443/in", "https://example.com:8443 /in example.com:8443"),
            ("https://8.8.8.8/", "https://8.8.8.8:443 / 8.8.8.8"),
            ("https://[2606:4700::1111]:9443/", "https://[2606:4700::1111]:9443 / [2606:4700::1111]:9443"),
            ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example:443 / xn--bcher-kva.example"),
            ("https://a_b.example/p/@x:y", "https://a_b.example:443 /p/@x:y a_b.example"),
        ];
        for (url, expected) in cases {
            assert_eq!(strict(url).as_deref(), Ok(expected), "{url}");
        }
    }

    #[test]
    fn a_path_is_added_to_the_place_and_cannot_leave_it() {
        let base = check("https://example.com:8443/crm/", Reach::Public).unwrap();
        let below = base.below("/v3/contacts?after=1").unwrap();
        assert_eq!(
            (below.to_string(), below.uri().to_string()),
            ("https://example.com:8443".to_owned(), "/crm/v3/contacts?after=1".to_owned())
        );
        assert_eq!(base.below("//evil.example/x").unwrap().to_string(), "https://example.com:8443");
        for path in ["evil.example", "", "/a b", "/a\r\nX: y"] {
            assert_eq!(base.below(path).err(), Some(UrlRefused::Malformed), "{path}");
        }
    }

    #[test]
    fn refused_urls_and_why() {
        use UrlRefused::*;
        let long = format!("https://example.com/{}", "a".repeat(2048));
        let cases = [
            (long.as_str(), TooLong),
            ("http://example.com/", Scheme),
            ("ftp://example.com/", Scheme),
            ("//example.com/", Scheme),
            ("example.com", Scheme),
            ("", Scheme),
            ("https://exa mple.com/", Malformed),
            ("https://example.com\\@10.0.0.1/", Malformed),
            ("https://b\u{fc}cher.example/", Malformed),
            ("https://example.com/\r\nX: y", Malformed),
            ("https://user@example.com/", UserInfo),
            ("https://user:pw@example.com/", UserInfo),
            ("https://example.com/#top", Fragment),
            ("https://", Host),
            ("https:///path", Host),
            ("https://example.com./", Host),
            ("https://exa%6dple.com/", Host),
            ("https://-a.example/", Host),
            ("https://2130706433/", Host),
            ("https://0x7f.1/", Host),
            ("https://0x7f000001/", Host),
            ("https://0177.0.0.1/", Host),
            ("https://127.1/", Host),
            ("https://1.2.3.4.5/", Host),
            ("https://[fe80::1%25eth0]/", Host),
            ("https://[::1/", Host),
            ("https://[::1]x/", Host),
            ("https://localhost/", LocalName),
            ("https://LOCALHOST:8443/", LocalName),
            ("https://a.localhost/", LocalName),
            ("https://printer.local/", LocalName),
            ("https://metadata.google.internal/", LocalName),
            ("https://intranet/", LocalName),
            ("https://127.0.0.1/", Address),
            ("https://10.0.0.1/", Address),
            ("https://169.254.169.254/latest", Address),
            ("https://[::1]/", Address),
            ("https://[::ffff:10.0.0.1]/", Address),
            ("https://[64:ff9b::a00:1]/", Address),
            ("https://[2002:0a00:0001::]/", Address),
            ("https://example.com:/", Port),
            ("https://example.com:0/", Port),
            ("https://example.com:0443/", Port),
            ("https://example.com:+443/", Port),
            ("https://example.com:65536/", Port),
            ("https://example.com:80/", Port),
            ("https://example.com:25/", Port),
            ("https://example.com:6379/", Port),
        ];
        for (url, expected) in cases {
            assert_eq!(strict(url), Err(expected), "{url}");
        }
    }

    #[test]
    fn development_accepts_the_next_machine_but_not_metadata() {
        for url in [
            "http://localhost/",
            "http://localhost:3000/x",
            "http://127.0.0.1:8080/",
            "http://[::1]:8080/",
            "http://receiver:9000/",
            "https://10.0.0.9/",
        ] {
            assert!(check(url, Reach::Development).is_ok(), "{url}");
        }
        assert_eq!(check("http://169.254.169.254/", Reach::Development).err(), Some(UrlRefused::Address));
        assert_eq!(check("http://127.1/", Reach::Development).err(), Some(UrlRefused::Host));
        assert_eq!(check("http://localhost:6379/", Reach::Development).err(), Some(UrlRefused::Port));
    }
}
