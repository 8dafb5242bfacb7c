//! Recordings: both sides, in step, whatever happens to the node.

use domain::call::Fact;
use domain::ports::Tick;
use voice::{Recorder, Recording, Recordings};

use super::sounds::english;
use super::{Room, order, question};

fn folder(name: &str) -> std::path::PathBuf {
    let folder =
        std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn open(path: &std::path::Path) -> (Recorder, Recording) {
    Recordings::start().expect("a writer").open(path).expect("a file")
}

fn read(path: &str) -> (Vec<i16>, Vec<i16>) {
    let mut reader = hound::WavReader::open(path).expect("a WAV file");
    assert_eq!((reader.spec().channels, reader.spec().sample_rate), (2, 8000));
    let samples: Vec<i16> = reader.samples::<i16>().map(|sample| sample.expect("a sample")).collect();
    (samples.iter().step_by(2).copied().collect(), samples.iter().skip(1).step_by(2).copied().collect())
}

#[tokio::test(start_paused = true)]
async fn both_sides_are_in_the_file_where_they_were_said() {
    let folder = folder("both-sides");
    let path = folder.join("call.wav");
    let room = Room::default();
    room.hears(&["the gold plan."]);
    let mut phone = room.record(order(question()), Some(open(&path)));
    phone.until_agent_is_silent(400).await;
    phone.say(&english("the gold plan")).await;
    phone.quiet(1600).await;
    let (agent, customer) = (phone.agent.clone(), phone.customer.clone());
    tokio::time::resume();
    let held = phone.hang_up().await;
    let file = held.report.recording.expect("a recording");
    let (left, right) = read(&file.path);
    assert!(
        left.len() == right.len() && (agent.len() - 160..=agent.len()).contains(&left.len()),
        "{} of {}",
        left.len(),
        agent.len()
    );
    assert!(left == customer[..left.len()], "the customer is left");
    assert!(right == agent[..right.len()], "the agent is right");
    assert_eq!(file.duration_ms, left.len() as i64 / 8);
    assert!(right.iter().any(|sample| *sample != 0));
    std::fs::remove_dir_all(folder).expect("a folder");
}

/// Waits for the writer, which is a thread of its own.
fn eventually(what: &str, mut met: impl FnMut() -> bool) {
    for _ in 0..2_000_000 {
        if met() {
            return;
        }
        std::thread::yield_now();
    }
    panic!("never: {what}");
}

#[test]
fn a_file_that_is_cut_off_by_a_crash_is_whole_to_its_last_second() {
    let folder = folder("cut-off");
    let path = folder.join("call.wav");
    let (mut ear, hearing) = voice::hearing(&Default::default(), Some(open(&path)));
    for tick in 0..180i16 {
        ear.tick(Tick { heard: Some(&[tick; 160]), said: None, late_ms: 0 });
    }
    eventually("three seconds are in the file", || {
        hound::WavReader::open(&path).is_ok_and(|reader| reader.duration() == 3 * 8000)
    });
    let copy = folder.join("copy.wav");
    std::fs::copy(&path, &copy).expect("a copy, as a crash leaves it");
    let (left, _) = read(copy.to_str().expect("a path"));
    assert_eq!((left.len(), left[0], left[23_999]), (24_000, 0, 149));
    drop((ear, hearing));
    std::fs::remove_dir_all(folder).expect("a folder");
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_ends_the_recording_and_not_the_call() {
    let room = Room::default();
    room.hears(&["the gold plan."]);
    let recorder = Recordings::start().expect("a writer").open(std::path::Path::new("/dev/full"));
    // The device takes the header into a buffer, and fails with the first second.
    let Ok(recorder) = recorder else { panic!("/dev/full can be opened") };
    let mut phone = room.record(order(question()), Some(recorder));
    phone.until_agent_is_silent(400).await;
    phone.say(&english("the gold plan")).await;
    phone.until_agent_speaks(2000).await;
    tokio::time::resume();
    let held = phone.hang_up().await;
    assert_eq!(
        held.end,
        Fact::Ended(domain::call::EndCause::CallerHangup),
        "it was the customer who ended it"
    );
    assert_eq!(held.report.recording, None);
}
