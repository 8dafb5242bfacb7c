//! What must not be kept, in any conversation.

use domain::conversation::Role;
use domain::conversation::redaction::{self, Sensitive};
use domain::speech::LANGUAGES;

/// A conversation, one turn a line; a line that begins with `>` is the agent's.
///
/// The parts lie within their turns, in order and apart. What stands beside them stays. A mark that is there is not
/// replaced. Sixteen digits of a card that are a whole turn are always found.
pub fn conversation(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let turns: Vec<(Role, &str)> = text
        .lines()
        .take(40)
        .map(|line| match line.strip_prefix('>') {
            Some(agent) => (Role::Agent, agent),
            None => (Role::Customer, line),
        })
        .collect();
    let language = LANGUAGES[data.len() % LANGUAGES.len()];
    let found = redaction::find(&turns, language);
    assert_eq!(found.len(), turns.len());
    for ((_, turn), spans) in turns.iter().zip(&found) {
        let mut kept = String::new();
        let mut at = 0;
        for span in spans {
            assert!(span.start < span.end, "{span:?}");
            kept.push_str(turn.get(at..span.start).expect("in order, on borders of letters"));
            kept.push_str(span.kind.mark());
            at = span.end;
        }
        kept.push_str(turn.get(at..).expect("within the turn"));
        let replaced = redaction::replaced(turn, spans);
        assert_eq!(replaced.as_deref().unwrap_or(turn), kept);
        for kind in Sensitive::ALL {
            let marks = |text: &str| text.matches(kind.mark()).count();
            assert!(marks(&kept) >= marks(turn), "a mark was replaced: {turn:?} {kept:?}");
        }
    }
    if let Some((role, _)) = turns.first() {
        assert_eq!(redaction::find(&[(*role, "4111 1111 1111 1111")], language)[0].len(), 1);
    }
}
