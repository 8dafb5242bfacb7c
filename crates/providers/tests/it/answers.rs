//! Every kind of answer, and of no answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use providers::guarded_client::{Limits, Phase, Request, SendError};
use tokio::io::AsyncWriteExt;
use tokio::sync::{Notify, mpsc};

use crate::peer::{LIMITS, OK, PATIENCE, Peer, drip, near_client, post, read_request, said, send, whole};

const SHORT: Limits = Limits { deadline: Duration::from_millis(300), max_response_bytes: 1000 };

fn status_200() -> Phase {
    Phase::Body(StatusCode::OK)
}

#[tokio::test]
async fn the_request_arrives_as_written() {
    let (seen, mut requests) = mpsc::unbounded_channel();
    let peer = Peer::start(move |_, mut stream| {
        let seen = seen.clone();
        async move {
            seen.send(read_request(&mut stream).await).unwrap();
            stream.write_all(OK).await.unwrap();
        }
    })
    .await;
    let client = near_client();
    let mut request = post(&client, &peer.url(), "{}");
    for (name, value) in [
        ("x-event", "a.b"),
        ("host", "elsewhere"),
        ("content-length", "9"),
        ("transfer-encoding", "chunked"),
        ("connection", "upgrade"),
        ("upgrade", "h2c"),
    ] {
        request.headers.insert(http::HeaderName::from_static(name), http::HeaderValue::from_static(value));
    }
    let response = client.send(request, LIMITS).await.unwrap();
    assert_eq!(
        (response.status, &response.headers["content-length"], &response.body[..]),
        (StatusCode::OK, &http::HeaderValue::from_static("2"), &b"ok"[..])
    );
    let request = requests.recv().await.flatten().unwrap();
    let (first, rest) = request.split_once("\r\n").unwrap();
    let mut lines: Vec<&str> = rest.split("\r\n").collect();
    lines.sort();
    assert_eq!(first, "POST /hook?a=b HTTP/1.1");
    assert_eq!(
        lines,
        [
            "",
            "content-length: 2",
            &format!("host: {}", peer.address),
            "user-agent: tester/1",
            "x-event: a.b",
            "{}"
        ]
    );
}

#[tokio::test]
async fn any_status_is_an_answer() {
    let cases = [
        ("HTTP/1.1 500 Oops\r\ncontent-length: 4\r\n\r\noops", 500, "oops"),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        ("HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n", 410, ""),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nx-trailer: y\r\n\r\n",
            200,
            "abcde",
        ),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nz", 200, "z"),
    ];
    for (answer, status, body) in cases {
        let peer = Peer::answering(answer).await;
        assert_eq!(said(send(&near_client(), &peer.url()).await), whole(status, body), "{answer}");
    }
}

#[tokio::test]
async fn a_body_that_ends_with_the_connection_is_whole() {
    let peer = Peer::answering_once("HTTP/1.0 200 OK\r\n\r\nold style").await;
    assert_eq!(said(send(&near_client(), &peer.url()).await), whole(200, "old style"));
}

#[tokio::test]
async fn a_redirect_is_returned_and_not_followed() {
    let elsewhere = Peer::answering(OK).await;
    let peer = Peer::answering(format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
        elsewhere.url()
    ))
    .await;
    assert_eq!(said(send(&near_client(), &peer.url()).await), whole(307, ""));
    assert_eq!(elsewhere.accepted(), 0);
}

#[tokio::test]
async fn silence_ends_at_the_deadline() {
    let peer = Peer::start(|_, mut stream| async move {
        read_request(&mut stream).await;
        // Hold the connection until the client gives up.
        assert_eq!(read_request(&mut stream).await, None);
    })
    .await;
    let client = near_client();
    let outcome = client.send(post(&client, &peer.url(), "x"), SHORT).await;
    assert_eq!(said(outcome), Err(SendError::Timeout(Phase::Head)));
    peer.closed(1).await;
}

#[tokio::test]
async fn the_deadline_covers_headers_that_drip() {
    let peer = Peer::start(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
        drip(&mut stream, b"x-a: b\r\n", Duration::from_millis(20)).await;
    })
    .await;
    let client = near_client();
    let outcome = client.send(post(&client, &peer.url(), "x"), SHORT).await;
    assert_eq!(said(outcome), Err(SendError::Timeout(Phase::Head)));
}

#[tokio::test]
async fn the_deadline_covers_a_body_that_drips() {
    let peer = Peer::start(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        drip(&mut stream, b".", Duration::from_millis(20)).await;
    })
    .await;
    let client = near_client();
    let started = Instant::now();
    let error = client.send(post(&client, &peer.url(), "x"), SHORT).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(StatusCode::OK), "timeout"));
    assert!(started.elapsed() < PATIENCE / 2);
    peer.closed(1).await;
}

#[tokio::test]
async fn interim_answers_without_end_do_not_extend_the_deadline() {
    let peer = Peer::start(|_, mut stream| async move {
        read_request(&mut stream).await;
        drip(&mut stream, b"HTTP/1.1 100 Continue\r\n\r\n", Duration::ZERO).await;
    })
    .await;
    let client = near_client();
    let outcome = client.send(post(&client, &peer.url(), "x"), SHORT).await;
    assert_eq!(said(outcome), Err(SendError::Timeout(Phase::Head)));
    peer.closed(1).await;
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_cap() {
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n"] {
        let peer = Peer::start(move |_, mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(head.as_bytes()).await.unwrap();
            drip(&mut stream, &[b'x'; 4096], Duration::ZERO).await;
        })
        .await;
        assert_eq!(said(send(&near_client(), &peer.url()).await), Ok((200, "x".repeat(1000), true)));
        peer.closed(1).await;
    }
}

#[tokio::test]
async fn a_body_as_long_as_the_cap_is_whole() {
    for (length, cut) in [(999, false), (1000, false), (1001, true)] {
        let peer = Peer::answering(format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{}",
            "y".repeat(length)
        ))
        .await;
        assert_eq!(
            said(send(&near_client(), &peer.url()).await),
            Ok((200, "y".repeat(length.min(1000)), cut))
        );
    }
}

#[tokio::test]
async fn a_cap_of_zero_keeps_nothing() {
    let peer = Peer::answering(OK).await;
    let client = near_client();
    let none = Limits { max_response_bytes: 0, ..LIMITS };
    assert_eq!(said(client.send(post(&client, &peer.url(), ""), none).await), Ok((200, String::new(), true)));
}

#[tokio::test]
async fn huge_headers_are_refused() {
    let endless = Peer::start(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
        drip(&mut stream, format!("x: {}\r\n", "y".repeat(4000)).as_bytes(), Duration::ZERO).await;
    })
    .await;
    assert_eq!(said(send(&near_client(), &endless.url()).await), Err(SendError::HeadTooLarge));
    let many = Peer::answering(format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(200))).await;
    assert_eq!(said(send(&near_client(), &many.url()).await), Err(SendError::HeadTooLarge));
}

#[tokio::test]
async fn what_is_not_http_is_a_bad_answer() {
    for answer in [
        "SSH-2.0-OpenSSH_9.7\r\n\r\n",
        "HTTP/1.1 two hundred\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n",
        "-ERR unknown command 'POST'\r\n\r\n",
    ] {
        let peer = Peer::answering_once(answer).await;
        assert_eq!(
            said(send(&near_client(), &peer.url()).await),
            Err(SendError::BadAnswer(Phase::Head)),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn an_early_close_is_told_by_where_it_happened() {
    let before = Peer::start(|_, stream| async move { drop(stream) }).await;
    assert_eq!(said(send(&near_client(), &before.url()).await), Err(SendError::Closed(Phase::Head)));
    let cases = [
        ("", Phase::Head),
        ("HTTP/1.1 200 OK\r\ncontent-len", Phase::Head),
        ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n", status_200()),
        ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", status_200()),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhal", status_200()),
    ];
    for (answer, phase) in cases {
        let peer = Peer::answering_once(answer).await;
        assert_eq!(said(send(&near_client(), &peer.url()).await), Err(SendError::Closed(phase)), "{answer}");
        assert_eq!(peer.accepted(), 1, "a first connection is not tried again: {answer}");
    }
}

#[tokio::test]
async fn an_answer_before_the_request_is_read_counts() {
    let done = Arc::new(Notify::new());
    let seen = done.clone();
    let peer = Peer::start(move |_, mut stream| {
        let done = done.clone();
        async move {
            stream.write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig").await.unwrap();
            done.notified().await;
        }
    })
    .await;
    let client = near_client();
    let outcome = client.send(post(&client, &peer.url(), &"z".repeat(8_000_000)), LIMITS).await;
    assert_eq!(said(outcome), whole(413, "big"));
    seen.notify_one();
    peer.closed(1).await;
}

#[tokio::test]
async fn a_switch_of_protocols_is_an_answer_and_ends_the_connection() {
    let peer =
        Peer::answering("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n")
            .await;
    let client = near_client();
    assert_eq!(said(send(&client, &peer.url()).await), whole(101, ""));
    peer.closed(1).await;
}

#[tokio::test]
async fn other_methods() {
    let peer = Peer::answering("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n").await;
    let client = near_client();
    let request = |method| Request {
        method,
        target: client.check_url(&peer.url()).unwrap(),
        headers: HeaderMap::new(),
        body: Bytes::new(),
    };
    assert_eq!(said(client.send(request(Method::HEAD), LIMITS).await), whole(200, ""));
    assert_eq!(
        said(client.send(request(Method::CONNECT), LIMITS).await),
        Err(SendError::RequestRefused("CONNECT"))
    );
}
