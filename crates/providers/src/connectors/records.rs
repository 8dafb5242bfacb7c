//! Data types of connectors: access, queries and pages of records, and calls that are written back; fields and times in
//! the systems' formats.

use domain::secret::Secret;
use domain::time::Timestamp;
use serde_json::{Map, Value};

/// Why a request failed. The message may be shown to the owner of the account after secrets are redacted, since systems
/// echo their input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The access token is not accepted.
    Unauthorized(String),
    /// The access was revoked: there will be no token again.
    Revoked(String),
    /// Throttled, with the wait (milliseconds) if the system names one.
    Later {
        wait: Option<i64>,
        said: String,
    },
    /// The system refused; a retry would be refused again.
    Refused(String),
    Unreached(String),
    /// Sent, but without a clear response.
    Unclear(String),
}

impl Fault {
    /// The message, for the owner of the account.
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

/// Authorisation of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    pub token: Secret,
    /// The base address that the system returned: Salesforce's instance, Zoho's domain.
    pub base: Option<String>,
    /// Name of the shop, for Shopify.
    pub shop: Option<String>,
}

/// A new access token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewed {
    /// Authorisation of requests from now on.
    pub pass: Pass,
    /// The next refresh token, where the system sent another one.
    pub refresh_token: Option<Secret>,
    /// Its lifetime, milliseconds, where the system names it.
    pub lasts: Option<i64>,
}

/// Which records a stream imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Kind of record: `Lead` or `Contact`, `Leads` or `Contacts`; `contacts` and `customers` where there is
    /// one kind only.
    pub object: String,
    pub lifecycle_stage: Option<String>,
    /// Fields that are requested in addition to the usual ones.
    pub fields: Vec<String>,
    /// Records created at this time or later.
    pub from: Timestamp,
}

/// The position of the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The start time of the next query.
    pub(super) from: Timestamp,
    /// The system's own cursor.
    pub(super) place: String,
    /// Newest first, until the pages are too old.
    pub(super) backwards: bool,
}

impl Cursor {
    /// Whether the newest records come first: then the remaining ones cannot be identified by time.
    pub fn is_backwards(&self) -> bool {
        self.backwards
    }
}

/// A record of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its id in the system.
    pub id: String,
    /// When it was created, if the system says so.
    pub created: Option<Timestamp>,
    /// Its fields, the usual ones first. Those without a value are left out.
    pub fields: Map<String, Value>,
}

/// A page of records, in the order of their creation.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The records; none is older than requested.
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
    /// Talk time, seconds.
    pub talk_seconds: i64,
    /// Whether the person was called.
    pub outbound: bool,
    /// The number of the person.
    pub person: String,
    pub own: String,
    /// Whether somebody answered.
    pub answered: bool,
    pub end_cause: Option<String>,
    /// Its outcome.
    pub outcome: Option<String>,
    /// Its summary.
    pub summary: Option<String>,
}

impl CallNote {
    /// One line that identifies the call.
    pub(super) fn title(&self) -> String {
        let what = self.outcome.as_deref().or(self.end_cause.as_deref()).unwrap_or("call");
        format!("AI call: {} ({})", short(what, 80), self.call)
    }

    /// Its text.
    pub(super) fn text(&self) -> String {
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
pub(super) fn short(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// The fields of a record that have a value: the usual ones in their order, then the others.
pub(super) fn arranged(usual: &[&str], record: &Map<String, Value>) -> Map<String, Value> {
    let filled = |name: &str| record.get(name).filter(|value| !value.is_null()).cloned();
    let first = usual.iter().filter_map(|name| Some(((*name).to_owned(), filled(name)?)));
    let rest = record.keys().filter_map(|name| Some((name.clone(), filled(name)?)));
    // A repeated name is ignored.
    first.chain(rest).collect()
}

/// The usual fields and the additional ones, each once.
pub(super) fn asked_fields(usual: &[&str], wanted: &[String]) -> Vec<String> {
    let mut fields: Vec<String> = usual.iter().map(|name| (*name).to_owned()).collect();
    for name in wanted {
        if !fields.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            fields.push(name.clone());
        }
    }
    fields
}

/// Whether a name is valid in a query: letters, digits and underscores, with dots between its parts.
pub(super) fn is_field_name(name: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    name.len() <= 200 && name.split('.').count() <= 6 && name.split('.').all(part)
}

/// The fields of a query: the usual ones of its object, and the additional ones. `kind` is the system's name of an
/// object.
pub(super) fn query_fields(query: &Query, kind: &str, objects: &[(&str, &[&str])]) -> Result<String, Fault> {
    let usual = objects
        .iter()
        .find(|(object, _)| *object == query.object)
        .ok_or_else(|| Fault::Refused(format!("«{}» is no {kind} that is read", short(&query.object, 40))))?;
    let fields = asked_fields(usual.1, &query.fields);
    check_names(&fields)?;
    Ok(fields.join(", "))
}

/// Validates the names of fields in a query.
pub(super) fn check_names(fields: &[String]) -> Result<(), Fault> {
    match fields.iter().find(|name| !is_field_name(name)) {
        Some(name) => {
            Err(Fault::Refused(format!("«{}» is not a field name of this system", short(name, 100))))
        }
        None => Ok(()),
    }
}

/// The records in a list of a response; those without an id are left out.
pub(super) fn found_in(list: &Value, found: fn(&Value) -> Option<Found>) -> Result<Vec<Found>, Fault> {
    let list = list.as_array().ok_or_else(|| Fault::Unclear("an answer without a list of records".into()))?;
    Ok(list.iter().filter_map(found).collect())
}

/// A time as systems write it: ISO 8601, also with `+0000`, or milliseconds since 1970.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
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

/// A time to the second, without a zone.
pub(super) fn to_the_second(at: Timestamp) -> String {
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
