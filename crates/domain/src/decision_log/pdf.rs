//! The decision log as a PDF for people: A4 landscape, three lines for each record, the verification on the
//! first and the last page. It is produced as a stream: [`Pdf::take`] hands out the bytes so far, and only
//! the offset of each object is kept.

use std::fmt::Write;

use super::row::Row;

/// Page size in points: A4 landscape.
const WIDTH: u32 = 842;
const HEIGHT: u32 = 595;
const LEFT: u32 = 36;
const RIGHT: u32 = WIDTH - 36;
/// Where the first record of a page starts, and the lowest position of a record.
const TOP: u32 = 534;
const BOTTOM: u32 = 46;
/// Height of a record.
const RECORD: u32 = 27;

/// Objects with fixed numbers.
const CATALOG: usize = 1;
const PAGES: usize = 2;
const FONTS: [(usize, &str, &str); 3] =
    [(3, "F1", "Helvetica"), (4, "F2", "Helvetica-Bold"), (5, "F3", "Courier")];

/// Title, left edge and width of each column.
const COLUMNS: [(&str, u32, u32); 10] = [
    ("No.", 36, 34),
    ("Time (UTC)", 72, 96),
    ("Interaction", 168, 124),
    ("Decision", 294, 38),
    ("Blocked by", 334, 66),
    ("Outcome", 402, 66),
    ("Agent", 470, 120),
    ("Channel", 594, 30),
    ("Test", 628, 20),
    ("Recording / consent", 652, 154),
];

/// The texts of the first page and of every footer.
#[derive(Debug, Clone)]
pub struct Heading {
    /// First line.
    pub title: String,
    /// Lines below it, including the verification.
    pub lines: Vec<String>,
    /// Left part of each footer.
    pub footer: String,
}

/// A file being written.
#[derive(Debug)]
pub struct Pdf {
    out: Vec<u8>,
    /// Bytes taken so far.
    taken: u64,
    /// Where each object starts, by its number minus one.
    places: Vec<u64>,
    pages: Vec<usize>,
    page: String,
    y: u32,
    footer: String,
}

impl Pdf {
    /// Starts a file.
    pub fn new(heading: &Heading) -> Self {
        let mut pdf = Self {
            out: Vec::new(),
            taken: 0,
            places: vec![0; 5],
            pages: Vec::new(),
            page: String::new(),
            y: 0,
            footer: heading.footer.clone(),
        };
        // These bytes after the version mark the file as binary.
        pdf.out.extend_from_slice(b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n");
        pdf.object(CATALOG, &format!("<< /Type /Catalog /Pages {PAGES} 0 R >>"));
        for (number, _, name) in FONTS {
            pdf.object(
                number,
                &format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"),
            );
        }
        pdf.y = HEIGHT - 50;
        pdf.text("F2", 14, LEFT, pdf.y, &heading.title);
        for line in &heading.lines {
            pdf.y -= 13;
            pdf.text("F1", 9, LEFT, pdf.y, line);
        }
        pdf.y -= 24;
        pdf.columns();
        pdf
    }

    /// Adds a record.
    pub fn row(&mut self, row: &Row) {
        if self.y < BOTTOM + RECORD {
            self.end_page();
            self.y = TOP + 14;
            self.columns();
        }
        let y = self.y;
        let references: Vec<&str> = [&row.recording_ref, &row.consent_ref]
            .into_iter()
            .map(String::as_str)
            .filter(|text| !text.is_empty())
            .collect();
        let references = references.join(" / ");
        let test = if row.is_test == "true" { "yes" } else { "no" };
        let refused = row.decision == "blocked";
        let cells = [
            &row.seq,
            &row.timestamp,
            &row.interaction_id,
            &row.decision,
            &row.blocked_by,
            &row.outcome,
            &row.agent_id,
            &row.channel,
            test,
            &references,
        ];
        for (place, (text, (_, x, width))) in cells.into_iter().zip(COLUMNS).enumerate() {
            let marked = refused && (place == 3 || place == 4);
            if marked {
                self.page.push_str("0.7 0.1 0.1 rg ");
            }
            self.text(if marked { "F2" } else { "F1" }, 7, x, y, &clipped(text, width, 7));
            if marked {
                self.page.push_str("0 g ");
            }
        }
        self.page.push_str("0.35 g ");
        self.text("F1", 6, COLUMNS[1].1, y - 8, &clipped(&gates(&row.gate_results), RIGHT - COLUMNS[1].1, 6));
        self.text(
            "F3",
            5,
            COLUMNS[1].1,
            y - 15,
            &format!("hash {}   previous {}", row.integrity_hash, row.prev_hash),
        );
        let _ = writeln!(self.page, "0.85 G 0.4 w {LEFT} {} m {RIGHT} {} l S 0 g 0 G", y - 19, y - 19);
        self.y -= RECORD;
    }

    /// Ends the file with these lines.
    pub fn finish(&mut self, lines: &[String]) {
        if self.y < BOTTOM + 12 * (lines.len() as u32 + 1) + 6 {
            self.end_page();
            self.y = TOP;
        }
        self.y = self.y.saturating_sub(6);
        for line in lines {
            self.text("F1", 8, LEFT, self.y, line);
            self.y = self.y.saturating_sub(12);
        }
        self.end_page();
        let kids: Vec<String> = self.pages.iter().map(|page| format!("{page} 0 R")).collect();
        self.object(PAGES, &format!("<< /Type /Pages /Count {} /Kids [{}] >>", kids.len(), kids.join(" ")));
        let table = self.position();
        let mut end = format!("xref\n0 {}\n0000000000 65535 f \n", self.places.len() + 1);
        for place in &self.places {
            let _ = writeln!(end, "{place:010} 00000 n ");
        }
        let _ = writeln!(
            end,
            "trailer\n<< /Size {} /Root {CATALOG} 0 R >>\nstartxref\n{table}\n%%EOF",
            self.places.len() + 1
        );
        self.out.extend_from_slice(end.as_bytes());
    }

    /// The bytes written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        self.taken += self.out.len() as u64;
        std::mem::take(&mut self.out)
    }

    fn position(&self) -> u64 {
        self.taken + self.out.len() as u64
    }

    fn object(&mut self, number: usize, body: &str) {
        let place = self.position();
        if let Some(slot) = self.places.get_mut(number - 1) {
            *slot = place;
        }
        self.out.extend_from_slice(format!("{number} 0 obj\n{body}\nendobj\n").as_bytes());
    }

    fn next_object(&mut self, body: &str) -> usize {
        self.places.push(0);
        let number = self.places.len();
        self.object(number, body);
        number
    }

    fn columns(&mut self) {
        let y = self.y;
        let _ = writeln!(self.page, "0.93 g {LEFT} {} {} 13 re f 0 g", y - 4, RIGHT - LEFT);
        for (title, x, _) in COLUMNS {
            self.text("F2", 7, x + u32::from(x == LEFT) * 2, y, title);
        }
        self.y -= 17;
    }

    fn end_page(&mut self) {
        let number = self.pages.len() + 1;
        let footer = self.footer.clone();
        self.page.push_str("0.35 g ");
        self.text("F1", 7, LEFT, 26, &footer);
        self.text("F1", 7, RIGHT - 40, 26, &format!("Page {number}"));
        let content = std::mem::take(&mut self.page);
        let content =
            self.next_object(&format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len() + 1));
        let fonts: Vec<String> =
            FONTS.iter().map(|(number, name, _)| format!("/{name} {number} 0 R")).collect();
        let page = self.next_object(&format!(
            "<< /Type /Page /Parent {PAGES} 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {content} 0 R /Resources << /Font << {} >> >> >>",
            fonts.join(" ")
        ));
        self.pages.push(page);
    }

    fn text(&mut self, font: &str, size: u32, x: u32, y: u32, text: &str) {
        let _ = writeln!(self.page, "BT /{font} {size} Tf {x} {y} Td ({}) Tj ET", escaped(text));
    }
}

/// A text as the content of a PDF string; `?` replaces anything outside printable ASCII.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '(' | ')' | '\\' => out.extend(['\\', letter]),
            ' '..='~' => out.push(letter),
            _ => out.push('?'),
        }
    }
    out
}

/// Cuts a text that is wider than its column. Letters of Helvetica are on average half as wide as they are
/// high.
fn clipped(text: &str, width: u32, size: u32) -> String {
    let room = (width * 100 / (size * 53)) as usize;
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(2)).chain("..".chars()).collect()
}

/// The gates' verdicts in one line; any other text unchanged.
fn gates(json: &str) -> String {
    let Ok(parsed) = serde_json::from_str::<serde_json::Value>(json) else { return json.to_owned() };
    let (Some(pack), Some(gates)) = (parsed["pack"].as_str(), parsed["gates"].as_array()) else {
        return json.to_owned();
    };
    let verdicts: Vec<String> = gates
        .iter()
        .map(|gate| {
            format!("{}: {}", gate["gate"].as_str().unwrap_or("?"), gate["verdict"].as_str().unwrap_or("?"))
        })
        .collect();
    format!("pack {pack}   {}", verdicts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::tests::chain;
    use super::*;

    fn made(rows: &[Row]) -> Vec<u8> {
        let heading = Heading {
            title: "Log (1\\2)".into(),
            lines: vec!["verified: yes".into()],
            footer: "ws_1".into(),
        };
        let mut pdf = Pdf::new(&heading);
        let mut bytes = Vec::new();
        for row in rows {
            pdf.row(row);
            bytes.extend(pdf.take());
        }
        pdf.finish(&["end".into()]);
        bytes.extend(pdf.take());
        bytes
    }

    #[test]
    fn every_object_is_where_the_table_says() {
        for rows in [0, 1, 17, 18, 19, 200] {
            let bytes = made(&chain(rows));
            let text = String::from_utf8_lossy(&bytes).replace('\u{FFFD}', "");
            let table: usize =
                text.rsplit("startxref\n").next().unwrap().split('\n').next().unwrap().parse().unwrap();
            assert!(bytes[table..].starts_with(b"xref\n"));
            let lines: Vec<&str> = std::str::from_utf8(&bytes[table..]).unwrap().lines().collect();
            let count: usize = lines[1].split(' ').nth(1).unwrap().parse().unwrap();
            for number in 1..count {
                let place: usize = lines[2 + number].split(' ').next().unwrap().parse().unwrap();
                assert!(
                    bytes[place..].starts_with(format!("{number} 0 obj\n").as_bytes()),
                    "object {number} of {rows} rows"
                );
            }
            assert_eq!(text.matches("hash ").count(), rows as usize);
            assert_eq!(text.matches("/Type /Page ").count(), text.matches("(Page ").count());
        }
    }

    #[test]
    fn texts_cannot_break_out() {
        assert_eq!(escaped("a(b)\\é\n"), "a\\(b\\)\\\\??");
        assert_eq!(clipped("abcdefghij", 20, 7), "abc..");
        assert_eq!(
            gates(r#"{"pack":"p@1","gates":[{"gate":"dnd","verdict":"pass"}]}"#),
            "pack p@1   dnd: pass"
        );
        assert_eq!(gates("no json"), "no json");
    }
}
