//! A bucket of an S3-compatible service, path-style.
//!
//! `rusty-s3` signs (AWS Signature Version 4, in the query). The body is not part of the signature: TLS protects it in
//! transit.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use domain::ports::{Answer, ObjectParts, ObjectStore, Pieces, ProviderError, ProviderFault};
use http::header::{CONTENT_TYPE, RANGE};
use http::{HeaderName, Method, StatusCode};
use rusty_s3::{Bucket, Credentials, S3Action, UrlStyle};
use url::Url;

use super::key;
use crate::http::{Body, Net, Peer, status_error};

/// Lifetime of a signature: it bounds how far this machine's clock may be behind.
pub(super) const SIGNED_FOR: Duration = Duration::from_secs(15 * 60);

/// Most bytes that are read of an answer in XML.
pub(super) const LONGEST_XML: usize = 64 * 1024;

/// Objects in a bucket.
#[derive(Clone)]
pub struct S3 {
    pub(super) peer: Peer,
    pub(super) bucket: Bucket,
    pub(super) credentials: Credentials,
}

impl fmt::Debug for S3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3").field("peer", &self.peer).field("bucket", &self.bucket).finish_non_exhaustive()
    }
}

impl S3 {
    /// The bucket at `endpoint` (`https://host[:port]`); `timeout` is for the wait for each answer.
    ///
    /// # Errors
    /// The setting that is wrong and why; never a secret.
    pub fn new(
        net: &Net,
        endpoint: &str,
        region: &str,
        bucket: &str,
        access_key: &str,
        secret_key: &str,
        timeout: Duration,
    ) -> Result<S3, String> {
        for (name, value) in
            [("region", region), ("bucket", bucket), ("access_key", access_key), ("secret_key", secret_key)]
        {
            if value.is_empty() || value.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
                return Err(format!("storage: {name}: must be set, without spaces"));
            }
        }
        let peer = Peer::new(net, key::NAME, endpoint, timeout, &[])?;
        let bucket = Url::parse(&peer.base.url(peer.base.path()))
            .ok()
            .and_then(|url| Bucket::new(url, UrlStyle::Path, bucket.to_owned(), region.to_owned()).ok())
            .ok_or("storage: endpoint: not an address such as https://host")?;
        Ok(S3 { peer, bucket, credentials: Credentials::new(access_key, secret_key) })
    }

    /// Sends a signed request for an object, or for the bucket itself.
    pub(super) async fn ask(
        &self,
        method: Method,
        signed: Url,
        more: Option<(HeaderName, String)>,
        body: Vec<u8>,
    ) -> Result<Body, ProviderError> {
        let path_and_query = &signed[url::Position::BeforePath..];
        self.peer.ask(method, path_and_query, more.as_slice(), Bytes::from(body)).await
    }

    /// The failure in a response. The body is XML; its code has no secret and shows an operator what is wrong.
    pub(super) async fn failure(&self, answer: Body) -> ProviderError {
        let status = answer.status();
        let body = answer.whole(LONGEST_XML).await.unwrap_or_default();
        self.refusal(status, &String::from_utf8_lossy(&body))
    }

    /// The failure of a status and a body.
    pub(super) fn refusal(&self, status: StatusCode, body: &str) -> ProviderError {
        let mut error = status_error(&self.peer.name, status, &[]);
        if let Some(code) = code(body) {
            error.detail.push_str(&format!(" ({code})"));
            if matches!(code, "SlowDown" | "QuotaExceeded" | "XMinioStorageFull") {
                error.fault = ProviderFault::Limited;
            }
        }
        error
    }
}

/// The code in the XML of an error, if it is a word.
pub(super) fn code(body: &str) -> Option<&str> {
    let (_, rest) = body.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    (code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(code)
}

/// A range of an object. Dropping it closes its connection.
struct Part {
    answer: Body,
    left: u64,
}

fn part(answer: Body, length: u64) -> Box<dyn Pieces> {
    Box::new(Part { answer, left: length })
}

impl Pieces for Part {
    fn next(&mut self) -> Answer<'_, Result<Option<Vec<u8>>, ProviderError>> {
        Box::pin(async move {
            if self.left == 0 {
                return Ok(None);
            }
            let Some(piece) = self.answer.next().await? else { return Ok(None) };
            let kept = usize::try_from(self.left).unwrap_or(usize::MAX).min(piece.len());
            self.left -= kept as u64;
            Ok(Some(piece[..kept].to_vec()))
        })
    }
}

impl ObjectStore for S3 {
    fn put<'a>(
        &'a self,
        key: &'a str,
        content_type: &'a str,
        body: Vec<u8>,
    ) -> Answer<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let signed = self.bucket.put_object(Some(&self.credentials), key).sign(SIGNED_FOR);
            let kind = Some((CONTENT_TYPE, content_type.to_owned()));
            let answer = self.ask(Method::PUT, signed, kind, body).await?;
            if answer.status().is_success() { Ok(()) } else { Err(self.failure(answer).await) }
        })
    }

    fn open<'a>(
        &'a self,
        key: &'a str,
        first: u64,
        length: u64,
    ) -> Answer<'a, Result<Option<Box<dyn Pieces>>, ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let whole = first == 0 && length == u64::MAX;
            let range = (!whole)
                .then(|| (RANGE, format!("bytes={first}-{}", first.saturating_add(length.max(1)) - 1)));
            let signed = self.bucket.get_object(Some(&self.credentials), key).sign(SIGNED_FOR);
            let answer = self.ask(Method::GET, signed, range, Vec::new()).await?;
            match answer.status() {
                StatusCode::PARTIAL_CONTENT if !whole => Ok(Some(part(answer, length))),
                // A service that ignores ranges sends the whole object, whose beginning is the range.
                StatusCode::OK if first == 0 => Ok(Some(part(answer, length))),
                StatusCode::NOT_FOUND => {
                    let failure = self.failure(answer).await;
                    if failure.detail.contains("NoSuchBucket") { Err(failure) } else { Ok(None) }
                }
                _ => Err(self.failure(answer).await),
            }
        })
    }

    fn delete<'a>(&'a self, key: &'a str) -> Answer<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let signed = self.bucket.delete_object(Some(&self.credentials), key).sign(SIGNED_FOR);
            let answer = self.ask(Method::DELETE, signed, None, Vec::new()).await?;
            if answer.status().is_success() {
                return Ok(());
            }
            let missing = answer.status() == StatusCode::NOT_FOUND;
            let failure = self.failure(answer).await;
            if missing && !failure.detail.contains("NoSuchBucket") { Ok(()) } else { Err(failure) }
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            let signed = self.bucket.head_bucket(Some(&self.credentials)).sign(SIGNED_FOR);
            let answer = self.ask(Method::HEAD, signed, None, Vec::new()).await?;
            if answer.status().is_success() {
                Ok(format!("bucket {} reached", self.bucket.name()))
            } else {
                Err(self.failure(answer).await)
            }
        })
    }

    fn parts(&self) -> Option<&dyn ObjectParts> {
        Some(self)
    }
}
