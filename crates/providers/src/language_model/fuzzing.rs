//! Parsers of a language model's answers. Only fuzz targets call these functions.

use std::time::Duration;

use domain::evaluation::{Criterion, Grade};
use domain::ports::{Analysis, AnalysisOrder, ProviderError, Said, TalkOrder};
use serde_json::{Value, json};

use super::request::{Names, functions, messages};
use super::turn::Turn;
use crate::http::{Net, Peer};

fn turn_of(net: &Net, order: &TalkOrder) -> Result<Turn, String> {
    let peer = Peer::new(net, "fuzz", "http://127.0.0.1:9/v1", Duration::from_secs(1), &[])?;
    Ok(Turn::without_body(peer, Names::of(order), order.spoken))
}

fn gathered(turn: &mut Turn) -> Vec<Said> {
    std::iter::from_fn(|| turn.ready()).collect()
}

/// The turn in a stream of these chunks, and its error.
pub fn stream(net: &Net, order: &TalkOrder, pieces: &[&[u8]]) -> (Vec<Said>, Option<ProviderError>) {
    let Ok(mut turn) = turn_of(net, order) else { return (Vec::new(), None) };
    let mut said = Vec::new();
    for piece in pieces {
        let taken = turn.take(piece);
        said.extend(gathered(&mut turn));
        if let Err(error) = taken {
            return (said, Some(error));
        }
    }
    let error = turn.end().err();
    said.extend(gathered(&mut turn));
    (said, error)
}

/// The turn of an answer that is one JSON value.
pub fn whole(net: &Net, order: &TalkOrder, answer: &Value) -> (Vec<Said>, Option<ProviderError>) {
    let Ok(mut turn) = turn_of(net, order) else { return (Vec::new(), None) };
    let error = turn.whole(answer).err();
    (gathered(&mut turn), error)
}

/// The result of an analysis.
pub fn analysis(text: &str, order: &AnalysisOrder) -> Option<Analysis> {
    super::analysis::read(text, order)
}

/// The grades of an answer.
pub fn grades(text: &str, criteria: &[Criterion]) -> Option<Vec<Grade>> {
    super::grading::read(text, criteria)
}

/// The request to the model.
pub fn request(order: &TalkOrder) -> Value {
    let names = Names::of(order);
    json!({"messages": messages(order, &names), "tools": functions(order, &names)})
}
