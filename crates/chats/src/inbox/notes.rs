//! Private notes of a team on chats. They are in no message, event or transcript, and are deleted with the words of the
//! chat.

use std::collections::HashMap;

use api::events::chats::Teammate;
use api::inbox::ChatNote;
use app::limits::pages;
use app::{App, Failure};
use domain::chat::inbox::{MAX_MENTIONS, MAX_NOTES, mentions};
use domain::ids::{Chat, Id, User};
use domain::tenant::Tenant;
use domain::topic::NotificationKind;
use store::chats::ChatRow;
use store::inbox::{self, NoteRow};
use store::{TenantTx, Tx, contacts};

fn views(tx: &mut TenantTx, rows: Vec<NoteRow>) -> Result<Vec<ChatNote>, Failure> {
    let mentioned = |row: &NoteRow| mentions(&row.text).unwrap_or_default();
    let mut people: Vec<Id<User>> =
        rows.iter().flat_map(|row| mentioned(row).into_iter().chain([row.author])).collect();
    people.sort_unstable();
    people.dedup();
    if people.is_empty() {
        return Ok(Vec::new());
    }
    let names: HashMap<Id<User>, String> = inbox::member_names(tx, &people)?.into_iter().collect();
    let named = |user_id| Teammate { user_id, name: names.get(&user_id).cloned().unwrap_or_default() };
    let view = |row: NoteRow| ChatNote {
        id: row.id,
        author: named(row.author),
        mentions: mentioned(&row).into_iter().map(named).collect(),
        text: row.text,
        created_at: row.created_at,
    };
    Ok(rows.into_iter().map(view).collect())
}

/// `GET /v1/inbox/{id}/notes`: oldest first, with the cursor of the next page.
///
/// # Errors
/// 404 without the chat.
pub async fn list(
    app: &App,
    tenant: Tenant,
    chat: Id<Chat>,
    after: Option<String>,
    limit: i64,
) -> Result<(Vec<ChatNote>, Option<String>), Failure> {
    let page = app.store.read(move |tx| {
        inbox::entry(&mut tx.of(tenant), chat)?.ok_or_else(|| Failure::not_found("chat"))?;
        let read = |tx: &mut Tx<'_>, limit: i64, after: Option<&str>| {
            let rows = inbox::notes(&mut tx.of(tenant), chat, after, limit)?;
            let next = pages::last(&rows, limit, |row| row.id.to_string());
            Ok::<_, Failure>((views(&mut tx.of(tenant), rows)?, next))
        };
        pages::views(tx, limit, after.clone(), read, |view: &ChatNote| view.id.to_string())
    });
    page.await
}

/// Whether the customer of a chat is erased. An erasure locks the chat, as the caller has.
fn is_erased(tx: &mut TenantTx, row: &ChatRow) -> Result<bool, Failure> {
    let Some(contact) = row.contact else { return Ok(false) };
    Ok(contacts::get(tx, contact)?.is_none_or(|contact| contact.erased_at.is_some()))
}

/// `POST /v1/inbox/{id}/notes`.
///
/// # Errors
/// 400 for a blank text, and for a mention of who is no member; 404 without the chat; 409 when the chat has too many.
pub async fn add(
    app: &App,
    tenant: Tenant,
    author: Id<User>,
    chat: Id<Chat>,
    text: String,
) -> Result<ChatNote, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::field("text", "must not be blank"));
    }
    let mentioned = mentions(&text)
        .map_err(|word| Failure::field("text", format!("mentions {word}, which is no id of a member")))?;
    if mentioned.len() > MAX_MENTIONS {
        return Err(Failure::field("text", format!("must mention at most {MAX_MENTIONS} members")));
    }
    let context = app.context();
    app.of(tenant)
        .tx(move |tx| {
            super::caller(tx, author)?;
            let row = super::find(tx, chat)?;
            if is_erased(tx, &row)? {
                return Err(Failure::conflict("the customer is erased; nothing more is kept of the chat"));
            }
            if !mentioned.is_empty() {
                let known = inbox::member_names(tx, &mentioned)?;
                if let Some(nobody) = mentioned.iter().find(|id| !known.iter().any(|(known, _)| known == *id))
                {
                    let must = format!("mentions {nobody}, who is no member of the workspace");
                    return Err(Failure::field("text", must));
                }
            }
            if inbox::count_notes(tx, chat)? >= MAX_NOTES {
                return Err(Failure::conflict(format!("the chat has {MAX_NOTES} notes, which is the limit")));
            }
            let row =
                NoteRow { id: context.ids.make(), chat, author, text: text.clone(), created_at: context.now };
            inbox::add_note(tx, &row)?;
            for member in mentioned.iter().filter(|member| **member != author) {
                super::tell(tx, &context, *member, NotificationKind::Mentioned, chat)?;
            }
            views(tx, vec![row])?.pop().ok_or_else(|| Failure::internal("a note without a view"))
        })
        .await
}
