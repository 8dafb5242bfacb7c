//! HubSpot's contacts.

use serde_json::{Map, Value, json};

use super::client::Systems;
use super::records::{CallNote, Cursor, Fault, Found, Page, Pass, Query, arranged, asked_fields, moment};
use super::wire::{Ask, RECORDS};

const SEARCH: &str = "/crm/v3/objects/contacts/search";
const CALLS: &str = "/crm/v3/objects/calls";

const USUAL: [&str; 9] = [
    "firstname",
    "lastname",
    "email",
    "phone",
    "mobilephone",
    "company",
    "lifecyclestage",
    "createdate",
    "hs_object_id",
];

/// Contacts of one page.
const PAGE: usize = 100;
/// The maximum of a search; then it has to begin again, with a later time.
const MOST_OF_A_SEARCH: u64 = 10_000;
/// Longest name of a property.
const LONGEST_NAME: usize = 100;

/// HubSpot's id of the association of a call with a contact.
const CALL_TO_CONTACT: i64 = 194;

pub(super) async fn page(
    systems: &Systems,
    pass: &Pass,
    query: &Query,
    cursor: Cursor,
) -> Result<Page, Fault> {
    let mut filters =
        vec![json!({"propertyName": "createdate", "operator": "GTE", "value": cursor.from.0.to_string()})];
    if let Some(stage) = &query.lifecycle_stage {
        filters.push(json!({"propertyName": "lifecyclestage", "operator": "EQ", "value": stage}));
    }
    let wanted: Vec<String> =
        query.fields.iter().filter(|name| name.len() <= LONGEST_NAME && *name != "id").cloned().collect();
    let mut body = json!({
        "filterGroups": [{"filters": filters}],
        "sorts": [{"propertyName": "createdate", "direction": "ASCENDING"}],
        "properties": asked_fields(&USUAL, &wanted),
        "limit": PAGE,
    });
    if !cursor.place.is_empty() {
        body["after"] = json!(cursor.place);
    }
    let ask = Ask::json(&systems.settings.hubspot, SEARCH, &body).bearer(&pass.token).up_to(RECORDS);
    let answer = systems.read(ask).await?;
    let results = answer["results"]
        .as_array()
        .ok_or_else(|| Fault::Unclear("an answer without a list of results".into()))?;
    let records: Vec<Found> = results.iter().filter_map(found).collect();
    let after = match &answer["paging"]["next"]["after"] {
        Value::String(after) => Some(after.clone()),
        Value::Number(after) => Some(after.to_string()),
        _ => None,
    };
    let next = match after {
        Some(after) if after.parse::<u64>().is_ok_and(|at| at >= MOST_OF_A_SEARCH) => {
            let newest = records.iter().filter_map(|record| record.created).max();
            let from = newest.filter(|newest| *newest > cursor.from).ok_or_else(|| {
                Fault::Refused("more than 10,000 contacts were created at the same moment".into())
            })?;
            Some(Cursor { from, place: String::new(), backwards: false })
        }
        Some(place) => Some(Cursor { place, ..cursor }),
        None => None,
    };
    Ok(Page { records, next })
}

fn found(result: &Value) -> Option<Found> {
    let id = match &result["id"] {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        _ => return None,
    };
    let mut fields = Map::from_iter([("id".to_owned(), json!(id))]);
    fields.extend(result["properties"].as_object().map(|known| arranged(&USUAL, known)).unwrap_or_default());
    let created = [&result["properties"]["createdate"], &result["createdAt"]]
        .into_iter()
        .find_map(|at| at.as_str().and_then(moment));
    Some(Found { id, created, fields })
}

pub(super) async fn write(
    systems: &Systems,
    pass: &Pass,
    note: &CallNote,
    look_first: bool,
) -> Result<String, Fault> {
    let base = &systems.settings.hubspot;
    if look_first {
        let same = json!({"propertyName": "hs_call_title", "operator": "EQ", "value": note.title()});
        let body =
            json!({"filterGroups": [{"filters": [same]}], "properties": ["hs_call_title"], "limit": 1});
        let ask = Ask::json(base, format!("{CALLS}/search"), &body).bearer(&pass.token);
        if let Some(known) = id(&systems.read(ask).await?["results"][0]) {
            return Ok(known);
        }
    }
    let status = match note.end_cause.as_deref() {
        _ if note.answered => "COMPLETED",
        Some("busy") => "BUSY",
        Some("no_answer") => "NO_ANSWER",
        Some("cancelled") => "CANCELED",
        _ => "FAILED",
    };
    let (from, to) = if note.outbound { (&note.own, &note.person) } else { (&note.person, &note.own) };
    let body = json!({
        "properties": {
            "hs_timestamp": note.started,
            "hs_call_title": note.title(),
            "hs_call_body": note.text(),
            "hs_call_duration": (note.talk_seconds * 1_000).to_string(),
            "hs_call_from_number": from,
            "hs_call_to_number": to,
            "hs_call_direction": if note.outbound { "OUTBOUND" } else { "INBOUND" },
            "hs_call_status": status,
        },
        "associations": [{
            "to": {"id": note.record},
            "types": [{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": CALL_TO_CONTACT}],
        }],
    });
    let answer = systems.write(Ask::json(base, CALLS, &body).bearer(&pass.token)).await?;
    id(&answer).ok_or_else(|| Fault::Unclear("an answer without the id of the call".into()))
}

fn id(of: &Value) -> Option<String> {
    of["id"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn properties_become_fields_and_nulls_are_left_out() {
        let found = found(&json!({
            "id": "512",
            "properties": {
                "createdate": "2026-11-20T10:11:12.345Z", "firstname": "Asha", "lastname": "Rao", "phone": null,
                "mobilephone": "+919812345678", "lead_city": "Pune",
            },
            "createdAt": "2026-11-20T10:11:12.345Z",
        }))
        .unwrap();
        assert_eq!((found.id.as_str(), found.created), ("512", Timestamp::parse("2026-11-20T10:11:12.345Z")));
        assert_eq!((found.fields.get("phone"), &found.fields["lead_city"]), (None, &json!("Pune")));
    }
}
