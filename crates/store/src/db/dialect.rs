//! One SQL text for both engines, written for SQLite with `?1` placeholders. PostgreSQL's additions are in comments
//! `/*pg …*/`, which are uncommented for it; SQLite's are between `/*sqlite*/` and `/*end*/`, which are removed for
//! PostgreSQL.

/// In the text of a statement: PostgreSQL plans it anew each time. A plan that is kept was made for the table as it was then,
/// and one for an empty table scans it. For statements that run in a row over a table that may just have grown; planning
/// costs a round trip.
pub const PLANNED_ANEW: &str = "/*planned anew*/";

/// Translates a statement for PostgreSQL: `?1` becomes `$1` outside of string literals, `/*pg …*/` is uncommented,
/// `/*sqlite*/…/*end*/` removed.
pub fn for_postgres(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 16);
    let bytes = sql.as_bytes();
    let mut at = 0;
    let mut in_text = false;
    let mut opened = false;
    while at < bytes.len() {
        let rest = &sql[at..];
        if in_text {
            in_text = bytes[at] != b'\'';
        } else if bytes[at] == b'\'' {
            in_text = true;
        } else if rest.starts_with("/*sqlite*/") {
            at += rest.find("/*end*/").map_or(rest.len(), |end| end + "/*end*/".len());
            continue;
        } else if rest.starts_with("/*pg ") {
            at += "/*pg ".len();
            opened = true;
            continue;
        } else if opened && rest.starts_with("*/") {
            at += 2;
            opened = false;
            continue;
        } else if bytes[at] == b'?' {
            out.push('$');
            at += 1;
            continue;
        }
        let width = rest.chars().next().map_or(1, char::len_utf8);
        out.push_str(&rest[..width]);
        at += width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::for_postgres;

    #[test]
    fn placeholders_and_marked_words() {
        assert_eq!(
            for_postgres("select a from t where b = ?1 and c = '?2é' /*pg for update skip locked*/ limit ?2"),
            "select a from t where b = $1 and c = '?2é' for update skip locked limit $2"
        );
        assert_eq!(for_postgres("select 1 /* plain */"), "select 1 /* plain */");
        assert_eq!(
            for_postgres("create table t (a text)/*sqlite*/ without rowid/*end*/"),
            "create table t (a text)"
        );
    }
}
