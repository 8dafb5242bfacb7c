//! The files of the console below `/console` (docs/console.md): from the binary, where `build.rs` puts them, or from the
//! folder of the setting `console`. They are the same for everybody and read no cookie; `/console/api` is not theirs.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use api::error_codes;
use bytes::Bytes;
use flate2::read::GzDecoder;
use http::request::Parts;
use http::{HeaderMap, Method};

use super::codings::{Coding, accepted};
use super::handler::{Outcome, Reply, is_known};
use super::router::percent_decode;
use crate::app::limits::answers::turn;
use crate::app::limits::shares::Client;
use crate::app::{App, Failure};
use crate::config::Config;
use crate::runtime::turns::Turn;
use crate::runtime::{blocking, crypto};

const PREFIX: &str = "/console/";
/// The page of every address of the console.
const INDEX: &str = "index.html";
/// The names of files below it hold a hash of what is in them.
const HASHED: &str = "assets/";
/// Most bytes of a file, uncompressed.
const LARGEST: u64 = 8 * 1024 * 1024;

/// With these, nothing but files of this origin runs on a page, and no page of anybody frames it.
pub const HEADERS: [(&str, &str); 5] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; \
         media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types reader",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("permissions-policy", "microphone=(self)"),
];

/// A file of the console in the binary.
struct Embedded {
    name: &'static str,
    stored: Stored,
    unpacked: OnceLock<Option<Bytes>>,
    hash: OnceLock<String>,
}

#[allow(dead_code, reason = "a build without the console makes none")]
enum Stored {
    /// By gzip and by brotli.
    Compressed(&'static [u8], &'static [u8]),
    /// What does not become smaller, such as fonts.
    Plain(&'static [u8]),
}

impl Embedded {
    #[allow(dead_code, reason = "a build without the console makes none")]
    const fn new(name: &'static str, stored: Stored) -> Self {
        Self { name, stored, unpacked: OnceLock::new(), hash: OnceLock::new() }
    }

    /// The file in the first of these codings that it has. What is given is shared by all answers.
    fn find(&self, codings: &[Coding]) -> Result<Found, Failure> {
        let (coding, bytes) = match self.stored {
            Stored::Plain(bytes) => (Coding::Identity, Bytes::from_static(bytes)),
            Stored::Compressed(gzip, brotli) => match codings.first() {
                Some(Coding::Brotli) => (Coding::Brotli, Bytes::from_static(brotli)),
                Some(Coding::Gzip) => (Coding::Gzip, Bytes::from_static(gzip)),
                Some(Coding::Identity) | None => (Coding::Identity, self.unpacked(gzip)?),
            },
        };
        let hash = self.hash.get_or_init(|| match self.stored {
            Stored::Plain(bytes) | Stored::Compressed(bytes, _) => short_hash(bytes),
        });
        Ok(Found { coding, bytes, etag: format!("\"{hash}{}\"", coding.suffix()), turn: None })
    }

    /// The file uncompressed, for the clients that want it so; it is kept.
    fn unpacked(&self, gzip: &'static [u8]) -> Result<Bytes, Failure> {
        let unpack = || {
            let mut bytes = Vec::new();
            GzDecoder::new(gzip).take(LARGEST).read_to_end(&mut bytes).ok()?;
            Some(Bytes::from(bytes))
        };
        let kept = self.unpacked.get_or_init(unpack).clone();
        kept.ok_or_else(|| Failure::internal(format!("the console's {} is no gzip", self.name)))
    }
}

include!(concat!(env!("OUT_DIR"), "/console_files.rs"));

fn short_hash(bytes: &[u8]) -> String {
    let mut hash = crypto::sha256(bytes);
    hash.truncate(32);
    hash
}

/// A file as it is sent.
struct Found {
    coding: Coding,
    bytes: Bytes,
    etag: String,
    /// The turn in which it was read from a folder.
    turn: Option<Turn<Client>>,
}

/// Whether a path leads to the console's files: all of `/console` but its API.
pub fn covers(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("/console") else { return false };
    let Some(name) = rest.strip_prefix('/') else { return rest.is_empty() };
    let first = name.split('/').next().unwrap_or_default();
    percent_decode(first).is_none_or(|first| first != "api")
}

/// Adds the headers that every answer below `/console` has, its API apart.
pub fn secure(reply: &mut Reply) {
    reply.headers.extend(HEADERS.map(|(name, value)| (name, value.to_owned())));
}

/// Whether there is a console to open.
pub fn built(config: &Config) -> bool {
    config.console.is_some() || !FILES.is_empty()
}

/// Refuses a folder in which there is no console.
///
/// # Errors
/// The setting, and what to do.
pub fn check(config: &Config) -> Result<(), String> {
    match &config.console {
        Some(folder) if !folder.join(INDEX).is_file() => Err(format!(
            "console: {} has no {INDEX}; build the console with scripts/console.sh",
            folder.display()
        )),
        _ => Ok(()),
    }
}

/// The answer to a request below `/console` that no row of the table takes.
///
/// # Errors
/// 404 for files that do not exist; 429 when the files of a folder are read faster than they are sent.
pub async fn answer(app: &Arc<App>, head: &Parts, request: &str) -> Outcome {
    if !matches!(head.method, Method::GET | Method::HEAD) {
        let failure = Failure::new(error_codes::METHOD_NOT_ALLOWED, "this path supports only GET and HEAD");
        let headers = vec![("allow", "GET, HEAD".to_owned())];
        return Ok(Reply { headers, ..Reply::failure(&failure, request) });
    }
    let Some(name) = head.uri.path().strip_prefix(PREFIX) else {
        let query = head.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let mut reply = Reply::bytes(308, "text/plain", "");
        reply.headers.push(("location", format!("{PREFIX}{query}")));
        return Ok(reply);
    };
    if let Some(reply) = file(app, name, &head.headers).await? {
        return Ok(reply);
    }
    if name.starts_with(HASHED) {
        let message = "the console has no such file; it may have been replaced: load the page again";
        return Err(Failure::new(error_codes::NOT_FOUND, message));
    }
    let absent =
        || Reply::bytes(404, "text/html; charset=utf-8", include_str!("../../assets/no_console.html"));
    Ok(index(app, &head.headers).await?.unwrap_or_else(absent))
}

/// The page of the console; `None` without a console.
///
/// # Errors
/// As [`answer`].
pub async fn index(app: &App, headers: &HeaderMap) -> Result<Option<Reply>, Failure> {
    file(app, INDEX, headers).await
}

async fn file(app: &App, name: &str, headers: &HeaderMap) -> Result<Option<Reply>, Failure> {
    let codings = accepted(headers);
    let found = match &app.config.console {
        Some(folder) => read(app, folder, name, codings).await?,
        None => embedded(&FILES, name, &codings)?,
    };
    Ok(found.map(|found| reply(name, found, headers)))
}

fn embedded(files: &[Embedded], name: &str, codings: &[Coding]) -> Result<Option<Found>, Failure> {
    files.iter().find(|file| file.name == name).map(|file| file.find(codings)).transpose()
}

/// A file of a folder, of the compressed ones beside it the first that the client takes.
async fn read(app: &App, folder: &Path, name: &str, codings: Vec<Coding>) -> Result<Option<Found>, Failure> {
    if !is_name(name) {
        return Ok(None);
    }
    let turn = turn(app, Client::Stranger).await?;
    let path = folder.join(name);
    let load = move || codings.into_iter().find_map(|coding| Some((coding, load(&path, coding)?)));
    let loaded = blocking::run(load).await.map_err(|why| Failure::internal(why.to_string()))?;
    Ok(loaded.map(|(coding, bytes)| Found {
        coding,
        etag: format!("\"{}{}\"", short_hash(&bytes), coding.suffix()),
        bytes,
        turn: Some(turn),
    }))
}

fn load(path: &Path, coding: Coding) -> Option<Bytes> {
    let mut name = path.as_os_str().to_owned();
    name.push(coding.suffix());
    let path = PathBuf::from(name);
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LARGEST).then(|| bytes.into())
}

/// Whether a path is one as builds of the console name their files. No other is looked for, so none leads out of a
/// folder.
fn is_name(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    name.split('/').all(plain) && !name.ends_with(".br") && !name.ends_with(".gz")
}

fn reply(name: &str, found: Found, headers: &HeaderMap) -> Reply {
    let kind = content_type(name);
    let mut reply = if is_known(headers, &found.etag) {
        Reply::bytes(304, kind, Bytes::new())
    } else {
        let mut reply = Reply::bytes(200, kind, found.bytes);
        reply.headers.extend(found.coding.name().map(|coding| ("content-encoding", coding.to_owned())));
        reply
    };
    let kept = if name.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
    reply.headers.push(("cache-control", kept.into()));
    reply.headers.push(("vary", "accept-encoding".into()));
    reply.headers.push(("etag", found.etag));
    reply.turn = found.turn;
    reply
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn headers(sent: &[(&'static str, &str)]) -> HeaderMap {
        sent.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn gzip(text: &str) -> &'static [u8] {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap().leak()
    }

    #[test]
    fn a_client_gets_the_coding_that_it_prefers() {
        use Coding::{Brotli, Gzip, Identity};
        for (sent, expected) in [
            ("", vec![Identity]),
            ("gzip, deflate, br, zstd", vec![Brotli, Gzip, Identity]),
            ("gzip, deflate", vec![Gzip, Identity]),
            ("br;q=0.5, gzip;q=0.8", vec![Gzip, Brotli, Identity]),
            ("BR ; Q=1.0", vec![Brotli, Identity]),
            ("br;q=0, *;q=0.1", vec![Gzip, Identity]),
            ("identity, gzip;q=0.5", vec![Identity, Gzip]),
            ("identity;q=0", vec![Identity]),
            ("*;q=0", vec![Identity]),
            ("gzip;q=NaN, br;q=, deflate;q=inf", vec![Identity]),
            (",,;;,gzip;;q=1", vec![Identity]),
        ] {
            assert_eq!(accepted(&headers(&[("accept-encoding", sent)])), expected, "{sent}");
        }
        assert_eq!(accepted(&HeaderMap::new()), [Identity]);
        let twice = headers(&[("accept-encoding", "gzip")]);
        let mut twice = twice;
        twice.append("accept-encoding", "br".parse().unwrap());
        assert_eq!(accepted(&twice), [Brotli, Gzip, Identity]);
    }

    #[test]
    fn a_file_of_the_binary_is_given_as_the_client_takes_it() {
        let files = [
            Embedded::new("assets/a-1.js", Stored::Compressed(gzip("let a"), b"brotli")),
            Embedded::new("assets/b-2.woff2", Stored::Plain(b"font")),
            Embedded::new("broken.css", Stored::Compressed(b"no gzip", b"")),
        ];
        let find = |name: &str, codings: &[Coding]| {
            let found = embedded(&files, name, codings).unwrap().unwrap();
            (found.coding, String::from_utf8_lossy(&found.bytes).into_owned(), found.etag)
        };
        let (coding, text, brotli) = find("assets/a-1.js", &Coding::ALL);
        assert_eq!((coding, text.as_str()), (Coding::Brotli, "brotli"));
        let (coding, text, plain) = find("assets/a-1.js", &[Coding::Identity]);
        assert_eq!((coding, text.as_str()), (Coding::Identity, "let a"));
        let (coding, _, packed) = find("assets/a-1.js", &[Coding::Gzip, Coding::Identity]);
        assert_eq!(coding, Coding::Gzip);
        assert!(brotli != plain && plain != packed && packed != brotli, "each has a tag of its own");
        // Two requests get the same bytes: the file was unpacked once.
        let address = || embedded(&files, "assets/a-1.js", &[]).unwrap().unwrap().bytes.as_ptr();
        assert_eq!(address(), address());
        let (coding, text, _) = find("assets/b-2.woff2", &Coding::ALL);
        assert_eq!((coding, text.as_str()), (Coding::Identity, "font"), "it is there only so");
        assert!(embedded(&files, "assets/a-1.js.gz", &Coding::ALL).unwrap().is_none());
        let broken = embedded(&files, "broken.css", &[Coding::Identity]).err().unwrap();
        assert_eq!(broken.error.status, 500);
    }

    #[test]
    fn what_is_in_the_binary_is_a_whole_console() {
        for file in &FILES {
            assert!(is_name(file.name), "{}", file.name);
            let plain = file.find(&[Coding::Identity]).unwrap_or_else(|why| panic!("{}: {why:?}", file.name));
            assert!((plain.bytes.len() as u64) < LARGEST, "{} is cut off", file.name);
        }
        let has = |name: &str| FILES.iter().any(|file| file.name == name);
        assert!(FILES.is_empty() || has(INDEX));
    }

    #[test]
    fn only_plain_names_are_looked_for() {
        for name in ["index.html", "assets/inter-latin_1.woff2", "a/b/c.js"] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "/",
            "a//b",
            "/etc/passwd",
            "..",
            "../x",
            "a/../b",
            ".env",
            "a/.b",
            "%2e%2e/x",
            "..%2fx",
            "a\\b",
            "c:x",
            "a b",
            "x.js.gz",
            "x.js.br",
            "ä.js",
            "a\0",
        ] {
            assert!(!is_name(name), "{name:?}");
        }
    }

    #[test]
    fn the_api_is_not_the_files() {
        for path in [
            "/console",
            "/console/",
            "/console/apis",
            "/console/ws_1/calls",
            "/console/a/api",
            "/console/%zz",
        ] {
            assert!(covers(path), "{path}");
        }
        for path in [
            "/",
            "/consoles",
            "/console.html",
            "/console/api",
            "/console/api/",
            "/console/api/me",
            "/console/%61pi/me",
        ] {
            assert!(!covers(path), "{path}");
        }
    }
}
