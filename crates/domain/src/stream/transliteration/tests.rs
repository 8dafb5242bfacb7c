use super::{NAMES, Script, transliterate};

const LANGUAGES: [&str; 11] = ["en", "hi", "bn", "gu", "kn", "ml", "mr", "or", "pa", "ta", "te"];

fn to(language: &str, name: &str) -> String {
    transliterate(name, Script::of_language(language))
}

/// Latin names as the press of each language writes them.
#[test]
fn known_names_from_latin() {
    let mut wrong = Vec::new();
    for (language, names) in [
        (
            "hi",
            "Asha Sharma=आशा शर्मा|Rahul=राहुल|Priya=प्रिया|Suresh Kumar=सुरेश कुमार|Lakshmi=लक्ष्मी|Krishna=कृष्ण|Deepak=दीपक|Dipak=दीपक|SANJAY GUPTA=संजय गुप्ता|K. Ramesh=के. रमेश",
        ),
        ("mr", "Sachin Kulkarni=सचिन कुलकर्णी|Chavan=चव्हाण|Anjali=अंजलि"),
        ("bn", "Rahul=রাহুল|Kumar=কুমার|Priya=প্রিয়া|Amit=অমিত|Sanjay=সঞ্জয়|Sunita=সুনীতা|Vijay=বিজয়|Yadav=যাদব"),
        ("gu", "Rahul=રાહુલ|Patel=પટેલ|Priya=પ્રિયા|Sanjay=સંજય|Asha=આશા|Gita=ગીતા"),
        ("or", "Rahul=ରାହୁଲ|Priya=ପ୍ରିୟା|Sanjay=ସଞ୍ଜୟ|Gita=ଗୀତା|Vijay=ବିଜୟ"),
        ("pa", "Rahul=ਰਾਹੁਲ|Sharma=ਸ਼ਰਮਾ|Gupta=ਗੁਪਤਾ|Harpreet=ਹਰਪ੍ਰੀਤ|Anand=ਆਨੰਦ|Reddy=ਰੇੱਡੀ|Priya=ਪ੍ਰਿਯਾ"),
        ("te", "Rahul=రాహుల్|Kavita=కవితా|Ramesh=రమేష్|Ravi=రవి|Raju=రాజు|Lakshmi=లక్ష్మి|Kumar=కుమార్|Reddy=రేడ్డి"),
        ("kn", "Rahul=ರಾಹುಲ್|Ramesh=ರಮೇಶ್|Lakshmi=ಲಕ್ಷ್ಮಿ|Gita=ಗೀತಾ|Kumar=ಕುಮಾರ್|Joshi=ಜೋಶಿ"),
        (
            "ml",
            "Rahul=രാഹുൽ|Lakshmi=ലക്ഷ്മി|Kumar=കുമാർ|Mohan=മോഹൻ|Anjali=അഞ്ജലി|Suresh=സുരേഷ്|Sharma=ശർമാ|Shankar=ശങ്കർ",
        ),
        (
            "ta",
            "Suresh=சுரேஷ்|Priya=பிரியா|Kumar=குமார்|Sanjay=சஞ்சய்|Anjali=அஞ்சலி|Sharma=ஷர்மா|Krishna=கிருஷ்ண|Mohan=மோஹன்|Ramesh=ரமேஷ்",
        ),
        ("en", "Asha Sharma=Asha Sharma|rahul=rahul"),
    ] {
        for (name, expected) in names.split('|').map(|pair| pair.split_once('=').unwrap()) {
            let written = to(language, name);
            // As text in the form that `transliterate` gives.
            if written != transliterate(expected, Script::of_language(language)) {
                wrong.push(format!("{language} {name}: {written}, not {expected}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn names_that_are_in_no_table() {
    for (language, name, expected) in [
        ("hi", "Ram", "राम"),
        ("hi", "Zubin", "ज़ुबिन"),
        ("hi", "Bindu", "बिंदू"),
        ("hi", "Mayank", "मयंक"),
        ("hi", "Falguni", "फ़लगुनी"),
        ("hi", "Shabnam", "शबनम"),
        ("hi", "Rākesh", "राकेश"),
        ("te", "Bindu", "బిందు"),
        ("kn", "Sumanth", "ಸುಮಂಥ್"),
    ] {
        let written = to(language, name);
        // A cluster that the ear does not decide may be written either way.
        let plain = |text: &str| text.replace(['\u{94D}'], "");
        assert_eq!(plain(&written), plain(expected), "{language} {name}: {written}");
    }
}

#[test]
fn known_names_into_latin() {
    let mut wrong = Vec::new();
    for (name, expected) in [
        ("राहुल शर्मा", "Rahul Sharma"),
        ("सुनीता", "Sunita"),
        ("दीपक", "Deepak"),
        ("आशा", "Asha"),
        ("कमलेश", "Kamlesh"),
        ("जगमोहन", "Jagmohan"),
        ("चंद्रिका", "Chandrika"),
        ("সুমন", "Suman"),
        ("রাহুল", "Rahul"),
        ("প্রিয়া", "Priya"),
        ("ਗੁਰਪ੍ਰੀਤ", "Gurprit"),
        ("ਹਰਜੀਤ", "Harjit"),
        ("પટેલ", "Patel"),
        ("રાહુલ", "Rahul"),
        ("ରାହୁଲ", "Rahul"),
        ("సురేష్", "Suresh"),
        ("రాజు", "Raju"),
        ("ರಮೇಶ್", "Ramesh"),
        ("രാഹുൽ", "Rahul"),
        ("അഞ്ജലി", "Anjali"),
        ("முருகன்", "Murugan"),
        ("சுரேஷ்", "Suresh"),
        ("சந்திரன்", "Sandiran"),
        ("குமார்", "Kumar"),
    ] {
        let written = to("en", name);
        if written != expected {
            wrong.push(format!("{name}: {written}, not {expected}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn from_one_script_to_another() {
    for (name, language, expected) in [
        ("राहुल", "te", "రాహుల్"),
        ("राहुल", "gu", "રાહુલ"),
        ("राहुल", "bn", "রাহুল"),
        ("सुरेश", "kn", "ಸುರೇಶ್"),
        ("संजय", "ml", "സഞ്ജയ്"),
        ("అనిత", "hi", "अनित"),
        ("రాహుల్", "hi", "राहुल"),
        ("রাহুল", "hi", "राहुल"),
        ("ਸ਼ਰਮਾ", "hi", "शरमा"),
        ("ਅੰਜੂ", "hi", "अंजू"),
        ("രാഹുൽ", "hi", "राहुल"),
        ("ರಾಜು", "ta", "ராஜு"),
        ("குமார்", "hi", "कुमार"),
        ("ગીતા", "or", "ଗୀତା"),
        ("ସୁମିତ", "gu", "સુમિત"),
    ] {
        assert_eq!(to(language, name), expected, "{name} {language}");
    }
}

#[test]
fn what_is_in_the_script_or_in_none_stays() {
    for (language, name) in [
        ("hi", "राहुल"),
        ("mr", "सचिन"),
        ("ta", "முருகன்"),
        ("en", "José-María O'Neil"),
        ("hi", "李雷"),
        ("te", "محمد"),
        ("bn", "123 (2)"),
        ("or", ""),
    ] {
        assert_eq!(to(language, name), name);
    }
    assert_eq!(to("hi", "Rahul (2) 李"), "राहुल (2) 李");
}

/// Every name of the table comes out in the script of every language, and of nothing else.
#[test]
fn every_name_is_in_the_script_of_the_language() {
    for name in NAMES.lines().flat_map(|line| line.split(' ')) {
        for language in LANGUAGES {
            let script = Script::of_language(language);
            let written = to(language, name);
            let strangers: String =
                written.chars().filter(|letter| Script::of_letter(*letter) != Some(script)).collect();
            assert!(!written.is_empty() && strangers.is_empty(), "{language} {name}: {written}");
        }
    }
}

#[test]
fn the_table_says_each_name_once() {
    let mut known: Vec<&str> = NAMES.lines().map(|line| line.split_once(' ').expect("two names").0).collect();
    let count = known.len();
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), count);
}

proptest::proptest! {
    #[test]
    fn nothing_makes_it_panic(name in "[a-zA-Zāīśṛ\u{900}-\u{D7F}\u{200C}\u{200D} .'-]{0,20}") {
        for language in LANGUAGES {
            let _ = to(language, &name);
        }
    }

    #[test]
    fn any_latin_name_becomes_the_script(name in "[A-Z][a-z]{0,14}") {
        for language in &LANGUAGES[1..] {
            let script = Script::of_language(language);
            let written = to(language, &name);
            proptest::prop_assert!(written.chars().all(|letter| Script::of_letter(letter) == Some(script)), "{} {}", language, written);
        }
    }
}
