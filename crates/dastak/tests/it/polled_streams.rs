//! Streams that are read from connected systems (docs/contract/integrations.md#checks), against systems that
//! speak their wire, throttle, let tokens expire, repeat, reorder and fail.

use std::sync::Arc;
use std::time::Duration;

use domain::time::Timestamp;
use providers::settings::Integrations;
use serde_json::{Value, json};

use crate::app::{TestApp, Workspace};
use crate::fakes::google_sheets::GoogleSheets;
use crate::fakes::hubspot::HubSpot;
use crate::fakes::salesforce::Salesforce;
use crate::fakes::shopify::Shopify;
use crate::fakes::zoho::Zoho;
use crate::fakes::{Fake, Reply, System, credentials};
use crate::integrations::connect;

/// Where HubSpot's contacts are asked for.
const SEARCH: &str = "/contacts/search";
const TOKEN: &str = "/oauth/v3/token";

/// A service with a connected account.
pub struct Desk<S> {
    pub app: TestApp,
    pub workspace: Workspace,
    pub integration: String,
    pub fake: Fake<S>,
    kind: &'static str,
}

impl<S: System> Desk<S> {
    async fn open_with(
        fake: Fake<S>,
        (provider, kind): (&str, &'static str),
        change: impl FnOnce(&mut Integrations, &str),
    ) -> Self {
        let url = fake.url.clone();
        let app = TestApp::start_with(|config| {
            change(&mut config.integrations, &url);
            config.integrations.timeout = Duration::from_secs(20);
        })
        .await;
        let workspace = app.workspace().await;
        let mut credentials = credentials();
        credentials["shop"] = json!("acme");
        let body = json!({"provider": provider, "credentials": credentials});
        let made = connect(&app, &workspace.id, &body).await.expect(201);
        let integration = made["data"]["id"].as_str().unwrap().to_owned();
        Self { app, workspace, integration, fake, kind }
    }

    pub async fn now(&self) -> Timestamp {
        Timestamp::parse(&self.app.now().await).unwrap()
    }

    /// A moment this many seconds from now.
    pub async fn at(&self, seconds: i64) -> Timestamp {
        self.now().await.plus(seconds * 1_000)
    }

    /// Makes a stream and waits until it was checked for the first time.
    pub async fn stream(&self, more: Value) -> String {
        let id = self.stream_unchecked(more).await;
        self.checked(&id, 1).await;
        id
    }

    async fn stream_unchecked(&self, more: Value) -> String {
        let mut body = json!({"name": "Leads", "kind": self.kind, "integrationId": self.integration});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let made = self.app.post(&self.workspace.live, "/v1/data-streams", &body).await.expect(201);
        made["data"]["id"].as_str().unwrap().to_owned()
    }

    /// How far a stream has come.
    async fn poll(&self, stream: &str) -> Option<store::polls::PollRow> {
        let (tenant, stream) = (self.workspace.id.parse().unwrap(), stream.parse().unwrap());
        self.app.app().store.read(move |tx| store::polls::get(tx, tenant, stream)).await.unwrap()
    }

    /// Waits until a stream was claimed so often and is not being checked.
    async fn checked(&self, stream: &str, claims: i64) {
        for _ in 0..400 {
            self.app.advance(0).await;
            let poll = self.poll(stream).await.expect("how far it has come");
            let lease = self.app.app().clock.now().plus(domain::integration::LEASE);
            if poll.claim >= claims && poll.next_at.is_none_or(|next| next != lease) {
                return;
            }
        }
        panic!("{stream} was not checked: {:?}", self.poll(stream).await);
    }

    /// Lets the next check come.
    pub async fn next(&self, stream: &str) {
        let claims = self.poll(stream).await.expect("how far it has come").claim;
        self.app.advance(120).await;
        self.checked(stream, claims + 1).await;
    }

    /// Lets this many seconds pass in which nothing is checked.
    async fn quiet(&self, stream: &str, seconds: i64) {
        let claims = self.poll(stream).await.expect("how far it has come").claim;
        self.app.advance(seconds).await;
        assert_eq!(self.poll(stream).await.expect("how far it has come").claim, claims, "it was checked");
    }

    pub async fn records(&self, stream: &str) -> Vec<Value> {
        let path = format!("/v1/data-streams/{stream}/records?limit=200");
        let mut rows =
            self.app.get(&self.workspace.live, &path).await.expect(200)["data"].as_array().unwrap().clone();
        rows.reverse();
        rows
    }

    /// A field of all records, the oldest first.
    pub async fn all(&self, stream: &str, field: &str) -> Value {
        self.records(stream).await.iter().map(|record| record[field].clone()).collect()
    }

    async fn show(&self, stream: &str) -> Value {
        self.app.get(&self.workspace.live, &format!("/v1/data-streams/{stream}")).await.expect(200)["data"]
            .clone()
    }

    async fn change(&self, stream: &str, body: Value) -> Value {
        let path = format!("/v1/data-streams/{stream}");
        self.app.patch(&self.workspace.live, &path, &body).await.expect(200)["data"].clone()
    }

    /// The account as the operator sees it.
    async fn account(&self) -> Value {
        let path = format!("/workspaces/{}/integrations", self.workspace.id);
        let listed = self.app.operator("GET", &path, &Value::Null).await.expect(200);
        assert!(!listed.to_string().contains("hush"), "{listed}");
        listed["data"].as_array().unwrap().iter().find(|row| row["id"] == self.integration).unwrap().clone()
    }

    /// The words with which a stream stopped; nothing secret is in them.
    async fn error(&self, stream: &str) -> String {
        let shown = self.show(stream).await;
        assert_eq!(shown["status"], "error", "{shown}");
        let said = shown["lastError"].as_str().expect("why it stopped").to_owned();
        assert!(!said.contains("hush"), "{said}");
        said
    }
}

impl Desk<HubSpot> {
    pub async fn hubspot() -> Self {
        let fake = Fake::start(|_| HubSpot::new()).await;
        Self::open_with(fake, ("hubspot", "crm_1"), |settings, url| settings.hubspot = url.into()).await
    }

    fn contact(&self, id: &str, created: Timestamp, phone: &str) {
        self.fake.system.add(id, created, json!({"firstname": "Asha", "lastname": id, "phone": phone}));
    }
}

impl Desk<Salesforce> {
    pub async fn salesforce() -> Self {
        let fake = Fake::start(Salesforce::new).await;
        Self::open_with(fake, ("salesforce", "crm_2"), |settings, url| settings.salesforce_login = url.into())
            .await
    }
}

impl Desk<Zoho> {
    pub async fn zoho() -> Self {
        let fake = Fake::start(Zoho::new).await;
        Self::open_with(fake, ("zoho", "crm_3"), |settings, url| settings.zoho_accounts = url.into()).await
    }
}

impl Desk<Shopify> {
    pub async fn shopify() -> Self {
        let fake = Fake::start(|_| Shopify::new()).await;
        Self::open_with(fake, ("shopify", "storefront"), |settings, url| settings.shopify = Some(url.into()))
            .await
    }
}

impl Desk<GoogleSheets> {
    async fn sheets() -> Self {
        let fake = Fake::start(|_| GoogleSheets::new()).await;
        Self::open_with(fake, ("google_sheets", "spreadsheet"), |settings, url| {
            settings.google_sheets = url.into();
            settings.google_token = format!("{url}/token");
        })
        .await
    }
}

#[tokio::test]
async fn new_contacts_arrive_with_their_fields_and_older_ones_do_not() {
    let desk = Desk::hubspot().await;
    desk.contact("1", desk.at(-3_600).await, "9812300001");
    let stream = desk.stream(json!({"fieldMap": {"externalId": "lead_no"}})).await;
    assert_eq!(desk.records(&stream).await, [] as [Value; 0]);
    let made = desk.at(1).await;
    desk.fake.system.add("2", made, json!({"firstname": "Asha", "lastname": "Rao", "phone": "98123 00002", "lead_no": "L-2", "other": "x"}));
    // No number, but a mobile one; and one that cannot be called.
    desk.fake.system.add(
        "3",
        desk.at(2).await,
        json!({"lastname": "Ravi", "phone": null, "mobilephone": "+919812300003", "lead_no": "L-3"}),
    );
    desk.fake.system.add("4", desk.at(3).await, json!({"phone": "12", "lead_no": "L-4"}));
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["L-2", "L-3", "L-4"]));
    assert_eq!(desk.all(&stream, "name").await, json!(["Asha Rao", "Ravi", null]));
    let records = desk.records(&stream).await;
    assert_eq!((&records[0]["phone"], &records[0]["status"]), (&json!("+919812300002"), &json!("accepted")));
    assert_eq!((&records[1]["phone"], &records[1]["status"]), (&json!("+919812300003"), &json!("accepted")));
    assert_eq!((&records[2]["status"], &records[2]["reason"]), (&json!("invalid"), &json!("invalid_phone")));
    let payload = &records[0]["payload"];
    assert_eq!(
        (&payload["firstname"], &payload["lead_no"], &payload["id"]),
        (&json!("Asha"), &json!("L-2"), &json!("2"))
    );
    assert_eq!(payload.get("other"), None, "nobody wants it");
    // What was asked: never before the start, with the fields that somebody wants.
    let created = Timestamp::parse(desk.show(&stream).await["createdAt"].as_str().unwrap()).unwrap();
    for request in desk.fake.got(SEARCH) {
        let body = request.json();
        let from = body["filterGroups"][0]["filters"][0]["value"].as_str().unwrap().parse::<i64>().unwrap();
        assert!(from >= created.0, "{body}");
        let asked = body["properties"].as_array().unwrap();
        assert!(asked.contains(&json!("lead_no")) && asked.contains(&json!("mobilephone")), "{body}");
    }
}

#[tokio::test]
async fn contacts_that_come_again_count_once_and_late_ones_are_found() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    desk.app.advance(600).await;
    *desk.fake.system.unsorted.lock().unwrap() = true;
    for number in 1..=5 {
        desk.contact(&format!("{number}"), desk.at(number).await, &format!("981230000{number}"));
    }
    *desk.fake.system.page.lock().unwrap() = 2;
    desk.next(&stream).await;
    let mut ids: Vec<String> = desk
        .records(&stream)
        .await
        .iter()
        .map(|record| record["externalId"].as_str().unwrap().to_owned())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, ["1", "2", "3", "4", "5"]);
    // One that the search did not know yet, made before the newest one.
    desk.contact("late", desk.at(-200).await, "9812300009");
    desk.next(&stream).await;
    desk.next(&stream).await;
    let ids = desk.all(&stream, "externalId").await;
    assert_eq!((ids.as_array().unwrap().len(), &ids[5]), (6, &json!("late")));
    // The overlap asks for all of them again.
    assert!(desk.fake.got(SEARCH).iter().filter(|request| request.body.contains("after")).count() >= 4);
}

#[tokio::test]
async fn a_contact_from_the_future_does_not_hide_those_before_it() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    desk.contact("2099", desk.at(1_000_000).await, "9812300001");
    desk.next(&stream).await;
    desk.contact("now", desk.at(1).await, "9812300002");
    desk.next(&stream).await;
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["2099", "now"]));
}

#[tokio::test]
async fn a_lifecycle_stage_filters_and_another_one_begins_at_its_present_end() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({"config": {"lifecycleStage": "lead"}})).await;
    let add = async |id: &str, stage: &str| {
        desk.fake.system.add(
            id,
            desk.at(1).await,
            json!({"phone": format!("98123000{id}"), "lifecyclestage": stage}),
        );
        desk.next(&stream).await;
    };
    add("01", "lead").await;
    add("02", "customer").await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["01"]));
    desk.app.advance(10).await;
    desk.change(&stream, json!({"config": {"lifecycleStage": "customer"}})).await;
    desk.checked(&stream, 5).await;
    add("03", "customer").await;
    add("04", "lead").await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["01", "03"]));
    // The same source again is no other one.
    let before = desk.poll(&stream).await.unwrap();
    desk.change(
        &stream,
        json!({"config": {"lifecycleStage": "customer", "countryCode": "IN"}, "name": "Other"}),
    )
    .await;
    assert_eq!(desk.poll(&stream).await.unwrap().start_at, before.start_at);
}

#[tokio::test]
async fn a_token_that_is_refused_is_renewed_once_and_one_that_ends_before_it_ends() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    assert_eq!(desk.fake.system.tokens.given(), 1);
    desk.contact("1", desk.at(1).await, "9812300001");
    desk.fake.system.tokens.expire();
    desk.next(&stream).await;
    // Asked, refused, renewed with the refresh token of the first answer, asked again.
    assert_eq!((desk.fake.system.tokens.given(), desk.all(&stream, "externalId").await), (2, json!(["1"])));
    assert_eq!(desk.fake.got(TOKEN)[1].form()["refresh_token"], "refresh-hush-1");
    let asked = desk.fake.count(SEARCH);
    desk.next(&stream).await;
    assert_eq!((desk.fake.system.tokens.given(), desk.fake.count(SEARCH)), (2, asked + 1));
    // It lasts half an hour, and nobody has to refuse it.
    desk.app.advance(1_800).await;
    desk.next(&stream).await;
    assert_eq!(desk.fake.system.tokens.given(), 3);
    // One that is refused again and again is a failed check, with one renewal each.
    desk.fake.fail_always(
        SEARCH,
        Reply::Json(401, json!({"message": "not this one", "category": "INVALID_AUTHENTICATION"})),
    );
    for failed in 1..=5 {
        desk.next(&stream).await;
        assert_eq!(desk.fake.system.tokens.given(), 3 + failed);
    }
    assert!(desk.error(&stream).await.contains("INVALID_AUTHENTICATION"));
    assert_eq!(desk.account().await["status"], "active");
}

#[tokio::test]
async fn what_a_campaign_maps_is_asked_for_and_reaches_its_list() {
    let desk = Desk::salesforce().await;
    let prompt = json!({"systemPrompt": "You call {{owner}} about {{city}}."});
    let agent = crate::agents::create_active(&desk.app, &desk.workspace, &prompt).await;
    let stream = desk.stream(json!({})).await;
    let live = &desk.workspace.live;
    let made =
        desk.app.post(live, "/v1/campaigns", &json!({"name": "Leads", "agentId": agent})).await.expect(201);
    let campaign = made["data"]["id"].as_str().unwrap().to_owned();
    let mapping = json!({"variableMapping": {"owner": "Owner.Name", "city": "City__c"}});
    desk.app.put(live, &format!("/v1/campaigns/{campaign}/streams/{stream}"), &mapping).await.expect(200);
    let fields = json!({"FirstName": "Asha", "LastName": "Rao", "Phone": "9812300001", "Owner": {"Name": "Ravi"}, "City__c": "Pune"});
    desk.fake.system.add("Lead", "00Q1", desk.at(1).await, fields);
    desk.next(&stream).await;
    let list = desk.app.get(live, &format!("/v1/campaigns/{campaign}/contacts")).await.expect(200);
    let row = &list["data"][0];
    assert_eq!((&row["phone"], &row["name"]), (&json!("+919812300001"), &json!("Asha Rao")));
    assert_eq!(row["variables"], json!({"owner": "Ravi", "city": "Pune"}));
    // The same lead again, in the overlap, is no second row.
    desk.next(&stream).await;
    let list = desk.app.get(live, &format!("/v1/campaigns/{campaign}/contacts")).await.expect(200);
    assert_eq!(list["total"], 1);
}

#[tokio::test]
async fn another_account_begins_at_its_present_end() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    let body = json!({"provider": "hubspot", "credentials": {"accessToken": "access-hush-1"}});
    let other = connect(&desk.app, &desk.workspace.id, &body).await.expect(201)["data"]["id"].clone();
    desk.contact("1", desk.at(1).await, "9812300001");
    desk.app.advance(30).await;
    desk.change(&stream, json!({"integrationId": other})).await;
    desk.checked(&stream, 3).await;
    desk.contact("2", desk.at(1).await, "9812300002");
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["2"]));
    // The first account is free now.
    let path = format!("/workspaces/{}/integrations/{}", desk.workspace.id, desk.integration);
    desk.app.operator("DELETE", &path, &Value::Null).await.expect(200);
}

#[tokio::test]
async fn a_token_of_a_private_application_is_never_renewed() {
    let desk = Desk::hubspot().await;
    let path = format!("/workspaces/{}/integrations/{}", desk.workspace.id, desk.integration);
    let private = json!({"credentials": {"accessToken": "access-hush-0"}});
    desk.app.operator("PUT", &path, &private).await.expect(200);
    desk.fake.system.tokens.accept_private();
    let stream = desk.stream(json!({})).await;
    assert_eq!(desk.poll(&stream).await.unwrap().failures, 0);
    desk.fake.system.tokens.expire();
    for _ in 0..5 {
        desk.next(&stream).await;
    }
    assert_eq!(
        desk.error(&stream).await,
        "answered 401: EXPIRED_AUTHENTICATION: The OAuth token *** expired."
    );
    assert_eq!((desk.fake.count(TOKEN), &desk.account().await["status"]), (0, &json!("active")));
}

#[tokio::test]
async fn many_streams_of_one_account_share_one_renewal() {
    let desk = Desk::hubspot().await;
    let mut streams = Vec::new();
    for _ in 0..6 {
        streams.push(desk.stream_unchecked(json!({})).await);
    }
    for stream in &streams {
        desk.checked(stream, 1).await;
    }
    assert_eq!(desk.fake.system.tokens.given(), 1);
    desk.fake.system.tokens.expire();
    desk.app.advance(120).await;
    for stream in &streams {
        desk.checked(stream, 2).await;
        assert_eq!(desk.poll(stream).await.unwrap().failures, 0);
    }
    assert_eq!(desk.fake.system.tokens.given(), 2);
}

#[tokio::test]
async fn a_withdrawn_consent_is_asked_once_and_other_credentials_mend_it() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    desk.fake.system.tokens.expire();
    desk.fake.system.tokens.revoke(true);
    for _ in 0..5 {
        desk.next(&stream).await;
    }
    assert_eq!(desk.fake.count(TOKEN), 2, "one that worked, and one that did not");
    let account = desk.account().await;
    assert_eq!(account["status"], "broken");
    assert!(account["lastError"].as_str().unwrap().starts_with("invalid_grant"), "{account}");
    assert!(desk.error(&stream).await.contains("needs other credentials: invalid_grant"));
    // A broken account is not asked by another stream either.
    let other = desk.stream(json!({})).await;
    assert_eq!((desk.fake.count(TOKEN), desk.poll(&other).await.unwrap().failures), (2, 1));
    desk.fake.system.tokens.revoke(false);
    let mut new = credentials();
    new["refreshToken"] = json!("refresh-hush-1");
    let path = format!("/workspaces/{}/integrations/{}", desk.workspace.id, desk.integration);
    let mended = desk.app.operator("PUT", &path, &json!({"credentials": new})).await.expect(200);
    assert_eq!((&mended["data"]["status"], &mended["data"]["lastError"]), (&json!("active"), &Value::Null));
    // Streams that wait are checked at once, those that stopped when they are made active again.
    desk.checked(&other, 2).await;
    assert_eq!(desk.poll(&other).await.unwrap().failures, 0);
    desk.contact("1", desk.at(1).await, "9812300001");
    let shown = desk.change(&stream, json!({"status": "active"})).await;
    assert_eq!((&shown["status"], &shown["lastError"]), (&json!("active"), &Value::Null));
    desk.checked(&stream, 7).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["1"]));
}

#[tokio::test]
async fn other_failures_of_the_token_endpoint_leave_the_account_as_it_is() {
    let desk = Desk::hubspot().await;
    for reply in [
        Reply::Json(400, json!({"error": "invalid_client", "error_description": "secret-hush"})),
        Reply::Bare(500),
        Reply::ok(json!({"token_type": "bearer"})),
        Reply::Bare(404),
    ] {
        desk.fake.fail(TOKEN, 1, reply);
    }
    let stream = desk.stream(json!({})).await;
    for failures in 2..=4 {
        desk.next(&stream).await;
        assert_eq!(desk.poll(&stream).await.unwrap().failures, failures);
    }
    assert_eq!(desk.account().await["status"], "active");
    desk.next(&stream).await;
    assert_eq!(desk.poll(&stream).await.unwrap().failures, 0);
    // Its wait is kept, and is no failure.
    desk.fake.system.tokens.expire();
    desk.fake.fail(TOKEN, 1, Reply::With(429, "retry-after", "500".into(), json!({"error": "slow down"})));
    desk.next(&stream).await;
    desk.quiet(&stream, 490).await;
    desk.app.advance(20).await;
    desk.checked(&stream, 7).await;
    assert_eq!(desk.poll(&stream).await.unwrap().failures, 0);
}

#[tokio::test]
async fn the_fifth_failure_in_a_row_stops_a_stream_and_nothing_is_asked_then() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    desk.fake.fail(SEARCH, 4, Reply::Json(500, json!({"message": "oops"})));
    for _ in 0..4 {
        desk.next(&stream).await;
    }
    assert_eq!(desk.show(&stream).await["status"], "active");
    desk.next(&stream).await;
    assert_eq!(desk.poll(&stream).await.unwrap().failures, 0, "one that goes well begins anew");
    desk.fake.fail_always(
        SEARCH,
        Reply::Json(403, json!({"category": "MISSING_SCOPES", "message": "access-hush-1 may not"})),
    );
    for _ in 0..5 {
        assert_eq!(desk.show(&stream).await["status"], "active");
        desk.next(&stream).await;
    }
    assert_eq!(desk.error(&stream).await, "answered 403: MISSING_SCOPES: *** may not");
    let asked = desk.fake.count(SEARCH);
    desk.contact("1", desk.at(1).await, "9812300001");
    desk.quiet(&stream, 3_600).await;
    assert_eq!(desk.fake.count(SEARCH), asked);
    // Made active again it is checked at once, and takes what came meanwhile.
    desk.fake.mend();
    let shown = desk.change(&stream, json!({"status": "active"})).await;
    assert_eq!((&shown["status"], &shown["lastError"]), (&json!("active"), &Value::Null));
    desk.checked(&stream, 12).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["1"]));
}

#[tokio::test]
async fn a_wait_that_the_system_asks_for_outlasts_the_next_check_and_is_no_failure() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    for status in [429, 503, 429, 503, 429, 503] {
        desk.fake.fail(
            SEARCH,
            1,
            Reply::With(status, "retry-after", "400".into(), json!({"message": "slow down"})),
        );
    }
    desk.contact("1", desk.at(1).await, "9812300001");
    let asked = desk.fake.count(SEARCH);
    desk.next(&stream).await;
    for round in 2..=6 {
        desk.quiet(&stream, 399).await;
        desk.app.advance(1).await;
        desk.checked(&stream, 1 + round).await;
        assert_eq!(desk.fake.count(SEARCH), asked + round as usize);
        assert_eq!(desk.poll(&stream).await.unwrap().failures, 0);
    }
    desk.app.advance(400).await;
    desk.checked(&stream, 8).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["1"]));
}

#[tokio::test]
async fn a_throttle_without_a_wait_is_a_failure() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    desk.fake.fail_always(
        SEARCH,
        Reply::Json(
            429,
            json!({"errorType": "RATE_LIMIT", "message": "You have reached your secondly limit."}),
        ),
    );
    for _ in 0..5 {
        desk.next(&stream).await;
    }
    assert!(desk.error(&stream).await.contains("You have reached your secondly limit."));
}

#[tokio::test]
async fn a_paused_stream_asks_nothing_and_takes_what_came_meanwhile() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    desk.change(&stream, json!({"status": "paused"})).await;
    desk.next(&stream).await;
    let asked = desk.fake.count(SEARCH);
    desk.contact("1", desk.at(1).await, "9812300001");
    desk.quiet(&stream, 3_600).await;
    assert_eq!(desk.fake.count(SEARCH), asked);
    desk.change(&stream, json!({"status": "active"})).await;
    desk.checked(&stream, 3).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["1"]));
}

#[tokio::test]
async fn a_check_that_breaks_off_goes_on_where_it_was_and_loses_nobody() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    *desk.fake.system.page.lock().unwrap() = 2;
    for number in 1..=5 {
        desk.contact(&format!("{number}"), desk.at(number).await, &format!("981230000{number}"));
    }
    desk.fake.fail_after(SEARCH, 1, Reply::Bare(500));
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["1", "2"]), "the second page did not come");
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["1", "2", "3", "4", "5"]));
}

#[tokio::test]
async fn two_nodes_do_not_check_one_stream_at_the_same_time() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    desk.fake.fail(SEARCH, 1, Reply::Hang);
    let asked = desk.fake.count(SEARCH);
    desk.app.advance(120).await;
    desk.fake.wait_for(SEARCH, asked + 1).await;
    let second: Arc<::integrations::Desk> = ::integrations::Desk::open(desk.app.app()).unwrap();
    let (tenant, id) = (desk.workspace.id.parse().unwrap(), stream.parse().unwrap());
    second.check(tenant, id).await;
    assert_eq!(desk.fake.count(SEARCH), asked + 1, "the claim of the first one holds");
    // When it is lost, what the first one brings is not taken.
    desk.contact("1", desk.at(1).await, "9812300001");
    desk.app.advance(400).await;
    second.check(tenant, id).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["1"]));
}

#[tokio::test]
async fn a_plan_without_crm_stops_its_streams_and_refuses_new_ones() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    let features = |on: bool| json!({"features": {"crmIntegrations": on}});
    let path = format!("/workspaces/{}", desk.workspace.id);
    desk.app.operator("PATCH", &path, &features(false)).await.expect(200);
    let asked = desk.fake.count(SEARCH);
    desk.next(&stream).await;
    assert!(desk.error(&stream).await.contains("CRM integrations"));
    assert_eq!(desk.fake.count(SEARCH), asked);
    let wake = json!({"status": "active"});
    desk.app
        .patch(&desk.workspace.live, &format!("/v1/data-streams/{stream}"), &wake)
        .await
        .refused(403, "plan_feature_locked");
    desk.app.operator("PATCH", &path, &features(true)).await.expect(200);
    desk.change(&stream, wake).await;
    desk.checked(&stream, 3).await;
    assert_eq!(desk.fake.count(SEARCH), asked + 1);
}

#[tokio::test]
async fn a_suspended_workspace_asks_nothing() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    let path = format!("/workspaces/{}", desk.workspace.id);
    desk.app.operator("PATCH", &path, &json!({"suspended": true})).await.expect(200);
    let asked = desk.fake.count(SEARCH);
    for _ in 0..6 {
        desk.next(&stream).await;
    }
    assert_eq!(desk.fake.count(SEARCH), asked);
    desk.app.operator("PATCH", &path, &json!({"suspended": false})).await.expect(200);
    desk.next(&stream).await;
    assert_eq!((desk.fake.count(SEARCH), desk.poll(&stream).await.unwrap().failures), (asked + 1, 0));
}

#[tokio::test]
async fn an_account_is_disconnected_after_its_streams() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    let path = format!("/workspaces/{}/integrations/{}", desk.workspace.id, desk.integration);
    desk.app.operator("DELETE", &path, &Value::Null).await.refused(409, "conflict");
    desk.app.delete(&desk.workspace.live, &format!("/v1/data-streams/{stream}")).await.expect(200);
    assert_eq!(desk.poll(&stream).await, None);
    desk.app.operator("DELETE", &path, &Value::Null).await.expect(200);
}

#[tokio::test]
async fn an_account_of_a_neighbour_or_of_another_system_is_refused() {
    let desk = Desk::hubspot().await;
    let neighbour = desk.app.workspace().await;
    let made =
        connect(&desk.app, &desk.workspace.id, &json!({"provider": "zoho", "credentials": credentials()}))
            .await;
    let zoho = made.expect(201)["data"]["id"].clone();
    for (key, integration) in [
        (&neighbour.live, json!(desk.integration)),
        (&desk.workspace.live, zoho.clone()),
        (&desk.workspace.live, json!("int_00000000000000000000000000")),
        (&desk.workspace.live, json!("x")),
        (&desk.workspace.live, Value::Null),
    ] {
        let body = json!({"name": "n", "kind": "crm_1", "integrationId": integration});
        let answer = desk.app.post(key, "/v1/data-streams", &body).await;
        assert_eq!(answer.json["meta"]["field"], "integrationId", "{}", answer.text);
        answer.refused(400, "invalid_request");
    }
    let stream = desk.stream(json!({})).await;
    let path = format!("/v1/data-streams/{stream}");
    desk.app
        .patch(&desk.workspace.live, &path, &json!({"integrationId": zoho}))
        .await
        .refused(400, "invalid_request");
}

/// Servers that answer without end, not at all, elsewhere, or with rubbish.
#[tokio::test]
async fn hostile_answers_are_failed_checks() {
    for (reply, said) in [
        (Reply::Endless, "an answer of more than 8192 KB"),
        (Reply::Hang, "the time was up while waiting for the answer"),
        (Reply::Lost, "the connection was closed while waiting for the answer"),
        (Reply::With(302, "location", "http://169.254.169.254/latest".into(), json!({})), "answered 302"),
        (Reply::Bare(404), "answered 404"),
        (Reply::ok(json!({"results": "none"})), "an answer without a list of results"),
        (Reply::ok(json!(7)), "an answer without a list of results"),
        (
            Reply::ok(json!({"results": [], "paging": {"next": {"after": "100"}}})),
            "the pages of the system repeat themselves",
        ),
    ] {
        let fake = Fake::start(|_| HubSpot::new()).await;
        let mut desk =
            Desk::open_with(fake, ("hubspot", "crm_1"), |settings, url| settings.hubspot = url.into()).await;
        if matches!(reply, Reply::Hang) {
            desk.app = desk
                .app
                .restart_with(|config| config.integrations.timeout = Duration::from_millis(300))
                .await;
        }
        desk.fake.fail_always(SEARCH, reply);
        let stream = desk.stream(json!({})).await;
        for _ in 0..4 {
            desk.next(&stream).await;
        }
        let error = desk.error(&stream).await;
        assert!(error.contains(said), "{error}");
    }
}

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
    desk.app.advance(4_000).await;
    desk.fake.fail("/oauth/v2/token", 1, Reply::ok(json!({"error": "Access Denied", "error_description": "You have made too many requests continuously.", "status": "failure"})));
    desk.fake.system.tokens.expire();
    desk.next(&stream).await;
    assert_eq!(
        (desk.account().await["status"].clone(), desk.poll(&stream).await.unwrap().failures),
        (json!("active"), 1)
    );
    desk.fake.system.tokens.revoke(true);
    desk.next(&stream).await;
    assert_eq!(desk.account().await["status"], "broken");
    assert_eq!(desk.account().await["lastError"], "invalid_code");
}

#[tokio::test]
async fn a_domain_in_the_settings_comes_before_that_of_the_token() {
    let desk = Desk::zoho().await;
    let url = desk.fake.url.clone();
    let app =
        desk.app.restart_with(|config| config.integrations.zoho = Some(format!("{url}/elsewhere"))).await;
    let desk = Desk { app, ..desk };
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
    assert_eq!(
        (&last["externalId"], &last["payload"]["defaultAddress.city"]),
        (&json!("gid://shopify/Customer/6"), &json!("Pune"))
    );
    // Its refresh token works once: each renewal uses the one before.
    desk.app.advance(3_600).await;
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
    desk.app.advance(1).await;
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
    let known = desk.app.app().store.read(move |tx| store::polls::rows(tx, tenant, id)).await.unwrap();
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
    let path = format!("/workspaces/{}", desk.workspace.id);
    desk.app.operator("PATCH", &path, &json!({"features": {"crmIntegrations": false}})).await.expect(200);
    let stream = desk.stream(json!({"config": {"spreadsheetId": "sheet-1"}})).await;
    desk.fake.system.set("First", json!([["Phone"], ["9812300001"]]));
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "phone").await, json!(["+919812300001"]));
}
