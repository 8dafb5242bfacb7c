//! The messaging channel's Cloud API and the people behind it: it takes messages, loses answers, throttles, refuses, is
//! away for hours, and tells what came of messages late, twice and in disorder. It outlives the service's crashes and
//! remembers every message that it was handed.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dastak::app::{App, Failure};
use domain::phone::Phone;
use domain::time::{DAY, HOUR, SECOND, Timestamp};
use http::{HeaderMap, StatusCode};
use providers::guarded_client::{Limits, Phase, Request, Response, SendError, Sending, Transport};
use serde_json::{Value, json};

use crate::carrier::{News, World};
use crate::clients::{Customer, Outcome, Shared};
use crate::faults::Side;
use crate::random::Random;

/// What signs the notifications of all accounts.
pub const SECRET: &str = "simulation-secret";
/// Templates of every account: id, name, category.
pub const TEMPLATES: [(&str, &str, &str); 2] =
    [("700001", "due_note", "UTILITY"), ("700002", "new_offer", "MARKETING")];

/// A message that the service handed over.
#[derive(Debug, Clone)]
pub struct Handed {
    /// The service's id of it, which goes along.
    pub message: String,
    pub to: Option<Phone>,
    /// Its words, or the value of its template.
    pub words: String,
    /// By the time that passed.
    pub passed: Timestamp,
    /// Whether the API took it, whatever it answered.
    pub taken: bool,
}

/// What one customer has there.
#[derive(Debug, Default)]
pub struct Account {
    pub handed: Vec<Handed>,
    /// Which token is good, and whether the access was withdrawn.
    pub consent: u64,
    pub withdrawn: bool,
    /// Nothing answers between these moments.
    pub away: Option<(Timestamp, Timestamp)>,
    /// Messages of people that the service acknowledged: their ids, and who wrote.
    pub heard: Vec<(String, Phone)>,
    /// What was told of messages and acknowledged: the service's id of each, and the word.
    pub told: Vec<(String, &'static str)>,
}

/// The API.
#[derive(Debug, Default)]
pub struct Cloud {
    pub accounts: [Account; 2],
    asked: u64,
    /// What the service sent that the API does not take.
    pub broken: Vec<String>,
}

/// A notification on its way: what it says, and what is known once it is acknowledged.
#[derive(Debug, Clone)]
pub struct Notification {
    pub customer: usize,
    body: Value,
    heard: Option<(String, Phone)>,
    told: Option<(String, &'static str)>,
}

/// The credentials of a customer, as they are by now.
pub fn credentials(customer: usize, consent: u64) -> Value {
    json!({"provider": "cloud", "businessAccountId": account_id(customer), "appId": "7701",
        "accessToken": format!("token-{customer}-{consent}"), "appSecret": SECRET, "verifyToken": "simulation-verify"})
}

fn account_id(customer: usize) -> String {
    format!("10200{customer}")
}

/// The provider's id of a customer's number, and the number.
pub fn number_of(customer: usize) -> (String, String) {
    (format!("20600{customer}"), format!("+91804711122{customer}"))
}

/// What the API does with a request.
enum Manner {
    Answer,
    /// It carries the request out and answers so many milliseconds later.
    Late(i64),
    /// Nobody takes the connection.
    Unreached,
    /// An error page; nothing is carried out.
    Fail,
    /// An error of its own, by code; nothing is carried out.
    Refuse(u16, i64),
    /// It carries the request out and closes before its answer.
    Lose,
    /// It carries the request out and never answers.
    Hang,
    /// It carries the request out and answers something that is no JSON.
    Babble,
}

fn answer(status: u16, body: impl Into<Bytes>) -> Response {
    Response {
        status: StatusCode::from_u16(status).expect("a status"),
        headers: HeaderMap::new(),
        body: body.into(),
        truncated: false,
        duration: Duration::ZERO,
    }
}

fn refusal(status: u16, code: i64) -> Response {
    let error =
        json!({"error": {"message": format!("(#{code}) simulated"), "code": code, "type": "OAuthException"}});
    answer(status, error.to_string())
}

impl World {
    /// What becomes of a request, by the seed and how many came before it.
    fn treat(&self) -> (Manner, Random) {
        let faulty = self.is_faulty();
        let mut cloud = self.cloud();
        cloud.asked += 1;
        let mut random = Random::named(self.seed(), &format!("cloud {}", cloud.asked));
        drop(cloud);
        let manner = match random.range(0, 99) {
            _ if !faulty => Manner::Answer,
            0..=2 => Manner::Unreached,
            3..=5 => Manner::Fail,
            6..=8 => Manner::Refuse(500, 131_000),
            9..=14 => Manner::Refuse(400, *random.pick(&[130_429, 131_056, 80_007, 131_057])),
            15..=17 => Manner::Refuse(400, *random.pick(&[131_026, 131_049, 131_047, 131_050])),
            18..=24 => Manner::Lose,
            25..=27 => Manner::Hang,
            28..=29 => Manner::Babble,
            30..=42 => Manner::Late(random.range(1, 19_000)),
            _ => Manner::Answer,
        };
        (manner, random)
    }

    /// A person writes to a customer's number, or taps what stands there.
    pub fn write(&self, customer: usize, from: Phone, id: &str, words: &str, tap: bool) {
        let now = self.now();
        let mut random = Random::named(self.seed(), &format!("write {id}"));
        let digits = from.to_string().trim_start_matches('+').to_owned();
        let mut message = json!({"from": digits, "id": id, "timestamp": now.unix_seconds().to_string()});
        if tap {
            message["type"] = json!("button");
            message["button"] = json!({"payload": words, "text": words});
        } else {
            message["type"] = json!("text");
            message["text"] = json!({"body": words});
        }
        let contact = json!({"wa_id": digits, "profile": {"name": "Asha"}});
        let value = json!({"contacts": [contact], "messages": [message]});
        let notification = Notification {
            customer,
            body: about(customer, value),
            heard: Some((id.to_owned(), from)),
            told: None,
        };
        let after = if random.percent(85) { random.range(0, 900) } else { random.range(1, 3_600) * SECOND };
        self.deliver(&mut random, now.plus(after), notification);
    }

    /// A notification arrives at its time, and now and then once more.
    fn deliver(&self, random: &mut Random, at: Timestamp, notification: Notification) {
        if random.percent(20) {
            let again = random.range(0, 1) * random.range(1, DAY / SECOND) * SECOND;
            self.send(at.plus(again), News::Told(notification.clone()));
        }
        self.send(at, News::Told(notification));
    }

    /// What becomes of a message that was taken, told in its order or not.
    fn follow(&self, random: &mut Random, customer: usize, handed: &Handed, id: &str) {
        let words: &[&'static str] = match random.range(0, 99) {
            0..=7 => &["failed"],
            8..=15 => &["sent", "failed"],
            16..=24 => &["sent"],
            25..=44 => &["sent", "delivered"],
            _ => &["sent", "delivered", "read"],
        };
        let mut at = self.now();
        for word in words {
            at = at.plus(match random.range(0, 9) {
                0..=1 => 0,
                2..=7 => random.range(1, 20_000),
                8 => random.range(1, 60) * SECOND,
                _ => random.range(0, 3) * HOUR,
            });
            let mut status = json!({"id": id, "status": word, "timestamp": at.unix_seconds().to_string(),
                "biz_opaque_callback_data": handed.message});
            if let Some(to) = handed.to {
                status["recipient_id"] = json!(to.to_string().trim_start_matches('+'));
            }
            if *word == "failed" {
                status["errors"] = json!([{"code": 131_026, "title": "simulated"}]);
            }
            let notification = Notification {
                customer,
                body: about(customer, json!({"statuses": [status]})),
                heard: None,
                told: Some((handed.message.clone(), word)),
            };
            let late = if random.percent(12) { random.range(1, 7_200) * SECOND } else { 0 };
            self.deliver(random, at.plus(late), notification);
        }
    }
}

fn about(customer: usize, mut value: Value) -> Value {
    let (id, number) = number_of(customer);
    value["messaging_product"] = json!("whatsapp");
    value["metadata"] =
        json!({"display_phone_number": number.trim_start_matches('+'), "phone_number_id": id});
    json!({"object": "whatsapp_business_account", "entry": [
        {"id": account_id(customer), "time": 1_798_432_200, "changes": [{"field": "messages", "value": value}]},
    ]})
}

/// The way to the API.
pub struct Api(pub Arc<World>);

impl Transport for Api {
    fn send(&self, request: Request, limits: Limits) -> Sending<'_> {
        Box::pin(async move {
            let sends = request.target.path_and_query().ends_with("/messages");
            let what = if sends { "channel message" } else { "channel account" };
            if self.0.dies_at(what, Side::Before) {
                std::future::pending::<()>().await;
            }
            let (manner, mut random) = self.0.treat();
            let came = match manner {
                Manner::Answer => Ok(self.carry_out(&request, &mut random, None)),
                Manner::Late(ms) => {
                    let came = self.carry_out(&request, &mut random, None);
                    self.0.think(ms).await;
                    Ok(came)
                }
                Manner::Unreached => Err(SendError::ConnectFailed(std::io::ErrorKind::ConnectionRefused)),
                Manner::Fail => {
                    Ok(self.carry_out(&request, &mut random, Some(answer(502, "<html>bad gateway</html>"))))
                }
                Manner::Refuse(status, code) => {
                    Ok(self.carry_out(&request, &mut random, Some(refusal(status, code))))
                }
                Manner::Lose => {
                    self.carry_out(&request, &mut random, None);
                    Err(SendError::Closed(Phase::Head))
                }
                Manner::Hang => {
                    self.carry_out(&request, &mut random, None);
                    self.0.think(limits.deadline.as_millis() as i64).await;
                    Err(SendError::Timeout(Phase::Head))
                }
                Manner::Babble => {
                    self.carry_out(&request, &mut random, None);
                    Ok(answer(200, "<html>maintenance</html>"))
                }
            };
            if self.0.dies_at(what, Side::After) {
                std::future::pending::<()>().await;
            }
            came
        })
    }
}

impl Api {
    /// Does what is asked, unless another answer is given without it.
    fn carry_out(&self, request: &Request, random: &mut Random, instead: Option<Response>) -> Response {
        let now = self.0.passed();
        let mut cloud = self.0.cloud();
        let token = request.headers.get("authorization").and_then(|value| value.to_str().ok());
        let token = token.and_then(|value| value.strip_prefix("Bearer token-")).unwrap_or_default();
        let known = token.split_once('-').and_then(|(customer, consent)| {
            Some((customer.parse::<usize>().ok()?, consent.parse::<u64>().ok()?))
        });
        let Some((customer, consent)) = known.filter(|(customer, _)| *customer < 2) else {
            cloud.broken.push("a request to the channel without a token".into());
            return refusal(401, 190);
        };
        let account = &mut cloud.accounts[customer];
        if account.away.is_some_and(|(from, to)| from <= now && now < to) {
            return answer(503, "<html>maintenance</html>");
        }
        if account.withdrawn || account.consent != consent {
            return refusal(401, 190);
        }
        let path = request.target.path_and_query();
        let path = path.split('?').next().unwrap_or_default();
        let (_, edge) = path.rsplit_once('/').unwrap_or_default();
        let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        if edge != "messages" {
            return instead.unwrap_or_else(|| answer(200, of_account(edge, customer).to_string()));
        }
        if !path.contains(&format!("/{}/", number_of(customer).0)) {
            cloud.broken.push(format!("a message of customer {customer} from {path}"));
            return refusal(400, 100);
        }
        let to = body["to"].as_str().and_then(|digits| Phone::normalize(&format!("+{digits}")).ok());
        let words =
            body.pointer("/text/body").or_else(|| body.pointer("/template/components/0/parameters/0/text"));
        let words = words.and_then(Value::as_str).unwrap_or_default().to_owned();
        let message = body["biz_opaque_callback_data"].as_str().unwrap_or_default().to_owned();
        let handed = Handed { message, to, words, passed: now, taken: instead.is_none() };
        let id = format!("wamid.{customer}.{}", account.handed.len());
        account.handed.push(handed.clone());
        drop(cloud);
        let what = if handed.taken { "takes" } else { "does not take" };
        self.0.tell(format!("the channel {what} {} «{}» to {:?}", handed.message, handed.words, handed.to));
        if let Some(instead) = instead {
            return instead;
        }
        self.0.follow(random, customer, &handed, &id);
        let to = body["to"].clone();
        let said = json!({"messaging_product": "whatsapp", "contacts": [{"input": to, "wa_id": to}],
            "messages": [{"id": id, "message_status": "accepted"}]});
        answer(200, said.to_string())
    }
}

fn of_account(edge: &str, customer: usize) -> Value {
    match edge {
        "phone_numbers" => {
            let (id, number) = number_of(customer);
            json!({"data": [{"id": id, "display_phone_number": number, "verified_name": "Acme", "quality_rating": "GREEN",
                "status": "CONNECTED", "throughput": {"level": "STANDARD"},
                "whatsapp_business_manager_messaging_limit": "TIER_2K"}]})
        }
        "message_templates" => {
            let templates: Vec<Value> = TEMPLATES
                .iter()
                .map(|(id, name, category)| {
                    json!({"id": id, "name": name, "language": "en", "category": category, "status": "APPROVED",
                        "components": [{"type": "BODY", "text": "Hello {{1}}."}]})
                })
                .collect();
            json!({"data": templates, "paging": {"cursors": {"before": "0", "after": "2"}}})
        }
        "messages" | "subscribed_apps" => json!({"success": true}),
        _ => json!({"id": account_id(customer), "name": "Acme"}),
    }
}

/// A notification reaches the service: signed, and sent again until it is acknowledged.
pub async fn report(
    app: Arc<App>,
    world: Arc<World>,
    customers: Arc<Vec<Customer>>,
    log: Shared,
    notification: Notification,
) -> Outcome {
    let body = notification.body.to_string();
    let signature = cloud_api::notifications::signature(SECRET, body.as_bytes());
    let received = async {
        let connection =
            channel::inbox::hook_connection(&app, &customers[notification.customer].hook).await?;
        channel::inbox::receive(&app, connection, &signature, body.clone(), |_| Ok(())).await
    };
    let received: Result<usize, Failure> = received.await;
    match received {
        Ok(1) => {}
        Ok(items) => {
            crate::clients::defective(&log, format!("a notification with one item had {items}: {body}"))
        }
        Err(failure) if failure.error.status == 503 => return Outcome::Again,
        Err(failure) => {
            crate::clients::defective(
                &log,
                format!("a notification was refused: {} {:?}", failure.message, failure.cause),
            );
        }
    }
    if world.dies_at("channel notification", Side::After) {
        std::future::pending::<()>().await;
    }
    let mut cloud = world.cloud();
    let account = &mut cloud.accounts[notification.customer];
    account.heard.extend(notification.heard);
    account.told.extend(notification.told);
    Outcome::Done
}
