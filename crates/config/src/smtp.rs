//! The mail server.

use domain::campaign::settings::is_email;
use domain::secret::Secret;

use super::Values;

/// Where e-mail notifications are handed in.
#[derive(Debug, Clone)]
pub struct Smtp {
    /// `smtps://user:password@host:465`, or `smtp://` with `?tls=required` or `?tls=opportunistic`.
    pub url: Secret,
    /// The sender, an address.
    pub from: String,
}

/// Reads and checks the settings; `None` when no server is set.
pub(super) fn read(values: &Values) -> Result<Option<Smtp>, String> {
    let (url, from) = (values.some_text("smtp.url")?, values.text("smtp.from")?);
    let Some(url) = url else { return Ok(None) };
    if !url.starts_with("smtp://") && !url.starts_with("smtps://") {
        // The value holds a password.
        return Err("smtp.url: found a value that is not shown; allowed: smtps://… and smtp://…".into());
    }
    if !is_email(&from) {
        return Err(format!(
            "smtp.from: found «{from}»; allowed: an e-mail address, which goes with smtp.url"
        ));
    }
    Ok(Some(Smtp { url: url.into(), from }))
}
