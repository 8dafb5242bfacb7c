//! Erasure of people, suspension of workspaces, and retention of chats.

use std::sync::Arc;

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{App, Context, Failure, NoHooks, topics};
use domain::chat::{Channel, EndCause, Limits, Reading, State};

use domain::time::{DAY, Timestamp};
use serde_json::Map;
use store::{DbError, TenantTx, channel_conversations, chats};

use crate::session::{Env, end, save};

/// Chats deleted in one transaction.
const SWEEP: i64 = 200;

/// Erases the messages of every chat with a person. Open ones end.
pub fn erase(
    tx: &mut TenantTx,
    context: &Context,
    person: &ErasedPerson,
    erased: &mut Erased,
) -> Result<(), Failure> {
    let env = Env {
        context: context.clone(),
        limits: Limits::default(),
        node: "".into(),
        model: false,
        hooks: &NoHooks,
        // It writes nothing.
        unkept: Arc::default(),
        app: None,
    };
    for mut row in chats::of_contacts(tx, &person.contacts)? {
        let messages = chats::erase_words(tx, row.id)?;
        erased.messages += messages;
        erased.transcripts += u64::from(messages > 0);
        row.metadata = Map::new();
        row.external_ref = None;
        if let Some(contact) = row.contact.filter(|_| row.channel == Channel::Chatapp) {
            channel_conversations::erase(tx, contact)?;
        }
        if row.state != State::Ended {
            end(tx, &env, &mut row, EndCause::Erased)?;
        }
        row.extracted = None;
        row.summary = None;
        row.sentiment = None;
        if row.analysis == Some(Reading::Pending) {
            row.analysis = None;
            row.analysis_at = None;
        }
        save(tx, &env, &mut row)?;
    }
    Ok(())
}

/// Ends every chat of a workspace, in the transaction that suspends it.
pub fn suspend(tx: &mut TenantTx, now: Timestamp) -> Result<(), Failure> {
    if chats::want_all_ended(tx, EndCause::Abandoned, now)? > 0 {
        tx.wake(topics::CHATS);
    }
    Ok(())
}

/// Deletes chats that ended longer ago than `chats.keep_days`.
pub async fn sweep(app: &App) -> Result<(), DbError> {
    let days = app.config.chats.keep_days;
    if days == 0 {
        return Ok(());
    }
    let before = app.clock.now().plus(-days * DAY);
    while app.store.tx(move |tx| chats::sweep(tx, before, SWEEP)).await? >= SWEEP as u64 {}
    app.store.tx(channel_conversations::sweep).await?;
    Ok(())
}
