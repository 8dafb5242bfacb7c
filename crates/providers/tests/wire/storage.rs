//! A bucket that verifies every signature independently.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use data_encoding::HEXLOWER;
use domain::ports::{ObjectStore, ProviderFault};
use providers::storage::S3;
use ring::digest::{SHA256, digest};
use ring::hmac::{HMAC_SHA256, Key, sign};

use crate::fakes::net;
use crate::server::{Answer, Request, Server, answer, soon};

const SECRET: &str = "hush-hush";

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    sign(&Key::new(HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

/// Whether the query of the request holds the signature that this request must have.
fn is_signed(request: &Request) -> bool {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let Some((signed, given)) = query.split_once("&X-Amz-Signature=") else { return false };
    let parameter = |name: &str| {
        let value = signed.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        value.expect("a parameter").replace("%2F", "/")
    };
    let credential = parameter("X-Amz-Credential");
    let scope = credential.strip_prefix("key-id/").expect("our key");
    assert!(scope.ends_with("/ap-south-1/s3/aws4_request"), "{scope}");
    assert_eq!(parameter("X-Amz-SignedHeaders"), "host");
    let host = request.header("host");
    let canonical = format!("{}\n{path}\n{signed}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD", request.method);
    let hash = HEXLOWER.encode(digest(&SHA256, canonical.as_bytes()).as_ref());
    let to_sign = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{hash}", parameter("X-Amz-Date"));
    let key = scope.split('/').fold(format!("AWS4{SECRET}").into_bytes(), |key, part| mac(&key, part));
    given == HEXLOWER.encode(&mac(&key, &to_sign))
}

type Objects = Arc<Mutex<HashMap<String, (String, Vec<u8>)>>>;

async fn serve(objects: Objects, request: Request, mut to: Answer) {
    let xml =
        |code: &str| format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>m</Message></Error>");
    if !is_signed(&request) {
        return to.whole(403, "application/xml", xml("SignatureDoesNotMatch").as_bytes()).await;
    }
    let path = request.path.split('?').next().unwrap_or_default().to_owned();
    if !path.starts_with("/bucket") {
        return to.whole(404, "application/xml", xml("NoSuchBucket").as_bytes()).await;
    }
    let found = objects.lock().unwrap().get(&path).cloned();
    match request.method.as_str() {
        "HEAD" => to.whole(200, "application/xml", b"").await,
        "PUT" => {
            objects
                .lock()
                .unwrap()
                .insert(path, (request.header("content-type").to_owned(), request.body.clone()));
            to.whole(200, "application/xml", b"").await;
        }
        "DELETE" => {
            objects.lock().unwrap().remove(&path);
            to.whole(204, "application/xml", b"").await;
        }
        _ => match found {
            Some((kind, body)) => {
                match request.header("range").strip_prefix("bytes=").and_then(|range| range.split_once('-')) {
                    Some((first, last)) => {
                        let (first, last) = (first.parse::<usize>().unwrap(), last.parse::<usize>().unwrap());
                        to.whole(206, &kind, &body[first..body.len().min(last + 1)]).await;
                    }
                    None => to.whole(200, &kind, &body).await,
                }
            }
            None => to.whole(404, "application/xml", xml("NoSuchKey").as_bytes()).await,
        },
    }
}

fn bucket(url: &str, bucket: &str, secret: &str) -> S3 {
    S3::new(&net(), url, "ap-south-1", bucket, "key-id", secret, Duration::from_secs(10)).unwrap()
}

#[tokio::test]
async fn objects_travel_under_signatures_that_the_bucket_verifies() {
    let objects = Objects::default();
    let kept = objects.clone();
    let server = Server::http(move |request, to| serve(kept.clone(), request, to)).await;
    let store = bucket(&server.url, "bucket", SECRET);
    let key = "recordings/rec_01-a.wav";
    assert_eq!(soon(store.get(key)).await, Ok(None));
    let body: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    soon(store.put(key, "audio/wav", body.clone())).await.unwrap();
    assert_eq!(
        objects.lock().unwrap()["/bucket/recordings/rec_01-a.wav"],
        ("audio/wav".to_owned(), body.clone())
    );
    assert_eq!(soon(store.get(key)).await, Ok(Some(body.clone())));
    let (mut part, mut read) = (soon(store.open(key, 70_001, 200_000)).await.unwrap().unwrap(), Vec::new());
    while let Some(piece) = part.next().await.unwrap() {
        read.extend(piece);
    }
    assert_eq!(read, body[70_001..270_001], "only what was asked for travels");
    soon(store.delete(key)).await.unwrap();
    soon(store.delete(key)).await.unwrap();
    assert_eq!(soon(store.get(key)).await, Ok(None));
    assert_eq!(soon(store.check()).await.as_deref(), Ok("bucket bucket reached"));
    assert_eq!(soon(store.get("../other")).await.unwrap_err().fault, ProviderFault::Refused);

    let wrong =
        soon(bucket(&server.url, "bucket", "wrong-secret").put(key, "audio/wav", vec![1])).await.unwrap_err();
    assert!(
        wrong.fault == ProviderFault::Forbidden
            && wrong.detail.contains("SignatureDoesNotMatch")
            && !wrong.detail.contains("wrong-secret"),
        "{wrong}"
    );
    let missing = bucket(&server.url, "elsewhere", SECRET);
    assert!(soon(missing.get(key)).await.unwrap_err().detail.contains("NoSuchBucket"));
    assert!(soon(missing.delete(key)).await.is_err());
}

#[tokio::test]
async fn failures_of_the_service_are_failures() {
    for (status, fault) in
        [(429, ProviderFault::Limited), (500, ProviderFault::Broken), (503, ProviderFault::Unreachable)]
    {
        let server = Server::answering(answer(status, "")).await;
        assert_eq!(
            soon(bucket(&server.url, "bucket", SECRET).put("a", "text/plain", vec![]))
                .await
                .unwrap_err()
                .fault,
            fault
        );
    }
    let slow = Server::answering(answer(503, "<Error><Code>SlowDown</Code></Error>")).await;
    assert_eq!(
        soon(bucket(&slow.url, "bucket", SECRET).get("a")).await.unwrap_err().fault,
        ProviderFault::Limited
    );
    // The answer breaks off: half a recording does not count.
    let half = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").await;
    assert_eq!(
        soon(bucket(&half.url, "bucket", SECRET).get("a")).await.unwrap_err().fault,
        ProviderFault::Unreachable
    );
    let silent = Server::http(|_, mut to| async move { to.hung_up().await }).await;
    let store =
        S3::new(&net(), &silent.url, "r", "bucket", "key-id", SECRET, Duration::from_millis(200)).unwrap();
    assert_eq!(soon(store.get("a")).await.unwrap_err().fault, ProviderFault::TimedOut);
    assert!(
        S3::new(&net(), &silent.url, "", "bucket", "key-id", SECRET, Duration::ZERO)
            .unwrap_err()
            .contains("region")
    );
}
