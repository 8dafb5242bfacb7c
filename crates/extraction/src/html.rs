//! HTML: the words of a page without what surrounds them on every page of the site.

use std::collections::HashMap;

use dom_query::{Document, NodeId, NodeRef};
use dom_smoothie::{Config, Readability};
use domain::knowledge::BlockKind;
use domain::ports::Unreadable;
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::draft::Draft;
use crate::table::{self, First};
use crate::text;

/// What never holds words for a reader.
const UNREAD: [&str; 22] = [
    "script", "style", "noscript", "template", "svg", "math", "head", "iframe", "object", "embed", "canvas",
    "audio", "video", "button", "select", "datalist", "input", "textarea", "option", "map", "dialog", "menu",
];
/// What surrounds the words of a page.
const SURROUNDINGS: [&str; 3] = ["nav", "footer", "aside"];
/// What begins and ends a paragraph.
const BREAKS: [&str; 32] = [
    "p",
    "div",
    "section",
    "article",
    "main",
    "li",
    "ul",
    "ol",
    "dl",
    "dt",
    "dd",
    "table",
    "tr",
    "td",
    "th",
    "caption",
    "thead",
    "tbody",
    "tfoot",
    "blockquote",
    "pre",
    "figure",
    "figcaption",
    "header",
    "footer",
    "address",
    "form",
    "fieldset",
    "details",
    "hr",
    "body",
    "html",
];
/// Pages with more elements, or nested deeper, are read without a search for their main part.
const MAX_ELEMENTS: usize = 50_000;
const MAX_DEPTH: usize = 256;
/// The main part must have this much, in percent, of what a page says beside its surroundings.
const MAIN_SHARE: usize = 60;
/// Most rows and columns that a cell spans.
const MAX_SPAN: usize = 64;

/// The characters of a page: by its byte order mark, by what the server said, by what the page says of
/// itself, else UTF-8.
///
/// # Errors
/// Its characters are not those of its encoding.
pub fn decode(bytes: &[u8], charset: Option<&str>) -> Result<String, Unreadable> {
    let said = Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| Encoding::for_label(charset?.as_bytes()))
        .or_else(|| declared(bytes));
    let encoding = match said {
        Some(encoding) => encoding,
        None if std::str::from_utf8(bytes).is_ok() => UTF_8,
        // What browsers do with old pages.
        None => WINDOWS_1252,
    };
    let (text, _, damaged) = encoding.decode(bytes);
    let lost = text.chars().filter(|character| *character == '\u{fffd}').count();
    // A page with one broken character is still worth reading; one of another encoding is not.
    if damaged && lost * 100 > text.chars().count() {
        return Err(Unreadable::Damaged(format!("its characters are not {}", encoding.name())));
    }
    Ok(text.into_owned())
}

/// The encoding that a page declares in its first kilobyte.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_ascii_lowercase();
    let at = start.find("charset=")? + "charset=".len();
    let label = start[at..].trim_start_matches(['"', '\'', ' ']);
    let end = label.find(|character: char| !(character.is_ascii_alphanumeric() || "-_".contains(character)));
    let encoding = Encoding::for_label(&label.as_bytes()[..end.unwrap_or(label.len())])?;
    // A declaration that could be read is not in UTF-16.
    Some(if encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE {
        UTF_8
    } else {
        encoding
    })
}

/// Reads a page; whether it has scripts.
///
/// # Errors
/// It is beyond the limits of a document.
pub fn read(page: &str, draft: &mut Draft) -> Result<bool, Unreadable> {
    let document = Document::from(page);
    let (elements, depth) = size(&document.root());
    if let Some(title) = document.select("title").nodes().first() {
        draft.title(&title.text());
    }
    let scripts = document.select_single("script").exists();
    let weights = Weights::of(&document.root());
    let whole = weights.text(&document.root());
    let article = (elements <= MAX_ELEMENTS && depth <= MAX_DEPTH).then(|| main_part(page)).flatten();
    if let Some(article) = article {
        let part = Document::fragment(article);
        let of_part = Weights::of(&part.root());
        if of_part.text(&part.root()) * 100 >= whole * MAIN_SHARE {
            main_heading(&document, &part, draft)?;
            walk(&part.root(), &of_part, draft)?;
            return Ok(scripts);
        }
    }
    walk(&document.root(), &weights, draft)?;
    if draft.characters() == 0 {
        described(&document, draft)?;
    }
    Ok(scripts)
}

/// Reads a piece of HTML within another text.
///
/// # Errors
/// It is beyond the limits of a document.
pub fn fragment(html: &str, draft: &mut Draft) -> Result<(), Unreadable> {
    let document = Document::fragment(html);
    walk(&document.root(), &Weights::of(&document.root()), draft)
}

/// What a page without words says of itself for search engines.
fn described(document: &Document, draft: &mut Draft) -> Result<(), Unreadable> {
    for place in ["meta[name=description]", "meta[property='og:description']"] {
        if let Some(content) = document.select_single(place).attr("content") {
            return draft.paragraph(&content);
        }
    }
    Ok(())
}

/// How many elements there are, and how deep they are nested.
fn size(root: &NodeRef<'_>) -> (usize, usize) {
    let (mut elements, mut deepest, mut depth) = (0, 0, 0);
    travel(root, |step| match step {
        Step::Enter(node) => {
            elements += usize::from(node.is_element());
            depth += 1;
            deepest = deepest.max(depth);
            true
        }
        Step::Leave(_) => {
            depth -= 1;
            true
        }
    });
    (elements, deepest)
}

/// The main part of a page, as HTML.
fn main_part(page: &str) -> Option<String> {
    let settings = Config { max_elements_to_parse: MAX_ELEMENTS, disable_json_ld: true, ..Config::default() };
    let mut reader = Readability::new(page, None, Some(settings)).ok()?;
    Some(reader.parse().ok()?.content.to_string())
}

/// The heading of a page, where the main part was found below it.
fn main_heading(document: &Document, part: &Document, draft: &mut Draft) -> Result<(), Unreadable> {
    let headings = document.select("h1");
    let [heading] = headings.nodes() else { return Ok(()) };
    let words = text::tidy(&heading.text());
    let kept = part.select("h1, h2").nodes().iter().any(|kept| text::tidy(&kept.text()) == words);
    if kept || unread(heading) { Ok(()) } else { draft.heading(1, &words) }
}

/// A step of a walk through a page.
enum Step<'a, 'b> {
    Enter(&'b NodeRef<'a>),
    Leave(&'b NodeRef<'a>),
}

/// Walks through a page in its order, without recursion: `visit` says of each node that is entered whether
/// its children are. What is not entered is not left either.
fn travel<'a>(root: &NodeRef<'a>, mut visit: impl FnMut(Step<'a, '_>) -> bool) {
    if !visit(Step::Enter(root)) {
        return;
    }
    let mut open = vec![*root];
    let mut next = root.first_child();
    loop {
        match next {
            Some(node) => {
                if visit(Step::Enter(&node)) {
                    open.push(node);
                    next = node.first_child();
                } else {
                    next = node.next_sibling();
                }
            }
            None => {
                let Some(done) = open.pop() else { return };
                visit(Step::Leave(&done));
                if open.is_empty() {
                    return;
                }
                next = done.next_sibling();
            }
        }
    }
}

/// How many characters of text and of links each element has; what surrounds the words of the page counts
/// nothing.
struct Weights(HashMap<NodeId, Weight>);

#[derive(Clone, Copy, Default)]
struct Weight {
    text: usize,
    linked: usize,
    links: usize,
}

impl Weights {
    fn of(root: &NodeRef<'_>) -> Self {
        let mut all = HashMap::new();
        let mut open: Vec<Weight> = Vec::new();
        travel(root, |step| match step {
            Step::Enter(node) => {
                if unread(node) || surrounding(node) {
                    return false;
                }
                let text = if node.is_text() { text::tidy(&node.text()).chars().count() } else { 0 };
                open.push(Weight { text, ..Weight::default() });
                true
            }
            Step::Leave(node) => {
                let mut weight = open.pop().unwrap_or_default();
                if node.has_name("a") {
                    weight.linked = weight.text;
                    weight.links += 1;
                }
                if let Some(parent) = open.last_mut() {
                    parent.text += weight.text;
                    parent.linked += weight.linked;
                    parent.links += weight.links;
                }
                if node.is_element() || node.parent().is_none() {
                    all.insert(node.id, weight);
                }
                true
            }
        });
        Self(all)
    }

    fn text(&self, node: &NodeRef<'_>) -> usize {
        self.0.get(&node.id).map_or(0, |weight| weight.text)
    }

    /// Whether an element is a list of short links, as menus are.
    fn is_menu(&self, node: &NodeRef<'_>) -> bool {
        let Some(weight) = self.0.get(&node.id) else { return false };
        weight.links >= 4 && weight.linked * 10 >= weight.text * 9 && weight.linked / weight.links < 40
    }
}

fn name_of(node: &NodeRef<'_>) -> String {
    node.node_name().map(|name| name.to_string()).unwrap_or_default()
}

fn unread(node: &NodeRef<'_>) -> bool {
    if node.is_text() {
        return false;
    }
    if !node.is_element() {
        return node.is_comment() || node.is_doctype();
    }
    UNREAD.contains(&name_of(node).as_str())
        || node.has_attr("hidden")
        || node.attr("aria-hidden").is_some_and(|value| &*value == "true")
}

fn surrounding(node: &NodeRef<'_>) -> bool {
    if !node.is_element() {
        return false;
    }
    let role = node.attr("role").map(|role| role.to_string()).unwrap_or_default();
    SURROUNDINGS.contains(&name_of(node).as_str())
        || matches!(role.as_str(), "navigation" | "banner" | "contentinfo" | "search" | "complementary")
}

/// What has been read of the block in hand.
struct Words<'d> {
    draft: &'d mut Draft,
    text: String,
    heading: Option<u8>,
    /// A block that did not fit; nothing is read after it.
    failed: Option<Unreadable>,
}

impl Words<'_> {
    /// Ends the block in hand. Two line breaks stand between paragraphs.
    fn end(&mut self) {
        let words = std::mem::take(&mut self.text);
        let kind = self.heading.map_or(BlockKind::Paragraph, BlockKind::Heading);
        for part in words.split("\n\n") {
            if self.failed.is_none()
                && let Err(why) = self.draft.push(kind, part, None)
            {
                self.failed = Some(why);
            }
        }
    }

    fn add(&mut self, words: &str) {
        // A line break in the source is a space; those in `text` come from `br`.
        self.text.extend(words.chars().map(|character| if character == '\n' { ' ' } else { character }));
    }
}

fn walk(root: &NodeRef<'_>, weights: &Weights, draft: &mut Draft) -> Result<(), Unreadable> {
    let mut words = Words { draft, text: String::new(), heading: None, failed: None };
    travel(root, |step| match step {
        Step::Enter(node) => enter(node, weights, &mut words),
        Step::Leave(node) => {
            leave(node, &mut words);
            true
        }
    });
    words.end();
    words.failed.map_or(Ok(()), Err)
}

/// Whether the children of a node are read.
fn enter(node: &NodeRef<'_>, weights: &Weights, words: &mut Words<'_>) -> bool {
    if words.failed.is_some() || unread(node) || surrounding(node) {
        return false;
    }
    if node.is_text() {
        words.add(&node.text());
        return true;
    }
    let name = name_of(node);
    match name.as_str() {
        "br" => words.text.push('\n'),
        "table" => {
            words.end();
            if let Some((rows, first)) = table_of(node) {
                if let Err(why) = table::read(&rows, first, None, words.draft) {
                    words.failed = Some(why);
                }
                return false;
            }
        }
        "ul" | "ol" | "div" if weights.is_menu(node) => return false,
        name if level(name).is_some() => {
            words.end();
            words.heading = level(name);
        }
        name if BREAKS.contains(&name) => words.end(),
        _ => {}
    }
    true
}

fn leave(node: &NodeRef<'_>, words: &mut Words<'_>) {
    let name = name_of(node);
    if level(&name).is_some() {
        words.end();
        words.heading = None;
    } else if BREAKS.contains(&name.as_str()) {
        words.end();
    }
}

/// The level of a heading; the line that a fold is opened by stands over what it folds.
fn level(name: &str) -> Option<u8> {
    match name {
        "h1" => Some(1),
        "h2" => Some(2),
        "h3" => Some(3),
        "h4" => Some(4),
        "h5" => Some(5),
        "h6" | "summary" => Some(6),
        _ => None,
    }
}

/// The rows of a table with data; none of one that only arranges a page.
fn table_of(table: &NodeRef<'_>) -> Option<(Vec<Vec<String>>, First)> {
    let role = table.attr("role").map(|role| role.to_string()).unwrap_or_default();
    if matches!(role.as_str(), "presentation" | "none") {
        return None;
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut first = First::Unknown;
    // What cells of earlier rows reach down: column, rows that are left, words.
    let mut reaching: HashMap<usize, (usize, String)> = HashMap::new();
    for node in table.descendants_it() {
        if node.has_name("table") || level(&name_of(&node)).is_some() {
            return None;
        }
        if !node.has_name("tr") {
            continue;
        }
        let cells: Vec<NodeRef<'_>> =
            node.children_it(false).filter(|cell| cell.has_name("td") || cell.has_name("th")).collect();
        if rows.is_empty() && !cells.is_empty() {
            let in_head = node.parent().is_some_and(|parent| parent.has_name("thead"));
            if in_head || cells.iter().all(|cell| cell.has_name("th")) {
                first = First::Headings;
            } else if cells.len() == 2 && cells.first().is_some_and(|cell| cell.has_name("th")) {
                first = First::Row;
            }
        }
        rows.push(row_of(&cells, &mut reaching));
    }
    rows.iter().any(|row| row.len() >= 2).then_some((rows, first))
}

fn row_of(cells: &[NodeRef<'_>], reaching: &mut HashMap<usize, (usize, String)>) -> Vec<String> {
    let mut row = Vec::new();
    let mut given = cells.iter();
    loop {
        let column = row.len();
        if let Some((left, words)) = reaching.get_mut(&column).filter(|(left, _)| *left > 0) {
            *left -= 1;
            row.push(words.clone());
            continue;
        }
        let Some(cell) = given.next() else { return row };
        let words = cell_words(cell);
        let (wide, high) = (span(cell, "colspan"), span(cell, "rowspan"));
        for place in 0..wide {
            // The words of a wide cell stand in its first column.
            row.push(if place == 0 { words.clone() } else { String::new() });
            if high > 1 {
                let below = if place == 0 { words.clone() } else { String::new() };
                reaching.insert(column + place, (high - 1, below));
            }
        }
        if row.len() > crate::MAX_COLUMNS {
            return row;
        }
    }
}

fn span(cell: &NodeRef<'_>, name: &str) -> usize {
    let said = cell.attr(name).and_then(|value| value.trim().parse::<usize>().ok());
    said.unwrap_or(1).clamp(1, MAX_SPAN)
}

fn cell_words(cell: &NodeRef<'_>) -> String {
    let mut words = String::new();
    travel(cell, |step| {
        let (Step::Enter(node) | Step::Leave(node)) = step;
        if unread(node) {
            return false;
        }
        if let (true, Step::Enter(node)) = (node.is_text(), &step) {
            words.push_str(&node.text());
        } else if node.is_element() && (node.has_name("br") || BREAKS.contains(&name_of(node).as_str())) {
            words.push(' ');
        }
        true
    });
    text::tidy(&words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::knowledge::BlockKind::{Heading, Paragraph, TableRow};

    fn page(html: &str) -> (Option<String>, Vec<(BlockKind, String)>, bool) {
        let mut draft = Draft::default();
        let scripts = read(html, &mut draft).unwrap();
        let document = draft.finish();
        let blocks = document.blocks.into_iter().map(|block| (block.kind, block.text)).collect();
        (document.title, blocks, scripts)
    }

    fn texts(html: &str) -> Vec<String> {
        page(html).1.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn the_words_of_a_page_without_its_surroundings() {
        let html = "<!doctype html><html><head><title> Returns – Acme </title><style>p{}</style></head><body>\
            <header role=banner>Acme</header><nav><a href=/>Home</a> <a href=/b>Shop</a></nav>\
            <main><h1>Returns</h1><p>Send it back<br>within <b>30 days</b>.<br><br>Keep the bill.</p>\
            <ul><li>Pack it<li>Send it</ul><h2>Fees</h2><table><tr><th>City<th>Fee<tr><td>Pune<td>₹40</table>\
            <details><summary>Who pays?</summary>We pay.</details></main>\
            <footer>© Acme</footer><script>alert(1)</script></body></html>";
        let (title, blocks, scripts) = page(html);
        assert_eq!((title.as_deref(), scripts), (Some("Returns – Acme"), true));
        let expected = [
            (Heading(1), "Returns"),
            (Paragraph, "Send it back within 30 days."),
            (Paragraph, "Keep the bill."),
            (Paragraph, "Pack it"),
            (Paragraph, "Send it"),
            (Heading(2), "Fees"),
            (TableRow, "City: Pune; Fee: ₹40"),
            (Heading(6), "Who pays?"),
            (Paragraph, "We pay."),
        ];
        let expected: Vec<_> = expected.into_iter().map(|(kind, text)| (kind, text.to_owned())).collect();
        assert_eq!(blocks, expected);
    }

    #[test]
    fn menus_are_left_out_and_lists_with_links_are_not() {
        let menu: String = (0..6).map(|n| format!("<li><a href=/{n}>Chapter {n}</a></li>")).collect();
        let html = format!(
            "<body><ul>{menu}</ul><p>Words.</p><ul><li>See <a href=/a>this</a> first, please.</li></ul>"
        );
        assert_eq!(texts(&html), ["Words.", "See this first, please."]);
    }

    #[test]
    fn cells_that_span_rows_and_columns() {
        let html = "<table><tr><th>Plan<th>Speed<th>Price<tr><td rowspan=2>Home<td>100<td>₹699<tr><td>200<td>₹799\
            <tr><td colspan=2>Office<td>₹999</table>";
        let expected = [
            "Plan: Home; Speed: 100; Price: ₹699",
            "Plan: Home; Speed: 200; Price: ₹799",
            "Plan: Office; Price: ₹999",
        ];
        assert_eq!(texts(html), expected);
    }

    #[test]
    fn a_table_that_arranges_a_page_is_read_as_its_words() {
        let html = "<table><tr><td><h1>Hours</h1>From 9.</td><td>To 5.</td></tr></table>";
        assert_eq!(texts(html), ["Hours", "From 9.", "To 5."]);
    }

    #[test]
    fn a_page_that_scripts_build_has_its_description() {
        let html = "<head><title>App</title><meta name=description content='Broadband for Pune.'></head>\
            <body><div id=root></div><noscript>Enable JavaScript.</noscript><script src=a.js></script>";
        let (title, blocks, scripts) = page(html);
        assert_eq!((title.as_deref(), scripts), (Some("App"), true));
        assert_eq!(blocks, [(Paragraph, "Broadband for Pune.".to_owned())]);
    }

    #[test]
    fn encodings_of_old_pages() {
        assert_eq!(decode("₹".as_bytes(), None).as_deref(), Ok("₹"));
        assert_eq!(decode(b"caf\xE9", None).as_deref(), Ok("café"));
        assert_eq!(
            decode(b"<meta charset=\"iso-8859-1\">caf\xE9", None).as_deref(),
            Ok("<meta charset=\"iso-8859-1\">café")
        );
        assert_eq!(decode(b"caf\xE9", Some("latin1")).as_deref(), Ok("café"));
        assert!(decode(&[0xE9; 64], Some("utf-8")).is_err());
    }

    #[test]
    fn deep_nesting_takes_no_stack() {
        let html = format!("<body>{}words{}", "<div>".repeat(2_000), "</div>".repeat(2_000));
        assert_eq!(texts(&html), ["words"]);
        let spans = format!("<body>{}words", "<span>".repeat(2_000));
        assert_eq!(texts(&spans), ["words"]);
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(texts(""), [""; 0]);
        assert_eq!(texts("<table></table>"), [""; 0]);
    }
}
