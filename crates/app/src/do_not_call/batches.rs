//! Batches concurrent additions to do-not-call lists (`POST /v1/dnc`). The head of the list is locked by each
//! transaction, so on a shared store concurrent requests share one, also with those of other workspaces that have few.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use store::contacts::{self, ContactRow};
use store::{DbError, TenantTx, Tx, do_not_call};

use super::{Source, mark};
use crate::batcher::{BatchScope, Pool, share_out};
use crate::{App, Context, Failure, actions};

/// Most requests in one batch.
const TOGETHER: usize = 64;
/// Concurrent transactions of a workspace on a node: they would wait for each other at the head of the list.
const TURNS: usize = 1;
/// Numbers of a request in a batch.
const SMALL: usize = 16;

/// The additions of a request.
pub(super) struct Ask {
    pub tenant: Tenant,
    pub phones: Vec<Phone>,
    pub reason: Option<String>,
}

/// How many numbers were new on the list, and how many were not.
pub(super) type Listed = (u64, u64);
/// The batches of requests.
type Desks = Pool<Arc<Ask>, Listed>;

/// Puts numbers on the list, on a shared store in a batch.
pub(super) async fn list(app: &App, ask: Ask) -> Result<Listed, Failure> {
    let ask = Arc::new(ask);
    if app.store.shared() && ask.phones.len() <= SMALL {
        let desks = app.state.of(|| Desks::new(TOGETHER, TURNS));
        let listed = desks.ask(ask.tenant, ask.clone(), |asks, scope| async move {
            let (count, context) = (asks.len(), app.context());
            let work = move |tx: &mut Tx<'_>| list_all(tx, &context, &asks);
            let stored = match scope {
                BatchScope::Others => app.store.tx_hasty(work).await,
                BatchScope::Own => app.store.tx(work).await,
            };
            share_out(count, stored.map(|all| all.into_iter().map(|one| Some(Ok(one))).collect()))
        });
        if let Some(listed) = listed.await {
            return listed;
        }
    }
    let context = app.context();
    let listed = app.store.tx(move |tx| list_all(tx, &context, std::slice::from_ref(&ask))).await?;
    Ok(listed.first().copied().unwrap_or_default())
}

/// What requests of one workspace put on its list.
#[derive(Default)]
struct List {
    /// By the number, in the order of the requests: the first one that names a number lists it.
    named: BTreeMap<Phone, usize>,
    entries: Vec<do_not_call::NewEntry>,
    /// Whether each is new.
    added: Vec<bool>,
}

fn list_all(tx: &mut Tx<'_>, context: &Context, asks: &[Arc<Ask>]) -> Result<Vec<Listed>, Failure> {
    let mut lists: BTreeMap<Tenant, List> = BTreeMap::new();
    for ask in asks {
        let List { named, entries, .. } = lists.entry(ask.tenant).or_default();
        for phone in &ask.phones {
            named.entry(*phone).or_insert_with(|| {
                entries.push(do_not_call::NewEntry {
                    hash: context.keyring.hash_phone(phone),
                    phone: phone.to_string(),
                    reason: ask.reason.clone().unwrap_or_else(|| Source::Api.reason().to_owned()),
                });
                entries.len() - 1
            });
        }
    }
    let several = lists.len() > 1;
    if several {
        let all = lists.iter().map(|(tenant, list)| (*tenant, &*list.entries));
        do_not_call::prefetch_all(tx, all, people)?;
    }
    for (tenant, list) in &mut lists {
        let entries = &list.entries;
        let also = |tx: &mut TenantTx| people(tx, entries);
        let (added, people) = do_not_call::add_all(&mut tx.of(*tenant), entries, context.now, several, also)?;
        for contact in people {
            mark(&mut tx.of(*tenant), context, &contact, Source::Api)?;
        }
        list.added = added;
    }
    actions::changed_fields(tx, &["numbers"]);
    let mut listed = |ask: &Arc<Ask>| {
        let Some(List { named, added, .. }) = lists.get_mut(&ask.tenant) else { return (0, 0) };
        let mut is_new = |phone: &&Phone| {
            let place = named.get(*phone).and_then(|place| added.get_mut(*place));
            place.is_some_and(std::mem::take)
        };
        let new = ask.phones.iter().filter(|phone| is_new(phone)).count();
        (count(new), count(ask.phones.len() - new))
    };
    Ok(asks.iter().map(&mut listed).collect())
}

/// The contacts who have these numbers.
fn people(tx: &mut TenantTx, entries: &[do_not_call::NewEntry]) -> Result<Vec<ContactRow>, DbError> {
    let numbers: Vec<String> = entries.iter().map(|entry| entry.phone.clone()).collect();
    contacts::find_by_phones(tx, Mode::Live, &numbers)
}

fn count(numbers: usize) -> u64 {
    u64::try_from(numbers).unwrap_or(u64::MAX)
}
