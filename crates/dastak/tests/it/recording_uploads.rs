//! Recordings that go to a bucket while their calls last (docs/recordings.md#in-parts): what lies there when,
//! what the bucket may do wrong, and what nobody may keep.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use dastak::app::recording_uploads::{self, PART, PIECE, Uploading};
use domain::call::{EndCause, Fact, RecordedFile, Report};
use domain::ports::ObjectStore;
use serde_json::Value;

use crate::after_call::{Held, Line, talk};
use crate::app::TestApp;
use crate::bucket::{ACCESS_KEY, Bucket, Fault, REGION, SECRET};

/// Bytes of a piece.
pub const STEP: usize = PIECE as usize;
/// Bytes before the sound.
const HEAD: usize = 44;

/// The bucket as the service reaches it.
pub fn reach(bucket: &Bucket) -> Arc<dyn ObjectStore> {
    reach_within(bucket, Duration::from_secs(60))
}

/// How long the service waits for a bucket that says nothing.
fn patience(fault: Option<Fault>) -> Duration {
    Duration::from_secs(if matches!(fault, Some(Fault::Silent)) { 3 } else { 60 })
}

fn reach_within(bucket: &Bucket, wait: Duration) -> Arc<dyn ObjectStore> {
    let net = providers::http::Net::new(Vec::new()).unwrap();
    let store =
        providers::storage::S3::new(&net, &bucket.url, REGION, "bucket", ACCESS_KEY, SECRET, wait).unwrap();
    Arc::new(store)
}

/// A workspace whose recordings go to a bucket.
pub async fn over(bucket: &Bucket) -> Held {
    over_within(bucket, patience(None)).await
}

async fn over_within(bucket: &Bucket, wait: Duration) -> Held {
    let objects = reach_within(bucket, wait);
    let app = TestApp::start_ports(Arc::new(Line), |_| (), |ports| ports.objects = objects).await;
    Held::open_in(app, Arc::default()).await
}

/// The beginning of a WAV file with so much sound in it.
fn head(sound: usize) -> Vec<u8> {
    let mut head = b"RIFF".to_vec();
    head.extend((sound as u32 + 36).to_le_bytes());
    head.extend(b"WAVEfmt ");
    head.extend(16_u32.to_le_bytes());
    head.extend([1, 0, 2, 0]);
    head.extend(8_000_u32.to_le_bytes());
    head.extend(32_000_u32.to_le_bytes());
    head.extend([4, 0, 16, 0]);
    head.extend(b"data");
    head.extend((sound as u32).to_le_bytes());
    head
}

/// A WAV file of so many bytes in all; no two stretches of it are alike.
pub fn wav(bytes: usize) -> Vec<u8> {
    let mut whole = head(bytes - HEAD);
    whole.extend((HEAD..bytes).map(|at| (at / 1_000 + at % 251) as u8));
    whole
}

/// A call that is being recorded.
pub struct Recorded {
    pub call: String,
    pub file: PathBuf,
    pub uploading: Option<Uploading>,
}

impl Recorded {
    /// Begins one; nothing is recorded yet.
    pub async fn begin(held: &Held) -> Self {
        // One that nobody has called yet: a number is called a few times a day only.
        static NUMBER: AtomicU32 = AtomicU32::new(2_000);
        let digits = NUMBER.fetch_add(1, Ordering::Relaxed).to_string();
        let call = held.world.placed(held.live(), &digits).await;
        held.answer(&call).await;
        let app = held.app();
        let spool = dastak::app::recordings::spool(&app.config);
        std::fs::create_dir_all(&spool).unwrap();
        let file = spool.join(format!("{call}.wav"));
        std::fs::write(&file, head(0)).unwrap();
        let tenant = held.tenant();
        let uploading = recording_uploads::begin(app, tenant, call.parse().unwrap(), file.clone());
        assert!(uploading.is_some(), "a bucket takes parts");
        Self { call, file, uploading }
    }

    /// The file grows to so many bytes, and its writer has flushed its beginning.
    pub fn grow(&self, bytes: usize) {
        let whole = wav(bytes);
        let there = std::fs::metadata(&self.file).unwrap().len() as usize;
        let mut file = std::fs::OpenOptions::new().write(true).open(&self.file).unwrap();
        file.write_all(&whole[..HEAD]).unwrap();
        drop(file);
        let mut file = std::fs::OpenOptions::new().append(true).open(&self.file).unwrap();
        file.write_all(&whole[there..]).unwrap();
    }

    pub fn report(&self) -> Report {
        let bytes = std::fs::metadata(&self.file).unwrap().len();
        let duration_ms = (bytes as i64 - HEAD as i64) / 32;
        let file = RecordedFile { path: self.file.display().to_string(), duration_ms };
        Report { recording: Some(file), ..talk() }
    }

    /// The conversation is over.
    pub async fn end(&mut self, held: &Held) {
        let report = self.report();
        self.uploading = None;
        held.end(&self.call, Fact::Ended(EndCause::AgentEnded), report).await;
    }
}

/// Lets the time go on a little, until something holds.
pub async fn until(held: &Held, what: &str, holds: impl AsyncFn() -> bool) {
    for _ in 0..200 {
        if holds().await {
            return;
        }
        held.advance(6).await;
    }
    panic!("{what}: it never came to that");
}

/// Rows of uploads.
pub async fn rows(app: &TestApp) -> i64 {
    let read = |tx: &mut store::Tx<'_>| tx.one::<i64>("select count(*) from recording_uploads", &[]);
    app.stored(read).await.unwrap()
}

pub fn pieces(bucket: &Bucket) -> usize {
    bucket.keys().iter().filter(|key| key.starts_with("recording-pieces/")).count()
}

/// The recordings in the bucket.
pub fn recordings(bucket: &Bucket) -> Vec<Vec<u8>> {
    let ours = bucket.keys().into_iter().filter(|key| key.starts_with("recordings/"));
    ours.map(|key| bucket.object(&key).unwrap())
        .map(|object| {
            assert_eq!(object.kind, "audio/wav");
            object.body
        })
        .collect()
}

/// The recording of a call as a client hears it.
pub async fn heard(app: &TestApp, detail: &Value) -> Option<usize> {
    let link = detail["recordingUrl"].as_str()?.strip_prefix(&app.url)?.to_owned();
    let sound = app.send("HEAD", &link, None, &[], Bytes::new()).await;
    assert_eq!(sound.status, 200);
    sound.header("content-length").and_then(|length| length.parse().ok())
}

/// Waits for the recording; it must be these bytes, and nothing else is left.
pub async fn is_whole(held: &Held, bucket: &Bucket, recorded: &Recorded, expected: &[u8], case: &str) {
    until(held, case, async || rows(&held.app).await == 0 && held.count("recording.ready").await == 1).await;
    let found = recordings(bucket);
    assert_eq!(found.len(), 1, "{case}");
    assert!(found[0] == expected, "{case}: {} of {} bytes", found[0].len(), expected.len());
    assert_eq!((pieces(bucket), bucket.uploads()), (0, vec![]), "{case}: nothing is left beside it");
    assert!(!recorded.file.exists(), "{case}: the file is not needed any more");
    let detail = held.detail(&recorded.call).await;
    assert_eq!(heard(&held.app, &detail).await, Some(expected.len()), "{case}");
}

async fn nothing_is_left(held: &Held, bucket: &Bucket, recorded: &Recorded) {
    until(held, "everything goes", async || rows(&held.app).await == 0 && bucket.keys().is_empty()).await;
    assert_eq!((bucket.keys(), bucket.uploads()), (vec![], vec![]));
    assert_eq!(held.detail(&recorded.call).await["recordingUrl"], Value::Null);
    assert_eq!(held.count("recording.ready").await, 0);
}

#[tokio::test]
async fn a_long_call_arrives_while_it_lasts() {
    let bucket = Bucket::start().await;
    let held = over(&bucket).await;
    let mut recorded = Recorded::begin(&held).await;
    recorded.grow(STEP - 1);
    held.advance(20).await;
    assert_eq!((bucket.keys(), rows(&held.app).await), (vec![], 0), "a short call leaves no trace of it");
    recorded.grow(3 * STEP + 7);
    until(&held, "three pieces", async || pieces(&bucket) == 3).await;
    assert_eq!(bucket.uploads(), [], "there is no second part yet");
    recorded.grow(21 * STEP + 100);
    until(&held, "the second part", async || bucket.uploads().iter().any(|(_, parts)| parts.len() == 1))
        .await;
    assert_eq!(bucket.uploads()[0].1, [(2, PART as usize)]);
    until(&held, "all pieces", async || pieces(&bucket) == 21).await;
    held.advance(60).await;
    assert_eq!((bucket.count("put"), bucket.count("part")), (21, 1), "each was sent once");
    assert_eq!(recordings(&bucket).len(), 0, "nothing can be heard before the end");
    recorded.grow(21 * STEP + 5_000);
    recorded.end(&held).await;
    let whole = wav(21 * STEP + 5_000);
    is_whole(&held, &bucket, &recorded, &whole, "a long call").await;
    assert_eq!((bucket.count("put"), bucket.count("part"), bucket.count("complete")), (21, 3, 1));
}

#[tokio::test]
async fn a_call_of_few_pieces_is_sent_at_once_in_the_end() {
    let bucket = Bucket::start().await;
    let held = over(&bucket).await;
    for (bytes, before) in [(1_000, 0), (2 * STEP + 1, 2), (10 * STEP, 10), (19 * STEP + 9, 19)] {
        let mut recorded = Recorded::begin(&held).await;
        recorded.grow(bytes);
        let done = bucket.count("put");
        until(&held, "its pieces", async || bucket.count("put") == done + before).await;
        let ready = held.count("recording.ready").await;
        recorded.end(&held).await;
        until(&held, "the recording", async || {
            held.count("recording.ready").await == ready + 1 && rows(&held.app).await == 0
        })
        .await;
        assert!(recordings(&bucket).contains(&wav(bytes)), "{bytes}");
        assert_eq!((pieces(&bucket), bucket.count("begin"), recorded.file.exists()), (0, 0, false));
        assert_eq!(bucket.count("put"), done + before + 1);
    }
}

#[tokio::test]
async fn a_bucket_that_is_away_holds_nothing_up_and_gets_everything_later() {
    let bucket = Bucket::start().await;
    let held = over(&bucket).await;
    // From the beginning to long after the end.
    bucket.fail_always("", Fault::Refused(503, "SlowDown"));
    let mut recorded = Recorded::begin(&held).await;
    recorded.grow(31 * STEP + 17);
    held.advance(120).await;
    assert!((1..20).contains(&bucket.count("put")), "it is left alone for a while: {}", bucket.count("put"));
    recorded.end(&held).await;
    held.advance(3_600).await;
    assert!(recorded.file.exists(), "the file stays until the object is there");
    assert_eq!((bucket.keys(), held.count("recording.ready").await), (vec![], 0));
    bucket.mend();
    held.advance(3_600).await;
    is_whole(&held, &bucket, &recorded, &wav(31 * STEP + 17), "away all the time").await;

    // In the middle of the call only.
    let bucket = Bucket::start().await;
    let held = over(&bucket).await;
    let mut recorded = Recorded::begin(&held).await;
    recorded.grow(12 * STEP);
    until(&held, "its pieces", async || pieces(&bucket) == 12).await;
    bucket.fail_always("", Fault::Cut);
    recorded.grow(25 * STEP);
    held.advance(30).await;
    bucket.mend();
    until(&held, "what was missed", async || pieces(&bucket) == 25 && bucket.uploads().len() == 1).await;
    recorded.end(&held).await;
    is_whole(&held, &bucket, &recorded, &wav(25 * STEP), "away in between").await;
}

#[tokio::test]
async fn what_the_bucket_does_wrong_is_made_good() {
    let cases = [
        ("begin", Fault::Lost),
        ("begin", Fault::Refused(500, "InternalError")),
        ("put", Fault::Lost),
        ("part", Fault::Lost),
        ("part", Fault::Cut),
        ("part", Fault::Silent),
        ("part", Fault::WrongTag),
        ("complete", Fault::Lost),
        ("complete", Fault::LateFailure),
        ("complete", Fault::Refused(503, "SlowDown")),
        ("delete", Fault::Refused(500, "InternalError")),
        ("abort", Fault::Cut),
    ];
    for (operation, fault) in cases {
        let case = format!("{operation}: {fault:?}");
        let bucket = Bucket::start().await;
        let held = over_within(&bucket, patience(Some(fault))).await;
        let mut recorded = Recorded::begin(&held).await;
        bucket.fail(operation, 1, fault);
        recorded.grow(22 * STEP + 1);
        until(&held, &case, async || {
            pieces(&bucket) == 22 && bucket.uploads().iter().any(|(_, parts)| parts.len() == 1)
        })
        .await;
        recorded.end(&held).await;
        is_whole(&held, &bucket, &recorded, &wav(22 * STEP + 1), &case).await;
    }
}

#[tokio::test]
async fn an_upload_that_the_bucket_has_forgotten_is_made_again() {
    let bucket = Bucket::start().await;
    let held = over(&bucket).await;
    let mut recorded = Recorded::begin(&held).await;
    recorded.grow(31 * STEP);
    until(&held, "two parts", async || bucket.uploads().iter().any(|(_, parts)| parts.len() == 2)).await;
    bucket.forget_uploads();
    recorded.end(&held).await;
    is_whole(&held, &bucket, &recorded, &wav(31 * STEP), "forgotten").await;
}

async fn erase(held: &Held, call: &str) {
    let contact = held.detail(call).await["contactId"].as_str().unwrap().to_owned();
    let (path, key) = (format!("/v1/contacts/{contact}/erase"), held.workspace.live.clone());
    held.send("POST", &path, Some(&key), &[], Bytes::new()).await.expect(200);
}

#[tokio::test]
async fn an_erased_person_leaves_nothing_in_the_bucket() {
    // While everything lies there, and while something is on its way.
    for fault in [None, Some(Fault::Silent), Some(Fault::Lost)] {
        let bucket = Bucket::start().await;
        let held = over_within(&bucket, patience(fault)).await;
        let mut recorded = Recorded::begin(&held).await;
        recorded.grow(21 * STEP);
        until(&held, "it goes", async || pieces(&bucket) == 21 && bucket.uploads().len() == 1).await;
        if let Some(fault) = fault {
            bucket.fail("put", 1, fault);
            recorded.grow(23 * STEP);
            held.advance(5).await;
        }
        erase(&held, &recorded.call).await;
        until(&held, "everything goes", async || bucket.keys().is_empty()).await;
        // The conversation is not over yet, and goes on being written.
        recorded.grow(35 * STEP);
        held.advance(200).await;
        assert_eq!((bucket.keys(), bucket.uploads()), (vec![], vec![]), "{fault:?}");
        let report = recorded.report();
        recorded.uploading = None;
        held.end(&recorded.call, Fact::Ended(EndCause::ApiHangup), report).await;
        nothing_is_left(&held, &bucket, &recorded).await;
        assert!(!recorded.file.exists());
    }
}

#[tokio::test]
async fn a_person_who_is_erased_while_the_recording_is_completed_leaves_nothing() {
    let bucket = Bucket::start().await;
    let held = over(&bucket).await;
    let mut recorded = Recorded::begin(&held).await;
    recorded.grow(21 * STEP);
    until(&held, "the second part", async || bucket.uploads().len() == 1).await;
    // The object is there, and nobody knows.
    bucket.fail("complete", 1, Fault::Lost);
    recorded.end(&held).await;
    bucket.until("it is complete", |bucket| bucket.count("complete") == 1).await;
    erase(&held, &recorded.call).await;
    nothing_is_left(&held, &bucket, &recorded).await;
}

#[tokio::test]
async fn a_bucket_that_is_away_during_an_erasure_is_cleaned_later() {
    let bucket = Bucket::start().await;
    let held = over(&bucket).await;
    let mut recorded = Recorded::begin(&held).await;
    recorded.grow(21 * STEP);
    until(&held, "the second part", async || bucket.uploads().len() == 1).await;
    bucket.fail_always("", Fault::Refused(503, "SlowDown"));
    erase(&held, &recorded.call).await;
    recorded.end(&held).await;
    held.advance(600).await;
    assert_eq!((pieces(&bucket), rows(&held.app).await), (21, 1), "it is not forgotten");
    bucket.mend();
    held.advance(3_600).await;
    nothing_is_left(&held, &bucket, &recorded).await;
}

#[tokio::test]
async fn a_workspace_that_stops_recording_leaves_nothing_in_the_bucket() {
    let bucket = Bucket::start().await;
    let held = over(&bucket).await;
    let mut recorded = Recorded::begin(&held).await;
    recorded.grow(21 * STEP);
    until(&held, "the second part", async || bucket.uploads().len() == 1).await;
    held.feature("recording", false).await;
    recorded.end(&held).await;
    nothing_is_left(&held, &bucket, &recorded).await;
    assert!(!recorded.file.exists());
}

#[tokio::test]
async fn many_calls_take_turns() {
    let bucket = Bucket::start().await;
    let held = over(&bucket).await;
    let mut all = Vec::new();
    for _ in 0..9 {
        let recorded = Recorded::begin(&held).await;
        recorded.grow(2 * STEP);
        all.push(recorded);
    }
    until(&held, "everybody's pieces", async || pieces(&bucket) == 18).await;
    for recorded in &mut all {
        recorded.end(&held).await;
    }
    until(&held, "everybody's recording", async || {
        held.count("recording.ready").await == 9 && rows(&held.app).await == 0
    })
    .await;
    assert_eq!((recordings(&bucket).len(), pieces(&bucket)), (9, 0));
}
