//! `GET /v1/search` (docs/contract/search.md).

use api::scopes::{self, Scope};
use api::search::{FoundItem, FoundType};
use domain::names;
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use store::search::{self, Findable, FoundRow, NamedTable};
use store::{DbError, TenantTx, contacts};

use super::{App, Failure};

/// Most results.
const MOST: usize = 20;

/// Nouns that are found by their ids: the prefix, what it is, and the scope that reads it.
const BY_ID: &[(&str, Findable, FoundType, Scope)] = &[
    ("call", Findable::Call, FoundType::Call, scopes::CALLS_READ),
    ("con", Findable::Contact, FoundType::Contact, scopes::CONTACTS_READ),
    ("agt", Findable::Agent, FoundType::Agent, scopes::AGENTS_READ),
    ("cmp", Findable::Campaign, FoundType::Campaign, scopes::CAMPAIGNS_READ),
    ("run", Findable::CampaignRun, FoundType::CampaignRun, scopes::CAMPAIGNS_READ),
    ("ndg", Findable::Nudge, FoundType::Nudge, scopes::NUDGES_READ),
    ("scall", Findable::ScheduledCall, FoundType::ScheduledCall, scopes::CALLS_READ),
    ("rec", Findable::Recording, FoundType::Recording, scopes::CALLS_READ),
    ("num", Findable::Number, FoundType::Number, scopes::NUMBERS_READ),
    ("kb", Findable::KnowledgeBase, FoundType::KnowledgeBase, scopes::KNOWLEDGE_READ),
    ("whe", Findable::WebhookEndpoint, FoundType::WebhookEndpoint, scopes::WEBHOOKS_READ),
    ("whd", Findable::Delivery, FoundType::Delivery, scopes::WEBHOOKS_READ),
    ("evt", Findable::Event, FoundType::Event, scopes::WEBHOOKS_READ),
];

/// Nouns of which a workspace has few, found by the words of their names.
const BY_NAME: &[(NamedTable, FoundType, Scope)] = &[
    (NamedTable::Agents, FoundType::Agent, scopes::AGENTS_READ),
    (NamedTable::Campaigns, FoundType::Campaign, scopes::CAMPAIGNS_READ),
    (NamedTable::KnowledgeBases, FoundType::KnowledgeBase, scopes::KNOWLEDGE_READ),
];

/// What a text names, as far as the caller may read it.
pub async fn search(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    text: &str,
    may: impl Fn(Scope) -> bool,
) -> Result<Vec<FoundItem>, Failure> {
    let text = text.trim().to_owned();
    let allowed: Vec<Scope> = scopes::ALL.iter().copied().filter(|scope| may(*scope)).collect();
    Ok(app.of(tenant).read(move |tx| found(tx, mode, &text, &allowed)).await?)
}

/// Contacts whose names are made searchable in one transaction.
const BATCH: i64 = 500;

/// Makes a batch of names searchable that an earlier version wrote. Returns whether there may be more.
pub async fn add_missing_words(app: &App) -> Result<bool, Failure> {
    let added = app.store.tx(move |tx| search::add_missing_words(tx, BATCH)).await?;
    Ok(added as i64 >= BATCH)
}

fn found(tx: &mut TenantTx, mode: Mode, text: &str, allowed: &[Scope]) -> Result<Vec<FoundItem>, DbError> {
    // A test key sees people of both modes, and of everything else its own (docs/contract/sandbox.md#test-keys).
    let people: &[Mode] = if mode == Mode::Test { &[Mode::Live, Mode::Test] } else { &[Mode::Live] };
    let prefix = text.split('_').next().unwrap_or_default();
    if let Some((_, noun, r#type, scope)) = BY_ID.iter().find(|(known, ..)| *known == prefix)
        && allowed.contains(scope)
    {
        let own = [mode];
        let modes = if *noun == Findable::Contact { people } else { &own };
        if let Some(row) = search::by_id(tx, *noun, modes, text)? {
            return Ok(vec![item(row, *r#type)]);
        }
    }
    let mut items: Vec<FoundItem> = Vec::new();
    if let Ok(phone) = Phone::normalize(text) {
        for mode in people {
            if let Some(row) = contacts::find_by_phone(tx, *mode, &phone.to_string())? {
                items.extend(contact(tx, people, &row.id.to_string())?);
            }
        }
        if !items.is_empty() {
            return Ok(items);
        }
    }
    let words = names::words(text);
    for (table, r#type, _) in BY_NAME.iter().filter(|(_, _, scope)| allowed.contains(scope)) {
        let named = search::named(tx, *table)?.into_iter();
        let fits = named.filter(|row| row.title.as_deref().is_some_and(|name| names::matches(name, &words)));
        items.extend(fits.take(MOST / 4).map(|row| item(row, *r#type)));
    }
    let left = |items: &Vec<FoundItem>| MOST.saturating_sub(items.len()) as i64;
    let mut ids = Vec::new();
    for mode in people {
        ids.extend(search::by_reference(tx, *mode, text, left(&items))?);
    }
    for mode in people {
        ids.extend(search::by_name(tx, *mode, &words, left(&items))?);
    }
    let mut seen = Vec::new();
    for id in ids {
        if items.len() < MOST && !seen.contains(&id) {
            seen.push(id);
            items.extend(contact(tx, people, &id.to_string())?);
        }
    }
    items.truncate(MOST);
    Ok(items)
}

fn contact(tx: &mut TenantTx, modes: &[Mode], id: &str) -> Result<Option<FoundItem>, DbError> {
    Ok(search::by_id(tx, Findable::Contact, modes, id)?.map(|row| item(row, FoundType::Contact)))
}

fn item(row: FoundRow, r#type: FoundType) -> FoundItem {
    let title = row.title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| row.id.clone());
    FoundItem { r#type, title, subtitle: row.subtitle, at: row.at, id: row.id }
}
