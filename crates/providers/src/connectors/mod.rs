//! Customers' systems: HubSpot, Salesforce, Zoho CRM, Shopify and Google Sheets
//! (docs/contract/integrations.md). Here is what travels: new records and rows of spreadsheets come in, calls
//! are written back, and access tokens are renewed. When that happens is decided elsewhere.
//!
//! | file | holds |
//! |---|---|
//! | `wire` | one exchange, and what an answer without success means |
//! | `credentials` | what an account is opened with |
//! | `oauth` | renewing an access token |
//! | one file for each system | its requests and answers |
//!
//! All requests go through the guarded client: the operator's settings and the systems' own answers say where
//! they go, and unless the settings allow more, they reach public addresses over TLS only.

mod credentials;
mod google_sheets;
mod hubspot;
mod oauth;
mod salesforce;
mod shopify;
mod wire;
mod zoho;

use std::fmt;
use std::sync::Arc;

use domain::integration::Provider;
use domain::secret::Secret;
use domain::time::Timestamp;
use serde_json::{Map, Value};

use crate::GuardedClient;
use crate::guarded_client::{Policy, PoolLimits, SystemResolver, Transport};
use crate::settings::Integrations;

pub use credentials::{Credentials, WrongCredentials};
pub use google_sheets::{MOST_ROWS, Row, Sheet};

/// Most records that one page brings, whatever the system sends.
const MOST_ON_A_PAGE: usize = 2_500;

/// Why an exchange brought nothing. The words may be shown to the owner of the account once its secrets are
/// taken out: systems repeat what they were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The access token is not accepted.
    Unauthorized(String),
    /// The access was withdrawn: no token will be given again.
    Revoked(String),
    /// The system wants to be left alone, for so long (milliseconds) if it says so.
    Later {
        wait: Option<i64>,
        said: String,
    },
    /// The system refused; the same again would be refused again.
    Refused(String),
    Unreached(String),
    /// Sent, but without an answer that says what came of it.
    Unclear(String),
}

impl Fault {
    /// What it says, for the owner of the account.
    pub fn said(&self) -> &str {
        match self {
            Fault::Unauthorized(said)
            | Fault::Revoked(said)
            | Fault::Later { said, .. }
            | Fault::Refused(said)
            | Fault::Unreached(said)
            | Fault::Unclear(said) => said,
        }
    }

    /// A stable word for logs.
    pub fn code(&self) -> &'static str {
        match self {
            Fault::Unauthorized(_) => "unauthorized",
            Fault::Revoked(_) => "revoked",
            Fault::Later { .. } => "later",
            Fault::Refused(_) => "refused",
            Fault::Unreached(_) => "unreached",
            Fault::Unclear(_) => "unclear",
        }
    }
}

/// What a request is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    pub token: Secret,
    /// Where the system said that it is: Salesforce's instance, Zoho's domain.
    pub base: Option<String>,
    /// Name of the shop, for Shopify.
    pub shop: Option<String>,
}

/// A new access token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewed {
    /// What requests are made with from now on.
    pub pass: Pass,
    /// The token for the next renewal, where the system gave another one.
    pub refresh_token: Option<Secret>,
    /// How long it lasts, milliseconds, where the system says so.
    pub lasts: Option<i64>,
}

/// Which records a stream takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Kind of record: `Lead` or `Contact`, `Leads` or `Contacts`; `contacts` and `customers` where there is
    /// one kind only.
    pub object: String,
    pub lifecycle_stage: Option<String>,
    /// Fields that are asked for beside the usual ones.
    pub fields: Vec<String>,
    /// Records made at this moment or later.
    pub from: Timestamp,
}

/// Where the next page begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// From when on is asked from now on.
    from: Timestamp,
    /// The system's own word for the place.
    place: String,
    /// Newest first, until the pages are too old.
    backwards: bool,
}

impl Cursor {
    /// Whether the newest records come first: those that are left cannot be told by their moment.
    pub fn is_backwards(&self) -> bool {
        self.backwards
    }
}

/// A record as it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its id in the system.
    pub id: String,
    /// When it was made, if the system says so.
    pub created: Option<Timestamp>,
    /// Its fields, the usual ones first. Those without a value are left out.
    pub fields: Map<String, Value>,
}

/// A page of records, in the order in which they were made.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The records; none is older than was asked for.
    pub records: Vec<Found>,
    pub next: Option<Cursor>,
}

/// A call as it is written back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallNote {
    pub call: String,
    /// Kind of the person's record.
    pub object: String,
    pub record: String,
    pub started: Timestamp,
    /// How long was talked, seconds.
    pub talk_seconds: i64,
    /// Whether the person was called.
    pub outbound: bool,
    /// The number of the person.
    pub person: String,
    pub own: String,
    /// Whether somebody answered.
    pub answered: bool,
    pub end_cause: Option<String>,
    /// What came of it.
    pub outcome: Option<String>,
    /// What was said, in a few sentences.
    pub summary: Option<String>,
}

impl CallNote {
    /// One line that tells the call from all others.
    fn title(&self) -> String {
        let what = self.outcome.as_deref().or(self.end_cause.as_deref()).unwrap_or("call");
        format!("AI call: {} ({})", short(what, 80), self.call)
    }

    /// What is to be read about it.
    fn text(&self) -> String {
        let mut lines = Vec::new();
        lines.extend(self.summary.clone());
        lines.extend(self.outcome.as_ref().map(|outcome| format!("Outcome: {outcome}")));
        lines.extend(self.end_cause.as_ref().map(|cause| format!("Ended: {cause}")));
        lines.push(format!("Talk time: {} s", self.talk_seconds));
        lines.push(format!("Call: {}", self.call));
        lines.join("\n")
    }
}

/// The first characters of a text.
fn short(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// The way to the systems. Cheap to clone.
#[derive(Clone)]
pub struct Systems {
    settings: Integrations,
    /// For requests that may be repeated.
    reading: GuardedClient,
    /// For requests that must not: it keeps no connection, so nothing is sent twice on a new one.
    writing: GuardedClient,
    /// Who stands in for the systems, in the simulation.
    stand_in: Option<Arc<dyn Transport>>,
}

impl fmt::Debug for Systems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Systems").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Systems {
    /// The systems of these settings.
    ///
    /// # Errors
    /// What the settings have wrong.
    pub fn new(settings: &Integrations) -> Result<Self, String> {
        let resolver = Arc::new(SystemResolver::new());
        let client = |pool: PoolLimits| {
            let policy = Policy {
                allow_insecure: settings.allow_insecure,
                user_agent: "dastak".into(),
                pool,
                ..Policy::default()
            };
            GuardedClient::new(policy, resolver.clone()).map_err(|why| why.to_string())
        };
        Ok(Self {
            settings: settings.clone(),
            reading: client(PoolLimits::default())?,
            writing: client(PoolLimits { idle_total: 0, ..PoolLimits::default() })?,
            stand_in: None,
        })
    }

    /// The same with requests that go elsewhere, for the simulation.
    #[must_use]
    pub fn with_transport(self, stand_in: Arc<dyn Transport>) -> Self {
        Self { stand_in: Some(stand_in), ..self }
    }

    /// Gets a new access token. `refresh_token` is the one in force, which may be newer than that of the
    /// credentials.
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
    /// Why there is none.
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
        // Of those that keep whole seconds, the second in which the query begins counts as a whole.
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

    /// Writes a call back and returns the id of what was made of it. With `look_first` it may be there
    /// already, which is looked up before.
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

/// The fields of a record that have a value: the usual ones in their order, then the others.
fn arranged(usual: &[&str], record: &Map<String, Value>) -> Map<String, Value> {
    let filled = |name: &str| record.get(name).filter(|value| !value.is_null()).cloned();
    let first = usual.iter().filter_map(|name| Some(((*name).to_owned(), filled(name)?)));
    let rest = record.keys().filter_map(|name| Some((name.clone(), filled(name)?)));
    // A name that comes again changes nothing.
    first.chain(rest).collect()
}

/// The usual fields and those that are wanted beside them, each once.
fn asked_fields(usual: &[&str], wanted: &[String]) -> Vec<String> {
    let mut fields: Vec<String> = usual.iter().map(|name| (*name).to_owned()).collect();
    for name in wanted {
        if !fields.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            fields.push(name.clone());
        }
    }
    fields
}

/// Whether a name can stand in a query: letters, digits and underscores, with dots between its parts.
fn is_field_name(name: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    name.len() <= 200 && name.split('.').count() <= 6 && name.split('.').all(part)
}

/// The fields that a query asks for: the usual ones of its object, of those that are read, and those that are
/// wanted. `kind` is what the system calls an object.
fn query_fields(query: &Query, kind: &str, objects: &[(&str, &[&str])]) -> Result<String, Fault> {
    let usual = objects
        .iter()
        .find(|(object, _)| *object == query.object)
        .ok_or_else(|| Fault::Refused(format!("«{}» is no {kind} that is read", short(&query.object, 40))))?;
    let fields = asked_fields(usual.1, &query.fields);
    check_names(&fields)?;
    Ok(fields.join(", "))
}

/// Checks the names of fields that stand in a query.
fn check_names(fields: &[String]) -> Result<(), Fault> {
    match fields.iter().find(|name| !is_field_name(name)) {
        Some(name) => {
            Err(Fault::Refused(format!("«{}» is not a field name of this system", short(name, 100))))
        }
        None => Ok(()),
    }
}

/// The records in a list of an answer; those that have no id are left out.
fn found_in(list: &Value, found: fn(&Value) -> Option<Found>) -> Result<Vec<Found>, Fault> {
    let list = list.as_array().ok_or_else(|| Fault::Unclear("an answer without a list of records".into()))?;
    Ok(list.iter().filter_map(found).collect())
}

/// A moment as systems write it: ISO 8601, also with `+0000`, or milliseconds since 1970.
fn moment(text: &str) -> Option<Timestamp> {
    if text.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(ms) = text.parse()
    {
        return Some(Timestamp(ms));
    }
    let offset = text.len().checked_sub(5).and_then(|at| text.split_at_checked(at));
    if let Some((date, offset)) = offset
        && offset.starts_with(['+', '-'])
        && offset[1..].bytes().all(|byte| byte.is_ascii_digit())
    {
        return Timestamp::parse(&format!("{date}{}:{}", &offset[..3], &offset[3..]));
    }
    Timestamp::parse(text)
}

/// A moment to the second, without a zone.
fn to_the_second(at: Timestamp) -> String {
    at.with_text(|text| text.get(..19).unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_all_systems_are_read() {
        let at = Some(Timestamp::parse("2026-11-21T05:31:07Z").unwrap());
        for text in [
            "2026-11-21T05:31:07.000+0000",
            "2026-11-21T11:01:07+05:30",
            "2026-11-21T11:01:07+0530",
            "2026-11-21T05:31:07Z",
            "1795239067000",
        ] {
            assert_eq!(moment(text), at, "{text}");
        }
        for text in ["", "+0000", "yesterday", "2026-11-21T05:31:07", "é+0000"] {
            assert_eq!(moment(text), None, "{text}");
        }
        assert_eq!(to_the_second(Timestamp(1_795_239_067_999)), "2026-11-21T05:31:07");
    }

    #[test]
    fn usual_fields_come_first_and_empty_ones_not_at_all() {
        let record = serde_json::json!({"mobilephone": "2", "city": "Pune", "email": null, "phone": "1"});
        let fields = arranged(&["phone", "mobilephone", "email"], record.as_object().unwrap());
        let text = serde_json::json!({"phone": "1", "mobilephone": "2", "city": "Pune"}).to_string();
        assert_eq!(Value::Object(fields).to_string(), text);
    }

    #[test]
    fn names_that_would_change_a_query_are_refused() {
        for name in ["Phone", "Owner.Name", "a__c", "_x", "Account.Owner.Manager.Name"] {
            assert!(is_field_name(name), "{name}");
        }
        for name in ["", "Phone Number", "Id FROM User --", "a..b", "a.", "1a", "a'b", "नाम", "a.b.c.d.e.f.g"]
        {
            assert!(!is_field_name(name), "{name}");
        }
    }
}
