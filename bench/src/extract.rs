//! What the process that reads documents takes for files that are made to do harm, and for large honest ones: its
//! memory at most, its time, and how it ended. Its limits are in `extraction::inside`.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::server::beside;

const MB: usize = 1024 * 1024;

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
    let end = format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1);
    out.extend_from_slice(end.as_bytes());
    out
}

fn stream(dictionary: &str, content: &str) -> String {
    format!("<< {dictionary} /Length {} >>\nstream\n{content}\nendstream", content.len())
}

/// A PDF of so many pages with a line each.
fn pages(count: usize) -> Vec<u8> {
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
    let words = "Parcels arrive within two days of the order, except in Leh.";
    objects.extend(
        (0..count).map(|page| stream("", &format!("BT /F1 11 Tf 72 740 Td ({page} {words}) Tj ET\n"))),
    );
    pdf(&objects)
}

/// One stream that unpacks to a gigabyte.
fn long_stream() -> Vec<u8> {
    let packed = [129, b' '].repeat(8 * MB);
    let mut file = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
        2 0 obj\n<< /Type /Pages /Count 1 /Kids [3 0 R] >>\nendobj\n\
        3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>\nendobj\n"
        .to_vec();
    let head = format!("4 0 obj\n<< /Filter /RunLengthDecode /Length {} >>\nstream\n", packed.len());
    file.extend_from_slice(head.as_bytes());
    file.extend_from_slice(&packed);
    file.extend_from_slice(b"\nendstream\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n");
    file
}

/// Forms that draw each other ten times: ten to the twelfth in all.
fn forms() -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".into(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /A 5 0 R >> >> >>".into(),
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

fn docx(document: &[u8]) -> Result<Vec<u8>, String> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("word/document.xml", SimpleFileOptions::default()).map_err(|why| why.to_string())?;
    writer.write_all(document).map_err(|why| why.to_string())?;
    Ok(writer.finish().map_err(|why| why.to_string())?.into_inner())
}

fn paragraphs(bytes: usize) -> Vec<u8> {
    let one = "<w:p><w:r><w:t>Parcels arrive within two days.</w:t></w:r></w:p>";
    format!("<w:document><w:body>{}</w:body></w:document>", one.repeat(bytes / one.len())).into_bytes()
}

/// What became of a file: how the process ended, its most memory in MB, its time.
fn measure(name: &str, bytes: &[u8]) -> Result<(String, f64, Duration), String> {
    let begun = Instant::now();
    let mut child = Command::new(beside("dastak")?)
        .arg("extract")
        .env_clear()
        .env("MIMALLOC_ARENA_RESERVE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|why| why.to_string())?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let header = json!({"name": name, "content_type": null, "charset": null}).to_string() + "\n";
    let status = format!("/proc/{}/status", child.id());
    let (most, written) = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A process that ends early does not read everything.
            if let Some(mut input) = input {
                let _ = input.write_all(header.as_bytes()).and_then(|()| input.write_all(bytes));
            }
        });
        let written = scope.spawn(move || {
            let mut written = Vec::new();
            if let Some(mut output) = output {
                let _ = output.read_to_end(&mut written);
            }
            written
        });
        // The kernel keeps the most that a process ever had; the last look before its end is near enough.
        let mut most: f64 = 0.0;
        while !written.is_finished() {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
            let now = line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.0);
            most = most.max(now / 1024.0);
            std::thread::sleep(Duration::from_millis(1));
        }
        (most, written.join().unwrap_or_default())
    });
    let ended = child.wait_with_output().map_err(|why| why.to_string())?;
    let outcome = serde_json::from_slice::<serde_json::Value>(&written).ok();
    let said = match outcome.as_ref().and_then(|outcome| outcome.as_object()?.iter().next()) {
        Some((kind, value)) if kind == "document" => {
            format!("read: {} blocks", value["blocks"].as_array().map_or(0, Vec::len))
        }
        Some((kind, value)) => format!("{kind}: {value}"),
        None if String::from_utf8_lossy(&ended.stderr).contains("memory allocation of") => {
            "ended at its limit of memory".to_owned()
        }
        None => format!("ended: {}", ended.status),
    };
    Ok((said, most, begun.elapsed()))
}

/// Prints the table.
pub fn run() -> Result<(), String> {
    let deep = 200_000;
    let files = [
        ("2,000 pages", "a.pdf", pages(2_000)),
        ("10,000 pages", "a.pdf", pages(10_000)),
        ("a stream that unpacks to a gigabyte", "a.pdf", long_stream()),
        ("forms that draw each other", "a.pdf", forms()),
        ("63 MB of paragraphs in an archive", "a.docx", docx(&paragraphs(63 * MB))?),
        ("65 MB of blanks in an archive", "a.docx", docx(&vec![b' '; 65 * MB])?),
        ("200,000 elements in each other", "a.html", "<div>".repeat(deep).into_bytes()),
        ("18 MB of paragraphs", "a.html", "<p>a".repeat(18 * MB / 4).into_bytes()),
        ("18 MB of cells", "a.html", "<table><tr><td>1<td>2".repeat(18 * MB / 21).into_bytes()),
        ("200,000 quotes in each other", "a.md", "> ".repeat(deep).into_bytes()),
        ("18 MB of rows", "a.csv", "Pune,2,40\n".repeat(18 * MB / 10).into_bytes()),
        ("18 MB of words", "a.txt", "parcel ".repeat(18 * MB / 7).into_bytes()),
    ];
    println!("| file | bytes | outcome | memory at most | time |\n|---|---|---|---|---|");
    for (what, name, bytes) in &files {
        let (said, most, took) = measure(name, bytes)?;
        println!(
            "| {what} (`{name}`) | {} kB | {said} | {most:.0} MB | {:.2} s |",
            bytes.len() / 1024,
            took.as_secs_f64()
        );
    }
    Ok(())
}
