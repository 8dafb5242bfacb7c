//! Erasure of people, and expiry of calls: reasoning, quotes and notes of their conversations; verdicts and scores stay.

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{Context, Failure};
use domain::evaluation::CriterionResult;
use domain::ids::{Call, Id};
use serde_json::json;
use store::{TenantTx, chats, evaluations};

/// Erases what evaluations say of a person's conversations. Pending ones are dropped.
pub fn erase(tx: &mut TenantTx, _: &Context, person: &ErasedPerson, _: &mut Erased) -> Result<(), Failure> {
    let chats = chats::of_contacts(tx, &person.contacts)?;
    let ids = chats.iter().map(|chat| chat.id.to_string());
    let conversations: Vec<String> = ids.chain(person.calls.iter().map(|id| id.to_string())).collect();
    empty(tx, &conversations)
}

/// Erases what evaluations say of calls that have expired.
pub fn calls_expired(tx: &mut TenantTx, calls: &[Id<Call>]) -> Result<(), Failure> {
    empty(tx, &calls.iter().map(Id::to_string).collect::<Vec<_>>())
}

fn empty(tx: &mut TenantTx, conversations: &[String]) -> Result<(), Failure> {
    for (id, results) in evaluations::erase(tx, conversations)? {
        let mut results: Vec<CriterionResult> = serde_json::from_value(results)
            .map_err(|why| Failure::internal(format!("the stored results of an evaluation: {why}")))?;
        for result in &mut results {
            result.reasoning.clear();
            result.quotes.clear();
        }
        evaluations::set_results(tx, id, &json!(results))?;
    }
    Ok(())
}
