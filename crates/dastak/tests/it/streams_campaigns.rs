//! Streams that feed campaigns, and what an erasure and age take out of records (docs/contract/streams.md#attaching).

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use serde_json::{Value, json};
use store::db::{CallSite, Fate, Faults, Pause};
use tokio::sync::Notify;

use crate::shows::Shows;
use crate::streams::{path, send};
use crate::world::World;

const DAY: i64 = 86_400;

/// Attaches a stream to a campaign.
async fn attach(world: &World, campaign: &str, stream: &Value, body: &Value) -> Value {
    let path = format!("{campaign}/streams/{}", stream["id"].as_str().unwrap());
    world.put(&path, body).await.data(200)
}

async fn detach(world: &World, campaign: &str, stream: &Value) -> crate::app::Answer {
    let path = format!("{campaign}/streams/{}", stream["id"].as_str().unwrap());
    world.delete(&path).await
}

async fn rows(world: &World, campaign: &str) -> Vec<Value> {
    world.list(&format!("{campaign}/contacts?limit=200")).await
}

fn id(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

#[tokio::test]
async fn a_new_record_is_put_on_every_list() {
    let world = World::open().await;
    let made = world.webhook_stream().await;
    let (one, two) = (world.new_campaign(json!({})).await, world.new_campaign(json!({})).await);
    let first = attach(
        &world,
        &one,
        &made,
        &json!({"variableMapping": {"city": "lead.city", "who": "name", "to": "phone", "none": "missing"}}),
    )
    .await;
    assert_eq!(
        first,
        json!({"campaignId": id(&one), "streamId": made["id"], "name": "Website leads", "kind": "webhook", "status": "active",
            "variableMapping": {"city": "lead.city", "who": "name", "to": "phone", "none": "missing"}, "backfillDays": 0, "transliterate": false,
            "attachedAt": first["attachedAt"], "backfilled": 0})
    );
    attach(&world, &two, &made, &json!({})).await;
    let body = json!([{"first_name": "Asha", "last_name": "Rao", "mobile": "98123 45678", "lead": {"city": "Pune"}}, {"phone": "+12025550100"}]);
    let answer = send(&world.app, &made, &body).await.data(202);
    answer.shows(json!({"accepted": 1, "invalid": 1, "queued": 1}));
    let (on_one, on_two) = (rows(&world, &one).await, rows(&world, &two).await);
    assert_eq!((on_one.len(), on_two.len()), (1, 1));
    let row = &on_one[0];
    row.shows(json!({"phone": "+919812345678", "name": "Asha Rao", "state": "queued", "valid": true,
        "variables": {"city": "Pune", "who": "Asha Rao", "to": "+919812345678"}}));
    assert_eq!(on_two[0]["variables"], json!({}));
    // A number is on a list once, whatever it comes with.
    let again = send(&world.app, &made, &json!({"phone": "9812345678", "name": "Other"})).await.data(202);
    assert_eq!((&again["duplicate"], &again["queued"]), (&json!(1), &json!(0)));
    let other = world.webhook_stream().await;
    attach(&world, &one, &other, &json!({})).await;
    let same = send(&world.app, &other, &json!({"phone": "9812345678", "name": "Other"})).await.data(202);
    assert_eq!((&same["accepted"], &same["queued"]), (&json!(1), &json!(0)));
    assert_eq!(rows(&world, &one).await, on_one);
    // What is known of it everywhere.
    let records = world.get(&format!("{}/records", path(&made))).await["data"].clone();
    let mut campaigns = vec![
        json!({"campaignId": id(&one), "status": "queued"}),
        json!({"campaignId": id(&two), "status": "queued"}),
    ];
    campaigns.sort_by_key(|campaign| campaign["campaignId"].to_string());
    assert_eq!((&records[1]["campaigns"], &records[0]["campaigns"]), (&json!(campaigns), &json!([])));
    let detail = world.data(&path(&made)).await;
    assert_eq!(detail["campaigns"].as_array().unwrap().len(), 2);
    let fed = detail["campaigns"]
        .as_array()
        .unwrap()
        .iter()
        .find(|fed| fed["campaignId"] == id(&one))
        .unwrap()
        .clone();
    assert_eq!(
        fed,
        json!({"campaignId": id(&one), "name": "January", "status": "draft", "variableMapping": first["variableMapping"], "backfillDays": 0,
            "transliterate": false, "attachedAt": first["attachedAt"]})
    );
    let listed = world.data(&format!("{one}/streams")).await;
    assert_eq!(
        listed.as_array().unwrap().iter().map(|stream| stream["streamId"].clone()).collect::<Vec<_>>(),
        [other["id"].clone(), made["id"].clone()]
    );
    let mut shown = first.clone();
    for name in ["campaignId", "backfilled"] {
        shown.as_object_mut().unwrap().remove(name);
    }
    assert_eq!(listed[1], shown);
}

#[tokio::test]
async fn required_variables_must_be_mapped() {
    let world = World::prompted("Greet {{name}} about {{amount}}.").await;
    let made = world.webhook_stream().await;
    let campaign = world.new_campaign(json!({})).await;
    let to = format!("{campaign}/streams/{}", made["id"].as_str().unwrap());
    for (mapping, missing) in [
        (json!({}), json!(["name", "amount"])),
        (json!({"name": "name"}), json!(["amount"])),
        (json!({"amount": "x", "other": "y"}), json!(["name"])),
    ] {
        let refused = world
            .put(&to, &json!({"variableMapping": mapping, "backfillDays": 5}))
            .await
            .refused(400, "missing_required_variables");
        assert_eq!(refused["meta"]["missing"], missing);
    }
    assert_eq!(world.get(&format!("{campaign}/streams")).await["data"], json!([]));
    world.put(&to, &json!({"variableMapping": {"name": "name", "amount": "due.amount"}})).await.expect(200);
    send(&world.app, &made, &json!({"phone": "9812345678", "name": "Asha", "due": {"amount": 1500}}))
        .await
        .expect(202);
    assert_eq!(rows(&world, &campaign).await[0]["variables"], json!({"name": "Asha", "amount": "1500"}));
}

#[tokio::test]
async fn wrong_attachments_are_refused() {
    let world = World::open().await;
    let made = world.webhook_stream().await;
    let campaign = world.new_campaign(json!({})).await;
    let to = format!("{campaign}/streams/{}", made["id"].as_str().unwrap());
    for (body, field) in [
        (json!({"backfillDays": -1}), "backfillDays"),
        (json!({"backfillDays": 91}), "backfillDays"),
        (json!({"backfillDays": 1.5}), "backfillDays"),
        (json!({"backfillDays": "7"}), "backfillDays"),
        (json!({"transliterate": "yes"}), "transliterate"),
        (json!({"variableMapping": []}), "variableMapping"),
        (json!({"variableMapping": {"a": 5}}), "variableMapping.a"),
        (json!({"variableMapping": {"a": ""}}), "variableMapping.a"),
        (json!({"variableMapping": {"1a": "x"}}), "variableMapping.1a"),
    ] {
        let refused = world.put(&to, &body).await.invalid();
        assert_eq!(refused["meta"]["field"], field, "{body}");
    }
    for (campaign, stream) in [
        (id(&campaign), "dst_00000000000000000000000000"),
        ("cmp_00000000000000000000000000", made["id"].as_str().unwrap()),
        ("x", "y"),
    ] {
        let to = format!("/v1/campaigns/{campaign}/streams/{stream}");
        world.put(&to, &json!({})).await.not_found();
        world.delete(&to).await.not_found();
    }
    world.fetch("/v1/campaigns/cmp_00000000000000000000000000/streams").await.not_found();
    detach(&world, &campaign, &made).await.not_found();
    // Both scopes are needed, a live key, and a stream and a campaign of one workspace.
    for scopes in [json!(["streams:write"]), json!(["campaigns:write"])] {
        let key = world.key(&world.workspace.id, "live", scopes).await;
        world.app.put(&key, &to, &json!({})).await.refused(403, "api_scope_missing");
        world.app.delete(&key, &to).await.refused(403, "api_scope_missing");
    }
    let key = world.key(&world.workspace.id, "live", json!(["streams:write", "campaigns:write"])).await;
    world.app.put(&key, &to, &json!({})).await.expect(200);
    world.app.put(world.test(), &to, &json!({})).await.read_only();
    world.app.delete(world.test(), &to).await.read_only();
    let other = world.neighbour().await;
    let theirs = other.webhook_stream().await;
    world
        .put(&format!("{campaign}/streams/{}", theirs["id"].as_str().unwrap()), &json!({}))
        .await
        .not_found();
    other.put(&to, &json!({})).await.not_found();
}

#[tokio::test]
async fn earlier_records_come_with_backfill_days_only() {
    let world = World::open().await;
    let made = world.webhook_stream().await;
    for (at, days) in [(1, 0), (2, 5), (3, 4)] {
        world.advance(days * DAY).await;
        let body =
            json!([{"phone": format!("981234567{at}"), "city": format!("City {at}")}, {"phone": "12"}]);
        send(&world.app, &made, &body).await.expect(202);
    }
    // 9, 4 and 0 days old.
    for (days, expected) in [
        (0, vec![]),
        (1, vec!["3"]),
        (4, vec!["2", "3"]),
        (9, vec!["1", "2", "3"]),
        (90, vec!["1", "2", "3"]),
    ] {
        let campaign = world.new_campaign(json!({})).await;
        let attached = attach(
            &world,
            &campaign,
            &made,
            &json!({"variableMapping": {"city": "city"}, "backfillDays": days}),
        )
        .await;
        attached.shows(json!({"backfilled": expected.len(), "backfillDays": days}));
        let listed = rows(&world, &campaign).await;
        let ends: Vec<String> =
            listed.iter().map(|row| row["phone"].as_str().unwrap()[12..].to_owned()).collect();
        assert_eq!(ends, expected, "{days} days");
        for (row, end) in listed.iter().zip(&expected) {
            assert_eq!(row["variables"], json!({"city": format!("City {end}")}));
        }
        // A repeat changes the mapping and queues nobody twice.
        let again = attach(
            &world,
            &campaign,
            &made,
            &json!({"variableMapping": {"town": "city"}, "backfillDays": days, "transliterate": true}),
        )
        .await;
        again.shows(json!({"backfilled": 0, "variableMapping": {"town": "city"}, "transliterate": true}));
    }
    // More than one step of it.
    let many: Vec<Value> = (0..500).map(|number| json!({"phone": format!("97{number:08}")})).collect();
    let more: Vec<Value> = (0..500).map(|number| json!({"phone": format!("96{number:08}")})).collect();
    send(&world.app, &made, &json!(many)).await.expect(202);
    send(&world.app, &made, &json!(more)).await.expect(202);
    let campaign = world.new_campaign(json!({})).await;
    let attached = attach(&world, &campaign, &made, &json!({"backfillDays": 1})).await;
    assert_eq!(attached["backfilled"], 1001);
    assert_eq!(world.get(&format!("{campaign}/contacts")).await["total"], 1001);
}

#[tokio::test]
async fn only_campaigns_that_are_not_over_get_people() {
    let world = World::open().await;
    let made = world.webhook_stream().await;
    let (draft, paused, active) = (
        world.new_campaign(json!({})).await,
        world.new_campaign(json!({})).await,
        world.new_campaign(json!({})).await,
    );
    let (archived, past) = (world.new_campaign(json!({})).await, world.new_campaign(json!({})).await);
    let deleted = world.new_campaign(json!({})).await;
    for campaign in [&draft, &paused, &active, &archived, &past, &deleted] {
        attach(&world, campaign, &made, &json!({})).await;
    }
    // None of them dials now.
    let tomorrow =
        domain::time::Timestamp::parse(&world.now().await).unwrap().plus(domain::time::DAY).to_string();
    for campaign in [&paused, &active] {
        world.put(campaign, &json!({"settings": {"startAt": tomorrow}})).await.expect(200);
        world.set_status(campaign, "active").await.expect(200);
    }
    world.set_status(&paused, "paused").await.expect(200);
    world.set_status(&archived, "archived").await.expect(200);
    let soon =
        domain::time::Timestamp::parse(&world.now().await).unwrap().plus(domain::time::MINUTE).to_string();
    world.put(&past, &json!({"settings": {"endAt": soon}})).await.expect(200);
    world.delete(&deleted).await.expect(200);
    world.advance(120).await;
    let answer = send(&world.app, &made, &json!({"phone": "9812345678"})).await.data(202);
    assert_eq!((&answer["accepted"], &answer["queued"]), (&json!(1), &json!(1)));
    for (campaign, count) in [(&draft, 1), (&paused, 1), (&active, 1), (&archived, 0), (&past, 0)] {
        assert_eq!(rows(&world, campaign).await.len(), count, "{campaign}");
    }
    let detail = world.get(&path(&made)).await["data"]["campaigns"].clone();
    assert_eq!(detail.as_array().unwrap().len(), 5, "a deleted campaign is fed no more");
    // What cannot be fed is not attached to, either.
    for campaign in [&archived, &past] {
        let to = format!("{campaign}/streams/{}", made["id"].as_str().unwrap());
        world.put(&to, &json!({"backfillDays": 90})).await.conflict();
    }
}

#[tokio::test]
async fn a_stream_is_attached_to_what_it_can_feed() {
    let world = World::open().await;
    let made = world.webhook_stream().await;
    let (messages, completed) = (world.new_campaign(json!({})).await, world.new_campaign(json!({})).await);
    let tomorrow =
        domain::time::Timestamp::parse(&world.now().await).unwrap().plus(domain::time::DAY).to_string();
    world.put(&completed, &json!({"settings": {"startAt": tomorrow}})).await.expect(200);
    world.set_list(&completed, json!([{"phone": "9812345670"}])).await.expect(200);
    world.set_status(&completed, "active").await.expect(200);
    world.set_status(&completed, "completed").await.expect(200);
    let channel = id(&messages).to_owned();
    let change = move |tx: &mut store::Tx<'_>| {
        tx.exec("update campaigns set channel = 'chatapp' where id = ?1", &[channel.as_str().into()])
    };
    assert_eq!(world.store(change).await, 1);
    for (campaign, code) in [(&messages, "chatapp_campaign"), (&completed, "conflict")] {
        let to = format!("{campaign}/streams/{}", made["id"].as_str().unwrap());
        world.put(&to, &json!({})).await.refused(409, code);
    }
    assert_eq!(world.get(&path(&made)).await["data"]["campaigns"], json!([]));
}

/// A node that dies between two pieces of a backfill leaves it to whoever looks next.
#[tokio::test]
async fn a_backfill_that_was_left_is_finished() {
    let world = World::open().await;
    let made = world.webhook_stream().await;
    let people: Vec<Value> =
        (0..30).map(|at| json!({"phone": format!("98123456{at:02}"), "city": "Pune"})).collect();
    let sent = send(&world.app, &made, &json!(people)).await.data(202);
    let record = |at: usize| sent["results"][at]["recordId"].as_str().unwrap().to_owned();
    let campaign = world.new_campaign(json!({})).await;
    attach(&world, &campaign, &made, &json!({"variableMapping": {"town": "city"}})).await;
    // As the store is after a piece that ended before the tenth record.
    let (from, until) = (record(10), record(24));
    let now = domain::time::Timestamp::parse(&world.now().await).unwrap().0;
    let (stream, fed) = (made["id"].as_str().unwrap().to_owned(), id(&campaign).to_owned());
    let left = move |tx: &mut store::Tx<'_>| {
        tx.wake(dastak::app::topics::STREAMS);
        tx.exec(
            "update stream_campaigns set backfill_from = ?3, backfill_until = ?4, backfill_at = ?5 where stream = ?1 and campaign = ?2",
            &[stream.as_str().into(), fed.as_str().into(), from.as_str().into(), until.as_str().into(), now.into()],
        )
    };
    assert_eq!(world.store(left).await, 1);
    world.advance(30).await;
    assert_eq!(rows(&world, &campaign).await.len(), 0, "whoever began it may still be at work");
    world.advance(31).await;
    let listed = rows(&world, &campaign).await;
    let phones: Vec<&str> = listed.iter().map(|row| row["phone"].as_str().unwrap()).collect();
    let expected: Vec<String> = (10..25).map(|at| format!("+9198123456{at:02}")).collect();
    assert_eq!(phones, expected);
    assert_eq!(listed[0]["variables"], json!({"town": "Pune"}));
    let open = |tx: &mut store::Tx<'_>| {
        tx.one::<i64>(
            "select cast(count(*) as bigint) from stream_campaigns where backfill_from is not null",
            &[],
        )
    };
    assert_eq!(world.stored(open).await, Some(0));
}

/// Halts the transaction that attaches a stream until the test says so.
#[derive(Default)]
struct Halt {
    asked: AtomicBool,
    reached: Notify,
    go: Notify,
}

impl Faults for Halt {
    fn before(&self, place: CallSite) -> Pause<'_, Fate> {
        let here = place.file().ends_with("attachments.rs") && self.asked.swap(false, Ordering::SeqCst);
        Box::pin(async move {
            if here {
                self.reached.notify_one();
                self.go.notified().await;
            }
            Fate::Untouched
        })
    }
}

/// Between the look at earlier records and the transaction that attaches their stream another one is stored: it is neither
/// one that was found nor one that is put on the list as it comes.
#[tokio::test]
async fn a_record_that_comes_while_its_stream_is_attached_is_put_on_the_list() {
    let world = World::open().await;
    let halt = Arc::new(Halt::default());
    world.app().store.fail_as(halt.clone());
    for earlier in [vec![], vec!["+919812345671"]] {
        let made = world.webhook_stream().await;
        let campaign = world.new_campaign(json!({})).await;
        for phone in &earlier {
            send(&world.app, &made, &json!({"phone": phone})).await.expect(202);
        }
        halt.asked.store(true, Ordering::SeqCst);
        let attaching = json!({"backfillDays": 1});
        let (attached, ()) = tokio::join!(attach(&world, &campaign, &made, &attaching), async {
            halt.reached.notified().await;
            let sent = send(&world.app, &made, &json!({"phone": "+919812345672"})).await.expect(202);
            assert_eq!(sent["data"]["queued"], 0, "the stream feeds nothing yet");
            halt.go.notify_one();
        });
        let expected: Vec<&str> = earlier.iter().copied().chain(["+919812345672"]).collect();
        assert_eq!(attached["backfilled"], expected.len(), "{attached}");
        let listed = rows(&world, &campaign).await;
        let phones: Vec<&str> = listed.iter().map(|row| row["phone"].as_str().unwrap()).collect();
        assert_eq!(phones, expected);
        // From now on people are put on the list as they come.
        let sent = send(&world.app, &made, &json!({"phone": "+919812345673"})).await.expect(202);
        assert_eq!(sent["data"]["queued"], 1);
    }
}

#[tokio::test]
async fn a_backfill_is_of_many_pieces() {
    let world = World::open().await;
    let made = world.webhook_stream().await;
    for hundred in 0..9 {
        let many: Vec<Value> =
            (0..500).map(|number| json!({"phone": format!("97{:08}", hundred * 500 + number)})).collect();
        send(&world.app, &made, &json!(many)).await.expect(202);
    }
    let campaign = world.new_campaign(json!({})).await;
    let attached = attach(&world, &campaign, &made, &json!({"backfillDays": 1})).await;
    assert_eq!(attached["backfilled"], 4_500);
    let last = world.get(&format!("{campaign}/contacts?limit=1&offset=4499")).await;
    assert_eq!((&last["total"], &last["data"][0]["phone"]), (&json!(4_500), &json!("+919700004499")));
    assert_eq!(attach(&world, &campaign, &made, &json!({"backfillDays": 1})).await["backfilled"], 0);
}

#[tokio::test]
async fn a_list_that_is_fed_is_not_replaced_and_keeps_its_rows() {
    let world = World::open().await;
    let (made, other) = (world.webhook_stream().await, world.webhook_stream().await);
    let campaign = world.with_list(json!([{"phone": "9812345670", "name": "Uploaded"}])).await;
    attach(&world, &campaign, &made, &json!({})).await;
    attach(&world, &campaign, &made, &json!({})).await;
    attach(&world, &campaign, &other, &json!({})).await;
    send(&world.app, &made, &json!([{"phone": "9812345670", "name": "Sent"}, {"phone": "9812345671"}]))
        .await
        .expect(202);
    let replace = json!({"contacts": [{"phone": "9812345679"}]});
    world.post(&format!("{campaign}/contacts"), &replace).await.refused(409, "stream_attached");
    let listed = rows(&world, &campaign).await;
    assert_eq!(
        listed.iter().map(|row| row["name"].as_str().unwrap_or("-")).collect::<Vec<_>>(),
        ["Uploaded", "-"]
    );
    let gone = detach(&world, &campaign, &made).await.expect(200);
    assert_eq!(gone["data"], json!({"id": made["id"], "deleted": true}));
    detach(&world, &campaign, &made).await.not_found();
    world.post(&format!("{campaign}/contacts"), &replace).await.refused(409, "stream_attached");
    send(&world.app, &made, &json!({"phone": "9812345672"})).await.expect(202);
    assert_eq!(rows(&world, &campaign).await, listed, "what it put there stays, and nothing is added");
    // Deleting a stream detaches it.
    world.delete(&path(&other)).await.expect(200);
    assert_eq!(world.get(&format!("{campaign}/streams")).await["data"], json!([]));
    world.post(&format!("{campaign}/contacts"), &replace).await.expect(200);
}

#[tokio::test]
async fn names_are_written_in_the_script_of_the_agent() {
    let world = World::open().await;
    let made = world.webhook_stream().await;
    for (language, expected) in [
        ("en", "Rahul Sharma"),
        ("hi", "राहुल शर्मा"),
        ("mr", "राहुल शर्मा"),
        ("bn", "রাহুল শর্মা"),
        ("gu", "રાહુલ શર્મા"),
        ("pa", "ਰਾਹੁਲ ਸ਼ਰਮਾ"),
        ("or", "ରାହୁଲ ଶର୍ମା"),
        ("ta", "ராஹுல் ஷர்மா"),
        ("te", "రాహుల్ శర్మా"),
        ("kn", "ರಾಹುಲ್ ಶರ್ಮಾ"),
        ("ml", "രാഹുൽ ശർമാ"),
    ] {
        let agent = world.agent(&json!({"language": language, "systemPrompt": "Greet {{name}}."})).await;
        let campaign = world.new_campaign(json!({"agentId": agent})).await;
        let mapping = json!({"name": "full_name", "first": "name", "city": "city"});
        attach(
            &world,
            &campaign,
            &made,
            &json!({"variableMapping": mapping, "transliterate": true, "backfillDays": 1}),
        )
        .await;
        let number =
            format!("98{:08}", language.bytes().fold(0_u32, |sum, byte| sum * 256 + u32::from(byte)));
        send(&world.app, &made, &json!({"phone": number, "full_name": "Rahul Sharma", "city": "Pune"}))
            .await
            .expect(202);
        let listed = rows(&world, &campaign).await;
        let row = listed.last().unwrap();
        assert_eq!(
            (row["name"].as_str().unwrap(), &row["variables"]),
            (expected, &json!({"name": expected, "first": expected, "city": "Pune"})),
            "{language}"
        );
    }
    let plain = world.new_campaign(json!({})).await;
    attach(&world, &plain, &made, &json!({"backfillDays": 1})).await;
    assert_eq!(rows(&world, &plain).await[0]["name"], "Rahul Sharma");
}

/// Streams that feed the same campaigns at the same moment: every number is on each list once.
#[tokio::test]
async fn many_streams_at_once_put_a_number_on_a_list_once() {
    let world = Arc::new(World::open().await);
    let campaigns = [world.new_campaign(json!({})).await, world.new_campaign(json!({})).await];
    let mut senders = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let made = world.webhook_stream().await;
        for campaign in &campaigns {
            attach(&world, campaign, &made, &json!({})).await;
        }
        let world = world.clone();
        senders.spawn(async move {
            for part in 0..4 {
                let body: Vec<Value> =
                    (0..50).map(|number| json!({"phone": format!("98{:08}", part * 25 + number)})).collect();
                send(&world.app, &made, &json!(body)).await.expect(202);
            }
        });
    }
    while let Some(sent) = senders.join_next().await {
        sent.unwrap();
    }
    for campaign in &campaigns {
        let mut phones: Vec<String> = rows(&world, campaign)
            .await
            .iter()
            .map(|row| row["phone"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(phones.len(), 125);
        phones.sort_unstable();
        phones.dedup();
        assert_eq!(phones.len(), 125);
        assert_eq!(world.get(&format!("{campaign}/contacts?limit=1")).await["counts"]["all"], 125);
    }
}

#[tokio::test]
async fn an_erasure_reaches_records() {
    let world = World::open().await;
    let key = world.live();
    let made = world.stream(&json!({"name": "x", "kind": "webhook", "fieldMap": {"externalId": "id"}})).await;
    let campaign = world.new_campaign(json!({})).await;
    attach(&world, &campaign, &made, &json!({})).await;
    let body = json!([
        {"id": "a", "phone": "9812345678", "name": "Asha", "note": "secretnote"},
        {"id": "b", "phone": "9812345678", "name": "Asha"},
        {"id": "c", "phone": "9812345679", "name": "Other"},
    ]);
    send(&world.app, &made, &body).await.expect(202);
    let contact =
        world.post("/v1/contacts", &json!({"externalRef": "a1", "phone": "9812345678"})).await.expect(201);
    world
        .post(&format!("/v1/contacts/{}/erase", contact["data"]["id"].as_str().unwrap()), &Value::Null)
        .await
        .expect(200);
    let records = world.app.get(key, &format!("{}/records", path(&made))).await;
    assert!(
        !records.text.contains("secretnote")
            && !records.text.contains("9812345678")
            && !records.text.contains("Asha"),
        "{}",
        records.text
    );
    let records = records.data(200);
    for emptied in [&records[1], &records[2]] {
        emptied.shows(
            json!({"status": "accepted", "phone": null, "name": null, "payload": null, "externalId": null,
            "campaigns": []}),
        );
    }
    assert_eq!(records[0]["payload"]["name"], "Other");
    // It does not come in again with the same record.
    let again = send(&world.app, &made, &body).await.data(202);
    assert_eq!((&again["duplicate"], &again["queued"]), (&json!(3), &json!(0)));
    let another = world.new_campaign(json!({})).await;
    assert_eq!(attach(&world, &another, &made, &json!({"backfillDays": 90})).await["backfilled"], 1);
}

#[tokio::test]
async fn records_are_emptied_with_age_and_removed_with_their_stream() {
    let world = World::open().await;
    let key = world.live();
    let made = world.webhook_stream().await;
    let gone = world.webhook_stream().await;
    let body = |digit: i64| json!([{"phone": format!("981234567{digit}"), "name": "Asha"}, {"phone": "x", "name": "Asha"}]);
    send(&world.app, &made, &body(1)).await.expect(202);
    send(&world.app, &gone, &body(1)).await.expect(202);
    world.advance(89 * DAY).await;
    send(&world.app, &made, &body(2)).await.expect(202);
    let records = world.get(&format!("{}/records", path(&made))).await["data"].clone();
    assert_eq!((&records[2]["name"], records[2]["payload"].is_object()), (&json!("Asha"), true));
    world.app.delete(key, &path(&gone)).await.expect(200);
    // Old things are looked for once a day at least.
    world.advance(2 * DAY).await;
    let records = world.get(&format!("{}/records", path(&made))).await["data"].clone();
    records[2].shows(json!({"name": null, "payload": null, "phone": null}));
    assert_eq!((&records[0]["name"], records[0]["payload"].is_object()), (&json!("Asha"), true));
    // It is still known.
    assert_eq!(send(&world.app, &made, &body(1)).await.expect(202)["data"]["duplicate"], 2);
    let count = |tx: &mut store::Tx<'_>| {
        tx.all::<(i64, i64)>(
            "select (select count(*) from data_streams), (select count(*) from stream_records)",
            &[],
        )
    };
    let left: Vec<(i64, i64)> = world.stored(count).await;
    // Two people, and what is no number once.
    assert_eq!(left, [(1, 3)]);
}

/// A stream lives on over a restart, and a token of before still works.
#[tokio::test]
async fn a_restart_loses_nothing() {
    let world = World::bare().await;
    let made = world.webhook_stream().await;
    let first = send(&world, &made, &json!({"phone": "9812345678"})).await.expect(202);
    let world = world.restart().await;
    let again = send(&world, &made, &json!({"phone": "9812345678"})).await.expect(202);
    assert_eq!(again["data"]["results"][0]["recordId"], first["data"]["results"][0]["recordId"]);
    assert_eq!(again["data"]["duplicate"], 1);
}

/// Lets one statement fail, or the answer to a commit get lost.
#[derive(Default)]
struct Trouble {
    /// Statements that still work; none fails below 0.
    left: AtomicI64,
    unheard: AtomicBool,
}

impl Faults for Trouble {
    fn before(&self, _: CallSite) -> Pause<'_, Fate> {
        let unheard = self.unheard.swap(false, Ordering::SeqCst);
        Box::pin(std::future::ready(if unheard { Fate::Unheard } else { Fate::Untouched }))
    }

    fn statement<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        match self.left.fetch_sub(1, Ordering::SeqCst) {
            1 => "select 1 from a_table_that_is_not_there".into(),
            _ => sql.into(),
        }
    }
}

/// Whatever statement fails: nothing is there of the request, and when it is sent again everything is there once.
#[tokio::test]
async fn a_request_is_stored_whole_or_not_at_all() {
    let world = World::open().await;
    let trouble = Arc::new(Trouble::default());
    world.app().store.fail_as(trouble.clone());
    let made = world.webhook_stream().await;
    let campaigns = [world.new_campaign(json!({})).await, world.new_campaign(json!({})).await];
    for campaign in &campaigns {
        attach(&world, campaign, &made, &json!({})).await;
    }
    let state = async || {
        let records =
            world.get(&format!("{}/records?limit=200", path(&made))).await["data"].as_array().unwrap().len();
        let events = world.get("/v1/events?after=start&limit=100").await["data"].as_array().unwrap().len();
        let counts = (
            world.get(&format!("{}/contacts?limit=200", campaigns[0])).await,
            world.get(&format!("{}/contacts?limit=200", campaigns[1])).await,
        );
        let listed = [counts.0, counts.1].map(|list| {
            (
                list["data"].as_array().unwrap().len(),
                list["counts"]["all"].as_i64().unwrap(),
                list["counts"]["queued"].as_i64().unwrap(),
            )
        });
        (records, events, listed)
    };
    let (mut sent, mut failed) = (0, 0);
    for nth in 1..=60 {
        let body = json!([{"phone": format!("98123{:05}", 2 * nth)}, {"phone": "x", "n": nth}, {"phone": format!("98123{:05}", 2 * nth + 1)}]);
        let before = state().await;
        trouble.left.store(nth, Ordering::SeqCst);
        let answer = send(&world.app, &made, &body).await;
        trouble.left.store(0, Ordering::SeqCst);
        if answer.status == 202 {
            break;
        }
        failed += 1;
        assert_eq!(answer.status, 500, "{}", answer.text);
        assert_eq!(state().await, before, "the statement {nth} failed");
        trouble.unheard.store(nth % 3 == 0, Ordering::SeqCst);
        let again = send(&world.app, &made, &body).await;
        if again.status == 503 {
            send(&world.app, &made, &body).await.expect(202);
        }
        trouble.unheard.store(false, Ordering::SeqCst);
        sent += 1;
        let (records, events, listed) = state().await;
        // What is no number is the same record each time.
        let first = usize::from(nth == 1);
        assert_eq!((records, events), (before.0 + 2 + first, before.1 + first));
        let expected = 2 * sent;
        assert_eq!(listed, [(expected, expected as i64, expected as i64); 2]);
        if expected >= 100 {
            break;
        }
    }
    assert!(failed >= 10, "{failed} statements were let fail");
}

/// An attachment reads every earlier record of the stream, so a workspace has so many a minute.
#[tokio::test]
async fn attaching_has_a_rate() {
    let world = World::open().await;
    let (made, other) = (world.webhook_stream().await, world.webhook_stream().await);
    let campaign = world.new_campaign(json!({})).await;
    let limits = json!({"limits": {"campaignWritesPerMinute": 1}});
    world.change(&limits).await;
    world.advance(60).await;
    attach(&world, &campaign, &made, &json!({})).await;
    let path = format!("{campaign}/streams/{}", other["id"].as_str().unwrap());
    let refused = world.put(&path, &json!({})).await;
    let wait: i64 = refused.header("retry-after").expect("how long to wait").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    refused.refused(429, "rate_limited");
    let attached = world.get(&format!("{campaign}/streams")).await;
    assert_eq!(attached["data"].as_array().unwrap().len(), 1, "{attached}");
    world.advance(60).await;
    attach(&world, &campaign, &other, &json!({})).await;
}
