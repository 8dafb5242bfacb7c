//! What the records and failures of each system look like.

use dastak::config::Config;
use serde_json::{Value, json};

use crate::fakes::Reply;
use crate::shows::Shows;

use super::desk::Desk;

#[tokio::test]
async fn salesforce_leads_come_in_batches_with_their_relations() {
    let desk = Desk::salesforce().await;
    desk.fake.system.add(
        "Lead",
        "00Q0",
        desk.at(-60).await,
        json!({"LastName": "Old", "Phone": "9812300000"}),
    );
    let stream = desk.stream(json!({"fieldMap": {"name": "Owner.Name"}})).await;
    for number in 1..=5 {
        let mut fields = json!({"FirstName": "Asha", "LastName": number.to_string(), "Phone": format!("981230000{number}"), "Owner": {"Name": "Ravi"}});
        if number == 5 {
            fields["Phone"] = Value::Null;
            fields["MobilePhone"] = json!("9812300055");
        }
        desk.fake.system.add("Lead", &format!("00Q{number}"), desk.at(number).await, fields);
    }
    desk.fake.system.add(
        "Contact",
        "0031",
        desk.at(1).await,
        json!({"LastName": "No lead", "Phone": "9812300009"}),
    );
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["00Q1", "00Q2", "00Q3", "00Q4", "00Q5"]));
    let last = desk.records(&stream).await[4].clone();
    assert_eq!((&last["phone"], &last["name"]), (&json!("+919812300055"), &json!("Ravi")));
    assert_eq!(
        (&last["payload"]["Owner.Name"], last["payload"].get("attributes.type")),
        (&json!("Ravi"), None)
    );
    // The other object begins at its present end.
    desk.change(&stream, json!({"config": {"object": "Contact"}})).await;
    desk.checked(&stream, 4).await;
    desk.fake.system.add(
        "Contact",
        "0032",
        desk.at(2).await,
        json!({"LastName": "New", "Phone": "9812300010"}),
    );
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "externalId").await[5], "0032");
    assert_eq!(desk.records(&stream).await.len(), 6);
    // A session that ended is renewed.
    desk.fake.system.tokens.expire();
    desk.next(&stream).await;
    assert_eq!((desk.fake.system.tokens.given(), desk.poll(&stream).await.unwrap().failures), (2, 0));
}

#[tokio::test]
async fn a_field_that_salesforce_does_not_have_is_named() {
    let desk = Desk::salesforce().await;
    let stream = desk.stream(json!({"fieldMap": {"phone": "Nonsense__c"}})).await;
    for _ in 0..4 {
        desk.next(&stream).await;
    }
    assert_eq!(
        desk.error(&stream).await,
        "answered 400: INVALID_FIELD: No such column 'Nonsense__c' on entity 'Lead'."
    );
    // One that would change the query is not asked for at all.
    let asked = desk.fake.count("/query");
    desk.change(&stream, json!({"fieldMap": {"phone": "Id FROM User --"}, "status": "active"})).await;
    desk.checked(&stream, 6).await;
    assert_eq!((desk.fake.count("/query"), desk.poll(&stream).await.unwrap().failures), (asked, 1));
}

#[tokio::test]
async fn zoho_leads_come_in_pages_and_its_failures_come_as_200() {
    let desk = Desk::zoho().await;
    *desk.fake.system.page.lock().unwrap() = 2;
    desk.fake.system.add(
        "Leads",
        "40",
        desk.at(-60).await,
        json!({"Last_Name": "Old", "Phone": "9812300000"}),
    );
    let stream = desk.stream(json!({"fieldMap": {"externalId": "Lead_No"}})).await;
    for number in 1..=3 {
        desk.fake.system.add("Leads", &format!("4{number}"), desk.at(number).await, json!({"Full_Name": format!("Asha {number}"), "Phone": null, "Mobile": format!("981230000{number}"), "Lead_No": format!("Z{number}")}));
    }
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["Z1", "Z2", "Z3"]));
    assert_eq!(desk.all(&stream, "phone").await, json!(["+919812300001", "+919812300002", "+919812300003"]));
    assert_eq!(desk.all(&stream, "name").await[0], "Asha 1");
    desk.advance(4_000).await;
    desk.fake.fail("/oauth/v2/token", 1, Reply::ok(json!({"error": "Access Denied", "error_description": "You have made too many requests continuously.", "status": "failure"})));
    desk.fake.system.tokens.expire();
    desk.next(&stream).await;
    desk.account().await.shows(json!({"status": "active"}));
    assert_eq!(desk.poll(&stream).await.unwrap().failures, 1);
    desk.fake.system.tokens.revoke(true);
    desk.next(&stream).await;
    assert_eq!(desk.account().await["status"], "broken");
    assert_eq!(desk.account().await["lastError"], "invalid_code");
}

#[tokio::test]
async fn a_domain_in_the_settings_comes_before_that_of_the_token() {
    let desk = Desk::zoho().await;
    let url = desk.fake.url.clone();
    let change = |config: &mut Config| config.integrations.zoho = Some(format!("{url}/elsewhere"));
    let desk = Desk { world: desk.world.restart_with(change).await, ..desk };
    desk.stream(json!({})).await;
    assert!(desk.fake.count("/elsewhere/crm/v8/coql") > 0);
}

#[tokio::test]
async fn shop_customers_come_with_the_number_of_their_address() {
    let desk = Desk::shopify().await;
    *desk.fake.system.page.lock().unwrap() = 2;
    desk.fake.system.add(
        1,
        desk.at(-60).await,
        json!({"firstName": "Old", "defaultPhoneNumber": {"phoneNumber": "+919812300000"}}),
    );
    let stream = desk.stream(json!({})).await;
    for number in 2..=6 {
        let fields = match number {
            6 => json!({"firstName": "Asha", "defaultAddress": {"phone": "98123 00006", "city": "Pune"}}),
            _ => {
                json!({"firstName": "Asha", "lastName": "Rao", "defaultPhoneNumber": {"phoneNumber": format!("+91981230000{number}")}})
            }
        };
        desk.fake.system.add(number, desk.at(i64::from(number)).await, fields);
    }
    desk.next(&stream).await;
    let numbers: Vec<String> = (2..=6).map(|number| format!("+91981230000{number}")).collect();
    assert_eq!(desk.all(&stream, "phone").await, json!(numbers));
    let last = desk.records(&stream).await[4].clone();
    last.shows(json!({"externalId": "gid://shopify/Customer/6"}));
    assert_eq!(last["payload"]["defaultAddress.city"], json!("Pune"));
    // Its refresh token works once: each renewal uses the one before.
    desk.advance(3_600).await;
    desk.next(&stream).await;
    let used: Vec<String> = desk
        .fake
        .got("/admin/oauth/access_token")
        .iter()
        .map(|request| request.form()["refresh_token"].clone())
        .collect();
    assert_eq!(used[..2], ["refresh-hush-0", "refresh-hush-1"]);
    assert_eq!(desk.poll(&stream).await.unwrap().failures, 0);
}

#[tokio::test]
async fn a_shop_that_does_not_know_the_term_is_read_from_its_newest_customer() {
    let desk = Desk::shopify().await;
    *desk.fake.system.knows_term.lock().unwrap() = false;
    *desk.fake.system.page.lock().unwrap() = 2;
    for number in 1..=20 {
        desk.fake.system.add(
            number,
            desk.at(-3_600).await,
            json!({"firstName": "Old", "defaultPhoneNumber": {"phoneNumber": "+919812300000"}}),
        );
    }
    let stream = desk.stream(json!({})).await;
    for number in 21..=23 {
        desk.fake.system.add(number, desk.at(i64::from(number)).await, json!({"firstName": "New", "defaultPhoneNumber": {"phoneNumber": format!("+9198123000{number}")}}));
    }
    let asked = desk.fake.count("/graphql.json");
    desk.next(&stream).await;
    let mut phones: Vec<String> = desk
        .records(&stream)
        .await
        .iter()
        .map(|record| record["phone"].as_str().unwrap().to_owned())
        .collect();
    phones.sort_unstable();
    assert_eq!(phones, ["+919812300021", "+919812300022", "+919812300023"]);
    // The page with the warning, two with new customers, and one that is too old.
    assert_eq!(desk.fake.count("/graphql.json"), asked + 4);
}

#[tokio::test]
async fn a_throttled_shop_is_left_alone_as_long_as_it_needs() {
    let desk = Desk::shopify().await;
    let stream = desk.stream(json!({})).await;
    desk.fake.system.add(
        1,
        desk.at(1).await,
        json!({"firstName": "Asha", "defaultPhoneNumber": {"phoneNumber": "+919812300001"}}),
    );
    desk.fake.fail("/graphql.json", 1, Reply::ok(json!({
        "errors": [{"message": "Throttled", "extensions": {"code": "THROTTLED"}}],
        "extensions": {"cost": {"requestedQueryCost": 2002, "throttleStatus": {"maximumAvailable": 2000.0, "currentlyAvailable": 2, "restoreRate": 50.0}}},
    })));
    desk.next(&stream).await;
    desk.quiet(&stream, 39).await;
    desk.advance(1).await;
    desk.checked(&stream, 3).await;
    assert_eq!(desk.all(&stream, "phone").await, json!(["+919812300001"]));
}

#[tokio::test]
async fn a_spreadsheet_brings_its_new_rows_only() {
    let desk = Desk::sheets().await;
    let heading = json!(["Name", "Phone", "City"]);
    let old = json!(["Old", "9812300000", "Pune"]);
    desk.fake.system.set("First", json!([heading, old]));
    desk.fake.system.set("Other", json!([["x"]]));
    let stream = desk.stream(json!({"config": {"spreadsheetId": "sheet-1"}})).await;
    assert_eq!(desk.records(&stream).await.len(), 0);
    // Two rows that are the same are one; a row that moves is no new one; blank rows are none.
    let new = json!(["Asha", 9_812_300_001_i64]);
    desk.fake
        .system
        .set("First", json!([heading, new, [], old, new, ["", "", ""], [" Ravi ", "98123 00002", "Delhi"]]));
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "name").await, json!(["Asha", "Ravi"]));
    assert_eq!(
        desk.all(&stream, "phone").await,
        json!(["+919812300001", "+919812300002"]),
        "a number keeps its digits"
    );
    assert_eq!(
        desk.records(&stream).await[1]["payload"],
        json!({"Name": "Ravi", "Phone": "98123 00002", "City": "Delhi"})
    );
    // Other columns in another order change nothing.
    desk.fake.system.set(
        "First",
        json!([
            ["City", "Empty", "Phone", "Name"],
            ["Pune", "", "9812300000", "Old"],
            ["", "", 9_812_300_001_i64, "Asha"],
            ["Delhi", "", "98123 00002", "Ravi"]
        ]),
    );
    desk.next(&stream).await;
    assert_eq!(desk.records(&stream).await.len(), 2);
    // Another tab begins at its present end.
    desk.fake.system.set("It's", json!([heading, ["There", "9812300003", "Goa"]]));
    desk.change(&stream, json!({"config": {"sheetName": "It's"}})).await;
    desk.checked(&stream, 5).await;
    assert_eq!(desk.records(&stream).await.len(), 2);
    desk.fake
        .system
        .set("It's", json!([heading, ["There", "9812300003", "Goa"], ["New", "9812300004", "Goa"]]));
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "name").await, json!(["Asha", "Ravi", "New"]));
}

#[tokio::test]
async fn rows_that_are_there_already_come_when_they_are_wanted() {
    let desk = Desk::sheets().await;
    let row = |number: usize| json!([format!("Person {number}"), format!("98{number:08}")]);
    let mut cells = vec![json!(["Name", "Phone"])];
    cells.extend((0..1_203).map(row));
    desk.fake.system.set("First", json!(cells));
    let stream = desk.stream(json!({"config": {"spreadsheetId": "sheet-1", "includeExisting": true}})).await;
    let tenant = desk.workspace.id.parse().unwrap();
    let id = stream.parse().unwrap();
    let known = desk.app().store.of(tenant).read(move |tx| store::polls::rows(tx, id)).await.unwrap();
    assert_eq!(known.len(), 1_203);
    assert_eq!(desk.records(&stream).await.len(), 200, "a page of them");
    assert!(known.iter().all(|hash| hash.len() == 64), "hashes, and nothing of the rows");
}

#[tokio::test]
async fn a_spreadsheet_that_cannot_be_read_says_why() {
    for (config, cells, said) in [
        (
            json!({"spreadsheetId": "sheet-1"}),
            json!([["", " "], ["Asha", "9812300001"]]),
            "row 1 of the spreadsheet has no headings",
        ),
        (json!({"spreadsheetId": "sheet-1"}), json!([]), "row 1 of the spreadsheet has no headings"),
        (
            json!({"spreadsheetId": "sheet-1", "sheetName": "Gone"}),
            json!([["x"]]),
            "answered 400: INVALID_ARGUMENT: Unable to parse range: 'Gone'!A1:ZZ",
        ),
        (
            json!({"spreadsheetId": "sheet-2"}),
            json!([["x"]]),
            "answered 404: NOT_FOUND: Requested entity was not found.",
        ),
    ] {
        let desk = Desk::sheets().await;
        desk.fake.system.set("First", cells);
        let stream = desk.stream(json!({"config": config})).await;
        for _ in 0..4 {
            desk.next(&stream).await;
        }
        assert_eq!(desk.error(&stream).await, said);
    }
}

#[tokio::test]
async fn spreadsheets_need_no_crm_in_the_plan() {
    let desk = Desk::sheets().await;
    desk.fake.system.set("First", json!([["Phone"]]));
    desk.world.change(&json!({"features": {"crmIntegrations": false}})).await;
    let stream = desk.stream(json!({"config": {"spreadsheetId": "sheet-1"}})).await;
    desk.fake.system.set("First", json!([["Phone"], ["9812300001"]]));
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "phone").await, json!(["+919812300001"]));
}
