//! Runs the automations of columns, exactly once: an action and its completion are one transaction
//! (docs/contract/boards.md#automations).

use std::sync::Arc;

use api::events::boards::MovedCard;
use app::board_messages::{BoardMessage, Sent};
use app::call_env::Env;
use app::contact_view::saved_values;
use app::do_not_call::{self, Source};
use app::due_rows::DueRow;
use app::events::{self, Event, NewEvent};
use app::{App, Failure, access, nudges};
use campaigns::list::{self, NewRow};
use domain::board::{ActionState, Automation, read_automations, retry_in};
use domain::ids::{BoardMove, Id};
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use serde_json::{Map, Value, json};
use store::boards::{self, ActionRow};
use store::contacts::{self, ContactRow};
use store::{DbError, TenantTx, Tx};

/// An action that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    pub tenant: Tenant,
    pub movement: Id<BoardMove>,
    /// Index of the automation in its column.
    pub position: i64,
}

impl DueRow for Due {
    fn tenant(&self) -> Tenant {
        self.tenant
    }

    fn due(tx: &mut Tx<'_>, now: Timestamp, without: &[Tenant], limit: i64) -> Result<Vec<Self>, DbError> {
        let due = boards::due(tx, now, without, limit)?;
        Ok(due.into_iter().map(|(tenant, movement, position)| Self { tenant, movement, position }).collect())
    }

    fn claim(&self, tx: &mut Tx<'_>, until: Timestamp) -> Result<(), DbError> {
        boards::claim(&mut tx.of(self.tenant), self.movement, self.position, until)
    }

    fn next_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
        boards::next_due(tx, now)
    }
}

/// Runs one action, unless another node does. A temporary failure is retried later.
///
/// # Errors
/// The action stays due.
pub async fn carry_out(app: &Arc<App>, due: Due) -> Result<(), Failure> {
    let (env, keeper) = (app.call_env(), app.clone());
    let Err(failure) = app.store.tx(move |tx| act(&keeper, tx, &env, due)).await else { return Ok(()) };
    if failure.of_store {
        return Err(failure);
    }
    let now = app.clock.now();
    app.of(due.tenant)
        .tx(move |tx| {
            let taken = boards::lock_due(tx, due.movement, due.position, now)?;
            match taken {
                Some(action) => settle_failure(tx, action, &failure, now),
                None => Ok(()),
            }
        })
        .await
}

/// Whether a retry may succeed.
fn is_passing(failure: &Failure) -> bool {
    failure.error.status == 429 || failure.error.status >= 500
}

fn settle_failure(
    tx: &mut Tx<'_>,
    mut action: ActionRow,
    failure: &Failure,
    now: Timestamp,
) -> Result<(), Failure> {
    action.attempts += 1;
    match retry_in(action.attempts).filter(|_| is_passing(failure)) {
        Some(wait) => {
            failure.warn_about(action.card, "an automation of a board is tried again");
            action.error = Some(failure.error.code.to_owned());
            action.next_at = Some(now.plus(wait));
        }
        None => {
            end(&mut action, ActionState::Failed, Some(failure.error.code), now);
            boards::note_failure(&mut tx.of(action.workspace), action.card, action.movement)?;
        }
    }
    Ok(boards::save_action(tx, &action)?)
}

fn end(action: &mut ActionRow, state: ActionState, error: Option<&str>, now: Timestamp) {
    action.state = state;
    action.error = error.map(str::to_owned);
    action.next_at = None;
    action.finished_at = Some(now);
}

/// The result of an action that did not fail.
enum Outcome {
    Done,
    /// Skipped, with a code that says why.
    Skipped(&'static str),
}

fn act(app: &App, tx: &mut Tx<'_>, env: &Env, due: Due) -> Result<(), Failure> {
    let now = env.context.now;
    let Some(mut action) = boards::take_due(&mut tx.of(due.tenant), due.movement, due.position, now)? else {
        return Ok(());
    };
    let outcome = perform(app, tx, env, &action)?;
    action.attempts += 1;
    match outcome {
        Outcome::Done => end(&mut action, ActionState::Done, None, now),
        Outcome::Skipped(why) => end(&mut action, ActionState::Skipped, Some(why), now),
    }
    Ok(boards::save_action(tx, &action)?)
}

/// Runs an automation. Its preconditions are checked now, not when the card was moved.
fn perform(app: &App, tx: &mut Tx<'_>, env: &Env, action: &ActionRow) -> Result<Outcome, Failure> {
    let (tenant, context) = (action.workspace, &env.context);
    let workspace = access::workspace(&mut tx.of(tenant))?;
    if !access::feature_on(&workspace, "boards") {
        return Ok(Outcome::Skipped("plan_feature_locked"));
    }
    if workspace.suspended {
        return Ok(Outcome::Skipped("workspace_suspended"));
    }
    let contact = contacts::get_for_update(&mut tx.of(tenant), action.contact)?;
    let Some(contact) = contact.filter(|contact| contact.erased_at.is_none()) else {
        return Ok(Outcome::Skipped("contact_erased"));
    };
    let body = Value::Array(vec![action.body.clone()]);
    let automation = read_automations(&body, "automation")
        .map_err(|wrong| Failure::internal(format!("{} {}", wrong.field, wrong.problem)))?
        .pop()
        .ok_or_else(|| Failure::internal("an action without an automation"))?;
    match automation {
        Automation::OptOut => {
            do_not_call::opt_out_contact(&mut tx.of(tenant), context, &contact, Source::Console)?;
            Ok(Outcome::Done)
        }
        Automation::DoNotCall { reason } => {
            let Some(phone) = do_not_call::number_of(&contact) else {
                return Ok(Outcome::Skipped("no_number"));
            };
            do_not_call::opt_out(
                &mut tx.of(tenant),
                context,
                Mode::Live,
                phone,
                Source::Console,
                reason.as_deref(),
            )?;
            Ok(Outcome::Done)
        }
        Automation::Nudge { agent, delay_minutes } => {
            if delay_minutes > 0 && has_moved_on(tx, action)? {
                return Ok(Outcome::Skipped("card_moved"));
            }
            let phone = match callable(&mut tx.of(tenant), env, &contact)? {
                Ok(phone) => phone,
                Err(why) => return Ok(Outcome::Skipped(why)),
            };
            let mut metadata = Map::new();
            metadata.insert("boardCardId".into(), json!(action.card));
            metadata.insert("boardMoveId".into(), json!(action.movement));
            nudges::create_own(&mut tx.of(tenant), env, agent, phone, metadata)?;
            Ok(Outcome::Done)
        }
        Automation::AddToCampaign { campaign } => {
            let phone = match callable(&mut tx.of(tenant), env, &contact)? {
                Ok(phone) => phone,
                Err(why) => return Ok(Outcome::Skipped(why)),
            };
            let variables = saved_values(&contact);
            let row = NewRow {
                phone: phone.to_string(),
                name: name(tx, action, &contact)?,
                variables,
                stream: None,
            };
            let added = list::add(&mut tx.of(tenant), context, campaign, vec![row])?;
            match added.rows.first().copied().flatten() {
                Some(row) => {
                    boards::add_origin(&mut tx.of(tenant), row, action.depth + 1)?;
                    Ok(Outcome::Done)
                }
                None => Ok(Outcome::Skipped("not_added")),
            }
        }
        Automation::Message { template, mapping } => {
            let name = name(tx, action, &contact)?;
            let message = BoardMessage { tenant, contact: &contact, name, template, mapping };
            match app.hooks.send_board_message(app, tx, &message)? {
                Sent::Queued => Ok(Outcome::Done),
                Sent::Refused(why) => Ok(Outcome::Skipped(why)),
            }
        }
        Automation::Event => {
            let moved: MovedCard = serde_json::from_value(action.told.clone())
                .map_err(|why| Failure::internal(format!("a move of a card: {why}")))?;
            let (agent, id) = (moved.agent_id.map(|id| id.to_string()), contact.id.to_string());
            let event = Event::CardMoved(MovedCard { external_ref: contact.external_ref.clone(), ..moved });
            let event = NewEvent { event, mode: Mode::Live, agent: agent.as_deref(), contact: Some(&id) };
            events::emit(&mut tx.of(tenant), context, event)?;
            Ok(Outcome::Done)
        }
    }
}

/// The number of a contact that may be called, or why there is none.
fn callable(
    tx: &mut TenantTx,
    env: &Env,
    contact: &ContactRow,
) -> Result<Result<domain::phone::Phone, &'static str>, Failure> {
    let Some(phone) = do_not_call::number_of(contact) else { return Ok(Err("no_number")) };
    if do_not_call::is_blocked(tx, &env.context, contact)? {
        return Ok(Err("do_not_call"));
    }
    Ok(Ok(phone))
}

/// Whether the card was moved again since.
fn has_moved_on(tx: &mut Tx<'_>, action: &ActionRow) -> Result<bool, Failure> {
    let shown = boards::shown(&mut tx.of(action.workspace), action.board, action.card)?;
    Ok(shown.is_none_or(|(card, _)| card.last_move != Some(action.movement)))
}

/// The contact's name, or the one that its card took from a calling list.
fn name(tx: &mut Tx<'_>, action: &ActionRow, contact: &ContactRow) -> Result<Option<String>, Failure> {
    if contact.name.is_some() {
        return Ok(contact.name.clone());
    }
    Ok(boards::shown(&mut tx.of(action.workspace), action.board, action.card)?
        .and_then(|(card, _)| card.name))
}
