//! The preflight of a campaign (docs/contract/campaigns.md#preflight-on-the-messaging-channel): how many people would
//! receive the message, and what blocks it. Read-only.

use std::collections::{BTreeMap, HashMap, HashSet};

use api::campaigns::{ChatappCharges, ChatappPreflight, ChatappProblem};
use app::{Context, Failure, contact_policy};
use domain::campaign::{RowState, Schedule};
use domain::channel::campaign::{self, Mapping, OptInPolicy};
use domain::channel::limits::TIER_TIME;
use domain::channel::preflight::{Prices, forecast};
use domain::channel::provider::ConnectionStatus;
use domain::channel::{Category, Template, TemplateStatus};
use domain::tenant::Mode;
use store::campaigns::CampaignRow;
use store::campaigns::list::{self as lists, EntryRow};
use store::channel_campaigns::{self, BlockRow};
use store::{TenantTx, Tx, channel_messages, contacts, do_not_call, workspaces};

use super::people;
use super::sending::became_marketing;
use crate::messages::{account_of, people_of};
use crate::numbers::Number;

/// Most rows checked in one step, and in all.
const STEP: i64 = 400;
const MOST: i64 = 2_000_000;

/// What the owner accepts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Accepted {
    /// That the quality of the number is `RED`.
    pub quality: bool,
    /// That the template became marketing.
    pub marketing: bool,
}

pub fn look(
    tx: &mut Tx<'_>,
    context: &Context,
    campaign: &CampaignRow,
    block: &BlockRow,
    line: Option<&Number>,
    accepted: Accepted,
    prices: &Prices,
) -> Result<ChatappPreflight, Failure> {
    let tenant = campaign.workspace;
    let mut blockers: Vec<ChatappProblem> = Vec::new();
    let mut warnings: Vec<ChatappProblem> = Vec::new();
    let problem = |code, message| ChatappProblem { code, message };
    let template =
        store::channel_templates::get(&mut tx.of(tenant), block.template)?.map(crate::templates::template);
    match &template {
        None => blockers.push(problem("template_not_found", "the template is not there any more")),
        Some(template) if template.status != TemplateStatus::Approved => {
            blockers.push(problem("template_not_approved", "the template is not approved"));
        }
        Some(template)
            if became_marketing(block, template) && !(accepted.marketing || block.marketing_accepted) =>
        {
            blockers.push(problem(
                "template_recategorised",
                "the template became marketing: only people with a recorded opt-in would receive it; acknowledgeRecategorisation goes on",
            ));
        }
        Some(_) => {}
    }
    match line {
        None => blockers.push(problem("not_connected", "no number of the messaging channel is connected")),
        Some(line) => {
            if line.connection != ConnectionStatus::Connected {
                blockers.push(problem("token_invalid", "the provider does not accept the account's token"));
            }
            if line.restriction.is_some() {
                blockers.push(problem("account_restricted", "the provider restricted the account"));
            }
            if !line.is_connected() {
                blockers.push(problem("not_connected", "the provider does not let the number send"));
            }
            let rated = line.quality.as_deref();
            if rated == Some("RED") && !accepted.quality {
                blockers.push(problem(
                    "quality_red",
                    "the quality of the number is RED; acknowledgeQuality sends all the same",
                ));
            } else if matches!(rated, Some("RED" | "YELLOW")) {
                warnings.push(problem(
                    "quality_low",
                    "the quality of the number is low; more reports of its messages can limit it",
                ));
            }
        }
    }
    let rule = workspaces::get(&mut tx.of(tenant))?.is_none_or(|workspace| workspace.marketing_opt_in_rule);
    let policy = OptInPolicy::parse(&block.opt_in_policy).unwrap_or(OptInPolicy::Require);
    let rows = ::campaigns::progress(&mut tx.of(tenant), campaign.id)?.rows;
    let (total, will, reasons) = match &template {
        Some(template) => {
            let needs = campaign::needs_opt_in(policy, template.category, became_marketing(block, template))
                || (template.category == Category::Marketing && rule);
            count(tx, context, campaign, template, &people::mapping(block)?, needs)?
        }
        None => (rows.total, 0, BTreeMap::new()),
    };
    // One that has begun goes on to its end, though nobody is left to be messaged.
    let has_begun = block.launched_at.is_some() && rows.total > rows.queued + rows.invalid;
    if will == 0 && !has_begun {
        blockers.push(problem("nobody_to_message", "nobody on the list can be messaged"));
    }
    let limit = line.and_then(people_of);
    let room = match (line, limit) {
        (Some(line), Some(limit)) => {
            let after = context.now.plus(-TIER_TIME);
            Some(
                (limit - channel_messages::count_reached(&mut tx.of(tenant), &account_of(line), after)?)
                    .max(0),
            )
        }
        _ => None,
    };
    let schedule = Schedule::of(&campaign.settings)
        .ok_or_else(|| Failure::internal(format!("{} has an unknown time zone", campaign.id)))?;
    let plan = forecast(&schedule, will, block.rate, limit, room, context.now);
    if will > 0 && plan.finishes_at.is_none() {
        warnings.push(problem("not_done_by_end", "not everybody is messaged before the campaign is over"));
    }
    if plan.days > 1 {
        warnings
            .push(problem("limit_needs_days", "the messaging limit spreads the campaign over several days"));
    }
    let estimated_charges = template.as_ref().map(|template| {
        let each = prices.of(template.category);
        ChatappCharges {
            currency: prices.currency.clone(),
            category: template.category,
            per_message: decimal(each),
            total: decimal(each * will),
        }
    });
    Ok(ChatappPreflight {
        passes: blockers.is_empty(),
        blockers,
        warnings,
        total,
        will_receive: will,
        will_not_receive: total - will,
        by_reason: reasons,
        messaging_tier: line.and_then(|line| line.tier.clone()),
        tier_limit: limit,
        tier_room: room,
        days_needed: plan.days,
        sending_minutes: plan.minutes,
        starts_at: plan.starts_at,
        finishes_at: plan.finishes_at,
        estimated_charges,
    })
}

/// An amount of ten-thousandths.
fn decimal(amount: i64) -> String {
    format!("{}.{:04}", amount / 10_000, amount % 10_000)
}

type Counted = (i64, i64, BTreeMap<String, i64>);

/// How many rows there are, how many of them would receive the message, and why the others would not. Who was messaged
/// already is not among either.
fn count(
    tx: &mut Tx<'_>,
    context: &Context,
    campaign: &CampaignRow,
    template: &Template,
    mapping: &Mapping,
    needs_opt_in: bool,
) -> Result<Counted, Failure> {
    let tenant = campaign.workspace;
    let (mut total, mut will, mut reasons) = (0, 0, BTreeMap::<String, i64>::new());
    for (reason, count) in lists::count_invalid(&mut tx.of(tenant), campaign.id, campaign.list)? {
        total += count;
        *reasons.entry(reason.as_str().to_owned()).or_insert(0) += count;
    }
    let (mut position, mut looked) = (0, 0);
    loop {
        let rows =
            lists::to_call(&mut tx.of(tenant), campaign.id, campaign.list, RowState::Queued, position, STEP)?;
        let Some(last) = rows.last() else { break };
        position = last.position;
        looked += rows.len() as i64;
        total += rows.len() as i64;
        let known = PersonLookup::of(&mut tx.of(tenant), context, &rows)?;
        for row in &rows {
            match known.why_not(context, row, template, mapping, needs_opt_in) {
                None => will += 1,
                Some(reason) => *reasons.entry(reason.to_owned()).or_insert(0) += 1,
            }
        }
        if looked >= MOST {
            break;
        }
    }
    Ok((total, will, reasons))
}

/// Contacts, do-not-call entries and consent of the people of some rows, read in a few statements.
struct PersonLookup {
    contacts: HashMap<String, contacts::ContactRow>,
    listed: HashSet<String>,
    said: HashMap<String, (bool, bool, bool, bool)>,
}

impl PersonLookup {
    fn of(tx: &mut TenantTx, context: &Context, rows: &[EntryRow]) -> Result<Self, Failure> {
        let phones: Vec<String> = rows.iter().filter_map(|row| row.phone.clone()).collect();
        let hashes: Vec<&str> = rows.iter().filter_map(|row| row.phone_hash.as_deref()).collect();
        let mut known = Self { contacts: HashMap::new(), listed: HashSet::new(), said: HashMap::new() };
        if !phones.is_empty() {
            for contact in contacts::find_by_phones(tx, Mode::Live, &phones)? {
                if let Some(phone) = contact.phone.clone() {
                    known.contacts.insert(phone, contact);
                }
            }
        }
        if !hashes.is_empty() {
            known.listed = do_not_call::among(tx, &hashes)?.into_iter().collect();
        }
        let mut people: Vec<String> =
            phones.iter().map(|phone| contact_policy::person_hash(&context.keyring, phone)).collect();
        for contact in known.contacts.values() {
            people.extend(
                contact.chatapp_user_id.iter().map(|id| contact_policy::person_hash(&context.keyring, id)),
            );
        }
        for (person, stopped, marketing, allowed, erased) in channel_campaigns::said(tx, &people)? {
            known.said.insert(person, (stopped, marketing, allowed, erased));
        }
        Ok(known)
    }

    fn why_not(
        &self,
        context: &Context,
        row: &EntryRow,
        template: &Template,
        mapping: &Mapping,
        needs_opt_in: bool,
    ) -> Option<&'static str> {
        let phone = row.phone.as_deref()?;
        let contact = self.contacts.get(phone);
        let mut said = (false, false, false, false);
        let id = contact.and_then(|contact| contact.chatapp_user_id.as_deref());
        for address in [Some(phone), id].into_iter().flatten() {
            let hash = contact_policy::person_hash(&context.keyring, address);
            if let Some((stopped, marketing, allowed, erased)) = self.said.get(&hash) {
                said = (said.0 || *stopped, said.1 || *marketing, said.2 || *allowed, said.3 || *erased);
            }
        }
        let (stopped, no_marketing, allowed, erased) = said;
        let allowed = allowed || contact.and_then(contact_policy::given_on_channel).is_some();
        let blocked = row.phone_hash.as_ref().is_some_and(|hash| self.listed.contains(hash))
            || contact.is_some_and(|contact| contact.opt_out);
        if erased || contact.is_some_and(|contact| contact.erased_at.is_some()) {
            Some("erased")
        } else if blocked {
            Some("do_not_call")
        } else if stopped {
            Some("opted_out")
        } else if no_marketing && template.category == Category::Marketing {
            Some("marketing_stopped")
        } else if people::content(template, mapping, row, contact).is_none() {
            Some("missing_params")
        } else if needs_opt_in && !allowed && !campaign::opts_in(&row.variables) {
            Some("no_opt_in")
        } else {
            None
        }
    }
}
