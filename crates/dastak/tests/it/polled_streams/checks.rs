//! What holds for the checks of every system, shown with one of them.

use std::sync::Arc;
use std::time::Duration;

use dastak::config::Config;
use domain::time::Timestamp;
use serde_json::{Value, json};

use crate::fakes::hubspot::HubSpot;
use crate::fakes::{Fake, Reply, credentials};
use crate::shows::Shows;

use super::desk::{Desk, SEARCH, TOKEN};

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
    payload.shows(json!({"firstname": "Asha", "lead_no": "L-2", "id": "2"}));
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
    desk.advance(600).await;
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
    desk.advance(10).await;
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
    desk.advance(1_800).await;
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
    let agent = desk.agent(&prompt).await;
    let stream = desk.stream(json!({})).await;
    let live = desk.live();
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
    let other = desk.connect(&body).await.expect(201)["data"]["id"].clone();
    desk.contact("1", desk.at(1).await, "9812300001");
    desk.advance(30).await;
    desk.change(&stream, json!({"integrationId": other})).await;
    desk.checked(&stream, 3).await;
    desk.contact("2", desk.at(1).await, "9812300002");
    desk.next(&stream).await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["2"]));
    // The first account is free now.
    let path = format!("/integrations/{}", desk.integration);
    desk.operator("DELETE", &path, Value::Null).await.expect(200);
}

#[tokio::test]
async fn a_token_of_a_private_application_is_never_renewed() {
    let desk = Desk::hubspot().await;
    let path = format!("/integrations/{}", desk.integration);
    let private = json!({"credentials": {"accessToken": "access-hush-0"}});
    desk.operator("PUT", &path, private.clone()).await.expect(200);
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
    desk.advance(120).await;
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
    let path = format!("/integrations/{}", desk.integration);
    let mended = desk.operator("PUT", &path, json!({"credentials": new})).await.expect(200);
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
    desk.advance(20).await;
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
        desk.advance(1).await;
        desk.checked(&stream, 1 + round).await;
        assert_eq!(desk.fake.count(SEARCH), asked + round as usize);
        assert_eq!(desk.poll(&stream).await.unwrap().failures, 0);
    }
    desk.advance(400).await;
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
    desk.advance(120).await;
    desk.fake.wait_for(SEARCH, asked + 1).await;
    let second: Arc<::integrations::ConnectedSystems> =
        ::integrations::ConnectedSystems::open(desk.app()).unwrap();
    let (tenant, id) = (desk.workspace.id.parse().unwrap(), stream.parse().unwrap());
    // Checks are work that the clock counts.
    let check = async || {
        let (second, (done, told)) = (second.clone(), tokio::sync::oneshot::channel());
        desk.app().clock.spawn(async move {
            second.check(tenant, id).await;
            let _ = done.send(());
        });
        told.await.unwrap();
    };
    check().await;
    assert_eq!(desk.fake.count(SEARCH), asked + 1, "the claim of the first one holds");
    // When it is lost, what the first one brings is not taken.
    desk.contact("1", desk.at(1).await, "9812300001");
    desk.advance(400).await;
    check().await;
    assert_eq!(desk.all(&stream, "externalId").await, json!(["1"]));
}

#[tokio::test]
async fn a_plan_without_crm_stops_its_streams_and_refuses_new_ones() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    let features = |on: bool| json!({"features": {"crmIntegrations": on}});
    desk.world.change(&features(false)).await;
    let asked = desk.fake.count(SEARCH);
    desk.next(&stream).await;
    assert!(desk.error(&stream).await.contains("CRM integrations"));
    assert_eq!(desk.fake.count(SEARCH), asked);
    let wake = json!({"status": "active"});
    desk.patch(&format!("/v1/data-streams/{stream}"), &wake).await.refused(403, "plan_feature_locked");
    desk.world.change(&features(true)).await;
    desk.change(&stream, wake).await;
    desk.checked(&stream, 3).await;
    assert_eq!(desk.fake.count(SEARCH), asked + 1);
}

#[tokio::test]
async fn a_suspended_workspace_asks_nothing() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    desk.world.change(&json!({"suspended": true})).await;
    let asked = desk.fake.count(SEARCH);
    for _ in 0..6 {
        desk.next(&stream).await;
    }
    assert_eq!(desk.fake.count(SEARCH), asked);
    desk.world.change(&json!({"suspended": false})).await;
    desk.next(&stream).await;
    assert_eq!((desk.fake.count(SEARCH), desk.poll(&stream).await.unwrap().failures), (asked + 1, 0));
}

#[tokio::test]
async fn an_account_is_disconnected_after_its_streams() {
    let desk = Desk::hubspot().await;
    let stream = desk.stream(json!({})).await;
    let path = format!("/integrations/{}", desk.integration);
    desk.operator("DELETE", &path, Value::Null).await.conflict();
    desk.delete(&format!("/v1/data-streams/{stream}")).await.expect(200);
    assert_eq!(desk.poll(&stream).await, None);
    desk.operator("DELETE", &path, Value::Null).await.expect(200);
}

#[tokio::test]
async fn an_account_of_a_neighbour_or_of_another_system_is_refused() {
    let desk = Desk::hubspot().await;
    let neighbour = desk.neighbour().await;
    let body = json!({"provider": "zoho", "credentials": credentials()});
    let zoho = json!(desk.connect(&body).await.id(201));
    for (key, integration) in [
        (neighbour.live(), json!(desk.integration)),
        (desk.live(), zoho.clone()),
        (desk.live(), json!("int_00000000000000000000000000")),
        (desk.live(), json!("x")),
        (desk.live(), Value::Null),
    ] {
        let body = json!({"name": "n", "kind": "crm_1", "integrationId": integration});
        let answer = desk.app.post(key, "/v1/data-streams", &body).await;
        assert_eq!(answer.json["meta"]["field"], "integrationId", "{}", answer.text);
        answer.invalid();
    }
    let stream = desk.stream(json!({})).await;
    let path = format!("/v1/data-streams/{stream}");
    desk.patch(&path, &json!({"integrationId": zoho})).await.invalid();
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
            let short = |config: &mut Config| config.integrations.timeout = Duration::from_millis(300);
            desk.world = desk.world.restart_with(short).await;
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
