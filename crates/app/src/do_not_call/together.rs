//! Numbers that a workspace puts on its list at the same moment (`POST /v1/dnc`). The head of the list is held for each
//! transaction, so on a shared store the requests that wait share one.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use store::{Tx, contacts, do_not_call};

use super::{Source, mark};
use crate::gather::{Gathers, Shared, share_out};
use crate::{App, Context, Failure};

/// Requests of a workspace that share a transaction at most.
const TOGETHER: usize = 64;
/// Transactions of a workspace at once on a node: they would wait for each other at the head of the list.
const TURNS: usize = 1;
/// Numbers of a request that shares a transaction with others.
const SMALL: usize = 16;

/// What a request puts on the list.
pub(super) struct Ask {
    pub phones: Vec<Phone>,
    pub reason: Option<String>,
}

/// How many numbers were new on the list, and how many were not.
pub(super) type Listed = (u64, u64);
/// Where requests wait.
type Desks = Gathers<Arc<Ask>, Shared<Listed>>;

/// Puts numbers on the list, on a shared store together with others that wait.
pub(super) async fn list(app: &App, tenant: Tenant, ask: Ask) -> Result<Listed, Failure> {
    let ask = Arc::new(ask);
    if app.store.shared() && ask.phones.len() <= SMALL {
        let desk = app.kept.of(|| Desks::new(TOGETHER, TURNS)).of(tenant);
        let listed = desk.ask(ask.clone(), |asks| async move {
            let (count, context) = (asks.len(), app.context());
            let stored = app.store.tx(move |tx| list_all(tx, &context, tenant, &asks)).await;
            share_out(count, stored.map(|all| all.into_iter().map(|one| Some(Ok(one))).collect()))
        });
        if let Some(Some(listed)) = listed.await {
            return listed;
        }
    }
    let context = app.context();
    let listed = app.store.tx(move |tx| list_all(tx, &context, tenant, std::slice::from_ref(&ask))).await?;
    Ok(listed.first().copied().unwrap_or_default())
}

fn list_all(
    tx: &mut Tx<'_>,
    context: &Context,
    tenant: Tenant,
    asks: &[Arc<Ask>],
) -> Result<Vec<Listed>, Failure> {
    // By the number, in the order of the requests: the first one that names a number lists it.
    let mut named: BTreeMap<Phone, usize> = BTreeMap::new();
    let mut entries = Vec::new();
    for ask in asks {
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
    let numbers: Vec<String> = entries.iter().map(|entry| entry.phone.clone()).collect();
    let people = |tx: &mut Tx<'_>| contacts::find_by_phones(tx, tenant, Mode::Live, &numbers);
    let (mut added, people) = do_not_call::add_all(tx, tenant, &entries, context.now, people)?;
    for contact in people {
        mark(tx, context, tenant, &contact, Source::Api)?;
    }
    let mut listed = |phone: &Phone| {
        let place = named.get(phone).and_then(|place| added.get_mut(*place));
        place.is_some_and(std::mem::take)
    };
    let listed = |ask: &Arc<Ask>| {
        let new = ask.phones.iter().filter(|phone| listed(phone)).count();
        (count(new), count(ask.phones.len() - new))
    };
    Ok(asks.iter().map(listed).collect())
}

fn count(numbers: usize) -> u64 {
    u64::try_from(numbers).unwrap_or(u64::MAX)
}
