//! Sends the request of a command and shows its answer.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use api::operation::Operation;
use clap::ArgMatches;
use domain::time::SECOND;
use serde_json::{Map, Value};

use super::super::client::{Answer, Client};
use super::super::failed::Failed;
use super::super::output::{say, write};
use super::arguments::Prepared;
use super::command::{ALL, IDEMPOTENCY_KEY, JSON, OUTPUT, Takes};
use super::show::{self, Table};
use super::stream;
use crate::runtime::clock::Clock;
use crate::runtime::files;

/// Operations whose reply is streamed to people.
pub const STREAMED: [&str; 1] = ["sendChatMessage"];
/// Times that a page is asked for again because of the rate limit.
const PATIENCE: u32 = 20;
/// Longest wait for the rate limit, in seconds.
const LONGEST_WAIT: i64 = 120;

/// Who calls: the service, the key, and what to do when the key is refused.
pub struct Caller {
    pub client: Client,
    pub refused_key: String,
}

/// Sends what the options say and prints the answer. The key is read once the options are known to be right.
pub async fn run(
    operation: &'static Operation,
    matches: &ArgMatches,
    caller: impl FnOnce() -> Result<Caller, Failed>,
) -> Result<(), Failed> {
    let takes = Takes::new(operation);
    let prepared = Prepared::new(&takes, matches)?;
    let call = Call { operation, caller: caller()?, json: matches.get_flag(JSON), matches };
    let flag = |id: &str| matches.try_get_one::<bool>(id).ok().flatten().copied().unwrap_or(false);
    let key = prepared.idempotency_key.clone();
    let outcome = if flag(ALL) {
        call.pages(prepared, takes.page_parameter().unwrap_or("cursor")).await
    } else if operation.content_type.is_some() {
        call.file(&prepared).await
    } else if STREAMED.contains(&operation.id) && !call.json {
        call.stream(&prepared).await
    } else {
        call.once(&prepared).await
    };
    outcome.map_err(|failed| match key {
        Some(key) if failed.unsure => Failed {
            message: format!(
                "{}\nWhether it was done is not known. The same command with --idempotency-key {key} does it once in all.",
                failed.message
            ),
            ..failed
        },
        _ => failed,
    })
}

struct Call<'a> {
    operation: &'static Operation,
    caller: Caller,
    json: bool,
    matches: &'a ArgMatches,
}

impl Call<'_> {
    async fn open(&self, prepared: &Prepared, accept: &str) -> Result<Answer, Failed> {
        self.caller.client.open(prepared.request(accept)).await
    }

    /// One request, one answer.
    async fn once(&self, prepared: &Prepared) -> Result<(), Failed> {
        let answer = self.open(prepared, "application/json").await?;
        if !answer.is_success() {
            return Err(self.refused(answer).await);
        }
        self.note_replay(&answer);
        let bytes = answer.whole().await?;
        if self.json {
            return if bytes.is_empty() { Ok(()) } else { say(&String::from_utf8_lossy(&bytes)) };
        }
        if bytes.is_empty() {
            return say("done");
        }
        self.show(&read(&bytes)?)
    }

    fn show(&self, answer: &Value) -> Result<(), Failed> {
        match answer.get("data") {
            Some(Value::Array(rows)) => Table::of(rows).print(rows)?,
            Some(data) => show::object(data)?,
            None => return show::object(answer),
        }
        // What some lists say beside their rows, such as the cursor of the stream of events.
        for (name, value) in answer.as_object().into_iter().flatten() {
            if !matches!(name.as_str(), "data" | "nextCursor" | "total") {
                show::object(&Value::Object(Map::from_iter([(name.clone(), value.clone())])))?;
            }
        }
        let total = answer["total"].as_i64().map_or(String::new(), |total| format!("{total} in all; "));
        match answer["nextCursor"].as_str() {
            Some(cursor) => say(&format!("\n{total}more: --cursor {cursor}, or --all")),
            None if !total.is_empty() => say(&format!("\n{}", total.trim_end_matches("; "))),
            None => Ok(()),
        }
    }

    /// Says that the answer is an earlier one.
    fn note_replay(&self, answer: &Answer) {
        if answer.header("idempotent-replayed") != "true" {
            return;
        }
        let derived = !self.matches.contains_id(IDEMPOTENCY_KEY);
        let more = if derived { "; --idempotency-key with a text of your own does it once more" } else { "" };
        eprintln!(
            "dastak: this was done before, within 24 hours: here is the first answer, and nothing was done anew{more}"
        );
    }

    /// Every page, a row at a time, so that a long list takes no memory.
    async fn pages(&self, mut prepared: Prepared, parameter: &'static str) -> Result<(), Failed> {
        let clock = Clock::real();
        let mut table: Option<Table> = None;
        let (mut seen, mut waits) = (0_usize, 0);
        let first =
            prepared.query.iter().find(|(name, _)| name == "offset").and_then(|(_, text)| text.parse().ok());
        let start: usize = first.unwrap_or(0);
        loop {
            let answer = self.open(&prepared, "application/json").await?;
            if answer.status == 429 && waits < PATIENCE {
                waits += 1;
                let wait = answer.header("retry-after").parse().unwrap_or(1).clamp(1, LONGEST_WAIT);
                clock.sleep_until(clock.now().plus(wait * SECOND)).await;
                continue;
            }
            if !answer.is_success() {
                return Err(self.refused(answer).await);
            }
            let page = read(&answer.whole().await?)?;
            let rows = page["data"].as_array().map(Vec::as_slice).unwrap_or_default();
            if self.json {
                rows.iter().try_for_each(|row| say(&row.to_string()))?;
            } else if !rows.is_empty() || table.is_none() {
                table.get_or_insert_with(|| Table::of(rows)).print(rows)?;
            }
            seen += rows.len();
            let next = match parameter {
                "cursor" => page["nextCursor"].as_str().map(str::to_owned),
                _ => (!rows.is_empty()).then(|| (start + seen).to_string()),
            };
            let Some(next) = next else { return Ok(()) };
            prepared.ask_for(parameter, next);
        }
    }

    /// A file, to `--output` or standard output.
    async fn file(&self, prepared: &Prepared) -> Result<(), Failed> {
        let mut answer = self.open(prepared, "*/*").await?;
        if !answer.is_success() {
            return Err(self.refused(answer).await);
        }
        let Some(name) = self.matches.get_one::<String>(OUTPUT) else {
            let kind = answer.header("content-type").to_owned();
            if !kind.starts_with("text/") && std::io::stdout().is_terminal() {
                return Err(Failed::usage(format!("the answer is {kind}; give --output FILE")));
            }
            while let Some(piece) = answer.next().await? {
                write(&piece)?;
            }
            return Ok(());
        };
        let part = PathBuf::from(format!("{name}.part"));
        let written = save(&mut answer, &part).await.and_then(|bytes| {
            std::fs::rename(&part, Path::new(name)).map_err(|why| Failed::from(format!("{name}: {why}")))?;
            Ok(bytes)
        });
        match written {
            Ok(bytes) => say(&format!("{name}: {bytes} bytes, {}", answer.header("content-type"))),
            Err(failed) => {
                // What is left of it may not exist.
                let _ = std::fs::remove_file(&part);
                Err(failed)
            }
        }
    }

    /// A reply, printed as it is written.
    async fn stream(&self, prepared: &Prepared) -> Result<(), Failed> {
        let answer = self.open(prepared, "text/event-stream").await?;
        if !answer.is_success() {
            return Err(self.refused(answer).await);
        }
        self.note_replay(&answer);
        stream::print(answer).await
    }

    /// An answer with an error status, and what to do about it.
    async fn refused(&self, answer: Answer) -> Failed {
        let (status, retry_after) = (answer.status, answer.header("retry-after").to_owned());
        let bytes = match answer.whole().await {
            Ok(bytes) => bytes,
            Err(failed) => return failed,
        };
        if self.json && serde_json::from_slice::<Value>(&bytes).is_ok() {
            return match say(&String::from_utf8_lossy(&bytes)) {
                Ok(()) => Failed::answered(status, ""),
                Err(failed) => failed,
            };
        }
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let said = body["error"].as_str().map_or_else(|| "the service refused".to_owned(), show::plain);
        let code = body["code"].as_str().map_or_else(String::new, |code| format!(" {}", show::plain(code)));
        let mut message = format!("{said} ({status}){}", if status == 404 { String::new() } else { code });
        let mut more = |line: &str| {
            message.push('\n');
            message.push_str(line);
        };
        match status {
            401 => more(&self.caller.refused_key),
            404 if body.is_null() => more(&format!(
                "{} has no {}; is it a dastak of this version or a newer one?",
                self.caller.client.base(),
                self.operation.path
            )),
            429 | 503 if !retry_after.is_empty() => {
                more(&format!("Try again in {} s.", show::plain(&retry_after)))
            }
            _ => {}
        }
        for (name, value) in body["meta"].as_object().into_iter().flatten() {
            more(&format!("{}: {}", show::plain(name), show::cell(value)));
        }
        if let Some(page) = body["docUrl"].as_str() {
            more(&format!("See {}", show::plain(page)));
        }
        Failed::answered(status, message)
    }
}

fn read(bytes: &[u8]) -> Result<Value, Failed> {
    serde_json::from_slice(bytes)
        .map_err(|why| Failed::from(format!("the answer is not JSON: {why}; is this the service?")))
}

/// Writes the body into a new file that only its owner reads.
async fn save(answer: &mut Answer, file: &Path) -> Result<u64, Failed> {
    let failed = |why: std::io::Error| Failed::from(format!("{}: {why}", file.display()));
    let mut options = std::fs::OpenOptions::new();
    let mut out =
        files::private(options.write(true).create(true).truncate(true)).open(file).map_err(failed)?;
    let mut bytes = 0;
    while let Some(piece) = answer.next().await? {
        out.write_all(&piece).map_err(failed)?;
        bytes += piece.len() as u64;
    }
    out.sync_all().map_err(failed)?;
    Ok(bytes)
}
