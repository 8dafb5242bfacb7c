//! A page as HTML: one file that reads well without a script.

use std::fmt::Write as _;

use crate::links::Links;
use crate::markdown::{Anchors, Heading, heading_html, to_html};
use crate::page::{Block, Card, Form, Kind, Page, Sample, markdown_path};
use crate::schema::Field;

/// What all pages share.
#[derive(Debug)]
pub struct Shell<'a> {
    /// Name of the service.
    pub brand: &'a str,
    /// What keys begin with: `dastak` of `dastak_test_…`.
    pub key_prefix: &'a str,
    /// The list of pages, HTML.
    pub navigation: &'a str,
    /// Where links lead.
    pub links: &'a Links,
}

/// Fewest second-level headings of a page that lists them at its top.
const LISTED: usize = 3;

/// Text for HTML, also within quotes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

/// A code block with its label and a note.
pub fn code_figure(language: &str, label: Option<&str>, note: Option<&str>, code: &str) -> String {
    let caption = match (label, note) {
        (None, None) => String::new(),
        (label, note) => {
            let words: Vec<String> = [label, note].into_iter().flatten().map(escape).collect();
            format!("<p class=\"caption\">{}</p>", words.join(", "))
        }
    };
    let label = label.map(|label| format!(" data-tab=\"{}\"", escape(label))).unwrap_or_default();
    let class =
        if language.is_empty() { String::new() } else { format!(" class=\"language-{}\"", escape(language)) };
    format!(
        "<div class=\"code\"{label}>{caption}<pre><code{class}>{}</code></pre></div>\n",
        escape(code.trim_end())
    )
}

/// The whole page.
pub fn page(shell: &Shell<'_>, page: &Page) -> String {
    let mut anchors = Anchors::default();
    let mut headings = Vec::new();
    let mut body = String::new();
    for block in &page.blocks {
        push_block(&mut body, shell, page, block, &mut anchors, &mut headings);
    }
    let contents = contents(page, &headings);
    let main = format!(
        "<p class=\"kind\">{}</p>\n<h1>{}</h1>\n{contents}{body}<p class=\"as-text\"><a href=\"{}\">This page as Markdown</a></p>\n",
        kind_link(page),
        escape(&page.title),
        escape(&markdown_path(&page.path)),
    );
    frame(shell, &page.title, &page.about, Some(&page.path), &main)
}

/// The list of a long page's parts.
fn contents(page: &Page, headings: &[Heading]) -> String {
    let listed: Vec<&Heading> = headings.iter().filter(|heading| heading.level == 2).collect();
    if listed.len() < LISTED || matches!(page.kind, Kind::Event | Kind::Error) || page.path == "/docs" {
        return String::new();
    }
    let mut out = String::from("<nav class=\"contents\" aria-label=\"On this page\"><ul>\n");
    for heading in listed {
        let _ = writeln!(out, "<li><a href=\"#{}\">{}</a></li>", escape(&heading.id), escape(&heading.text));
    }
    out.push_str("</ul></nav>\n");
    out
}

/// The page for a path that does not exist.
pub fn missing(shell: &Shell<'_>) -> String {
    let main = "<h1>There is no such page</h1>\n<p>Search for it with the field above, or begin at the \
                <a href=\"/docs\">start of the documentation</a>. All operations are in the \
                <a href=\"/docs/reference\">reference</a>.</p>\n";
    frame(shell, "There is no such page", "The page does not exist.", None, main)
}

fn kind_link(page: &Page) -> String {
    let link = |path: &str, text: &str| format!("<a href=\"{path}\">{text}</a>");
    match page.kind {
        Kind::Index if page.path == "/docs" => "Documentation".into(),
        Kind::Index => link("/docs", "Documentation"),
        Kind::Guide => link("/docs/guides", "Guides"),
        Kind::Reference => link("/docs/reference", "Reference"),
        Kind::Event => link("/docs/events", "Events"),
        Kind::Error => link("/docs/errors", "Errors"),
        Kind::Contract => link("/docs/contract", "Contract"),
        Kind::Operating => link("/docs/operating", "Operating"),
    }
}

fn frame(shell: &Shell<'_>, title: &str, about: &str, path: Option<&str>, main: &str) -> String {
    let brand = escape(shell.brand);
    let alternate = path.map(|path| {
        format!("<link rel=\"alternate\" type=\"text/markdown\" href=\"{}\">\n", escape(&markdown_path(path)))
    });
    let navigation = match path {
        Some(path) => shell.navigation.replace(
            &format!("href=\"{}\"", escape(path)),
            &format!("href=\"{}\" aria-current=\"page\"", escape(path)),
        ),
        None => shell.navigation.to_owned(),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\" data-key-prefix=\"{prefix}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} · {brand}</title>\n\
         <meta name=\"description\" content=\"{about}\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"/docs/icon.svg\">\n<link rel=\"stylesheet\" href=\"/docs/manual.css\">\n{alternate}\
         <script src=\"/docs/manual.js\" defer></script>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#m-content\">Skip to the content</a>\n\
         <header>\n<a class=\"brand\" href=\"/docs\">{brand} <span>docs</span></a>\n\
         <div class=\"find\" role=\"search\"><input id=\"m-find\" type=\"search\" hidden aria-label=\"Search the documentation\" \
         placeholder=\"Search\" autocomplete=\"off\" spellcheck=\"false\"></div>\n\
         <a class=\"to-pages\" href=\"#m-pages\">Pages</a>\n</header>\n\
         <div class=\"frame\">\n<main id=\"m-content\" tabindex=\"-1\">\n{main}</main>\n\
         <nav id=\"m-pages\" aria-label=\"Pages\">\n{navigation}</nav>\n</div>\n</body>\n</html>\n",
        prefix = escape(shell.key_prefix),
        title = escape(title),
        about = escape(about),
        alternate = alternate.unwrap_or_default(),
    )
}

fn push_block(
    out: &mut String,
    shell: &Shell<'_>,
    page: &Page,
    block: &Block,
    anchors: &mut Anchors,
    headings: &mut Vec<Heading>,
) {
    match block {
        Block::Markdown(source) => {
            out.push_str(&to_html(source, &page.base(), shell.links, anchors, headings));
        }
        Block::Heading { level, id, text } => {
            out.push_str(&heading_html(*level, id, &escape(text)));
            headings.push(Heading { level: *level, id: id.clone(), text: text.clone() });
        }
        Block::Endpoint { method, path } => {
            let _ = writeln!(
                out,
                "<p class=\"endpoint\"><span class=\"method {}\">{}</span> <code>{}</code></p>",
                method.to_lowercase(),
                escape(method),
                escape(path)
            );
        }
        Block::Fields(fields) => push_fields(out, shell, page, fields),
        Block::Samples(samples) => push_samples(out, samples),
        Block::Cards(cards) => push_cards(out, shell, page, cards),
        Block::Folded { title, cards } => {
            let _ = writeln!(out, "<details><summary>{}</summary>", escape(title));
            push_cards(out, shell, page, cards);
            out.push_str("</details>\n");
        }
        Block::Try(form) => push_form(out, form),
    }
}

/// Markdown of a description, without a paragraph around a single line.
fn described(source: &str, shell: &Shell<'_>, page: &Page) -> String {
    let html = to_html(source, &page.base(), shell.links, &mut Anchors::default(), &mut Vec::new());
    let inner = html.trim().strip_prefix("<p>").and_then(|rest| rest.strip_suffix("</p>"));
    match inner {
        Some(inner) if !inner.contains("<p>") => inner.to_owned(),
        _ => html,
    }
}

fn push_fields(out: &mut String, shell: &Shell<'_>, page: &Page, fields: &[Field]) {
    out.push_str("<ul class=\"fields\">\n");
    for field in fields {
        let required = if field.required { "" } else { " <span class=\"optional\">optional</span>" };
        let notes: String = field.notes.iter().map(|note| format!(", {}", escape(note))).collect();
        let _ = write!(
            out,
            "<li><code>{}</code>{required} <span class=\"type\">{}{notes}</span>",
            escape(&field.name),
            escape(&field.kind)
        );
        if !field.about.is_empty() {
            let _ = write!(out, "<div>{}</div>", described(&field.about, shell, page));
        }
        if !field.words.is_empty() {
            let words: Vec<String> =
                field.words.iter().map(|word| format!("<code>{}</code>", escape(word))).collect();
            let more = if field.open { "; new words may be added" } else { "" };
            let _ = write!(out, "<div class=\"words\">{}{more}</div>", words.join(", "));
        }
        if !field.nested.is_empty() {
            let _ =
                writeln!(out, "<details><summary>Fields of <code>{}</code></summary>", escape(&field.name));
            push_fields(out, shell, page, &field.nested);
            out.push_str("</details>");
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}

fn push_samples(out: &mut String, samples: &[Sample]) {
    let several = samples.len() > 1;
    if several {
        out.push_str("<div class=\"tabs\">\n");
    }
    for sample in samples {
        out.push_str(&code_figure(sample.language, several.then_some(sample.label), None, &sample.code));
    }
    if several {
        out.push_str("</div>\n");
    }
}

fn push_cards(out: &mut String, shell: &Shell<'_>, page: &Page, cards: &[Card]) {
    out.push_str("<ul class=\"cards\">\n");
    for card in cards {
        let about = if card.about.is_empty() {
            String::new()
        } else {
            format!(" <span>{}</span>", described(&card.about, shell, page))
        };
        let _ =
            writeln!(out, "<li><a href=\"{}\">{}</a>{about}</li>", escape(&card.href), escape(&card.title));
    }
    out.push_str("</ul>\n");
}

/// The form is shown by the script, which alone can send it.
fn push_form(out: &mut String, form: &Form) {
    let _ = writeln!(
        out,
        "<details class=\"try\" hidden data-method=\"{}\" data-path=\"{}\" data-keyed=\"{}\"><summary>Try it with a test key</summary>\n<form>",
        escape(&form.method),
        escape(&form.path),
        form.keyed
    );
    for input in &form.inputs {
        let required = if input.required { " required" } else { "" };
        let _ = writeln!(
            out,
            "<label>{name} <span class=\"type\">{place}</span><input name=\"{name}\" data-place=\"{place}\"{required}></label>",
            name = escape(&input.name),
            place = escape(&input.place)
        );
    }
    if let Some(body) = &form.body {
        let rows = body.lines().count().clamp(3, 16);
        let _ = writeln!(
            out,
            "<label>Body <textarea name=\"body\" rows=\"{rows}\" spellcheck=\"false\">{}</textarea></label>",
            escape(body)
        );
    }
    out.push_str("<button type=\"submit\">Send</button>\n<output></output>\n</form></details>\n");
}
