//! The chains of a workspace. Each exists twice, for live and for test decisions.

use crate::tenant::Mode;

closed_sets::words! {
    /// The chains of a workspace.
    #[derive(PartialOrd, Ord)]
    pub enum Chain {
        /// Every allowed and every refused dial or chat, with the verdict of each gate.
        Audit = "audit",
        /// Requests of persons about their data: erasures.
        Grievances = "grievances",
        /// Consent given, withdrawn (every opt-out) and restored (an opt-out lifted by the operator).
        Consent = "consent",
        /// Changes by people, keys and the operator.
        Actions = "actions",
    }
}

/// A chain of one mode. Live and test decisions have separate chains, so that a key can be shown the whole
/// chain of its own mode and nothing of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Strand {
    pub chain: Chain,
    pub mode: Mode,
}

impl Strand {
    /// Every strand of a workspace.
    pub fn all() -> impl Iterator<Item = Strand> {
        [Mode::Live, Mode::Test].into_iter().flat_map(Self::of)
    }

    /// The strands of one mode, in the order in which they are shown.
    pub fn of(mode: Mode) -> [Strand; 4] {
        [Chain::Audit, Chain::Grievances, Chain::Consent, Chain::Actions].map(|chain| Strand { chain, mode })
    }

    /// Its name in the store and in signed texts: that of the chain, followed by `_test` in test mode.
    pub fn as_str(self) -> &'static str {
        match (self.chain, self.mode) {
            (chain, Mode::Live) => chain.as_str(),
            (Chain::Audit, Mode::Test) => "audit_test",
            (Chain::Grievances, Mode::Test) => "grievances_test",
            (Chain::Consent, Mode::Test) => "consent_test",
            (Chain::Actions, Mode::Test) => "actions_test",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::all().find(|strand| strand.as_str() == text)
    }
}
