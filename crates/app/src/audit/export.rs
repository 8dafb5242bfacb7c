//! Export of the decision log as a streamed file.

use std::sync::Arc;

use bytes::Bytes;
use domain::decision_log::csv::{self, Signing, Statement};
use domain::decision_log::pdf::{Heading, Pdf};
use domain::decision_log::{ChainVerifier, Row, Strand};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::decision_log;

use super::Range;
use super::check::{ChainCheck, check, page};
use super::slots::Leave;
use crate::{App, Failure};

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values.
    Csv,
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

/// A streamed file.
pub struct Export {
    app: Arc<App>,
    tenant: Tenant,
    found: ChainCheck,
    writer: Writer,
    /// Held until the file is sent.
    _leave: Leave,
    /// The rows of this file by themselves.
    slice: ChainVerifier,
    /// Rows up to here are written, and none after `last` will be.
    after: u64,
    last: u64,
    ended: bool,
}

/// Verifies the whole chain, then starts the file with the records of the range.
pub async fn export(
    app: Arc<App>,
    tenant: Tenant,
    strand: Strand,
    format: Format,
    range: Range,
) -> Result<Export, Failure> {
    let leave = app.audits.export(tenant)?;
    let found = {
        let turn = app.audits.check(tenant, &app.clock).await?;
        check(&app, &turn, tenant, strand).await?
    };
    let rows = match range {
        Range { from: None, to: None } => Some((1, found.head.seq.max(found.records))),
        Range { from, to } => {
            app.of(tenant).read(move |tx| decision_log::range(tx, strand, from, to)).await?
        }
    };
    // Records that came after the check are left for the next export.
    let (first, last) =
        rows.map_or((1, 0), |(first, last)| (first, last.min(found.head.seq.max(found.records))));
    let writer = match format {
        Format::Csv => Writer::Csv(csv::header()),
        Format::Pdf => Writer::Pdf(Box::new(Pdf::new(&heading(&app, tenant, &found, range, first, last)))),
    };
    Ok(Export {
        app,
        tenant,
        found,
        writer,
        _leave: leave,
        slice: ChainVerifier::slice(),
        after: first - 1,
        last,
        ended: false,
    })
}

fn heading(app: &App, tenant: Tenant, found: &ChainCheck, range: Range, first: u64, last: u64) -> Heading {
    let end =
        |moment: Option<Timestamp>, open: &str| moment.map_or(open.to_owned(), |moment| moment.to_string());
    let verdict = match &found.broken {
        None => format!(
            "Verification: the chain is whole: {} records, newest hash {}",
            found.records, found.head.hash
        ),
        Some(broken) => format!("Verification: THE CHAIN IS BROKEN: {broken}"),
    };
    let records = if last < first { "no records".to_owned() } else { format!("records {first} to {last}") };
    let chain = found.strand.as_str();
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
    /// The next chunk of the file; `None` after the last.
    pub async fn next(mut self) -> Option<(Bytes, Self)> {
        if self.ended {
            return None;
        }
        let rows = if self.after < self.last {
            page(&self.app, self.tenant, self.found.strand, self.after, self.last).await
        } else {
            Ok(Vec::new())
        };
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
                // The response has begun; a file without its last line is recognisably incomplete.
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
                    format!(
                        "End of the log: {records} records, last number {last_seq}, verified: {verified}."
                    ),
                    format!("Hash before the first record: {before}"),
                    format!("Hash of the last record: {head}"),
                ];
                if let Some(signing) = signing {
                    lines.push(format!(
                        "Signed {} with the Ed25519 key {}",
                        signing.signed_at, signing.public_key
                    ));
                    lines.push(format!("Signature: {}", signing.signature));
                }
                pdf.finish(&lines);
            }
        }
    }

    fn statement(&self) -> Statement {
        let mut statement = self.slice.statement();
        statement.verified &= self.found.broken.is_none();
        let (workspace, chain, signed_at) =
            (self.tenant.to_string(), self.found.strand.as_str(), self.app.clock.now().to_string());
        let signature = self.app.keyring.witness(&statement.signed_text(&workspace, chain, &signed_at));
        statement.signing = Some(Signing {
            workspace,
            chain: chain.into(),
            signed_at,
            public_key: self.app.keyring.public_key(),
            signature,
        });
        statement
    }
}
