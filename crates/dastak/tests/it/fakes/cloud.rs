//! The messaging channel's Cloud API: speaks its wire over a socket, keeps what it is sent, and misbehaves as told
//! (`Fake::fail…`). What it would tell by itself, tests tell for it.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::{Fake, Reply, Request, System};

/// The business account that it has.
pub const ACCOUNT: &str = "102290129340398";
/// The provider's id of its first number, and the number.
pub const NUMBER_ID: &str = "106540352242922";
pub const NUMBER: &str = "+918047111222";
/// The provider's id of its app.
pub const APP: &str = "670843887433847";
/// What opens it.
pub const TOKEN: &str = "EAAtoken-hush";
/// What signs its notifications.
pub const SECRET: &str = "secret-hush";
/// What it shows when it verifies an address.
pub const VERIFY: &str = "verify-hush";

/// The API.
#[derive(Default)]
pub struct Cloud {
    state: Mutex<State>,
    url: String,
}

#[derive(Default)]
struct State {
    expired: bool,
    next: u64,
    sent: Vec<Value>,
    numbers: Vec<Value>,
    templates: Vec<Value>,
    /// Templates on a page.
    page: usize,
    media: Vec<(String, String, String)>,
}

fn error(status: u16, code: i64, details: &str) -> Reply {
    let body = json!({"error": {"message": format!("(#{code}) {details}"), "type": "OAuthException", "code": code,
        "error_data": {"messaging_product": "whatsapp", "details": details}, "fbtrace_id": "A"}});
    Reply::Json(status, body)
}

/// A refusal with this code, to be planned.
pub fn refusal(status: u16, code: i64) -> Reply {
    error(status, code, "as planned")
}

impl Cloud {
    fn new(url: &str) -> Self {
        let state = State {
            next: 1,
            page: 100,
            numbers: vec![number(NUMBER_ID, "+91 80471 11222", "GREEN")],
            ..State::default()
        };
        Self { state: Mutex::new(state), url: url.to_owned() }
    }

    /// The token is accepted no more, or again.
    pub fn expire(&self, expired: bool) {
        self.state.lock().unwrap().expired = expired;
    }

    /// Bodies of the messages that were sent.
    pub fn sent(&self) -> Vec<Value> {
        self.state.lock().unwrap().sent.clone()
    }

    /// Rates the first number.
    pub fn rate(&self, quality: &str) {
        self.state.lock().unwrap().numbers[0]["quality_rating"] = json!(quality);
    }

    /// How the first number stands; `None` takes it out of the account.
    pub fn stand(&self, status: Option<&str>) {
        let mut state = self.state.lock().unwrap();
        state.numbers.clear();
        if let Some(status) = status {
            let mut shown = number(NUMBER_ID, "+91 80471 11222", "GREEN");
            shown["status"] = json!(status);
            state.numbers.push(shown);
        }
    }

    /// Adds a template, or replaces the one with its name and language.
    pub fn put_template(&self, template: Value) {
        let mut state = self.state.lock().unwrap();
        state.templates.retain(|known| {
            (&known["name"], &known["language"]) != (&template["name"], &template["language"])
        });
        state.templates.push(template);
    }

    /// Takes a template away.
    pub fn remove_template(&self, name: &str) {
        self.state.lock().unwrap().templates.retain(|known| known["name"] != name);
    }

    pub fn templates(&self) -> Vec<Value> {
        self.state.lock().unwrap().templates.clone()
    }

    /// Templates on a page.
    pub fn page(&self, size: usize) {
        self.state.lock().unwrap().page = size;
    }

    /// Adds media that a customer sent: its id, its content type, its bytes.
    pub fn put_media(&self, id: &str, mime_type: &str, bytes: &str) {
        self.state.lock().unwrap().media.push((id.into(), mime_type.into(), bytes.into()));
    }

    fn messages(&self, request: &Request) -> Reply {
        let body = request.json();
        let mut state = self.state.lock().unwrap();
        let to = body["to"].as_str().or_else(|| body["recipient"].as_str()).unwrap_or_default().to_owned();
        let id = format!("wamid.{:06}", state.next);
        state.next += 1;
        state.sent.push(body);
        Reply::ok(json!({"messaging_product": "whatsapp", "contacts": [{"input": to, "wa_id": to}],
            "messages": [{"id": id, "message_status": "accepted"}]}))
    }

    fn template_calls(&self, request: &Request) -> Reply {
        let mut state = self.state.lock().unwrap();
        match request.method.as_str() {
            "GET" => {
                let from: usize =
                    request.query.get("after").and_then(|after| after.parse().ok()).unwrap_or(0);
                let page: Vec<Value> = state.templates.iter().skip(from).take(state.page).cloned().collect();
                let end = from + page.len();
                let mut paging = json!({"cursors": {"before": from.to_string(), "after": end.to_string()}});
                if end < state.templates.len() {
                    paging["next"] = json!("https://next.example");
                }
                Reply::ok(json!({"data": page, "paging": paging}))
            }
            "POST" => {
                let body = request.json();
                let id = format!("5944{:06}", state.next);
                state.next += 1;
                let mut template = body.clone();
                template["id"] = json!(id);
                template["status"] = json!("PENDING");
                state.templates.push(template);
                Reply::ok(json!({"id": id, "status": "PENDING", "category": body["category"]}))
            }
            _ => {
                let id = request.query.get("hsm_id").cloned().unwrap_or_default();
                state.templates.retain(|template| template["id"] != id.as_str());
                Reply::ok(json!({"success": true}))
            }
        }
    }

    fn of_account(&self, edge: &str, request: &Request) -> Reply {
        match edge {
            "" => Reply::ok(json!({"id": ACCOUNT, "name": "Acme"})),
            "phone_numbers" => Reply::ok(json!({"data": self.state.lock().unwrap().numbers})),
            "message_templates" => self.template_calls(request),
            "subscribed_apps" => Reply::ok(json!({"success": true})),
            _ => error(400, 100, "unknown edge"),
        }
    }

    fn object(&self, id: &str, request: &Request) -> Reply {
        let mut state = self.state.lock().unwrap();
        if let Some((_, mime_type, bytes)) = state.media.iter().find(|(known, ..)| known == id) {
            let sum = runtime::crypto::sha256(bytes.as_bytes());
            return Reply::ok(json!({"url": format!("{}/files/{id}", self.url), "mime_type": mime_type,
                "sha256": sum, "file_size": bytes.len(), "id": id, "messaging_product": "whatsapp"}));
        }
        match state.templates.iter_mut().find(|template| template["id"] == id) {
            Some(template) if request.method == "POST" => {
                for (name, value) in request.json().as_object().expect("an object") {
                    template[name.as_str()] = value.clone();
                }
                template["status"] = json!("PENDING");
                Reply::ok(json!({"success": true}))
            }
            Some(template) => Reply::ok(template.clone()),
            None => error(400, 100, "no such object"),
        }
    }
}

fn number(id: &str, shown: &str, quality: &str) -> Value {
    json!({"id": id, "display_phone_number": shown, "verified_name": "Acme", "quality_rating": quality,
        "status": "CONNECTED", "code_verification_status": "VERIFIED", "platform_type": "CLOUD_API",
        "throughput": {"level": "STANDARD"}, "whatsapp_business_manager_messaging_limit": "TIER_2K"})
}

impl System for Cloud {
    fn answer(&self, request: &Request) -> Reply {
        let bearer = format!("Bearer {TOKEN}");
        let upload = format!("OAuth {TOKEN}");
        let given = request.header("authorization");
        if self.state.lock().unwrap().expired || (given != bearer && given != upload) {
            return error(
                401,
                190,
                &format!("Error validating access token {}", given.trim_start_matches("Bearer ")),
            );
        }
        if let Some(id) = request.path.strip_prefix("/files/") {
            let state = self.state.lock().unwrap();
            let file = state.media.iter().find(|(known, ..)| known == id);
            return file
                .map_or(Reply::Bare(404), |(_, kind, bytes)| Reply::Text(200, kind.clone(), bytes.clone()));
        }
        let Some(path) = request.path.strip_prefix("/v25.0/") else { return error(400, 2500, "no version") };
        match path.split_once('/').unwrap_or((path, "")) {
            (ACCOUNT, edge) => self.of_account(edge, request),
            (APP, "uploads") => Reply::ok(json!({"id": "upload:ABC?sig=XYZ"})),
            (id, "") if id.starts_with("upload:") => Reply::ok(json!({"h": "4::aW1h"})),
            (_, "messages") => self.messages(request),
            (_, "media") => Reply::ok(json!({"id": "900"})),
            (id, "") => self.object(id, request),
            _ => error(400, 100, "unknown path"),
        }
    }
}

/// The fake alone, for a service that is started several times.
pub async fn alone() -> Fake<Cloud> {
    Fake::start(Cloud::new).await
}

/// The body that connects the account of the fake.
pub fn credentials() -> Value {
    json!({"provider": "cloud", "businessAccountId": ACCOUNT, "appId": APP, "accessToken": TOKEN,
        "appSecret": SECRET, "verifyToken": VERIFY})
}
