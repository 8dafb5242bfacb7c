//! Resources: the guides, the pages of the contract, and the error codes.

use std::fmt::Write as _;

use api::error_codes;
use rmcp::model::{Resource, ResourceContents};

/// Kind, name and text of each page.
const PAGES: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));
/// Where the error codes are.
const ERRORS: &str = "dastak://errors";
/// Media type of all of them.
const MARKDOWN: &str = "text/markdown";
/// Most characters of a description.
const DESCRIPTION: usize = 240;

fn address(kind: &str, name: &str) -> String {
    format!("dastak://{kind}/{name}")
}

/// The heading of a page, and the beginning of what stands below it.
fn heading(text: &str) -> (&str, String) {
    // Guides may have a head of their own between lines of dashes.
    let body =
        text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, body)| body);
    let mut lines = body.lines().skip_while(|line| !line.starts_with("# "));
    let title = lines.next().map_or("", |line| line.trim_start_matches("# ").trim());
    let paragraph: Vec<&str> =
        lines.skip_while(|line| line.trim().is_empty()).take_while(|line| !line.trim().is_empty()).collect();
    (title, paragraph.join(" ").chars().take(DESCRIPTION).collect())
}

/// All of them, without their text.
pub(crate) fn list() -> Vec<Resource> {
    let page = |(kind, name, text): &(&str, &str, &str)| {
        let (title, description) = heading(text);
        Resource::new(address(kind, name), format!("{kind}/{name}"))
            .with_title(title)
            .with_description(description)
            .with_mime_type(MARKDOWN)
            .with_size(text.len() as u64)
    };
    let errors = Resource::new(ERRORS, "errors")
        .with_title("Error codes")
        .with_description("Every error code of the API: what it means and what to do.")
        .with_mime_type(MARKDOWN);
    PAGES.iter().map(page).chain([errors]).collect()
}

/// The text of one.
pub(crate) fn read(uri: &str) -> Option<ResourceContents> {
    let text = if uri == ERRORS {
        errors()
    } else {
        let (_, _, text) = PAGES.iter().find(|(kind, name, _)| address(kind, name) == uri)?;
        (*text).to_owned()
    };
    Some(ResourceContents::text(text, uri).with_mime_type(MARKDOWN))
}

/// The error codes as a page.
fn errors() -> String {
    let mut text = String::from(
        "# Error codes\n\nThe body of an error is `{error, code, meta}`. `code` is one of these words; more may be added.\n\n| code | status | meaning |\n|---|---|---|\n",
    );
    for error in error_codes::ALL {
        let meaning = error.meaning.replace('|', "\\|");
        // A line break would end the row; writing to a text does not fail.
        let _ = writeln!(text, "| `{}` | {} | {} |", error.code, error.status, meaning.replace('\n', " "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_a_title_and_can_be_read() {
        let pages = list();
        assert!(pages.len() > 20, "{}", pages.len());
        for page in pages {
            assert!(!page.title.clone().unwrap_or_default().is_empty(), "{}", page.uri);
            assert!(!page.description.clone().unwrap_or_default().is_empty(), "{}", page.uri);
            let Some(ResourceContents::TextResourceContents { text, .. }) = read(&page.uri) else {
                panic!("{} cannot be read", page.uri)
            };
            assert!(text.len() > 100, "{}", page.uri);
        }
        assert_eq!(read("dastak://contract/../../Cargo"), None);
        let ResourceContents::TextResourceContents { text, .. } = read(ERRORS).unwrap() else {
            panic!("text")
        };
        assert!(text.contains("| `unauthorized` | 401 |"), "{text}");
    }
}
