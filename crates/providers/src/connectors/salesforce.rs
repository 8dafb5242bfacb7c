//! Salesforce's leads and contacts.

use serde_json::{Map, Value, json};

use super::client::Systems;
use super::records::{
    CallNote, Cursor, Fault, Found, Page, Pass, Query, arranged, found_in, moment, query_fields, short,
    to_the_second,
};
use super::wire::{Ask, RECORDS, pairs};

/// The API of spring 2026; a version is kept for years.
const DATA: &str = "/services/data/v66.0";

const LEAD: [&str; 9] =
    ["Id", "FirstName", "LastName", "Name", "Phone", "MobilePhone", "Email", "Company", "CreatedDate"];
const CONTACT: [&str; 8] =
    ["Id", "FirstName", "LastName", "Name", "Phone", "MobilePhone", "Email", "CreatedDate"];

/// Longest description of a task, characters.
const LONGEST_TEXT: usize = 32_000;

fn base(pass: &Pass) -> Result<&str, Fault> {
    pass.base.as_deref().ok_or_else(|| Fault::Unauthorized("no instance is known".into()))
}

/// Fields of a query: the usual ones of the object and the additional ones.
fn query_text(query: &Query, cursor: &Cursor) -> Result<String, Fault> {
    let fields = query_fields(query, "object", &[("Lead", &LEAD), ("Contact", &CONTACT)])?;
    Ok(format!(
        "SELECT {fields} FROM {} WHERE CreatedDate >= {}Z ORDER BY CreatedDate ASC, Id ASC",
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
    let path = if cursor.place.is_empty() {
        format!("{DATA}/query?{}", pairs(&[("q", &query_text(query, &cursor)?)]))
    } else {
        cursor.place.clone()
    };
    let ask = Ask::get(base(pass)?, path).bearer(&pass.token).up_to(RECORDS);
    let answer = systems.read(ask).await?;
    let records = found_in(&answer["records"], found)?;
    let next = match answer["nextRecordsUrl"].as_str() {
        Some(place) if answer["done"] == false => Some(Cursor { place: place.to_owned(), ..cursor }),
        _ => None,
    };
    Ok(Page { records, next })
}

fn found(record: &Value) -> Option<Found> {
    let id = record["Id"].as_str()?.to_owned();
    let fields = arranged(&LEAD, &plain(record.as_object()?));
    Some(Found { id, created: record["CreatedDate"].as_str().and_then(moment), fields })
}

/// The fields of a record and of those that it refers to, without `attributes` and nulls.
fn plain(record: &Map<String, Value>) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, value) in record {
        match value {
            Value::Null => {}
            _ if name == "attributes" => {}
            Value::Object(inner) => {
                fields.insert(name.clone(), Value::Object(plain(inner)));
            }
            value => {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
    fields
}

pub(super) async fn write(
    systems: &Systems,
    pass: &Pass,
    note: &CallNote,
    look_first: bool,
) -> Result<String, Fault> {
    let base = base(pass)?;
    if look_first {
        // The id of a call has no characters with a meaning in a query.
        let text = format!("SELECT Id FROM Task WHERE CallObject = '{}' LIMIT 1", note.call);
        let ask = Ask::get(base, format!("{DATA}/query?{}", pairs(&[("q", &text)]))).bearer(&pass.token);
        if let Some(known) = systems.read(ask).await?["records"][0]["Id"].as_str() {
            return Ok(known.to_owned());
        }
    }
    let body = json!({
        "WhoId": note.record,
        "Subject": short(&note.title(), 255),
        "TaskSubtype": "Call",
        "Status": "Completed",
        "Priority": "Normal",
        "ActivityDate": note.started.with_text(|text| text.get(..10).unwrap_or_default().to_owned()),
        "Description": short(&note.text(), LONGEST_TEXT),
        "CallType": if note.outbound { "Outbound" } else { "Inbound" },
        "CallDurationInSeconds": note.talk_seconds,
        "CallDisposition": note.outcome.as_deref().or(note.end_cause.as_deref()).map(|word| short(word, 255)),
        "CallObject": note.call,
    });
    let ask = Ask::json(base, format!("{DATA}/sobjects/Task"), &body).bearer(&pass.token);
    let answer = systems.write(ask).await?;
    match answer["id"].as_str() {
        Some(id) if answer["success"] == true => Ok(id.to_owned()),
        _ => Err(Fault::Unclear("an answer without the id of the task".into())),
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    fn query(object: &str, fields: &[&str]) -> Result<String, Fault> {
        let query = Query {
            object: object.into(),
            lifecycle_stage: None,
            fields: fields.iter().map(|name| (*name).to_owned()).collect(),
            from: Timestamp(0),
        };
        let from = Timestamp::parse("2026-11-21T05:30:00.999Z").unwrap();
        query_text(&query, &Cursor { from, place: String::new(), backwards: false })
    }

    #[test]
    fn the_query_names_every_wanted_field_once() {
        assert_eq!(
            query("Lead", &["Owner.Name", "phone", "City__c", "City__c"]).unwrap(),
            "SELECT Id, FirstName, LastName, Name, Phone, MobilePhone, Email, Company, CreatedDate, Owner.Name, City__c \
             FROM Lead WHERE CreatedDate >= 2026-11-21T05:30:00Z ORDER BY CreatedDate ASC, Id ASC"
        );
        assert!(query("Contact", &[]).unwrap().starts_with(
            "SELECT Id, FirstName, LastName, Name, Phone, MobilePhone, Email, CreatedDate FROM Contact "
        ));
        assert_eq!(query("Lead", &["Id FROM User --"]).unwrap_err().code(), "refused");
        assert_eq!(query("User", &[]).unwrap_err().code(), "refused");
    }

    #[test]
    fn a_record_keeps_its_relations_and_loses_attributes() {
        let found = found(&json!({
            "attributes": {"type": "Lead", "url": "/x"}, "Id": "00Q1", "FirstName": "Asha", "LastName": null,
            "Name": "Asha", "Phone": null, "MobilePhone": "98123 45678", "CreatedDate": "2026-11-21T05:31:07.000+0000",
            "Owner": {"attributes": {"type": "User"}, "Name": "Ravi"},
        }))
        .unwrap();
        assert_eq!(found.fields["Owner"], json!({"Name": "Ravi"}));
        assert_eq!((found.fields.get("attributes"), found.fields.get("Phone")), (None, None));
        assert_eq!(found.created, Timestamp::parse("2026-11-21T05:31:07Z"));
    }
}
