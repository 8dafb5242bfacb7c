//! Erasure of people: reasoning, quotes and notes of their conversations; verdicts and scores stay.

use api::contacts::Erased;
use app::erasure::ErasedPerson;
use app::{Context, Failure};
use domain::evaluation::CriterionResult;
use serde_json::json;
use store::{TenantTx, chats, evaluations};

/// Erases what evaluations say of a person's conversations. Pending ones are dropped.
pub fn erase(tx: &mut TenantTx, _: &Context, person: &ErasedPerson, _: &mut Erased) -> Result<(), Failure> {
    let chats = chats::of_contacts(tx, &person.contacts)?;
    let ids = chats.iter().map(|chat| chat.id.to_string());
    let conversations: Vec<String> = ids.chain(person.calls.iter().map(|id| id.to_string())).collect();
    for (id, results) in evaluations::erase(tx, &conversations)? {
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
