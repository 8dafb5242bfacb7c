use domain::ports::*;
#[tokio::test(flavor = "multi_thread")]
async fn tmp() {
    let off = dastak::speech::Offline::new();
    for voice in ["offline-female", "offline-male"] {
        for text in ["Please do not call me again.", "Do not call me again.", "Stop calling me.", "Please stop calling me.", "Remove my number.", "Don't call me.", "Hello.", "Yes.", "Okay.", "Thank you.", "Yes, please.", "Call me later."] {
            let mut s = off.from_text.speak(SpeakOrder { text: text.into(), voice: voice.into(), language: "en".into() }).await.unwrap();
            let mut all = vec![0i16; 2400];
            while let Some(p) = s.next().await { all.extend(p.unwrap()); }
            all.extend(vec![0i16; 3200]);
            let l = off.to_text.listen(ListenOrder { language: "en".into() }).await.unwrap();
            l.expect(Hints { expected: None, phrases: vec![] });
            l.feed(&all);
            l.turn_ended();
            loop { if let Heard::Turn(w) = l.next().await.unwrap() { println!("{voice} «{text}» -> «{w}»"); break; } }
        }
    }
}
