//! The records of a stream (docs/contract/streams.md#records).

use std::collections::HashMap;

use api::data_streams::{RecordCampaign, StreamRecord as RecordView};
use api::error_codes::INVALID_CURSOR;
use app::limits::pages;
use app::{App, Failure};
use domain::ids::{DataStream, Id, StreamRecord};
use domain::tenant::Tenant;
use store::{Tx, streams};

use crate::find;

/// `GET /v1/data-streams/{id}/records`: a page before a position, newest first, and where the next one begins. `before`
/// is from an earlier page: the stream and the last record.
///
/// # Errors
/// 404, 400 `invalid_cursor`.
pub async fn list(
    app: &App,
    tenant: Tenant,
    stream: Id<DataStream>,
    before: Option<String>,
    limit: i64,
) -> Result<(Vec<RecordView>, Option<String>), Failure> {
    let before = before.map(|before| read_point(stream, &before)).transpose()?;
    let page = app.store.read(move |tx| {
        find(&mut tx.of(tenant), stream)?;
        let read = |tx: &mut Tx<'_>, limit: i64, below: Option<&str>| {
            let below = below.map_or(Ok(before), |id| id.parse().map(Some));
            let below = below.map_err(|_| Failure::internal("a record's id is none"))?;
            let rows = streams::records(&mut tx.of(tenant), stream, below, limit)?;
            let next = pages::last(&rows, limit, |row| row.id.to_string());
            let hashes: Vec<&str> = rows.iter().filter_map(|row| row.phone_hash.as_deref()).collect();
            let mut listed: HashMap<String, Vec<RecordCampaign>> = HashMap::new();
            for row in streams::listed(&mut tx.of(tenant), stream, &hashes)? {
                listed
                    .entry(row.phone_hash)
                    .or_default()
                    .push(RecordCampaign { campaign_id: row.campaign, status: row.state });
            }
            let view = |row: streams::RecordRow| RecordView {
                campaigns: row.phone_hash.and_then(|hash| listed.get(&hash).cloned()).unwrap_or_default(),
                id: row.id,
                status: row.status,
                reason: row.reason,
                external_id: row.external_id,
                phone: row.phone,
                name: row.name,
                payload: row.payload,
                received_at: row.received_at,
            };
            Ok::<_, Failure>((rows.into_iter().map(view).collect(), next))
        };
        pages::views(tx, limit, None, read, |view: &RecordView| view.id.to_string())
    });
    let (records, next) = page.await?;
    Ok((records, next.map(|last| format!("{stream}/{last}"))))
}

fn read_point(stream: Id<DataStream>, point: &str) -> Result<Id<StreamRecord>, Failure> {
    let of_this = point.split_once('/').filter(|(of, _)| *of == stream.to_string());
    of_this.and_then(|(_, record)| record.parse().ok()).ok_or_else(|| {
        Failure::new(INVALID_CURSOR, "before is not one that this list returned; start again without it")
    })
}
