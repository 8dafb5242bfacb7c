//! The steps after a call when something fails in the middle of them: each is done in the end, its event
//! comes once, and each has a last try.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::call::Report;
use domain::call::after::{AfterCallStep, NODE_PATIENCE};
use domain::ports::ProviderFault;
use serde_json::{Value, json};

use crate::after_call::{Held, Line, Reader, Shelf, interested, talk};
use crate::app::TestApp;
use crate::shows::Shows;

#[tokio::test]
async fn a_model_that_is_away_is_asked_again() {
    let model = Reader::of([Err(ProviderFault::Unreachable), Err(ProviderFault::Limited), Ok(interested())]);
    let held = Held::open(Some(model.clone())).await;
    let call = held.held(|_, _| talk()).await;
    assert_eq!((model.asked(), &held.detail(&call).await["summary"]), (1, &Value::Null));
    held.advance(29).await;
    assert_eq!(model.asked(), 1);
    held.advance(1).await;
    assert_eq!((model.asked(), held.count("outcome.captured").await), (2, 0));
    held.advance(60).await;
    assert_eq!((model.asked(), &held.detail(&call).await["outcome"]), (3, &json!("callback_requested")));
    held.advance(3_600).await;
    assert_eq!((model.asked(), held.count("outcome.captured").await), (3, 1));
}

#[tokio::test]
async fn a_model_that_stays_away_is_given_up() {
    let model = Reader::of([]);
    let held = Held::open(Some(model.clone())).await;
    let call = held.held(|_, _| Report { outcome: Some("paid".into()), ..talk() }).await;
    assert_eq!(held.count("outcome.captured").await, 0);
    held.advance(4 * 3_600).await;
    assert_eq!((model.asked(), held.count("outcome.captured").await), (7, 1), "the flow's outcome stands");
    let detail = held.detail(&call).await;
    assert_eq!((&detail["outcome"], &detail["summary"]), (&json!("paid"), &Value::Null));
}

#[tokio::test]
async fn a_refused_request_is_not_repeated() {
    let model = Reader::of([Err(ProviderFault::Refused), Ok(interested())]);
    let held = Held::open(Some(model.clone())).await;
    let call = held.held(|_, _| talk()).await;
    held.advance(4 * 3_600).await;
    assert_eq!(model.asked(), 1);
    assert_eq!(held.count("outcome.captured").await, 0);
    held.detail(&call).await.shows(json!({"outcome": null}));
}

#[tokio::test]
async fn a_recording_waits_for_its_store() {
    let held = Held::open(None).await;
    held.shelf.faults.lock().unwrap().extend([ProviderFault::TimedOut, ProviderFault::Forbidden]);
    let call = held.held(Held::report).await;
    assert!(held.file(&call).exists(), "the file stays until it is kept elsewhere");
    held.detail(&call).await.shows(json!({"recordingUrl": null}));
    assert_eq!(held.count("recording.ready").await, 0);
    held.advance(90).await;
    assert!(!held.file(&call).exists() && held.detail(&call).await["recordingUrl"].is_string());
    assert_eq!(held.count("recording.ready").await, 1);
}

#[tokio::test]
async fn a_recording_whose_file_is_lost_is_given_up() {
    let held = Held::open(None).await;
    let call = held
        .held(|held, call| {
            let report = held.report(call);
            std::fs::remove_file(held.file(call)).unwrap();
            report
        })
        .await;
    held.detail(&call).await.shows(json!({"recordingUrl": null}));
    assert_eq!(held.count("recording.ready").await, 0);
    assert_eq!(owed(&held.app).await, 0);
}

/// Steps that are still owed.
async fn owed(app: &TestApp) -> i64 {
    app.stored(|tx| tx.one::<i64>("select count(*) from after_calls", &[])).await.unwrap()
}

#[tokio::test]
async fn a_file_waits_for_its_node_and_not_for_ever() {
    let held = Held::open(None).await;
    held.shelf.faults.lock().unwrap().push_back(ProviderFault::Unreachable);
    let call = held.held(Held::report).await;
    // The file lies on a node that has gone.
    let elsewhere = |tx: &mut store::Tx<'_>| {
        tx.exec("update after_calls set node = 'node-gone' where step = 'recording'", &[])
    };
    assert_eq!(held.store(elsewhere).await, 1);
    held.advance(3 * 24 * 3_600).await;
    assert_eq!(
        (owed(&held.app).await, held.shelf.puts.load(Ordering::SeqCst)),
        (1, 0),
        "nobody else touches it"
    );
    assert!(held.file(&call).exists());
    held.advance(NODE_PATIENCE / 1_000).await;
    // This node took it over; here the file is there, so it is kept.
    assert_eq!(held.shelf.puts.load(Ordering::SeqCst), 1);
}

/// Two nodes, or one whose lease ran out: only the holder of the last attempt may end a step.
#[tokio::test]
async fn a_step_belongs_to_who_took_it_last() {
    let model = Reader::of([Ok(interested())]);
    let held = Held::open(Some(model.clone())).await;
    *model.held.lock().unwrap() = true;
    let call = held.held(|_, _| talk()).await;
    assert_eq!(model.asked(), 1);
    let (now, tenant) = (held.app().clock.now(), held.tenant());
    let take = move |tx: &mut store::Tx<'_>| {
        let later = now.plus(600_000);
        let first = store::after_calls::take(tx, "other", &[AfterCallStep::Analysis], now, later, now, 9)?;
        let second = store::after_calls::take(
            tx,
            "other",
            &[AfterCallStep::Analysis],
            now.plus(300_000),
            later,
            now,
            9,
        )?;
        Ok::<_, store::DbError>((first.len(), second))
    };
    let (early, taken) = held.store(take).await;
    assert_eq!((early, taken.len(), taken[0].attempts), (0, 1, 2), "not before the lease is over");
    *model.held.lock().unwrap() = false;
    model.bell.notify_one();
    held.advance(0).await;
    // The first holder is too late.
    assert_eq!(held.count("outcome.captured").await, 0);
    held.detail(&call).await.shows(json!({"summary": null}));
    let finish = move |tx: &mut store::Tx<'_>| store::after_calls::finish(&mut tx.of(tenant), &taken[0]);
    assert!(held.store(finish).await);
}

/// The process dies after the object is stored and before anybody has noted it.
#[test]
fn a_crash_in_the_middle_keeps_one_recording_and_announces_it_once() {
    let model = Reader::of([Ok(interested()), Ok(interested())]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let before = runtime.block_on(async {
        let held = Held::open(Some(model.clone())).await;
        *held.shelf.held.lock().unwrap() = true;
        *model.held.lock().unwrap() = true;
        let call = held.held(Held::report).await;
        assert_eq!((held.shelf.puts.load(Ordering::SeqCst), model.asked()), (1, 1));
        assert_eq!((held.count("recording.ready").await, held.count("outcome.captured").await), (0, 0));
        (held, call)
    });
    let (Held { world, shelf }, call) = before;
    let noon = world.noon;
    let remains = world.crash(runtime);
    *shelf.held.lock().unwrap() = false;
    *model.held.lock().unwrap() = false;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let objects: Arc<Shelf> = shelf.clone();
        let world = remains.start_ports(Arc::new(Line), |ports| {
            ports.objects = objects;
            ports.language_model = Some(model.clone());
        });
        let world = world.await;
        // The lease of the dead is over.
        world.set_clock(&noon.plus(3_600_000).to_string()).await;
        let detail = world.call(world.live(), &call).await;
        detail.shows(json!({"outcome": "callback_requested", "fullTranscript.status": "done"}));
        assert!(detail["recordingUrl"].is_string());
        let kinds = world.kinds().await;
        for kind in ["transcript.ready", "call.completed", "recording.ready", "outcome.captured"] {
            assert_eq!(kinds.iter().filter(|known| *known == kind).count(), 1, "{kind} in {kinds:?}");
        }
        assert_eq!((owed(&world).await, shelf.keys().len()), (0, 1));
        assert!(!world.app().config.data.join(format!("{call}.wav")).exists());
    });
    runtime.shutdown_background();
}

/// A call of two seconds' sound whose node crashed: the file lies in the spool, and no report came.
async fn crashed(held: &Held, answered: bool) -> (String, std::path::PathBuf) {
    let call = held.placed().await;
    if answered {
        held.answer(&call).await;
    }
    let spool = dastak::app::recordings::spool(&held.app().config);
    std::fs::create_dir_all(&spool).unwrap();
    let file = spool.join(format!("{call}.wav"));
    std::fs::write(&file, vec![b'x'; 44 + 64_000]).unwrap();
    (call, file)
}

#[tokio::test]
async fn what_a_crashed_call_recorded_is_kept_once_the_call_is_over() {
    let held = Held::open(None).await;
    let (call, file) = crashed(&held, true).await;
    let (unanswered, its_file) = crashed(&held, false).await;
    let nobodys = file.with_file_name("call_00000000000000000000000000.wav");
    std::fs::write(&nobodys, "x").unwrap();
    std::fs::write(file.with_file_name("notes.txt"), "not ours").unwrap();
    held.advance(25 * 3_600).await;
    assert!(file.exists() && !nobodys.exists(), "the call is live: somebody may be recording it");
    held.lost(&call).await;
    held.lost(&unanswered).await;
    held.advance(2 * 3_600).await;
    assert!(!file.exists() && !its_file.exists());
    let link = held.detail(&call).await["recordingUrl"]
        .as_str()
        .expect("a link")
        .strip_prefix(&held.url)
        .unwrap()
        .to_owned();
    let sound = held.send("GET", &link, None, &[], Default::default()).await;
    assert_eq!((sound.status, sound.text.len(), held.count("recording.ready").await), (200, 64_044, 1));
    assert_eq!(held.detail(&unanswered).await["recordingUrl"], Value::Null);
    assert!(its_file.with_file_name("notes.txt").exists(), "other files are left alone");
    held.advance(48 * 3_600).await;
    assert_eq!((held.shelf.puts.load(Ordering::SeqCst), held.count("recording.ready").await), (1, 1));
}
