//! Credentials of connected accounts.

use domain::integration::Provider;
use domain::secret::Secret;
use serde_json::{Map, Value, json};

/// Credentials of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Name of the shop, for Shopify.
    pub shop: Option<String>,
    /// Credentials and how to use them.
    pub access: Access,
}

/// How requests are authorised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// An access token that does not expire, or that is renewed elsewhere.
    Token(Secret),
    /// Access tokens are renewed.
    Renewed {
        client_id: String,
        /// Its secret.
        client_secret: Secret,
        /// The consent of the account's owner.
        refresh_token: Secret,
    },
}

/// A field that is missing or invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongCredentials {
    pub field: &'static str,
    /// What it must be; continues a sentence after its name.
    pub must: &'static str,
}

const MISSING: &str = "is required";

const LONGEST: usize = 4_096;

/// A required field.
fn required(fields: &Map<String, Value>, field: &'static str) -> Result<String, WrongCredentials> {
    optional(fields, field)?.ok_or(WrongCredentials { field, must: MISSING })
}

fn optional(fields: &Map<String, Value>, field: &'static str) -> Result<Option<String>, WrongCredentials> {
    let wrong = |must| WrongCredentials { field, must };
    let text = match fields.get(field) {
        None => return Ok(None),
        Some(Value::String(text)) => text.trim(),
        Some(_) => return Err(wrong("must be text")),
    };
    if text.is_empty() {
        return Err(wrong("must not be empty"));
    }
    if text.len() > LONGEST {
        return Err(wrong("must have at most 4,096 characters"));
    }
    if !text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Err(wrong("must be printable ASCII characters"));
    }
    Ok(Some(text.to_owned()))
}

/// `acme` of `acme`, `acme.myshopify.com` or its address.
fn shop(text: &str) -> Result<String, WrongCredentials> {
    let lower = text.to_ascii_lowercase();
    let name = lower.strip_prefix("https://").unwrap_or(&lower).trim_end_matches('/');
    let name = name.strip_suffix(".myshopify.com").unwrap_or(name);
    let fits = (1..=60).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !name.ends_with('-')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if fits {
        Ok(name.to_owned())
    } else {
        Err(WrongCredentials {
            field: "shop",
            must: "must be the name of a shop, such as acme of acme.myshopify.com",
        })
    }
}

impl Credentials {
    /// Reads the credentials of a system (docs/contract/integrations.md#credentials).
    ///
    /// # Errors
    /// The first field that is missing or invalid. Unknown fields are dropped.
    pub fn read(provider: Provider, fields: &Map<String, Value>) -> Result<Self, WrongCredentials> {
        let shop = match provider {
            Provider::Shopify => Some(shop(&required(fields, "shop")?)?),
            _ => None,
        };
        let renewed =
            ["clientId", "clientSecret", "refreshToken"].iter().any(|name| fields.contains_key(*name));
        if matches!(provider, Provider::HubSpot | Provider::Shopify)
            && !renewed
            && let Some(token) = optional(fields, "accessToken")?
        {
            return Ok(Self { shop, access: Access::Token(token.into()) });
        }
        let access = Access::Renewed {
            client_id: required(fields, "clientId")?,
            client_secret: required(fields, "clientSecret")?.into(),
            refresh_token: required(fields, "refreshToken")?.into(),
        };
        Ok(Self { shop, access })
    }

    /// As they are stored, before sealing.
    pub fn to_json(&self) -> Value {
        let mut fields = match &self.access {
            Access::Token(token) => json!({"accessToken": &**token}),
            Access::Renewed { client_id, client_secret, refresh_token } => {
                json!({"clientId": client_id, "clientSecret": &**client_secret, "refreshToken": &**refresh_token})
            }
        };
        if let Some(shop) = &self.shop {
            fields["shop"] = json!(shop);
        }
        fields
    }

    /// Whether an access token can be renewed.
    pub fn renewable(&self) -> bool {
        matches!(self.access, Access::Renewed { .. })
    }

    /// All secrets in them, for redaction.
    pub fn secrets(&self) -> Vec<&str> {
        match &self.access {
            Access::Token(token) => vec![token],
            Access::Renewed { client_secret, refresh_token, .. } => vec![client_secret, refresh_token],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(provider: Provider, fields: Value) -> Result<Value, String> {
        Credentials::read(provider, fields.as_object().unwrap())
            .map(|read| read.to_json())
            .map_err(|why| format!("{} {}", why.field, why.must))
    }

    #[test]
    fn credentials_of_every_system() {
        let renewed = json!({"clientId": "i", "clientSecret": "s", "refreshToken": "r"});
        for provider in [Provider::HubSpot, Provider::Salesforce, Provider::Zoho, Provider::GoogleSheets] {
            assert_eq!(read(provider, renewed.clone()), Ok(renewed.clone()));
        }
        assert_eq!(read(Provider::HubSpot, json!({"accessToken": "a"})), Ok(json!({"accessToken": "a"})));
        let with_shop = json!({"clientId": "i", "clientSecret": "s", "refreshToken": "r", "shop": "acme-1"});
        assert_eq!(read(Provider::Shopify, with_shop.clone()), Ok(with_shop));
        for shop in ["Acme", "acme.myshopify.com", "https://acme.myshopify.com/"] {
            let read = read(Provider::Shopify, json!({"shop": shop, "accessToken": "a"})).unwrap();
            assert_eq!(read["shop"], "acme");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (provider, fields, why) in [
            (Provider::HubSpot, json!({}), "clientId is required"),
            (Provider::HubSpot, json!({"clientId": "i", "clientSecret": "s"}), "refreshToken is required"),
            (Provider::HubSpot, json!({"accessToken": 7}), "accessToken must be text"),
            (Provider::HubSpot, json!({"accessToken": " "}), "accessToken must not be empty"),
            (Provider::HubSpot, json!({"accessToken": "a", "clientId": "i"}), "clientSecret is required"),
            (Provider::Salesforce, json!({"accessToken": "a"}), "clientId is required"),
            (Provider::Shopify, json!({"accessToken": "a"}), "shop is required"),
            (
                Provider::Shopify,
                json!({"shop": "evil.example/x", "accessToken": "a"}),
                "shop must be the name of a shop, such as acme of acme.myshopify.com",
            ),
            (
                Provider::GoogleSheets,
                json!({"clientId": "i\r\nX: y", "clientSecret": "s", "refreshToken": "r"}),
                "clientId must be printable ASCII characters",
            ),
            (
                Provider::GoogleSheets,
                json!({"clientId": "x".repeat(4_097), "clientSecret": "s", "refreshToken": "r"}),
                "clientId must have at most 4,096 characters",
            ),
        ] {
            assert_eq!(read(provider, fields), Err(why.to_owned()));
        }
    }

    #[test]
    fn secrets_do_not_show() {
        let fields = json!({"shop": "acme", "accessToken": "hunter2"});
        let read = Credentials::read(Provider::Shopify, fields.as_object().unwrap()).unwrap();
        assert!(!format!("{read:?}").contains("hunter2"));
        assert_eq!(read.secrets(), ["hunter2"]);
    }
}
