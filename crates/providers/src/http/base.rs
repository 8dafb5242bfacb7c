//! The address of a service.

use std::fmt;
use std::net::IpAddr;

use http::Uri;
use http::uri::Scheme;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Hosts of providers whose service runs in India (docs/operating/speech.md).
const INDIAN_HOSTS: [&str; 3] = ["api.sarvam.ai", "api.in.deepgram.com", "api.in.residency.elevenlabs.io"];

/// `https://host[:port][/path]`: where a service is. Its `Debug` shows the origin only.
#[derive(Clone, PartialEq, Eq)]
pub struct Base {
    tls: bool,
    host: String,
    port: u16,
    authority: String,
    path: String,
}

impl Base {
    /// Reads an address. `wss` and `ws` are taken for `https` and `http`.
    ///
    /// # Errors
    /// What is wrong with it, for the author of the settings; the address itself is not repeated, since it
    /// may hold a secret.
    pub fn parse(text: &str) -> Result<Base, String> {
        let uri: Uri =
            text.trim().parse().map_err(|_| "not an address such as https://host/path".to_owned())?;
        let tls = match uri.scheme().map(Scheme::as_str) {
            Some("https" | "wss") => true,
            Some("http" | "ws") => false,
            _ => return Err("the address must start with https:// or http://".to_owned()),
        };
        let authority = uri.authority().ok_or("the address has no host")?;
        if authority.as_str().contains('@') {
            return Err("the address must not hold a user name or password".to_owned());
        }
        if uri.query().is_some() {
            return Err("the address must not have a query".to_owned());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if host.is_empty() {
            return Err("the address has no host".to_owned());
        }
        Ok(Base {
            tls,
            port: authority.port_u16().unwrap_or(if tls { 443 } else { 80 }),
            authority: authority.as_str().to_ascii_lowercase(),
            path: uri.path().trim_end_matches('/').to_owned(),
            host,
        })
    }

    /// Whether connections are encrypted.
    pub fn is_tls(&self) -> bool {
        self.tls
    }

    /// Name or address, lower-case, IPv6 without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Host and port as they stand in the address, in lower case.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The path of the address, without a slash at its end.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The whole address of a request with this path and query.
    pub fn url(&self, path_and_query: &str) -> String {
        format!("{}://{}{path_and_query}", if self.tls { "https" } else { "http" }, self.authority)
    }

    /// Path and query of a request: `path` begins with a slash and is taken as it is, the parameters are
    /// percent-encoded.
    pub fn path_and_query(&self, path: &str, query: &[(&str, &str)]) -> String {
        let mut whole = format!("{}{path}", self.path);
        for (at, (name, value)) in query.iter().enumerate() {
            let mark = if at == 0 { '?' } else { '&' };
            whole.push_str(&format!("{mark}{}={}", encoded(name), encoded(value)));
        }
        whole
    }

    /// Whether data sent there stays in India or on this network: loopback and private addresses, `localhost`, and the
    /// Indian hosts of providers.
    pub fn is_resident(&self) -> bool {
        is_resident(&self.host)
    }
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base({}://{})", if self.tls { "https" } else { "http" }, self.authority)
    }
}

/// Whether a host is one of those that keep data in India: see [`Base::is_resident`].
pub fn is_resident(host: &str) -> bool {
    if host == "localhost" || INDIAN_HOSTS.contains(&host) {
        return true;
    }
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(v4)) => v4.is_loopback() || v4.is_private(),
        Ok(IpAddr::V6(v6)) => v6.is_loopback() || v6.is_unique_local(),
        Err(_) => false,
    }
}

/// All but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes a part of a path or query: all but the unreserved characters of RFC 3986.
pub fn encoded(text: &str) -> impl fmt::Display {
    utf8_percent_encode(text, RESERVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_into_its_parts() {
        let base = Base::parse("https://API.example.com/v1/").unwrap();
        assert_eq!(
            (base.host(), base.port(), base.is_tls(), base.path()),
            ("api.example.com", 443, true, "/v1")
        );
        assert_eq!(
            base.path_and_query("/chat", &[("a", "b c"), ("d", "é/")]),
            "/v1/chat?a=b%20c&d=%C3%A9%2F"
        );
        let near = Base::parse("ws://[::1]:8080").unwrap();
        assert_eq!(
            (near.host(), near.port(), near.is_tls(), near.authority()),
            ("::1", 8080, false, "[::1]:8080")
        );
    }

    #[test]
    fn what_is_no_address_is_refused_without_repeating_it() {
        for text in [
            "",
            "api.example.com",
            "ftp://x",
            "https://user:hunter2@host/",
            "https://host/?key=hunter2",
            "https://",
        ] {
            let refused = Base::parse(text).unwrap_err();
            assert!(!refused.contains("hunter2"), "{refused}");
        }
    }

    #[test]
    fn residency_goes_by_host() {
        for (host, resident) in [
            ("http://127.0.0.1:8000/v1", true),
            ("http://localhost:8000", true),
            ("http://10.2.3.4", true),
            ("http://[fd00::1]:80", true),
            ("https://api.sarvam.ai", true),
            ("https://api.in.deepgram.com", true),
            ("https://api.in.residency.elevenlabs.io", true),
            ("https://api.deepgram.com", false),
            ("https://api.elevenlabs.io", false),
            ("https://api.sarvam.ai.example.com", false),
            ("https://8.8.8.8", false),
        ] {
            assert_eq!(Base::parse(host).unwrap().is_resident(), resident, "{host}");
        }
    }
}
