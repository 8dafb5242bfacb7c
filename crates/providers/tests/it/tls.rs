//! TLS: the name on the certificate is the name in the URL, whatever the address.

use std::sync::Arc;
use std::time::Duration;

use providers::guarded_client::{
    CertificateDer, GuardedClient, Limits, Phase, Policy, PolicyError, SendError,
};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

use crate::peer::{LIMITS, Names, OK, Peer, post, read_request, said, send, whole};

/// A certificate for the name, and an acceptor that shows it.
fn certificate(name: &str) -> (CertificateDer<'static>, TlsAcceptor) {
    let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = builder.with_no_client_auth().with_single_cert(vec![certificate.clone()], key).unwrap();
    (certificate, TlsAcceptor::from(Arc::new(config)))
}

/// A peer that speaks TLS and answers every request with `answer`, or only `once` and then closes without the
/// TLS goodbye.
async fn tls_peer(acceptor: TlsAcceptor, answer: &'static [u8], once: bool) -> Peer {
    Peer::start(move |_, stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            while read_request(&mut stream).await.is_some()
                && stream.write_all(answer).await.is_ok()
                && stream.flush().await.is_ok()
                && !once
            {}
        }
    })
    .await
}

/// A client that trusts the roots and finds every test name on this machine.
fn client(roots: Vec<CertificateDer<'static>>) -> GuardedClient {
    let here: &[&[&str]] = &[&["127.0.0.1"]];
    let names = Names::new(&[("right.example", here), ("wrong.example", here)]);
    GuardedClient::new(Policy { allow_insecure: true, extra_roots: roots, ..Policy::default() }, names)
        .unwrap()
}

#[tokio::test]
async fn a_verified_peer_is_answered_and_kept() {
    let (root, acceptor) = certificate("right.example");
    let peer = tls_peer(acceptor, OK, false).await;
    let client = client(vec![root]);
    let url = format!("https://right.example:{}/", peer.address.port());
    for _ in 0..3 {
        assert_eq!(said(send(&client, &url).await), whole(200, "ok"));
    }
    assert_eq!(peer.accepted(), 1);
}

#[tokio::test]
async fn the_wrong_host_and_the_unknown_issuer_are_refused() {
    let (root, acceptor) = certificate("right.example");
    let peer = tls_peer(acceptor, OK, false).await;
    let failure = |outcome| match said(outcome) {
        Err(SendError::TlsFailed(reason)) => reason,
        other => panic!("{other:?}"),
    };
    let port = peer.address.port();
    let wrong = failure(send(&client(vec![root]), &format!("https://wrong.example:{port}/")).await);
    assert!(wrong.contains("not valid for name"), "{wrong}");
    let unknown = failure(send(&client(vec![]), &format!("https://right.example:{port}/")).await);
    assert!(unknown.contains("UnknownIssuer"), "{unknown}");
}

#[tokio::test]
async fn an_address_in_the_url_needs_a_certificate_for_it() {
    let (root, acceptor) = certificate("127.0.0.1");
    let peer = tls_peer(acceptor, OK, false).await;
    assert_eq!(
        said(send(&client(vec![root]), &format!("https://{}/", peer.address)).await),
        whole(200, "ok")
    );
}

#[tokio::test]
async fn a_peer_without_tls_fails_the_handshake() {
    let peer = Peer::start(|_, mut stream| async move {
        let mut hello = [0; 5];
        let _ = stream.read_exact(&mut hello).await;
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    })
    .await;
    let error = send(&client(vec![]), &format!("https://{}/", peer.address)).await.unwrap_err();
    assert_eq!(error.code(), "tls_failed");
}

#[tokio::test]
async fn the_deadline_covers_the_handshake() {
    let peer = Peer::start(|_, mut stream| async move {
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let client = client(vec![]);
    let short = Limits { deadline: Duration::from_millis(100), ..LIMITS };
    let outcome = client.send(post(&client, &format!("https://{}/", peer.address), ""), short).await;
    assert_eq!(said(outcome), Err(SendError::Timeout(Phase::Tls)));
    peer.closed(1).await;
}

#[tokio::test]
async fn a_close_without_goodbye_ends_a_body_unless_its_length_says_otherwise() {
    let (root, acceptor) = certificate("right.example");
    let cases = [
        (&b"HTTP/1.1 200 OK\r\n\r\nto the end"[..], whole(200, "to the end")),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf",
            Err(SendError::Closed(Phase::Body(http::StatusCode::OK))),
        ),
    ];
    for (answer, expected) in cases {
        let peer = tls_peer(acceptor.clone(), answer, true).await;
        let url = format!("https://right.example:{}/", peer.address.port());
        assert_eq!(said(send(&client(vec![root.clone()]), &url).await), expected);
    }
}

#[test]
fn an_unusable_policy_is_refused() {
    let build = |policy| GuardedClient::new(policy, Names::new(&[])).err();
    assert_eq!(
        build(Policy { user_agent: "a\nb".into(), ..Policy::default() }),
        Some(PolicyError::UserAgent)
    );
    assert!(matches!(
        build(Policy { extra_roots: vec![vec![1, 2, 3].into()], ..Policy::default() }),
        Some(PolicyError::Tls(_))
    ));
}
