//! Web pages of a knowledge base (docs/contract/knowledge-files.md#links): fetched through the guarded client,
//! extracted in a sandboxed process, and fetched again when the same address is added again.

use std::sync::Arc;
use std::time::Duration;

use api::error_codes::{DOCUMENT_UNREADABLE, LINK_NOT_FETCHED, RATE_LIMITED};
use app::{App, Failure};
use bytes::Bytes;
use config::Config;
use domain::ids::{Id, KnowledgeBase};
use domain::knowledge::{Block, BlockKind, SourceKind};
use domain::ports::{Haste, Read, ReadOrder};
use domain::tenant::Tenant;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use providers::GuardedClient;
use providers::guarded_client::{Limits, Policy, PolicyError, Request, Response, SendError, SystemResolver};
use serde_json::json;
use tokio::time::Instant;
use url::Url;

use crate::documents::{self, Added};
use crate::{bases, files};

/// Most bytes of a page.
const MAX_PAGE: usize = 5 * 1024 * 1024;
/// Time for fetching a page, with its redirects.
const TIME: Duration = Duration::from_secs(20);
/// Most redirects that are followed.
const MAX_REDIRECTS: usize = 3;
/// Concurrent fetches of a workspace.
const AT_ONCE: usize = 4;
/// The warning for a page with little text.
const LITTLE_TEXT: &str =
    "little text could be read: the page seems to be built by a script; add its text as a document instead";

/// The client that fetches pages.
///
/// # Errors
/// The settings of TLS are unusable.
pub fn client(config: &Config) -> Result<GuardedClient, PolicyError> {
    let policy = Policy {
        allow_insecure: config.allow_insecure_webhooks || config.integrations.allow_insecure,
        user_agent: format!("{}-pages/1", config.brand.to_lowercase()),
        ..Policy::default()
    };
    GuardedClient::new(policy, Arc::new(SystemResolver::new()))
}

/// Adds a page, or fetches it again, with a warning if it has little text.
///
/// # Errors
/// There is no such base, or the page cannot be fetched or read; nothing was changed.
pub async fn add(
    app: &App,
    tenant: Tenant,
    base: Id<KnowledgeBase>,
    given: &str,
) -> Result<(Added, Option<&'static str>), Failure> {
    let (source, url) = address(given)?;
    // Nothing is fetched for a base that does not exist.
    bases::check(app, tenant, base).await?;
    let share = app.shares.pages.take(tenant, 1, AT_ONCE);
    let _share = share.ok_or_else(|| Failure {
        retry_after: Some(5),
        ..Failure::new(
            RATE_LIMITED,
            format!("more than {AT_ONCE} pages are being fetched at once; try again after some of them"),
        )
    })?;
    let (last, response) = fetch(&app.pages, url).await?;
    let order = order(&last, &response)?;
    let read = app.reader.read(tenant, Haste::Short, order).await;
    let Read { mut document, built_by_script } = read.map_err(|why| files::unread("the page", why))?;
    let says_nothing = document.blocks.is_empty();
    if says_nothing {
        // Its name at least can be found.
        let title = document.title.clone().ok_or_else(|| {
            Failure::new(
                DOCUMENT_UNREADABLE,
                "the page has no text, perhaps because a script renders it; add its text as a document \
                 instead",
            )
        })?;
        document.blocks.push(Block { kind: BlockKind::Paragraph, text: title, page: None });
    }
    let added = documents::add(app, None, tenant, base, source, SourceKind::Link, document).await?;
    Ok((added, (built_by_script || says_nothing).then_some(LITTLE_TEXT)))
}

/// The address as it is stored and requested: without the fragment, which no server sees.
fn address(given: &str) -> Result<(String, Url), Failure> {
    let wrong = || Failure::field("url", "must be the address of a page, such as https://example.com/help");
    let source = given.trim().split('#').next().unwrap_or_default().to_owned();
    let url = Url::parse(&source).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong());
    }
    Ok((source, url))
}

fn not_fetched(reason: &str, why: impl std::fmt::Display) -> Failure {
    Failure::new(LINK_NOT_FETCHED, format!("the page in url cannot be fetched: {why}"))
        .with_meta(json!({"reason": reason}))
}

fn failed(error: &SendError) -> Failure {
    not_fetched(error.code(), error)
}

/// Fetches a page. Each redirect is checked as the first address was.
async fn fetch(client: &GuardedClient, mut url: Url) -> Result<(Url, Response), Failure> {
    let until = Instant::now() + TIME;
    for _ in 0..=MAX_REDIRECTS {
        let target = client.check_url(url.as_str()).map_err(|why| not_fetched("address_refused", why))?;
        let limits = Limits {
            deadline: until.saturating_duration_since(Instant::now()),
            max_response_bytes: MAX_PAGE,
        };
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/html, text/plain;q=0.9, */*;q=0.5"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let request = Request { method: Method::GET, target, headers, body: Bytes::new() };
        let response = client.send(request, limits).await.map_err(|error| failed(&error))?;
        if !(response.status.is_redirection() && response.headers.contains_key(LOCATION)) {
            return check(response).map(|response| (url, response));
        }
        let next = text_of(&response, LOCATION).and_then(|next| url.join(next).ok());
        url = next.ok_or_else(|| not_fetched("redirect", "it redirects to something that is no address"))?;
        url.set_fragment(None);
    }
    Err(not_fetched("redirect", format!("it redirects more than {MAX_REDIRECTS} times")))
}

/// A page that was fetched completely.
fn check(response: Response) -> Result<Response, Failure> {
    if !response.status.is_success() {
        return Err(not_fetched("status", format!("the server answered {}", response.status.as_u16())));
    }
    if response.truncated {
        return Err(not_fetched("too_large", format!("it is larger than {} MB", MAX_PAGE / 1024 / 1024)));
    }
    if text_of(&response, CONTENT_ENCODING).is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity"))
    {
        return Err(not_fetched("encoding", "the server sends it compressed, though it was asked not to"));
    }
    let kind = text_of(&response, CONTENT_TYPE).unwrap_or_default();
    if ["image/", "audio/", "video/", "font/"].iter().any(|start| kind.starts_with(start)) {
        return Err(not_fetched("content_type", "it is no page, but an image, a sound or a video"));
    }
    Ok(response)
}

fn text_of(response: &Response, name: HeaderName) -> Option<&str> {
    response.headers.get(name)?.to_str().ok()
}

/// The metadata for the extraction.
fn order(url: &Url, response: &Response) -> Result<ReadOrder, Failure> {
    if response.body.is_empty() {
        return Err(not_fetched("empty", "the server answered with nothing"));
    }
    let kind = text_of(response, CONTENT_TYPE);
    let charset = kind.and_then(|kind| {
        let (_, charset) = kind.split_once("charset=")?;
        Some(charset.trim_matches(['"', '\'', ' ']).chars().take(40).collect())
    });
    let name = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    Ok(ReadOrder {
        bytes: response.body.to_vec(),
        name: name.chars().take(200).collect(),
        content_type: kind.map(|kind| kind.chars().take(200).collect()),
        charset,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_kept_as_it_was_given() {
        let (source, url) = address(" https://example.com/help?q=1#returns ").unwrap();
        assert_eq!(
            (source.as_str(), url.as_str()),
            ("https://example.com/help?q=1", "https://example.com/help?q=1")
        );
        let (source, url) = address("https://example.com/मदद").unwrap();
        assert_eq!(source, "https://example.com/मदद");
        assert!(url.as_str().is_ascii());
        for given in ["", "example.com/help", "ftp://example.com/a", "file:///etc/passwd", "https://", "#a"] {
            let failure = address(given).unwrap_err();
            assert_eq!((failure.error.status, failure.error.code), (400, "invalid_request"), "{given}");
        }
    }
}
