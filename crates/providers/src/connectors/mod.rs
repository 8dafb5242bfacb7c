//! Customers' systems: HubSpot, Salesforce, Zoho CRM, Shopify and Google Sheets (docs/contract/integrations.md). The
//! requests: polling new records and rows of spreadsheets, writing calls back, and renewing access tokens. When to do
//! so is decided elsewhere.
//!
//! | file | holds |
//! |---|---|
//! | `records` | data types: access, queries, records, calls |
//! | `client` | the HTTP clients for all systems |
//! | `wire` | one request, and the meaning of an error response |
//! | `credentials` | credentials of connected accounts |
//! | `oauth` | renewing an access token |
//! | one file for each system | its requests and responses |
//!
//! All requests go through the guarded client: their addresses come from the operator's settings and from the systems'
//! own responses, and unless the settings allow more, they are public and over TLS only.

mod client;
mod credentials;
mod google_sheets;
mod hubspot;
mod oauth;
mod records;
mod salesforce;
mod shopify;
mod wire;
mod zoho;

use domain::integration::Provider;

pub use client::Systems;
pub use credentials::{Credentials, WrongCredentials};
pub use google_sheets::{MOST_ROWS, Row, Sheet};
pub use records::{CallNote, Cursor, Fault, Found, Page, Pass, Query, Renewed};

/// Most records taken of one page, whatever the system sends.
const MOST_ON_A_PAGE: usize = 2_500;

impl Systems {
    /// Fetches a new access token. `refresh_token` is the current one, which may be newer than that of the credentials.
    ///
    /// # Errors
    /// [`Fault::Revoked`] when there will be none.
    pub async fn renew(
        &self,
        provider: Provider,
        credentials: &Credentials,
        refresh_token: &str,
    ) -> Result<Renewed, Fault> {
        oauth::renew(self, provider, credentials, refresh_token).await
    }

    /// One page of the records of a CRM or a shop.
    ///
    /// # Errors
    /// Why the request failed.
    pub async fn page(
        &self,
        provider: Provider,
        pass: &Pass,
        query: &Query,
        cursor: Option<Cursor>,
    ) -> Result<Page, Fault> {
        let cursor =
            cursor.unwrap_or_else(|| Cursor { from: query.from, place: String::new(), backwards: false });
        let backwards = cursor.backwards;
        let mut page = match provider {
            Provider::HubSpot => hubspot::page(self, pass, query, cursor).await?,
            Provider::Salesforce => salesforce::page(self, pass, query, cursor).await?,
            Provider::Zoho => zoho::page(self, pass, query, cursor).await?,
            Provider::Shopify => shopify::page(self, pass, query, cursor).await?,
            Provider::GoogleSheets => return Err(Fault::Refused("a spreadsheet has no records".into())),
        };
        if page.records.len() > MOST_ON_A_PAGE {
            return Err(Fault::Unclear(format!("a page of more than {MOST_ON_A_PAGE} records")));
        }
        let came = page.records.len();
        // Systems with whole seconds: the second in which the query begins counts as a whole.
        let from = match provider {
            Provider::HubSpot => query.from.0,
            _ => query.from.0 - query.from.0.rem_euclid(1_000),
        };
        page.records.retain(|record| record.created.is_none_or(|created| created.0 >= from));
        if backwards && came > 0 && page.records.is_empty() {
            page.next = None;
        }
        page.records.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
        Ok(page)
    }

    /// A spreadsheet: its first tab, or the one of this name.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub async fn sheet(&self, pass: &Pass, spreadsheet: &str, tab: Option<&str>) -> Result<Sheet, Fault> {
        google_sheets::read(self, pass, spreadsheet, tab).await
    }

    /// Writes a call back and returns the id of the created object. With `look_first` it may exist already, and is
    /// searched first.
    ///
    /// # Errors
    /// Why it was not written; after [`Fault::Unclear`] it may have been.
    pub async fn write_call(
        &self,
        provider: Provider,
        pass: &Pass,
        note: &CallNote,
        look_first: bool,
    ) -> Result<String, Fault> {
        match provider {
            Provider::HubSpot => hubspot::write(self, pass, note, look_first).await,
            Provider::Salesforce => salesforce::write(self, pass, note, look_first).await,
            Provider::Zoho => zoho::write(self, pass, note, look_first).await,
            Provider::Shopify => shopify::write(self, pass, note).await,
            Provider::GoogleSheets => Err(Fault::Refused("a spreadsheet takes no calls".into())),
        }
    }
}
