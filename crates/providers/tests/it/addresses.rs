//! Where a request may go, and that it goes where it was judged to go.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use providers::guarded_client::{
    GuardedClient, Limits, Phase, Policy, Resolver, Resolving, SendError, SystemResolver, UrlRefused,
};
use tokio::net::TcpListener;

use crate::peer::{LIMITS, Names, OK, Peer, near_client, post, read_request, said, send, whole};
use tokio::io::AsyncWriteExt;

fn public_client(names: Arc<Names>) -> GuardedClient {
    GuardedClient::new(Policy::default(), names).unwrap()
}

fn near_client_asking(names: Arc<dyn Resolver>) -> GuardedClient {
    GuardedClient::new(Policy { allow_insecure: true, ..Policy::default() }, names).unwrap()
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused() {
    let refused = [
        "127.0.0.1",
        "10.0.0.7",
        "169.254.169.254",
        "::1",
        "fd00::1",
        "fe80::1",
        "::ffff:192.168.0.1",
        "64:ff9b::7f00:1",
    ];
    for address in refused {
        let names = Names::new(&[("sneaky.example", &[&[address]])]);
        let outcome = send(&public_client(names), "https://sneaky.example/").await;
        assert_eq!(said(outcome), Err(SendError::AddressRefused(address.parse().unwrap())), "{address}");
    }
}

#[tokio::test]
async fn one_private_address_among_public_ones_refuses_the_host() {
    let names = Names::new(&[("mixed.example", &[&["8.8.8.8", "2606:4700::1111", "10.0.0.7"]])]);
    let client = public_client(names);
    assert_eq!(
        said(send(&client, "https://mixed.example/").await),
        Err(SendError::AddressRefused("10.0.0.7".parse().unwrap()))
    );
}

#[tokio::test]
async fn a_name_that_turns_inside_after_the_check_is_refused() {
    let names = Names::new(&[("rebind.example", &[&["8.8.8.8"], &["169.254.169.254"]])]);
    let client = public_client(names.clone());
    assert!(client.check_url("https://rebind.example/").is_ok());
    assert!(names.resolve("rebind.example").await.is_ok(), "public when somebody looks it up");
    assert_eq!(
        said(send(&client, "https://rebind.example/").await),
        Err(SendError::AddressRefused("169.254.169.254".parse().unwrap()))
    );
    assert_eq!(names.asked("rebind.example"), 2);
}

#[tokio::test]
async fn a_connection_goes_to_the_judged_address_with_one_look_up() {
    let peer = Peer::answering(OK).await;
    let names = Names::new(&[("rebind.example", &[&["127.0.0.1"], &["169.254.169.254"]])]);
    let client = near_client_asking(names.clone());
    let url = format!("http://rebind.example:{}/", peer.address.port());
    for _ in 0..3 {
        assert_eq!(said(send(&client, &url).await), whole(200, "ok"));
    }
    assert_eq!(
        (names.asked("rebind.example"), peer.accepted()),
        (1, 1),
        "one look-up for one connection, which is kept"
    );
}

#[tokio::test]
async fn a_retry_on_a_new_connection_is_judged_again() {
    let peer = Peer::start(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(OK).await.unwrap();
        read_request(&mut stream).await;
    })
    .await;
    let names = Names::new(&[("rebind.example", &[&["127.0.0.1"], &["169.254.169.254"]])]);
    let client = near_client_asking(names);
    let url = format!("http://rebind.example:{}/", peer.address.port());
    assert_eq!(said(send(&client, &url).await), whole(200, "ok"));
    assert_eq!(
        said(send(&client, &url).await),
        Err(SendError::AddressRefused("169.254.169.254".parse().unwrap()))
    );
}

#[tokio::test]
async fn names_without_an_address() {
    let client = public_client(Names::new(&[("empty.example", &[&[]])]));
    assert_eq!(said(send(&client, "https://empty.example/").await), Err(SendError::DnsFailed));
    assert_eq!(said(send(&client, "https://unknown.example/").await), Err(SendError::DnsFailed));
}

struct Silent;

impl Resolver for Silent {
    fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
        Box::pin(std::future::pending::<io::Result<Vec<std::net::IpAddr>>>())
    }
}

#[tokio::test]
async fn the_deadline_covers_the_look_up() {
    let client = GuardedClient::new(Policy::default(), Arc::new(Silent)).unwrap();
    let short = Limits { deadline: Duration::from_millis(50), ..LIMITS };
    let outcome = client.send(post(&client, "https://slow.example/", ""), short).await;
    assert_eq!(said(outcome), Err(SendError::Timeout(Phase::Dns)));
}

#[tokio::test]
async fn a_refused_connection_says_so_and_the_next_address_is_tried() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let refused = Err(SendError::ConnectFailed(io::ErrorKind::ConnectionRefused));
    assert_eq!(said(send(&near_client(), &format!("http://{free}/")).await), refused);

    let peer = Peer::answering(OK).await;
    let names = Names::new(&[
        ("two.example", &[&["127.0.0.9", "127.0.0.1"]]),
        ("none.example", &[&["127.0.0.9", "127.0.0.8"]]),
    ]);
    let client = near_client_asking(names);
    let url = |name: &str| format!("http://{name}:{}/", peer.address.port());
    assert_eq!(said(send(&client, &url("two.example")).await), whole(200, "ok"));
    assert_eq!(said(send(&client, &url("none.example")).await), refused);
}

#[tokio::test]
async fn a_strict_client_does_not_send_what_a_development_client_checked() {
    let peer = Peer::answering(OK).await;
    let target = near_client().check_url(&peer.url()).unwrap();
    let strict = public_client(Names::new(&[]));
    let request = |target| {
        providers::guarded_client::Request::post(target, http::HeaderMap::new(), bytes::Bytes::new())
    };
    assert_eq!(said(strict.send(request(target), LIMITS).await), Err(SendError::RequestRefused("not https")));
    let target = near_client().check_url(&format!("https://{}/", peer.address)).unwrap();
    assert_eq!(
        said(strict.send(request(target), LIMITS).await),
        Err(SendError::AddressRefused(peer.address.ip()))
    );
    assert_eq!(peer.accepted(), 0);
    assert_eq!(strict.check_url(&peer.url()).err(), Some(UrlRefused::Scheme));
}

#[tokio::test]
async fn the_systems_resolver_shares_look_ups() {
    let resolver = Arc::new(SystemResolver::new());
    let mut lookups = Vec::new();
    for _ in 0..20 {
        let resolver = resolver.clone();
        lookups.push(tokio::spawn(async move { resolver.resolve("localhost").await.unwrap() }));
    }
    for lookup in lookups {
        assert!(lookup.await.unwrap().iter().all(|address| address.is_loopback()));
    }
    assert!(resolver.resolve("name.invalid").await.is_err());
}
