//! A call follows the customer into another of the agent's languages.

use std::sync::atomic::Ordering;

use domain::call::Fact;
use domain::ports::ListenOrder;
use serde_json::{Value, json};
use voice::{CallPhrases, Order};

use super::fakes::{lock, words};
use super::sounds::english;
use super::{Room, converse, order, transcript};

const TAMIL: &str = "எனக்கு புரியல, தமிழ்ல சொல்லுங்க";

fn city() -> Value {
    json!([
        {"id": "a", "type": "say", "text": "Hello.", "next": "b"},
        {"id": "b", "type": "collect", "text": "Please pay ₹500. Which plan?", "texts": {"ta": "₹500 கட்டுங்க."},
         "field": {"key": "plan", "type": "choice", "choices": ["Gold Plus", "Silver"]}, "attempts": 4, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye.", "texts": {"ta": "வணக்கம்."}}])
}

fn following(nodes: Value) -> Order {
    let mut order = order(nodes);
    order.languages = ["en", "ta"].map(str::to_owned).to_vec();
    order.voice = "asha".into();
    order.voices.insert("ta".into(), "meena".into());
    order.names.push("Ravi Kumar".into());
    order.variables.insert("first_name".into(), json!("Lakshmi"));
    order
}

async fn answers(room: &Room, order: Order) -> voice::Held {
    let mut phone = room.call(order);
    for _ in 0..2 {
        phone.until_agent_is_silent(600).await;
        phone.say(&english("the gold plan please")).await;
    }
    phone.until_over(30_000).await
}

#[tokio::test(start_paused = true)]
async fn voice_recogniser_phrases_and_transcript_follow_the_customer() {
    let room = Room::default();
    room.hears(&[TAMIL, "gold plus"]);
    let held = answers(&room, following(city())).await;
    assert_eq!(held.report.extracted["plan"], "Gold Plus", "{:?}", transcript(&held));
    assert_eq!(held.report.language.as_deref(), Some("ta"));
    let switched: Vec<Option<&str>> = held.report.turns.iter().map(|turn| turn.language.as_deref()).collect();
    let turn = held.report.turns.iter().position(|turn| turn.text == TAMIL).expect("a turn");
    assert_eq!(switched.iter().flatten().count(), 1, "{switched:?}");
    assert_eq!(switched[turn], Some("ta"));
    let said = room.said();
    let ways = lock(&room.voice.ways).clone();
    let way = |text: &str| {
        let at =
            said.iter().position(|said| said.contains(text)).unwrap_or_else(|| panic!("{text}: {said:?}"));
        (ways[at].0.as_str(), ways[at].1.as_str())
    };
    assert_eq!(way("Hello"), ("en", "asha"));
    // The sum is said in the words of the new language.
    assert_eq!(way("ஐநூறு"), ("ta", "meena"));
    assert_eq!(way("வணக்கம்"), ("ta", "meena"));
    let (en, ta) = ("en".to_owned(), "ta".to_owned());
    let terms = ["Ravi Kumar", "Gold Plus", "Silver", "Lakshmi"].map(str::to_owned).to_vec();
    assert_eq!(
        *lock(&room.ears.orders),
        [
            ListenOrder { language: en.clone(), others: vec![ta.clone()], terms: terms.clone() },
            ListenOrder { language: ta, others: vec![en], terms },
        ],
        "it is listened to anew in the language"
    );
}

#[tokio::test(start_paused = true)]
async fn a_recogniser_of_several_languages_goes_on_listening() {
    let room = Room::default();
    room.hears(&[TAMIL, "gold plus"]);
    *lock(&room.ears.languages) = Some(["ta", "en"].into());
    let held = answers(&room, following(city())).await;
    assert_eq!(held.report.extracted["plan"], "Gold Plus", "{:?}", transcript(&held));
    assert_eq!(held.report.language.as_deref(), Some("ta"));
    assert_eq!(room.ears.opened.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn what_the_recogniser_says_confirms_a_hint_of_the_words() {
    for (told, language) in [("hi", "hi"), ("en", "en")] {
        let room = Room::default();
        room.hears(&["मेरा नाम रमेश शर्मा", "gold plus"]);
        *lock(&room.ears.languages) = Some([told, "en"].into());
        let mut order = following(city());
        order.languages = ["en", "hi", "mr"].map(str::to_owned).to_vec();
        let held = answers(&room, order).await;
        assert_eq!(held.report.language.as_deref(), Some(language), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_followed_into_a_language_that_no_voice_speaks() {
    let room = Room::default();
    room.hears(&[TAMIL, "gold plus"]);
    lock(&room.voice.dumb_in).push("ta");
    let held = answers(&room, following(city())).await;
    assert_eq!(held.report.language.as_deref(), Some("en"), "{:?}", transcript(&held));
    assert_eq!(lock(&room.ears.orders)[0].others, Vec::<String>::new());
    assert!(lock(&room.voice.ways).iter().all(|(language, _)| language == "en"));
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_the_language_and_fillers_are_in_it() {
    let room = Room::default();
    room.hears(&[TAMIL]);
    room.thinks(vec![words("Hello, Asha here.")]);
    let mut phone = room.call(following(converse(&[])));
    phone.until_agent_is_silent(600).await;
    phone.say(&english("the gold plan please")).await;
    // The model takes its time: a filler is said.
    phone.quiet(6000).await;
    let asked: Vec<String> = lock(&room.model.asked).iter().map(|order| order.language.clone()).collect();
    assert_eq!(asked, ["en", "ta"]);
    let filler = CallPhrases::of("ta").one_moment.trim_end_matches('.');
    assert!(room.said().iter().any(|said| said.contains(filler)), "{:?}", room.said());
}

#[tokio::test(start_paused = true)]
async fn an_opt_out_is_heard_in_every_language_whatever_is_spoken() {
    for wish in ["मुझे दोबारा फोन मत करना", "నాకు మళ్ళీ ఫోన్ చేయకండి", "please stop calling me"]
    {
        let room = Room::default();
        room.hears(&[TAMIL, wish]);
        let held = answers(&room, following(city())).await;
        assert_eq!(held.report.outcome.as_deref(), Some("opted_out"), "{wish}: {:?}", transcript(&held));
        assert!(lock(&room.office.facts).contains(&Fact::OptOutSaid));
        let last = transcript(&held).pop().unwrap_or_default();
        assert_eq!(last, format!("agent: {}", CallPhrases::of("ta").not_again), "{wish}");
    }
}
