//! Buckets: what is asked of them, and what their failures are.

use std::time::Duration;

use domain::ports::{Completed, ObjectStore, ProviderFault};
use providers::storage::S3;

use crate::bucket::{ACCESS_KEY, Bucket, Fault, REGION, SECRET, SMALLEST_PART};
use crate::fakes::net;
use crate::server::{Server, answer, soon};

fn bucket(url: &str, bucket: &str, secret: &str) -> S3 {
    S3::new(&net(), url, REGION, bucket, ACCESS_KEY, secret, Duration::from_secs(10)).unwrap()
}

#[tokio::test]
async fn objects_travel_under_signatures_that_the_bucket_verifies() {
    let server = Bucket::start().await;
    let store = bucket(&server.url, "bucket", SECRET);
    let key = "recordings/rec_01-a.wav";
    assert_eq!(soon(store.get(key)).await, Ok(None));
    let body: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    soon(store.put(key, "audio/wav", body.clone())).await.unwrap();
    let kept = server.object(key).unwrap();
    assert_eq!((kept.kind.as_str(), &kept.body), ("audio/wav", &body));
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

fn part(number: u8, bytes: usize) -> Vec<u8> {
    vec![number; bytes]
}

#[tokio::test]
async fn parts_become_one_object() {
    let server = Bucket::start().await;
    let store = bucket(&server.url, "bucket", SECRET);
    let parts = store.parts().expect("parts");
    let key = "recordings/rec_01-a.wav";
    assert_eq!(soon(parts.size(key)).await, Ok(None));
    let upload = soon(parts.begin(key, "audio/wav")).await.unwrap();
    let add = async |number: u16, body: Vec<u8>| soon(parts.add(key, &upload, number, body)).await;
    let second = add(2, part(2, 1_000)).await.unwrap().unwrap();
    add(1, part(9, SMALLEST_PART)).await.unwrap();
    // The same part again replaces it.
    let first = add(1, part(1, SMALLEST_PART)).await.unwrap().unwrap();
    let listed = soon(parts.begun(key)).await.unwrap();
    assert_eq!(listed, std::slice::from_ref(&upload), "until it is complete it is listed");
    assert_eq!(soon(parts.begun("recordings/rec_01")).await, Ok(vec![]), "by its whole key only");
    assert_eq!(soon(store.get(key)).await, Ok(None), "nothing can be read before");
    let end = async |tags: &[String]| soon(parts.complete(key, &upload, tags)).await;
    assert_eq!(end(&[second.clone(), first.clone()]).await, Ok(Completed::Unlike));
    assert_eq!(end(&[first.clone(), second.clone()]).await, Ok(Completed::Done));
    assert_eq!(end(&[first, second]).await, Ok(Completed::Gone), "it was completed before");
    let whole = server.object(key).unwrap();
    assert_eq!(whole.body, [part(1, SMALLEST_PART), part(2, 1_000)].concat());
    assert_eq!((whole.kind.as_str(), soon(parts.size(key)).await), ("audio/wav", Ok(Some(5_243_880))));
    assert_eq!(add(3, part(3, 1)).await, Ok(None), "there is no such upload any more");

    let other = soon(parts.begin(key, "audio/wav")).await.unwrap();
    let small = soon(parts.add(key, &other, 1, part(1, 1))).await.unwrap().unwrap();
    let last = soon(parts.add(key, &other, 2, part(2, 1))).await.unwrap().unwrap();
    assert_eq!(soon(parts.complete(key, &other, &[small, last])).await, Ok(Completed::Unlike), "too small");
    soon(parts.abort(key, &other)).await.unwrap();
    soon(parts.abort(key, &other)).await.unwrap();
    assert_eq!((soon(parts.begun(key)).await, server.uploads()), (Ok(vec![]), vec![]));

    let wrong = bucket(&server.url, "bucket", "wrong-secret");
    let refused = soon(wrong.parts().unwrap().begin(key, "audio/wav")).await.unwrap_err();
    assert!(refused.fault == ProviderFault::Forbidden && refused.detail.contains("SignatureDoesNotMatch"));
    let missing = bucket(&server.url, "elsewhere", SECRET);
    assert!(soon(missing.parts().unwrap().abort(key, &upload)).await.is_err());
    assert_eq!(soon(parts.begin("../other", "audio/wav")).await.unwrap_err().fault, ProviderFault::Refused);
}

#[tokio::test]
async fn failures_with_parts_are_failures() {
    let server = Bucket::start().await;
    let store = bucket(&server.url, "bucket", SECRET);
    let (parts, key) = (store.parts().expect("parts"), "recordings/rec_02.wav");
    let upload = soon(parts.begin(key, "audio/wav")).await.unwrap();
    server.fail("part", 1, Fault::Cut);
    let cut = soon(parts.add(key, &upload, 1, part(1, SMALLEST_PART))).await.unwrap_err();
    assert_eq!(cut.fault, ProviderFault::Unreachable);
    server.fail("part", 1, Fault::Refused(503, "SlowDown"));
    let slow = soon(parts.add(key, &upload, 1, part(1, 10))).await.unwrap_err();
    assert_eq!(slow.fault, ProviderFault::Limited);
    let tag = soon(parts.add(key, &upload, 1, part(1, 10))).await.unwrap().unwrap();
    server.fail("complete", 1, Fault::LateFailure);
    let late = soon(parts.complete(key, &upload, std::slice::from_ref(&tag))).await.unwrap_err();
    assert!(late.fault == ProviderFault::Broken && late.detail.contains("InternalError"), "{late}");
    server.fail("complete", 1, Fault::Lost);
    let lost = soon(parts.complete(key, &upload, std::slice::from_ref(&tag))).await.unwrap_err();
    assert_eq!(lost.fault, ProviderFault::Unreachable);
    assert_eq!(soon(parts.complete(key, &upload, &[tag])).await, Ok(Completed::Gone), "the object is there");
    assert_eq!(soon(parts.size(key)).await, Ok(Some(10)));
    // An answer that is something else is not believed.
    let odd = Server::answering(answer(200, "<html>welcome</html>")).await;
    let odd = bucket(&odd.url, "bucket", SECRET);
    let odd = odd.parts().unwrap();
    assert_eq!(soon(odd.begin(key, "audio/wav")).await.unwrap_err().fault, ProviderFault::Broken);
    assert_eq!(soon(odd.add(key, "u", 1, vec![1])).await.unwrap_err().fault, ProviderFault::Broken);
    assert_eq!(soon(odd.complete(key, "u", &[])).await.unwrap_err().fault, ProviderFault::Broken);
    assert_eq!(soon(odd.begun(key)).await.unwrap_err().fault, ProviderFault::Broken);
}
