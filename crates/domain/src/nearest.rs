//! "Did you mean": the known name that a mistyped one is nearest to.

/// Names of more characters are compared with nothing: what is measured grows with the product of both lengths.
const LONGEST: usize = 128;
/// Names that are compared, at most.
const MOST: usize = 2_000;

/// The name in `known` that `found` was probably meant to be, if one is near enough: another case or another dash, a letter too
/// many, one too few, two exchanged, or a word left out.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let wanted = plain(found);
    if wanted.is_empty() || wanted.chars().count() > LONGEST {
        return None;
    }
    let near =
        known.into_iter().take(MOST).filter(|name| name.len() <= LONGEST && *name != found).filter_map(
            |name| {
                let other = plain(name);
                let distance = strsim::osa_distance(&wanted, &other);
                let longest = wanted.chars().count().max(other.chars().count());
                // A third of the letters may be wrong, of a long name four; or one name begins or ends with the other.
                let close = distance <= (longest / 3).clamp(1, 4) && distance < wanted.chars().count();
                let part =
                    wanted.chars().count() >= 3 && (other.starts_with(&wanted) || other.ends_with(&wanted));
                (close || part).then_some((if close { distance } else { 5 + distance }, name))
            },
        );
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// `; did you mean NAME?`, or nothing.
pub fn hint<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known).map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [&str; 6] = ["agentId", "toNumber", "fromNumber", "variables", "retryCount", "calls:read"];

    #[test]
    fn what_was_meant() {
        for (found, meant) in [
            ("agent_id", "agentId"),
            ("agentID", "agentId"),
            ("agnetId", "agentId"),
            ("number", "toNumber"),
            ("tonumber", "toNumber"),
            ("variable", "variables"),
            ("retry", "retryCount"),
            ("call:read", "calls:read"),
        ] {
            assert_eq!(nearest(found, FIELDS), Some(meant), "{found}");
        }
        assert_eq!(hint("agntId", FIELDS), "; did you mean agentId?");
    }

    #[test]
    fn what_is_far_is_not_suggested() {
        for found in ["", "x", "colour", "to", "agentId", &"a".repeat(10_000)] {
            assert_eq!(nearest(found, FIELDS), None, "{found}");
        }
        assert_eq!(hint("colour", FIELDS), "");
    }
}
