use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;

use super::*;

const ISSUER: &str = "https://id.example.com";
const NOW: Timestamp = Timestamp(1_800_000_000_000);

struct Signer {
    pair: EcdsaKeyPair,
    id: &'static str,
}

impl Signer {
    fn new(id: &'static str) -> Self {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        Self { pair, id }
    }

    fn jwk(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "kid": self.id, "x": x, "y": y})
    }

    fn sign(&self, head: &Value, payload: &Value) -> String {
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", encode(head), encode(payload));
        let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

fn keys(signers: &[&Signer]) -> Vec<Key> {
    signers.iter().map(|signer| Key::read(&signer.jwk()).unwrap()).collect()
}

/// The example of RFC 7515, A.2.
#[test]
fn the_example_of_the_standard_is_verified() {
    let jwk = json!({"kty": "RSA",
        "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
        "e": "AQAB"});
    let token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    let key = Key::read(&jwk).unwrap();
    assert_eq!(verified(token, std::slice::from_ref(&key)).unwrap()["iss"], "joe");
    let other = token.replace("eyJpc3MiOiJqb2Ui", "eyJpc3MiOiJqb2Yi");
    assert_eq!(verified(&other, &[key]), Err(Unverified::Signature));
}

#[test]
fn only_a_key_of_the_provider_with_its_own_algorithm_verifies() {
    let (ours, theirs) = (Signer::new("one"), Signer::new("one"));
    let (payload, all) = (json!({"iss": ISSUER}), keys(&[&ours]));
    let head = json!({"alg": "ES256", "kid": "one"});
    assert_eq!(verified(&ours.sign(&head, &payload), &all), Ok(payload.clone()));
    assert_eq!(verified(&ours.sign(&json!({"alg": "ES256"}), &payload), &all), Ok(payload.clone()));
    assert_eq!(verified(&theirs.sign(&head, &payload), &all), Err(Unverified::Signature));
    let unknown = json!({"alg": "ES256", "kid": "two"});
    assert_eq!(verified(&ours.sign(&unknown, &payload), &all), Err(Unverified::UnknownKey));
    for algorithm in ["none", "None", "HS256", "PS256", "RS256 ", ""] {
        let token = ours.sign(&json!({"alg": algorithm, "kid": "one"}), &payload);
        assert_eq!(verified(&token, &all), Err(Unverified::Algorithm), "{algorithm}");
    }
    // The key decides, not the token: an RSA signature is not looked for with this one.
    let token = ours.sign(&json!({"alg": "RS256", "kid": "one"}), &payload);
    assert_eq!(verified(&token, &all), Err(Unverified::UnknownKey));
    let critical = json!({"alg": "ES256", "kid": "one", "crit": ["b64"]});
    assert_eq!(verified(&ours.sign(&critical, &payload), &all), Err(Unverified::Algorithm));
    // Signed with the public key as if it were a shared secret.
    let head = json!({"alg": "HS256", "kid": "one"});
    let message = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(head.to_string()),
        URL_SAFE_NO_PAD.encode(payload.to_string())
    );
    let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, ours.pair.public_key().as_ref());
    let tag = URL_SAFE_NO_PAD.encode(ring::hmac::sign(&secret, message.as_bytes()).as_ref());
    assert_eq!(verified(&format!("{message}.{tag}"), &all), Err(Unverified::Algorithm));
    for malformed in ["", "a.b", "a.b.c.d", "!.!.!", "e30.e30."] {
        assert!(verified(malformed, &all).is_err(), "{malformed}");
    }
    let two = keys(&[&ours, &Signer::new("two")]);
    let nameless = ours.sign(&json!({"alg": "ES256"}), &payload);
    assert_eq!(verified(&nameless, &two), Err(Unverified::UnknownKey), "it might be either");
}

#[test]
fn a_key_that_may_not_sign_is_none() {
    let jwk = Signer::new("one").jwk();
    let with = |name: &str, value: &str| {
        let mut jwk = jwk.clone();
        jwk[name] = json!(value);
        Key::read(&jwk).is_some()
    };
    assert!(with("kid", "other"));
    assert!(!with("use", "enc") && !with("alg", "ES384") && !with("crv", "P-384") && !with("x", "AAAA"));
    assert!(!with("kty", "oct") && !with("kty", "RSA"));
}

#[test]
fn every_claim_of_the_standard_is_checked() {
    let seconds = NOW.0 / 1_000;
    let good = json!({
        "iss": ISSUER, "aud": "us", "sub": "7", "exp": seconds + 300, "iat": seconds, "nonce": "n",
        "email": "asha@example.com", "email_verified": true, "name": "Asha",
    });
    let check = |payload: &Value| claims(payload, ISSUER, "us", "n", NOW);
    let found = check(&good).unwrap();
    assert_eq!((found.subject.as_str(), found.verified_email.as_deref()), ("7", Some("asha@example.com")));
    for (claim, value) in [
        ("iss", json!("https://id.example.com/")),
        ("iss", Value::Null),
        ("aud", json!("them")),
        ("aud", json!(["them"])),
        ("aud", json!(["us", "them"])),
        ("aud", Value::Null),
        ("azp", json!("them")),
        ("exp", json!(seconds - 60)),
        ("exp", Value::Null),
        ("exp", json!("tomorrow")),
        ("exp", json!(i64::MAX)),
        ("iat", json!(seconds + 61)),
        ("iat", json!(seconds - 601)),
        ("iat", Value::Null),
        ("nonce", json!("m")),
        ("nonce", Value::Null),
        ("sub", json!("")),
        ("sub", json!("x".repeat(256))),
        ("sub", Value::Null),
    ] {
        let mut bad = good.clone();
        bad[claim] = value.clone();
        assert!(check(&bad).is_err(), "{claim}: {value}");
    }
    let mut several = good.clone();
    (several["aud"], several["azp"]) = (json!(["us", "them"]), json!("us"));
    assert!(check(&several).is_ok());
    for unverified in [json!(false), json!("true"), json!(1), Value::Null] {
        let mut payload = good.clone();
        payload["email_verified"] = unverified;
        assert_eq!(check(&payload).unwrap().verified_email, None);
    }
}
