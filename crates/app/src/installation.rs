//! Sealed values that an installation stores for itself.

use serde_json::Value;
use store::installation;

use super::{App, Failure};

/// A fact by its name; none when it was never kept.
///
/// # Errors
/// When it cannot be decrypted, and those of the store.
pub async fn fact(app: &App, name: &'static str) -> Result<Option<Value>, Failure> {
    let Some(sealed) = app.store.read(move |tx| installation::get(tx, name)).await? else { return Ok(None) };
    let open = app
        .keyring
        .open_sealed(name, &sealed)
        .ok_or_else(|| Failure::internal(format!("the fact {name} cannot be decrypted")))?;
    serde_json::from_str(&open).map(Some).map_err(|why| Failure::internal(why.to_string()))
}

/// Keeps a fact, unless one of this name is kept already.
pub async fn keep_fact(app: &App, name: &'static str, fact: &Value) -> Result<(), Failure> {
    let sealed = app.keyring.seal(name, &fact.to_string()).map_err(Failure::internal)?;
    app.store.tx(move |tx| installation::get_or_insert(tx, name, &sealed)).await?;
    Ok(())
}
