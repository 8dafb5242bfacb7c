//! The findings of a staged list as a streamed file.

use std::sync::Arc;

use app::{App, Failure};
use domain::ids::{Campaign, Id};
use domain::tenant::Tenant;
use store::campaigns::list::EntryRow;
use store::campaigns::staged as stages;

use super::judge::{Found, PHONE, judge, value_of};
use super::{TOGETHER, get};
use crate::preflight::Frame;

/// Reads of rows for one chunk of the file.
const READS: usize = 8;
const HEADINGS: &str = "row,harm,finding,column,value,read_as\r\n";

/// A streamed file of findings.
pub struct FindingsCsv {
    app: Arc<App>,
    tenant: Tenant,
    campaign: Id<Campaign>,
    list: i64,
    /// Rows up to here are written.
    after: i64,
    text: String,
    ended: bool,
}

impl FindingsCsv {
    /// Begins the file of a staged list.
    ///
    /// # Errors
    /// 404.
    pub async fn begin(
        app: Arc<App>,
        tenant: Tenant,
        campaign: Id<Campaign>,
        list: i64,
    ) -> Result<Self, Failure> {
        let begun = Self { app, tenant, campaign, list, after: 0, text: HEADINGS.to_owned(), ended: false };
        begun.more().await
    }

    /// The next chunk; `None` after the last.
    pub async fn next(mut self) -> Option<(Vec<u8>, Self)> {
        loop {
            if !self.text.is_empty() {
                return Some((std::mem::take(&mut self.text).into_bytes(), self));
            }
            if self.ended {
                return None;
            }
            let campaign = self.campaign;
            self = match self.more().await {
                Ok(more) => more,
                // The answer has begun: the file ends early, as when the list expires.
                Err(failure) => {
                    failure.warn_about(campaign, "an export of findings stopped");
                    return None;
                }
            };
        }
    }

    async fn more(mut self) -> Result<Self, Failure> {
        let env = self.app.call_env();
        let (campaign, list, mut after) = (self.campaign, self.list, self.after);
        let (text, after, ended) = self
            .app
            .of(self.tenant)
            .read_long(move |tx| {
                let frame = Frame::of(tx, &env, campaign)?;
                get(tx, campaign, list)?;
                let mut text = String::new();
                for _ in 0..READS {
                    let rows = stages::rows_after(tx, campaign, list, after, TOGETHER)?;
                    let Some(last) = rows.last() else { return Ok((text, after, true)) };
                    after = last.position;
                    let judged = judge(tx, &env, &frame, &rows)?;
                    for (row, one) in rows.iter().zip(judged) {
                        one.findings.iter().for_each(|found| write(&mut text, row, found));
                    }
                }
                Ok::<_, Failure>((text, after, false))
            })
            .await?;
        self.text.push_str(&text);
        (self.after, self.ended) = (after, ended);
        Ok(self)
    }
}

fn write(text: &mut String, row: &EntryRow, found: &Found) {
    let value = match found.column.as_deref() {
        Some(PHONE) => row.phone.clone(),
        _ => value_of(found, row),
    };
    let cells = [
        row.position.to_string(),
        found.code.harm().to_string(),
        found.code.to_string(),
        cell(found.column.as_deref().unwrap_or_default()),
        cell(&value.unwrap_or_default()),
        cell(found.read_as.as_deref().unwrap_or_default()),
    ];
    text.push_str(&cells.join(","));
    text.push_str("\r\n");
}

/// A quoted cell. One that a spreadsheet would take for a formula begins with an apostrophe.
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    format!("\"{}{}\"", if formula { "'" } else { "" }, text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn cells_are_text() {
        for (text, expected) in [
            ("a", "\"a\""),
            ("a,\"b\"", "\"a,\"\"b\"\"\""),
            ("=1+1", "\"'=1+1\""),
            ("+919812345678", "\"'+919812345678\""),
            ("@x\r\n", "\"'@x\r\n\""),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
