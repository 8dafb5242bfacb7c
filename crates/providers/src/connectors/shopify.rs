//! Shopify's customers.

use std::collections::BTreeMap;

use http::HeaderName;
use serde_json::{Value, json};

use super::client::Systems;
use super::records::{
    CallNote, Cursor, Fault, Found, Page, Pass, Query, arranged, check_names, moment, short, to_the_second,
};
use super::wire::{Ask, RECORDS, join};

/// The API of autumn 2026; a version is kept for a year.
const GRAPHQL: &str = "/admin/api/2026-10/graphql.json";

const TOKEN: HeaderName = HeaderName::from_static("x-shopify-access-token");

/// Customers of one page.
const PAGE: usize = 100;

/// Fields of a customer that are always asked for.
const USUAL: [&str; 12] = [
    "id",
    "firstName",
    "lastName",
    "displayName",
    "createdAt",
    "tags",
    "note",
    "defaultPhoneNumber.phoneNumber",
    "defaultEmailAddress.emailAddress",
    "defaultAddress.phone",
    "defaultAddress.city",
    "defaultAddress.countryCodeV2",
];

/// Those that come first in a record.
const FIRST: [&str; 5] = ["id", "firstName", "lastName", "displayName", "createdAt"];

/// Longest note of a customer, characters.
const LONGEST_NOTE: usize = 5_000;

pub(super) fn base(systems: &Systems, shop: Option<&str>) -> String {
    match &systems.settings.shopify {
        Some(base) => base.clone(),
        None => format!("https://{}.myshopify.com", shop.unwrap_or_default()),
    }
}

/// Sends a query and returns the whole response, if it has no errors.
async fn ask(
    systems: &Systems,
    pass: &Pass,
    query: &str,
    variables: Value,
    once: bool,
) -> Result<Value, Fault> {
    let base = base(systems, pass.shop.as_deref());
    let body = json!({"query": query, "variables": variables});
    let ask = Ask::json(&base, GRAPHQL, &body).with(TOKEN, &*pass.token).up_to(RECORDS);
    let answer = if once { systems.write(ask).await? } else { systems.read(ask).await? };
    match answer["errors"].as_array().and_then(|errors| errors.first()) {
        Some(error) => Err(refusal(error, &answer)),
        None if answer["data"].is_object() => Ok(answer),
        None => Err(Fault::Unclear("an answer without data".into())),
    }
}

/// What an error in an answer means.
fn refusal(error: &Value, answer: &Value) -> Fault {
    let text = |of: &Value| of.as_str().map(str::to_owned);
    let code = text(&error["extensions"]["code"]);
    let said = join(&[code.clone(), text(&error["message"])]);
    match code.as_deref() {
        Some("THROTTLED") => {
            let cost = &answer["extensions"]["cost"];
            let (status, needed) = (&cost["throttleStatus"], cost["requestedQueryCost"].as_f64());
            let missing = needed.unwrap_or(0.0) - status["currentlyAvailable"].as_f64().unwrap_or(0.0);
            let rate = status["restoreRate"].as_f64().filter(|rate| *rate > 0.0).unwrap_or(50.0);
            let wait = (missing.max(0.0) / rate * 1_000.0).ceil().min(1e12) as i64;
            Fault::Later { wait: Some(wait), said }
        }
        Some("INTERNAL_SERVER_ERROR") => Fault::Unclear(said),
        _ => Fault::Refused(said),
    }
}

/// A selection of fields: names, and the nested selections.
#[derive(Default)]
struct Selection(BTreeMap<String, Selection>);

impl Selection {
    fn add(&mut self, path: &str) {
        let (name, rest) = path.split_once('.').unwrap_or((path, ""));
        let inner = self.0.entry(name.to_owned()).or_default();
        if !rest.is_empty() {
            inner.add(rest);
        }
    }

    fn text(&self) -> String {
        let fields: Vec<String> = self
            .0
            .iter()
            .map(
                |(name, inner)| {
                    if inner.0.is_empty() { name.clone() } else { format!("{name} {{ {} }}", inner.text()) }
                },
            )
            .collect();
        fields.join(" ")
    }
}

fn query_text(wanted: &[String], backwards: bool) -> Result<String, Fault> {
    check_names(wanted)?;
    let mut selection = Selection::default();
    USUAL.iter().copied().chain(wanted.iter().map(String::as_str)).for_each(|path| selection.add(path));
    let reverse = if backwards { ", reverse: true" } else { "" };
    Ok(format!(
        "query($q: String!, $after: String) {{ customers(first: {PAGE}, after: $after, sortKey: CREATED_AT{reverse}, query: $q) \
         {{ nodes {{ {} }} pageInfo {{ hasNextPage endCursor }} }} }}",
        selection.text()
    ))
}

pub(super) async fn page(
    systems: &Systems,
    pass: &Pass,
    query: &Query,
    cursor: Cursor,
) -> Result<Page, Fault> {
    let text = query_text(&query.fields, cursor.backwards)?;
    let after = Some(&cursor.place).filter(|place| !place.is_empty());
    let variables =
        json!({"q": format!("customer_date:>='{}Z'", to_the_second(cursor.from)), "after": after});
    let answer = ask(systems, pass, &text, variables, false).await?;
    // A shop that does not know the search term ignores it and returns everybody: then the newest come first, and
    // paging ends where they are too old.
    if ignored(&answer) && !cursor.backwards {
        let next = Cursor { place: String::new(), backwards: true, ..cursor };
        return Ok(Page { records: Vec::new(), next: Some(next) });
    }
    let customers = &answer["data"]["customers"];
    let nodes = customers["nodes"]
        .as_array()
        .ok_or_else(|| Fault::Unclear("an answer without a list of customers".into()))?;
    let records = nodes.iter().filter_map(found).collect();
    let info = &customers["pageInfo"];
    let next = match info["endCursor"].as_str() {
        Some(place) if info["hasNextPage"] == true => Some(Cursor { place: place.to_owned(), ..cursor }),
        _ => None,
    };
    Ok(Page { records, next })
}

fn ignored(answer: &Value) -> bool {
    let search = answer["extensions"]["search"].as_array();
    search.into_iter().flatten().any(|part| part["warnings"].as_array().is_some_and(|list| !list.is_empty()))
}

fn found(node: &Value) -> Option<Found> {
    let id = node["id"].as_str()?.to_owned();
    let mut fields = arranged(&FIRST, node.as_object()?);
    let text = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    // A customer's number is in another field than the name suggests.
    let phone =
        [&node["phone"], &node["defaultPhoneNumber"]["phoneNumber"], &node["defaultAddress"]["phone"]];
    if let Some(phone) = phone.into_iter().find(|value| text(value)) {
        fields.insert("phone".into(), phone.clone());
    }
    let named = text(&node["firstName"]) || text(&node["lastName"]);
    if !named && text(&node["displayName"]) {
        fields.insert("name".into(), node["displayName"].clone());
    }
    Some(Found { id, created: node["createdAt"].as_str().and_then(moment), fields })
}

const READ_NOTE: &str = "query($id: ID!) { customer(id: $id) { id note } }";
const WRITE_NOTE: &str = "mutation($i: CustomerInput!) { customerUpdate(input: $i) { customer { id } userErrors { field message } } }";

/// Adds a line to the customer's note, which can only be replaced as a whole: it is read first, so a call that is in it
/// already is found.
pub(super) async fn write(systems: &Systems, pass: &Pass, note: &CallNote) -> Result<String, Fault> {
    let answer = ask(systems, pass, READ_NOTE, json!({"id": note.record}), false).await?;
    let customer = &answer["data"]["customer"];
    let id = customer["id"].as_str().ok_or_else(|| Fault::Refused("the customer is gone".into()))?;
    let before = customer["note"].as_str().unwrap_or_default();
    if before.contains(&note.call) {
        return Ok(id.to_owned());
    }
    let line = note.text().replace('\n', "; ");
    let variables = json!({"i": {"id": id, "note": with_line(before, note, &line)}});
    let answer = ask(systems, pass, WRITE_NOTE, variables, true).await?;
    let update = &answer["data"]["customerUpdate"];
    match update["userErrors"].as_array().and_then(|errors| errors.first()) {
        Some(error) => Err(Fault::Refused(join(&[error["message"].as_str().map(str::to_owned)]))),
        None if update["customer"]["id"].is_string() => Ok(id.to_owned()),
        None => Err(Fault::Unclear("an answer without the customer".into())),
    }
}

/// The note with one more line. The existing text is never truncated: the line is.
fn with_line(before: &str, note: &CallNote, line: &str) -> String {
    let day = note.started.with_text(|text| text.get(..10).unwrap_or_default().to_owned());
    let whole = format!("{day} AI call {}: {line}", note.call);
    let start = if before.is_empty() { String::new() } else { format!("{before}\n") };
    let room = (LONGEST_NOTE - 1).saturating_sub(start.chars().count());
    format!("{start}{}", short(&whole, room))
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn the_query_selects_what_is_wanted_beside_the_usual() {
        let text = query_text(&["defaultAddress.zip".into(), "locale".into()], false).unwrap();
        assert!(text.contains("sortKey: CREATED_AT, query: $q"), "{text}");
        assert!(text.contains("defaultAddress { city countryCodeV2 phone zip }"), "{text}");
        assert!(text.contains(" locale "), "{text}");
        assert!(query_text(&[], true).unwrap().contains("reverse: true"));
        assert_eq!(query_text(&["a { b }".into()], false).unwrap_err().code(), "refused");
    }

    #[test]
    fn a_customer_has_a_number_wherever_the_shop_keeps_it() {
        let phone = |node: Value| found(&node).unwrap().fields.get("phone").cloned();
        let address = json!({"phone": "2"});
        assert_eq!(
            phone(json!({"id": "1", "defaultPhoneNumber": {"phoneNumber": "1"}, "defaultAddress": address})),
            Some(json!("1"))
        );
        assert_eq!(
            phone(json!({"id": "1", "defaultPhoneNumber": null, "defaultAddress": address})),
            Some(json!("2"))
        );
        assert_eq!(phone(json!({"id": "1", "phone": null})), None);
        let named = found(&json!({"id": "1", "firstName": null, "displayName": "Asha Rao"})).unwrap();
        assert_eq!(named.fields["name"], "Asha Rao");
    }

    #[test]
    fn a_throttled_shop_says_how_long_to_wait() {
        let error = json!({"message": "Throttled", "extensions": {"code": "THROTTLED"}});
        let answer = json!({"errors": [error], "extensions": {"cost": {"requestedQueryCost": 502,
            "throttleStatus": {"maximumAvailable": 2000.0, "currentlyAvailable": 2, "restoreRate": 100.0}}}});
        let fault = refusal(&answer["errors"][0], &answer);
        assert_eq!(fault, Fault::Later { wait: Some(5_000), said: "THROTTLED: Throttled".into() });
        let denied = json!({"message": "no", "extensions": {"code": "ACCESS_DENIED"}});
        assert_eq!(refusal(&denied, &json!({})).code(), "refused");
    }

    #[test]
    fn a_note_is_never_cut_and_takes_a_line_as_long_as_there_is_room() {
        let note = CallNote {
            call: "call_1".into(),
            object: "customers".into(),
            record: "gid://shopify/Customer/1".into(),
            started: Timestamp::parse("2026-11-21T05:30:00Z").unwrap(),
            talk_seconds: 8,
            outbound: true,
            person: String::new(),
            own: String::new(),
            answered: true,
            end_cause: None,
            outcome: None,
            summary: None,
        };
        assert_eq!(with_line("Likes tea.", &note, "x"), "Likes tea.\n2026-11-21 AI call call_1: x");
        assert_eq!(with_line("", &note, &"x".repeat(9_000)).chars().count(), LONGEST_NOTE - 1);
        let full = "y".repeat(6_000);
        assert!(with_line(&full, &note, "x").starts_with(&full));
    }
}
