//! Settings of external systems (`[integrations]`; docs/operating/README.md «Connected systems»).

use std::time::Duration;

use domain::channel::preflight::Prices;
use providers::guarded_client::Policy;
use providers::settings::{CloudApi, Integrations};

use super::Values;

/// Reads the section. In development and with a manual clock, http:// and private addresses are accepted implicitly.
pub(super) fn read(values: &Values, dev: bool, manual_clock: bool) -> Result<Integrations, String> {
    let allow_insecure = values.flag("integrations.allow_insecure")? || dev || manual_clock;
    let policy = Policy { allow_insecure, ..Policy::default() };
    let some_address = |name: &str| match values.some_text(name)? {
        None => Ok(None),
        Some(text) => match policy.check_url(&text) {
            Err(why) => Err(format!("{name}: found «{text}»; {why}")),
            Ok(_) if text.contains('?') => Err(format!("{name}: found «{text}»; it must not have a query")),
            Ok(_) => Ok(Some(text.trim_end_matches('/').to_owned())),
        },
    };
    let address = |name: &str| some_address(name)?.ok_or_else(|| format!("{name}: missing"));
    Ok(Integrations {
        poll: Duration::from_secs(values.number("integrations.poll_seconds")?.unsigned_abs()),
        timeout: Duration::from_millis(values.number("integrations.timeout_ms")?.unsigned_abs()),
        allow_insecure,
        hubspot: address("integrations.hubspot.base_url")?,
        salesforce_login: address("integrations.salesforce.login_url")?,
        zoho_accounts: address("integrations.zoho.accounts_url")?,
        zoho: some_address("integrations.zoho.base_url")?,
        shopify: some_address("integrations.shopify.base_url")?,
        google_sheets: address("integrations.google_sheets.base_url")?,
        google_token: address("integrations.google_sheets.token_url")?,
    })
}

/// Reads the section `[chatapp.prices]`.
pub(super) fn channel_prices(values: &Values) -> Result<Prices, String> {
    let name = "chatapp.prices.currency";
    let currency = values.text(name)?;
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(format!("{name}: found «{currency}»; it must be a code of three capital letters"));
    }
    let price = |name: &str| {
        let text = values.text(name)?;
        Prices::read(&text).ok_or_else(|| {
            format!(
                "{name}: found «{text}»; it must look like 0.115, with at most four digits behind the point"
            )
        })
    };
    Ok(Prices {
        currency,
        marketing: price("chatapp.prices.marketing")?,
        utility: price("chatapp.prices.utility")?,
        authentication: price("chatapp.prices.authentication")?,
    })
}

/// Reads the section `[chatapp.cloud]`. The rules for addresses of external systems apply here, too.
pub(super) fn cloud_api(values: &Values, allow_insecure: bool) -> Result<CloudApi, String> {
    let (address, version) = ("chatapp.cloud.base_url", "chatapp.cloud.version");
    let base_url = values.text(address)?;
    let policy = Policy { allow_insecure, ..Policy::default() };
    policy.check_url(&base_url).map_err(|why| format!("{address}: found «{base_url}»; {why}"))?;
    if base_url.contains('?') {
        return Err(format!("{address}: found «{base_url}»; it must not have a query"));
    }
    let word = values.text(version)?;
    let number = word.strip_prefix('v').and_then(|number| number.split_once('.'));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !number.is_some_and(|(major, minor)| digits(major) && digits(minor)) {
        return Err(format!("{version}: found «{word}»; it must look like v25.0"));
    }
    Ok(CloudApi {
        base_url: base_url.trim_end_matches('/').to_owned(),
        version: word,
        timeout: Duration::from_millis(values.number("chatapp.cloud.timeout_ms")?.unsigned_abs()),
        allow_insecure,
    })
}
