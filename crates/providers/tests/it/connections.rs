//! Connections that are kept, and what happens when they die.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use providers::guarded_client::{Limits, Phase, PoolLimits, SendError};
use tokio::io::AsyncWriteExt;
use tokio::sync::Barrier;

use crate::peer::{
    LIMITS, OK, PATIENCE, Peer, near_client, near_client_with, post, read_request, said, send, whole,
};

/// A peer that answers `answers` requests a connection and then, having read one more, leaves with `last`.
async fn leaving(
    answers: impl Fn(usize) -> usize + Send + Sync + 'static,
    last: &'static [u8],
) -> (Peer, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let (count, answers) = (requests.clone(), Arc::new(answers));
    let peer = Peer::start(move |connection, mut stream| {
        let (count, answers) = (count.clone(), answers.clone());
        async move {
            for number in 0.. {
                if read_request(&mut stream).await.is_none() {
                    return;
                }
                count.fetch_add(1, Ordering::SeqCst);
                let answer = if number < answers(connection) { OK } else { last };
                stream.write_all(answer).await.unwrap();
                if number >= answers(connection) {
                    return;
                }
            }
        }
    })
    .await;
    (peer, requests)
}

#[tokio::test]
async fn connections_are_used_again() {
    let peer = Peer::answering(OK).await;
    let client = near_client();
    for _ in 0..10 {
        assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    }
    assert_eq!(peer.accepted(), 1);
}

#[tokio::test]
async fn a_peer_that_asks_to_close_gets_a_new_connection_each_time() {
    let peer = Peer::answering("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok").await;
    let client = near_client();
    for _ in 0..3 {
        assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    }
    peer.closed(3).await;
    assert_eq!(peer.accepted(), 3);
}

#[tokio::test]
async fn a_kept_connection_that_the_peer_closed_is_replaced() {
    let peer = Peer::answering_once(OK).await;
    let client = near_client();
    for round in 1..=5 {
        assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
        peer.closed(round).await;
    }
    assert_eq!(peer.accepted(), 5);
}

#[tokio::test]
async fn a_kept_connection_that_dies_under_the_request_is_replaced_once() {
    let (peer, requests) = leaving(|connection| if connection == 0 { 1 } else { 9 }, b"").await;
    let client = near_client();
    assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    assert_eq!(
        (peer.accepted(), requests.load(Ordering::SeqCst)),
        (2, 3),
        "the second request went out twice"
    );

    let (peer, requests) = leaving(|connection| if connection == 0 { 1 } else { 0 }, b"").await;
    assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    assert_eq!(said(send(&client, &peer.url()).await), Err(SendError::Closed(Phase::Head)));
    assert_eq!((peer.accepted(), requests.load(Ordering::SeqCst)), (2, 3), "but never three times");
}

#[tokio::test]
async fn a_request_that_must_not_arrive_twice_is_not_repeated() {
    let (peer, requests) = leaving(|connection| if connection == 0 { 2 } else { 9 }, b"").await;
    let client = near_client();
    let send = async || client.send_unrepeated(post(&client, &peer.url(), "hello"), LIMITS).await;
    for _ in 0..2 {
        assert_eq!(said(send().await), whole(200, "ok"));
    }
    assert_eq!(peer.accepted(), 1, "connections are kept");
    assert_eq!(said(send().await), Err(SendError::Closed(Phase::Head)));
    assert_eq!(requests.load(Ordering::SeqCst), 3);
    // A connection that is known to be closed is replaced.
    peer.closed(1).await;
    assert_eq!(said(send().await), whole(200, "ok"));
    assert_eq!((peer.accepted(), requests.load(Ordering::SeqCst)), (2, 4));
}

#[tokio::test]
async fn a_request_is_not_repeated_once_its_answer_has_begun() {
    let (peer, requests) = leaving(|_| 1, b"HTTP/1.1 2").await;
    let client = near_client();
    assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    assert_eq!(said(send(&client, &peer.url()).await), Err(SendError::Closed(Phase::Head)));
    assert_eq!((peer.accepted(), requests.load(Ordering::SeqCst)), (1, 2));
}

#[tokio::test]
async fn bytes_nobody_asked_for_end_a_kept_connection() {
    let peer = Peer::answering([OK, OK].concat()).await;
    let client = near_client();
    for _ in 0..3 {
        assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    }
    assert_eq!(peer.accepted(), 3, "the second answer must not be taken for the next request's");
}

#[tokio::test]
async fn a_connection_that_rests_too_long_is_closed() {
    let peer = Peer::answering(OK).await;
    let client =
        near_client_with(PoolLimits { idle_timeout: Duration::from_millis(40), ..PoolLimits::default() });
    assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    peer.closed(1).await;
    assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    assert_eq!(peer.accepted(), 2);
    peer.closed(2).await;
}

#[tokio::test]
async fn an_old_connection_is_not_kept() {
    let peer = Peer::answering(OK).await;
    let client = near_client_with(PoolLimits { max_age: Duration::ZERO, ..PoolLimits::default() });
    assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    peer.closed(1).await;
}

#[tokio::test]
async fn dropping_the_client_closes_its_connections() {
    let peer = Peer::answering(OK).await;
    let client = near_client();
    assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    drop(client);
    peer.closed(1).await;
}

#[tokio::test]
async fn a_request_given_up_closes_its_connection() {
    let peer = Peer::start(|_, mut stream| async move {
        read_request(&mut stream).await;
        read_request(&mut stream).await;
    })
    .await;
    let client = near_client();
    let url = peer.url();
    let task = tokio::spawn(async move { send(&client, &url).await });
    while peer.accepted() == 0 {
        tokio::task::yield_now().await;
    }
    task.abort();
    peer.closed(1).await;
}

/// A peer that answers only when `n` requests are there, so that they are on `n` connections.
async fn together(n: usize) -> Peer {
    let barrier = Arc::new(Barrier::new(n));
    Peer::start(move |_, mut stream| {
        let barrier = barrier.clone();
        async move {
            while read_request(&mut stream).await.is_some() {
                barrier.wait().await;
                if stream.write_all(OK).await.is_err() {
                    return;
                }
            }
        }
    })
    .await
}

async fn send_together(client: &providers::GuardedClient, peer: &Peer, n: usize) {
    let mut tasks = Vec::new();
    for _ in 0..n {
        let (client, url) = (client.clone(), peer.url());
        tasks.push(tokio::spawn(async move { said(send(&client, &url).await) }));
    }
    for task in tasks {
        assert_eq!(task.await.unwrap(), whole(200, "ok"));
    }
}

#[tokio::test]
async fn few_connections_rest_for_one_origin() {
    let peer = together(8).await;
    let client = near_client_with(PoolLimits { idle_per_origin: 3, ..PoolLimits::default() });
    send_together(&client, &peer, 8).await;
    peer.closed(5).await;
    send_together(&client, &peer, 8).await;
    assert_eq!(peer.accepted(), 13, "three were used again");
}

#[tokio::test]
async fn few_connections_rest_in_all_and_the_oldest_gives_way() {
    let (first, second, third) =
        (Peer::answering(OK).await, Peer::answering(OK).await, Peer::answering(OK).await);
    let client = near_client_with(PoolLimits { idle_total: 2, ..PoolLimits::default() });
    for peer in [&first, &second, &third] {
        assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
    }
    first.closed(1).await;
    for peer in [&second, &third] {
        assert_eq!(said(send(&client, &peer.url()).await), whole(200, "ok"));
        assert_eq!(peer.accepted(), 1);
    }
}

#[tokio::test]
async fn open_connections_are_bounded_and_resting_ones_give_way() {
    let (busy, other) = (together(2).await, Peer::answering(OK).await);
    let client = near_client_with(PoolLimits { open_total: 1, ..PoolLimits::default() });
    assert_eq!(said(send(&client, &other.url()).await), whole(200, "ok"));
    let (held_client, url) = (client.clone(), busy.url());
    let held = tokio::spawn(async move {
        held_client.send(post(&held_client, &url, ""), Limits { deadline: PATIENCE, ..LIMITS }).await
    });
    other.closed(1).await;
    while busy.accepted() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(said(send(&client, &other.url()).await), Err(SendError::Overloaded));
    held.abort();
    assert!(held.await.is_err());
    assert_eq!(said(send(&client, &other.url()).await), whole(200, "ok"));
}
