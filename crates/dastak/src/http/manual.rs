//! The manual below `/docs` (crates/manual), and `/llms.txt`: the same for everybody, without a key or a cookie. `/docs` itself
//! is a row of the table.

use std::sync::Arc;

use http::{HeaderMap, Method, header};

use super::codings::{Coding, accepted, per_mille};
use super::handler::{Outcome, Reply, is_known};
use crate::app::api_documents::PackedFile;
use crate::app::{App, Failure};
use crate::runtime::blocking;
use api::error_codes;

/// The path of its start page.
const START: &str = "/docs";

/// With these, nothing but the manual's own script and style runs on a page, a page talks to this service only, and no page of
/// anybody frames it.
const HEADERS: [(&str, &str); 4] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         font-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

/// Whether a path leads to the manual.
pub fn covers(path: &str) -> bool {
    let below = path.strip_prefix(START).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']));
    below || path == "/llms.txt"
}

/// Adds the headers that every answer of the manual has.
pub fn secure(reply: &mut Reply) {
    reply.headers.extend(HEADERS.map(|(name, value)| (name, value.to_owned())));
}

/// The answer to a request of the manual that no row of the table takes.
///
/// # Errors
/// 500 when the manual cannot be made.
pub async fn answer(app: &Arc<App>, head: &http::request::Parts, request: &str) -> Outcome {
    if !matches!(head.method, Method::GET | Method::HEAD) {
        let failure = Failure::new(error_codes::METHOD_NOT_ALLOWED, "this path supports only GET and HEAD");
        let headers = vec![("allow", "GET, HEAD".to_owned())];
        return Ok(Reply { headers, ..Reply::failure(&failure, request) });
    }
    page(app, head.uri.path(), &head.headers).await
}

/// A file of the manual: a page as HTML, or as Markdown where the client prefers it.
///
/// # Errors
/// 500 when the manual cannot be made.
pub async fn page(app: &Arc<App>, path: &str, headers: &HeaderMap) -> Outcome {
    if let Some(shorter) = path.strip_suffix('/') {
        let mut reply = Reply::bytes(308, "text/plain", "");
        reply.headers.push(("location", shorter.trim_end_matches('/').to_owned()));
        return Ok(reply);
    }
    let maker = app.clone();
    let made = blocking::run(move || maker.documents.manual(&maker.config).map(|_| ())).await;
    made.map_err(|why| Failure::internal(why.to_string()))?
        .map_err(|why| Failure::internal(why.to_string()))?;
    let manual = app.documents.manual(&app.config).map_err(|why| Failure::internal(why.to_string()))?;
    let markdown = prefers_markdown(headers).then(|| manual.file(&format!("{path}.md"))).flatten();
    Ok(match markdown.or_else(|| manual.file(path)) {
        Some(file) => reply(200, file, headers),
        None => reply(404, &manual.missing, headers),
    })
}

fn reply(status: u16, file: &PackedFile, headers: &HeaderMap) -> Reply {
    let gzip = accepted(headers).into_iter().find(|coding| *coding != Coding::Brotli) == Some(Coding::Gzip);
    let etag = format!("\"{}{}\"", file.hash, if gzip { ".gz" } else { "" });
    let mut reply = if status == 200 && is_known(headers, &etag) {
        Reply::bytes(304, file.content_type, "")
    } else if gzip {
        let mut reply = Reply::bytes(status, file.content_type, file.gzip.clone());
        reply.headers.push(("content-encoding", "gzip".into()));
        reply
    } else {
        Reply::bytes(status, file.content_type, file.plain())
    };
    reply.headers.push(("cache-control", "no-cache".into()));
    reply.headers.push(("vary", "accept, accept-encoding".into()));
    if status == 200 {
        reply.headers.push(("etag", etag));
    }
    reply
}

/// Whether a client names Markdown and likes it no less than HTML.
fn prefers_markdown(headers: &HeaderMap) -> bool {
    let (mut markdown, mut html) = (None, None);
    let sent = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    for part in sent.flat_map(|value| value.split(',')) {
        let (name, weight) =
            part.split_once(';').map_or((part, 1000), |(name, weight)| (name, per_mille(weight)));
        match name.trim().to_ascii_lowercase().as_str() {
            "text/markdown" => markdown = Some(weight),
            "text/html" => html = Some(weight),
            _ => {}
        }
    }
    markdown.is_some_and(|weight| weight > 0 && weight >= html.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_that_name_markdown_get_it() {
        for (sent, expected) in [
            ("text/markdown", true),
            ("text/markdown, */*", true),
            ("text/markdown, text/html;q=0.9, */*;q=0.8", true),
            ("text/html, text/markdown;q=0.5", false),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false),
            ("*/*", false),
            ("text/markdown;q=0", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, sent.parse().unwrap())]);
            assert_eq!(prefers_markdown(&headers), expected, "{sent}");
        }
        assert!(!prefers_markdown(&HeaderMap::new()));
    }

    #[test]
    fn only_paths_of_the_manual_are_its_own() {
        for path in ["/docs", "/docs/", "/docs.md", "/docs/guides/nudges", "/llms.txt"] {
            assert!(covers(path), "{path}");
        }
        for path in ["/", "/docsx", "/v1/docs", "/llms.txt/x", "/doc"] {
            assert!(!covers(path), "{path}");
        }
    }
}
