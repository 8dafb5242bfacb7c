//! Files that are made to do harm, through the process that reads them: each is a clear error or a bounded
//! document, and the service stays well (docs/contract/knowledge-files.md#limits).

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use domain::ports::{DocumentReader, Haste, Read, ReadLimit, ReadOrder, Unreadable};
use domain::tenant::Tenant;
use extraction::Worker;
use futures_util::FutureExt;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The real program, with less time than in operation, so that what never ends is over soon.
fn worker() -> Worker {
    Worker::new(Path::new(env!("CARGO_BIN_EXE_dastak")), &["extract", "--seconds", "1"])
}

/// The same with the time of operation, for what is to reach another limit however slow the machine is.
async fn read_unhurried(name: &str, bytes: impl Into<Vec<u8>>) -> Result<Read, Unreadable> {
    Worker::new(Path::new(env!("CARGO_BIN_EXE_dastak")), &["extract"])
        .read(tenant(1), Haste::Usual, order(name, bytes))
        .await
}

fn tenant(number: u128) -> Tenant {
    Tenant::from_bits(number)
}

fn order(name: &str, bytes: impl Into<Vec<u8>>) -> ReadOrder {
    ReadOrder { bytes: bytes.into(), name: name.into(), content_type: None, charset: None }
}

async fn read(name: &str, bytes: impl Into<Vec<u8>>) -> Result<Read, Unreadable> {
    worker().read(tenant(1), Haste::Usual, order(name, bytes)).await
}

fn words(read: &Read) -> String {
    read.document.blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join(" | ")
}

/// A PDF of these objects, the first of which is the catalogue.
fn pdf(objects: &[String]) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend_from_slice(format!("{} 0 obj\n{object}\nendobj\n", number + 1).as_bytes());
    }
    let table = out.len();
    out.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for place in places {
        out.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
    }
    out.extend_from_slice(
        format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1)
            .as_bytes(),
    );
    out
}

fn stream(dictionary: &str, content: &str) -> String {
    format!("<< {dictionary} /Length {} >>\nstream\n{content}\nendstream", content.len())
}

/// A PDF whose pages have these contents, with Helvetica as F1.
pub fn pages(contents: &[String]) -> Vec<u8> {
    let count = contents.len();
    let kids: Vec<String> = (0..count).map(|page| format!("{} 0 R", 4 + page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Count {count} /Kids [{}] >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for page in 0..count {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            4 + count + page
        ));
    }
    objects.extend(contents.iter().map(|content| stream("", content)));
    pdf(&objects)
}

/// A line of text on a page.
fn line(size: u32, x: u32, y: u32, text: &str) -> String {
    format!("BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET\n")
}

fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).expect("a part");
        writer.write_all(bytes).expect("its bytes");
    }
    writer.finish().expect("an archive").into_inner()
}

#[tokio::test]
async fn a_pdf_is_read_with_its_headings_tables_and_pages() {
    let mut first = line(24, 72, 770, "Delivery");
    first += &line(11, 72, 740, "Parcels arrive within two days. Remote are-");
    first += &line(11, 72, 726, "as take longer.");
    first += &line(11, 72, 700, "City");
    first += &line(11, 200, 700, "Days");
    first += &line(11, 320, 700, "Fee");
    for (row, (city, days, fee)) in [("Pune", "2", "40"), ("Leh", "14", "90")].into_iter().enumerate() {
        let y = 684 - 16 * row as u32;
        first += &line(11, 72, y, city);
        first += &line(11, 200, y, days);
        first += &line(11, 320, y, fee);
    }
    let second = line(24, 72, 770, "Returns") + &line(11, 72, 740, "Send it back within thirty days.");
    let third = line(11, 72, 740, "Keep the bill.");
    let contents: Vec<String> = [first, second, third]
        .into_iter()
        .enumerate()
        .map(|(page, content)| content + &line(9, 72, 30, &format!("Acme handbook, page {}", page + 1)))
        .collect();
    let read = read("handbook.pdf", pages(&contents)).await.expect("a document");
    let blocks: Vec<String> = read
        .document
        .blocks
        .iter()
        .map(|block| format!("{:?} {} {}", block.kind, block.page.unwrap_or(0), block.text))
        .collect();
    assert_eq!(
        blocks,
        [
            "Heading(1) 1 Delivery",
            "Paragraph 1 Parcels arrive within two days. Remote areas take longer.",
            "TableRow 1 City: Pune; Days: 2; Fee: 40",
            "TableRow 1 City: Leh; Days: 14; Fee: 90",
            "Heading(1) 2 Returns",
            "Paragraph 2 Send it back within thirty days.",
            "Paragraph 3 Keep the bill.",
        ]
    );
}

#[tokio::test]
async fn very_many_pages_are_refused() {
    let contents = vec![line(11, 72, 740, "words"); 10_000];
    assert_eq!(read("a.pdf", pages(&contents)).await, Err(Unreadable::Beyond(ReadLimit::Pages, 2_000)));
}

#[tokio::test]
async fn archives_that_unpack_to_very_much_are_refused() {
    let bomb = archive(&[("word/document.xml", &vec![b' '; 65 * 1024 * 1024])]);
    assert!(bomb.len() < 1024 * 1024);
    let beyond = Err(Unreadable::Beyond(ReadLimit::Unpacked, 64 * 1024 * 1024));
    assert_eq!(read_unhurried("a.docx", bomb.clone()).await, beyond);
    let nested = archive(&[("a.zip", &archive(&[("b.zip", &bomb)]))]);
    assert!(matches!(read("a.docx", nested).await, Err(Unreadable::Unsupported(_))));
    let entities = archive(&[(
        "word/document.xml",
        b"<!DOCTYPE a [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]><w:document><w:t>&b;</w:t></w:document>",
    )]);
    assert!(matches!(read("a.docx", entities).await, Err(Unreadable::Damaged(_))));
}

#[tokio::test]
async fn a_stream_that_unpacks_to_very_much_stops_at_a_limit() {
    // Two bytes for 128: a gigabyte of blanks.
    let packed = [129, b' '].repeat(8 * 1024 * 1024);
    let mut bomb = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
        2 0 obj\n<< /Type /Pages /Count 1 /Kids [3 0 R] >>\nendobj\n\
        3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>\nendobj\n"
        .to_vec();
    bomb.extend_from_slice(
        format!("4 0 obj\n<< /Filter /RunLengthDecode /Length {} >>\nstream\n", packed.len()).as_bytes(),
    );
    bomb.extend_from_slice(&packed);
    bomb.extend_from_slice(b"\nendstream\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n");
    let found = read("a.pdf", bomb).await;
    assert!(
        matches!(found, Err(Unreadable::Beyond(ReadLimit::Memory | ReadLimit::Time, _)))
            || found.as_ref().is_ok_and(|read| read.document.blocks.is_empty()),
        "{found:?}"
    );
}

#[tokio::test]
async fn what_refers_to_itself_ends() {
    let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /A 5 0 R >> >> >>";
    let catalog = "<< /Type /Catalog /Pages 2 0 R >>".to_owned();
    let looped = pdf(&[
        catalog.clone(),
        "<< /Type /Pages /Count 1 /Kids [2 0 R 3 0 R] >>".into(),
        page.into(),
        stream("", "/A Do"),
        stream(
            "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /A 5 0 R >> >>",
            "/A Do /A Do",
        ),
    ]);
    let lengths = pdf(&[
        catalog,
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".into(),
        page.into(),
        "<< /Length 4 0 R >>\nstream\n/A Do\nendstream".into(),
        "5 0 R".into(),
    ]);
    for bytes in [looped, lengths] {
        let found = read("a.pdf", bytes).await;
        assert!(!matches!(found, Err(Unreadable::Busy | Unreadable::Failed(_))), "{found:?}");
    }
}

#[tokio::test]
async fn forms_within_forms_stop_when_their_time_is_up() {
    // Each draws the next one ten times: ten to the twelfth in all.
    let found = read("a.pdf", endless()).await;
    assert!(matches!(found, Err(Unreadable::Beyond(ReadLimit::Time | ReadLimit::Memory, _))), "{found:?}");
}

#[tokio::test]
async fn deep_nesting_is_read_or_refused() {
    let deep = 200_000;
    let content = format!("{} 1 Tf", "[".repeat(deep));
    let dictionaries =
        pdf(&["<< /Type /Catalog /Pages 2 0 R >>".into(), format!("{}1", "<< /A ".repeat(deep))]);
    let files: [(&str, Vec<u8>); 8] = [
        ("arrays.pdf", pages(&[content])),
        ("dictionaries.pdf", dictionaries),
        ("divs.html", "<div>".repeat(deep).into_bytes()),
        ("letters.html", "<b><i><u>".repeat(deep / 10).into_bytes()),
        ("tables.html", "<table><tr><td>".repeat(deep / 20).into_bytes()),
        ("quotes.md", "> ".repeat(deep).into_bytes()),
        ("brackets.md", "[".repeat(deep).into_bytes()),
        ("lists.md", (0..500).map(|level| format!("{}- a\n", "  ".repeat(level))).collect::<String>().into()),
    ];
    for (name, bytes) in files {
        let found = read(name, bytes).await;
        assert!(!matches!(found, Err(Unreadable::Busy | Unreadable::Failed(_))), "{name}: {found:?}");
    }
}

#[tokio::test]
async fn very_many_elements_stop_at_a_limit() {
    for (name, piece) in [("p.html", "<p>a"), ("tr.html", "<table><tr><td>1<td>2")] {
        let found = read(name, piece.repeat(18 * 1024 * 1024 / piece.len())).await;
        assert!(
            matches!(
                found,
                Err(Unreadable::Beyond(
                    ReadLimit::Memory
                        | ReadLimit::Time
                        | ReadLimit::Blocks
                        | ReadLimit::Characters
                        | ReadLimit::Nesting,
                    _
                ))
            ),
            "{name}: {:?}",
            found.map(|read| read.document.blocks.len())
        );
    }
}

#[tokio::test]
async fn half_files_and_changed_bytes_never_harm_who_asks() {
    let whole_pdf = pages(&[line(24, 72, 770, "Delivery") + &line(11, 72, 740, "Two days.")]);
    let body = "<w:document><w:body><w:p><w:r><w:t>Two days.</w:t></w:r></w:p></w:body></w:document>";
    let whole_docx = archive(&[("word/document.xml", body.as_bytes())]);
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for (name, whole) in [("a.pdf", whole_pdf), ("a.docx", whole_docx)] {
        assert!(words(&read(name, whole.clone()).await.expect("a document")).contains("Two days."));
        for round in 0..12 {
            let mut bytes = whole.clone();
            if round % 2 == 0 {
                bytes.truncate(random(whole.len()));
            } else {
                for _ in 0..=random(8) {
                    let place = random(bytes.len());
                    bytes[place] = random(256) as u8;
                }
            }
            let found = read(name, bytes).await;
            assert!(
                !matches!(found, Err(Unreadable::Busy | Unreadable::Failed(_))),
                "{name} {round}: {found:?}"
            );
        }
    }
}

#[tokio::test]
async fn the_process_has_no_environment_of_the_service() {
    let script = r#"cat > /dev/null; echo "{\"damaged\":\"$(env | tr '\n' ' ')\"}""#;
    let worker = Worker::new(Path::new("/bin/sh"), &["-c", script]);
    let Err(Unreadable::Damaged(environment)) =
        worker.read(tenant(1), Haste::Usual, order("a.txt", "a")).await
    else {
        panic!("the script answers");
    };
    for known in std::env::vars()
        .map(|(name, _)| name)
        .filter(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(&&**name))
    {
        assert!(!environment.contains(&format!("{known}=")) || known == "PATH", "{known} in {environment}");
    }
}

#[tokio::test]
async fn a_process_that_answers_nonsense_or_dies_is_an_error() {
    for (script, expected) in [
        ("exit 0", None),
        ("echo nonsense", None),
        ("kill -9 $$", Some(ReadLimit::Time)),
        ("kill -XCPU $$", Some(ReadLimit::Time)),
        ("echo 'memory allocation of 9 bytes failed' >&2; kill -ABRT $$", Some(ReadLimit::Memory)),
        ("echo 'thread main has overflowed its stack' >&2; kill -ABRT $$", Some(ReadLimit::Nesting)),
    ] {
        let worker = Worker::new(Path::new("/bin/sh"), &["-c", &format!("cat > /dev/null; {script}")]);
        let found = worker.read(tenant(1), Haste::Usual, order("a.txt", "a")).await;
        match expected {
            Some(limit) => assert!(
                matches!(found, Err(Unreadable::Beyond(reached, _)) if reached == limit),
                "{script}: {found:?}"
            ),
            None => assert!(matches!(found, Err(Unreadable::Failed(_))), "{script}: {found:?}"),
        }
    }
    let nowhere = Worker::new(Path::new("/nowhere/dastak"), &["extract"]);
    assert!(matches!(
        nowhere.read(tenant(1), Haste::Usual, order("a.txt", "a")).await,
        Err(Unreadable::Failed(_))
    ));
}

#[tokio::test]
async fn a_queue_that_is_full_refuses_and_what_is_dropped_is_killed() {
    let folder = std::env::temp_dir().join(format!("dastak-tests-worker-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let script = format!("echo $$ > {}/$$.pid; exec sleep 1000", folder.display());
    let worker = Arc::new(Worker::new(Path::new("/bin/sh"), &["-c", &script]));
    let wait = |of: u128| worker.read(tenant(of), Haste::Usual, order("a.txt", "a"));
    // Eight of one workspace, then one each of others.
    let mut waiting: Vec<_> = (0..8).map(|_| wait(1)).chain((2..26).map(wait)).collect();
    for each in &mut waiting[..8] {
        assert!(each.as_mut().now_or_never().is_none());
    }
    assert_eq!(wait(1).now_or_never(), Some(Err(Unreadable::Busy)), "one workspace has its share");
    for each in &mut waiting[8..] {
        assert!(each.as_mut().now_or_never().is_none());
    }
    assert_eq!(wait(30).now_or_never(), Some(Err(Unreadable::Busy)), "the queue is full");
    let running = || -> Vec<String> {
        let names = std::fs::read_dir(&folder).expect("the folder").flatten();
        names
            .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".pid").map(str::to_owned))
            .collect()
    };
    while running().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(running().len(), 2, "two at once");
    drop(waiting);
    let lives = |pid: &String| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
    };
    while running().iter().any(lives) {
        tokio::task::yield_now().await;
    }
    let worker = Worker::new(Path::new(env!("CARGO_BIN_EXE_dastak")), &["extract"]);
    assert!(
        worker.read(tenant(1), Haste::Usual, order("a.txt", "words")).await.is_ok(),
        "another one works on"
    );
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

/// A PDF of a few kilobytes whose forms draw each other ten times, for as long as it may.
fn endless() -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".into(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /A 5 0 R >> >> >>"
            .into(),
        stream("", "/A Do"),
    ];
    for next in 6..18 {
        let dictionary = format!(
            "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /A {next} 0 R >> >>"
        );
        objects.push(stream(&dictionary, &"/A Do ".repeat(10)));
    }
    objects.push(stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9]", "0 0 m 1 1 l S"));
    pdf(&objects)
}

#[tokio::test]
async fn a_neighbour_reads_while_one_workspace_sends_what_never_ends() {
    // What is named so never ends, and all else says a word.
    let script = r#"read -r header; case "$header" in *endless*) exec sleep 1000;; esac; cat > /dev/null;
        echo '{"document":{"title":null,"built_by_script":false,"blocks":[["p","words",null]]}}'"#;
    let worker = Worker::new(Path::new("/bin/sh"), &["-c", script]);
    let mut greedy: Vec<_> =
        (0..4).map(|_| worker.read(tenant(1), Haste::Usual, order("endless.pdf", "a"))).collect();
    for each in &mut greedy {
        assert!(each.as_mut().now_or_never().is_none());
    }
    // Both readers are not theirs: neighbours are done before any of them is.
    let neighbours = async {
        for of in 2..6 {
            let read = worker.read(tenant(of), Haste::Usual, order("a.txt", "a")).await;
            assert_eq!(words(&read.expect("a document")), "words");
        }
    };
    let first =
        futures_util::future::select(Box::pin(neighbours), futures_util::future::select_all(greedy)).await;
    assert!(matches!(first, futures_util::future::Either::Left(_)), "the neighbours waited");
}

#[tokio::test]
async fn a_page_of_the_web_has_less_time() {
    let worker = Worker::new(Path::new(env!("CARGO_BIN_EXE_dastak")), &["extract"]);
    let found = worker.read(tenant(1), Haste::Short, order("a.pdf", endless())).await;
    assert!(matches!(found, Err(Unreadable::Beyond(ReadLimit::Time, 5 | 10))), "{found:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_is_confined_before_it_reads() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_dastak"))
        .arg("extract")
        .env_clear()
        .env("MIMALLOC_ARENA_RESERVE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program");
    let proc = format!("/proc/{}", child.id());
    let limit = |name: &str| -> Option<(String, String)> {
        let limits = std::fs::read_to_string(format!("{proc}/limits")).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        let mut both = line.split_whitespace().map(str::to_owned);
        Some((both.next()?, both.next()?))
    };
    let zero = || ("0".to_owned(), "0".to_owned());
    // It has been given no byte yet. Its number of processes is what it limits last.
    while limit("Max processes") != Some(zero()) {
        assert!(child.try_wait().expect("its state").is_none(), "it ended");
        std::thread::yield_now();
    }
    for name in ["Max open files", "Max core file size", "Max file size"] {
        assert_eq!(limit(name), Some(zero()), "{name}");
    }
    assert_eq!(limit("Max cpu time"), Some(("20".into(), "20".into())));
    let (memory, hard) = limit("Max address space").expect("a limit");
    assert_eq!(memory, hard);
    let memory: u64 = memory.parse().expect("bytes");
    let had = memory.checked_sub(extraction::inside::MAX_MEMORY).expect("beside what it had at its start");
    let pages = std::fs::read_to_string(format!("{proc}/statm")).expect("its size");
    let pages: u64 = pages.split(' ').next().and_then(|pages| pages.parse().ok()).expect("pages");
    assert!(had > 0 && had <= 2 * pages * 4096, "{had} of {pages} pages");
    child.kill().expect("it ends");
    child.wait().expect("it has ended");
}
