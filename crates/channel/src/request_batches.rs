//! Batches concurrent requests of a workspace that send messages into one transaction (PostgreSQL only). Their reads
//! are prefetched, their rows are written with one statement for each table, and the decision log is locked once. Each
//! is decided by the same rules as a single request. A reused idempotency key, and a second message to one person, is
//! left to a transaction of its own; so is every request when the batch fails.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use app::batcher::{Batchers, Shared, share_out};
use app::{App, Failure, idempotency};
use domain::channel::Recipient;
use domain::channel::template::TemplateRef;
use domain::tenant::{Mode, Tenant};
use store::{TenantTx, channel_accounts, channel_templates, contacts};

use crate::messages::{self, Decisions};
use crate::numbers::Number;
use crate::prefetch;
use crate::requests::{self, Intent, MessageRequest, Request, template_ref};

/// Most requests of one transaction.
const BATCH: usize = 64;
/// Concurrent transactions: while one commits, the next is filled.
const TRANSACTIONS: usize = 2;

/// Batchers of requests, by workspace.
type Batches = Batchers<Arc<Request>, Shared<Intent>>;

/// Accepts the message of a request in a batch with others.
pub(crate) async fn take(app: &Arc<App>, tenant: Tenant, request: Arc<Request>) -> Shared<Intent> {
    let desk = app.state.of(|| Batches::new(BATCH, TRANSACTIONS)).of(tenant);
    let taken = desk.ask(request, |requests| work(app, tenant, requests)).await;
    taken.unwrap_or_else(|| Some(Err(Failure::internal("messages were not taken to the end"))))
}

async fn work(app: &Arc<App>, tenant: Tenant, requests: Vec<Arc<Request>>) -> Vec<Shared<Intent>> {
    let (count, keeper) = (requests.len(), app.clone());
    share_out(count, app.of(tenant).tx(move |tx| take_all(&keeper, tx, &requests)).await)
}

/// Prefetches the templates, by the key that each request uses.
fn read_templates(tx: &mut TenantTx, named: &BTreeSet<Named>) -> Result<(), Failure> {
    for named in named {
        let (id, name) = match named {
            Named::Id(id) => (Some(*id), None),
            Named::Name(name, language) => (None, Some((name.as_str(), language.as_str()))),
        };
        channel_templates::prefetch(tx, id, name)?;
    }
    Ok(())
}

/// How a request names a template.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Id(domain::ids::Id<domain::ids::ChannelTemplate>),
    Name(String, String),
}

impl Named {
    fn of(request: &Request) -> Option<Self> {
        let MessageRequest::Template(wanted) = &request.wanted else { return None };
        Some(match template_ref(wanted).ok()? {
            TemplateRef::Id(id) => Self::Id(id),
            TemplateRef::Name { name, language } => Self::Name(name, language),
        })
    }
}

fn take_all(app: &App, tx: &mut TenantTx, requests: &[Arc<Request>]) -> Result<Vec<Shared<Intent>>, Failure> {
    let context = app.context();
    let to: Vec<Recipient> = requests.iter().map(|request| request.to.clone()).collect();
    let (phones, users) = prefetch::addresses(&to);
    let named: BTreeSet<Named> = requests.iter().filter_map(|request| Named::of(request)).collect();
    tx.pipeline_reads(|tx| {
        // Each reads by itself: one that finds nothing must not end the others.
        let _ = idempotency::used(tx, requests.iter().map(|request| &request.once));
        let _ = channel_accounts::prefetch(tx);
        let _ = read_templates(tx, &named);
        let _ = contacts::prefetch_by_address(tx, Mode::Live, &phones, &users);
    });
    let mut keys = idempotency::used(tx, requests.iter().map(|request| &request.once))?;
    channel_accounts::prefetch(tx)?;
    read_templates(tx, &named)?;
    let found = contacts::prefetch_by_address(tx, Mode::Live, &phones, &users)?;
    let mut numbers: BTreeMap<String, Number> = BTreeMap::new();
    let mut senders = Vec::with_capacity(requests.len());
    for request in requests {
        let number = request.number(tx);
        if let Ok(number) = &number {
            numbers.entry(number.phone_number_id.clone()).or_insert_with(|| number.clone());
        }
        senders.push(number);
    }
    for number in numbers.values() {
        prefetch::standing(tx, &context, number, &found, &to)?;
    }
    let mut intents: Vec<Shared<Intent>> = requests.iter().map(|_| None).collect();
    let (mut met, mut decisions, mut taken) = (BTreeSet::new(), Decisions::default(), Vec::new());
    for ((request, number), decided) in requests.iter().zip(senders).zip(&mut intents) {
        let key_is_free = request.once.key().is_none_or(|key| keys.insert(key.to_owned()));
        if !key_is_free || !met.insert(request.to.text()) {
            continue;
        }
        let new = match number.and_then(|number| request.message(tx, number)) {
            Ok(new) => new,
            Err(failure) => {
                *decided = Some(Err(failure.of_one()?));
                continue;
            }
        };
        let placed = tx.traced(request.trace, |tx| {
            messages::put_into(app, tx, &new, request.slot.as_ref(), &mut decisions)
        })?;
        let (intent, key) = requests::intended(tx, context.now, &request.once, placed)?;
        taken.extend(key);
        *decided = Some(Ok(intent));
    }
    idempotency::take_new(tx, context.now, &taken)?;
    decisions.write(tx, &context)?;
    Ok(intents)
}
