//! Reading the decision log (spec 2 «Compliance records»): verification, export, statistics and the signed head. Everything goes page by
//! page in the order of the chain, so that memory stays the same however long it is.

use std::sync::Arc;

use api::audit::{BlockedAgent, BlockedDay, BlockedStats, ChainVerification, SignedHead, Verification};
use bytes::Bytes;
use domain::decision_log::csv::{self, Signing, Statement};
use domain::decision_log::pdf::{Heading, Pdf};
use domain::decision_log::{Broken, Chain, ChainVerifier, Head, Row, Why};
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, Timestamp};
use store::decision_log;

use super::{App, Failure};

/// Records read at a time.
const PAGE: i64 = 1000;

/// What is found of a chain, up to the newest record at the moment of asking.
struct Found {
    chain: Chain,
    records: u64,
    head: Head,
    broken: Option<Broken>,
}

impl Found {
    fn view(&self) -> ChainVerification {
        ChainVerification {
            name: self.chain.as_str(),
            verified: self.broken.is_none(),
            records: self.records,
            broken_at: self.broken.as_ref().map(|broken| broken.seq),
            problem: self.broken.as_ref().map(Broken::to_string),
        }
    }
}

/// Checks a chain from its first record to its head.
async fn check(app: &App, tenant: Tenant, chain: Chain) -> Result<Found, Failure> {
    let newest = app
        .store
        .read(move |tx| {
            // Both in one snapshot: a record after the head was not written by this service.
            Ok::<_, Failure>((decision_log::head(tx, tenant, chain)?, decision_log::last_seq(tx, tenant, chain)?))
        })
        .await?;
    let (stored, last) = newest;
    let sealed =
        stored.as_ref().is_none_or(|row| row.head.seq == 0 || row.seal == super::decision_log::seal(&app.keyring, tenant, chain, &row.head, row.at));
    let head = stored.map(|row| row.head).unwrap_or_default();
    let (mut verifier, mut records, mut after) = (ChainVerifier::new(), 0, 0);
    loop {
        let rows = page(app, tenant, chain, after, last).await?;
        for row in &rows {
            // The verifier keeps its first break.
            let _ = verifier.push(row);
        }
        records += rows.len() as u64;
        match rows.last().and_then(|row| row.seq.parse().ok()) {
            Some(seq) if rows.len() as i64 == PAGE => after = seq,
            _ => break,
        }
    }
    let found = verifier.head().clone();
    let broken = verifier.broken().cloned().or_else(|| {
        let at = |seq, why| Some(Broken { seq, why });
        if found.seq != head.seq {
            at(found.seq.min(head.seq) + 1, Why::Count)
        } else if found.hash != head.hash || !sealed {
            at(head.seq, Why::Head)
        } else {
            None
        }
    });
    Ok(Found { chain, records, head, broken })
}

async fn page(app: &App, tenant: Tenant, chain: Chain, after: u64, last: u64) -> Result<Vec<Row>, Failure> {
    Ok(app.store.read_long(move |tx| decision_log::page(tx, tenant, chain, after, last, PAGE)).await?)
}

/// Checks every hash of every chain.
pub async fn verify(app: &App, tenant: Tenant) -> Result<Verification, Failure> {
    let mut chains = Vec::new();
    for chain in Chain::ALL {
        chains.push(check(app, tenant, chain).await?.view());
    }
    Ok(Verification { verified: chains.iter().all(|chain| chain.verified), records: chains.iter().map(|chain| chain.records).sum(), chains })
}

/// The newest record of a chain, signed.
pub async fn head(app: &App, tenant: Tenant, chain: Chain) -> Result<SignedHead, Failure> {
    let signed_at = app.clock.now();
    let head = app.store.read(move |tx| decision_log::head(tx, tenant, chain)).await?.map(|row| row.head).unwrap_or_default();
    let text = head.signed_text(&tenant.to_string(), chain.as_str(), &signed_at.to_string());
    Ok(SignedHead {
        workspace_id: tenant.to_string(),
        chain: chain.as_str(),
        seq: head.seq,
        hash: head.hash,
        signed_at,
        algorithm: "ed25519",
        public_key: app.keyring.public_key(),
        signature: app.keyring.witness(&text),
    })
}

/// From a moment on, and until before another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range {
    /// At or after.
    pub from: Option<Timestamp>,
    /// Before.
    pub to: Option<Timestamp>,
}

impl Range {
    /// Reads both ends: date-times, or dates of India, of which the last is included.
    pub fn read(from: Option<&str>, to: Option<&str>) -> Result<Self, Failure> {
        let moment = |text: &str, time_of_day: i64| {
            Timestamp::parse(text).or_else(|| Some(Timestamp::parse(&format!("{text}T00:00:00+05:30"))?.plus(time_of_day)))
        };
        let read = |name: &str, text: Option<&str>, time_of_day: i64| match text {
            None => Ok(None),
            Some(text) => {
                moment(text, time_of_day).map(Some).ok_or_else(|| Failure::field(name, "must be an ISO 8601 date-time with a time zone, or a date"))
            }
        };
        let range = Self { from: read("from", from, 0)?, to: read("to", to, DAY)? };
        if range.from.zip(range.to).is_some_and(|(from, to)| from > to) {
            return Err(Failure::field("to", "must not lie before from"));
        }
        Ok(range)
    }
}

/// Refused dials by rule, day and agent; a test key sees those of its simulated calls.
pub async fn stats(app: &App, tenant: Tenant, mode: Mode, range: Range) -> Result<BlockedStats, Failure> {
    let counted = app.store.read_long(move |tx| decision_log::blocked(tx, tenant, mode == Mode::Test, range.from, range.to)).await?;
    let mut stats = BlockedStats::default();
    for blocked in counted {
        let count = blocked.count;
        stats.total += count;
        *stats.by_rule.entry(blocked.rule.clone()).or_default() += count;
        let day = Timestamp(blocked.day * DAY).to_string()[..10].to_owned();
        if stats.by_day.last().is_none_or(|last| last.day != day) {
            stats.by_day.push(BlockedDay { day, count: 0, by_rule: Default::default() });
        }
        if let Some(day) = stats.by_day.last_mut() {
            day.count += count;
            *day.by_rule.entry(blocked.rule.clone()).or_default() += count;
        }
        let agent_id = Some(blocked.agent).filter(|id| !id.is_empty());
        let place = stats.by_agent.iter().position(|known| known.agent_id == agent_id).unwrap_or_else(|| {
            stats.by_agent.push(BlockedAgent { agent_id, name: blocked.agent_name, count: 0, by_rule: Default::default() });
            stats.by_agent.len() - 1
        });
        if let Some(agent) = stats.by_agent.get_mut(place) {
            agent.count += count;
            *agent.by_rule.entry(blocked.rule).or_default() += count;
        }
    }
    stats.by_agent.sort_by_key(|agent| std::cmp::Reverse(agent.count));
    Ok(stats)
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// For print.
    Pdf,
}

enum Writer {
    Csv(String),
    Pdf(Box<Pdf>),
}

impl Writer {
    fn row(&mut self, row: &Row) {
        match self {
            Writer::Csv(text) => csv::write_row(row, text),
            Writer::Pdf(pdf) => pdf.row(row),
        }
    }

    fn take(&mut self) -> Bytes {
        match self {
            Writer::Csv(text) => std::mem::take(text).into(),
            Writer::Pdf(pdf) => pdf.take().into(),
        }
    }
}

/// A file that is written as it is read.
pub struct Export {
    app: Arc<App>,
    tenant: Tenant,
    found: Found,
    writer: Writer,
    /// The rows of this file by themselves.
    slice: ChainVerifier,
    /// Rows up to here are written, and none after `last` will be.
    after: u64,
    last: u64,
    ended: bool,
}

/// Checks the whole chain, then starts the file with the records of the range.
pub async fn export(app: Arc<App>, tenant: Tenant, chain: Chain, format: Format, range: Range) -> Result<Export, Failure> {
    let found = check(&app, tenant, chain).await?;
    let rows = match range {
        Range { from: None, to: None } => Some((1, found.head.seq.max(found.records))),
        Range { from, to } => app.store.read(move |tx| decision_log::range(tx, tenant, chain, from, to)).await?,
    };
    // Records that came after the check are left for the next export.
    let (first, last) = rows.map_or((1, 0), |(first, last)| (first, last.min(found.head.seq.max(found.records))));
    let writer = match format {
        Format::Csv => Writer::Csv(csv::header()),
        Format::Pdf => Writer::Pdf(Box::new(Pdf::new(&heading(&app, tenant, &found, range, first, last)))),
    };
    Ok(Export { app, tenant, found, writer, slice: ChainVerifier::slice(), after: first - 1, last, ended: false })
}

fn heading(app: &App, tenant: Tenant, found: &Found, range: Range, first: u64, last: u64) -> Heading {
    let end = |moment: Option<Timestamp>, open: &str| moment.map_or(open.to_owned(), |moment| moment.to_string());
    let verdict = match &found.broken {
        None => format!("Verification: the chain is whole: {} records, newest hash {}", found.records, found.head.hash),
        Some(broken) => format!("Verification: THE CHAIN IS BROKEN: {broken}"),
    };
    let records = if last < first { "no records".to_owned() } else { format!("records {first} to {last}") };
    let chain = found.chain.as_str();
    Heading {
        title: format!("Compliance decision log: {chain}"),
        lines: vec![
            format!("Workspace {tenant}, exported {}", app.clock.now()),
            format!("Period: {} to {}, {records}", end(range.from, "the beginning"), end(range.to, "now")),
            verdict,
            "Each hash is the SHA-256 of the record and the hash before it; Agent, Channel and Test are outside the hash.".into(),
        ],
        footer: format!("Decision log {chain} of {tenant}"),
    }
}

impl Export {
    /// The next piece of the file; `None` after the last.
    pub async fn next(mut self) -> Option<(Bytes, Self)> {
        if self.ended {
            return None;
        }
        let rows = if self.after < self.last { page(&self.app, self.tenant, self.found.chain, self.after, self.last).await } else { Ok(Vec::new()) };
        match rows {
            Ok(rows) if !rows.is_empty() => {
                for row in &rows {
                    let _ = self.slice.push(row);
                    self.writer.row(row);
                }
                self.after = rows.last().and_then(|row| row.seq.parse().ok()).unwrap_or(self.last);
            }
            Ok(_) => self.end(),
            Err(why) => {
                // The answer has begun; a file without its last line says that it is not whole.
                tracing::error!(cause = why.cause, "an export of the decision log stopped");
                return None;
            }
        }
        Some((self.writer.take(), self))
    }

    fn end(&mut self) {
        let statement = self.statement();
        self.ended = true;
        match &mut self.writer {
            Writer::Csv(text) => text.push_str(&format!("{statement}\r\n")),
            Writer::Pdf(pdf) => {
                let Statement { verified, records, last_seq, before, head, signing } = statement;
                let mut lines = vec![
                    format!("End of the log: {records} records, last number {last_seq}, verified: {verified}."),
                    format!("Hash before the first record: {before}"),
                    format!("Hash of the last record: {head}"),
                ];
                if let Some(signing) = signing {
                    lines.push(format!("Signed {} with the Ed25519 key {}", signing.signed_at, signing.public_key));
                    lines.push(format!("Signature: {}", signing.signature));
                }
                pdf.finish(&lines);
            }
        }
    }

    fn statement(&self) -> Statement {
        let mut statement = self.slice.statement();
        statement.verified &= self.found.broken.is_none();
        let (workspace, chain, signed_at) = (self.tenant.to_string(), self.found.chain.as_str(), self.app.clock.now().to_string());
        let signature = self.app.keyring.witness(&statement.signed_text(&workspace, chain, &signed_at));
        statement.signing = Some(Signing { workspace, chain: chain.into(), signed_at, public_key: self.app.keyring.public_key(), signature });
        statement
    }
}
