//! Where the links of Markdown pages lead: the files refer to each other by relative paths, as on a code host.

use std::collections::HashSet;

/// The pages that links may lead to.
#[derive(Debug)]
pub struct Links {
    paths: HashSet<String>,
}

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub enum Target {
    /// A page of the manual, and the anchor with its `#` (or nothing).
    Page(String, String),
    /// Another place: an address, an operation of this service, a part of the same page.
    Elsewhere,
    /// A file that the manual does not have.
    Unknown,
}

impl Links {
    /// Of pages with these paths.
    pub fn new(paths: impl IntoIterator<Item = String>) -> Self {
        Self { paths: paths.into_iter().collect() }
    }

    /// Where a link on the page `from` leads.
    pub fn resolve(&self, from: &str, link: &str) -> Target {
        if link.starts_with('#') || link.contains("://") || link.starts_with("mailto:") {
            return Target::Elsewhere;
        }
        let (path, anchor) = match link.split_once('#') {
            Some((path, anchor)) => (path, format!("#{anchor}")),
            None => (link, String::new()),
        };
        let whole = if path.starts_with('/') {
            path.to_owned()
        } else {
            let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
            join(folder, path)
        };
        let page = whole.strip_suffix(".md").unwrap_or(&whole);
        let page = page.strip_suffix("/README").unwrap_or(page);
        if self.paths.contains(page) {
            return Target::Page(page.to_owned(), anchor);
        }
        match whole.as_str() {
            "/v1/openapi.json" | "/console" | "/llms.txt" | "/docs/llms.txt" => Target::Elsewhere,
            _ => Target::Unknown,
        }
    }
}

/// A relative path below a folder, without `.` and `..`.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_links_are_resolved_from_their_page() {
        let links =
            Links::new(["/docs/contract", "/docs/contract/calls", "/docs/guides/nudges"].map(str::to_owned));
        let page = |path: &str, anchor: &str| Target::Page(path.to_owned(), anchor.to_owned());
        for (from, link, expected) in [
            ("/docs/guides/nudges", "../contract/calls.md#states", page("/docs/contract/calls", "#states")),
            ("/docs/contract/calls", "README.md#ids", page("/docs/contract", "#ids")),
            ("/docs/contract/README", "calls.md", page("/docs/contract/calls", "")),
            ("/docs/contract/calls", "/docs/guides/nudges", page("/docs/guides/nudges", "")),
            ("/docs/contract/calls", "#states", Target::Elsewhere),
            ("/docs/contract/calls", "https://example.com", Target::Elsewhere),
            ("/docs/contract/calls", "../console.md", Target::Unknown),
        ] {
            assert_eq!(links.resolve(from, link), expected, "{from} {link}");
        }
    }
}
