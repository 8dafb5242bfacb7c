//! Invisible characters. Texts of people and machines are full of them, and two texts that look alike must be equal.

/// What is invisible by definition: `Default_Ignorable_Code_Point` of Unicode. It joins or parts letters, says how they are
/// drawn or in which direction, and shows nothing by itself. White space is not among it.
pub fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}
