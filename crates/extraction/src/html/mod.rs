//! HTML: the text of a page without the boilerplate of the site.
//!
//! | file | holds |
//! |---|---|
//! | `panels` | content that a page hides until a reader opens it |
//! | `tables` | tables with data |

mod panels;
mod tables;

use std::collections::HashMap;

use dom_query::{Document, NodeId, NodeRef};
use dom_smoothie::{Config, Readability};
use domain::knowledge::BlockKind;
use domain::ports::Unreadable;
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::draft::Draft;
use crate::{LITTLE_TEXT, text};

/// Elements without text for a reader.
const UNREAD: [&str; 22] = [
    "script", "style", "noscript", "template", "svg", "math", "head", "iframe", "object", "embed", "canvas",
    "audio", "video", "button", "select", "datalist", "input", "textarea", "option", "map", "dialog", "menu",
];
/// Boilerplate elements.
const SURROUNDINGS: [&str; 3] = ["nav", "footer", "aside"];
/// Elements that begin and end a paragraph.
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
/// A main part that was searched for must have this much, in percent, of the text of a page without boilerplate; one
/// that the page marks, this much, or more than a little text.
const MAIN_SHARE: usize = 60;
const NAMED_SHARE: usize = 20;

/// The character encoding of a page: by its byte order mark, the server's header, the page's own declaration, else
/// UTF-8.
///
/// # Errors
/// The bytes are not valid in its encoding.
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
    // A page with one broken character is still worth reading; one in another encoding is not.
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

/// Parses a page; returns whether it has scripts.
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
    panels::open(&document.root());
    let weights = Weights::of(&document.root());
    let whole = weights.text(&document.root());
    if let Some(main) = named_main_part(&document.root(), &weights, whole) {
        main_heading(&document, &main, draft)?;
        walk(&main, &weights, draft)?;
        return Ok(scripts);
    }
    let article = (elements <= MAX_ELEMENTS && depth <= MAX_DEPTH).then(|| main_part(&document)).flatten();
    if let Some(article) = article {
        let part = Document::fragment(article);
        let of_part = Weights::of(&part.root());
        if of_part.text(&part.root()) * 100 >= whole * MAIN_SHARE {
            main_heading(&document, &part.root(), draft)?;
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

/// The part that the page itself marks as its main one, if it has text.
fn named_main_part<'a>(root: &NodeRef<'a>, weights: &Weights, whole: usize) -> Option<NodeRef<'a>> {
    let mut found: Option<(usize, NodeRef<'a>)> = None;
    travel(root, |step| {
        let Step::Enter(node) = step else { return true };
        if unread(node) || surrounding(node) {
            return false;
        }
        if !(node.has_name("main") || node.attr("role").is_some_and(|role| &*role == "main")) {
            return true;
        }
        let says = weights.text(node);
        if found.is_none_or(|(most, _)| says > most) {
            found = Some((says, *node));
        }
        false
    });
    found
        .filter(|(says, _)| *says > 0 && (*says >= LITTLE_TEXT || says * 100 >= whole * NAMED_SHARE))
        .map(|(_, main)| main)
}

/// Parses a fragment of HTML within another text.
///
/// # Errors
/// It is beyond the limits of a document.
pub fn fragment(html: &str, draft: &mut Draft) -> Result<(), Unreadable> {
    let document = Document::fragment(html);
    panels::open(&document.root());
    walk(&document.root(), &Weights::of(&document.root()), draft)
}

/// The description of a page without text, meant for search engines.
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
fn main_part(document: &Document) -> Option<String> {
    let settings = Config { max_elements_to_parse: MAX_ELEMENTS, disable_json_ld: true, ..Config::default() };
    let mut reader = Readability::new(document.html(), None, Some(settings)).ok()?;
    Some(reader.parse().ok()?.content.to_string())
}

/// The heading of a page, where the main part was found below it.
fn main_heading(document: &Document, part: &NodeRef<'_>, draft: &mut Draft) -> Result<(), Unreadable> {
    let headings = document.select("h1");
    let [heading] = headings.nodes() else { return Ok(()) };
    let words = text::tidy(&heading.text());
    let kept = part
        .descendants_it()
        .any(|kept| (kept.has_name("h1") || kept.has_name("h2")) && text::tidy(&kept.text()) == words);
    if kept || unread(heading) { Ok(()) } else { draft.heading(1, &words) }
}

/// A step of a walk through a page.
enum Step<'a, 'b> {
    Enter(&'b NodeRef<'a>),
    Leave(&'b NodeRef<'a>),
}

/// Walks through a page in document order, without recursion: `visit` returns for each entered node whether its
/// children are. A node that is not entered is not left either.
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

/// Characters of text and of links in each element; boilerplate counts nothing.
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
    UNREAD.contains(&name_of(node).as_str()) || panels::is_hidden(node)
}

fn surrounding(node: &NodeRef<'_>) -> bool {
    if !node.is_element() {
        return false;
    }
    let role = node.attr("role").map(|role| role.to_string()).unwrap_or_default();
    SURROUNDINGS.contains(&name_of(node).as_str())
        || matches!(
            role.as_str(),
            "navigation" | "banner" | "contentinfo" | "search" | "complementary" | "dialog" | "alertdialog"
        )
}

/// The text of the current block.
struct Words<'d> {
    draft: &'d mut Draft,
    text: String,
    heading: Option<u8>,
    /// The error of a block that did not fit; nothing is parsed after it.
    failed: Option<Unreadable>,
}

impl Words<'_> {
    /// Ends the current block. Two line breaks separate paragraphs.
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

/// Whether the children of a node are parsed.
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
            if let Some((grid, headings)) = tables::of(node) {
                if let Err(why) = grid.read(headings, words.draft) {
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

/// The level of a heading; the summary of a fold is a heading over its content.
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

    #[test]
    fn what_a_control_opens_is_part_of_the_page() {
        let question = "How long?";
        for html in [
            "<h3><button aria-expanded=false aria-controls=p1><span>How long?</span></button></h3><div id=p1 hidden><p>A week.</p></div>",
            "<h3><button aria-controls=p1>How long?</button></h3><div id=p1 role=region aria-hidden=true>A week.</div>",
            "<h2><a data-toggle=collapse href='#c'>How long?</a></h2><div id=c style='display: none'>A week.</div>",
            "<button data-bs-toggle=collapse data-bs-target='#c'>How long?</button><div id=c class=collapse hidden>A week.</div>",
            "<button class=accordion>How long?</button><div class=panel style='display:none'><p>A week.</p></div>",
            "<div><button aria-expanded=false>How long?<svg><text>+</text></svg></button></div><div hidden>A week.</div>",
            "<div role=button aria-expanded=false aria-controls='p1'>How long?</div><section id=p1 hidden>A week.</section>",
            "<button id=q1><h3>How long?</h3></button><div role=region aria-labelledby=q1 hidden>A week.</div>",
            "<dl><dt>How long?</dt><dd style='display:none'>A week.</dd></dl>",
            "<div class=faq-question onclick='t()'>How long?</div><div class=faq-answer style='display:none;'>A week.</div>",
            "<details><summary>How long?</summary><p>A week.</p></details>",
            "<h2 class=q><button class='accordion-button collapsed'>How long?</button></h2><div class='accordion-collapse'>A week.</div>",
            "<h3>How long?</h3><div hidden=until-found>A week.</div>",
        ] {
            let html = format!("<body><h1>Help</h1>{html}<p>Write to us.</p>");
            let found = texts(&html);
            let places: Vec<Option<usize>> = [question, "A week.", "Write to us."]
                .iter()
                .map(|words| found.iter().position(|text| text == words))
                .collect();
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{html}: {found:?}");
            assert_eq!(found.iter().filter(|text| text.contains(question)).count(), 1, "{html}: {found:?}");
        }
    }

    #[test]
    fn panels_of_tabs_have_the_words_of_their_tabs() {
        let html = "<body><div role=tablist><button role=tab id=t1 aria-controls=a>Homes</button><button role=tab aria-controls=b>Offices</button></div>\
            <div role=tabpanel id=a><p>Rs 40.</p></div><div role=tabpanel id=b hidden><p>Rs 90.</p></div>";
        assert_eq!(texts(html), ["Homes", "Rs 40.", "Offices", "Rs 90."]);
    }

    #[test]
    fn what_nothing_opens_stays_out() {
        for html in [
            "<p>Words.</p><div hidden>GONE</div>",
            "<h2>Words.</h2><p hidden>GONE</p>",
            "<h2>Words.</h2><p style='color:red; display : none'>GONE</p>",
            "<p>Words.</p><div id=x aria-hidden=true>GONE</div><button>Buy GONE</button>",
            "<p>Words.<button aria-controls=nowhere aria-expanded=false>GONE</button></p>",
            "<button aria-expanded=false aria-controls=m>Menu GONE</button><nav id=m hidden>GONE</nav><p>Words.</p>",
            "<h2>Words. <button>Copy GONE</button></h2>",
            "<p>Words.</p><div role=dialog>GONE</div><dialog>GONE</dialog>",
            "<p>Words.</p><div hidden id=d>GONE <button aria-expanded=true aria-controls=d>GONE</button></div>",
        ] {
            assert_eq!(texts(&format!("<body>{html}")), ["Words."], "{html}");
        }
    }

    #[test]
    fn the_part_that_a_page_calls_its_main_one_is_kept_alone() {
        let long = "Our shop delivers to all cities. ".repeat(12);
        for (before, open, close) in [
            ("<div class=cookie><p>We use cookies.</p></div>", "<main>", "</main>"),
            (
                "<section class=promo><h2>Sale!</h2><p>Buy one, get one.</p></section>",
                "<div role=main>",
                "</div>",
            ),
            ("<header><p>Call now.</p></header>", "<div><main id=content>", "</main></div>"),
        ] {
            let html =
                format!("<body>{before}{open}<h1>Delivery</h1><p>{long}</p>{close}<div>Newsletter</div>");
            assert_eq!(texts(&html), ["Delivery", long.trim()]);
            let short = format!("<body>{before}{open}<h1>Delivery</h1><p>Two days.</p>{close}");
            assert_eq!(texts(&short), ["Delivery", "Two days."]);
        }
        // A nearly empty one is a placeholder that scripts fill.
        let html = format!("<body><main>Loading</main><p>{long}</p>");
        assert!(texts(&html).contains(&long.trim().to_owned()));
    }

    #[test]
    fn headings_of_several_rows_say_what_each_value_is() {
        let html = "<table><thead><tr><th rowspan=2>City<th colspan=2>Fee<tr><th>Day<th>Night<tbody><tr><td>Pune<td>40<td>60\
            <tr><td colspan=3>Prices with tax<tr><th>Goa<td colspan=2>on request</table>";
        let expected =
            ["City: Pune; Fee Day: 40; Fee Night: 60", "Prices with tax", "City: Goa; Fee Day: on request"];
        assert_eq!(texts(html), expected);
        let without_head = "<table><tr><th colspan=3>Rates 2026<tr><th><th colspan=2>Fee<tr><th>City<th>Day<th>Night\
            <tr><td>Pune<td>40<td>60</table>";
        assert_eq!(texts(without_head), ["Rates 2026", "City: Pune; Fee Day: 40; Fee Night: 60"]);
        let hidden = "<table><tr><th>City<th>Fee<tr><td>Pune<td>40<tr hidden><td>GONE<td>1</table>";
        assert_eq!(texts(hidden), ["City: Pune; Fee: 40"]);
    }
}
