//! Numbers of people, which members see masked (docs/contract/audit.md#masked-numbers): whose numbers stay, and what
//! shows one of the others.

use std::collections::HashSet;

use api::error_codes;
use domain::call::Direction;
use domain::ids::{Call, Chat, Contact, Id, User};
use domain::phone::E164;
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, MINUTE, Timestamp};
use store::{DbError, TenantTx, calls, channel_accounts, channel_conversations, contacts, numbers};
use store::{rate_windows, transfer_numbers};

use super::{App, Failure, actions};

/// Numbers that a member may see in a minute.
const A_MINUTE: i64 = 60;
/// Numbers that a member may see in a day of India.
const A_DAY: i64 = 1_000;
/// How far the day of India begins before that of UTC.
const INDIA: i64 = 330 * MINUTE;

/// The workspace's own numbers, which are shown whole: those that it calls from, writes from and transfers to.
pub async fn own(app: &App, tenant: Tenant) -> Result<HashSet<E164>, Failure> {
    let read = |tx: &mut TenantTx| {
        let of_calls = numbers::list(tx)?.into_iter().map(|row| row.number);
        let of_staff = transfer_numbers::list(tx)?.into_iter().map(|(number, _)| number);
        let texts: Vec<String> = of_calls.chain(of_staff).collect();
        let mut own: HashSet<E164> = texts.iter().filter_map(|text| E164::parse(text).ok()).collect();
        own.extend(channel_accounts::numbers(tx)?.into_iter().map(|row| row.number));
        Ok::<_, DbError>(own)
    };
    Ok(app.of(tenant).read(read).await?)
}

/// Whose number a member wants to see.
#[derive(Debug, Clone, Copy)]
pub enum Person {
    Contact(Id<Contact>),
    /// The one who is called, or who calls.
    Call(Id<Call>),
    /// The customer of a conversation.
    Conversation(Id<Chat>),
}

/// The whole number of a person. The transaction is recorded as the member's action.
///
/// # Errors
/// 404, 410 after an erasure, 429 above the ceilings of the member.
pub async fn reveal(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    member: Id<User>,
    person: Person,
) -> Result<String, Failure> {
    let now = app.clock.now();
    let work = move |tx: &mut TenantTx| {
        let number = number(tx, mode, person)?;
        count(tx, member, now)?;
        actions::changed_fields(tx, &["revealed"]);
        Ok::<_, Failure>(number)
    };
    app.of(tenant).tx(work).await
}

fn number(tx: &mut TenantTx, mode: Mode, person: Person) -> Result<String, Failure> {
    let found = match person {
        Person::Contact(id) => {
            let contact = contacts::get(tx, id)?.filter(|row| row.mode == mode);
            contact.ok_or_else(|| Failure::not_found("contact"))?.phone
        }
        Person::Call(id) => {
            let call = calls::get_taken(tx, mode, id)?.ok_or_else(|| Failure::not_found("call"))?;
            Some(match call.direction {
                Direction::Outbound => call.to_number,
                Direction::Inbound => call.from_number,
            })
        }
        Person::Conversation(id) => {
            let chat = channel_conversations::get(tx, id)?;
            chat.ok_or_else(|| Failure::not_found("conversation"))?.phone
        }
    };
    // An erasure leaves no number.
    let known = found.filter(|number| E164::parse(number).is_ok());
    known.ok_or_else(|| Failure::new(error_codes::CONTACT_ERASED, "no number is kept of this person"))
}

/// Counts a number that a member sees, in the minute and in the day of India.
fn count(tx: &mut TenantTx, member: Id<User>, now: Timestamp) -> Result<(), Failure> {
    let day = (now.0 + INDIA).div_euclid(DAY) * DAY - INDIA;
    let minute = now.0.div_euclid(MINUTE) * MINUTE;
    for (class, start, length, limit) in
        [("reveals_a_minute", minute, MINUTE, A_MINUTE), ("reveals_a_day", day, DAY, A_DAY)]
    {
        let class = format!("{class}:{member}");
        if !rate_windows::take_one(tx, &class, start, limit)? {
            let seconds = (start + length - now.0).div_euclid(1_000).max(1);
            let message = format!("you have seen {limit} numbers; try again in {seconds} s");
            return Err(Failure {
                retry_after: Some(seconds),
                ..Failure::new(error_codes::RATE_LIMITED, message)
            });
        }
        rate_windows::drop_older(tx, &class, start)?;
    }
    Ok(())
}
