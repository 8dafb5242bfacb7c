//! Files in a `multipart/form-data` body (RFC 7578).

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use multer::{Constraints, Multipart, SizeLimit};

use crate::app::Failure;

/// A file of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name as the sender gives it; empty without one.
    pub name: String,
    pub bytes: Bytes,
}

/// What an upload has in the fields `file`, and the texts of its field `part`, each in its order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Upload {
    pub files: Vec<File>,
    pub parts: Vec<String>,
}

/// Longest text of a field that is no file.
const MAX_TEXT: u64 = 1024;

/// Reads the files of a body that is all there; other fields than `file` and `part` are passed over.
///
/// # Errors
/// 400 `invalid_request` for a body that is no upload, or has more than `most` files.
pub async fn read(headers: &HeaderMap, body: Bytes, most: usize) -> Result<Upload, Failure> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(kind)
        .map_err(|_| Failure::field("body", "must be multipart/form-data with a boundary"))?;
    let broken = |_| Failure::field("body", "must be complete multipart/form-data");
    let limits = Constraints::new().size_limit(SizeLimit::new().for_field("part", MAX_TEXT));
    let whole = futures_util::stream::once(std::future::ready(Ok::<_, std::io::Error>(body)));
    let mut fields = Multipart::with_constraints(whole, boundary, limits);
    let mut upload = Upload::default();
    while let Some(field) = fields.next_field().await.map_err(broken)? {
        match field.name() {
            Some("file") if upload.files.len() == most => {
                return Err(Failure::field("file", format!("must be sent at most {most} times")));
            }
            Some("file") => {
                let name = field.file_name().unwrap_or_default().to_owned();
                upload.files.push(File { name, bytes: field.bytes().await.map_err(broken)? });
            }
            Some("part") if upload.parts.len() == most => {
                return Err(Failure::field("part", format!("must be sent at most {most} times")));
            }
            Some("part") => upload
                .parts
                .push(field.text().await.map_err(|_| Failure::field("part", "must be a short text"))?),
            _ => {}
        }
    }
    if upload.files.is_empty() {
        return Err(Failure::field("file", "is required"));
    }
    Ok(upload)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    async fn upload(kind: &'static str, body: &'static str) -> Result<Upload, String> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
        read(&headers, Bytes::from_static(body.as_bytes()), 2).await.map_err(|failure| failure.message)
    }

    const KIND: &str = "multipart/form-data; boundary=b";

    #[tokio::test]
    async fn files_and_names_of_parts_are_read_and_the_rest_is_passed_over() {
        let body = "--b\r\ncontent-disposition: form-data; name=\"part\"\r\n\r\nfront\r\n\
            --b\r\ncontent-disposition: form-data; name=\"other\"\r\n\r\nx\r\n\
            --b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\ncontent-type: text/html\r\n\r\n%PDF-\r\n\
            --b\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\n\r\n--b--\r\n";
        let read = upload(KIND, body).await.unwrap();
        assert_eq!(read.parts, ["front"]);
        let files: Vec<_> = read.files.iter().map(|file| (file.name.as_str(), &file.bytes[..])).collect();
        assert_eq!(files, [("a.pdf", &b"%PDF-"[..]), ("", b"")]);
    }

    #[tokio::test]
    async fn what_is_no_upload_is_refused() {
        let file = "--b\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\nx\r\n";
        let three: &str = Box::leak(format!("{}--b--\r\n", file.repeat(3)).into_boxed_str());
        for (kind, body, said) in [
            ("application/json", "{}", "body must be multipart/form-data with a boundary"),
            ("multipart/form-data", "", "body must be multipart/form-data with a boundary"),
            (KIND, "", "body must be complete multipart/form-data"),
            (KIND, file, "body must be complete multipart/form-data"),
            (KIND, "--b--\r\n", "file is required"),
            (KIND, three, "file must be sent at most 2 times"),
        ] {
            assert_eq!(upload(kind, body).await, Err(said.to_owned()), "{body}");
        }
    }
}
