//! Queues the messages of campaigns (docs/contract/campaigns.md#sending). A person is marked in the transaction that
//! stores their message, so nobody gets it twice, even after a crash.

use std::sync::Arc;

use ::campaigns::finish::{self, Reason};
use api::error_codes::CHATAPP_NOT_CONNECTED;
use app::{App, Context, Failure, access, contact_policy, topics};
use domain::campaign::{RowState, Schedule, Status, Window};
use domain::channel::campaign::{self, Mapping, OptInPolicy, Outcome, PauseReason, Rate};
use domain::channel::limits::TIER_TIME;
use domain::channel::provider::ConnectionStatus;
use domain::channel::{Category, LocalError, Recipient, Source, Template, TemplateStatus};
use domain::ids::{Campaign, Id};

use domain::time::{MINUTE, SECOND, Timestamp};
use store::campaigns::CampaignRow;
use store::campaigns::list::{self as lists, EntryRow};
use store::channel_campaigns::{self, BlockRow, CampaignPersonRow};
use store::{TenantTx, Tx, channel_accounts, channel_messages, channel_templates};
use tokio::task::JoinSet;

use super::{outcomes, people, stats};
use crate::messages::{self, Decisions, New, OptIn, Placed, Refusal};
use crate::numbers::{Number, Which, sending_number};
use crate::prefetch;

/// Most campaigns of one round, and people of each.
const CAMPAIGNS: i64 = 64;
const PEOPLE: i64 = 64;
/// Most queued messages of one campaign: those that a pause does not stop.
const ON_THEIR_WAY: i64 = 100;
/// Recheck intervals of a campaign that waits for its last messages, and of one whose workspace may not send.
const AGAIN: i64 = 2 * SECOND;
const LATER: i64 = MINUTE;

/// One fair round over due campaigns, each with a bounded share. Returns when to look again.
pub async fn look(app: &Arc<App>) -> Result<Option<Timestamp>, Failure> {
    let now = app.clock.now();
    let due = app.store.read(move |tx| channel_campaigns::due(tx, now, CAMPAIGNS)).await?;
    let mut working = JoinSet::new();
    for (tenant, id) in due {
        let app = app.clone();
        working.spawn(async move {
            let keeper = app.clone();
            app.of(tenant).tx(move |tx| work(&keeper, tx, id)).await
        });
    }
    while let Some(done) = working.join_next().await {
        done.map_err(|why| Failure::internal(why.to_string()))??;
    }
    Ok(app.store.read(channel_campaigns::next_due).await?)
}

fn work(app: &App, tx: &mut TenantTx, id: Id<Campaign>) -> Result<(), Failure> {
    let context = app.context();
    let Some(mut campaign) = store::campaigns::get_for_update(tx, id)? else {
        return Ok(channel_campaigns::rest(tx, id)?);
    };
    let mut block = super::block_for_update(tx, id)?;
    // Another node was here first.
    if block.next_at.is_none_or(|at| at > context.now) {
        return Ok(());
    }
    if campaign.status != Status::Active {
        return Ok(channel_campaigns::rest(tx, id)?);
    }
    let Some(schedule) = Schedule::of(&campaign.settings) else {
        return Err(Failure::internal(format!("{id} has an unknown time zone")));
    };
    match schedule.window(context.now) {
        Window::Over => {
            return end(app.mailer.is_some(), tx, &context, &mut campaign, block, Some(Reason::EndDate));
        }
        Window::Closed { opens } => {
            block.next_at = opens.or(schedule.end_at());
            return Ok(channel_campaigns::save(tx, &block)?);
        }
        Window::Open { .. } => {}
    }
    tx.pipeline_reads(|tx| {
        // Each reads by itself: one that finds nothing must not end the others.
        let _ = access::workspace(tx);
        let _ = channel_accounts::prefetch(tx);
        let _ = channel_templates::prefetch(tx, Some(block.template), None);
        let _ = channel_campaigns::on_their_way(tx, id);
    });
    let workspace = access::workspace(tx)?;
    let on = |feature| access::feature_on(&workspace, feature);
    if workspace.suspended || !on("chatappChannel") || !on("chatappCampaigns") {
        block.next_at = Some(context.now.plus(LATER));
        return Ok(channel_campaigns::save(tx, &block)?);
    }
    if tx.shared() {
        channel_accounts::prefetch(tx)?;
        channel_templates::prefetch(tx, Some(block.template), None)?;
    }
    let (line, template) = match ready(tx, &block)? {
        Ok(ready) => ready,
        Err(reason) => return outcomes::pause(tx, &context, id, reason),
    };
    let waiting = channel_campaigns::on_their_way(tx, id)?;
    let mut most = (ON_THEIR_WAY - waiting).min(PEOPLE);
    if let Some(limit) = messages::people_of(&line) {
        let after = context.now.plus(-TIER_TIME);
        let room =
            limit - channel_messages::count_reached(tx, &messages::account_of(&line), after)? - waiting;
        if room <= 0 && waiting == 0 {
            let first = channel_messages::first_reached(tx, &messages::account_of(&line))?;
            block.next_at = Some(first.map_or(context.now.plus(MINUTE), |first| first.plus(TIER_TIME)));
            block.next_at = block.next_at.max(Some(context.now.plus(SECOND)));
            return Ok(channel_campaigns::save(tx, &block)?);
        }
        most = most.min(room);
    }
    let rate = Rate::of(block.rate);
    let (count, used, next) = rate.take(block.used, context.now, most.max(0));
    let list = campaign.list;
    // One more than it takes now: whether anybody is left.
    let rows = lists::to_call(tx, id, list, RowState::Queued, 0, count + 1)?;
    if rows.is_empty() {
        if waiting == 0 {
            return end(app.mailer.is_some(), tx, &context, &mut campaign, block, Some(Reason::ListComplete));
        }
        block.next_at = Some(context.now.plus(AGAIN));
        return Ok(channel_campaigns::save(tx, &block)?);
    }
    let mapping = people::mapping(&block)?;
    let last = rows.len() as i64 <= count;
    let (mut sent, mut decisions) = (0, Decisions::default());
    let count_now = usize::try_from(count).unwrap_or(0);
    let to: Vec<Recipient> =
        rows.iter().take(count_now).filter_map(|row| Recipient::parse(row.phone.as_deref()?)).collect();
    prefetch::people(tx, &context, &line, &to)?;
    for row in rows.into_iter().take(count_now) {
        let shared = Shared {
            campaign: &campaign,
            block: &block,
            line: &line,
            template: &template,
            mapping: &mapping,
        };
        match hand_over(app, tx, &context, &shared, row, &mut decisions)? {
            Handed::Sent => sent += 1,
            Handed::PassedOver => {}
            Handed::Stop(reason) => {
                decisions.write(tx, &context)?;
                return outcomes::pause(tx, &context, id, reason);
            }
        }
    }
    decisions.write(tx, &context)?;
    // Who is passed over takes no time of the pace.
    block.used = rate.give_back(used, count - sent);
    let several = context.now.plus(rate.several());
    block.next_at = Some(if count > sent && most > 0 { context.now } else { next.max(several) });
    if most <= 0 {
        block.next_at = Some(context.now.plus(AGAIN));
    }
    if last {
        // Its end waits for its messages, not for its pace.
        block.next_at = block.next_at.min(Some(context.now.plus(AGAIN)));
    }
    if sent > 0 {
        tx.wake(topics::CHANNEL_SENDS);
    }
    Ok(channel_campaigns::save(tx, &block)?)
}

/// The number and the template of a campaign, or the reason to pause it.
fn ready(tx: &mut TenantTx, block: &BlockRow) -> Result<Result<(Number, Template), PauseReason>, Failure> {
    let Some(number) = &block.sends_from else { return Ok(Err(PauseReason::NotConnected)) };
    let line = match sending_number(tx, Which::Provider(number)) {
        Ok(line) => line,
        Err(failure) if failure.error == CHATAPP_NOT_CONNECTED => return Ok(Err(PauseReason::NotConnected)),
        Err(failure) => return Err(failure),
    };
    if line.connection != ConnectionStatus::Connected {
        return Ok(Err(PauseReason::TokenInvalid));
    }
    if line.restriction.is_some() {
        return Ok(Err(PauseReason::AccountRestricted));
    }
    if !line.is_connected() {
        return Ok(Err(PauseReason::NotConnected));
    }
    if line.quality.as_deref() == Some("RED") && !block.quality_accepted {
        return Ok(Err(PauseReason::QualityRed));
    }
    let Some(template) = store::channel_templates::get(tx, block.template)? else {
        return Ok(Err(PauseReason::TemplateUnavailable));
    };
    let template = crate::templates::template(template);
    if template.status != TemplateStatus::Approved {
        return Ok(Err(PauseReason::TemplateUnavailable));
    }
    if became_marketing(block, &template) && !block.marketing_accepted {
        return Ok(Err(PauseReason::TemplateRecategorised));
    }
    Ok(Ok((line, template)))
}

/// Whether a template was recategorised as marketing since the campaign was first published.
pub(super) fn became_marketing(block: &BlockRow, template: &Template) -> bool {
    template.category == Category::Marketing
        && block.category.as_deref().is_some_and(|known| known != Category::Marketing.as_str())
}

/// What all messages of a round share.
struct Shared<'a> {
    campaign: &'a CampaignRow,
    block: &'a BlockRow,
    line: &'a Number,
    template: &'a Template,
    mapping: &'a Mapping,
}

/// The result of one person of a round.
enum Handed {
    Sent,
    PassedOver,
    Stop(PauseReason),
}

fn hand_over(
    app: &App,
    tx: &mut Tx<'_>,
    context: &Context,
    shared: &Shared<'_>,
    mut entry: EntryRow,
    decisions: &mut Decisions,
) -> Result<Handed, Failure> {
    let Shared { campaign, block, line, template, mapping } = *shared;
    let tenant = campaign.workspace;
    let mut person = CampaignPersonRow {
        list_row: entry.id,
        workspace: tenant,
        campaign: campaign.id,
        contact: None,
        message: None,
        standing: Outcome::Skipped.as_str().to_owned(),
        step: 0,
        reason: None,
        code: None,
        opted_out: false,
        at: context.now,
    };
    let refused = match entry.phone.as_deref().and_then(Recipient::parse) {
        // The number was taken away while the message was on its way and was given back.
        None if entry.phone.is_none() => "erased",
        None => "invalid_phone",
        Some(to) => {
            let contact = crate::people::find(&mut tx.of(tenant), &to)?;
            let opt_in = campaign::opts_in(&entry.variables)
                .then(|| OptIn { source: "campaign_list".into(), captured_at: block.list_at });
            let policy = OptInPolicy::parse(&block.opt_in_policy).unwrap_or(OptInPolicy::Require);
            let standing =
                contact_policy::standing(&mut tx.of(tenant), context, contact.as_ref(), Some(&to))?;
            let recorded = opt_in.is_some()
                || !campaign::needs_opt_in(policy, template.category, became_marketing(block, template))
                || standing.opted_in_at().is_some();
            person.contact = contact.as_ref().map(|contact| contact.id);
            // The reasons in the order of the preflight, so that both name the same one.
            let barred = standing.bars_messages(template.category == Category::Marketing);
            match (barred, people::content(template, mapping, &entry, contact.as_ref())) {
                (Some(bar), None) => bar.as_str(),
                (None, None) => "missing_params",
                (None, Some(_)) if !recorded => "no_opt_in",
                (_, Some(content)) => {
                    let new = New {
                        source: Source::Campaign,
                        number: line.clone(),
                        contact,
                        to,
                        content,
                        template: Some(template.clone()),
                        reply_to: None,
                        chat: None,
                        agent: campaign.agent,
                        campaign: Some(campaign.id),
                        opt_in,
                        at_once: false,
                        keep_refused: true,
                    };
                    let put =
                        |tx: &mut Tx<'_>| messages::put_into(app, &mut tx.of(tenant), &new, None, decisions);
                    let refusal = match tx.traced(campaign.trace, put)? {
                        Placed::Queued(message) => {
                            person.contact = Some(message.contact);
                            person.message = Some(message.id);
                            person.standing = Outcome::Sending.as_str().to_owned();
                            channel_campaigns::note(tx, &person)?;
                            entry.attempts += 1;
                            entry.last_attempt_at = Some(context.now);
                            entry.contact = Some(message.contact);
                            outcomes::move_row(tx, entry, RowState::InProgress, Some("queued"))?;
                            return Ok(Handed::Sent);
                        }
                        Placed::Failed(message, refusal) => {
                            person.message = Some(message.id);
                            refusal
                        }
                        Placed::Refused(refusal) => refusal,
                        Placed::Claimed(_) => {
                            return Err(Failure::internal(
                                "a message of a campaign was neither queued nor refused",
                            ));
                        }
                    };
                    if let Some(reason) = refusal.pauses() {
                        return Ok(Handed::Stop(reason));
                    }
                    match refusal {
                        Refusal::Local(LocalError::OptInRequired, _) => "no_opt_in",
                        other => other.word(),
                    }
                }
            }
        }
    };
    person.reason = Some(refused.to_owned());
    channel_campaigns::note(tx, &person)?;
    outcomes::move_row(tx, entry, RowState::Unreached, Some("skipped"))?;
    Ok(Handed::PassedOver)
}

/// A campaign is over.
pub(super) fn end(
    mails: bool,
    tx: &mut Tx<'_>,
    context: &Context,
    campaign: &mut CampaignRow,
    mut block: BlockRow,
    reason: Option<Reason>,
) -> Result<(), Failure> {
    block.finished_at = Some(context.now);
    block.next_at = None;
    channel_campaigns::save(tx, &block)?;
    let stats = stats::at_end(&mut tx.of(campaign.workspace), campaign.id)?;
    finish::over(tx, context, mails, campaign, reason, stats)
}
