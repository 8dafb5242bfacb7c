//! Zoho CRM's leads and contacts.

use http::header::AUTHORIZATION;
use serde_json::{Value, json};

use super::client::Systems;
use super::records::{
    CallNote, Cursor, Fault, Found, Page, Pass, Query, arranged, found_in, moment, query_fields, short,
    to_the_second,
};
use super::wire::{Ask, RECORDS, join, pairs};
use crate::http::encoded;

const COQL: &str = "/crm/v8/coql";
const NOTES: &str = "/crm/v8/Notes";

const LEADS: [&str; 10] = [
    "id",
    "First_Name",
    "Last_Name",
    "Full_Name",
    "Phone",
    "Mobile",
    "Email",
    "Company",
    "Lead_Source",
    "Created_Time",
];
const CONTACTS: [&str; 9] =
    ["id", "First_Name", "Last_Name", "Full_Name", "Phone", "Mobile", "Email", "Lead_Source", "Created_Time"];

/// Records of one page: so many cost one credit.
const PAGE: u64 = 200;
/// The maximum of a query; then it has to begin again, with a later time.
const MOST_OF_A_QUERY: u64 = 100_000;
/// Longest text of a note, characters.
const LONGEST_TEXT: usize = 32_000;

fn base<'a>(systems: &'a Systems, pass: &'a Pass) -> Result<&'a str, Fault> {
    systems
        .settings
        .zoho
        .as_deref()
        .or(pass.base.as_deref())
        .ok_or_else(|| Fault::Unauthorized("no domain is known".into()))
}

fn ask<'a>(ask: Ask<'a>, pass: &Pass) -> Ask<'a> {
    ask.with(AUTHORIZATION, format!("Zoho-oauthtoken {}", &*pass.token))
}

fn query_text(query: &Query, cursor: &Cursor, offset: u64) -> Result<String, Fault> {
    let fields = query_fields(query, "module", &[("Leads", &LEADS), ("Contacts", &CONTACTS)])?;
    Ok(format!(
        "select {fields} from {} where Created_Time >= '{}+00:00' order by Created_Time asc limit {offset}, {PAGE}",
        query.object,
        to_the_second(cursor.from)
    ))
}

pub(super) async fn page(
    systems: &Systems,
    pass: &Pass,
    query: &Query,
    cursor: Cursor,
) -> Result<Page, Fault> {
    let offset: u64 = cursor.place.parse().unwrap_or(0);
    let body = json!({"select_query": query_text(query, &cursor, offset)?});
    let request = ask(Ask::json(base(systems, pass)?, COQL, &body), pass).up_to(RECORDS);
    let answer = systems.read(request).await?;
    // 204 without a body when nothing matches.
    if answer.is_null() {
        return Ok(Page { records: Vec::new(), next: None });
    }
    let records = found_in(&answer["data"], found)?;
    let came = answer["data"].as_array().map_or(0, Vec::len);
    let more = answer["info"]["more_records"] == true && came > 0;
    let place = offset + came as u64;
    let next = if !more {
        None
    } else if place + PAGE <= MOST_OF_A_QUERY {
        Some(Cursor { place: place.to_string(), ..cursor })
    } else {
        let newest = records.iter().filter_map(|record| record.created).max();
        let from = newest.filter(|newest| *newest > cursor.from).ok_or_else(|| {
            Fault::Refused("more than 100,000 records were created in the same second".into())
        })?;
        Some(Cursor { from, place: String::new(), backwards: false })
    };
    Ok(Page { records, next })
}

fn found(record: &Value) -> Option<Found> {
    let id = record["id"].as_str()?.to_owned();
    let fields = arranged(&LEADS, record.as_object()?);
    Some(Found { id, created: record["Created_Time"].as_str().and_then(moment), fields })
}

pub(super) async fn write(
    systems: &Systems,
    pass: &Pass,
    note: &CallNote,
    look_first: bool,
) -> Result<String, Fault> {
    let base = base(systems, pass)?;
    if look_first {
        let fields = pairs(&[("fields", "id,Note_Title"), ("per_page", "200")]);
        let path = format!("/crm/v8/{}/{}/Notes?{fields}", encoded(&note.object), encoded(&note.record));
        let answer = systems.read(ask(Ask::get(base, path).up_to(RECORDS), pass)).await?;
        let notes = answer["data"].as_array().into_iter().flatten();
        let title = note.title();
        if let Some(known) = notes.into_iter().find(|known| known["Note_Title"] == title.as_str()) {
            return Ok(known["id"].as_str().unwrap_or_default().to_owned());
        }
    }
    let body = json!({"data": [{
        "Note_Title": note.title(),
        "Note_Content": short(&note.text(), LONGEST_TEXT),
        "Parent_Id": {"module": {"api_name": note.object}, "id": note.record},
    }]});
    let answer = systems.write(ask(Ask::json(base, NOTES, &body), pass)).await?;
    // Each item has an outcome of its own, whatever the status of the whole.
    let item = &answer["data"][0];
    match (item["status"].as_str(), item["details"]["id"].as_str()) {
        (Some("success"), Some(id)) => Ok(id.to_owned()),
        (Some("error"), _) => {
            let text = |name: &str| item[name].as_str().map(str::to_owned);
            Err(Fault::Refused(join(&[text("code"), text("message")])))
        }
        _ => Err(Fault::Unclear("an answer without the id of the note".into())),
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn the_query_has_quoted_moments_and_pages() {
        let query = Query {
            object: "Contacts".into(),
            lifecycle_stage: None,
            fields: vec!["Owner.first_name".into(), "mobile".into()],
            from: Timestamp(0),
        };
        let from = Timestamp::parse("2026-11-21T11:00:00+05:30").unwrap();
        let cursor = Cursor { from, place: String::new(), backwards: false };
        assert_eq!(
            query_text(&query, &cursor, 200).unwrap(),
            "select id, First_Name, Last_Name, Full_Name, Phone, Mobile, Email, Lead_Source, Created_Time, Owner.first_name \
             from Contacts where Created_Time >= '2026-11-21T05:30:00+00:00' order by Created_Time asc limit 200, 200"
        );
        let wrong = Query { fields: vec!["a' or 'b' = 'b".into()], ..query };
        assert_eq!(query_text(&wrong, &cursor, 0).unwrap_err().code(), "refused");
    }
}
