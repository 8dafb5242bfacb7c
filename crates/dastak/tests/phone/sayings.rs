//! Answers of customers in eleven languages by sound: a voice speaks them into a real call, and a recogniser writes
//! them as those of the providers do, in digits, scale words and Latin letters.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::baresip::Baresip;
use super::kit::{Kit, beside, folder};
use super::server::{Answer, Asked, Server, words};
use super::sounds::speech_in;

/// A language, and what a recogniser writes for an amount of 25,000, a yes and the choice of Gold; the last one is the
/// sentence that is spoken each time.
type Row = (&'static str, [&'static str; 3], &'static str);

const ROWS: [Row; 11] = [
    ("en", ["25 thousand rupees", "Yeah, that's right.", "The gold one, please."], "twenty five thousand"),
    ("hi", ["25 हज़ार रुपये", "haan ji", "गोल्ड वाला"], "पच्चीस हज़ार"),
    ("bn", ["২৫ হাজার টাকা", "hyan", "গোল্ড"], "পঁচিশ হাজার"),
    ("gu", ["25 હજાર રૂપિયા", "haa", "ગોલ્ડ"], "પચીસ હજાર"),
    ("kn", ["25 ಸಾವಿರ ರೂಪಾಯಿ", "haudu", "ಗೋಲ್ಡ್"], "ಇಪ್ಪತ್ತೈದು ಸಾವಿರ"),
    ("ml", ["25 ആയിരം രൂപ", "athe", "ഗോൾഡ്"], "ഇരുപത്തഞ്ച് ആയിരം"),
    ("mr", ["pachvis hajar rupaye", "हो", "गोल्ड"], "पंचवीस हजार"),
    ("or", ["25 ହଜାର ଟଙ୍କା", "ହଁ", "ଗୋଲ୍ଡ"], "ପଚିଶ ହଜାର"),
    ("pa", ["25 ਹਜ਼ਾਰ ਰੁਪਏ", "haan ji", "ਗੋਲਡ"], "ਪੱਚੀ ਹਜ਼ਾਰ"),
    ("ta", ["25 ஆயிரம் ரூபாய்", "aamaa", "கோல்டு"], "இருபத்தைந்து ஆயிரம்"),
    ("te", ["25 వేలు", "avunu", "గోల్డ్"], "ఇరవై ఐదు వేలు"),
];
/// Calls at a time.
const AT_ONCE: usize = 4;

/// What the questions are known by.
const QUESTIONS: [&str; 3] =
    ["How much can you pay this month?", "Is that really so?", "Which plan do you want?"];

fn flow() -> Value {
    let ask = |number: usize, next: &str, field: Value| json!({"id": format!("q{number}"), "type": "collect", "text": QUESTIONS[number], "attempts": 2, "next": next, "onFail": next, "field": field});
    json!([
        ask(0, "q1", json!({"key": "amount", "type": "number"})),
        ask(1, "q2", json!({"key": "sure", "type": "boolean"})),
        ask(2, "bye", json!({"key": "plan", "type": "choice", "choices": ["Gold", "Silver"]})),
        {"id": "bye", "type": "end", "text": "Goodbye.", "outcome": "informed"},
    ])
}

/// A second of a tone, as samples of 24 kHz.
fn tone() -> Vec<u8> {
    let sample = |at: usize| (at as f64 * 440.0 * std::f64::consts::TAU / 24_000.0).sin() * 8000.0;
    (0..24_000).flat_map(|at| (sample(at) as i16).to_le_bytes()).collect()
}

/// Voice and recogniser: it hears the answer to the question that was spoken last.
fn speaks(asked: &Asked, question: &Mutex<usize>, answers: [&'static str; 3]) -> Answer {
    let mut question = question.lock().unwrap();
    if asked.path.ends_with("/transcriptions") {
        return words(answers[*question]);
    }
    let text = asked.body["input"].as_str().unwrap_or_default();
    if let Some(number) = QUESTIONS.iter().position(|question| text.contains(question)) {
        *question = number;
    }
    Some(("audio/pcm", tone()))
}

async fn answered((language, answers, spoken): Row) -> Value {
    let question = Arc::new(Mutex::new(0));
    let server = Server::start(move |asked: Asked| {
        let question = question.clone();
        async move { speaks(&asked, &question, answers) }
    })
    .await;
    let phone = Baresip::silent(&["+919812301234"], true);
    let more = [
        ("speech.to_text", "openai, offline"),
        ("speech.from_text", "openai, offline"),
        ("speech.openai.base_url", server.url.as_str()),
        ("speech.openai.resident", "true"),
        ("speech.openai.stt_languages", "en, hi, bn, gu, kn, ml, mr, or, pa, ta, te"),
    ];
    let kit = Kit::at_trunk(phone.port, &more).await;
    let agent = kit.agent("outbound", flow()).await;
    kit.api("PUT", &format!("/v1/agents/{agent}"), &json!({"language": language})).await;
    let id = kit.place(&agent, "1234").await;
    let sound = speech_in(&folder("speech"), language, spoken, 0.2, 120.0);
    let call = phone.answering(&sound, true, kit.ended(&id)).await;
    kit.is_clean().await;
    call
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_is_understood_in_every_language() {
    let _place = beside().await;
    for rows in ROWS.chunks(AT_ONCE) {
        let calls: Vec<_> = rows.iter().map(|row| tokio::spawn(answered(*row))).collect();
        for (row, call) in rows.iter().zip(calls) {
            let call = call.await.expect("a call");
            let extracted = &call["extracted"];
            assert_eq!(extracted["amount"], "25000", "{}: {call}", row.0);
            assert_eq!(
                (&extracted["sure"], &extracted["plan"]),
                (&json!(true), &json!("Gold")),
                "{}: {call}",
                row.0
            );
            assert_eq!(call["outcome"], "informed", "{call}");
        }
    }
}
