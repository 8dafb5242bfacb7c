//! The console's files (docs/console.md): headers, caching, codings, and paths that try to leave them.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use dastak::app::limits::shares::Client;
use dastak::http::console_files;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::time::timeout;

use crate::app::{Answer, TestApp};
use crate::hostile_clients::{connect, head, until};

/// Ends a test that would otherwise never end.
const PATIENCE: Duration = Duration::from_secs(120);

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; \
media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types reader";

const SCRIPT: &str = "/console/assets/app-1a2b3c4d.js";
const FONT: &str = "/console/assets/latin-9f8e7d6c.woff2";
const IMMUTABLE: Option<&str> = Some("public, max-age=31536000, immutable");

/// A service with a small console in a folder, beside which there are things that nobody may read.
struct Built {
    app: TestApp,
    folder: PathBuf,
}

impl Built {
    async fn start() -> Self {
        Self::start_with(|_| ()).await
    }

    async fn start_with(change: impl FnOnce(&mut dastak::config::Config)) -> Self {
        let mut folder = PathBuf::new();
        let app = TestApp::start_with(|config| {
            change(config);
            folder = config.data.with_extension("console");
            let dist = folder.join("dist");
            let write = |name: &str, text: &str| {
                let path = dist.join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            };
            for name in ["index.html", "assets/app-1a2b3c4d.js"] {
                for (suffix, coding) in [("", "plain"), (".gz", "gzip"), (".br", "brotli")] {
                    write(&format!("{name}{suffix}"), &format!("{name} as {coding}"));
                }
            }
            write("assets/latin-9f8e7d6c.woff2", "a font");
            write("icon.svg", "<svg/>");
            write(".env", "hidden");
            write("api/me", "no file of the API");
            write("../secret", "beside the folder");
            config.console = Some(dist);
        })
        .await;
        Self { app, folder }
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.app.send("GET", path, None, headers, Bytes::new()).await
    }

    /// The answer to a request as it is written, up to its end.
    async fn raw(&self, request: &str) -> String {
        let mut socket = connect(&self.app).await;
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut said = Vec::new();
        timeout(PATIENCE, socket.read_to_end(&mut said))
            .await
            .expect("an answer and its end")
            .expect("no reset");
        String::from_utf8_lossy(&said).into_owned()
    }

    /// The same for a path that a client would change before it sends it.
    async fn path_as_written(&self, path: &str) -> String {
        self.raw(&head("GET", path, None, "connection: close\r\n")).await
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[track_caller]
fn is_secure(answer: &Answer) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "no-referrer"),
        ("permissions-policy", "microphone=(self)"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
        assert_eq!(answer.headers.get_all(name).iter().count(), 1, "{name}");
    }
    assert_eq!(answer.header("set-cookie"), None);
}

#[tokio::test]
async fn every_answer_has_the_headers() {
    let built = Built::start().await;
    for (method, path, status) in [
        ("GET", "/console/", 200),
        ("GET", "/console/ws_1/test/calls?state=live", 200),
        ("GET", "/console/link", 200),
        ("GET", "/console/invitation", 200),
        ("GET", "/console/link.js", 200),
        ("GET", SCRIPT, 200),
        ("GET", FONT, 200),
        ("GET", "/console/assets/gone-1.js", 404),
        ("GET", "/console", 308),
        ("POST", "/console/", 405),
        ("POST", "/console/link", 405),
        ("GET", "/console/openid/start", 404),
    ] {
        let answer = built.app.send(method, path, None, &[], Bytes::new()).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        is_secure(&answer);
    }
    // Answers outside of the console have none of these headers; other pages cannot frame them either.
    let api = built.get("/console/api/me", &[]).await;
    assert_eq!((api.status, api.header("content-security-policy")), (401, None));
}

#[tokio::test]
async fn files_have_their_kinds_and_are_kept_by_their_names() {
    let built = Built::start().await;
    for (path, kind, kept) in [
        ("/console/", "text/html; charset=utf-8", Some("no-cache")),
        ("/console/index.html", "text/html; charset=utf-8", Some("no-cache")),
        ("/console/icon.svg", "image/svg+xml", Some("no-cache")),
        (SCRIPT, "text/javascript; charset=utf-8", IMMUTABLE),
        (FONT, "font/woff2", IMMUTABLE),
        ("/console/assets/gone-1.js", "application/json", Some("no-store")),
    ] {
        let answer = built.get(path, &[]).await;
        assert_eq!(
            (answer.header("content-type"), answer.header("cache-control")),
            (Some(kind), kept),
            "{path}"
        );
    }
}

#[tokio::test]
async fn an_address_of_the_console_is_its_page() {
    let built = Built::start().await;
    for path in
        ["/console/", "/console/index.html", "/console/ws_1/calls/call_1", "/console/apis", "/console/x.js"]
    {
        let answer = built.get(path, &[]).await;
        assert_eq!((answer.status, answer.text.as_str()), (200, "index.html as plain"), "{path}");
    }
    // The console has pages for links itself, and the token never leaves the browser.
    for path in ["/console/link", "/console/invitation"] {
        let answer = built.get(path, &[]).await;
        assert_eq!((answer.status, answer.text.as_str()), (200, "index.html as plain"), "{path}");
        let etag = answer.header("etag").unwrap().to_owned();
        assert_eq!(built.get(path, &[("if-none-match", &etag)]).await.status, 304);
    }
    for path in ["/console/assets/", "/console/assets/gone-1.js", "/console/assets/../assets"] {
        let said = built.path_as_written(path).await;
        assert!(said.starts_with("HTTP/1.1 404") && said.contains("\"code\":\"not_found\""), "{said}");
    }
    let answer = built.get("/console?ask=1", &[]).await;
    assert_eq!((answer.status, answer.header("location")), (308, Some("/console/?ask=1")));
    let elsewhere = built.path_as_written("/console?//evil.example/").await;
    assert!(elsewhere.contains("location: /console/?//evil.example/\r\n"), "{elsewhere}");
}

#[tokio::test]
async fn a_client_gets_the_coding_that_it_takes() {
    let built = Built::start().await;
    for (accepts, coding, text) in [
        (None, None, "assets/app-1a2b3c4d.js as plain"),
        (Some("identity"), None, "assets/app-1a2b3c4d.js as plain"),
        (Some("deflate"), None, "assets/app-1a2b3c4d.js as plain"),
        (Some("gzip, deflate"), Some("gzip"), "assets/app-1a2b3c4d.js as gzip"),
        (Some("gzip, deflate, br, zstd"), Some("br"), "assets/app-1a2b3c4d.js as brotli"),
        (Some("br;q=0, gzip"), Some("gzip"), "assets/app-1a2b3c4d.js as gzip"),
    ] {
        let headers: Vec<_> = accepts.map(|accepts| ("accept-encoding", accepts)).into_iter().collect();
        let answer = built.get(SCRIPT, &headers).await;
        assert_eq!((answer.header("content-encoding"), answer.text.as_str()), (coding, text), "{accepts:?}");
        assert_eq!(answer.header("vary"), Some("accept-encoding"));
        is_secure(&answer);
    }
    // A font is there only as it is.
    let font = built.get(FONT, &[("accept-encoding", "br, gzip")]).await;
    assert_eq!((font.header("content-encoding"), font.text.as_str()), (None, "a font"));
    // What is compressed has no address of its own.
    let answer = built.get(&format!("{SCRIPT}.gz"), &[]).await;
    assert_eq!(answer.status, 404, "{}", answer.text);
}

#[tokio::test]
async fn what_a_client_has_is_not_sent_again() {
    let built = Built::start().await;
    let mut tags = Vec::new();
    for coding in ["identity", "gzip", "br"] {
        let accepts = ("accept-encoding", coding);
        let etag = built.get("/console/", &[accepts]).await.header("etag").unwrap().to_owned();
        for known in [etag.clone(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".to_owned()] {
            let again = built.get("/console/", &[accepts, ("if-none-match", &known)]).await;
            assert_eq!((again.status, again.text.as_str()), (304, ""), "{known}");
            assert_eq!(
                (again.header("etag"), again.header("cache-control")),
                (Some(&*etag), Some("no-cache"))
            );
            is_secure(&again);
        }
        tags.push(etag);
    }
    tags.sort_unstable();
    tags.dedup();
    assert_eq!(tags.len(), 3, "each coding has a tag of its own: {tags:?}");
    let other = built.get("/console/", &[("if-none-match", "\"other\"")]).await;
    assert_eq!((other.status, other.text.as_str()), (200, "index.html as plain"));
    // Another build is another tag.
    std::fs::write(built.folder.join("dist/index.html"), "a newer page").unwrap();
    let newer = built.get("/console/", &[("if-none-match", &tags.join(", "))]).await;
    assert_eq!((newer.status, newer.text.as_str()), (200, "a newer page"));
}

#[tokio::test]
async fn no_path_leads_out_of_the_files() {
    let built = Built::start().await;
    let outside = ["beside the folder", "hidden", "no file of the API", "root:"];
    for path in [
        "/console/../secret",
        "/console/..%2fsecret",
        "/console/..%2Fsecret",
        "/console/%2e%2e/secret",
        "/console/%2e%2e%2fsecret",
        "/console/.%2e/secret",
        "/console/..%5csecret",
        "/console/..\\secret",
        "/console/assets/../../secret",
        "/console/assets/..%2f..%2fsecret",
        "/console//etc/passwd",
        "/console/%2fetc%2fpasswd",
        "/console/.env",
        "/console/%2eenv",
        "/console/index.html%00.js",
        "/console/dist/../../secret",
        "/console/%",
        "/console/%ff",
    ] {
        let said = built.path_as_written(path).await;
        let status = said.get(9..12).unwrap_or_default();
        assert!(["200", "400", "404"].contains(&status), "{path}: {said}");
        assert!(!outside.iter().any(|text| said.contains(text)), "{path}: {said}");
    }
}

#[tokio::test]
async fn the_api_is_never_a_file() {
    let built = Built::start().await;
    for path in [
        "/console/api",
        "/console/api/",
        "/console/api/nothing",
        "/console/%61pi/me",
        "/console/api/ws_1/live/v1/me",
    ] {
        for method in ["GET", "POST"] {
            built.app.send(method, path, None, &[], Bytes::new()).await.not_found();
        }
    }
    built.get("/console/api/me", &[]).await.refused(401, "unauthorized");
    built.get("/console/api/sign-in", &[]).await.expect(200);
}

#[tokio::test]
async fn files_are_only_read() {
    let built = Built::start().await;
    for path in ["/console", "/console/", "/console/ws_1/calls", SCRIPT] {
        for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let answer = built.app.send(method, path, None, &[], Bytes::new()).await;
            assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{method} {path}");
            is_secure(&answer);
            answer.refused(405, "method_not_allowed");
        }
    }
    for (path, length) in [("/console/", "index.html as plain".len()), (FONT, "a font".len())] {
        let said = built.raw(&head("HEAD", path, None, "connection: close\r\n")).await;
        assert!(said.starts_with("HTTP/1.1 200") && said.ends_with("\r\n\r\n"), "no body: {said}");
        assert!(said.contains(&format!("content-length: {length}\r\n")), "{said}");
    }
}

/// Whatever a request says of where it comes from, and also if it names no host.
#[tokio::test]
async fn nobody_may_frame_a_page() {
    let built = Built::start().await;
    for request in [
        "GET /console/ HTTP/1.0\r\n\r\n".to_owned(),
        head(
            "GET",
            "/console/",
            None,
            "connection: close\r\nsec-fetch-site: cross-site\r\nsec-fetch-dest: iframe\r\n",
        ),
        head("GET", "/console/link", None, "connection: close\r\norigin: https://evil.example\r\n"),
    ] {
        let said = built.raw(&request).await;
        assert!(said.contains(" 200 OK\r\n") && said.contains("frame-ancestors 'none'"), "{said}");
        assert!(!said.contains("access-control-"), "{said}");
    }
}

/// Files that are read from a folder and not taken by clients are bounded, as other answers are.
#[tokio::test]
async fn a_flood_of_requests_takes_bounded_memory() {
    let built = Built::start_with(|config| config.limits.answer_time = 10 * PATIENCE).await;
    std::fs::write(built.folder.join("dist/assets/large-1.js"), vec![b'x'; 4 << 20]).unwrap();
    let most = built.app.app().config.limits.answers_per_client;
    let address = built.app.url.strip_prefix("http://").unwrap().parse().unwrap();
    let (mut idle, mut given, mut refused) = (Vec::new(), 0, 0);
    for _ in 0..most / (4 << 20) + 4 {
        // Its kernel takes little before it is read.
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut socket = socket.connect(address).await.unwrap();
        socket.write_all(head("GET", "/console/assets/large-1.js", None, "").as_bytes()).await.unwrap();
        let mut line = [0; 12];
        timeout(PATIENCE, socket.read_exact(&mut line)).await.expect("an answer").expect("its first bytes");
        match &line[9..] {
            b"200" => given += 1,
            b"429" => refused += 1,
            other => panic!("{}", String::from_utf8_lossy(other)),
        }
        idle.push(socket);
    }
    // Who is refused is told so on a page of the console, too.
    let refusal = built.get("/console/assets/large-1.js", &[]).await;
    is_secure(&refusal);
    refusal.refused(429, "rate_limited");
    assert!(given >= most / (4 << 20) && refused > 0, "{given} were given, {refused} refused");
    let shares = &built.app.app().shares;
    let taken = shares.answers.taken_by(&Client::Stranger);
    assert!(taken <= most && taken > most / 2, "{taken}");
    drop(idle);
    until("they are given back", || shares.answers.taken() == 0).await;
    assert_eq!(built.get("/console/assets/large-1.js", &[]).await.text.len(), 4 << 20);
}

/// What the binary has itself: a whole console, or a page that says that there is none. Both have the headers.
#[tokio::test]
async fn the_binary_has_its_console_or_says_that_it_has_none() {
    let app = TestApp::start().await;
    let get =
        async |path: &str, headers: &[(&str, &str)]| app.send("GET", path, None, headers, Bytes::new()).await;
    let has_one = console_files::built(&app.app().config);
    for path in ["/console/", "/console/ws_1/calls"] {
        let page = get(path, &[]).await;
        is_secure(&page);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(!page.text.contains("<script>") && !page.text.contains("style="), "nothing is inline");
        assert_eq!(page.text.contains("was built without its console"), !has_one, "{}", page.text);
        assert_eq!(page.status, if has_one { 200 } else { 404 });
    }
    let missing = get("/console/assets/gone-1.js", &[]).await;
    is_secure(&missing);
    missing.not_found();
    let link = get("/console/link", &[]).await;
    assert_eq!(link.text.contains("This link signs you in once."), !has_one, "{}", link.text);
    if has_one {
        let packed = get("/console/", &[("accept-encoding", "gzip")]).await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
    }
}

#[tokio::test]
async fn a_folder_without_a_console_is_refused() {
    let built = Built::start().await;
    let mut config = built.app.app().config.clone();
    assert_eq!(console_files::check(&config), Ok(()));
    config.console = Some(built.folder.clone());
    let why = console_files::check(&config).unwrap_err();
    assert!(why.starts_with("console: ") && why.contains("has no index.html"), "{why}");
}
