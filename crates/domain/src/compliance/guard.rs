//! Which agents may exist: the verticals, their workflow templates and the packs that fit them
//! (docs/contract/agents.md#verticals).

use std::fmt;

use super::packs::Pack;

/// What an agent's calls are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vertical {
    /// Anything that no regulator watches in particular.
    General,
    /// Reminding of dues.
    Collections,
    /// Selling and servicing loans.
    Lending,
    /// Banking, insurance, investments.
    FinancialServices,
    /// Recovering debts on behalf of others; takes packs of the `collections` family.
    DebtRecovery,
}

impl Vertical {
    /// Every vertical, in the order of the API.
    pub const ALL: [Vertical; 5] = [
        Vertical::General,
        Vertical::Collections,
        Vertical::Lending,
        Vertical::FinancialServices,
        Vertical::DebtRecovery,
    ];

    /// The word in requests and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Vertical::General => "general",
            Vertical::Collections => "collections",
            Vertical::Lending => "lending",
            Vertical::FinancialServices => "financial_services",
            Vertical::DebtRecovery => "debt_recovery",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|vertical| vertical.as_str() == text)
    }

    /// Whether it needs a pack of its family and a template that fits.
    pub fn is_regulated(self) -> bool {
        self != Vertical::General
    }

    /// The family of packs that it takes.
    pub fn family(self) -> Vertical {
        match self {
            Vertical::DebtRecovery => Vertical::Collections,
            Vertical::General | Vertical::Collections | Vertical::Lending | Vertical::FinancialServices => {
                self
            }
        }
    }

    /// Whether an agent of this vertical may use the pack: a general one any, a regulated one those that name
    /// it or its family.
    pub fn accepts(self, pack: &Pack) -> bool {
        !self.is_regulated() || pack.families.iter().any(|family| *family == self || *family == self.family())
    }
}

/// How an agent's conversation is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkflowTemplate {
    /// Asks for a payment.
    Collections,
    /// Welcomes and gathers details.
    Onboarding,
    /// Whatever the prompt says.
    PromptDriven,
}

impl WorkflowTemplate {
    /// Every template, in the order of the API.
    pub const ALL: [WorkflowTemplate; 3] =
        [WorkflowTemplate::Collections, WorkflowTemplate::Onboarding, WorkflowTemplate::PromptDriven];

    /// The word in requests and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            WorkflowTemplate::Collections => "collections",
            WorkflowTemplate::Onboarding => "onboarding",
            WorkflowTemplate::PromptDriven => "prompt-driven",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|template| template.as_str() == text)
    }

    /// Whether the template suits the vertical. A template that names a purpose must be the vertical's own,
    /// and `prompt-driven`, the default, suits all, since gates and packs apply to it alike.
    pub fn fits(self, vertical: Vertical) -> bool {
        match (self, vertical) {
            (WorkflowTemplate::PromptDriven, _) | (_, Vertical::General) => true,
            (
                WorkflowTemplate::Collections,
                Vertical::Collections | Vertical::DebtRecovery | Vertical::Lending,
            ) => true,
            (WorkflowTemplate::Collections, Vertical::FinancialServices) => false,
            (WorkflowTemplate::Onboarding, Vertical::Lending | Vertical::FinancialServices) => true,
            (WorkflowTemplate::Onboarding, Vertical::Collections | Vertical::DebtRecovery) => false,
        }
    }
}

/// Why an agent cannot be saved or published with these settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardRefusal {
    /// A chat agent cannot use a regulated vertical (400).
    ChatAgent(Vertical),
    /// The template is another vertical's (422).
    Template(WorkflowTemplate, Vertical),
    /// The reference names no pack of the workspace and none that is built in (422).
    UnknownPack,
    /// The pack is not of the vertical's family (422).
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
        Some(pack) if vertical.accepts(pack) => Ok(()),
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
    fn words_come_and_go() {
        for vertical in Vertical::ALL {
            assert_eq!(Vertical::parse(vertical.as_str()), Some(vertical));
        }
        for template in WorkflowTemplate::ALL {
            assert_eq!(WorkflowTemplate::parse(template.as_str()), Some(template));
        }
        assert_eq!(Vertical::parse("General"), None);
        assert_eq!(WorkflowTemplate::parse("prompt_driven"), None);
    }

    #[test]
    fn general_agents_take_any_pack() {
        for reference in ["generic-safe@1", "collections@1", "lending@1", "financial-services@1"] {
            assert_eq!(check(Vertical::General, reference), Ok(()));
        }
        assert_eq!(check(Vertical::General, "generic-safe@2"), Err(GuardRefusal::UnknownPack));
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
        assert!(Vertical::DebtRecovery.accepts(&custom));
        assert!(!Vertical::Collections.accepts(&custom));
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
