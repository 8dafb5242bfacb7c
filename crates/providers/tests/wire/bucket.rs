//! A bucket behind a socket: it verifies every signature independently, keeps objects and uploads in parts,
//! and misbehaves as told.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ring::digest::{SHA256, digest};
use ring::hmac::{HMAC_SHA256, Key, sign};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::head::read_head;

/// The key that the bucket knows.
pub const ACCESS_KEY: &str = "key-id";
/// Its secret.
pub const SECRET: &str = "hush-hush";
/// The region of its signatures.
pub const REGION: &str = "ap-south-1";
/// All parts but the last have at least so many bytes.
pub const SMALLEST_PART: usize = 5 << 20;

/// Longer than any condition takes: a test that reaches it has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is refused with this status and code.
    Refused(u16, &'static str),
    /// The connection closes in the middle of the body; nothing is carried out.
    Cut,
    /// It is carried out, and the connection closes before the answer.
    Lost,
    /// It is never answered.
    Silent,
    /// A part is stored under another tag than the answer says.
    WrongTag,
    /// The end of an upload begins its answer with 200 and then fails.
    LateFailure,
}

/// An object as it is kept.
#[derive(Clone)]
pub struct Object {
    pub kind: String,
    pub body: Vec<u8>,
}

struct Upload {
    key: String,
    kind: String,
    parts: BTreeMap<usize, (String, Vec<u8>)>,
}

#[derive(Default)]
struct Inside {
    objects: BTreeMap<String, Object>,
    uploads: BTreeMap<String, Upload>,
    /// What was asked: the operation and the key.
    log: Vec<(String, String)>,
    /// Operation, how often (none: always), what.
    plan: VecDeque<(&'static str, Option<usize>, Fault)>,
    begun: usize,
    tags: usize,
}

struct State {
    inside: Mutex<Inside>,
    changed: watch::Sender<usize>,
}

/// The bucket; its name is `bucket`.
#[derive(Clone)]
pub struct Bucket {
    pub url: String,
    state: Arc<State>,
}

impl Bucket {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(State { inside: Mutex::default(), changed: watch::channel(0).0 });
        let kept = state.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = kept.clone();
                tokio::spawn(async move { serve(stream, &state).await });
            }
        });
        Self { url, state }
    }

    fn inside<T>(&self, look: impl FnOnce(&mut Inside) -> T) -> T {
        look(&mut self.state.inside.lock().unwrap())
    }

    /// The next `times` requests of this kind go wrong: `put`, `get`, `head`, `delete`, `begin`, `part`,
    /// `complete`, `abort`, `uploads`, or `` for any.
    pub fn fail(&self, operation: &'static str, times: usize, fault: Fault) {
        self.inside(|inside| inside.plan.push_back((operation, Some(times), fault)));
    }

    /// All requests of this kind go wrong.
    pub fn fail_always(&self, operation: &'static str, fault: Fault) {
        self.inside(|inside| inside.plan.push_back((operation, None, fault)));
    }

    /// All is well again.
    pub fn mend(&self) {
        self.inside(|inside| inside.plan.clear());
    }

    /// Keys of all objects.
    pub fn keys(&self) -> Vec<String> {
        self.inside(|inside| inside.objects.keys().cloned().collect())
    }

    pub fn object(&self, key: &str) -> Option<Object> {
        self.inside(|inside| inside.objects.get(key).cloned())
    }

    /// Uploads that were begun and are not over: key, and the number and size of each part.
    pub fn uploads(&self) -> Vec<(String, Vec<(usize, usize)>)> {
        let parts = |upload: &Upload| {
            upload.parts.iter().map(|(number, (_, body))| (*number, body.len())).collect::<Vec<_>>()
        };
        self.inside(|inside| {
            inside.uploads.values().map(|upload| (upload.key.clone(), parts(upload))).collect()
        })
    }

    /// Ends all uploads, as a rule of the bucket about old ones does.
    pub fn forget_uploads(&self) {
        self.inside(|inside| inside.uploads.clear());
    }

    /// How many requests of this kind there were.
    pub fn count(&self, operation: &str) -> usize {
        self.inside(|inside| inside.log.iter().filter(|(asked, _)| asked == operation).count())
    }

    /// Waits until it is as the test wants it.
    pub async fn until(&self, what: &str, fits: impl Fn(&Self) -> bool) {
        let mut changed = self.state.changed.subscribe();
        let waited = tokio::time::timeout(PATIENCE, changed.wait_for(|_| fits(self))).await;
        assert!(waited.is_ok(), "{what}: {:?}, {:?}", self.keys(), self.uploads());
    }
}

struct Request {
    method: String,
    /// Without the bucket.
    key: String,
    path: String,
    query: String,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    fn parameter(&self, name: &str) -> Option<String> {
        let value = self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
        Some(percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned())
    }

    fn operation(&self) -> &'static str {
        let (upload, uploads) = (self.parameter("uploadId").is_some(), self.parameter("uploads").is_some());
        match self.method.as_str() {
            "POST" if uploads => "begin",
            "POST" if upload => "complete",
            "PUT" if upload => "part",
            "DELETE" if upload => "abort",
            "GET" if uploads => "uploads",
            "PUT" => "put",
            "DELETE" => "delete",
            "HEAD" => "head",
            "GET" => "get",
            other => panic!("the bucket knows no {other}"),
        }
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    sign(&Key::new(HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the query holds the signature that this request must have.
fn is_signed(request: &Request) -> bool {
    let Some((signed, given)) = request.query.split_once("&X-Amz-Signature=") else { return false };
    let names: Vec<&str> = signed.split('&').filter_map(|pair| pair.split('=').next()).collect();
    assert!(names.is_sorted(), "the parameters are signed in their order: {names:?}");
    let credential = request.parameter("X-Amz-Credential").expect("a credential");
    let scope = credential.strip_prefix(&format!("{ACCESS_KEY}/")).expect("our key").to_owned();
    assert!(scope.ends_with(&format!("/{REGION}/s3/aws4_request")), "{scope}");
    assert_eq!(request.parameter("X-Amz-SignedHeaders").as_deref(), Some("host"));
    let canonical = format!(
        "{}\n{}\n{signed}\nhost:{}\n\nhost\nUNSIGNED-PAYLOAD",
        request.method,
        request.path,
        request.header("host")
    );
    let hash = hex(digest(&SHA256, canonical.as_bytes()).as_ref());
    let date = request.parameter("X-Amz-Date").expect("a date");
    let to_sign = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{hash}");
    let key = scope.split('/').fold(format!("AWS4{SECRET}").into_bytes(), |key, part| mac(&key, part));
    given == hex(&mac(&key, &to_sign))
}

/// Reads a request; with `cut` it stops in the middle of the body.
async fn read(stream: &mut TcpStream) -> Option<(Request, usize)> {
    let (head, body) = read_head(stream).await?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let key = path.strip_prefix("/bucket").unwrap_or("?").trim_start_matches('/').to_owned();
    let (path, query) = (path.to_owned(), query.to_owned());
    Some((Request { method, key, path, query, headers, body }, length))
}

fn error(status: u16, code: &str) -> Answer {
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>m</Message></Error>");
    Answer { status, headers: String::new(), kind: "application/xml".into(), body: body.into_bytes() }
}

fn said(status: u16, body: &str) -> Answer {
    Answer { status, headers: String::new(), kind: "application/xml".into(), body: body.into() }
}

struct Answer {
    status: u16,
    headers: String,
    kind: String,
    body: Vec<u8>,
}

async fn serve(mut stream: TcpStream, state: &State) {
    let Some((mut request, length)) = read(&mut stream).await else { return };
    let operation = request.operation();
    let fault = {
        let mut inside = state.inside.lock().unwrap();
        let at = inside.plan.iter().position(|(of, ..)| of.is_empty() || *of == operation);
        at.map(|at| {
            let (_, times, fault) = &mut inside.plan[at];
            let fault = *fault;
            let over = times.as_mut().is_some_and(|times| {
                *times -= 1;
                *times == 0
            });
            if over {
                inside.plan.remove(at);
            }
            fault
        })
    };
    // A small body may be here whole already; then this much of it is as good as the middle.
    let wanted = if fault == Some(Fault::Cut) { length / 2 } else { length };
    request.body.reserve(wanted);
    while request.body.len() < wanted {
        if stream.read_buf(&mut request.body).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let answer = match fault {
        Some(Fault::Cut) => None,
        Some(Fault::Refused(status, code)) => Some(error(status, code)),
        Some(Fault::Silent) => {
            note(state, operation, &request);
            return std::future::pending().await;
        }
        Some(Fault::Lost) => {
            carry_out(state, &request, operation, fault);
            None
        }
        _ => Some(carry_out(state, &request, operation, fault)),
    };
    note(state, operation, &request);
    let Some(Answer { status, headers, kind, body }) = answer else { return };
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let body = if request.method == "HEAD" { Vec::new() } else { body };
    let _ = stream.write_all(&[head.into_bytes(), body].concat()).await;
    let _ = stream.shutdown().await;
}

fn note(state: &State, operation: &str, request: &Request) {
    state.inside.lock().unwrap().log.push((operation.to_owned(), request.key.clone()));
    state.changed.send_modify(|count| *count += 1);
}

fn carry_out(state: &State, request: &Request, operation: &str, fault: Option<Fault>) -> Answer {
    if !is_signed(request) {
        return error(403, "SignatureDoesNotMatch");
    }
    if request.key == "?" {
        return error(404, "NoSuchBucket");
    }
    let mut inside = state.inside.lock().unwrap();
    let (inside, key) = (&mut *inside, request.key.clone());
    let upload = request.parameter("uploadId");
    match operation {
        "head" if key.is_empty() => said(200, ""),
        "put" => {
            let kind = request.header("content-type").to_owned();
            inside.objects.insert(key, Object { kind, body: request.body.clone() });
            said(200, "")
        }
        "delete" => {
            inside.objects.remove(&key);
            said(204, "")
        }
        "get" | "head" => read_object(inside.objects.get(&key), request.header("range")),
        "begin" => {
            inside.begun += 1;
            // Such a sign has to be encoded in a query.
            let id = format!("2~up/{}=", inside.begun);
            let kind = request.header("content-type").to_owned();
            inside.uploads.insert(id.clone(), Upload { key, kind, parts: BTreeMap::new() });
            said(
                200,
                &format!(
                    "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
                ),
            )
        }
        "uploads" => {
            let prefix = request.parameter("prefix").unwrap_or_default();
            let listed: String = inside
                .uploads
                .iter()
                .filter(|(_, upload)| upload.key.starts_with(&prefix))
                .map(|(id, upload)| {
                    format!("<Upload><Key>{}</Key><UploadId>{id}</UploadId></Upload>", upload.key)
                })
                .collect();
            said(200, &format!("<ListMultipartUploadsResult>{listed}</ListMultipartUploadsResult>"))
        }
        "part" => {
            inside.tags += 1;
            let tag = format!("\"{:032x}\"", inside.tags);
            let number: usize =
                request.parameter("partNumber").and_then(|n| n.parse().ok()).expect("a number");
            let Some(upload) = upload.and_then(|id| inside.uploads.get_mut(&id)) else {
                return error(404, "NoSuchUpload");
            };
            upload.parts.insert(number, (tag.clone(), request.body.clone()));
            let told = if fault == Some(Fault::WrongTag) { "\"of-another-part\"".into() } else { tag };
            Answer { headers: format!("etag: {told}\r\n"), ..said(200, "") }
        }
        "abort" => match upload.and_then(|id| inside.uploads.remove(&id)) {
            Some(_) => said(204, ""),
            None => error(404, "NoSuchUpload"),
        },
        "complete" if fault == Some(Fault::LateFailure) => {
            Answer { status: 200, ..error(200, "InternalError") }
        }
        "complete" => complete(inside, &upload.unwrap_or_default(), &request.body),
        other => panic!("{other}"),
    }
}

fn read_object(found: Option<&Object>, range: &str) -> Answer {
    let Some(Object { kind, body }) = found else { return error(404, "NoSuchKey") };
    let answer = |status, body: &[u8]| Answer {
        status,
        headers: String::new(),
        kind: kind.clone(),
        body: body.to_vec(),
    };
    match range.strip_prefix("bytes=").and_then(|range| range.split_once('-')) {
        Some((first, last)) => {
            let (first, last) = (first.parse::<usize>().unwrap(), last.parse::<usize>().unwrap());
            answer(206, &body[first..body.len().min(last + 1)])
        }
        None => answer(200, body),
    }
}

fn complete(inside: &mut Inside, id: &str, body: &[u8]) -> Answer {
    let Some(upload) = inside.uploads.get(id) else { return error(404, "NoSuchUpload") };
    let listed = String::from_utf8_lossy(body).replace("&quot;", "\"");
    let named: Vec<(usize, String)> = listed
        .split("<Part>")
        .skip(1)
        .map(|part| {
            let text = |name: &str| {
                let (_, rest) = part.split_once(&format!("<{name}>")).expect("an element");
                rest.split_once("</").expect("its end").0.to_owned()
            };
            (text("PartNumber").parse().expect("a number"), text("ETag"))
        })
        .collect();
    assert!(named.is_sorted_by_key(|(number, _)| *number), "the parts are named in their order");
    let mut whole = Vec::new();
    for (at, (number, tag)) in named.iter().enumerate() {
        let Some((_, part)) = upload.parts.get(number).filter(|(kept, _)| kept == tag) else {
            return error(400, "InvalidPart");
        };
        if part.len() < SMALLEST_PART && at + 1 < named.len() {
            return error(400, "EntityTooSmall");
        }
        whole.extend_from_slice(part);
    }
    let object = Object { kind: upload.kind.clone(), body: whole };
    inside.objects.insert(upload.key.clone(), object);
    inside.uploads.remove(id);
    said(200, "<CompleteMultipartUploadResult><ETag>\"x-1\"</ETag></CompleteMultipartUploadResult>")
}
