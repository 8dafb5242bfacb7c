//! Legacy fonts from before Unicode: their files have Latin letters which the font draws as Hindi or Tamil ones.
//! Without the font the text is garbage, so such a document is refused.

use domain::knowledge::Block;

/// The prefixes of the names of such fonts, in lower case, without separators.
const FONTS: [&str; 60] = [
    "krutidev",
    "krutipad",
    "devlys",
    "chanakya",
    "walkmanchanakya",
    "shusha",
    "shivaji0",
    "shreedev",
    "shreeguj",
    "shreeben",
    "shreetam",
    "shreetel",
    "shreekan",
    "shreemal",
    "shreepun",
    "shreeori",
    "dvttyogesh",
    "dvttsurekh",
    "dvttganesh",
    "dvbttyogesh",
    "dvbttsurekh",
    "apsdv",
    "apsdev",
    "apscdev",
    "akrutidev",
    "akrutioffice",
    "akrutiori",
    "akrutitml",
    "4cgandhi",
    "kundli",
    "sanskrit99",
    "sanskrit98",
    "amarujala",
    "naidunia",
    "jagran",
    "aryan2",
    "marathikruti",
    "kiranhindi",
    "bamini",
    "baamini",
    "vanavilavvaiyar",
    "tscu",
    "tscii",
    "tamelango",
    "elangotml",
    "tamtamil",
    "sunttommy",
    "suntommy",
    "sutonnymj",
    "sutonnyomj",
    "sulekhat",
    "anmollipi",
    "satluj",
    "drchatrik",
    "asees",
    "lmgarun",
    "gopika",
    "terafont",
    "mlttkarthika",
    "mlttrevathi",
];
/// Common words of Hindi as Kruti Dev encodes them: first those that are words of no other language.
const KRUTI_DEV: [&str; 22] = [
    "gS", "gSa", "vkSj", "fy,", ";g", ",d", "Hkh", "fd;k", "rFkk", "ugha", "esa", "dks", "ds", "dh", "dk",
    "ls", "fd", "ij", "tkrk", "gksrk", "dj", "vki",
];
/// How many of them are words of no other language.
const KRUTI_DEV_ALONE: usize = 12;
/// Common words of Tamil as Bamini encodes them.
const BAMINI: [&str; 14] = [
    "kw;Wk;", "xU", "Ntz;Lk;", "cq;fs;", ",e;j", "me;j", "my;yJ", "vd;W", "nra;a", "cs;s", ",y;iy",
    "ehq;fs;", "cs;sJ", "vdNt",
];
/// How many different ones of these words there must be, and which share, in percent, of all words.
const MIN_DIFFERENT: usize = 4;
const MIN_ALONE: usize = 2;
const MIN_SHARE: usize = 8;
/// Share of letters in such fonts, in percent, from which a document is refused.
const MAX_LEGACY: usize = 5;

/// Why such a document is refused.
pub const REASON: &str = "its letters are those of a font from before Unicode (Kruti Dev and the like): they are other \
                          letters than the font shows; convert it to Unicode and upload it again";

/// Whether a font with this name is a legacy one.
pub fn is_legacy_font(name: &str) -> bool {
    let mut plain = String::new();
    // The name of a subset begins with six letters and a plus.
    let name = name.split_once('+').map_or(name, |(_, name)| name);
    plain.extend(
        name.chars().take(60).filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()),
    );
    // Some makers have the same names for fonts of Unicode.
    if plain.ends_with("unicode") || plain.ends_with("uni") {
        return false;
    }
    FONTS.iter().any(|known| {
        plain.strip_prefix(known).is_some_and(|rest| {
            !known.starts_with("shree")
                || rest.is_empty()
                || rest.starts_with(|next: char| next.is_ascii_digit())
        })
    })
}

/// Whether a letter of such a font shows another one: letters of Indian scripts are themselves.
pub fn stands_for_another(letter: char) -> bool {
    !letter.is_whitespace() && !matches!(letter, '\u{900}'..='\u{dff}')
}

/// Whether too many of a document's letters are in such fonts.
pub fn is_nonsense(legacy: usize, letters: usize) -> bool {
    legacy > 0 && legacy * 100 >= letters * MAX_LEGACY
}

/// Whether the text is encoded for a legacy font.
pub fn reads_as_legacy(blocks: &[Block]) -> bool {
    let mut all = 0;
    let mut hindi = Found::of(&KRUTI_DEV, KRUTI_DEV_ALONE);
    let mut tamil = Found::of(&BAMINI, BAMINI.len());
    for word in blocks.iter().flat_map(|block| block.text.split_whitespace()) {
        all += 1;
        hindi.look(word);
        tamil.look(word);
    }
    hindi.decides(all) || tamil.decides(all)
}

/// Which of some words were found.
struct Found<'a> {
    words: &'a [&'static str],
    /// How many of them, the first ones, are words of no other language.
    alone: usize,
    seen: u32,
    count: usize,
}

impl<'a> Found<'a> {
    fn of(words: &'a [&'static str], alone: usize) -> Self {
        Self { words, alone, seen: 0, count: 0 }
    }

    fn look(&mut self, word: &str) {
        if let Some(place) = self.words.iter().position(|known| *known == word) {
            self.seen |= 1 << place;
            self.count += 1;
        }
    }

    fn decides(&self, all: usize) -> bool {
        let alone = (self.seen & ((1 << self.alone) - 1)).count_ones() as usize;
        self.seen.count_ones() as usize >= MIN_DIFFERENT
            && alone >= MIN_ALONE
            && self.count * 100 >= all * MIN_SHARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::knowledge::BlockKind;

    fn nonsense(text: &str) -> bool {
        reads_as_legacy(&[Block { kind: BlockKind::Paragraph, text: text.into(), page: None }])
    }

    #[test]
    fn fonts_are_known_by_their_names() {
        for name in [
            "KrutiDev010",
            "ABCDEF+Kruti_Dev_016,Bold",
            "Kruti Dev 010",
            "DevLys 010",
            "SHREE-DEV-0714",
            "Bamini",
        ] {
            assert!(is_legacy_font(name), "{name}");
        }
        for name in
            ["Mangal", "Lohit-Devanagari", "Arial", "Kokila", "Latha", "Shree Devanagari 714", "Chanakya Uni"]
        {
            assert!(!is_legacy_font(name), "{name}");
        }
    }

    #[test]
    fn words_of_old_fonts_are_known_without_the_font() {
        assert!(nonsense(
            "twrs rhl fnu ds Hkhrj okil fd, tk ldrs gSa vkSj fcy lkFk j[ksaA ;g lqfo/kk lHkh ds fy, gS"
        ));
        assert!(nonsense("flV;kb kw;Wk; fz;lfk; cq;fs; ,e;j xU Mz;L fhyk; Ntz;Lk; nghUs;"));
        assert!(!nonsense(
            "Run ls and dj in the fd of ij; the plan has ds for dh and dk as codes of the firm, no more."
        ));
        assert!(!nonsense("Shoes come back within thirty days. जूते तीस दिन के भीतर वापस किए जा सकते हैं।"));
    }

    #[test]
    fn a_single_word_in_such_a_font_is_no_reason() {
        assert!(is_nonsense(50, 1000) && is_nonsense(1, 1));
        assert!(!is_nonsense(0, 0) && !is_nonsense(9, 1000));
    }
}
