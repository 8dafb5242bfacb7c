//! Sign-in over an identity provider (docs/contract/members.md#openid-connect), which misbehaves as told.

use std::collections::BTreeMap;
use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use dastak::config::OpenId;
use domain::tenant::Role;
use domain::time::Timestamp;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};

use crate::app::Answer;
use crate::fakes::{Fake, Reply, Request, System};
use crate::world::World;

fn new_pair() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap()
}

/// How a token is made wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    OtherKey,
    NoAlgorithm,
    SharedSecret,
}

/// A provider of OpenID Connect with one user.
struct Provider {
    url: String,
    pair: Mutex<(String, EcdsaKeyPair)>,
    /// Claims that differ from the usual ones.
    claims: Mutex<Value>,
    fault: Mutex<Fault>,
    /// Nonce and challenge of each code that was not used yet.
    codes: Mutex<BTreeMap<String, (String, String)>>,
    now: Mutex<Timestamp>,
}

impl Provider {
    fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            pair: Mutex::new(("one".to_owned(), new_pair())),
            claims: Mutex::new(json!({})),
            fault: Mutex::new(Fault::None),
            codes: Mutex::default(),
            now: Mutex::new(Timestamp(0)),
        }
    }

    /// The user signs in: the code that the browser brings back.
    fn authorize(&self, location: &str) -> (String, String) {
        let (address, query) = location.split_once('?').unwrap();
        assert_eq!(address, format!("{}/authorize", self.url));
        let sent: BTreeMap<&str, &str> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        assert_eq!((sent["response_type"], sent["code_challenge_method"]), ("code", "S256"));
        assert_eq!(sent["client_id"], "us");
        let mut codes = self.codes.lock().unwrap();
        let code = format!("code-{}", codes.len());
        codes.insert(code.clone(), (sent["nonce"].to_owned(), sent["code_challenge"].to_owned()));
        (code, sent["state"].to_owned())
    }

    fn token(&self, nonce: &str) -> String {
        let seconds = self.now.lock().unwrap().0 / 1_000;
        let usual = json!({
            "iss": self.url, "aud": "us", "sub": "user-7", "iat": seconds, "exp": seconds + 300, "nonce": nonce,
            "email": "Asha@Example.com", "email_verified": true, "name": "Asha at work",
        });
        let payload = crate::world::with(usual, &self.claims.lock().unwrap());
        let fault = *self.fault.lock().unwrap();
        let pair = self.pair.lock().unwrap();
        let algorithm = match fault {
            Fault::NoAlgorithm => "none",
            Fault::SharedSecret => "HS256",
            Fault::None | Fault::OtherKey => "ES256",
        };
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", encode(&json!({"alg": algorithm, "kid": pair.0})), encode(&payload));
        let sign = |pair: &EcdsaKeyPair| {
            pair.sign(&SystemRandom::new(), message.as_bytes()).unwrap().as_ref().to_vec()
        };
        let signature = match fault {
            Fault::None => sign(&pair.1),
            Fault::OtherKey => sign(&new_pair()),
            Fault::NoAlgorithm => Vec::new(),
            Fault::SharedSecret => {
                let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, pair.1.public_key().as_ref());
                ring::hmac::sign(&secret, message.as_bytes()).as_ref().to_vec()
            }
        };
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

impl System for Provider {
    fn answer(&self, request: &Request) -> Reply {
        match request.path.as_str() {
            "/.well-known/openid-configuration" => Reply::ok(json!({
                "issuer": self.url,
                "authorization_endpoint": format!("{}/authorize", self.url),
                "token_endpoint": format!("{}/token", self.url),
                "jwks_uri": format!("{}/keys", self.url),
            })),
            "/keys" => {
                let pair = self.pair.lock().unwrap();
                let point = pair.1.public_key().as_ref();
                let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
                Reply::ok(json!({"keys": [
                    {"kty": "oct", "kid": "shared", "k": "AAAA"},
                    {"kty": "EC", "crv": "P-256", "use": "sig", "kid": pair.0, "x": x, "y": y},
                ]}))
            }
            "/token" => {
                // `us:hush` in base64.
                assert_eq!(request.header("authorization"), "Basic dXM6aHVzaA==");
                let form = request.form();
                let Some((nonce, challenge)) = self.codes.lock().unwrap().remove(&form["code"]) else {
                    return Reply::Json(400, json!({"error": "invalid_grant"}));
                };
                let verifier = digest(&SHA256, form["code_verifier"].as_bytes());
                if URL_SAFE_NO_PAD.encode(verifier.as_ref()) != challenge {
                    return Reply::Json(400, json!({"error": "invalid_grant"}));
                }
                Reply::ok(
                    json!({"access_token": "x", "token_type": "Bearer", "id_token": self.token(&nonce)}),
                )
            }
            other => panic!("nobody asks for {other}"),
        }
    }
}

async fn with(domains: &[&str]) -> (World, Fake<Provider>) {
    let fake = Fake::start(Provider::new).await;
    let (issuer, allowed_domains) = (fake.url.clone(), domains.iter().map(|one| (*one).to_owned()).collect());
    let world = World::bare_with(|config| {
        config.openid = Some(OpenId {
            issuer,
            client_id: "us".into(),
            client_secret: "hush".into(),
            name: "Acme ID".into(),
            allowed_domains,
        });
    })
    .await;
    *fake.system.now.lock().unwrap() = world.noon;
    (world, fake)
}

/// A browser that has begun to sign in.
struct Browser {
    cookie: String,
    location: String,
}

impl Browser {
    async fn start(world: &World) -> Self {
        let answer = world.send("GET", "/console/openid/start", None, &[], Bytes::new()).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        let set = answer.header("set-cookie").unwrap();
        assert!(set.contains("HttpOnly; SameSite=Lax; Max-Age=600"), "{set}");
        let cookie = set.split(';').next().unwrap().to_owned();
        Self { cookie, location: answer.header("location").unwrap().to_owned() }
    }

    async fn back(&self, world: &World, code: &str, state: &str) -> Answer {
        let path = format!("/console/openid/callback?code={code}&state={state}");
        // The provider is another site.
        let headers = [("cookie", self.cookie.as_str()), ("sec-fetch-site", "cross-site")];
        world.send("GET", &path, None, &headers, Bytes::new()).await
    }
}

async fn sign_in(world: &World, fake: &Fake<Provider>) -> Answer {
    let browser = Browser::start(world).await;
    let (code, state) = fake.system.authorize(&browser.location);
    browser.back(world, &code, &state).await
}

async fn me(world: &World, answer: &Answer) -> Value {
    assert_eq!((answer.status, answer.header("location")), (303, Some("/console/")), "{}", answer.text);
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    world.send("GET", "/console/api/me", None, &[("cookie", &cookie)], Bytes::new()).await.data(200)
}

#[tokio::test]
async fn a_user_of_the_provider_is_linked_once_by_a_verified_address() {
    let (world, fake) = with(&["example.com"]).await;
    let shown = world.send("GET", "/console/api/sign-in", None, &[], Bytes::new()).await.data(200);
    assert_eq!(shown["openid"]["name"], "Acme ID");
    sign_in(&world, &fake).await.refused(403, "openid_refused");
    world.add_member("asha@example.com", "editor").await;
    for (claim, value) in [("email_verified", json!(false)), ("email", json!("asha@elsewhere.example"))] {
        *fake.system.claims.lock().unwrap() = json!({claim: value});
        sign_in(&world, &fake).await.refused(403, "openid_refused");
    }
    *fake.system.claims.lock().unwrap() = json!({});
    let first = me(&world, &sign_in(&world, &fake).await).await;
    assert_eq!(first["memberships"][0]["role"], "editor");
    // From now on the subject names the person, and no other user takes the person over.
    *fake.system.claims.lock().unwrap() =
        json!({"email": "asha.rao@elsewhere.example", "email_verified": false});
    assert_eq!(me(&world, &sign_in(&world, &fake).await).await["id"], first["id"]);
    *fake.system.claims.lock().unwrap() = json!({"sub": "user-8"});
    sign_in(&world, &fake).await.refused(403, "openid_refused");
}

#[tokio::test]
async fn an_invited_user_signs_in_and_then_accepts() {
    let (world, fake) = with(&[]).await;
    let owner = world.member(Role::Owner).await;
    let body = json!({"email": "asha@example.com", "role": "viewer"});
    let made = owner.post("/v1/members/invitations", &body).await.data(201);
    let answer = sign_in(&world, &fake).await;
    let shown = me(&world, &answer).await;
    assert!(shown["memberships"].as_array().unwrap().is_empty(), "it makes no members");
    assert_eq!(shown["name"], "Asha at work");
    let token = made["url"].as_str().unwrap().split_once('#').unwrap().1;
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let headers = [("cookie", cookie.as_str()), ("sec-fetch-site", "same-origin")];
    let body = json!({"token": token}).to_string();
    let path = "/console/api/invitations/accept";
    let joined = world.send("POST", path, None, &headers, body.into()).await.data(200);
    assert_eq!(joined["memberships"][0]["role"], "viewer");
}

#[tokio::test]
async fn a_token_that_is_not_the_providers_for_this_sign_in_opens_nothing() {
    let (world, fake) = with(&[]).await;
    world.add_member("asha@example.com", "owner").await;
    for fault in [Fault::OtherKey, Fault::NoAlgorithm, Fault::SharedSecret] {
        *fake.system.fault.lock().unwrap() = fault;
        sign_in(&world, &fake).await.refused(403, "openid_refused");
    }
    *fake.system.fault.lock().unwrap() = Fault::None;
    let seconds = world.noon.0 / 1_000;
    for wrong in [
        json!({"nonce": "of another sign-in"}),
        json!({"aud": "them"}),
        json!({"aud": ["us", "them"]}),
        json!({"azp": "them"}),
        json!({"iss": "https://id.example.com"}),
        json!({"exp": seconds - 3_600}),
        json!({"iat": seconds - 3_600}),
        json!({"sub": ""}),
    ] {
        *fake.system.claims.lock().unwrap() = wrong;
        sign_in(&world, &fake).await.refused(403, "openid_refused");
    }
    *fake.system.claims.lock().unwrap() = json!({});
    me(&world, &sign_in(&world, &fake).await).await;
}

/// An attacker's code or state in somebody else's browser would sign that in as the attacker.
#[tokio::test]
async fn only_the_browser_that_began_a_sign_in_ends_it_and_once() {
    let (world, fake) = with(&[]).await;
    world.add_member("asha@example.com", "owner").await;
    let (ours, theirs) = (Browser::start(&world).await, Browser::start(&world).await);
    let (code, state) = fake.system.authorize(&ours.location);
    theirs.back(&world, &code, &state).await.refused(403, "openid_refused");
    ours.back(&world, &code, "other").await.refused(403, "openid_refused");
    let nobody = Browser { cookie: "service-openid=forged.1.x".into(), location: String::new() };
    nobody.back(&world, &code, &state).await.refused(403, "openid_refused");
    assert_eq!(fake.count("/token"), 0, "the code was not spent");
    me(&world, &ours.back(&world, &code, &state).await).await;
    ours.back(&world, &code, &state).await.refused(403, "openid_refused");
    let late = Browser::start(&world).await;
    let (code, state) = fake.system.authorize(&late.location);
    world.advance(600).await;
    late.back(&world, &code, &state).await.refused(403, "openid_refused");
    let path = "/console/openid/callback?error=access_denied";
    world.send("GET", path, None, &[], Bytes::new()).await.refused(403, "openid_refused");
}

#[tokio::test]
async fn a_provider_that_fails_is_unavailable_and_changed_keys_are_read_again() {
    let (world, fake) = with(&[]).await;
    world.add_member("asha@example.com", "owner").await;
    for (path, reply) in [
        ("/.well-known", Reply::Bare(500)),
        ("/.well-known", Reply::Endless),
        ("/.well-known", Reply::Text(200, "text/html".into(), "<p>maintenance</p>".into())),
        ("/.well-known", Reply::ok(json!({"issuer": "https://evil.example"}))),
        ("/keys", Reply::Lost),
    ] {
        fake.fail(path, 1, reply);
        let answer = world.send("GET", "/console/openid/start", None, &[], Bytes::new()).await;
        answer.refused(503, "unavailable");
        let asked = fake.count("/.well-known");
        let again = world.send("GET", "/console/openid/start", None, &[], Bytes::new()).await;
        again.refused(503, "unavailable");
        assert_eq!(fake.count("/.well-known"), asked, "the failure is remembered for a moment");
        world.advance(5).await;
    }
    *fake.system.now.lock().unwrap() = world.noon.plus(25_000);
    me(&world, &sign_in(&world, &fake).await).await;
    *fake.system.pair.lock().unwrap() = ("two".to_owned(), new_pair());
    world.advance(61).await;
    *fake.system.now.lock().unwrap() = world.noon.plus(86_000);
    me(&world, &sign_in(&world, &fake).await).await;
    assert_eq!(fake.count("/keys"), 3, "one was lost, one was cached, one was read again");
}

#[tokio::test]
async fn without_a_provider_there_is_no_such_way() {
    let world = World::bare().await;
    let shown = world.send("GET", "/console/api/sign-in", None, &[], Bytes::new()).await.data(200);
    assert_eq!(shown, json!({"password": true, "openid": null}));
    world.send("GET", "/console/openid/start", None, &[], Bytes::new()).await.not_found();
}
