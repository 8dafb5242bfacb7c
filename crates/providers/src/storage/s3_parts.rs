//! Objects that are stored in parts: multipart uploads of S3.
//!
//! `rusty-s3` has the requests with an empty body; those that carry XML are built here over its signatures, so that no
//! second library reads XML. Only single elements of a response are read.

use std::time::Duration;

use domain::ports::{Answer, Completed, ObjectParts, ProviderError, ProviderFault};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG};
use http::{HeaderMap, Method, StatusCode};
use rusty_s3::{Map, Method as Verb, S3Action, signing};
use url::Url;

use super::key;
use super::s3::{LONGEST_XML, S3, SIGNED_FOR, code};
use crate::http::Body;

/// Longest id of an upload, and longest tag of a part, that are accepted, bytes.
const LONGEST_WORD: usize = 1024;
/// Most uploads of one key that are listed.
const MOST_UPLOADS: usize = 100;

/// A request that is signed over its query: a `POST` or a `GET`.
struct Asked<'a, const POST: bool> {
    of: &'a S3,
    /// The object; none for the bucket.
    key: Option<&'a str>,
    query: Map<'a>,
    headers: Map<'a>,
}

impl<'a, const POST: bool> Asked<'a, POST> {
    fn new(of: &'a S3, key: Option<&'a str>, query: &[(&'static str, &'a str)]) -> Self {
        let mut map = Map::new();
        for (name, value) in query {
            map.insert(*name, *value);
        }
        Self { of, key, query: map, headers: Map::new() }
    }
}

impl<'a, const POST: bool> S3Action<'a> for Asked<'a, POST> {
    const METHOD: Verb = if POST { Verb::Post } else { Verb::Get };

    fn query_mut(&mut self) -> &mut Map<'a> {
        &mut self.query
    }

    fn headers_mut(&mut self) -> &mut Map<'a> {
        &mut self.headers
    }

    fn sign_with_time(&self, expires_in: Duration, time: &jiff::Timestamp) -> Url {
        let (bucket, credentials) = (&self.of.bucket, &self.of.credentials);
        let url = self.key.map_or_else(|| bucket.base_url().clone(), |key| bucket.object_url(key));
        signing::sign(
            time,
            Self::METHOD,
            url,
            credentials.key(),
            credentials.secret(),
            credentials.token(),
            bucket.region(),
            expires_in.as_secs(),
            self.query.iter(),
            self.headers.iter(),
        )
    }
}

/// The text of the first element of this name.
fn element<'x>(xml: &'x str, name: &str) -> Option<&'x str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

/// An opaque value of the service that is sent back to it later.
fn word(text: &str) -> Option<String> {
    let plain = text.replace("&quot;", "\"").replace("&#34;", "\"").replace("&lt;", "<").replace("&gt;", ">");
    let plain = plain.replace("&amp;", "&");
    let good =
        !plain.is_empty() && plain.len() <= LONGEST_WORD && plain.bytes().all(|byte| byte.is_ascii_graphic());
    good.then_some(plain)
}

/// The list of parts of an object, part 1 first.
fn list(tags: &[String]) -> String {
    let mut xml = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">".to_owned();
    for (at, tag) in tags.iter().enumerate() {
        let tag = tag.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        xml.push_str(&format!("<Part><PartNumber>{}</PartNumber><ETag>{tag}</ETag></Part>", at + 1));
    }
    xml.push_str("</CompleteMultipartUpload>");
    xml
}

/// The uploads to this key in a list of uploads.
fn uploads(xml: &str, key: &str) -> Vec<String> {
    let listed = xml.split("<Upload>").skip(1).take(MOST_UPLOADS);
    let ours = listed.filter(|one| element(one, "Key") == Some(key));
    ours.filter_map(|one| element(one, "UploadId").and_then(word)).collect()
}

fn header(headers: &HeaderMap, name: http::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

impl S3 {
    /// The response: its status, its headers and its XML.
    async fn said(&self, answer: Body) -> Result<(StatusCode, HeaderMap, String), ProviderError> {
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = answer.whole(LONGEST_XML).await?;
        Ok((status, headers, String::from_utf8_lossy(&body).into_owned()))
    }
}

impl ObjectParts for S3 {
    fn begin<'a>(&'a self, key: &'a str, content_type: &'a str) -> Answer<'a, Result<String, ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let signed = Asked::<true>::new(self, Some(key), &[("uploads", "1")]).sign(SIGNED_FOR);
            let kind = Some((CONTENT_TYPE, content_type.to_owned()));
            let answer = self.ask(Method::POST, signed, kind, Vec::new()).await?;
            let (status, _, body) = self.said(answer).await?;
            if !status.is_success() {
                return Err(self.refusal(status, &body));
            }
            element(&body, "UploadId")
                .and_then(word)
                .ok_or_else(|| self.peer.broken("an upload was begun without an id"))
        })
    }

    fn add<'a>(
        &'a self,
        key: &'a str,
        upload: &'a str,
        number: u16,
        body: Vec<u8>,
    ) -> Answer<'a, Result<Option<String>, ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let asked = self.bucket.upload_part(Some(&self.credentials), key, number, upload);
            let answer = self.ask(Method::PUT, asked.sign(SIGNED_FOR), None, body).await?;
            let (status, headers, body) = self.said(answer).await?;
            if status == StatusCode::NOT_FOUND && code(&body) == Some("NoSuchUpload") {
                return Ok(None);
            }
            if !status.is_success() {
                return Err(self.refusal(status, &body));
            }
            let tag = header(&headers, ETAG).and_then(word);
            tag.map(Some).ok_or_else(|| self.peer.broken("a part was stored without a tag"))
        })
    }

    fn complete<'a>(
        &'a self,
        key: &'a str,
        upload: &'a str,
        tags: &'a [String],
    ) -> Answer<'a, Result<Completed, ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let signed = Asked::<true>::new(self, Some(key), &[("uploadId", upload)]).sign(SIGNED_FOR);
            let kind = Some((CONTENT_TYPE, "application/xml".to_owned()));
            let answer = self.ask(Method::POST, signed, kind, list(tags).into_bytes()).await?;
            let (status, _, body) = self.said(answer).await?;
            match code(&body) {
                Some("NoSuchUpload") => Ok(Completed::Gone),
                Some("InvalidPart" | "InvalidPartOrder" | "EntityTooSmall") => Ok(Completed::Unlike),
                // The response may begin with 200 before the service knows the outcome.
                Some(_) if status.is_success() => Err(self.refusal(StatusCode::BAD_GATEWAY, &body)),
                _ if !status.is_success() => Err(self.refusal(status, &body)),
                _ if body.contains("CompleteMultipartUploadResult") => Ok(Completed::Done),
                _ => Err(self.peer.broken("the end of an upload was answered with something else")),
            }
        })
    }

    fn abort<'a>(&'a self, key: &'a str, upload: &'a str) -> Answer<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let asked = self.bucket.abort_multipart_upload(Some(&self.credentials), key, upload);
            let answer = self.ask(Method::DELETE, asked.sign(SIGNED_FOR), None, Vec::new()).await?;
            let (status, _, body) = self.said(answer).await?;
            let missing = status == StatusCode::NOT_FOUND && code(&body) != Some("NoSuchBucket");
            if status.is_success() || missing { Ok(()) } else { Err(self.refusal(status, &body)) }
        })
    }

    fn begun<'a>(&'a self, key: &'a str) -> Answer<'a, Result<Vec<String>, ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let query = [("max-uploads", "100"), ("prefix", key), ("uploads", "1")];
            let signed = Asked::<false>::new(self, None, &query).sign(SIGNED_FOR);
            let answer = self.ask(Method::GET, signed, None, Vec::new()).await?;
            let (status, _, body) = self.said(answer).await?;
            if !status.is_success() {
                return Err(self.refusal(status, &body));
            }
            if !body.contains("ListMultipartUploadsResult") {
                return Err(self.peer.broken("a list of uploads was answered with something else"));
            }
            Ok(uploads(&body, key))
        })
    }

    fn size<'a>(&'a self, key: &'a str) -> Answer<'a, Result<Option<u64>, ProviderError>> {
        Box::pin(async move {
            key::check(key)?;
            let signed = self.bucket.head_object(Some(&self.credentials), key).sign(SIGNED_FOR);
            let answer = self.ask(Method::HEAD, signed, None, Vec::new()).await?;
            match answer.status() {
                StatusCode::NOT_FOUND => Ok(None),
                status if status.is_success() => {
                    let bytes = header(answer.headers(), CONTENT_LENGTH).and_then(|text| text.parse().ok());
                    bytes.map(Some).ok_or_else(|| {
                        self.peer.error(ProviderFault::Broken, "an object was named without its size")
                    })
                }
                _ => Err(self.failure(answer).await),
            }
        })
    }
}

/// For the fuzzers: what is read of an answer.
#[doc(hidden)]
pub mod fuzzing {
    use super::{element, list, uploads, word};
    use crate::storage::s3;

    /// The code of an error.
    pub fn code(xml: &str) -> Option<&str> {
        s3::code(xml)
    }

    /// The uploads to a key, in a list of uploads.
    pub fn uploads_to(xml: &str, key: &str) -> Vec<String> {
        uploads(xml, key)
    }

    /// The word of an element, and the same as it is read again of a request that sends it back.
    pub fn sent_back(xml: &str, name: &str) -> Option<(String, Option<String>)> {
        let came = element(xml, name).and_then(word)?;
        let sent = list(std::slice::from_ref(&came));
        let again = element(&sent, "ETag").and_then(word);
        Some((came, again))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_travel_as_they_came() {
        let tag = word("&quot;9bb58f26192e4ba00f01e2e7b136bbd8-2&quot;").unwrap();
        assert_eq!(tag, "\"9bb58f26192e4ba00f01e2e7b136bbd8-2\"");
        assert!(list(&[tag]).contains(
            "<Part><PartNumber>1</PartNumber><ETag>&quot;9bb58f26192e4ba00f01e2e7b136bbd8-2&quot;</ETag></Part>"
        ));
        assert_eq!(word("a&lt;b&gt;c&amp;lt;").as_deref(), Some("a<b>c&lt;"));
        for odd in ["", "a b", "a\nb", "ä"] {
            assert_eq!(word(odd), None, "{odd:?}");
        }
        assert_eq!(word(&"a".repeat(1025)), None);
    }
}
