//! OpenID Connect at the identity provider that the operator names: authorization code with PKCE. Identity tokens are
//! verified here, over `ring`: two algorithms with keys of the provider, and the claims of the standard.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use domain::secret::Secret;
use domain::time::{MINUTE, SECOND, Timestamp};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, Method};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::http::{Base, Net, Peer, encoded};

/// Longest wait for a connection, and for each response.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes of a response.
const MOST_BYTES: usize = 256 * 1024;
/// Most keys of a provider that are looked at.
const MOST_KEYS: usize = 50;
/// How long the provider's description and keys are cached, and how soon an unknown key makes them be read again.
const CACHED: i64 = 60 * MINUTE;
const AGAIN: i64 = MINUTE;
/// How long a failure to read them is remembered: strangers who begin to sign in cause no more requests than that.
const FAILED: i64 = 5 * SECOND;
/// Difference of clocks that is accepted, and the oldest token.
const SKEW: i64 = MINUTE;
const OLDEST: i64 = 10 * MINUTE;

/// The operator's identity provider.
pub struct IdentityProvider {
    net: Net,
    issuer: String,
    client_id: String,
    client_secret: Secret,
    known: Mutex<Option<Known>>,
    /// The last failure to read them, which a success removes.
    failed: Mutex<Option<(Timestamp, OpenIdError)>>,
}

/// What the provider says of itself.
#[derive(Clone)]
struct Known {
    authorization: String,
    token: String,
    keys: Vec<Key>,
    read_at: Timestamp,
}

#[derive(Clone)]
struct Key {
    id: Option<String>,
    kind: KeyKind,
}

#[derive(Clone)]
enum KeyKind {
    /// RS256: modulus and exponent.
    Rsa(Vec<u8>, Vec<u8>),
    /// ES256: the uncompressed point.
    P256(Vec<u8>),
}

/// Who the provider says that has signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// Its lasting name at this issuer.
    pub subject: String,
    /// The address, if the provider has verified it.
    pub verified_email: Option<String>,
    pub name: Option<String>,
}

/// Why nobody has signed in. The words are for the log and hold no secret and no personal data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenIdError {
    /// The provider refuses, or its token is not valid.
    Refused(String),
    /// The provider does not answer as it should.
    Unavailable(String),
}

fn refused(why: impl Into<String>) -> OpenIdError {
    OpenIdError::Refused(why.into())
}

fn unavailable(why: impl ToString) -> OpenIdError {
    OpenIdError::Unavailable(why.to_string())
}

/// What a redirect to the provider is for, and what must come back.
#[derive(Debug, Clone)]
pub struct Journey {
    pub redirect_uri: String,
    pub state: String,
    pub nonce: String,
    /// The secret of PKCE, 43 to 128 characters.
    pub verifier: String,
}

impl IdentityProvider {
    /// The provider at an issuer's address. It does not connect yet.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub fn new(issuer: &str, client_id: &str, client_secret: Secret) -> Result<Self, String> {
        Base::parse(issuer).map_err(|why| format!("sign_in.openid.issuer: {why}"))?;
        Ok(Self {
            net: Net::new(Vec::new())?,
            issuer: issuer.to_owned(),
            client_id: client_id.to_owned(),
            client_secret,
            known: Mutex::new(None),
            failed: Mutex::new(None),
        })
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Where a browser is sent to sign in.
    ///
    /// # Errors
    /// When the provider does not describe itself.
    pub async fn authorization_url(&self, journey: &Journey, now: Timestamp) -> Result<String, OpenIdError> {
        let known = self.known(now, false).await?;
        let digest = ring::digest::digest(&ring::digest::SHA256, journey.verifier.as_bytes());
        let challenge = URL_SAFE_NO_PAD.encode(digest.as_ref());
        let query = [
            ("response_type", "code"),
            ("client_id", &self.client_id),
            ("redirect_uri", &journey.redirect_uri),
            ("scope", "openid email profile"),
            ("state", &journey.state),
            ("nonce", &journey.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        let join = if known.authorization.contains('?') { '&' } else { '?' };
        Ok(format!("{}{join}{}", known.authorization, form(&query)))
    }

    /// Exchanges the code that came back for a token, and verifies that.
    ///
    /// # Errors
    /// [`OpenIdError`].
    pub async fn redeem(&self, code: &str, journey: &Journey, now: Timestamp) -> Result<Claims, OpenIdError> {
        let known = self.known(now, false).await?;
        let body = form(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &journey.redirect_uri),
            ("client_id", &self.client_id),
            ("code_verifier", &journey.verifier),
        ]);
        let name = format!("{}:{}", encoded(&self.client_id), encoded(&self.client_secret));
        let headers = [
            (CONTENT_TYPE, "application/x-www-form-urlencoded".to_owned()),
            (AUTHORIZATION, format!("Basic {}", STANDARD.encode(name))),
        ];
        let answer = self.ask(Method::POST, &known.token, &headers, body.into()).await?;
        let token = answer["id_token"].as_str().ok_or_else(|| refused("the answer has no id_token"))?;
        let payload = match verified(token, &known.keys) {
            // The provider may have changed its keys.
            Err(Unverified::UnknownKey) => {
                let known = self.known(now, true).await?;
                verified(token, &known.keys)
            }
            other => other,
        };
        let payload = payload.map_err(|why| refused(why.to_string()))?;
        claims(&payload, &self.issuer, &self.client_id, &journey.nonce, now).map_err(refused)
    }

    /// The provider's description and keys; with `again`, read anew unless that was done within the minute.
    async fn known(&self, now: Timestamp, again: bool) -> Result<Known, OpenIdError> {
        let mut known = self.known.lock().await;
        let lasts = if again { AGAIN } else { CACHED };
        if let Some(known) = known.as_ref().filter(|known| now.0 - known.read_at.0 < lasts) {
            return Ok(known.clone());
        }
        let mut failed = self.failed.lock().await;
        if let Some((_, why)) = failed.as_ref().filter(|(at, _)| now.0 - at.0 < FAILED) {
            return Err(why.clone());
        }
        let read = self.describe(now).await;
        *failed = read.as_ref().err().map(|why| (now, why.clone()));
        let found = read?;
        *known = Some(found.clone());
        Ok(found)
    }

    /// Reads the provider's description and keys.
    async fn describe(&self, now: Timestamp) -> Result<Known, OpenIdError> {
        let address = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let described = self.ask(Method::GET, &address, &[], Bytes::new()).await?;
        if described["issuer"].as_str() != Some(&self.issuer) {
            return Err(unavailable("the description is of another issuer"));
        }
        let endpoint = |name: &str| {
            let text = described[name].as_str().filter(|text| self.may_use(text));
            text.map(str::to_owned)
                .ok_or_else(|| unavailable(format!("the description has no usable {name}")))
        };
        let (authorization, token) = (endpoint("authorization_endpoint")?, endpoint("token_endpoint")?);
        let jwks = endpoint("jwks_uri")?;
        let answer = self.ask(Method::GET, &jwks, &[], Bytes::new()).await?;
        let listed = answer["keys"].as_array().map_or(&[][..], Vec::as_slice);
        let keys = listed.iter().take(MOST_KEYS).filter_map(Key::read).collect();
        Ok(Known { authorization, token, keys, read_at: now })
    }

    /// An endpoint is over TLS, unless the issuer itself is not.
    fn may_use(&self, address: &str) -> bool {
        address.starts_with("https://")
            || (self.issuer.starts_with("http://") && address.starts_with("http://"))
    }

    async fn ask(
        &self,
        method: Method,
        address: &str,
        headers: &[(HeaderName, String)],
        body: Bytes,
    ) -> Result<Value, OpenIdError> {
        // The base ends where the path begins.
        let end = address.find("://").map_or(0, |at| at + 3);
        let slash = address[end..].find('/').map_or(address.len(), |at| end + at);
        let (base, path) = address.split_at(slash);
        let peer = Peer::new(&self.net, "openid", base, TIMEOUT, &[]).map_err(unavailable)?;
        let mut all = vec![(ACCEPT, "application/json".to_owned())];
        all.extend_from_slice(headers);
        let answer = peer.ask(method, path, &all, body).await.map_err(unavailable)?;
        let is_code = answer.status().is_client_error();
        let answer = answer
            .accepted()
            .await
            .map_err(|why| if is_code { refused(why.to_string()) } else { unavailable(why) })?;
        let body = answer.whole(MOST_BYTES).await.map_err(unavailable)?;
        serde_json::from_slice(&body).map_err(|_| unavailable("an answer that is not JSON"))
    }
}

fn form(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

impl Key {
    /// A key of a set (JWK) that may sign; `None` for others.
    fn read(jwk: &Value) -> Option<Self> {
        let text = |name: &str| jwk[name].as_str();
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?).ok();
        if text("use").is_some_and(|usage| usage != "sig") {
            return None;
        }
        let kind = match (text("kty")?, text("alg"), text("crv")) {
            ("RSA", None | Some("RS256"), _) => KeyKind::Rsa(bytes("n")?, bytes("e")?),
            ("EC", None | Some("ES256"), Some("P-256")) => {
                let (x, y) = (bytes("x")?, bytes("y")?);
                if x.len() != 32 || y.len() != 32 {
                    return None;
                }
                KeyKind::P256([&[4], &x[..], &y[..]].concat())
            }
            _ => return None,
        };
        Some(Self { id: text("kid").map(str::to_owned), kind })
    }

    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.kind {
            KeyKind::Rsa(n, e) => RsaPublicKeyComponents { n, e }
                .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
                .is_ok(),
            KeyKind::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
        }
    }

    /// The algorithm of its signatures. A token does not choose another: the kind of key decides.
    fn algorithm(&self) -> &'static str {
        match self.kind {
            KeyKind::Rsa(..) => "RS256",
            KeyKind::P256(_) => "ES256",
        }
    }
}

/// Why a token is not verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unverified {
    Malformed,
    Algorithm,
    UnknownKey,
    Signature,
}

impl std::fmt::Display for Unverified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Malformed => "the token is malformed",
            Self::Algorithm => "the token is signed with another algorithm than RS256 and ES256",
            Self::UnknownKey => "no key of the provider is that of the token",
            Self::Signature => "the signature of the token is wrong",
        })
    }
}

/// The payload of a token that one of these keys has signed.
fn verified(token: &str, keys: &[Key]) -> Result<Value, Unverified> {
    let parts: Vec<&str> = token.split('.').collect();
    let [head, payload, signature] = parts[..] else { return Err(Unverified::Malformed) };
    let bytes = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| Unverified::Malformed);
    let json = |part: &str| serde_json::from_slice::<Value>(&bytes(part)?).map_err(|_| Unverified::Malformed);
    let head = json(head)?;
    let algorithm = head["alg"].as_str().unwrap_or_default();
    if !["RS256", "ES256"].contains(&algorithm) || !head["crit"].is_null() {
        return Err(Unverified::Algorithm);
    }
    let fitting: Vec<&Key> = keys.iter().filter(|key| key.algorithm() == algorithm).collect();
    let key = match head["kid"].as_str() {
        Some(id) => fitting.into_iter().find(|key| key.id.as_deref() == Some(id)),
        // Without a name the key must be the only one.
        None if fitting.len() == 1 => fitting.first().copied(),
        None => None,
    };
    let key = key.ok_or(Unverified::UnknownKey)?;
    let message = &token[..token.len() - signature.len() - 1];
    if !key.verifies(message.as_bytes(), &bytes(signature)?) {
        return Err(Unverified::Signature);
    }
    json(payload)
}

/// Checks the claims of a verified token (OpenID Connect Core, 3.1.3.7).
fn claims(
    payload: &Value,
    issuer: &str,
    client: &str,
    nonce: &str,
    now: Timestamp,
) -> Result<Claims, &'static str> {
    let text = |name: &str| payload[name].as_str();
    let time = |name: &str| payload[name].as_i64().and_then(|seconds| seconds.checked_mul(SECOND));
    if text("iss") != Some(issuer) {
        return Err("the token is of another issuer");
    }
    let audience: Vec<&str> = match &payload["aud"] {
        Value::String(one) => vec![one],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !audience.contains(&client) {
        return Err("the token is for another client");
    }
    if text("azp").map_or(audience.len() > 1, |party| party != client) {
        return Err("the token was issued to another client");
    }
    if time("exp").is_none_or(|expiry| expiry <= now.0 - SKEW) {
        return Err("the token has expired");
    }
    if time("iat").is_none_or(|issued| issued > now.0 + SKEW || issued < now.0 - OLDEST) {
        return Err("the token was not issued now");
    }
    if !text("nonce").is_some_and(|sent| runtime::crypto::same(sent.as_bytes(), nonce.as_bytes())) {
        return Err("the token is of another sign-in");
    }
    let subject = text("sub").filter(|subject| !subject.is_empty() && subject.len() <= 255);
    let verified = payload["email_verified"] == Value::Bool(true);
    Ok(Claims {
        subject: subject.ok_or("the token names nobody")?.to_owned(),
        verified_email: text("email").filter(|_| verified).map(str::to_owned),
        name: text("name").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests;
