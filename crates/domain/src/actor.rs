//! Who does something: an API key, a member, or the operator.

use std::fmt;
use std::str::FromStr;

use crate::ids::{ApiKey, Id, User};

/// Who makes a request. Its text is the id, `key_…` or `usr_…`, or `operator`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A system of the customer's, with an API key.
    Key(Id<ApiKey>),
    /// A member of the workspace, in the console.
    Member(Id<User>),
    /// The operator of the service.
    Operator,
}

const OPERATOR: &str = "operator";

impl Actor {
    /// The key, if it is one.
    pub fn key(self) -> Option<Id<ApiKey>> {
        if let Self::Key(id) = self { Some(id) } else { None }
    }

    /// The member, if it is one.
    pub fn member(self) -> Option<Id<User>> {
        if let Self::Member(id) = self { Some(id) } else { None }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(id) => id.fmt(f),
            Self::Member(id) => id.fmt(f),
            Self::Operator => f.write_str(OPERATOR),
        }
    }
}

/// The text names no actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoActor;

impl FromStr for Actor {
    type Err = NoActor;

    fn from_str(text: &str) -> Result<Self, NoActor> {
        if text == OPERATOR {
            return Ok(Self::Operator);
        }
        let key = text.parse().map(Self::Key);
        key.or_else(|_| text.parse().map(Self::Member)).map_err(|_| NoActor)
    }
}

impl serde::Serialize for Actor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Actor {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse()
            .map_err(|NoActor| serde::de::Error::custom("must be the id of a key or member, or `operator`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_actor_is_its_id() {
        for text in ["key_01k9v5x2m8e6fs4v0q3n7w1y3b", "usr_01k9v5x2m8e6fs4v0q3n7w1y39", "operator"] {
            assert_eq!(text.parse::<Actor>().map(|actor| actor.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "con_01k9v5x2m8e6fs4v0q3n7w1y39", "Operator", "usr_"] {
            assert_eq!(text.parse::<Actor>(), Err(NoActor));
        }
    }
}
