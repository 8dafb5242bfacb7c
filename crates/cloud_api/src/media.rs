//! Media: fetched in two steps, uploaded in one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use data_encoding::HEXLOWER;
use domain::channel::errors::ProviderError;
use domain::channel::provider::{Account, Fault, FetchedMedia, Sample};
use ring::digest::{SHA256, digest};
use serde_json::Value;

use crate::client::Cloud;
use crate::wire::{Ask, Unanswered, accepted, as_code, one_line, path, unreached};

/// Attempts to download from an address that is valid for a few minutes only.
const ADDRESSES: usize = 2;

/// Fetches a file. Its address is valid for minutes; an expired one is requested once more.
pub(crate) async fn fetch(
    cloud: &Cloud,
    account: &Account,
    from: &str,
    media: &str,
    most: usize,
) -> Result<FetchedMedia, Fault> {
    let mut last = Fault::Unclear("no answer".into());
    for _ in 0..ADDRESSES {
        let ask = Ask::get(path(&[media], &[("phone_number_id", from)]));
        let about = accepted(account, cloud.exchange(account, ask).await)?;
        let size = about.get("file_size").and_then(as_code).unwrap_or(0);
        if usize::try_from(size).is_ok_and(|size| size > most) {
            return Err(too_large());
        }
        let Some(url) = about.get("url").and_then(Value::as_str) else {
            return Err(Fault::Unclear("the answer names no address of the file".into()));
        };
        let response = match cloud.download(&account.token, url, most).await {
            Ok(response) => response,
            Err(Unanswered::Unsent(said)) => return Err(Fault::Later(unreached(&said))),
            Err(Unanswered::Unclear(said)) => return Err(Fault::Unclear(said)),
        };
        if response.truncated {
            return Err(too_large());
        }
        if response.status.is_success() {
            return taken(&about, &response);
        }
        let status = response.status.as_u16();
        last = match status {
            400..=499 => Fault::Refused(ProviderError::of(131_052, format!("the file answered {status}"))),
            _ => Fault::Unclear(format!("the file answered {status}")),
        };
        if !matches!(status, 401 | 403 | 404 | 410) {
            break;
        }
    }
    Err(last)
}

fn too_large() -> Fault {
    Fault::Refused(ProviderError::of(131_052, "the file is larger than the channel allows"))
}

/// The file, if it has the announced hash.
fn taken(about: &Value, response: &providers::guarded_client::Response) -> Result<FetchedMedia, Fault> {
    let sum = digest(&SHA256, &response.body);
    if let Some(announced) = about.get("sha256").and_then(Value::as_str)
        && announced != HEXLOWER.encode(sum.as_ref())
        && announced != STANDARD.encode(sum.as_ref())
    {
        return Err(Fault::Unclear("the file is not the one that was announced".into()));
    }
    let header = response.headers.get(http::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let mime_type =
        about.get("mime_type").and_then(Value::as_str).or(header).unwrap_or("application/octet-stream");
    Ok(FetchedMedia { mime_type: one_line(mime_type, 120), bytes: response.body.to_vec() })
}

/// Uploads a file to be sent.
pub(crate) async fn upload(
    cloud: &Cloud,
    account: &Account,
    from: &str,
    file: &Sample,
) -> Result<String, Fault> {
    let (content_type, body) = form(file);
    let ask = Ask::bytes(path(&[from, "media"], &[]), &content_type, body);
    let answer = accepted(account, cloud.exchange(account, ask).await)?;
    let id = answer.get("id").and_then(Value::as_str);
    id.map(str::to_owned).ok_or_else(|| Fault::Unclear("the answer names no id of the file".into()))
}

/// A multipart form with the file, and its content type. The boundary is the hash of the file, which cannot occur in it.
fn form(file: &Sample) -> (String, Bytes) {
    let boundary = HEXLOWER.encode(digest(&SHA256, &file.bytes).as_ref());
    let plain = |text: &str| -> String {
        text.chars()
            .map(|sign| if sign.is_control() || matches!(sign, '"' | '\\') { '_' } else { sign })
            .collect()
    };
    let mut body = Vec::with_capacity(file.bytes.len() + 1_024);
    for (name, value) in [("messaging_product", "whatsapp"), ("type", &file.mime_type)] {
        let part = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{}\r\n",
            plain(value)
        );
        body.extend_from_slice(part.as_bytes());
    }
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
        plain(&file.name),
        plain(&file.mime_type),
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(&file.bytes);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_its_three_parts_and_cannot_be_broken_by_names() {
        let file =
            Sample { name: "a\"\r\nb.jpg".into(), mime_type: "image/jpeg".into(), bytes: b"bytes".to_vec() };
        let (kind, body) = form(&file);
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
        let text = String::from_utf8(body.to_vec()).unwrap();
        let parts: Vec<&str> = text.split(&format!("--{boundary}")).collect();
        assert_eq!(parts.len(), 5);
        assert!(parts[1].ends_with("name=\"messaging_product\"\r\n\r\nwhatsapp\r\n"), "{}", parts[1]);
        assert!(parts[2].ends_with("name=\"type\"\r\n\r\nimage/jpeg\r\n"), "{}", parts[2]);
        assert!(
            parts[3].contains("filename=\"a___b.jpg\"") && parts[3].ends_with("\r\n\r\nbytes\r\n"),
            "{}",
            parts[3]
        );
    }
}
