//! Ids of the registers of senders (DLT): the entity that calls, and the template of what its calls say
//! (docs/contract/compliance.md#dlt-ids).

use super::number_series::Communication;

/// Longest id, characters.
pub const LONGEST: usize = 64;

/// An id of a register, in its loose form: 1 to 64 letters, digits, hyphens and underscores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DltId(String);

impl DltId {
    /// Reads an id; spaces around it are dropped.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
        ((1..=LONGEST).contains(&text.len()) && text.chars().all(plain)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn has_digits(&self, form: DltForm) -> bool {
        self.0.bytes().all(|sign| sign.is_ascii_digit())
            && (form.min_digits..=form.max_digits).contains(&self.0.len())
    }
}

/// How many digits the ids of promotional campaigns have, for packs that require them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DltForm {
    pub min_digits: usize,
    pub max_digits: usize,
}

/// What a promotional campaign lacks before it may be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DltProblem {
    /// The workspace has no entity id, or one of another form.
    Entity(DltForm),
    /// The campaign has no template id, or one of another form.
    Template(DltForm),
}

impl DltProblem {
    /// For programs.
    pub fn code(self) -> &'static str {
        match self {
            DltProblem::Entity(_) => "dlt_entity_required",
            DltProblem::Template(_) => "dlt_template_required",
        }
    }

    /// The field that is wrong.
    pub fn field(self) -> &'static str {
        match self {
            DltProblem::Entity(_) => "dltEntityId",
            DltProblem::Template(_) => "dltTemplateRef",
        }
    }

    /// For people.
    pub fn message(self) -> String {
        let (whose, DltForm { min_digits, max_digits }) = match self {
            DltProblem::Entity(form) => ("the workspace needs a dltEntityId, which its operator sets:", form),
            DltProblem::Template(form) => ("the campaign needs a dltTemplateRef:", form),
        };
        format!("promotional calls are registered (DLT); {whose} {min_digits} to {max_digits} digits")
    }
}

/// What the ids of a campaign lack by the form of its pack, the entity's first. Only promotion needs them.
pub fn check(
    form: Option<DltForm>,
    communication: Communication,
    entity: Option<&str>,
    template: Option<&str>,
) -> Vec<DltProblem> {
    let Some(form) = form.filter(|_| communication == Communication::Promotional) else { return Vec::new() };
    let fits = |id: Option<&str>| id.and_then(DltId::parse).is_some_and(|id| id.has_digits(form));
    let entity = (!fits(entity)).then_some(DltProblem::Entity(form));
    let template = (!fits(template)).then_some(DltProblem::Template(form));
    entity.into_iter().chain(template).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_loosely_and_required_of_promotion_only() {
        for (text, read) in [
            ("1107160000000012345", Some("1107160000000012345")),
            (" PE-7_a ", Some("PE-7_a")),
            ("", None),
            ("  ", None),
            ("11 07", None),
            ("११", None),
        ] {
            assert_eq!(DltId::parse(text).as_ref().map(DltId::as_str), read, "{text}");
        }
        assert!(DltId::parse(&"1".repeat(64)).is_some() && DltId::parse(&"1".repeat(65)).is_none());

        let form = DltForm { min_digits: 19, max_digits: 19 };
        let (good, short) = (Some("1107160000000012345"), Some("110716"));
        let lacks = |entity, template| check(Some(form), Communication::Promotional, entity, template);
        assert_eq!(lacks(good, good), []);
        assert_eq!(lacks(None, short), [DltProblem::Entity(form), DltProblem::Template(form)]);
        assert_eq!(lacks(good, Some("110716000000001234x")), [DltProblem::Template(form)]);
        assert_eq!(check(None, Communication::Promotional, None, None), []);
        assert_eq!(check(Some(form), Communication::Service, None, None), []);
        let loose = DltForm { min_digits: 1, max_digits: LONGEST };
        assert_eq!(check(Some(loose), Communication::Promotional, short, short), []);
    }
}
