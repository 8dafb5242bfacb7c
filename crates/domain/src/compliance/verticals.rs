//! What an agent's calls are about, and how its conversation is laid out
//! (docs/contract/agents.md#verticals).

closed_sets::words! {
    /// What an agent's calls are about.
    pub enum Vertical {
        /// Anything that is not specially regulated.
        General = "general",
        Collections = "collections",
        /// Selling and servicing loans.
        Lending = "lending",
        /// Banking, insurance, investments.
        FinancialServices = "financial_services",
        /// Recovering debts on behalf of others; accepts packs of the `collections` family.
        DebtRecovery = "debt_recovery",
    }
}

impl Vertical {
    /// Whether it needs a pack of its family and a template that fits.
    pub fn is_regulated(self) -> bool {
        self != Vertical::General
    }

    /// The family of packs that it accepts.
    pub fn family(self) -> Vertical {
        match self {
            Vertical::DebtRecovery => Vertical::Collections,
            Vertical::General | Vertical::Collections | Vertical::Lending | Vertical::FinancialServices => {
                self
            }
        }
    }

    /// Whether an agent of this vertical may use a pack with these families: a general agent any pack, a
    /// regulated one a pack that names its vertical or that vertical's family.
    pub fn accepts(self, families: &[Vertical]) -> bool {
        !self.is_regulated() || families.iter().any(|family| *family == self || *family == self.family())
    }
}

closed_sets::words! {
    /// How an agent's conversation is laid out.
    pub enum WorkflowTemplate {
        /// Asks for a payment.
        Collections = "collections",
        /// Welcomes and gathers details.
        Onboarding = "onboarding",
        PromptDriven = "prompt-driven",
    }
}

impl WorkflowTemplate {
    /// Whether the template fits the vertical. `prompt-driven`, the default, fits every vertical, because
    /// gates and packs apply to it as well; a template with a purpose fits only verticals with that purpose.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_and_go() {
        for &vertical in Vertical::ALL {
            assert_eq!(Vertical::parse(vertical.as_str()), Some(vertical));
        }
        for &template in WorkflowTemplate::ALL {
            assert_eq!(WorkflowTemplate::parse(template.as_str()), Some(template));
        }
        assert_eq!(Vertical::parse("General"), None);
        assert_eq!(WorkflowTemplate::parse("prompt_driven"), None);
    }
}
