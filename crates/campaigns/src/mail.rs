//! E-mail notifications of campaigns (docs/contract/campaigns.md#notifications). They are queued in the transaction of
//! their reason; a job sends them.

use std::sync::Arc;

use app::{App, Context, Failure, topics};
use domain::ids::{CampaignRun, Id};
use domain::time::{DAY, HOUR, MINUTE, Timestamp};
use providers::mail::{Mail, MailError, Mailer};
use store::Tx;
use store::campaigns::mails::{self, MailRow};
use store::campaigns::{CampaignRow, runs};

/// Mails of one workspace in 24 hours. More are not sent: the addresses are the client's choice, and the sender is the
/// operator.
pub const PER_DAY: i64 = 200;

/// Lease of a mail that is being sent.
const LEASE: i64 = 5 * MINUTE;
/// Mails in one batch, sent one after the other.
const BATCH: i64 = 8;
/// Retry delays; after the last one the mail is given up.
const AGAIN_AFTER: [i64; 6] = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR];
/// Retention of mails that were sent or given up.
const KEEP: i64 = 7 * DAY;

/// The subject of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// Nobody on the list can still be reached.
    ListComplete,
    /// The end date has come.
    EndDate,
    /// The wallet does not cover a minute.
    InsufficientBalance,
    /// The workspace is not verified.
    KybUnverified,
}

impl About {
    fn subject(self) -> &'static str {
        match self {
            About::ListComplete | About::EndDate => "Campaign finished",
            About::InsufficientBalance | About::KybUnverified => "Campaign cannot dial",
        }
    }

    fn text(self) -> &'static str {
        match self {
            About::ListComplete => "It is finished: everybody on its list was called as often as set.",
            About::EndDate => "It is finished: its end date has come.",
            About::InsufficientBalance => {
                "It cannot dial: the balance of the wallet does not cover a minute. It goes on by itself after a top-up."
            }
            About::KybUnverified => {
                "It cannot dial: the workspace is not verified yet. It goes on by itself once it is."
            }
        }
    }
}

/// Queues a mail to each address of the campaign. If it cannot be sent, the run has the error.
pub(crate) fn owe(
    tx: &mut Tx<'_>,
    context: &Context,
    smtp: bool,
    campaign: &CampaignRow,
    run: Option<Id<CampaignRun>>,
    about: About,
) -> Result<(), Failure> {
    let addresses = &campaign.settings.email_notifications;
    if addresses.is_empty() {
        return Ok(());
    }
    let tenant = campaign.workspace;
    let unsent = if !smtp {
        Some("e-mail notifications were not sent: smtp.url is not set")
    } else if mails::written_since(&mut tx.of(tenant), context.now.plus(-DAY))? + addresses.len() as i64
        > PER_DAY
    {
        Some("e-mail notifications were not sent: the workspace has used up its mails of 24 hours")
    } else {
        None
    };
    if let Some(why) = unsent {
        return match run {
            Some(run) => Ok(runs::note(&mut tx.of(tenant), run, why)?),
            None => Ok(()),
        };
    }
    let name = if campaign.name.is_empty() { campaign.id.to_string() } else { one_line(&campaign.name) };
    let rows: Vec<MailRow> = addresses
        .iter()
        .map(|address| MailRow {
            id: context.ids.make(),
            workspace: tenant,
            campaign: campaign.id,
            run,
            recipient: Some(address.clone()),
            subject: format!("{}: {name}", about.subject()),
            body: format!("Campaign: {name}\nId: {}\n\n{}\n", campaign.id, about.text()),
            tries: 0,
            next_try_at: Some(context.now),
            created_at: context.now,
        })
        .collect();
    mails::insert(tx, &rows)?;
    tx.wake(topics::MAILS);
    Ok(())
}

/// A name in a line of a mail: line breaks would inject lines and headers.
fn one_line(name: &str) -> String {
    let is_break = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    name.chars().map(|letter| if is_break(letter) { ' ' } else { letter }).collect()
}

/// Sends a batch of due mails. Returns whether there may be more.
pub async fn send_due(app: &Arc<App>, mailer: &Mailer) -> Result<bool, Failure> {
    let now = app.clock.now();
    let taken = app
        .store
        .tx(move |tx| {
            mails::remove_old(tx, now.plus(-KEEP), 1_000)?;
            Ok::<_, Failure>(mails::take_due(tx, now, now.plus(LEASE), BATCH)?)
        })
        .await?;
    let count = taken.len() as i64;
    for row in taken {
        let Some(to) = row.recipient.clone() else { continue };
        let mail = Mail { id: row.id.to_string(), to, subject: row.subject.clone(), text: row.body.clone() };
        let sent = app.clock.outside(mailer.send(&mail)).await;
        settle(app, row, sent).await?;
    }
    Ok(count >= BATCH)
}

/// Stores the outcome of a try.
async fn settle(app: &Arc<App>, row: MailRow, sent: Result<(), MailError>) -> Result<(), Failure> {
    let now = app.clock.now();
    app.store
        .tx(move |tx| {
            let (tenant, id) = (row.workspace, row.id);
            let after = usize::try_from(row.tries - 1).ok().and_then(|tries| AGAIN_AFTER.get(tries));
            let given_up = match (&sent, after) {
                (Ok(()), _) => None,
                (Err(MailError::NotNow(_)), Some(after)) => {
                    return Ok(mails::again(&mut tx.of(tenant), id, now.plus(*after))?);
                }
                (Err(MailError::NotNow(why) | MailError::Refused(why)), _) => Some(why),
            };
            mails::done(&mut tx.of(tenant), id)?;
            if let (Some(why), Some(run)) = (given_up, row.run) {
                runs::note(&mut tx.of(tenant), run, &format!("an e-mail notification was not sent: {why}"))?;
            }
            Ok::<_, Failure>(())
        })
        .await
}

/// When the next mail is due.
pub async fn next_due(app: &App) -> Result<Option<Timestamp>, Failure> {
    Ok(app.store.read(mails::next_due).await?)
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_name_writes_no_lines_of_its_own() {
        for (name, line) in [
            ("Diwali offer", "Diwali offer"),
            ("a\r\nBcc: thief@example.com", "a  Bcc: thief@example.com"),
            ("a\nb\u{85}c\u{2028}d\u{2029}e\u{0}f", "a b c d e f"),
            ("दिवाली", "दिवाली"),
        ] {
            assert_eq!(one_line(name), line);
        }
    }
}
