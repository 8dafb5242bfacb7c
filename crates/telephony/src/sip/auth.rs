//! Digest authentication towards trunks (RFC 3261 section 22, RFC 7616, RFC 8760).
//!
//! Our own because the stack's does not know `SHA-256` by its registered name and quotes the address
//! differently from the request line.

use std::fmt::Write as _;

use md5::{Digest, Md5};
use ring::digest::{SHA256, digest};
use rsipstack::sip::{HasHeaders, Header, Request, Response};
use rsipstack::transaction::random_text;

/// User and password of a trunk.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Credentials {
    pub user: String,
    pub password: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hash {
    Md5,
    Sha256,
}

/// What a `WWW-Authenticate` or `Proxy-Authenticate` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    hash: Hash,
    /// The name as the challenge wrote it.
    algorithm: Option<String>,
    session: bool,
    qop_auth: bool,
    stale: bool,
}

impl Challenge {
    /// `None` for another scheme, an unknown algorithm or a protection that covers bodies only: those cannot
    /// be answered.
    fn parse(value: &str) -> Option<Self> {
        let value = value.trim();
        let (scheme, rest) = value.split_once(char::is_whitespace)?;
        if !scheme.eq_ignore_ascii_case("digest") {
            return None;
        }
        let mut challenge = Self {
            realm: String::new(),
            nonce: String::new(),
            opaque: None,
            hash: Hash::Md5,
            algorithm: None,
            session: false,
            qop_auth: false,
            stale: false,
        };
        let mut qop = None;
        for (name, value) in parameters(rest) {
            match name.to_ascii_lowercase().as_str() {
                "realm" => challenge.realm = value,
                "nonce" => challenge.nonce = value,
                "opaque" => challenge.opaque = Some(value),
                "stale" => challenge.stale = value.eq_ignore_ascii_case("true"),
                "qop" => qop = Some(value),
                "algorithm" => {
                    let lower = value.to_ascii_lowercase();
                    let base = lower.strip_suffix("-sess").unwrap_or(&lower);
                    challenge.session = base.len() != lower.len();
                    challenge.hash = match base {
                        "md5" => Hash::Md5,
                        "sha-256" | "sha256" => Hash::Sha256,
                        _ => return None,
                    };
                    challenge.algorithm = Some(value);
                }
                _ => {}
            }
        }
        if let Some(qop) = qop {
            challenge.qop_auth = qop.split(',').any(|one| one.trim().eq_ignore_ascii_case("auth"));
            if !challenge.qop_auth {
                return None;
            }
        }
        (!challenge.nonce.is_empty()).then_some(challenge)
    }

    fn digest(&self, text: &str) -> String {
        match self.hash {
            Hash::Md5 => hex(&Md5::digest(text.as_bytes())),
            Hash::Sha256 => hex(digest(&SHA256, text.as_bytes()).as_ref()),
        }
    }

    /// The proof of the password (RFC 7616 section 3.4.1).
    fn proof(&self, credentials: &Credentials, method: &str, uri: &str, cnonce: &str, count: &str) -> String {
        let Credentials { user, password } = credentials;
        let mut secret = self.digest(&format!("{user}:{}:{password}", self.realm));
        if self.session {
            secret = self.digest(&format!("{secret}:{}:{cnonce}", self.nonce));
        }
        let what = self.digest(&format!("{method}:{uri}"));
        if self.qop_auth {
            self.digest(&format!("{secret}:{}:{count}:{cnonce}:auth:{what}", self.nonce))
        } else {
            self.digest(&format!("{secret}:{}:{what}", self.nonce))
        }
    }

    fn answer(&self, credentials: &Credentials, method: &str, uri: &str, cnonce: &str) -> String {
        let user = &credentials.user;
        let response = self.proof(credentials, method, uri, cnonce, "00000001");
        let mut out = format!(
            "Digest username=\"{}\", realm=\"{}\", nonce=\"{}\", uri=\"{uri}\", response=\"{response}\"",
            quoted(user),
            quoted(&self.realm),
            quoted(&self.nonce)
        );
        if let Some(algorithm) = &self.algorithm {
            let _ = write!(out, ", algorithm={algorithm}");
        }
        if let Some(opaque) = &self.opaque {
            let _ = write!(out, ", opaque=\"{}\"", quoted(opaque));
        }
        if self.qop_auth {
            let _ = write!(out, ", qop=auth, nc=00000001, cnonce=\"{cnonce}\"");
        } else if self.session {
            let _ = write!(out, ", cnonce=\"{cnonce}\"");
        }
        out
    }
}

/// An `Authorization` that somebody sent us.
#[derive(Debug)]
pub(super) struct Proof {
    challenge: Challenge,
    user: String,
    uri: String,
    cnonce: String,
    count: String,
    response: String,
}

impl Proof {
    /// `None` for what cannot be a proof.
    pub fn parse(value: &str) -> Option<Self> {
        let (_, rest) = value.trim().split_once(char::is_whitespace)?;
        // An answer names what it answers with the words of the challenge.
        let challenge = Challenge::parse(value)?;
        let mut proof = Self {
            challenge,
            user: String::new(),
            uri: String::new(),
            cnonce: String::new(),
            count: String::new(),
            response: String::new(),
        };
        for (name, value) in parameters(rest) {
            match name.to_ascii_lowercase().as_str() {
                "username" => proof.user = value,
                "uri" => proof.uri = value,
                "cnonce" => proof.cnonce = value,
                "nc" => proof.count = value,
                "response" => proof.response = value,
                _ => {}
            }
        }
        Some(proof)
    }

    pub fn realm(&self) -> &str {
        &self.challenge.realm
    }

    pub fn nonce(&self) -> &str {
        &self.challenge.nonce
    }

    /// Whether its sender knows the password.
    pub fn is_of(&self, login: &Credentials, method: &str) -> bool {
        let expected = self.challenge.proof(login, method, &self.uri, &self.cnonce, &self.count);
        let proven = same(expected.as_bytes(), self.response.to_ascii_lowercase().as_bytes());
        proven && self.user == login.user
    }
}

/// Compares secrets in constant time.
pub(super) fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
}

/// The headers that answer the challenges of a 401 or 407; none when it asks for nothing that can be
/// answered.
///
/// `retried` says that credentials were already sent: then only a `stale` challenge, the same password with a
/// new nonce, is worth an answer.
pub(super) fn answer(
    challenged: &Response,
    request: &Request,
    credentials: &Credentials,
    retried: bool,
) -> Vec<Header> {
    let method = request.method.to_string();
    let uri = request.uri.to_string();
    let mut answers: Vec<(bool, String, Header)> = Vec::new();
    for header in challenged.headers().iter() {
        let proxy = match header {
            Header::WwwAuthenticate(_) => false,
            Header::ProxyAuthenticate(_) => true,
            _ => continue,
        };
        let Some(challenge) = Challenge::parse(header.value()) else { continue };
        // Several challenges of one realm are alternatives, the best first (RFC 8760).
        if answers.iter().any(|(other, realm, _)| *other == proxy && *realm == challenge.realm)
            || (retried && !challenge.stale)
        {
            continue;
        }
        let text = challenge.answer(credentials, &method, &uri, &random_text(16));
        let header =
            if proxy { Header::ProxyAuthorization(text.into()) } else { Header::Authorization(text.into()) };
        answers.push((proxy, challenge.realm, header));
    }
    answers.into_iter().map(|(_, _, header)| header).collect()
}

/// What [`super::fuzzing`] reads of an answer.
pub(super) fn fuzzed(response: &Response) {
    for header in response.headers().iter() {
        let _ = Challenge::parse(header.value()).map(|challenge| {
            challenge.answer(
                &Credentials { user: "user".into(), password: "password".into() },
                "INVITE",
                "sip:a@b",
                "cnonce",
            )
        });
    }
}

/// What [`super::fuzzing`] reads of a request.
pub(super) fn fuzzed_proof(value: &str) {
    let login = Credentials { user: "user".into(), password: "password".into() };
    assert!(!Proof::parse(value).is_some_and(|proof| proof.is_of(&login, "INVITE") && proof.user != "user"));
}

/// `a=b, c="d"`: names with values, quotes taken off.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim().trim_start_matches(',').trim().to_owned();
        let after = after.trim_start();
        let (value, remaining) = if let Some(quoted) = after.strip_prefix('"') {
            let mut value = String::new();
            let mut escaped = false;
            let mut end = quoted.len();
            for (at, letter) in quoted.char_indices() {
                match letter {
                    '\\' if !escaped => escaped = true,
                    '"' if !escaped => {
                        end = at + 1;
                        break;
                    }
                    _ => {
                        value.push(letter);
                        escaped = false;
                    }
                }
            }
            (value, quoted.get(end..).unwrap_or(""))
        } else {
            let end = after.find(',').unwrap_or(after.len());
            (after[..end].trim().to_owned(), &after[end..])
        };
        found.push((name, value));
        rest = remaining;
    }
    found
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials() -> Credentials {
        Credentials { user: "Mufasa".into(), password: "Circle of Life".into() }
    }

    #[test]
    fn the_examples_of_the_rfcs() {
        // RFC 7616 section 3.9.1, both algorithms.
        let base = "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"";
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let challenge = Challenge::parse(&format!("{base}, algorithm={algorithm}")).expect("a challenge");
            let answer = challenge.answer(&credentials(), "GET", "/dir/index.html", cnonce);
            assert!(answer.contains(&format!("response=\"{response}\"")), "{answer}");
            assert!(answer.contains(&format!("algorithm={algorithm}")), "{answer}");
        }
        // RFC 2069 form: no qop.
        let challenge = Challenge::parse(
            "Digest realm=\"testrealm@host.com\",nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"",
        )
        .expect("a challenge");
        let answer = challenge.answer(&credentials(), "GET", "/dir/index.html", "x");
        assert!(!answer.contains("cnonce") && !answer.contains("qop"), "{answer}");
    }

    #[test]
    fn what_cannot_be_answered() {
        for value in [
            "",
            "Digest",
            "Basic realm=\"x\"",
            "Digest realm=\"x\"",
            "Digest realm=\"x\", nonce=\"y\", algorithm=AKAv1-MD5",
            "Digest realm=\"x\", nonce=\"y\", qop=\"auth-int\"",
        ] {
            assert_eq!(Challenge::parse(value), None, "{value}");
        }
    }

    #[test]
    fn quotes_and_commas_in_values() {
        assert_eq!(
            parameters(r#"realm="a, \"b\"", nonce=plain , qop="auth"#),
            [
                ("realm".into(), "a, \"b\"".into()),
                ("nonce".into(), "plain".into()),
                ("qop".into(), "auth".into())
            ]
        );
        // Nonsense is read to its end.
        for text in ["=", "==\"", "\"=,==\"\\", "a=\"\\", ",,,=,"] {
            assert!(parameters(text).len() <= 4, "{text}");
        }
    }
}
