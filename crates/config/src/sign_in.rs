//! Sign-in over an identity provider.

use domain::secret::Secret;

use super::Values;

/// An identity provider that speaks OpenID Connect.
#[derive(Debug, Clone)]
pub struct OpenId {
    /// Its address, exactly as its tokens name it.
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Secret,
    /// What people call it.
    pub name: String,
    /// Domains of addresses that may sign in with it; empty: all.
    pub allowed_domains: Vec<String>,
}

/// Reads and checks the settings; `None` when there is no provider.
pub(super) fn read(values: &Values) -> Result<Option<OpenId>, String> {
    let (client_id, name) = (values.text("sign_in.openid.client_id")?, values.text("sign_in.openid.name")?);
    let secret = values.some_text("sign_in.openid.client_secret")?;
    let allowed_domains = values.list("sign_in.openid.allowed_domains")?;
    let Some(issuer) = values.some_text("sign_in.openid.issuer")? else { return Ok(None) };
    ::providers::http::Base::parse(&issuer).map_err(|why| format!("sign_in.openid.issuer: {why}"))?;
    if client_id.is_empty() {
        return Err("sign_in.openid.client_id: missing; it goes with sign_in.openid.issuer".into());
    }
    let Some(client_secret) = secret.map(Secret::from) else {
        return Err("sign_in.openid.client_secret: missing; it goes with sign_in.openid.issuer".into());
    };
    if let Some(wrong) = allowed_domains.iter().find(|domain| domain.contains('@') || !domain.contains('.')) {
        return Err(format!(
            "sign_in.openid.allowed_domains: found «{wrong}»; allowed: domains, example.com"
        ));
    }
    let allowed_domains = allowed_domains.iter().map(|domain| domain.to_lowercase()).collect();
    Ok(Some(OpenId { issuer, client_id, client_secret, name, allowed_domains }))
}
