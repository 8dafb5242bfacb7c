//! Signed links to recordings: who may hear one, for how long, and how players ask.

use bytes::Bytes;
use domain::time::DAY;
use serde_json::json;

use crate::after_call::Held;
use crate::app::Answer;
use crate::shows::Shows;

/// A kept recording: the path of its link, without the service's address.
async fn link(held: &Held, call: &str) -> String {
    let detail = held.detail(call).await;
    detail["recordingUrl"]
        .as_str()
        .expect("a link")
        .strip_prefix(&held.url)
        .expect("under the public address")
        .to_owned()
}

async fn ask(held: &Held, method: &str, link: &str, headers: &[(&str, &str)]) -> Answer {
    held.send(method, link, None, headers, Bytes::new()).await
}

#[tokio::test]
async fn a_link_works_for_five_minutes_and_only_as_it_was_given() {
    let held = Held::open(None).await;
    let call = held.held(Held::report).await;
    let (link, other) = (link(&held, &call).await, held.held(Held::report).await);
    let other = self::link(&held, &other).await;
    assert_eq!(ask(&held, "GET", &link, &[]).await.status, 200);
    let (path, query) = link.split_once('?').unwrap();
    let (expires, signature) = query.split_once('&').unwrap();
    let later = expires.strip_prefix("expires=").unwrap().parse::<i64>().unwrap() + 60;
    let (other_path, other_query) = other.split_once('?').unwrap();
    for wrong in [
        format!("{path}?expires={later}&{signature}"),
        format!("{path}?{expires}&signature=x"),
        format!("{path}?{expires}&{signature}A"),
        format!("{path}?{expires}&{}", &signature[..signature.len() - 1]),
        format!("{other_path}?{query}"),
        format!("/v1/recordings/none?{other_query}"),
    ] {
        ask(&held, "GET", &wrong, &[]).await.refused(403, "link_invalid");
    }
    ask(&held, "GET", path, &[]).await.invalid();
    // Ten seconds have passed with the other call.
    held.advance(289).await;
    assert_eq!(ask(&held, "GET", &link, &[]).await.status, 200);
    held.advance(2).await;
    ask(&held, "GET", &link, &[]).await.refused(403, "link_invalid");
    assert_eq!(
        ask(&held, "GET", &self::link(&held, &call).await, &[]).await.status,
        200,
        "reading the call again gives a fresh one"
    );
    // A key of another workspace does not get one.
    let stranger = held.neighbour().await;
    stranger.fetch(&format!("/v1/calls/{call}")).await.not_found();
    let fresh = self::link(&held, &call).await;
    held.change(&json!({"suspended": true})).await;
    ask(&held, "GET", &fresh, &[]).await.refused(403, "workspace_suspended");
}

#[tokio::test]
async fn players_ask_for_parts() {
    let held = Held::open(None).await;
    let call = held.held(Held::report).await;
    let link = link(&held, &call).await;
    let whole = format!("RIFF the voice of {call}");
    let length = whole.len();
    let all = ask(&held, "GET", &link, &[]).await;
    assert_eq!(
        (all.header("accept-ranges"), all.header("content-length")),
        (Some("bytes"), Some(length.to_string().as_str()))
    );
    assert_eq!(all.header("content-disposition"), Some(format!("inline; filename=\"{call}.wav\"").as_str()));
    let etag = all.header("etag").unwrap().to_owned();
    let part = ask(&held, "GET", &link, &[("range", "bytes=5-7")]).await;
    let wanted = format!("bytes 5-7/{length}");
    assert_eq!(
        (part.status, part.text.as_str(), part.header("content-range")),
        (206, "the", Some(wanted.as_str()))
    );
    let end = ask(&held, "GET", &link, &[("range", "bytes=-4"), ("if-range", &etag)]).await;
    assert_eq!((end.status, end.text.as_str()), (206, &whole[length - 4..]));
    let stale = ask(&held, "GET", &link, &[("range", "bytes=-4"), ("if-range", "\"other\"")]).await;
    assert_eq!((stale.status, stale.text), (200, whole));
    let beyond = ask(&held, "GET", &link, &[("range", "bytes=4000-")]).await;
    assert_eq!(beyond.header("content-range"), Some(format!("bytes */{length}").as_str()));
    beyond.refused(416, "range_not_satisfiable");
    let head = ask(&held, "HEAD", &link, &[]).await;
    assert_eq!(
        (head.status, head.text.as_str(), head.header("content-length")),
        (200, "", Some(length.to_string().as_str()))
    );
    // What was asked for is what was read: a part as a part, and nothing for HEAD, not even of a range.
    let opened = held.shelf.opened.lock().unwrap().clone();
    assert_eq!(opened, [(0, length as u64), (5, 3), (length as u64 - 4, 4), (0, length as u64)]);
    let head = ask(&held, "HEAD", &link, &[("range", "bytes=5-7")]).await;
    assert_eq!(
        (head.status, head.header("content-length"), head.header("content-range")),
        (200, Some(length.to_string().as_str()), None)
    );
    assert_eq!(held.shelf.opened.lock().unwrap().len(), opened.len());
    // Only so many at once.
    let recording = link.split(['/', '?']).nth(3).unwrap().parse().unwrap();
    let busy: Vec<_> =
        (0..8).filter_map(|_| held.app().shares.recordings.of_objects.take(recording, 1, 8)).collect();
    assert_eq!(busy.len(), 8);
    ask(&held, "GET", &link, &[]).await.refused(429, "rate_limited");
    drop(busy);
    assert_eq!(ask(&held, "GET", &link, &[]).await.status, 200, "every place was given back");
    *held.shelf.away.lock().unwrap() = true;
    let away = ask(&held, "GET", &link, &[]).await;
    assert_eq!(away.header("retry-after"), Some("2"));
    away.refused(503, "unavailable");
}

#[tokio::test]
async fn old_recordings_go_when_the_operator_says_so() {
    let held = Held::open_with(None, |config| config.recording_days = 30).await;
    let old = held.held(Held::report).await;
    held.set_clock(&held.noon.plus(20 * DAY).to_string()).await;
    let young = held.held(Held::report).await;
    held.set_clock(&held.noon.plus(32 * DAY).to_string()).await;
    assert_eq!(held.detail(&old).await["recordingUrl"], json!(null));
    assert!(held.detail(&young).await["recordingUrl"].is_string());
    assert_eq!(held.detail(&old).await["transcript"].as_array().map(Vec::len), Some(3), "words stay");
    assert_eq!(held.shelf.keys().len(), 1, "the object has gone");
}

/// What a call says of its person goes, and the proof that it took place stays; younger calls are whole.
#[tokio::test]
async fn old_calls_expire_when_the_operator_says_so() {
    let held = Held::open_with(None, |config| config.call_days = 30).await;
    let old = held.held(Held::report).await;
    let before = held.detail(&old).await;
    held.set_clock(&held.noon.plus(29 * DAY).to_string()).await;
    let young = held.held(Held::report).await;
    assert_eq!(held.detail(&old).await["toNumber"], before["toNumber"]);
    held.set_clock(&held.noon.plus(31 * DAY).to_string()).await;
    let after = held.detail(&old).await;
    after.shows(json!({
        "toNumber": "[expired]", "summary": null, "transcript": [], "extracted": {}, "recordingUrl": null,
        "metadata": {}
    }));
    for kept in [
        "id",
        "agentId",
        "contactId",
        "status",
        "fromNumber",
        "startedAt",
        "answeredAt",
        "endedAt",
        "endCause",
    ] {
        assert_eq!(after[kept], before[kept], "{kept}");
    }
    assert_eq!(held.shelf.keys().len(), 1, "the recording has gone, that of the young call has not");
    let young = held.detail(&young).await;
    assert_eq!(young["transcript"].as_array().map(Vec::len), Some(3));
    assert!(young["recordingUrl"].is_string() && young["toNumber"] != "[expired]");
    // Nobody was erased: the person is still there and is called as before.
    let contact = before["contactId"].as_str().unwrap();
    let person = held.get(&format!("/v1/contacts/{contact}")).await;
    assert_eq!(person["data"]["phone"], before["toNumber"]);
    held.placed().await;
}

/// A call of a person that has expired does not keep the person from being erased as a whole.
#[tokio::test]
async fn a_person_with_expired_calls_is_erased_as_before() {
    let held = Held::open_with(None, |config| config.call_days = 30).await;
    let old = held.held(Held::report).await;
    held.set_clock(&held.noon.plus(31 * DAY).to_string()).await;
    let young = held.held(Held::report).await;
    let contact = held.detail(&young).await["contactId"].as_str().unwrap().to_owned();
    held.erase(&contact).await.expect(200);
    assert_eq!(held.detail(&young).await["toNumber"], "[erased]");
    assert_eq!(held.detail(&old).await["toNumber"], "[expired]");
    held.fetch(&format!("/v1/contacts/{contact}")).await.refused(410, "contact_erased");
}
