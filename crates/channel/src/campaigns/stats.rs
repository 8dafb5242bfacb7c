//! The funnel of a campaign (docs/contract/campaigns.md#stats), counted on request: the numbers always add up, and
//! there is no contended counter row.

use api::campaigns::ChatappStats;
use api::events::campaigns::FinishedStats;
use app::Failure;
use domain::channel::campaign::Outcome;
use domain::ids::{Campaign, Id};
use store::campaigns::list;
use store::{TenantTx, boards, channel_campaigns};

/// The figures of a campaign, and how many of those who are pending are being sent to.
pub(super) fn of(tx: &mut TenantTx, id: Id<Campaign>) -> Result<(ChatappStats, i64), Failure> {
    let known = ::campaigns::progress(tx, id)?;
    let mut stats = ChatappStats { total: known.rows.total, ..ChatappStats::default() };
    let mut sending = 0;
    for (standing, step, reason, code, count, opted_out) in channel_campaigns::counts(tx, id)? {
        stats.opted_out_after += opted_out;
        match Outcome::parse(&standing) {
            Some(Outcome::Sending) | None => sending += count,
            Some(Outcome::Sent) => {
                stats.sent += count;
                stats.delivered += if step >= 1 { count } else { 0 };
                stats.read += if step >= 2 { count } else { 0 };
                stats.replied += if step >= 3 { count } else { 0 };
            }
            Some(Outcome::Failed) => {
                stats.failed += count;
                *stats.failed_by_code.entry(code.unwrap_or(0).to_string()).or_insert(0) += count;
            }
            Some(Outcome::FrequencyCapped) => stats.frequency_capped += count,
            Some(Outcome::DeliveryUnknown) => stats.delivery_unknown += count,
            Some(Outcome::Skipped) => {
                stats.skipped += count;
                *stats.skipped_by_reason.entry(reason.unwrap_or_default()).or_insert(0) += count;
            }
        }
    }
    for (reason, count) in list::count_invalid(tx, id, known.list)? {
        stats.skipped += count;
        *stats.skipped_by_reason.entry(reason.as_str().to_owned()).or_insert(0) += count;
    }
    stats.pending = stats.total
        - stats.sent
        - stats.failed
        - stats.frequency_capped
        - stats.skipped
        - stats.delivery_unknown;
    stats.converted = boards::funnel(tx, id)?.won;
    Ok((stats, sending))
}

/// The statistics in `campaign.finished`: messages that are being sent are counted apart.
pub(super) fn at_end(tx: &mut TenantTx, id: Id<Campaign>) -> Result<FinishedStats, Failure> {
    let (mut stats, sending) = of(tx, id)?;
    stats.pending -= sending;
    Ok(FinishedStats { stats, sending })
}
