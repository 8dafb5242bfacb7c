//! Files as people have them, each with what must be found in it (docs/contract/knowledge-files.md#formats).

use std::path::Path;

use domain::knowledge::BlockKind;
use domain::ports::{Read, ReadOrder, Unreadable};

fn read(name: &str) -> Result<Read, Unreadable> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    extraction::read(&ReadOrder { bytes, name: name.to_owned(), content_type: None, charset: None })
}

fn texts(name: &str) -> Vec<String> {
    let read = read(name).unwrap_or_else(|why| panic!("{name}: {why}"));
    read.document.blocks.into_iter().map(|block| block.text).collect()
}

/// All words of a file, between bars.
fn words(name: &str) -> String {
    texts(name).join(" | ")
}

/// How often a file says something.
fn count(name: &str, what: &str) -> usize {
    words(name).matches(what).count()
}

#[test]
fn the_text_that_a_pdf_gives_for_its_glyphs_is_read() {
    let hindi = words("hindi_libreoffice.pdf");
    for part in [
        "वापसी की शर्तें",
        "जूते तीस दिन के भीतर वापस किए जा सकते हैं। कृपया बिल और डिब्बा साथ रखें। शुल्क पचास रुपये है।",
        "हृदय शक्ति सिद्धि प्रश्न विद्यार्थी क्षेत्र ज्ञान स्त्री कि की किताब दिन हिन्दी कर्म धर्म कार्य श्री त्रि द्वितीय संस्कृत",
        "ऑर्डर फ़ीस ढ़ाई रुपये",
    ] {
        assert!(hindi.contains(part), "{part}: {hindi}");
    }
    let cairo = words("hindi_cairo.pdf");
    for part in [
        "शुल्क और समय",
        "स्थिति की जानकारी एसएमएस से मिलती है।",
        "विद्युत कनेक्शन के लिए पहचान पत्र की प्रतिलिपि दें।",
        "ऋण की किस्त हर महीने की पाँच तारीख तक भरें।",
    ] {
        assert!(cairo.contains(part), "{part}: {cairo}");
    }
}

#[test]
fn tamil_signs_stand_in_their_places() {
    for (name, parts) in [
        (
            "tamil_cairo.pdf",
            [
                "கடன் விதிமுறைகள்",
                "தவணைத் தொகையை ஒவ்வொரு மாதமும் ஐந்தாம் தேதிக்குள் செலுத்த வேண்டும்.",
                "கோரிக்கை எண்ணைக் குறித்துக் கொள்ளுங்கள்.",
                "கொடுப்பனவு மேலாளர் தொலைபேசி பொறுப்பு நோட்டு",
            ],
        ),
        (
            "tamil_lists_cairo.pdf",
            [
                "திரும்பப் பெறுதல்",
                "பொருட்களை முப்பது நாட்களுக்குள் கொண்டு வர வேண்டும்.",
                "கேள்விகளுக்கு எங்களை அழைக்கவும்.",
                "ஞாயிறு அன்று மூடப்படும்.",
            ],
        ),
    ] {
        let all = words(name);
        for part in parts {
            assert!(all.contains(part), "{part}: {all}");
        }
    }
}

#[test]
fn only_running_lines_are_left_out() {
    let clauses = words("pages-clauses.pdf");
    for page in 1..=6 {
        for clause in 0..20 {
            let clause = format!("Clause {page}.{clause}: goods come back");
            assert!(clauses.contains(&clause), "{clause}");
        }
    }
    assert!(!clauses.contains("Handbook") && !clauses.contains("Confidential"), "{clauses}");
    let numbers = words("pages-list-of-numbers.pdf");
    assert_eq!(numbers.split([' ', '|']).filter(|number| number.starts_with("41")).count(), 120, "{numbers}");
    for page in 1..=6 {
        assert_eq!(count("pages-a-fact-a-page.pdf", &format!("step {page} is Rs {page}00.")), 1);
    }
    let pins = words("reportlab-pins.pdf");
    assert_eq!(pins.matches("560").count(), 80, "{pins}");
    assert!(!pins.contains("Areas") && !pins.contains("Page"), "{pins}");
    for page in 1..=5 {
        let question = format!("Question {page}: what does plan {page} cost?");
        assert_eq!(count("reportlab-question-a-page.pdf", &question), 1);
    }
    assert_eq!(count("reportlab-question-a-page.pdf", "It can be ended at any time."), 5);
}

#[test]
fn tables_go_on_over_pages_with_their_headings() {
    for (name, row, rows) in [
        ("table-headings-on-each-of-four-pages.pdf", ["City: ", "; Time: ", " days; Fee: Rs "], None),
        ("table-headings-on-the-first-of-two-pages.pdf", ["City: ", "; Time: ", " days; Fee: Rs "], None),
        ("table-running-lines-around.pdf", ["City: ", "; Time: ", " days; Fee: Rs "], None),
        ("reportlab-table-repeated.pdf", ["Branch: Branch ", "; Opens: ", "0; Phone: 0201"], Some(90)),
        ("reportlab-table-first-only.pdf", ["Branch: Branch ", "; Opens: ", "0; Phone: 0201"], Some(90)),
    ] {
        let read = read(name).unwrap_or_else(|why| panic!("{name}: {why}"));
        let blocks = read.document.blocks;
        let table: Vec<_> = blocks.iter().filter(|block| block.kind == BlockKind::TableRow).collect();
        assert!(
            table.iter().all(|block| row.iter().all(|part| block.text.contains(part))),
            "{name}: {table:?}"
        );
        assert!(table.iter().any(|block| block.page == Some(2)), "{name}");
        if let Some(rows) = rows {
            assert_eq!(table.len(), rows, "{name}");
            assert_eq!(blocks.last().map(|block| block.text.as_str()), Some("Closed on Sundays."));
        } else {
            assert_eq!(table.len(), blocks.len(), "{name}: {blocks:?}");
        }
        let all = words(name);
        assert!(
            !["Rate card", "Tariff", "- 1 -", "Fee: Fee", "Opens: Opens"]
                .iter()
                .any(|gone| all.contains(gone)),
            "{name}"
        );
    }
}

#[test]
fn cells_stand_below_their_headings() {
    assert_eq!(
        texts("table-empty-cells.pdf"),
        [
            "Plan: Basic; Monthly fee: Rs 1,25,000; Calls: 100",
            "Plan: Gold; Monthly fee: Rs 2,50,000",
            "Plan: Platinum; Calls: 500"
        ]
    );
    let rows = texts("reportlab-table-empty.pdf");
    for row in [
        "Branch: Branch B1; Opens: 9:00; Phone: 02010001",
        "Branch: Branch C2; Opens: 10:00; Closes: 19:30",
        "Branch: Branch R17; Opens: 10:00",
        "Branch: Branch J87; Opens: 8:00; Closes: 20:30",
    ] {
        assert!(rows.iter().any(|found| found == row), "{row}: {rows:?}");
    }
    assert_eq!(
        texts("reportlab-table-wrapped.pdf"),
        [
            "Service: Basic; What is done: We look at the machine and tell you what it needs, and clean the filter if it is dirty.; Fee: Rs 300",
            "Service: Full; What is done: All of the basic service and a new filter, gas is filled up to the mark of the maker.; Fee: Rs 900",
            "Service: Visit; Fee: Rs 150",
        ]
    );
}

#[test]
fn lines_that_are_turned_are_words_in_their_order() {
    assert_eq!(
        texts("turned.pdf"),
        ["Capacities on this page.", "Item: Quantity", "Engine oil: 6 litres", "Brake fluid: 1 litre"]
    );
    assert_eq!(
        texts("reportlab-turned.pdf"),
        [
            "Model: Alpha; Watts: 40; Price: Rs 900",
            "Model: Beta; Watts: 60; Price: Rs 1200",
            "Prices hold until March, ask the dealer for later ones.",
            "A page that is turned as a whole.",
        ]
    );
}

#[test]
fn letters_that_are_set_apart_and_lines_that_are_stretched_are_words() {
    let apart = words("letters-set-apart.pdf");
    assert!(apart.contains("DELIVERY TERMS") && apart.contains("Orders ship in two days."), "{apart}");
    assert_eq!(
        texts("reportlab-spaced.pdf"),
        ["TERMS OF SALE", "Goods are ours until they are paid.", "PRIVACY NOTICE"]
    );
    assert_eq!(
        texts("hyphens_justified.pdf"),
        [
            "The cancellation of subscriptions requires authentication, acknowledgement and documentation of international transportation responsibilities."
        ]
    );
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    for (name, reason) in [
        ("kruti-dev.pdf", "before Unicode"),
        ("reportlab-scan.pdf", "pictures without text"),
        ("reportlab-scan-stamped.pdf", "pictures without text"),
    ] {
        let found = read(name);
        assert!(found.as_ref().is_err_and(|why| why.to_string().contains(reason)), "{name}: {found:?}");
    }
    assert!(words("reportlab-brochure.pdf").contains("Line 5 of brochure 34 says what we offer"));
}

#[test]
fn word_documents() {
    for (name, expected) in [
        ("word-document2.docx", vec!["Shoes come back within thirty days."]),
        ("word-hidden-run.docx", vec!["Price 100."]),
        ("word-hidden-by-a-word.docx", vec!["Price 100."]),
        ("word-footnote.docx", vec!["Returns are free (except for perfumes)"]),
        (
            "word-merged-cell-over-two-columns.docx",
            vec!["Plan: Basic; Fee: 100; Calls: 10", "Plan: Free for students; Calls: 5"],
        ),
        (
            "word-merged-heading-over-two-columns.docx",
            vec!["Delivery: Metro; Pune; Fee: 40", "Delivery: Metro; Delhi; Fee: 50"],
        ),
    ] {
        assert_eq!(texts(name), expected, "{name}");
    }
}

#[test]
fn pages_and_tables() {
    for name in ["page-button-and-hidden-panel.html", "page-panel-closed-by-a-class.html"] {
        let found = texts(name);
        let question = found.iter().position(|text| text == "How many days does a refund take?");
        let answer = found.iter().position(|text| text == "Refunds are paid within seven working days.");
        assert!(question.is_some() && question.map(|place| place + 1) == answer, "{name}: {found:?}");
    }
    let questions = texts("page-nothing-but-panels.html");
    for number in 0..10 {
        let question = format!("Question {number}: How many days does a refund take?");
        let place =
            questions.iter().position(|text| *text == question).unwrap_or_else(|| panic!("{question}"));
        assert_eq!(
            questions[place + 1],
            format!("Answer {number}: Refunds are paid within seven working days.")
        );
    }
    for name in ["page-banner-before.html", "page-offer-before.html"] {
        let found = texts(name);
        assert_eq!((found.len(), found[0].as_str()), (11, "Delivery"), "{name}");
    }
    assert_eq!(
        texts("page-headings-of-two-rows.html").last().map(String::as_str),
        Some("City: Pune; Fee Day: 40; Fee Night: 60")
    );
    assert_eq!(texts("knowledge-separator-line.csv"), ["City: Pune; Days: 2"]);
}

/// Files as programs write them that give no text beside a map which is wrong.
#[test]
fn a_pdf_whose_fonts_name_other_letters_is_refused() {
    for name in ["hindi_libreoffice_glyphs_only.pdf", "tamil_cairo_glyphs_only.pdf"] {
        let refused = read(name);
        let Err(Unreadable::Damaged(why)) = &refused else { panic!("{name}: {refused:?}") };
        assert!(why.starts_with("its fonts name other characters than they show"), "{name}: {why}");
    }
}
