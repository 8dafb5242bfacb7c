//! Exchanges from which the examples of the API documents are made: with `RECORD_EXAMPLES=FOLDER` each request that
//! succeeded is written there with its answer, a line of JSON each. `scripts/examples.py` picks one of each operation.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::{LazyLock, Mutex};

use api::operations::Operation;
use bytes::Bytes;
use dastak::http::console::Target;
use serde_json::{Map, Value, json};

use crate::app::Answer;

/// Most exchanges of one operation.
const MOST: usize = 400;
/// Most bytes of a request, and of an answer.
const LARGEST: usize = 24 * 1024;

struct Recording {
    file: File,
    written: BTreeMap<&'static str, usize>,
}

static RECORDING: LazyLock<Option<Mutex<Recording>>> = LazyLock::new(|| {
    let folder = std::env::var_os("RECORD_EXAMPLES")?;
    std::fs::create_dir_all(&folder).expect("the folder of RECORD_EXAMPLES");
    let path = std::path::Path::new(&folder).join(format!("{}.jsonl", std::process::id()));
    let file = File::create(path).expect("a file in the folder of RECORD_EXAMPLES");
    Some(Mutex::new(Recording { file, written: BTreeMap::new() }))
});

/// Writes an exchange, when exchanges are recorded. Those whose request has fields that are not described are left out.
pub fn exchange(
    operation: &'static Operation,
    path: &str,
    headers: &[(&str, &str)],
    body: &Bytes,
    answer: &Answer,
) {
    let Some(recording) = &*RECORDING else { return };
    let small = body.len() <= LARGEST && answer.text.len() <= LARGEST;
    if !(200..300).contains(&answer.status) || !small {
        return;
    }
    let mut request = serde_json::from_slice(body).unwrap_or(Value::Null);
    if let Some(shape) = operation.body
        && !request.is_null()
        && shape().closed().check(&mut request.clone()).is_err()
    {
        return;
    }
    if operation.body.is_none() {
        request = Value::Null;
    }
    let mut recording = recording.lock().expect("no test failed while it wrote");
    let written = recording.written.entry(operation.id).or_default();
    *written += 1;
    if *written > MOST {
        return;
    }
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let path = Target::of(path).path;
    let parameters: Map<String, Value> = operation
        .path
        .split('/')
        .zip(path.split('/'))
        .filter_map(|(part, given)| {
            Some((part.strip_prefix('{')?.strip_suffix('}')?.to_owned(), json!(given)))
        })
        .collect();
    let key = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("idempotency-key"));
    let line = json!({
        "operation": operation.id,
        "path": parameters,
        "query": query,
        "idempotencyKey": key.map(|(_, key)| key),
        "request": request,
        "status": answer.status,
        "contentType": answer.header("content-type"),
        "answer": if answer.json.is_null() { json!(answer.text) } else { answer.json.clone() },
    });
    writeln!(recording.file, "{line}").expect("a line in the folder of RECORD_EXAMPLES");
}
