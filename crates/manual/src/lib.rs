//! The manual at `/docs`, pure: from the tables of `api` and the Markdown of `docs/` to HTML, Markdown, `llms.txt` and a
//! search index. Nothing here reads a file or knows of HTTP.

mod advice;
mod errors;
mod events;
mod html;
mod links;
mod markdown;
mod page;
mod reference;
mod samples;
mod schema;
mod scopes;
mod search;
mod start;
mod text;
mod written;

use std::collections::BTreeMap;

use api::openapi::{Document, document};
use serde_json::Value;

use links::Links;
use page::{Page, markdown_path};

const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// A file as it is served.
#[derive(Debug)]
pub struct File {
    /// Its content type.
    pub content_type: &'static str,
    /// What is in it.
    pub body: String,
}

/// All files of the manual.
#[derive(Debug)]
pub struct Manual {
    /// By path: `/docs`, `/docs.md`, `/docs/guides/nudges`, `/docs/manual.css`, …
    pub files: BTreeMap<String, File>,
    /// The page for a path that does not exist.
    pub missing: String,
}

impl Manual {
    /// The manual of a service with this brand, whose keys begin with this prefix.
    pub fn new(brand: &str, key_prefix: &str) -> Self {
        let document = document(Document::Public, brand, key_prefix);
        let pages = all_pages(&document, brand, key_prefix);
        let links = Links::new(pages.iter().map(|page| page.path.clone()));
        let navigation = start::navigation(&pages);
        let shell = html::Shell { brand, key_prefix, navigation: &navigation, links: &links };
        let mut files = BTreeMap::new();
        let mut add = |path: &str, content_type, body: String| {
            files.insert(path.to_owned(), File { content_type, body });
        };
        for page in &pages {
            add(&page.path, HTML, html::page(&shell, page));
            let text = text::page(page, &links);
            if page.base() != page.path {
                add(&format!("{}.md", page.base()), MARKDOWN, text.clone());
            }
            add(&markdown_path(&page.path), MARKDOWN, text);
        }
        let index = start::llms(&pages, brand);
        add("/llms.txt", "text/plain; charset=utf-8", index.clone());
        add("/docs/llms.txt", "text/plain; charset=utf-8", index);
        add("/docs/search.json", "application/json", search::index(&pages));
        add("/docs/manual.css", "text/css; charset=utf-8", include_str!("../assets/manual.css").into());
        add("/docs/manual.js", "text/javascript; charset=utf-8", include_str!("../assets/manual.js").into());
        add("/docs/icon.svg", "image/svg+xml", include_str!("../assets/icon.svg").into());
        Self { missing: html::missing(&shell), files }
    }
}

/// Every page; guides come first, so that they do in lists, too.
fn all_pages(document: &Value, brand: &str, key_prefix: &str) -> Vec<Page> {
    let operations = reference::operations(document);
    let written = written::pages(key_prefix);
    let mut pages = vec![start::page(brand, &written)];
    pages.extend(written);
    pages.extend(reference::pages(document, &operations));
    pages.extend(events::pages(document));
    pages.extend(errors::pages(&operations));
    pages.push(scopes::page(&operations));
    pages
}

#[cfg(test)]
mod tests;
