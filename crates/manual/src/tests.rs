use std::collections::{HashMap, HashSet};

use super::*;
use crate::page::Kind;

/// Largest search index, bytes: it is read whole by a browser.
const LARGEST_INDEX: usize = 768 * 1024;

fn manual() -> &'static Manual {
    static MADE: std::sync::OnceLock<Manual> = std::sync::OnceLock::new();
    MADE.get_or_init(|| Manual::new("Acme", "acme"))
}

fn html_pages() -> impl Iterator<Item = (&'static String, &'static str)> {
    manual()
        .files
        .iter()
        .filter(|(_, file)| file.content_type == HTML)
        .map(|(path, file)| (path, file.body.as_str()))
}

/// The values of an attribute in a page.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    html.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_operation_of_the_document_is_on_a_page() {
    let document = document(Document::Public, "Acme", "acme");
    let mut seen = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            let page = reference::chapter_path(operation["tags"][0].as_str().unwrap());
            let html = &manual().files[&page].body;
            let (_, section) =
                html.split_once(&format!("<h2 id=\"{id}\">")).unwrap_or_else(|| panic!("{id} on {page}"));
            let section = section.split("<h2 ").next().unwrap();
            for part in [
                method.to_uppercase(),
                html::escape(path),
                html::escape(operation["summary"].as_str().unwrap()),
            ] {
                assert!(section.contains(&part), "{id} lacks {part}");
            }
            assert!(section.contains("Errors ("), "{id} lists no errors");
            seen += 1;
        }
    }
    assert!(seen > 150, "{seen}");
}

#[test]
fn every_link_leads_to_a_page_and_an_anchor() {
    let pages: HashMap<&String, &str> = html_pages().collect();
    let anchors: HashMap<&str, HashSet<&str>> = pages
        .iter()
        .map(|(path, html)| (path.as_str(), attributes(html, "id").into_iter().collect()))
        .collect();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, html) in &pages {
        for link in attributes(html, "href") {
            let link = link.replace("&amp;", "&");
            if link.contains("://") {
                continue;
            }
            let (page, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let page = if page.is_empty() { path.as_str() } else { page };
            seen += 1;
            let other = ["/v1/openapi.json", "/console"].contains(&page) || manual().files.contains_key(page);
            let good = match anchors.get(page) {
                Some(ids) => anchor.is_empty() || ids.contains(anchor),
                None => other,
            };
            if !good {
                wrong.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(seen > 5_000, "{seen}");
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{} links lead nowhere: {wrong:#?}", wrong.len());
}

#[test]
fn guides_link_only_to_what_is_there() {
    let document = document(Document::Public, "Acme", "acme");
    let pages = all_pages(&document, "Acme", "acme");
    let links = Links::new(pages.iter().map(|page| page.path.clone()));
    for page in pages.iter().filter(|page| page.kind == Kind::Guide) {
        let page::Block::Markdown(source) = &page.blocks[0] else { panic!("{} is written", page.path) };
        for link in source.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert_ne!(links.resolve(&page.path, link), links::Target::Unknown, "{}: {link}", page.path);
        }
    }
}

#[test]
fn pages_are_whole_and_have_nothing_that_the_policy_forbids() {
    for (path, html) in html_pages() {
        assert_eq!(html.matches("<h1>").count(), 1, "{path}: one first-level heading");
        assert!(html.contains("<html lang=\"en\"") && html.contains("class=\"skip\""), "{path}");
        for forbidden in
            [" style=\"", "<style", " onclick", " onload", " onerror", "javascript:", "<iframe", "http-equiv"]
        {
            assert!(!html.contains(forbidden), "{path} has {forbidden}");
        }
        assert_eq!(html.matches("<script").count(), 1, "{path} has a script of its own");
        let mut last = 1;
        for level in html.split("<h").skip(1).filter_map(|rest| rest.chars().next()?.to_digit(10)) {
            assert!(level <= last + 1, "{path}: a heading of level {level} after one of level {last}");
            last = level;
        }
        let mut ids = HashSet::new();
        for id in attributes(html, "id") {
            assert!(ids.insert(id), "{path} has the id {id} twice");
        }
        assert!(html.len() < 1_500_000, "{path} has {} bytes", html.len());
    }
}

#[test]
fn every_page_is_there_as_markdown() {
    for (path, _) in html_pages() {
        let text = manual().files.get(&markdown_path(path)).unwrap_or_else(|| panic!("{path} as Markdown"));
        assert_eq!(text.content_type, MARKDOWN);
        assert!(text.body.starts_with("# "), "{path}");
    }
}

#[test]
fn the_index_for_language_models_lists_every_guide_and_leads_somewhere() {
    let index = &manual().files["/llms.txt"].body;
    assert!(index.starts_with("# Acme API\n\n> "), "{index}");
    let guides: Vec<_> = html_pages().filter(|(path, _)| path.starts_with("/docs/guides/")).collect();
    assert!(guides.len() >= 13, "{}", guides.len());
    for (path, _) in guides {
        assert!(index.contains(&format!("]({path}.md): ")), "{path}");
    }
    for link in index.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(manual().files.contains_key(link), "{link}");
    }
}

#[test]
fn the_search_index_has_every_page_and_is_small() {
    let index = &manual().files["/docs/search.json"].body;
    assert!(index.len() < LARGEST_INDEX, "{} bytes", index.len());
    let entries: Vec<(String, String, String, String)> = serde_json::from_str(index).unwrap();
    for (path, _) in html_pages() {
        assert!(entries.iter().any(|(_, address, ..)| address == path), "{path}");
    }
    for (title, address, ..) in &entries {
        assert!(!title.is_empty());
        let page = address.split('#').next().unwrap();
        assert!(manual().files.contains_key(page), "{address}");
    }
}

#[test]
fn every_error_and_event_has_a_page() {
    for error in api::error_codes::ALL {
        let html = &manual().files[&format!("/docs/errors/{}", error.code)].body;
        assert!(html.contains("What to do"), "{}", error.code);
    }
    for event in api::events::ALL {
        let html = &manual().files[&format!("/docs/events/{}", event.name)].body;
        assert!(html.contains("Sample") && html.contains("livemode"), "{}", event.name);
    }
}

#[test]
fn only_what_a_test_key_may_call_can_be_tried() {
    let agents = &manual().files["/docs/reference/agents"].body;
    assert!(agents.contains("data-path=\"/v1/agents/{id}\""), "agents are read");
    assert!(!agents.contains("data-method=\"DELETE\""), "test keys delete no agent");
    assert!(html_pages().all(|(_, html)| html.contains("data-key-prefix=\"acme\"")));
}
