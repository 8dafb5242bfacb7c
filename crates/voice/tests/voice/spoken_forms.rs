//! The voice is given words, the transcript and the model keep what is written.

use domain::conversation::Exchange;
use domain::conversation::speakable::{Pronunciation, Pronunciations, Speakable};
use domain::ports::Said;
use serde_json::{Value, json};

use super::fakes::{lock, words};
use super::sounds::english;
use super::{Room, converse, order, transcript};

fn sum() -> Value {
    json!([
        {"id": "a", "type": "say", "text": "Dastak here. Please pay {{amount}} to Dr. Rao by {{date}}.", "next": "z"},
        {"id": "z", "type": "end", "text": "Call 98765 43210. Bye."}])
}

const WRITTEN: &str = "agent: Dastak here. Please pay ₹1,25,000.50 to Dr. Rao by 26/11/2026.";

async fn said(language: &str, on: bool) -> Vec<String> {
    let room = Room::default();
    let mut order = order(sum());
    order.language = language.to_owned();
    order.variables.insert("amount".into(), json!("₹1,25,000.50"));
    order.variables.insert("date".into(), json!("26/11/2026"));
    let list = [Pronunciation { written: "Dastak".into(), spoken: "The stuck".into() }];
    order.speakable = Speakable::new(language, on, Pronunciations::new(list));
    let mut phone = room.call(order);
    let held = phone.until_over(20_000).await;
    let told = transcript(&held);
    assert_eq!(told, [WRITTEN, "agent: Call 98765 43210. Bye."], "{language}");
    room.said()
}

#[tokio::test(start_paused = true)]
async fn values_are_said_in_the_words_of_the_language() {
    assert_eq!(
        said("en", true).await,
        [
            "The stuck here.",
            "Please pay one lakh twenty five thousand rupees and fifty paise to doctor Rao by twenty sixth November twenty twenty six.",
            "Call nine eight seven six five, four three two one zero.",
            "Bye."
        ]
    );
    let hindi = said("hi", true).await;
    assert!(hindi[1].contains("एक लाख पच्चीस हज़ार रुपये पचास पैसे"), "{hindi:?}");
    assert!(hindi[1].contains("छब्बीस नवंबर दो हज़ार छब्बीस"), "{hindi:?}");
}

#[tokio::test(start_paused = true)]
async fn where_the_provider_does_it_better_only_the_pronunciations_apply() {
    assert_eq!(
        said("en", false).await,
        ["The stuck here.", "Please pay ₹1,25,000.50 to Dr. Rao by 26/11/2026.", "Call 98765 43210.", "Bye."]
    );
}

#[tokio::test(start_paused = true)]
async fn a_sum_that_the_model_writes_in_pieces_is_one() {
    let room = Room::default();
    let pieces = ["Your OTP is 48", "21. Please pay ₹1,2", "5,000.", "50 at 6:", "30 pm", ". Bye."];
    let turn = pieces.iter().map(|piece| (20, Ok(Said::Text((*piece).to_owned())))).collect();
    room.thinks(vec![turn]);
    let mut phone = room.call(order(converse(&[])));
    phone.until_agent_speaks(1000).await;
    phone.quiet(9000).await;
    assert_eq!(
        room.said(),
        [
            "Your O T P is four eight two one.",
            "Please pay one lakh twenty five thousand rupees and fifty paise at six thirty PM.",
            "Bye."
        ]
    );
    let held = phone.hang_up().await;
    assert_eq!(transcript(&held)[0], format!("agent: {}", pieces.concat()));
}

#[tokio::test(start_paused = true)]
async fn what_is_cut_off_was_heard_in_written_words() {
    let room = Room::default();
    let sentence = "You owe ₹1,25,000.50 to Dr. Rao. Please pay soon.";
    room.thinks(vec![vec![(100, Ok(Said::Text(sentence.to_owned())))], words("All right.")]);
    room.hears(&["who is this?"]);
    let mut phone = room.call(order(converse(&[])));
    phone.until_agent_speaks(1000).await;
    phone.quiet(2200).await;
    phone.say(&english("who is this?")).await;
    phone.until_agent_is_silent(1500).await;
    let asked = lock(&room.model.asked)[1].clone();
    let Some(Exchange::Said { text, .. }) = asked.history.first() else { panic!("{asked:?}") };
    // By length, the written text was heard to "to".
    assert_eq!(text, "You owe", "the sum was not heard to its end");
    phone.hang_up().await;
}
