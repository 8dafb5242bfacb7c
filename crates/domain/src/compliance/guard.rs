//! Which agents may exist: whether vertical, workflow template and pack fit each other
//! (docs/contract/agents.md#verticals).

use std::fmt;

use super::packs::Pack;
use super::verticals::{Vertical, WorkflowTemplate};

/// Why an agent cannot be saved or published with these settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardRefusal {
    /// A chat agent cannot use a regulated vertical (400).
    ChatAgent(Vertical),
    /// The template belongs to another vertical (422).
    Template(WorkflowTemplate, Vertical),
    /// The reference names no pack of the workspace and none that is built in (422).
    UnknownPack,
    /// The pack belongs to another family (422).
    PackOfOtherFamily(Vertical),
}

impl fmt::Display for GuardRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GuardRefusal::ChatAgent(vertical) => {
                write!(f, "vertical {} is for call agents only", vertical.as_str())
            }
            GuardRefusal::Template(template, vertical) => {
                write!(
                    f,
                    "workflowTemplate {} does not fit vertical {}",
                    template.as_str(),
                    vertical.as_str()
                )
            }
            GuardRefusal::UnknownPack => f.write_str("policyRef does not name a compliance pack"),
            GuardRefusal::PackOfOtherFamily(vertical) => {
                write!(
                    f,
                    "vertical {} needs a compliance pack of the {} family",
                    vertical.as_str(),
                    vertical.family().as_str()
                )
            }
        }
    }
}

impl std::error::Error for GuardRefusal {}

/// The vertical guard, run when an agent is saved and again when it is published. `pack` is what `policyRef`
/// resolves to.
///
/// # Errors
/// The first [`GuardRefusal`] that applies.
pub fn guard(
    vertical: Vertical,
    template: WorkflowTemplate,
    is_chat: bool,
    pack: Option<&Pack>,
) -> Result<(), GuardRefusal> {
    if is_chat && vertical.is_regulated() {
        return Err(GuardRefusal::ChatAgent(vertical));
    }
    if !template.fits(vertical) {
        return Err(GuardRefusal::Template(template, vertical));
    }
    match pack {
        None => Err(GuardRefusal::UnknownPack),
        Some(pack) if vertical.accepts(&pack.families) => Ok(()),
        Some(_) => Err(GuardRefusal::PackOfOtherFamily(vertical)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(vertical: Vertical, reference: &str) -> Result<(), GuardRefusal> {
        guard(vertical, WorkflowTemplate::PromptDriven, false, Pack::built_in(reference).as_ref())
    }

    #[test]
    fn general_agents_take_any_pack() {
        for reference in ["generic-safe@1", "collections@1", "lending@1", "financial-services@1"] {
            assert_eq!(check(Vertical::General, reference), Ok(()));
        }
        assert_eq!(check(Vertical::General, "generic-safe@2"), Err(GuardRefusal::UnknownPack));
        assert_eq!(check(Vertical::General, "generic-safe@2026"), Ok(()));
    }

    #[test]
    fn regulated_verticals_need_a_pack_of_their_family() {
        for (vertical, reference) in [
            (Vertical::Collections, "collections@1"),
            (Vertical::DebtRecovery, "collections@1"),
            (Vertical::Lending, "lending@1"),
            (Vertical::FinancialServices, "financial-services@1"),
        ] {
            assert_eq!(check(vertical, reference), Ok(()));
            assert_eq!(check(vertical, "generic-safe@1"), Err(GuardRefusal::PackOfOtherFamily(vertical)));
        }
        assert_eq!(
            check(Vertical::DebtRecovery, "lending@1"),
            Err(GuardRefusal::PackOfOtherFamily(Vertical::DebtRecovery))
        );
        let custom = Pack::parse_custom(
            "cpk_x",
            &serde_json::json!({"name": "Ours", "hours": [{"days": [0], "from": "10:00", "to": "12:00"}], "families": ["debt_recovery"]}),
        )
        .unwrap();
        assert!(Vertical::DebtRecovery.accepts(&custom.families));
        assert!(!Vertical::Collections.accepts(&custom.families));
    }

    #[test]
    fn templates_of_another_purpose_and_chat_agents_are_refused() {
        let pack = Pack::built_in("collections@1");
        assert_eq!(
            guard(Vertical::Collections, WorkflowTemplate::Onboarding, false, pack.as_ref()),
            Err(GuardRefusal::Template(WorkflowTemplate::Onboarding, Vertical::Collections))
        );
        assert_eq!(guard(Vertical::Collections, WorkflowTemplate::Collections, false, pack.as_ref()), Ok(()));
        assert_eq!(
            guard(Vertical::Collections, WorkflowTemplate::Collections, true, pack.as_ref()),
            Err(GuardRefusal::ChatAgent(Vertical::Collections))
        );
        assert_eq!(guard(Vertical::General, WorkflowTemplate::Collections, true, pack.as_ref()), Ok(()));
    }
}
