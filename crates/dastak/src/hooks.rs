//! What the rooms above `app` do when something happens there, in this order.

use std::sync::Arc;

use api::contacts::Erased;
use domain::call::{Fact, Progress};
use domain::chat::Channel;
use domain::ids::{Call, Campaign, Id};
use domain::ports::{Choice, Chosen};
use domain::time::Timestamp;
use store::calls::CallRow;
use store::chats::ChatRow;
use store::{TenantTx, Tx};

use crate::app::board_messages::{BoardMessage, Sent};
use crate::app::call_env::Env;
use crate::app::chat_words::{Carried, ChatWords};
use crate::app::erasure::ErasedPerson;
use crate::app::{App, Context, Failure, Hooks, nudges, scheduled_calls};

pub struct RoomHooks;

impl Hooks for RoomHooks {
    fn call_fact(&self, tx: &mut Tx<'_>, env: &Env, call: &CallRow, fact: Fact) -> Result<(), Failure> {
        scheduled_calls::after_call_fact(tx, env, call, fact)?;
        nudges::after_call_fact(tx, env, call, fact)?;
        campaigns::call_fact(tx, env, call, fact)?;
        // After the campaign has settled its row: whether that is tried again decides where the card goes.
        boards::call_fact(tx, env, call, fact)?;
        integrations::pushes::after_call_fact(tx, env, call, fact)
    }

    fn prefetch(&self, tx: &mut Tx<'_>, env: &Env, call: &CallRow, after: &Progress, fact: Fact) {
        campaigns::prefetch(tx, env, call, after, fact);
        boards::prefetch(tx, env, call, after, fact);
        integrations::pushes::prefetch(tx, env, call, after, fact);
    }

    fn charged(&self, tx: &mut TenantTx, campaign: Id<Campaign>, amount: i64) -> Result<(), Failure> {
        campaigns::charge(tx, campaign, amount)
    }

    fn given_up(&self, tx: &mut TenantTx, env: &Env, call: Id<Call>) -> Result<(), Failure> {
        boards::given_up(tx, env, call)
    }

    fn calls_expired(&self, tx: &mut TenantTx, calls: &[Id<Call>]) -> Result<(), Failure> {
        evaluation::calls_expired(tx, calls)
    }

    fn erase(
        &self,
        tx: &mut TenantTx,
        context: &Context,
        person: &ErasedPerson,
        erased: &mut Erased,
    ) -> Result<(), Failure> {
        // Before the lists: who puts the people of records on a list keeps the records until they are there.
        streams::erase(tx, context, person, erased)?;
        campaigns::erasure::erase(tx, context, person, erased)?;
        boards::erase(tx, context, person, erased)?;
        integrations::erasure::erase(tx, context, person, erased)?;
        evaluation::erase(tx, context, person, erased)?;
        chats::erase(tx, context, person, erased)?;
        chats::erase_documents(tx, context, person, erased)?;
        channel::inbox::erase(tx, context, person, erased)?;
        channel::erasing::erase(tx, context, person, erased)
    }

    fn choices(&self, tx: &mut Tx<'_>, call: &CallRow) -> Result<Vec<Choice>, Failure> {
        boards::choices(tx, call)
    }

    fn analysed(
        &self,
        tx: &mut Tx<'_>,
        env: &Env,
        call: &CallRow,
        chosen: Option<&Chosen>,
    ) -> Result<(), Failure> {
        boards::analysed(tx, env, call, chosen)?;
        evaluation::call_analysed(&mut tx.of(call.workspace), &env.context, call)
    }

    fn send_chat_words(
        &self,
        app: &Arc<App>,
        tx: &mut Tx<'_>,
        words: &ChatWords<'_>,
    ) -> Result<Carried, Failure> {
        channel::speaking::carry(app, tx, words)
    }

    fn chat_ended(&self, tx: &mut TenantTx, context: &Context, chat: &ChatRow) -> Result<(), Failure> {
        if chat.channel == Channel::Chatapp {
            boards::chat_over(tx, context, chat)?;
        }
        evaluation::chat_ended(tx, context, chat)
    }

    fn send_board_message(
        &self,
        app: &App,
        tx: &mut Tx<'_>,
        message: &BoardMessage<'_>,
    ) -> Result<Sent, Failure> {
        channel::board_messages::send(app, tx, message)
    }

    fn suspend(&self, tx: &mut TenantTx, now: Timestamp) -> Result<(), Failure> {
        chats::suspend(tx, now)
    }
}
