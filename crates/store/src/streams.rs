//! Data streams, their records, and the campaigns that they feed (docs/contract/streams.md).

use std::collections::HashSet;

use const_format::formatcp;
use domain::campaign::{RowState, Status as CampaignStatus};
use domain::ids::{Campaign, DataStream, Id, Integration, StreamRecord};
use domain::stream::{
    Config, FieldMap, Kind as StreamKind, Reason as RecordReason, RecordStatus, Status as StreamStatus,
};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use domain::topic::Topic;
use serde_json::{Map, Value as Json, json};

use crate::changes;
use crate::db::row::{row, update};
use crate::db::{DbError, TenantTx, Tx};
use crate::params;

row! {
    /// A data stream as stored, without its token.
    #[derive(Debug, Clone)]
    pub struct StreamRow in "data_streams" {
        id: Id<DataStream>,
        workspace: Tenant,
        name: String,
        /// How its records arrive.
        kind: StreamKind,
        /// Which fields say who a record is.
        field_map: FieldMap = |map| { field_map: Json = json!(map) } => serde_json::from_value(field_map)
            .map_err(|why| DbError::Internal(format!("fieldMap of a stream: {why}")))?,
        /// The configuration of its kind.
        config: Config = |config| { config: Map<String, Json> = config.fields() } => Config::stored(config),
        /// The account that it is read with.
        integration: Option<Id<Integration>>,
        status: StreamStatus,
        /// Why it stopped.
        last_error: Option<String>,
        created_at: Timestamp,
        updated_at: Timestamp,
        /// Grows with every change.
        version: i64,
    }
    insert with { token_hash: Option<&'v str> }
}

const COLUMNS: &str = StreamRow::COLUMNS;

pub fn insert(tx: &mut Tx<'_>, row: &StreamRow, token_hash: Option<&str>) -> Result<(), DbError> {
    changes::note(
        &mut tx.of(row.workspace),
        row.created_at,
        None,
        Topic::Streams,
        Some(&row.id.to_string()),
    )?;
    tx.later(StreamRow::INSERT, &row.values(token_hash))
}

pub fn get(tx: &mut TenantTx, id: Id<DataStream>) -> Result<Option<StreamRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from data_streams where workspace = ?1 and id = ?2 and deleted_at is null"
        ),
        params![id],
    )
}

/// One stream, locked against other writers until the transaction ends. Campaigns are locked after it.
pub fn get_for_update(tx: &mut TenantTx, id: Id<DataStream>) -> Result<Option<StreamRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from data_streams where workspace = ?1 and id = ?2 and deleted_at is null /*pg for update*/"
        ),
        params![id],
    )
}

/// One stream, with a shared lock against changes and attachments until the transaction ends. Several transactions may
/// insert records concurrently.
pub fn get_for_records(tx: &mut TenantTx, id: Id<DataStream>) -> Result<Option<StreamRow>, DbError> {
    tx.one(
        formatcp!(
            "select {COLUMNS} from data_streams where workspace = ?1 and id = ?2 and deleted_at is null /*pg for share*/"
        ),
        params![id],
    )
}

row! {
    /// The columns of a stream that authenticate a request with its token.
    #[derive(Debug, Clone)]
    pub struct StreamAuthRow {
        workspace: Tenant as "d.workspace",
        /// Keyed hash of the token.
        token_hash: Option<String> as "d.token_hash",
        status: StreamStatus as "d.status",
        /// Whether the workspace is suspended.
        suspended: bool as "w.suspended",
    }
}

/// Across workspaces: what a stream's address leads to; the caller compares the token.
pub fn auth(tx: &mut Tx<'_>, id: Id<DataStream>) -> Result<Option<StreamAuthRow>, DbError> {
    const SQL: &str = formatcp!(
        "select {} from data_streams d join workspaces w on w.id = d.workspace where d.id = ?1 and d.deleted_at is null",
        StreamAuthRow::COLUMNS
    );
    tx.one(SQL, params![id])
}

/// The streams of a workspace, newest first.
pub fn list(tx: &mut TenantTx) -> Result<Vec<StreamRow>, DbError> {
    tx.all(
        formatcp!(
            "select {COLUMNS} from data_streams where workspace = ?1 and deleted_at is null order by id desc"
        ),
        &[],
    )
}

/// How many streams a workspace has.
pub fn count(tx: &mut TenantTx) -> Result<i64, DbError> {
    let sql = "select count(*) from data_streams where workspace = ?1 and deleted_at is null";
    Ok(tx.one(sql, &[])?.unwrap_or(0))
}

/// Saves a stream that the caller has locked.
pub fn save(tx: &mut Tx<'_>, row: &StreamRow) -> Result<(), DbError> {
    changes::note(
        &mut tx.of(row.workspace),
        row.updated_at,
        None,
        Topic::Streams,
        Some(&row.id.to_string()),
    )?;
    let (sql, values) = update!(
        "data_streams" set {
            name: &row.name,
            field_map: json!(row.field_map),
            config: row.config.fields(),
            integration: row.integration,
            status: row.status,
            last_error: row.last_error.as_deref(),
            updated_at: row.updated_at,
        } and "version = version + 1"
        where "workspace = ?1 and id = ?2 and deleted_at is null", row.workspace, row.id
    );
    tx.later(sql, &values)
}

/// Replaces the token; `false` if the stream has none or is deleted.
pub fn set_token(
    tx: &mut TenantTx,
    id: Id<DataStream>,
    token_hash: &str,
    now: Timestamp,
) -> Result<bool, DbError> {
    changes::note(tx, now, None, Topic::Streams, Some(&id.to_string()))?;
    let changed = tx.exec(
        "update data_streams set token_hash = ?3, updated_at = ?4 \
         where workspace = ?1 and id = ?2 and token_hash is not null and deleted_at is null",
        params![id, token_hash, now],
    )?;
    Ok(changed > 0)
}

/// Deletes a stream; its records are removed later.
pub fn delete(tx: &mut TenantTx, id: Id<DataStream>, now: Timestamp) -> Result<(), DbError> {
    changes::note(tx, now, None, Topic::Streams, Some(&id.to_string()))?;
    tx.later(
        "update data_streams set deleted_at = ?3, token_hash = null where workspace = ?1 and id = ?2 and deleted_at is null",
        params![id, now],
    )
}

row! {
    /// A campaign that a stream feeds.
    #[derive(Debug, Clone)]
    pub struct AttachmentRow in "stream_campaigns" as "s" {
        stream: Id<DataStream>,
        campaign: Id<Campaign>,
        workspace: Tenant,
        /// Variable of the agent to field of the stream.
        variable_mapping: Map<String, Json>,
        /// The requested length of the backfill when it was attached.
        backfill_days: i64,
        /// Whether names are written in the script of the agent's language.
        transliterate: bool,
        attached_at: Timestamp,
    }
}

/// Attaches a stream to a campaign, or changes how. Returns whether it is new.
pub fn attach(tx: &mut Tx<'_>, row: &AttachmentRow) -> Result<bool, DbError> {
    changes::note(
        &mut tx.of(row.workspace),
        row.attached_at,
        None,
        Topic::Streams,
        Some(&row.stream.to_string()),
    )?;
    const SQL: &str = formatcp!("{} on conflict do nothing", AttachmentRow::INSERT);
    if tx.exec(SQL, &row.values())? > 0 {
        return Ok(true);
    }
    tx.later(
        "update stream_campaigns set variable_mapping = ?4, backfill_days = ?5, transliterate = ?6 \
         where workspace = ?1 and stream = ?2 and campaign = ?3",
        params![
            row.workspace,
            row.stream,
            row.campaign,
            &row.variable_mapping,
            row.backfill_days,
            row.transliterate
        ],
    )?;
    Ok(false)
}

/// Detaches a stream; `false` when it was not attached.
pub fn detach(tx: &mut TenantTx, stream: Id<DataStream>, campaign: Id<Campaign>) -> Result<bool, DbError> {
    let sql = "delete from stream_campaigns where workspace = ?1 and stream = ?2 and campaign = ?3";
    Ok(tx.exec(sql, params![stream, campaign])? > 0)
}

/// A campaign that a stream feeds, with what its people need.
#[derive(Debug, Clone)]
pub struct Feed {
    /// How it is attached.
    pub attachment: AttachmentRow,
    pub name: String,
    pub status: CampaignStatus,
    pub language: Option<String>,
}

/// The campaigns that a stream feeds, in the order in which they are to be locked.
pub fn feeds(tx: &mut TenantTx, stream: Id<DataStream>) -> Result<Vec<Feed>, DbError> {
    const SQL: &str = formatcp!(
        "select {}, c.name, c.status, a.language from stream_campaigns s \
         join campaigns c on c.workspace = s.workspace and c.id = s.campaign and c.deleted_at is null \
         left join agents a on a.workspace = c.workspace and a.id = c.agent \
         where s.workspace = ?1 and s.stream = ?2 order by s.campaign",
        AttachmentRow::SELECT
    );
    let rows: Vec<(AttachmentRow, String, CampaignStatus, Option<String>)> = tx.all(SQL, params![stream])?;
    let feed = |(attachment, name, status, language)| Feed { attachment, name, status, language };
    Ok(rows.into_iter().map(feed).collect())
}

/// A stream that feeds a campaign.
#[derive(Debug, Clone)]
pub struct Source {
    /// How it is attached.
    pub attachment: AttachmentRow,
    pub name: String,
    /// How its records arrive.
    pub kind: StreamKind,
    pub status: StreamStatus,
}

/// The streams that feed a campaign, newest first.
pub fn sources(tx: &mut TenantTx, campaign: Id<Campaign>) -> Result<Vec<Source>, DbError> {
    const SQL: &str = formatcp!(
        "select {}, d.name, d.kind, d.status from stream_campaigns s \
         join data_streams d on d.workspace = s.workspace and d.id = s.stream and d.deleted_at is null \
         where s.workspace = ?1 and s.campaign = ?2 order by s.stream desc",
        AttachmentRow::SELECT
    );
    let rows: Vec<(AttachmentRow, String, StreamKind, StreamStatus)> = tx.all(SQL, params![campaign])?;
    let source = |(attachment, name, kind, status)| Source { attachment, name, kind, status };
    Ok(rows.into_iter().map(source).collect())
}

row! {
    #[derive(Debug, Clone)]
    pub struct RecordRow in "stream_records" {
        id: Id<StreamRecord>,
        workspace: Tenant,
        stream: Id<DataStream>,
        /// Keyed hash of its identity, for deduplication.
        identity: String,
        /// Whether it can be called.
        status: RecordStatus,
        reason: Option<RecordReason>,
        external_id: Option<String>,
        /// E.164 of a number that can be called, else as written.
        phone: Option<String>,
        /// Keyed hash of a number that can be called.
        phone_hash: Option<String>,
        name: Option<String>,
        /// Its fields; `None` once it is emptied.
        payload: Option<Map<String, Json>>,
        received_at: Timestamp,
    }
}

const RECORD: &str = RecordRow::COLUMNS;
/// Most identities of one statement.
const LOOKED_UP: usize = 512;

/// Inserts records of distinct identities. An existing record stays, unless it could not be called and the new one can:
/// then it is replaced.
pub fn put(tx: &mut TenantTx, rows: &[RecordRow]) -> Result<(), DbError> {
    let tenant = tx.tenant();
    debug_assert!(rows.iter().all(|row| row.workspace == tenant), "records of another workspace");
    // In one order, so that senders of the same records wait for each other and not in a circle.
    let mut rows: Vec<&RecordRow> = rows.iter().collect();
    rows.sort_unstable_by(|one, other| one.identity.cmp(&other.identity));
    tx.unbound().insert_or(
        RecordRow::INTO,
        rows.into_iter().map(RecordRow::values),
        " on conflict (stream, identity) do update set id = excluded.id, status = excluded.status, reason = excluded.reason, \
         external_id = excluded.external_id, phone = excluded.phone, phone_hash = excluded.phone_hash, name = excluded.name, \
         payload = excluded.payload, received_at = excluded.received_at \
         where stream_records.status = 'invalid' and excluded.status = 'accepted' and stream_records.workspace = excluded.workspace",
    )
}

/// The records of a stream that have these identities, each with its identity.
pub fn of_identities(
    tx: &mut TenantTx,
    stream: Id<DataStream>,
    identities: &[&str],
) -> Result<Vec<(String, Id<StreamRecord>)>, DbError> {
    let mut found = Vec::with_capacity(identities.len());
    for some in identities.chunks(LOOKED_UP) {
        let mut values = params![stream].to_vec();
        let any = tx.any_of(&mut values, some.iter().map(|identity| (*identity).into()));
        found.extend(tx.all::<(String, Id<StreamRecord>)>(
            &format!(
                "select identity, id from stream_records where workspace = ?1 and stream = ?2 and identity in {any}"
            ),
            &values,
        )?);
    }
    Ok(found)
}

/// Records of a stream that are older than `before`, newest first.
pub fn records(
    tx: &mut TenantTx,
    stream: Id<DataStream>,
    before: Option<Id<StreamRecord>>,
    limit: i64,
) -> Result<Vec<RecordRow>, DbError> {
    let before = before.map_or_else(|| "dsr_~".to_owned(), |id| id.to_string());
    tx.all(
        formatcp!(
            "select {RECORD} from stream_records where workspace = ?1 and stream = ?2 and id < ?3 order by id desc limit ?4"
        ),
        params![stream, before, limit],
    )
}

/// The first and last of the newest `most` callable records that are not older than `since`.
pub fn newest_callable(
    tx: &mut TenantTx,
    stream: Id<DataStream>,
    since: Timestamp,
    most: i64,
) -> Result<Option<(Id<StreamRecord>, Id<StreamRecord>)>, DbError> {
    tx.one(
        "select min(id), max(id) from (select id from stream_records where workspace = ?1 and stream = ?2 and id > ?3 \
         and status = 'accepted' and payload is not null order by id desc limit ?4) as newest having count(*) > 0",
        params![stream, Id::<StreamRecord>::new(since.0, 0), most],
    )
}

/// The newest record of a stream, with any result.
pub fn newest(tx: &mut TenantTx, stream: Id<DataStream>) -> Result<Option<Id<StreamRecord>>, DbError> {
    let sql = "select id from stream_records where workspace = ?1 and stream = ?2 order by id desc limit 1";
    tx.one(sql, params![stream])
}

/// Records of a stream that can be called, from the first id to the last, oldest first.
pub fn callable(
    tx: &mut TenantTx,
    stream: Id<DataStream>,
    (from, until): (Id<StreamRecord>, Id<StreamRecord>),
    limit: i64,
) -> Result<Vec<RecordRow>, DbError> {
    tx.all(
        formatcp!(
            "select {RECORD} from stream_records where workspace = ?1 and stream = ?2 and id >= ?3 and id <= ?4 and status = 'accepted' \
             and payload is not null order by id limit ?5"
        ),
        params![stream, from, until, limit],
    )
}

/// Callable records of a stream from the first id to the last, locked against erasure until the transaction ends.
pub fn still_callable(
    tx: &mut TenantTx,
    stream: Id<DataStream>,
    (from, until): (Id<StreamRecord>, Id<StreamRecord>),
) -> Result<HashSet<Id<StreamRecord>>, DbError> {
    let found: Vec<Id<StreamRecord>> = tx.all(
        "select id from stream_records where workspace = ?1 and stream = ?2 and id >= ?3 and id <= ?4 and status = 'accepted' \
         and payload is not null /*pg for share*/",
        params![stream, from, until],
    )?;
    Ok(found.into_iter().collect())
}

row! {
    /// Earlier records that are still to be put on the list of a campaign.
    #[derive(Debug, Clone)]
    pub struct BackfillRow in "stream_campaigns" {
        stream: Id<DataStream>,
        campaign: Id<Campaign>,
        workspace: Tenant,
        /// The first of them.
        from: Id<StreamRecord> as "backfill_from",
        /// The last of them.
        until: Id<StreamRecord> as "backfill_until",
        /// Which attachment began it.
        run: i64 as "backfill_run",
        /// The time of its last progress.
        at: Timestamp as "backfill_at",
    }
}

/// Begins a backfill: records the range of earlier records to add to the list of a campaign to which a stream was
/// attached. A backfill of an earlier attachment is dropped.
pub fn begin_backfill(
    tx: &mut Tx<'_>,
    row: &AttachmentRow,
    range: Option<(Id<StreamRecord>, Id<StreamRecord>)>,
    now: Timestamp,
) -> Result<Option<BackfillRow>, DbError> {
    let (from, until) = (range.map(|(from, _)| from), range.map(|(_, until)| until));
    tx.later(
        "update stream_campaigns set backfill_from = ?4, backfill_until = ?5, backfill_at = ?6, backfill_run = backfill_run + 1 \
         where workspace = ?1 and stream = ?2 and campaign = ?3",
        params![row.workspace, row.stream, row.campaign, from, until, now],
    )?;
    tx.one(
        formatcp!(
            "select {} from stream_campaigns where workspace = ?1 and stream = ?2 and campaign = ?3 and backfill_from is not null",
            BackfillRow::COLUMNS
        ),
        params![row.workspace, row.stream, row.campaign],
    )
}

/// Records the progress of a backfill and its next record; `false` if another node went on from there, or the stream
/// was detached or attached anew.
pub fn go_on(
    tx: &mut Tx<'_>,
    row: &BackfillRow,
    next: Option<Id<StreamRecord>>,
    now: Timestamp,
) -> Result<bool, DbError> {
    let changed = tx.exec(
        "update stream_campaigns set backfill_from = ?6, backfill_at = ?7 \
         where workspace = ?1 and stream = ?2 and campaign = ?3 and backfill_run = ?4 and backfill_from = ?5",
        params![row.workspace, row.stream, row.campaign, row.run, row.from, next, now],
    )?;
    Ok(changed > 0)
}

/// Across workspaces: up to `limit` backfills without progress since `before`, oldest first.
pub fn abandoned_backfills(
    tx: &mut Tx<'_>,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<BackfillRow>, DbError> {
    tx.all(
        formatcp!(
            "select {} from stream_campaigns where backfill_from is not null and backfill_at <= ?1 order by backfill_at limit ?2",
            BackfillRow::COLUMNS
        ),
        params![before, limit],
    )
}

/// Across workspaces: the last progress of the most stale backfill.
pub fn oldest_backfill(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    Ok(tx
        .one("select min(backfill_at) from stream_campaigns where backfill_from is not null", &[])?
        .flatten())
}

row! {
    /// The row of a person on the list of a campaign.
    #[derive(Debug, Clone)]
    pub struct ListedRow {
        /// Keyed hash of the number.
        phone_hash: String as "r.phone_hash",
        campaign: Id<Campaign> as "r.campaign",
        /// The state of the row.
        state: RowState as "r.state",
    }
}

/// The rows of people on the lists of the campaigns that a stream feeds or has added them to.
pub fn listed(tx: &mut TenantTx, stream: Id<DataStream>, hashes: &[&str]) -> Result<Vec<ListedRow>, DbError> {
    if hashes.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = params![stream].to_vec();
    let any = tx.any_of(&mut values, hashes.iter().map(|hash| (*hash).into()));
    tx.all(
        &format!(
            "select {} from campaign_rows r join campaigns c on c.workspace = r.workspace and c.id = r.campaign and c.list = r.list \
             where r.workspace = ?1 and r.phone_hash is not null and r.phone_hash in {any} and r.valid = 1 and c.deleted_at is null \
             and (r.stream = ?2 or exists (select 1 from stream_campaigns s where s.stream = ?2 and s.campaign = r.campaign)) \
             order by r.campaign",
            ListedRow::COLUMNS
        ),
        &values,
    )
}

/// Counts bytes of records that a stream has stored on a day.
pub fn add_bytes(tx: &mut TenantTx, stream: Id<DataStream>, day: i64, bytes: i64) -> Result<(), DbError> {
    tx.later(
        "insert into stream_bytes (workspace, stream, day, bytes) values (?1, ?2, ?3, ?4) \
         on conflict (workspace, stream, day) do update set bytes = stream_bytes.bytes + excluded.bytes",
        params![stream, day, bytes],
    )
}

/// Bytes of records that a stream has stored on a day.
pub fn bytes_of_day(tx: &mut TenantTx, stream: Id<DataStream>, day: i64) -> Result<i64, DbError> {
    let sql = "select bytes from stream_bytes where workspace = ?1 and stream = ?2 and day = ?3";
    Ok(tx.one(sql, params![stream, day])?.unwrap_or(0))
}

/// Bytes of the stored records of a workspace's streams.
pub fn bytes_of_workspace(tx: &mut TenantTx) -> Result<i64, DbError> {
    let sql = "select cast(coalesce(sum(bytes), 0) as bigint) from stream_bytes where workspace = ?1";
    Ok(tx.one(sql, &[])?.unwrap_or(0))
}

/// Across workspaces: forgets the bytes of up to `limit` days of streams before `day`: their records are emptied.
pub fn forget_bytes(tx: &mut Tx<'_>, day: i64, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        "delete from stream_bytes where (workspace, stream, day) in \
         (select workspace, stream, day from stream_bytes where day < ?1 order by day limit ?2)",
        params![day, limit],
    )
}

/// What an emptied record loses.
const EMPTY: &str = "external_id = null, phone = null, phone_hash = null, name = null, payload = null";

/// Empties the records of a person; how many.
pub fn erase(tx: &mut TenantTx, phone_hash: &str) -> Result<u64, DbError> {
    tx.exec(
        formatcp!("update stream_records set {EMPTY} where workspace = ?1 and phone_hash = ?2 and phone_hash is not null"),
        params![phone_hash],
    )
}

/// Across workspaces: empties up to `limit` records that arrived before `before`; how many.
pub fn empty_old(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64, DbError> {
    tx.exec(
        formatcp!(
            "update stream_records set {EMPTY} where id in (select id from stream_records where payload is not null and received_at < ?1 \
             order by received_at limit ?2 /*pg for update skip locked*/)"
        ),
        params![before, limit],
    )
}

/// Across workspaces: removes up to `limit` records of a deleted stream, and the stream after the last of them.
/// Returns whether there was such a stream.
pub fn remove_deleted(tx: &mut Tx<'_>, limit: i64) -> Result<bool, DbError> {
    let found: Option<Id<DataStream>> = tx.one(
        "select id from data_streams where deleted_at is not null order by deleted_at limit 1 /*pg for update skip locked*/",
        &[],
    )?;
    let Some(stream) = found else { return Ok(false) };
    let removed = tx.exec(
        "delete from stream_records where id in (select id from stream_records where stream = ?1 order by id limit ?2)",
        params![stream, limit],
    )?;
    if (removed as i64) < limit {
        tx.later("delete from data_streams where id = ?1 and deleted_at is not null", params![stream])?;
    }
    Ok(true)
}
