//! Renewing an access token (OAuth 2.0, RFC 6749, section 6).

use domain::integration::Provider;
use serde_json::Value;

use super::client::Systems;
use super::credentials::{Access, Credentials};
use super::records::{Fault, Pass, Renewed};
use super::shopify;
use super::wire::{Answer, Ask, join, pairs, refusal};

/// Error codes of a system for a revoked consent.
const GONE: [&str; 2] = ["invalid_grant", "invalid_code"];

pub(super) async fn renew(
    systems: &Systems,
    provider: Provider,
    credentials: &Credentials,
    refresh_token: &str,
) -> Result<Renewed, Fault> {
    let Access::Renewed { client_id, client_secret, .. } = &credentials.access else {
        return Err(Fault::Refused("the access token cannot be renewed".into()));
    };
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", client_id.as_str()),
        ("client_secret", client_secret),
        ("refresh_token", refresh_token),
    ];
    let settings = &systems.settings;
    let shop = shopify::base(systems, credentials.shop.as_deref());
    let ask = match provider {
        Provider::HubSpot => Ask::form(&settings.hubspot, "/oauth/v3/token", &form),
        Provider::Salesforce => Ask::form(&settings.salesforce_login, "/services/oauth2/token", &form),
        // Its parameters are in the query.
        Provider::Zoho => {
            Ask::form(&settings.zoho_accounts, format!("/oauth/v2/token?{}", pairs(&form)), &[])
        }
        Provider::Shopify => Ask::form(&shop, "/admin/oauth/access_token", &form),
        Provider::GoogleSheets => {
            let (base, path) = split(&settings.google_token);
            Ask::form(base, path, &form)
        }
    };
    read(provider, credentials, &systems.answer(ask).await?)
}

/// Origin and path of an address.
fn split(url: &str) -> (&str, &str) {
    let host = url.find("://").map_or(0, |at| at + 3);
    let path = url[host..].find('/').map_or(url.len(), |at| host + at);
    let (base, path) = url.split_at(path);
    (base, if path.is_empty() { "/" } else { path })
}

fn read(provider: Provider, credentials: &Credentials, answer: &Answer) -> Result<Renewed, Fault> {
    let body = &answer.body;
    let text = |name: &str| body[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    // Zoho reports failures with 200.
    if let Some(error) = text("error") {
        let said = join(&[Some(error.clone()), text("error_description")]);
        return Err(match refusal(answer) {
            _ if GONE.contains(&error.as_str()) => Fault::Revoked(said),
            Fault::Later { wait, .. } => Fault::Later { wait, said },
            _ => Fault::Refused(said),
        });
    }
    if !answer.status.is_success() {
        return Err(match refusal(answer) {
            // At the token endpoint, 401 does not mean that a token has expired.
            Fault::Unauthorized(said) => Fault::Refused(said),
            other => other,
        });
    }
    let token = text("access_token")
        .ok_or_else(|| Fault::Unclear("the answer of the token endpoint has no access_token".into()))?;
    let base =
        match provider {
            Provider::Salesforce => Some(text("instance_url").ok_or_else(|| {
                Fault::Unclear("the answer of the token endpoint has no instance_url".into())
            })?),
            Provider::Zoho => text("api_domain"),
            Provider::HubSpot | Provider::Shopify | Provider::GoogleSheets => None,
        };
    Ok(Renewed {
        pass: Pass { token: token.into(), base, shop: credentials.shop.clone() },
        refresh_token: text("refresh_token").map(Into::into),
        lasts: seconds(&body["expires_in"]).map(|seconds| seconds.saturating_mul(1_000)),
    })
}

fn seconds(value: &Value) -> Option<i64> {
    let seconds = value.as_i64().or_else(|| value.as_str()?.parse().ok())?;
    (seconds > 0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, StatusCode};
    use serde_json::json;

    use super::*;

    fn answer(provider: Provider, status: u16, body: Value) -> Result<Renewed, Fault> {
        let credentials = Credentials {
            shop: None,
            access: Access::Renewed {
                client_id: "i".into(),
                client_secret: "s".into(),
                refresh_token: "r".into(),
            },
        };
        let status = StatusCode::from_u16(status).unwrap();
        read(provider, &credentials, &Answer { status, headers: HeaderMap::new(), body })
    }

    #[test]
    fn answers_of_every_token_endpoint() {
        let hubspot =
            json!({"token_type": "bearer", "access_token": "a", "refresh_token": "r2", "expires_in": 1800});
        let renewed = answer(Provider::HubSpot, 200, hubspot).unwrap();
        assert_eq!((&*renewed.pass.token, renewed.lasts), ("a", Some(1_800_000)));
        assert_eq!(renewed.refresh_token.as_deref(), Some("r2"));
        let salesforce = json!({"access_token": "a", "instance_url": "https://acme.my.salesforce.com", "issued_at": "1795000000000"});
        let renewed = answer(Provider::Salesforce, 200, salesforce).unwrap();
        assert_eq!(
            (renewed.pass.base.as_deref(), renewed.lasts),
            (Some("https://acme.my.salesforce.com"), None)
        );
        let zoho =
            json!({"access_token": "1000.a", "api_domain": "https://www.zohoapis.in", "expires_in": 3600});
        let renewed = answer(Provider::Zoho, 200, zoho).unwrap();
        assert_eq!(renewed.pass.base.as_deref(), Some("https://www.zohoapis.in"));
    }

    #[test]
    fn a_withdrawn_consent_is_told_from_every_other_failure() {
        let code = |provider, status, body| answer(provider, status, body).unwrap_err().code();
        let error = |word: &str| json!({"error": word, "error_description": "no"});
        assert_eq!(code(Provider::HubSpot, 400, error("invalid_grant")), "revoked");
        assert_eq!(code(Provider::GoogleSheets, 400, error("invalid_grant")), "revoked");
        assert_eq!(code(Provider::Zoho, 200, error("invalid_code")), "revoked");
        assert_eq!(code(Provider::Zoho, 200, error("invalid_client")), "refused");
        assert_eq!(code(Provider::Zoho, 200, error("Access Denied")), "refused");
        assert_eq!(code(Provider::Salesforce, 400, error("inactive_user")), "refused");
        assert_eq!(code(Provider::Salesforce, 401, Value::Null), "refused");
        assert_eq!(code(Provider::Salesforce, 500, Value::Null), "unclear");
        assert_eq!(code(Provider::Salesforce, 429, error("too many")), "later");
        assert_eq!(code(Provider::Salesforce, 200, json!({"access_token": "a"})), "unclear");
        assert_eq!(code(Provider::Zoho, 200, json!({})), "unclear");
    }

    #[test]
    fn an_address_is_split_before_its_path() {
        assert_eq!(split("https://oauth2.googleapis.com/token"), ("https://oauth2.googleapis.com", "/token"));
        assert_eq!(split("http://127.0.0.1:80"), ("http://127.0.0.1:80", "/"));
    }
}
