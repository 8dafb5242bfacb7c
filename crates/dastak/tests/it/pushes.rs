//! Calls that are written back to the system that their person came from
//! (docs/contract/integrations.md#writing-calls-back).

use serde_json::{Value, json};

use crate::fakes::{Reply, System};
use crate::polled_streams::Desk;
use crate::shows::Shows;
use crate::world;

const CALLS: &str = "/crm/v3/objects/calls";

/// A person of a connected system, an agent, and a switch for what is written back.
struct Office<S> {
    desk: Desk<S>,
    agent: String,
}

impl<S: System> Office<S> {
    async fn open(desk: Desk<S>, push: Value) -> Self {
        desk.set_clock(&world::noon_after(&desk.now().await.to_string()).to_string()).await;
        let prompt = json!({"systemPrompt": "You are Asha from Acme."});
        let agent = desk.agent(&prompt).await;
        let office = Self { desk, agent };
        office.change(&json!({"push": push})).await;
        office
    }

    async fn change(&self, body: &Value) {
        let path = format!("/integrations/{}", self.desk.integration);
        self.desk.operator("PUT", &path, body.clone()).await.expect(200);
    }

    /// Calls a number, and lets the call end.
    async fn call(&self, key: &str, number: &str) -> String {
        let body = json!({"agentId": self.agent, "toNumber": number});
        let placed = self.desk.app.post(key, "/v1/calls", &body).await.expect(200);
        self.desk.advance(60).await;
        placed["interactionId"].as_str().unwrap().to_owned()
    }

    async fn pushes(&self, call: &str) -> Value {
        let path = format!("/v1/calls/{call}");
        self.desk.get(&path).await["data"]["connectorPushes"].clone()
    }

    /// Waits until the call shows what came of it: provider, status and error.
    async fn told(&self, call: &str) -> Value {
        let path = format!("/v1/calls/{call}");
        let told = |answer: &Value| {
            answer["data"]["connectorPushes"].as_array().is_some_and(|list| !list.is_empty())
        };
        let answer = self.desk.until(self.live(), &path, told).await;
        let pushes = answer["data"]["connectorPushes"].as_array().unwrap().clone();
        assert_eq!(pushes.len(), 1, "{pushes:?}");
        json!([pushes[0]["provider"], pushes[0]["status"], pushes[0]["error"]])
    }

    fn live(&self) -> &str {
        self.desk.live()
    }
}

/// HubSpot with the contact 512, who has this number.
async fn hubspot(push: Value, number: &str) -> Office<crate::fakes::hubspot::HubSpot> {
    let office = Office::open(Desk::hubspot().await, push).await;
    let stream = office.desk.stream(json!({"fieldMap": {"externalId": "lead_no"}})).await;
    let created = office.desk.at(1).await;
    office.desk.fake.system.add(
        "512",
        created,
        json!({"phone": number, "lastname": "Rao", "lead_no": "L-1"}),
    );
    office.desk.next(&stream).await;
    assert_eq!(office.desk.all(&stream, "externalId").await, json!(["L-1"]));
    office
}

#[tokio::test]
async fn a_call_becomes_a_call_of_the_contact_in_hubspot() {
    let office = hubspot(json!({"calls": "answered"}), "+919812300001").await;
    let call = office.call(office.live(), "+919812300001").await;
    assert_eq!(office.told(&call).await, json!(["hubspot", "success", null]));
    let written = office.desk.fake.system.calls.lock().unwrap().clone();
    assert_eq!(written.len(), 1);
    let association = json!([{"to": {"id": "512"}, "types": [{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": 194}]}]);
    assert_eq!(written[0]["associations"], association);
    let properties = &written[0]["properties"];
    properties.shows(json!({"hs_call_status": "COMPLETED", "hs_call_direction": "OUTBOUND",
        "hs_call_to_number": "+919812300001"}));
    assert_eq!(properties["hs_call_duration"], "8000");
    assert!(properties["hs_call_title"].as_str().unwrap().contains(&call), "{properties}");
    // A second call is a second one, and neither is written again.
    let second = office.call(office.live(), "+919812300001").await;
    assert_eq!(office.told(&second).await, json!(["hubspot", "success", null]));
    office.desk.advance(86_400).await;
    assert_eq!(office.desk.fake.count(CALLS), 2);
}

#[tokio::test]
async fn a_call_becomes_a_task_in_salesforce() {
    let office = Office::open(Desk::salesforce().await, json!({})).await;
    let stream = office.desk.stream(json!({})).await;
    office.desk.fake.system.add(
        "Lead",
        "00Q1",
        office.desk.at(1).await,
        json!({"LastName": "Rao", "Phone": "9812300001"}),
    );
    office.desk.next(&stream).await;
    let call = office.call(office.live(), "+919812300001").await;
    assert_eq!(office.told(&call).await, json!(["salesforce", "success", null]));
    let tasks = office.desk.fake.system.tasks.lock().unwrap().clone();
    tasks[0].shows(
        json!({"WhoId": "00Q1", "CallObject": call, "CallDurationInSeconds": 8, "TaskSubtype": "Call"}),
    );
}

#[tokio::test]
async fn a_call_becomes_a_note_in_zoho() {
    let office = Office::open(Desk::zoho().await, json!({})).await;
    let stream = office.desk.stream(json!({"config": {"module": "Contacts"}})).await;
    office.desk.fake.system.add(
        "Contacts",
        "41",
        office.desk.at(1).await,
        json!({"Last_Name": "Rao", "Mobile": "9812300001"}),
    );
    office.desk.next(&stream).await;
    let call = office.call(office.live(), "+919812300001").await;
    assert_eq!(office.told(&call).await, json!(["zoho", "success", null]));
    let notes = office.desk.fake.system.notes.lock().unwrap().clone();
    assert_eq!(notes[0]["Parent_Id"], json!({"module": {"api_name": "Contacts"}, "id": "41"}));
    assert!(notes[0]["Note_Content"].as_str().unwrap().contains(&call));
    // An item that is refused inside of a success is a failure.
    office.desk.fake.fail("/Notes", 1, Reply::Json(202, json!({"data": [{"code": "INVALID_DATA", "message": "the related id given seems to be invalid", "status": "error"}]})));
    let call = office.call(office.live(), "+919812300001").await;
    assert_eq!(
        office.told(&call).await,
        json!(["zoho", "failed", "INVALID_DATA: the related id given seems to be invalid"])
    );
}

#[tokio::test]
async fn a_call_becomes_a_line_in_the_note_of_a_shop_customer() {
    let office = Office::open(Desk::shopify().await, json!({})).await;
    let stream = office.desk.stream(json!({})).await;
    let fields = json!({"firstName": "Asha", "note": "Likes tea.", "defaultPhoneNumber": {"phoneNumber": "+919812300001"}});
    office.desk.fake.system.add(7, office.desk.at(1).await, fields);
    office.desk.next(&stream).await;
    // The first write arrives, and its answer is lost.
    office.desk.fake.fail_after("/graphql.json", 1, Reply::Lost);
    let call = office.call(office.live(), "+919812300001").await;
    office.desk.advance(200).await;
    assert_eq!(office.told(&call).await, json!(["shopify", "success", null]));
    let note = office.desk.fake.system.note(7);
    assert!(note.starts_with("Likes tea.\n") && note.matches(&call).count() == 2, "{note}");
    assert_eq!(note.lines().count(), 2, "{note}");
}

#[tokio::test]
async fn only_the_calls_that_are_wanted_are_written() {
    // The number ends in 0000: nobody answers.
    let office = hubspot(json!({"calls": "answered"}), "+919812300000").await;
    let call = office.call(office.live(), "+919812300000").await;
    office.desk.advance(600).await;
    assert_eq!((office.pushes(&call).await, office.desk.fake.count(CALLS)), (json!([]), 0));
    office.change(&json!({"push": {"calls": "all"}})).await;
    let call = office.call(office.live(), "+919812300000").await;
    assert_eq!(office.told(&call).await, json!(["hubspot", "success", null]));
    let written = office.desk.fake.system.calls.lock().unwrap()[0].clone();
    assert_eq!(written["properties"]["hs_call_status"], "NO_ANSWER");
    // Not those of a test key, not those of people from elsewhere, and none once it is switched off.
    office.call(&office.desk.workspace.test, "+919812300000").await;
    office.call(office.live(), "+919812300001").await;
    office.change(&json!({"push": null})).await;
    office.call(office.live(), "+919812300000").await;
    office.desk.advance(600).await;
    assert_eq!(office.desk.fake.count(CALLS), 1);
}

#[tokio::test]
async fn a_lost_answer_is_looked_up_and_not_written_twice() {
    let office = hubspot(json!({}), "+919812300001").await;
    office.desk.fake.fail(CALLS, 1, Reply::Lost);
    let call = office.call(office.live(), "+919812300001").await;
    assert_eq!(office.pushes(&call).await, json!([]));
    office.desk.advance(120).await;
    assert_eq!(office.told(&call).await, json!(["hubspot", "success", null]));
    assert_eq!(office.desk.fake.system.calls.lock().unwrap().len(), 1);
    assert_eq!(office.desk.fake.count("/calls/search"), 1);
}

#[tokio::test]
async fn an_attempt_of_a_node_that_died_is_looked_up_after_its_lease() {
    let office = hubspot(json!({}), "+919812300001").await;
    // Its answer never comes; the node dies while it waits.
    office.desk.fake.fail(CALLS, 1, Reply::Hang);
    let call = office.call(office.live(), "+919812300001").await;
    office.desk.fake.wait_for(CALLS, 1).await;
    let second = ::integrations::ConnectedSystems::open(office.desk.app()).unwrap();
    assert!(second.take_pushes(10).await.unwrap().is_empty(), "the lease holds");
    office.desk.advance(300).await;
    assert_eq!(office.told(&call).await, json!(["hubspot", "success", null]));
    assert_eq!(
        (office.desk.fake.system.calls.lock().unwrap().len(), office.desk.fake.count("/calls/search")),
        (1, 1)
    );
}

#[tokio::test]
async fn what_is_refused_for_good_is_told_once_without_secrets() {
    let office = hubspot(json!({}), "+919812300001").await;
    let refusal = json!({"status": "error", "message": "contact 512 is gone, says access-hush-1", "category": "VALIDATION_ERROR"});
    office.desk.fake.fail(CALLS, 1, Reply::Json(400, refusal));
    let call = office.call(office.live(), "+919812300001").await;
    assert_eq!(
        office.told(&call).await,
        json!(["hubspot", "failed", "answered 400: VALIDATION_ERROR: contact 512 is gone, says ***"])
    );
    office.desk.advance(86_400).await;
    assert_eq!(office.desk.fake.count(CALLS), 1);
}

#[tokio::test]
async fn a_wait_is_kept_and_a_system_that_never_answers_is_given_up() {
    let office = hubspot(json!({}), "+919812300001").await;
    office.desk.fake.fail(
        CALLS,
        1,
        Reply::With(429, "retry-after", "1000".into(), json!({"message": "slow down"})),
    );
    let call = office.call(office.live(), "+919812300001").await;
    office.desk.advance(900).await;
    assert_eq!(office.desk.fake.count(CALLS), 1);
    office.desk.advance(100).await;
    assert_eq!(office.told(&call).await, json!(["hubspot", "success", null]));
    office.desk.fake.fail_always(CALLS, Reply::Bare(500));
    let call = office.call(office.live(), "+919812300001").await;
    for _ in 0..100 {
        office.desk.advance(200).await;
    }
    assert_eq!(office.told(&call).await, json!(["hubspot", "failed", "answered 500"]));
    assert_eq!(office.desk.fake.system.calls.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_token_that_ended_is_renewed_for_a_call_too() {
    let office = hubspot(json!({}), "+919812300001").await;
    office.desk.fake.system.tokens.expire();
    let call = office.call(office.live(), "+919812300001").await;
    assert_eq!(office.told(&call).await, json!(["hubspot", "success", null]));
    assert_eq!(office.desk.fake.system.calls.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_erased_person_is_not_written_about() {
    let office = hubspot(json!({}), "+919812300001").await;
    office.desk.fake.fail_always(CALLS, Reply::Bare(429));
    let call = office.call(office.live(), "+919812300001").await;
    let (app, live) = (&office.desk.app, office.live());
    let contact = app.get(live, &format!("/v1/calls/{call}")).await.expect(200)["data"]["contactId"].clone();
    let asked = office.desk.fake.count(CALLS);
    app.post(live, &format!("/v1/contacts/{}/erase", contact.as_str().unwrap()), &Value::Null)
        .await
        .expect(200);
    office.desk.fake.mend();
    app.advance(86_400).await;
    assert_eq!((office.pushes(&call).await, office.desk.fake.count(CALLS)), (json!([]), asked));
    // Nor is a later call to the number: it is not known any more whose it is.
    office.call(live, "+919812300001").await;
    app.advance(600).await;
    assert_eq!(office.desk.fake.count(CALLS), asked);
}
