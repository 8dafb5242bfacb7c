//! Markdown to HTML: headings get anchors, neighbouring code blocks of different languages become tabs, links are
//! resolved, and HTML in the source is shown as text.

use std::collections::HashMap;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::html::{code_figure, escape};
use crate::links::{Links, Target};
use crate::page::markdown_path;

/// A heading of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Fragment of its address, without `#`; unique on the page.
    pub id: String,
    /// Its plain text.
    pub text: String,
}

/// The words after a fence that mark code which cannot run as it is pasted.
pub const NO_RUN: &str = "no-run";

fn parser(source: &str) -> Parser<'_> {
    Parser::new_ext(source, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH)
}

/// Title, and the rest, of a page that begins with a first-level heading.
pub fn split_title(source: &str) -> Option<(&str, &str)> {
    let (first, rest) = source.trim_start().split_once('\n')?;
    Some((first.strip_prefix("# ")?.trim(), rest))
}

/// The plain text of the first paragraph.
pub fn first_paragraph(source: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for event in parser(source) {
        match event {
            Event::Start(Tag::Paragraph) => inside = true,
            Event::End(TagEnd::Paragraph) => break,
            Event::Text(words) | Event::Code(words) if inside => text.push_str(&words),
            Event::SoftBreak if inside => text.push(' '),
            _ => {}
        }
    }
    text
}

/// The sections of a page: each heading with the plain text up to the next one.
pub fn sections(source: &str) -> Vec<(Heading, String)> {
    let mut anchors = Anchors::default();
    let mut out: Vec<(Heading, String)> = Vec::new();
    let mut heading: Option<(u8, String)> = None;
    for event in parser(source) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => heading = Some((level as u8, String::new())),
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, text)) = heading.take() {
                    let id = anchors.of(&text);
                    out.push((Heading { level, id, text }, String::new()));
                }
            }
            Event::Text(words) | Event::Code(words) => match (&mut heading, out.last_mut()) {
                (Some((_, text)), _) => text.push_str(&words),
                (None, Some((_, text))) => text.push_str(&words),
                (None, None) => {}
            },
            Event::SoftBreak | Event::End(TagEnd::Paragraph | TagEnd::TableCell | TagEnd::Item) => {
                if let (None, Some((_, text))) = (&heading, out.last_mut()) {
                    text.push(' ');
                }
            }
            _ => {}
        }
    }
    out
}

/// Anchors as GitHub makes them, each once on a page.
#[derive(Debug, Default)]
pub struct Anchors {
    seen: HashMap<String, usize>,
}

impl Anchors {
    /// The anchor of a heading with this text.
    pub fn of(&mut self, text: &str) -> String {
        let slug: String = text
            .to_lowercase()
            .chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                '-' | '_' => Some(c),
                c if c.is_alphanumeric() => Some(c),
                _ => None,
            })
            .collect();
        let times = self.seen.entry(slug.clone()).or_default();
        *times += 1;
        if *times == 1 { slug } else { format!("{slug}-{}", *times - 1) }
    }
}

/// The HTML of Markdown on the page with this path. The anchors of its headings are taken from `anchors`, and the
/// headings are added to `headings`.
pub fn to_html(
    source: &str,
    path: &str,
    links: &Links,
    anchors: &mut Anchors,
    headings: &mut Vec<Heading>,
) -> String {
    let mut writer =
        Writer { out: String::new(), path, links, closers: Vec::new(), cell: "td", fences: Vec::new() };
    let mut fence: Option<(String, String)> = None;
    let mut heading: Option<(u8, usize, String)> = None;
    for event in parser(source) {
        if let Some((_, code)) = &mut fence {
            match event {
                Event::Text(words) => code.push_str(&words),
                Event::End(TagEnd::CodeBlock) => writer.fences.extend(fence.take()),
                _ => {}
            }
            continue;
        }
        if let Event::Start(Tag::CodeBlock(kind)) = event {
            let info = match kind {
                CodeBlockKind::Fenced(info) => info.to_string(),
                CodeBlockKind::Indented => String::new(),
            };
            fence = Some((info, String::new()));
            continue;
        }
        push_fences(&mut writer.out, &mut writer.fences);
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                heading = Some((level as u8, writer.out.len(), String::new()));
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some((level, from, text)) = heading.take() else { continue };
                let inner = writer.out.split_off(from);
                let id = anchors.of(&text);
                writer.out.push_str(&heading_html(level, &id, &inner));
                headings.push(Heading { level, id, text });
            }
            event => {
                if let (Some((.., text)), Event::Text(words) | Event::Code(words)) = (&mut heading, &event) {
                    text.push_str(words);
                }
                writer.event(event);
            }
        }
    }
    push_fences(&mut writer.out, &mut writer.fences);
    writer.out
}

/// Writes what is neither a heading nor a code block.
struct Writer<'a> {
    out: String,
    path: &'a str,
    links: &'a Links,
    /// Ends of the elements that are open.
    closers: Vec<&'static str>,
    /// `th` in the head of a table.
    cell: &'static str,
    /// Code blocks that stand together.
    fences: Vec<(String, String)>,
}

impl Writer<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(TagEnd::TableHead) => {
                self.close();
                self.cell = "td";
                self.out.push_str("<tbody>");
            }
            // A head without words is no head.
            Event::End(TagEnd::TableCell) if self.out.ends_with("<th>") => {
                self.closers.pop();
                self.out.truncate(self.out.len() - "<th>".len());
                self.out.push_str("<td></td>");
            }
            Event::End(_) => self.close(),
            Event::Text(words) | Event::Html(words) | Event::InlineHtml(words) => {
                self.out.push_str(&escape(&words))
            }
            Event::Code(words) => self.out.push_str(&format!("<code>{}</code>", escape(&words))),
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>\n"),
            _ => {}
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        let (opener, closer): (String, &'static str) = match tag {
            Tag::Paragraph => ("<p>".into(), "</p>\n"),
            Tag::BlockQuote(_) => ("<blockquote>".into(), "</blockquote>\n"),
            Tag::List(None) => ("<ul>\n".into(), "</ul>\n"),
            Tag::List(Some(1)) => ("<ol>\n".into(), "</ol>\n"),
            Tag::List(Some(first)) => (format!("<ol start=\"{first}\">\n"), "</ol>\n"),
            Tag::Item => ("<li>".into(), "</li>\n"),
            Tag::Emphasis => ("<em>".into(), "</em>"),
            Tag::Strong => ("<strong>".into(), "</strong>"),
            Tag::Strikethrough => ("<del>".into(), "</del>"),
            Tag::Table(_) => ("<div class=\"scroll\"><table>\n".into(), "</tbody></table></div>\n"),
            Tag::TableHead => {
                self.cell = "th";
                ("<thead><tr>".into(), "</tr></thead>\n")
            }
            Tag::TableRow => ("<tr>".into(), "</tr>\n"),
            Tag::TableCell if self.cell == "th" => ("<th>".into(), "</th>"),
            Tag::TableCell => ("<td>".into(), "</td>"),
            Tag::Link { dest_url, .. } => match self.links.resolve(self.path, &dest_url) {
                Target::Page(page, anchor) => {
                    (format!("<a href=\"{}\">", escape(&format!("{page}{anchor}"))), "</a>")
                }
                Target::Elsewhere => (format!("<a href=\"{}\">", escape(&dest_url)), "</a>"),
                Target::Unknown => (String::new(), ""),
            },
            // Of a picture its words are shown; of the rest, which these pages do not have, what is inside.
            _ => (String::new(), ""),
        };
        self.out.push_str(&opener);
        self.closers.push(closer);
    }

    fn close(&mut self) {
        self.out.push_str(self.closers.pop().unwrap_or_default());
    }
}

/// A heading with a link to itself. Its own links are only their text.
pub fn heading_html(level: u8, id: &str, inner: &str) -> String {
    format!("<h{level} id=\"{0}\"><a class=\"anchor\" href=\"#{0}\">{inner}</a></h{level}>\n", escape(id))
}

/// Writes neighbouring code blocks: as tabs when each has a language of its own.
fn push_fences(out: &mut String, fences: &mut Vec<(String, String)>) {
    if fences.is_empty() {
        return;
    }
    let language = |info: &str| info.split_whitespace().next().unwrap_or_default().to_owned();
    let mut languages: Vec<String> = fences.iter().map(|(info, _)| language(info)).collect();
    languages.sort();
    languages.dedup();
    let tabs = fences.len() > 1 && languages.len() == fences.len();
    if tabs {
        out.push_str("<div class=\"tabs\">\n");
    }
    for (info, code) in fences.drain(..) {
        let language = language(&info);
        let note = info.split_whitespace().any(|word| word == NO_RUN).then_some("with values of your own");
        let label = tabs.then(|| label_of(&language));
        out.push_str(&code_figure(&language, label, note, &code));
    }
    if tabs {
        out.push_str("</div>\n");
    }
}

/// The name of a language for people.
pub fn label_of(language: &str) -> &str {
    match language {
        "sh" => "curl",
        "python" => "Python",
        "typescript" => "TypeScript",
        "javascript" => "Node.js",
        "go" => "Go",
        "java" => "Java",
        "php" => "PHP",
        "ruby" => "Ruby",
        "json" => "JSON",
        "toml" => "TOML",
        other => other,
    }
}

/// The same Markdown with its links resolved, for a page that is served as Markdown. What leads nowhere becomes text.
pub fn with_links(source: &str, path: &str, links: &Links) -> String {
    let mut out = String::with_capacity(source.len());
    let mut done = 0;
    for (event, range) in parser(source).into_offset_iter() {
        let Event::Start(Tag::Link { dest_url, .. }) = event else { continue };
        let whole = &source[range.clone()];
        let Some((text, _)) = whole.rsplit_once("](").filter(|_| whole.starts_with('[')) else { continue };
        out.push_str(&source[done..range.start]);
        match links.resolve(path, &dest_url) {
            Target::Page(page, anchor) => {
                out.push_str(&format!("{text}]({}{anchor})", markdown_path(&page)));
            }
            Target::Elsewhere => out.push_str(whole),
            Target::Unknown => out.push_str(&text[1..]),
        }
        done = range.end;
    }
    out.push_str(&source[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html_of(source: &str) -> String {
        let links = Links::new(["/docs/guides/a".to_owned()]);
        to_html(source, "/docs/guides/b", &links, &mut Anchors::default(), &mut Vec::new())
    }

    #[test]
    fn neighbouring_code_of_different_languages_becomes_tabs() {
        let one = html_of("```sh\nls\n```\n\n```python\nprint()\n```\n");
        assert_eq!(
            (one.matches("class=\"tabs\"").count(), one.matches("class=\"code\"").count()),
            (1, 2),
            "{one}"
        );
        let two = html_of("```sh\nls\n```\n\nand\n\n```python\nprint()\n```\n```sh\nls\n```\n```sh\nls\n```");
        assert_eq!(two.matches("class=\"tabs\"").count(), 0, "{two}");
        assert_eq!(two.matches("class=\"code\"").count(), 4, "{two}");
        assert!(html_of("```sh no-run\nls\n```").contains("with values of your own"));
    }

    #[test]
    fn tables_have_heads_only_where_these_have_words() {
        let made = html_of("| a | |\n|---|---|\n| *b* | c |\n");
        assert!(made.contains("<thead><tr><th>a</th><td></td></tr></thead>"), "{made}");
        assert!(
            made.contains("<tbody><tr><td><em>b</em></td><td>c</td></tr>\n</tbody></table></div>"),
            "{made}"
        );
    }

    #[test]
    fn html_in_the_source_is_text() {
        let made = html_of("a <script>alert(1)</script> b\n\n<img src=x onerror=y>\n");
        assert!(!made.contains("<script") && !made.contains("<img"), "{made}");
    }

    #[test]
    fn links_lead_to_pages_or_are_text() {
        let made = html_of("[a](a.md#part) [b](../console.md) [c](https://example.com/)");
        assert!(
            made.contains("href=\"/docs/guides/a#part\"") && made.contains("https://example.com/"),
            "{made}"
        );
        assert!(made.contains(" b "), "{made}");
        let links = Links::new(["/docs/guides/a".to_owned()]);
        let text = with_links("see [a](a.md#part), [b](../console.md).", "/docs/guides/b", &links);
        assert_eq!(text, "see [a](/docs/guides/a.md#part), b.");
    }

    #[test]
    fn anchors_are_as_on_github_and_unique() {
        let mut anchors = Anchors::default();
        assert_eq!(anchors.of("Who answered?"), "who-answered");
        assert_eq!(anchors.of("`POST /v1/calls`, twice"), "post-v1calls-twice");
        assert_eq!(anchors.of("Who answered?"), "who-answered-1");
    }
}
