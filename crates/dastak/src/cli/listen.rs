//! `dastak listen`: forwards the workspace's events to a developer's machine that has no public address. It long-polls
//! for events and forwards them signed like an endpoint's, with a secret of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::{Arg, ArgAction, ArgMatches, Command};
use domain::ids::{Delivery, Id};
use domain::nearest::hint;
use domain::time::SECOND;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use providers::guarded_client::{GuardedClient, Limits, Policy, Request, SystemResolver, Target};
use ring::hmac;
use serde_json::{Value, json};
use webhooks::sign;

use super::failed::Failed;
use super::profiles::{self, Access};
use crate::runtime::clock::Clock;
use crate::runtime::ids::Ids;

/// Seconds of one long poll.
const WAIT: u32 = 25;
/// How long after its wait a poll is given up: a machine that slept, or a network that changed, leaves a connection on
/// which no answer comes. A busy service takes up to 20 s for a read permit, and a page of 4 MB its time on a slow line.
const GIVE_UP: Duration = Duration::from_secs(30);
/// Timeout of the local receiver, the same as of a real endpoint.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Options that name the service and a key, for `listen` and `trigger`.
pub fn service_options(command: Command) -> Command {
    profiles::key_option(profiles::options(command, false)).arg(
        Arg::new("json").long("json").action(ArgAction::SetTrue).help("One JSON object a line, for programs"),
    )
}

/// `dastak listen`: shows the events of a workspace, and forwards them to an address.
pub fn command() -> Command {
    service_options(
        Command::new("listen").about("Receive the workspace's events here, without a public address"),
    )
    .arg(
        Arg::new("forward-to")
            .long("forward-to")
            .value_name("URL")
            .help("Local address that gets each event as a signed POST; without it they are only shown"),
    )
    .arg(
        Arg::new("events")
            .long("events")
            .value_name("TYPES")
            .help("Only these types, with commas between them"),
    )
    .arg(
        Arg::new("secret")
            .long("secret")
            .value_name("whsec_…")
            .help("Signing secret; default: a new one, shown at the start"),
    )
}

/// The service's response, or its error.
pub fn accepted(access: &Access, status: u16, answer: Value) -> Result<Value, Failed> {
    if status < 400 {
        return Ok(answer);
    }
    let said = answer["error"].as_str().unwrap_or("the service refused");
    let advice = if status == 401 { format!("\n{}", access.advice()) } else { String::new() };
    Err(Failed::answered(status, format!("{said} ({status}){advice}")))
}

/// The local receiver.
struct Forward {
    http: GuardedClient,
    target: Target,
    ids: Ids,
    clock: Clock,
    key: hmac::Key,
}

impl Forward {
    fn new(url: &str, secret: &str, clock: &Clock) -> Result<Self, String> {
        let policy = Policy { allow_insecure: true, ..Policy::default() };
        let http =
            GuardedClient::new(policy, Arc::new(SystemResolver::new())).map_err(|why| why.to_string())?;
        let target = http.check_url(url).map_err(|why| format!("--forward-to {url}: {why}"))?;
        Ok(Self {
            http,
            target,
            ids: Ids::new(clock.clone()),
            clock: clock.clone(),
            key: hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()),
        })
    }

    fn headers(&self, brand: &str, event: &Value, body: &[u8]) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            http::header::USER_AGENT,
            HeaderValue::try_from(format!("{}-webhooks/1", brand.to_lowercase()))
                .map_err(|why| why.to_string())?,
        );
        let delivery: Id<Delivery> = self.ids.make();
        for (name, value) in [
            ("Signature", sign(&self.key, self.clock.now().unix_seconds(), body)),
            ("Event", event["type"].as_str().unwrap_or_default().to_owned()),
            ("Delivery", delivery.to_string()),
        ] {
            let name = HeaderName::try_from(format!("X-{brand}-{name}")).map_err(|why| why.to_string())?;
            headers.insert(name, HeaderValue::try_from(value).map_err(|why| why.to_string())?);
        }
        Ok(headers)
    }

    /// Sends one event; returns the status and the duration, or the error.
    async fn send(&self, brand: &str, event: &Value) -> Value {
        let body = Bytes::from(event.to_string());
        let started = Instant::now();
        let limits = Limits { deadline: ANSWER_WITHIN, max_response_bytes: 64 * 1024 };
        let answer = match self.headers(brand, event, &body) {
            Ok(headers) => self
                .http
                .send(Request::post(self.target.clone(), headers, body), limits)
                .await
                .map_err(|why| why.to_string()),
            Err(why) => Err(why),
        };
        let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        match answer {
            Ok(answer) => json!({"status": answer.status.as_u16(), "durationMs": took, "error": null}),
            Err(why) => json!({"status": null, "durationMs": took, "error": why}),
        }
    }
}

/// Where the output goes.
struct Show {
    json: bool,
}

impl Show {
    fn begin(&self, secret: Option<&str>, to: Option<&str>) {
        if self.json {
            println!("{}", json!({"listening": true, "forwardTo": to, "secret": secret}));
            return;
        }
        match (to, secret) {
            (Some(to), Some(secret)) => {
                println!("listening; events go to {to}, signed with\n\n  {secret}\n\nCtrl-C ends this.")
            }
            _ => println!("listening; Ctrl-C ends this."),
        }
    }

    fn event(&self, event: &Value, forwarded: Option<&Value>) {
        if self.json {
            println!("{}", json!({"event": event, "forwarded": forwarded}));
            return;
        }
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        let answer = match forwarded {
            None => String::new(),
            Some(forwarded) => match (forwarded["status"].as_u64(), forwarded["error"].as_str()) {
                (Some(status), _) => format!("  -> {status} in {} ms", forwarded["durationMs"]),
                (None, why) => format!("  -> {}", why.unwrap_or("no answer")),
            },
        };
        let mode = if event["livemode"] == true { "live" } else { "test" };
        println!("{}  {mode}  {:<24}  {}{answer}", text("createdAt"), text("type"), text("id"));
    }

    fn trouble(&self, why: &str) {
        eprintln!("dastak: {why}; trying again");
    }
}

/// Forwards events until the process is stopped.
pub async fn run(matches: &ArgMatches) -> Result<(), Failed> {
    let option = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let access = profiles::access(matches)?;
    let (client, clock, show) = (access.client()?, Clock::real(), Show { json: matches.get_flag("json") });
    let wanted: Vec<&str> = option("events")
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    if let Some(unknown) = wanted.iter().find(|name| api::events::find(name).is_none()) {
        let meant = hint(unknown, api::events::names());
        let allowed = api::events::names().join(", ");
        return Err(Failed::usage(format!("--events: found «{unknown}»{meant}; allowed: {allowed}")));
    }
    let secret = option("secret")
        .map_or_else(|| format!("whsec_{}", Ids::new(clock.clone()).random_text(40)), str::to_owned);
    let forward = option("forward-to").map(|url| Forward::new(url, &secret, &clock)).transpose()?;
    let mut cursor = "latest".to_owned();
    let mut told = false;
    loop {
        // The first poll only gets the current position.
        let wait = if told { WAIT } else { 0 };
        let path = format!("/v1/events?after={cursor}&wait={wait}");
        let within = Duration::from_secs(wait.into()) + GIVE_UP;
        let answer = match client.send_within("GET", &path, None, within).await {
            // A service that restarts, is busy or limits the rate is polled again.
            Err(why) => Err(why.message),
            Ok((status @ (429 | 500..), _)) => Err(format!("the service answered {status}")),
            Ok((status, answer)) => Ok(accepted(&access, status, answer)?),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => {
                show.trouble(&why);
                clock.sleep_until(clock.now().plus(SECOND)).await;
                continue;
            }
        };
        answer["cursor"].as_str().unwrap_or("latest").clone_into(&mut cursor);
        if !told {
            show.begin(forward.is_some().then_some(secret.as_str()), option("forward-to"));
            told = true;
        }
        let brand = answer["brand"].as_str().unwrap_or("Service");
        for event in answer["data"].as_array().into_iter().flatten() {
            if !wanted.is_empty() && !wanted.contains(&event["type"].as_str().unwrap_or_default()) {
                continue;
            }
            let forwarded = match &forward {
                Some(forward) => Some(forward.send(brand, event).await),
                None => None,
            };
            show.event(event, forwarded.as_ref());
        }
    }
}
