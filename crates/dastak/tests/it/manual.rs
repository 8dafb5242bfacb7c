//! The manual at `/docs`: what is served, in which form, and under which headers.

use bytes::Bytes;

use crate::app::{Answer, TestApp};

async fn get(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Answer {
    app.send("GET", path, None, headers, Bytes::new()).await
}

#[tokio::test]
async fn pages_are_served_as_html_and_as_markdown() {
    let app = TestApp::start().await;
    for (path, kind, words) in [
        ("/docs", "text/html; charset=utf-8", "/v1/openapi.json"),
        ("/docs/guides/nudges", "text/html; charset=utf-8", "<h1>Nudges</h1>"),
        ("/docs/guides/nudges.md", "text/markdown; charset=utf-8", "# Nudges\n"),
        ("/docs/reference/calls", "text/html; charset=utf-8", "id=\"placeCall\""),
        ("/docs/errors/call_blocked", "text/html; charset=utf-8", "What to do"),
        ("/docs.md", "text/markdown; charset=utf-8", "# "),
        ("/llms.txt", "text/plain; charset=utf-8", "](/docs/guides/nudges.md)"),
        ("/docs/search.json", "application/json", "/docs/guides/nudges"),
        ("/docs/manual.js", "text/javascript; charset=utf-8", "'use strict'"),
        ("/docs/manual.css", "text/css; charset=utf-8", ":root"),
    ] {
        let page = get(&app, path, &[]).await;
        assert_eq!((page.status, page.header("content-type")), (200, Some(kind)), "{path}");
        assert!(page.text.contains(words), "{path} lacks {words}");
        let policy = page.header("content-security-policy").unwrap_or_default();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
    }
    let asked = get(&app, "/docs/guides/nudges", &[("accept", "text/markdown, text/html;q=0.9")]).await;
    assert_eq!(asked.header("content-type"), Some("text/markdown; charset=utf-8"));
    assert_eq!(asked.header("vary"), Some("accept, accept-encoding"));
}

#[tokio::test]
async fn a_page_that_was_read_before_is_not_sent_again() {
    let app = TestApp::start().await;
    let first = get(&app, "/docs/guides", &[]).await;
    let tag = first.header("etag").unwrap().to_owned();
    let again = get(&app, "/docs/guides", &[("if-none-match", &tag)]).await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    let head = app.send("HEAD", "/docs/guides", None, &[], Bytes::new()).await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    let packed = get(&app, "/docs/guides", &[("accept-encoding", "gzip, br")]).await;
    assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("gzip")));
    assert_ne!(packed.header("etag"), Some(tag.as_str()), "each coding has a tag of its own");
}

#[tokio::test]
async fn what_is_not_there_is_a_page_that_helps() {
    let app = TestApp::start().await;
    for path in
        ["/docs/nothing", "/docs/guides/none", "/docs/guides/nudges.md.md", "/docs/%00", "/docs//guides"]
    {
        let page = get(&app, path, &[]).await;
        assert_eq!(
            (page.status, page.header("content-type")),
            (404, Some("text/html; charset=utf-8")),
            "{path}"
        );
        assert!(page.text.contains("There is no such page") && page.text.contains("id=\"m-find\""), "{path}");
        assert!(page.header("content-security-policy").is_some(), "{path}");
    }
    let slash = get(&app, "/docs/guides/", &[]).await;
    assert_eq!((slash.status, slash.header("location")), (308, Some("/docs/guides")));
    let written = app.send("POST", "/docs/guides", None, &[], Bytes::new()).await;
    assert_eq!((written.status, written.header("allow")), (405, Some("GET, HEAD")));
}
