//! Backfill: earlier records of a stream are put on the list of a campaign (docs/contract/streams.md#attaching), in
//! batches, so that nobody waits for all of them. The progress is stored: another node finishes what a node leaves.

use app::{App, Context, Failure};
use campaigns::list::{NewRow, aside};
use domain::ids::{DataStream, Id, StreamRecord};
use domain::phone::Phone;
use domain::stream::{Arrival, read};
use domain::tenant::Tenant;
use domain::time::{MINUTE, Timestamp};
use store::Tx;
use store::streams::{self, BackfillRow, Feed, RecordRow, StreamRow};

use crate::attachments::put_on_list;
use crate::people::{self, Person};

/// Most earlier records of one attachment: the newest of them.
pub(crate) const MAX: i64 = 50_000;
/// Records in one transaction.
const PIECE: usize = 2_000;
/// Time without progress after which another node takes a backfill over.
const LEASE: i64 = MINUTE;

/// Backfills in one round.
const BATCH: i64 = 100;

/// The result of a batch.
enum Piece {
    /// This many people were added, and more records follow.
    More(i64, BackfillRow),
    /// The same, and nothing follows.
    Last(i64),
    /// The stream was changed meanwhile: the same batch must be read again.
    Again(BackfillRow),
}

/// Runs a backfill, batch by batch; returns how many people were added. It ends early when the stream is detached or
/// attached again meanwhile.
///
/// # Errors
/// Those of the store; the backfill continues later.
pub(crate) async fn work(app: &App, begun: BackfillRow) -> Result<i64, Failure> {
    let (mut next, mut sum) = (begun, 0);
    loop {
        match piece(app, next).await? {
            Piece::More(added, rest) => (sum, next) = (sum + added, rest),
            Piece::Last(added) => return Ok(sum + added),
            Piece::Again(same) => next = same,
        }
    }
}

async fn piece(app: &App, at: BackfillRow) -> Result<Piece, Failure> {
    let (context, wanted) = (app.context(), at.clone());
    let found = app.store.read_long(move |tx| look(tx, &wanted)).await?;
    let Some((stream, feed, mut page)) = found else { return Ok(Piece::Last(0)) };
    let next = (page.len() > PIECE).then(|| page.pop()).flatten().map(|record| record.id);
    let (from, rest) = (at.clone(), BackfillRow { from: next.unwrap_or(at.from), ..at });
    let version = stream.version;
    let (feed, rows) = aside(move || {
        let row = |record: &RecordRow| Some((record.id, row_of(&stream, &feed, record)?));
        let rows: Vec<(Id<StreamRecord>, NewRow)> = page.iter().filter_map(row).collect();
        Ok((feed, rows))
    })
    .await?;
    app.of(from.workspace)
        .tx_alone(move |tx| {
            let Some(stream) = streams::get_for_records(tx, from.stream)? else {
                return Ok(Piece::Last(0));
            };
            if stream.version != version {
                return Ok(Piece::Again(from.clone()));
            }
            if !streams::go_on(tx, &from, next, context.now)? {
                return Ok(Piece::Last(0));
            }
            let added = put(tx, &context, &feed, &rows)?;
            Ok(if next.is_some() { Piece::More(added, rest.clone()) } else { Piece::Last(added) })
        })
        .await
}

/// The stream, its attachment, and the next records; `None` if it is detached.
fn look(tx: &mut Tx<'_>, at: &BackfillRow) -> Result<Option<(StreamRow, Feed, Vec<RecordRow>)>, Failure> {
    let Some(stream) = streams::get(&mut tx.of(at.workspace), at.stream)? else { return Ok(None) };
    let feeds = streams::feeds(&mut tx.of(at.workspace), at.stream)?;
    let Some(feed) = feeds.into_iter().find(|feed| feed.attachment.campaign == at.campaign) else {
        return Ok(None);
    };
    let page = streams::callable(&mut tx.of(at.workspace), at.stream, (at.from, at.until), PIECE as i64 + 1)?;
    Ok(Some((stream, feed, page)))
}

/// Adds people to the list, without those who were erased since their records were read.
fn put(
    tx: &mut Tx<'_>,
    context: &Context,
    feed: &Feed,
    rows: &[(Id<StreamRecord>, NewRow)],
) -> Result<i64, Failure> {
    let (Some((first, _)), Some((last, _))) = (rows.first(), rows.last()) else { return Ok(0) };
    let attachment = &feed.attachment;
    let known =
        streams::still_callable(&mut tx.of(attachment.workspace), attachment.stream, (*first, *last))?;
    let people = rows.iter().filter(|(record, _)| known.contains(record)).map(|(_, row)| row.clone());
    let added = put_on_list(tx, context, attachment, people.collect())?;
    Ok(added.iter().flatten().count() as i64)
}

/// A stored record as a person on a list.
fn row_of(stream: &StreamRow, feed: &Feed, record: &RecordRow) -> Option<NewRow> {
    let fields = record.payload.clone()?;
    let phone = Phone::normalize(record.phone.as_deref()?).ok()?;
    let arrival = Arrival { fields, cut: false, own_id: None };
    let reading = read(&arrival, &stream.field_map, stream.config.country());
    let person = Person {
        phone,
        name: record.name.as_deref(),
        name_fields: &reading.name_fields,
        fields: &arrival.fields,
    };
    Some(people::row(&person, feed))
}

/// Finishes backfills without progress for a minute. Returns when to run again.
pub async fn finish_abandoned(app: &App) -> Result<Option<Timestamp>, Failure> {
    let due = app.clock.now().plus(-LEASE);
    let mut again = None;
    for row in app.store.read(move |tx| streams::abandoned_backfills(tx, due, BATCH)).await? {
        if app.clock.stopping() {
            return Ok(None);
        }
        // One that fails does not block the others.
        if let Err(failure) = work(app, row).await {
            failure.warn("earlier records of a stream could not be put on a list");
            again = Some(app.clock.now().plus(LEASE));
        }
    }
    let oldest =
        app.store.read(streams::oldest_backfill).await?.map(|at| at.plus(LEASE).max(due.plus(LEASE + 1)));
    Ok(oldest.into_iter().chain(again).max())
}

/// The first and last record of a backfill of the records since then.
pub(crate) async fn range(
    app: &App,
    tenant: Tenant,
    stream: Id<DataStream>,
    since: Timestamp,
) -> Result<Option<(Id<StreamRecord>, Id<StreamRecord>)>, Failure> {
    Ok(app.of(tenant).read_long(move |tx| streams::newest_callable(tx, stream, since, MAX)).await?)
}
