//! Networks of trusted proxies, and of those who may read the metrics; the service's own address.

use std::net::IpAddr;

use ipnet::IpNet;

/// Reads `public_url`, the base of links; empty when it is not set.
pub(crate) fn read_public_url(text: &str) -> Result<String, String> {
    let uri = text.parse::<http::Uri>().ok();
    let whole = uri.is_some_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.authority().is_some_and(|host| !host.host().is_empty() && !host.as_str().contains('@'))
            && !text.contains(['?', '#'])
    });
    if text.is_empty() || whole {
        return Ok(text.trim_end_matches('/').to_owned());
    }
    Err(format!(
        "public_url: found «{text}»; allowed: http:// or https:// with a host, such as https://voice.example.com"
    ))
}

/// Networks of trusted proxies.
#[derive(Debug, Clone, Default)]
pub struct Network(Vec<IpNet>);

impl Network {
    /// Reads addresses and networks such as `10.0.0.0/8`.
    pub fn parse(texts: &[String]) -> Result<Self, String> {
        Self::parse_setting("trusted_proxies", texts)
    }

    /// The same, for a setting of this name.
    pub(crate) fn parse_setting(name: &str, texts: &[String]) -> Result<Self, String> {
        let read = |text: &String| text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        texts
            .iter()
            .map(|text| {
                read(text).map_err(|_| {
                    format!("{name}: found «{text}», allowed are addresses and networks such as 10.0.0.0/8")
                })
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether an address belongs to one of the networks.
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}
