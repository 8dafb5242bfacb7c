//! Polling a stream from a connected system (docs/contract/integrations.md#checks): what is fetched, what is imported,
//! and when the next poll is.
//!
//! The node holds a claim on the stream, a lease that each page renews. Records are ingested page by page, each page in
//! one transaction that verifies the claim; the position is stored at the end. A check that is cut short is repeated
//! from the end of the last one, and its records are deduplicated by their identity.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ::streams::ingest::{prepare, take};
use ::streams::room::room;
use ::streams::stream::stop;
use app::limits::pages::bytes_of;
use app::{Failure, access};
use domain::ids::{DataStream, Id, Integration};
use domain::integration::{Check, LEASE, MOST_FAILURES, Provider, after_check, asks_from};
use domain::stream::{Arrival, Outcome, OwnId, Status, flatten, read};
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use providers::connectors::{Cursor, Fault, Found, Page, Query, Row, Sheet};
use runtime::crypto::Keyring;
use serde_json::{Map, Value, json};
use store::polls::{self, PollRow};
use store::pushes::{self, PushPersonRow};
use store::streams::{self, StreamRow};

use crate::ConnectedSystems;
use crate::passes::{Opened, Trouble, with_words};

/// Pages of one check; the next check follows at once.
const PAGES: usize = 200;
/// Records in one transaction.
const BATCH: usize = 500;
/// Fields that are requested in addition to the usual ones.
const MOST_FIELDS: usize = 200;
/// Rows of a spreadsheet whose hashes are kept; beyond that, those that are no longer in it are dropped.
const MOST_KNOWN_ROWS: usize = 200_000;
/// Retry delay after a failure of the store.
const AGAIN: i64 = 10 * SECOND;

/// A stream during a check.
struct Task {
    row: PollRow,
    stream: StreamRow,
    provider: Provider,
    /// Additional fields.
    fields: Vec<String>,
    began: Timestamp,
}

/// Why a check ended early.
enum Halt {
    /// The account cannot be used.
    Trouble(Trouble),
    /// The system gave an error; the message contains no secret.
    Fault(Fault),
    /// The source is misconfigured; a message for people.
    Wrong(String),
    /// The claim was lost: the stream was paused, deleted, or has another source.
    Lost,
    /// An internal failure.
    Failure(Failure),
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl ConnectedSystems {
    /// Streams whose check is due, the longest waiting first, but none of these workspaces.
    pub async fn due_checks(
        &self,
        now: Timestamp,
        full: Vec<Tenant>,
        limit: i64,
    ) -> Result<Vec<(Tenant, Id<DataStream>)>, Failure> {
        Ok(self.app.store.read(move |tx| polls::due(tx, now, &full, limit)).await?)
    }

    /// When the next check after this moment is due.
    pub async fn next_check(&self, after: Timestamp) -> Result<Option<Timestamp>, Failure> {
        Ok(self.app.store.read(move |tx| polls::next_due(tx, after)).await?)
    }

    /// Checks one stream, if it is due and not claimed.
    pub async fn check(&self, tenant: Tenant, stream: Id<DataStream>) {
        let checked = async {
            let Some(mut task) = self.begin(tenant, stream).await? else { return Ok(()) };
            let halt = match task.provider {
                Provider::GoogleSheets => self.check_sheet(&mut task).await,
                Provider::HubSpot | Provider::Salesforce | Provider::Zoho | Provider::Shopify => {
                    self.check_records(&mut task).await
                }
            };
            self.end(task, halt).await
        };
        let checked: Result<(), Failure> = checked.await;
        if let Err(failure) = checked {
            failure.warn_about(stream, "a check of a stream was not completed");
            // Its claim expires, and it is checked again; without one it would be due at once.
            let until = self.app.clock.now().plus(AGAIN);
            let put_off = self.app.of(tenant).tx(move |tx| polls::put_off(tx, stream, until));
            if let Err(why) = put_off.await {
                tracing::warn!(%stream, %why, "a check of a stream was not put off");
            }
        }
    }

    fn every(&self) -> i64 {
        i64::try_from(self.app.config.integrations.poll.as_millis()).unwrap_or(i64::MAX)
    }

    /// Claims a stream; `None` when there is nothing to check.
    async fn begin(&self, tenant: Tenant, id: Id<DataStream>) -> Result<Option<Task>, Failure> {
        let (context, every) = (self.app.context(), self.every());
        let now = context.now;
        self.app
            .store
            .tx(move |tx| {
                let found = streams::get_for_update(&mut tx.of(tenant), id)?;
                let Some(mut row) = polls::claim(&mut tx.of(tenant), id, now, now.plus(LEASE))? else {
                    return Ok(None);
                };
                let Some(stream) = found else {
                    polls::forget(&mut tx.of(tenant), id)?;
                    return Ok(None);
                };
                let workspace = access::workspace(&mut tx.of(tenant))?;
                let provider = stream.kind.provider().filter(|_| stream.status == Status::Active);
                let Some(provider) = provider else {
                    row.next_at = None;
                    polls::finish(tx, &row)?;
                    return Ok(None);
                };
                if workspace.suspended {
                    row.next_at = Some(now.plus(every));
                    polls::finish(tx, &row)?;
                    return Ok(None);
                }
                if provider.is_crm() && !access::feature_on(&workspace, "crmIntegrations") {
                    (row.next_at, row.failures) = (None, MOST_FAILURES);
                    polls::finish(tx, &row)?;
                    stop(tx, &context, &stream, "the workspace's plan has no CRM integrations")?;
                    return Ok(None);
                }
                let mut fields = wanted(&stream);
                for feed in streams::feeds(&mut tx.of(tenant), id)? {
                    let mapped = feed.attachment.variable_mapping.values().filter_map(Value::as_str);
                    fields.extend(mapped.map(str::to_owned));
                }
                let fields = fields.into_iter().take(MOST_FIELDS).collect();
                Ok(Some(Task { row, stream, provider, fields, began: now }))
            })
            .await
    }

    /// Stores the result of a check, and the time of the next one.
    async fn end(&self, task: Task, outcome: Result<Check, Halt>) -> Result<(), Failure> {
        let Task { mut row, stream, provider, began, .. } = task;
        let (check, said) = match outcome {
            Ok(check) => (check, String::new()),
            Err(Halt::Lost) => return Ok(()),
            Err(Halt::Failure(failure)) => {
                failure.warn_about(stream.id, "a check of a stream failed here");
                (Check::Later(AGAIN), String::new())
            }
            Err(Halt::Wrong(said)) => (Check::Failed, said),
            Err(Halt::Trouble(trouble)) => outcome_of(trouble),
            Err(Halt::Fault(fault)) => outcome_of_fault(&fault),
        };
        if check == Check::Failed {
            tracing::warn!(stream = %stream.id, provider = provider.as_str(), failures = row.failures + 1, "a check of a stream failed");
        }
        let context = self.app.context();
        let after = after_check(check, row.failures, began, context.now, self.every());
        (row.failures, row.next_at) = (after.failures, after.next_at);
        let (tenant, id) = (row.workspace, row.stream);
        self.app
            .of(tenant)
            .tx(move |tx| {
                let stopped = match row.next_at {
                    None => streams::get_for_update(tx, id)?,
                    Some(_) => None,
                };
                if !polls::finish(tx, &row)? {
                    return Ok::<_, Failure>(());
                }
                match stopped.filter(|stream| stream.status == Status::Active) {
                    Some(stream) => stop(tx, &context, &stream, &said),
                    None => Ok(()),
                }
            })
            .await
    }

    /// Fetches the new records of a CRM or a shop.
    async fn check_records(&self, task: &mut Task) -> Result<Check, Halt> {
        let Task { row, stream, provider, .. } = &*task;
        let from = asks_from(*provider, row.start_at, row.newest_at, row.behind);
        let config = stream.config.fields();
        let text = |name: &str| config.get(name).and_then(Value::as_str).map(str::to_owned);
        let object = match provider {
            Provider::HubSpot => "contacts".to_owned(),
            Provider::Salesforce => text("object").unwrap_or_else(|| "Lead".into()),
            Provider::Zoho => text("module").unwrap_or_else(|| "Leads".into()),
            Provider::Shopify => "customers".to_owned(),
            Provider::GoogleSheets => return Err(Halt::Wrong("a spreadsheet has no records".into())),
        };
        let query =
            Query { object, lifecycle_stage: text("lifecycleStage"), fields: task.fields.clone(), from };
        let mut line = Line::open(self, row.workspace, row.integration, *provider).await?;
        let (mut newest, mut cursor) = (from, None);
        for _ in 0..PAGES {
            let page = line.page(&query, cursor.clone()).await?;
            newest = page.records.iter().filter_map(|record| record.created).fold(newest, Timestamp::max);
            for records in page.records.chunks(BATCH) {
                self.take_records(task, &query.object, records).await?;
            }
            if page.next.is_none() {
                task.row.behind = false;
                // A time in the future says nothing about earlier records.
                task.row.newest_at = task.row.newest_at.max(newest.min(task.began));
                return Ok(Check::Whole);
            }
            if page.next == cursor {
                return Err(Halt::Wrong("the pages of the system repeat themselves".into()));
            }
            cursor = page.next;
        }
        let newest = newest.min(task.began);
        if newest <= from || cursor.as_ref().is_some_and(Cursor::is_backwards) {
            return Err(Halt::Wrong("more records are new than can be read".into()));
        }
        (task.row.behind, task.row.newest_at) = (true, newest);
        Ok(Check::Part)
    }

    async fn take_records(&self, task: &Task, object: &str, records: &[Found]) -> Result<(), Halt> {
        let arrivals = records.iter().map(|record| Arrival {
            own_id: Some(OwnId::Record(record.id.clone())),
            ..flatten(&record.fields)
        });
        let people = records.iter().map(|record| (object.to_owned(), record.id.clone()));
        self.hand_on(task, arrivals.collect(), people.collect(), Vec::new()).await
    }

    /// Fetches a spreadsheet and ingests the unknown rows.
    async fn check_sheet(&self, task: &mut Task) -> Result<Check, Halt> {
        let (tenant, id) = (task.row.workspace, task.row.stream);
        let config = task.stream.config.fields();
        let text = |name: &str| config.get(name).and_then(Value::as_str).map(str::to_owned);
        let (spreadsheet, tab) = (text("spreadsheetId").unwrap_or_default(), text("sheetName"));
        let mut line = Line::open(self, tenant, task.row.integration, task.provider).await?;
        let _room = self.app.clock.outside(self.sheets.acquire()).await;
        let sheet = line.sheet(&spreadsheet, tab.as_deref()).await?;
        let rows: Vec<(String, Row)> =
            sheet.rows.into_iter().map(|row| (row_hash(&self.app.keyring, &row), row)).collect();
        let digest = self.app.keyring.hash(&rows.iter().map(|(hash, _)| hash.as_str()).collect::<String>());
        if task.row.digest.as_deref() == Some(&digest) && !task.row.baseline {
            return Ok(Check::Whole);
        }
        let known = self.app.of(tenant).read(move |tx| polls::rows(tx, id)).await.map_err(Failure::from)?;
        let mut known: HashSet<String> = known.into_iter().collect();
        let gone = (known.len() + rows.len() > MOST_KNOWN_ROWS).then(|| {
            let here: HashSet<&str> = rows.iter().map(|(hash, _)| hash.as_str()).collect();
            known.iter().filter(|hash| !here.contains(hash.as_str())).cloned().collect::<Vec<_>>()
        });
        let new: Vec<(String, Row)> =
            rows.into_iter().filter(|(hash, _)| known.insert(hash.clone())).collect();
        for some in new.chunks(BATCH) {
            let hashes = some.iter().map(|(hash, _)| hash.clone()).collect();
            let arrivals = if task.row.baseline {
                Vec::new()
            } else {
                some.iter().map(|(hash, row)| arrival(hash, row)).collect()
            };
            self.hand_on(task, arrivals, Vec::new(), hashes).await?;
        }
        if let Some(gone) = gone {
            let removed = self.app.of(tenant).tx(move |tx| polls::remove_rows(tx, id, &gone));
            removed.await.map_err(Failure::from)?;
        }
        (task.row.baseline, task.row.digest) = (false, Some(digest));
        Ok(Check::Whole)
    }

    /// Ingests records and stores their references, in one transaction that verifies the claim. `people` are kind and
    /// id of the records, in their order.
    async fn hand_on(
        &self,
        task: &Task,
        arrivals: Vec<Arrival>,
        people: Vec<(String, String)>,
        rows: Vec<String>,
    ) -> Result<(), Halt> {
        let (context, row, version) = (self.app.context(), task.row.clone(), task.stream.version);
        let (tenant, id) = (row.workspace, row.stream);
        room(&self.app, tenant, id, arrivals.iter().map(|arrival| bytes_of(&arrival.fields)).sum()).await?;
        // Parsing takes time, so it is done before the transaction.
        let ready = prepare(&context.keyring, &task.stream, arrivals.clone());
        let taken = self.app.of(tenant).tx(move |tx| {
            let stream = streams::get_for_records(tx, id)?;
            let Some(stream) = stream.filter(|stream| stream.status == Status::Active) else {
                return Ok::<_, Failure>(false);
            };
            if !polls::keep(tx, &row, context.now.plus(LEASE))? {
                return Ok(false);
            }
            let taken = if stream.version == version {
                take(tx, &context, &stream, &ready)?
            } else {
                // Its settings were changed meanwhile.
                take(tx, &context, &stream, &prepare(&context.keyring, &stream, arrivals.clone()))?
            };
            let new = |at: usize| taken.results.get(at).is_some_and(|one| one.status == Outcome::Accepted);
            let all = arrivals.iter().zip(&people).enumerate();
            let accepted = all.filter(|(at, _)| new(*at)).map(|(_, person)| person);
            pushes::know(tx, &persons(&context.keyring, &row, &stream, accepted))?;
            polls::add_rows(tx, id, &rows)?;
            Ok(true)
        });
        if taken.await? { Ok(()) } else { Err(Halt::Lost) }
    }
}

/// The record of each person, every number once and in one order: two pages may name the same people. Only of new
/// records: those that come again would restore erased people.
fn persons<'a>(
    keyring: &Keyring,
    row: &PollRow,
    stream: &StreamRow,
    accepted: impl Iterator<Item = (&'a Arrival, &'a (String, String))>,
) -> Vec<PushPersonRow> {
    let mut known = BTreeMap::new();
    for (arrival, (object, record)) in accepted {
        let Ok(phone) = read(arrival, &stream.field_map, stream.config.country()).phone else { continue };
        let person = PushPersonRow {
            workspace: row.workspace,
            phone_hash: keyring.hash_phone(&phone),
            integration: row.integration,
            stream: row.stream,
            object: object.clone(),
            record: record.clone(),
        };
        known.insert(person.phone_hash.clone(), person);
    }
    known.into_values().collect()
}

/// Fields that the stream itself names.
fn wanted(stream: &StreamRow) -> BTreeSet<String> {
    let map = &stream.field_map;
    [&map.phone, &map.name, &map.external_id].into_iter().flatten().cloned().collect()
}

/// A keyed hash of the content of a row, in any order of the columns.
fn row_hash(keyring: &Keyring, row: &Row) -> String {
    let mut pairs: Vec<(&str, &str)> =
        row.iter().map(|(heading, cell)| (&**heading, cell.as_str())).collect();
    pairs.sort_unstable();
    keyring.hash(&format!("row:{}", json!(pairs)))
}

fn arrival(hash: &str, row: &Row) -> Arrival {
    let mut fields = Map::new();
    for (heading, cell) in row {
        // Of two columns with one heading the first counts.
        fields.entry(&**heading).or_insert_with(|| json!(cell));
    }
    Arrival { own_id: Some(OwnId::Content(hash.to_owned())), ..flatten(&fields) }
}

/// The result of a check whose account cannot be used, and its message.
fn outcome_of(trouble: Trouble) -> (Check, String) {
    match trouble {
        Trouble::Gone => (Check::Failed, "the integration is disconnected".into()),
        Trouble::Broken(said) => {
            (Check::Failed, format!("the integration is broken and needs other credentials: {said}"))
        }
        Trouble::Busy(wait) => (Check::Later(wait), String::new()),
        Trouble::Fault(fault) => {
            let (check, said) = outcome_of_fault(&fault);
            (check, format!("no access token: {said}"))
        }
        Trouble::Failure(failure) => {
            failure.warn("an account of an outside system could not be opened");
            (Check::Later(AGAIN), String::new())
        }
    }
}

fn outcome_of_fault(fault: &Fault) -> (Check, String) {
    match fault {
        Fault::Later { wait: Some(wait), .. } => (Check::Later(*wait), String::new()),
        fault => (Check::Failed, fault.said().to_owned()),
    }
}

/// An account during a check: its token is renewed once if it is refused.
struct Line<'a> {
    connected: &'a ConnectedSystems,
    tenant: Tenant,
    integration: Id<Integration>,
    opened: Opened,
    /// The account with the token that was refused.
    before: Option<Opened>,
}

impl<'a> Line<'a> {
    async fn open(
        connected: &'a ConnectedSystems,
        tenant: Tenant,
        integration: Id<Integration>,
        provider: Provider,
    ) -> Result<Self, Halt> {
        let opened = connected.open_account(tenant, integration, None).await.map_err(Halt::Trouble)?;
        if opened.provider != provider {
            return Err(Halt::Wrong("the integration is of another system".into()));
        }
        Ok(Self { connected, tenant, integration, opened, before: None })
    }

    async fn page(&mut self, query: &Query, cursor: Option<Cursor>) -> Result<Page, Halt> {
        loop {
            let asked =
                self.connected.systems.page(self.opened.provider, &self.opened.pass, query, cursor.clone());
            match self.connected.app.clock.outside(asked).await {
                Ok(page) => return Ok(page),
                Err(fault) => self.refused(fault).await?,
            }
        }
    }

    async fn sheet(&mut self, spreadsheet: &str, tab: Option<&str>) -> Result<Sheet, Halt> {
        loop {
            let asked = self.connected.systems.sheet(&self.opened.pass, spreadsheet, tab);
            match self.connected.app.clock.outside(asked).await {
                Ok(sheet) => return Ok(sheet),
                Err(fault) => self.refused(fault).await?,
            }
        }
    }

    /// Fetches another token if the first one was refused; any other fault ends the check.
    async fn refused(&mut self, fault: Fault) -> Result<(), Halt> {
        let may_renew = self.before.is_none() && self.opened.renewable();
        if !matches!(fault, Fault::Unauthorized(_)) || !may_renew {
            let mut said = self.opened.without_secrets(fault.said());
            if let Some(before) = &self.before {
                said = before.without_secrets(&said);
            }
            return Err(Halt::Fault(with_words(&fault, &said)));
        }
        let opened =
            self.connected.open_account(self.tenant, self.integration, Some(&self.opened.pass)).await;
        self.before = Some(std::mem::replace(&mut self.opened, opened.map_err(Halt::Trouble)?));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_what_stands_under_its_headings_in_any_order() {
        let keyring = Keyring::new(&[7; 32]);
        let row = |pairs: &[(&str, &str)]| -> Row {
            pairs.iter().map(|(heading, cell)| ((*heading).into(), (*cell).to_owned())).collect()
        };
        let hash = |pairs: &[(&str, &str)]| row_hash(&keyring, &row(pairs));
        assert_eq!(hash(&[("a", "1"), ("b", "2")]), hash(&[("b", "2"), ("a", "1")]));
        for other in
            [&[("a", "2"), ("b", "1")][..], &[("a", "1")], &[("a\",\"1", "")], &[("a", "1"), ("c", "2")]]
        {
            assert_ne!(hash(&[("a", "1"), ("b", "2")]), hash(other));
        }
        let read = arrival("h", &row(&[("a", "1"), ("a", "2"), ("b", "3")]));
        assert_eq!(Value::Object(read.fields), json!({"a": "1", "b": "3"}));
        assert_eq!(read.own_id, Some(OwnId::Content("h".into())));
    }
}
