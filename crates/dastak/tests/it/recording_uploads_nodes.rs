//! A node dies with a call on the line (docs/recordings.md#in-parts): another one makes the recording of what
//! the bucket has, unless the node is back in time.

use std::sync::Arc;

use domain::call::{EndCause, Fact};
use domain::time::Timestamp;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::after_call::{Held, Line};
use crate::bucket::{Bucket, Fault};
use crate::recording_uploads::{Recorded, STEP, is_whole, over, pieces, reach, recordings, rows, until, wav};
use crate::world::Stopped;

/// What is left of a service that died, and the bucket, which did not.
struct Wreck {
    bucket: Bucket,
    /// The bucket lives in it.
    outside: Runtime,
    remains: Option<Stopped>,
    /// When it died, or stopped last.
    moment: Timestamp,
    recorded: Recorded,
}

/// A node that has recorded so many bytes of a call, of which all whole pieces and parts are in the bucket.
/// `last` happens before it dies.
fn wreck(bytes: usize, last: impl AsyncFnOnce(&Held, &Bucket, &mut Recorded)) -> Wreck {
    let outside = Runtime::new().unwrap();
    let bucket = outside.block_on(Bucket::start());
    let runtime = Runtime::new().unwrap();
    let (held, recorded) = runtime.block_on(async {
        let held = over(&bucket).await;
        let mut recorded = Recorded::begin(&held).await;
        recorded.grow(bytes);
        let parts = (bytes / STEP / 10).saturating_sub(1);
        until(&held, "what is whole", async || {
            let sent: usize = bucket.uploads().iter().map(|(_, parts)| parts.len()).sum();
            pieces(&bucket) == bytes / STEP && sent == parts
        })
        .await;
        // The conversation has lasted about as long as its sound.
        held.advance(bytes as i64 / 32_000).await;
        last(&held, &bucket, &mut recorded).await;
        (held, recorded)
    });
    break_down(bucket, outside, runtime, held, recorded)
}

fn break_down(bucket: Bucket, outside: Runtime, runtime: Runtime, held: Held, recorded: Recorded) -> Wreck {
    let moment = held.app().clock.now();
    let remains = Some(held.world.crash(runtime));
    Wreck { bucket, outside, remains, moment, recorded }
}

impl Wreck {
    /// A node starts on the same store, a minute later.
    async fn start(&mut self, node: Option<&str>) -> Held {
        let objects = reach(&self.bucket);
        let remains = self.remains.take().expect("what is left");
        let world = remains.start_ports(Arc::new(Line), |ports| {
            ports.objects = objects;
            if let Some(node) = node {
                ports.node = node.into();
            }
        });
        let world = world.await;
        world.set_clock(&self.moment.plus(60_000).to_string()).await;
        Held { world, shelf: Arc::default() }
    }

    /// Another node, which cannot see the disk of the dead one. The file, for when that comes back.
    async fn start_another(&mut self) -> (Held, Vec<u8>) {
        let file = std::fs::read(&self.recorded.file).unwrap();
        std::fs::remove_file(&self.recorded.file).unwrap();
        (self.start(Some("node-other")).await, file)
    }

    /// The other node stops, and the dead one is back with its file.
    async fn start_first_again(&mut self, other: Held, file: Vec<u8>) -> Held {
        self.moment = other.app().clock.now();
        self.remains = Some(other.world.stop().await);
        std::fs::write(&self.recorded.file, file).unwrap();
        self.start(None).await
    }

    /// Runs a test of what comes after.
    fn after(mut self, test: impl AsyncFnOnce(&mut Self)) {
        let runtime = Runtime::new().unwrap();
        runtime.block_on(test(&mut self));
        runtime.shutdown_background();
        drop(self.outside);
    }
}

/// It dies, and nothing else happens before.
async fn at_once(_: &Held, _: &Bucket, _: &mut Recorded) {}

/// What another node makes of whole pieces: the same sound, with its true length at the beginning.
async fn made_by_another(held: &Held, wreck: &Wreck, bytes: usize, case: &str) {
    held.advance(900).await;
    is_whole(held, &wreck.bucket, &wreck.recorded, &wav(bytes), case).await;
    let tenant = held.workspace.id.parse().unwrap();
    let call = wreck.recorded.call.parse().unwrap();
    let read = move |tx: &mut store::Tx<'_>| store::recordings::of_call(&mut tx.of(tenant), call);
    let row = held.stored(read).await.expect("a recording");
    assert_eq!(row.duration_ms, (bytes as i64 - 44) / 32, "{case}: as long as what is there");
}

#[test]
fn another_node_makes_the_recording_of_what_the_bucket_has() {
    for (bytes, whole) in [(STEP + 9, STEP), (10 * STEP + 1, 10 * STEP), (27 * STEP + 500, 27 * STEP)] {
        wreck(bytes, at_once).after(async |wreck| {
            let (held, _) = wreck.start_another().await;
            held.lost(&wreck.recorded.call).await;
            held.advance(300).await;
            assert_eq!(recordings(&wreck.bucket).len(), 0, "it waits for the node a while");
            made_by_another(&held, wreck, whole, &format!("{bytes}")).await;
        });
    }
}

#[test]
fn another_node_makes_it_whatever_the_bucket_does() {
    for (operation, fault) in [
        ("part", Fault::Lost),
        ("complete", Fault::Lost),
        ("complete", Fault::LateFailure),
        ("complete", Fault::Refused(400, "InvalidPart")),
        ("get", Fault::Refused(503, "SlowDown")),
        ("head", Fault::Cut),
    ] {
        wreck(23 * STEP, at_once).after(async |wreck| {
            let (held, _) = wreck.start_another().await;
            held.lost(&wreck.recorded.call).await;
            wreck.bucket.fail(operation, 1, fault);
            made_by_another(&held, wreck, 23 * STEP, &format!("{operation}: {fault:?}")).await;
        });
    }
    // A rule of the bucket has ended the upload; its pieces are still there.
    wreck(23 * STEP, at_once).after(async |wreck| {
        wreck.bucket.forget_uploads();
        let (held, _) = wreck.start_another().await;
        held.lost(&wreck.recorded.call).await;
        made_by_another(&held, wreck, 23 * STEP, "forgotten").await;
    });
}

#[test]
fn a_node_that_is_back_in_time_sends_its_file() {
    wreck(23 * STEP + 4_000, at_once).after(async |wreck| {
        let held = wreck.start(None).await;
        held.lost(&wreck.recorded.call).await;
        held.advance(60).await;
        is_whole(&held, &wreck.bucket, &wreck.recorded, &wav(23 * STEP + 4_000), "back").await;
    });
}

#[test]
fn a_node_that_is_back_late_finds_the_recording_and_drops_its_file() {
    wreck(23 * STEP + 4_000, at_once).after(async |wreck| {
        let (held, file) = wreck.start_another().await;
        held.lost(&wreck.recorded.call).await;
        made_by_another(&held, wreck, 23 * STEP, "another").await;
        let held = wreck.start_first_again(held, file).await;
        held.advance(2 * 3_600).await;
        is_whole(&held, &wreck.bucket, &wreck.recorded, &wav(23 * STEP), "and it stays").await;
    });
}

#[test]
fn a_node_that_dies_at_the_end_of_a_call_is_replaced() {
    // The recording is written down, and its file was to be sent.
    let ended = async |held: &Held, bucket: &Bucket, recorded: &mut Recorded| {
        bucket.fail_always("", Fault::Refused(503, "SlowDown"));
        recorded.end(held).await;
        bucket.mend();
    };
    wreck(23 * STEP + 4_000, ended).after(async |wreck| {
        let (held, file) = wreck.start_another().await;
        made_by_another(&held, wreck, 23 * STEP, "ended").await;
        // The step of the dead node finds that there is nothing left to send.
        let held = wreck.start_first_again(held, file).await;
        held.advance(2 * 3_600).await;
        is_whole(&held, &wreck.bucket, &wreck.recorded, &wav(23 * STEP), "ended, back").await;
        let owed = |tx: &mut store::Tx<'_>| {
            tx.one::<i64>("select count(*) from after_calls where step = 'recording'", &[])
        };
        assert_eq!(held.stored(owed).await, Some(0));
    });
}

#[test]
fn an_object_that_was_completed_before_the_node_died_is_found() {
    let completed = async |held: &Held, bucket: &Bucket, recorded: &mut Recorded| {
        bucket.fail("complete", 1, Fault::Lost);
        let report = recorded.report();
        recorded.uploading = None;
        held.end(&recorded.call, Fact::Ended(EndCause::AgentEnded), report).await;
        bucket.until("it is complete", |bucket| bucket.count("complete") == 1).await;
    };
    wreck(23 * STEP, completed).after(async |wreck| {
        let held = wreck.start(None).await;
        is_whole(&held, &wreck.bucket, &wreck.recorded, &wav(23 * STEP), "the same node").await;
        assert_eq!(wreck.bucket.count("begin"), 1, "it is not sent again");
    });
    wreck(23 * STEP, completed).after(async |wreck| {
        let (held, _) = wreck.start_another().await;
        made_by_another(&held, wreck, 23 * STEP, "another node").await;
        assert_eq!(wreck.bucket.count("begin"), 1, "it is not made again");
    });
}

#[test]
fn an_upload_whose_beginning_was_not_heard_of_is_aborted() {
    // The first answer is lost, and before the next try the node dies.
    let outside = Runtime::new().unwrap();
    let bucket = outside.block_on(Bucket::start());
    let runtime = Runtime::new().unwrap();
    let (held, recorded) = runtime.block_on(async {
        let held = over(&bucket).await;
        bucket.fail_always("begin", Fault::Lost);
        let recorded = Recorded::begin(&held).await;
        recorded.grow(20 * STEP);
        until(&held, "it is begun", async || bucket.uploads().len() == 1).await;
        bucket.mend();
        (held, recorded)
    });
    break_down(bucket, outside, runtime, held, recorded).after(async |wreck| {
        let (held, _) = wreck.start_another().await;
        held.lost(&wreck.recorded.call).await;
        made_by_another(&held, wreck, 20 * STEP, "unheard").await;
    });
}

#[test]
fn much_that_only_the_dead_node_has_is_waited_for() {
    let away = async |held: &Held, bucket: &Bucket, recorded: &mut Recorded| {
        bucket.fail_always("", Fault::Refused(503, "SlowDown"));
        recorded.grow(40 * STEP);
        held.advance(600).await;
        bucket.mend();
    };
    wreck(21 * STEP, away).after(async |wreck| {
        let (held, file) = wreck.start_another().await;
        held.lost(&wreck.recorded.call).await;
        held.advance(2 * 24 * 3_600).await;
        assert_eq!((recordings(&wreck.bucket).len(), pieces(&wreck.bucket)), (0, 21), "it waits");
        let held = wreck.start_first_again(held, file).await;
        held.advance(60).await;
        is_whole(&held, &wreck.bucket, &wreck.recorded, &wav(40 * STEP), "all of it").await;
    });
    wreck(21 * STEP, away).after(async |wreck| {
        let (held, _) = wreck.start_another().await;
        held.lost(&wreck.recorded.call).await;
        held.advance(8 * 24 * 3_600).await;
        made_by_another(&held, wreck, 21 * STEP, "not for ever").await;
    });
}

#[test]
fn nothing_is_made_of_an_erased_person() {
    wreck(21 * STEP, at_once).after(async |wreck| {
        let (held, file) = wreck.start_another().await;
        held.lost(&wreck.recorded.call).await;
        let contact = held.detail(&wreck.recorded.call).await["contactId"].as_str().unwrap().to_owned();
        held.erase(&contact).await.expect(200);
        until(&held, "everything goes", async || rows(&held.app).await == 0).await;
        assert_eq!((wreck.bucket.keys(), wreck.bucket.uploads()), (vec![], vec![]));
        // The node is back with its file.
        let held = wreck.start_first_again(held, file).await;
        until(&held, "the file goes", async || {
            held.advance(600).await;
            !wreck.recorded.file.exists()
        })
        .await;
        assert_eq!((wreck.bucket.keys(), held.count("recording.ready").await), (vec![], 0));
        assert_eq!(held.detail(&wreck.recorded.call).await["recordingUrl"], Value::Null);
    });
}
