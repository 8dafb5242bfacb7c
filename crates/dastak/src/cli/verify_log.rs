//! `dastak verify-log FILE.csv`: checks an export of the decision log without a service, a store or a key. The rules are those of
//! `domain::decision_log`; what is added here is the signature of the file, and a signed head that somebody kept.

use std::io::Read;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use domain::decision_log::Head;
use domain::decision_log::csv::{ExportVerifier, Report};
use serde_json::{Value, json};

use crate::runtime::crypto::witnessed;

/// Bytes read at a time.
const PIECE: usize = 64 * 1024;

pub fn command() -> Command {
    Command::new("verify-log")
        .about("Check an exported decision log offline and name the first record that does not fit")
        .arg(Arg::new("FILE").required(true).help("The CSV file of GET /v1/audit/export"))
        .arg(
            Arg::new("head")
                .long("head")
                .value_name("FILE")
                .help("An answer of GET /v1/audit/head, kept from earlier: its record must be in the file"),
        )
        .arg(Arg::new("key").long("key").value_name("KEY").help("The public key that must have signed the file"))
        .arg(super::json_flag())
}

/// A head as `GET /v1/audit/head` answered it.
struct Kept {
    head: Head,
    workspace: String,
    chain: String,
    key: String,
}

/// What is wrong with the file, and where.
struct Verdict {
    report: Option<Report>,
    problem: Option<(Option<u64>, String)>,
}

/// Checks the file and says what it found; the exit code is 0 only for a whole log.
pub fn run(matches: &ArgMatches) -> Result<ExitCode, String> {
    let file = matches.get_one::<String>("FILE").map_or("", String::as_str);
    let kept = matches.get_one::<String>("head").map(|file| read_head(file)).transpose()?;
    let verdict = check(file, kept.as_ref(), matches.get_one::<String>("key").map(String::as_str))?;
    if matches.get_flag("json") {
        println!("{}", as_json(&verdict));
    } else {
        print(&verdict);
    }
    Ok(if verdict.problem.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn check(file: &str, kept: Option<&Kept>, key: Option<&str>) -> Result<Verdict, String> {
    let mut input = std::fs::File::open(file).map_err(|why| format!("{file}: {why}"))?;
    let mut verifier = kept.map_or_else(ExportVerifier::new, |kept| ExportVerifier::expecting(kept.head.clone()));
    let mut piece = vec![0; PIECE];
    loop {
        let length = input.read(&mut piece).map_err(|why| format!("{file}: {why}"))?;
        let taken = piece.get(..length).unwrap_or_default();
        if let Err(why) = verifier.push(taken) {
            return Ok(Verdict { report: None, problem: Some((None, why.to_string())) });
        }
        if length == 0 {
            break;
        }
    }
    match verifier.finish() {
        Err(why) => Ok(Verdict { report: None, problem: Some((None, why.to_string())) }),
        Ok(report) => {
            let problem = match &report.broken {
                Some(broken) => Some((Some(broken.seq), broken.to_string())),
                None => statement_problem(&report, kept, key).map(|problem| (None, problem)),
            };
            Ok(Verdict { report: Some(report), problem })
        }
    }
}

/// What is wrong with the last line of a file whose records are in order.
fn statement_problem(report: &Report, kept: Option<&Kept>, key: Option<&str>) -> Option<String> {
    let Some(statement) = &report.statement else {
        return Some("the last line with the verification is missing: the end of the file was cut off".into());
    };
    if !statement.verified {
        return Some("the service itself found the chain broken when it wrote the file; see GET /v1/audit/verify".into());
    }
    let Some(signing) = &statement.signing else {
        return (key.is_some() || kept.is_some()).then(|| "the file is not signed".into());
    };
    if !witnessed(&signing.public_key, &statement.signed_text(&signing.workspace, &signing.chain, &signing.signed_at), &signing.signature) {
        return Some("the signature does not fit: the last line was altered".into());
    }
    if key.or(kept.map(|kept| kept.key.as_str())).is_some_and(|key| key != signing.public_key) {
        return Some("the file was signed with another key".into());
    }
    let same = |kept: &Kept| kept.workspace == signing.workspace && kept.chain == signing.chain;
    kept.is_some_and(|kept| !same(kept)).then(|| "the head belongs to another workspace or chain".into())
}

fn read_head(file: &str) -> Result<Kept, String> {
    let text = std::fs::read_to_string(file).map_err(|why| format!("{file}: {why}"))?;
    let value: Value = serde_json::from_str(&text).map_err(|why| format!("{file}: {why}"))?;
    let data = value.get("data").unwrap_or(&value);
    let word = |name: &str| data[name].as_str().map(str::to_owned).ok_or_else(|| format!("{file}: no {name}; save the answer of GET /v1/audit/head"));
    let seq = data["seq"].as_u64().ok_or_else(|| format!("{file}: no seq; save the answer of GET /v1/audit/head"))?;
    let kept = Kept { head: Head { seq, hash: word("hash")? }, workspace: word("workspaceId")?, chain: word("chain")?, key: word("publicKey")? };
    if !witnessed(&kept.key, &kept.head.signed_text(&kept.workspace, &kept.chain, &word("signedAt")?), &word("signature")?) {
        return Err(format!("{file}: the signature does not fit, this is not a head that a service signed"));
    }
    Ok(kept)
}

fn as_json(verdict: &Verdict) -> Value {
    let statement = verdict.report.as_ref().and_then(|report| report.statement.as_ref());
    json!({
        "verified": verdict.problem.is_none(),
        "records": verdict.report.as_ref().map(|report| report.records),
        "slice": verdict.report.as_ref().map(|report| report.is_slice),
        "brokenAt": verdict.problem.as_ref().and_then(|(seq, _)| *seq),
        "problem": verdict.problem.as_ref().map(|(_, problem)| problem),
        "head": statement.map(|statement| &statement.head),
        "workspaceId": statement.and_then(|statement| Some(&statement.signing.as_ref()?.workspace)),
        "chain": statement.and_then(|statement| Some(&statement.signing.as_ref()?.chain)),
        "publicKey": statement.and_then(|statement| Some(&statement.signing.as_ref()?.public_key)),
    })
}

fn print(verdict: &Verdict) {
    match &verdict.problem {
        None => println!("whole: every record fits"),
        Some((Some(_), problem)) => println!("BROKEN at {problem}"),
        Some((None, problem)) => println!("NOT VERIFIED: {problem}"),
    }
    let Some(report) = &verdict.report else { return };
    println!("records in order: {}", report.records);
    let Some(statement) = &report.statement else { return };
    if report.is_slice {
        println!("the file is a part of the log; hash before its first record: {}", statement.before);
    }
    println!("last record: {} with hash {}", statement.last_seq, statement.head);
    match &statement.signing {
        Some(signing) => println!("chain {} of {}, signed {} with key {}", signing.chain, signing.workspace, signing.signed_at, signing.public_key),
        None => println!("the file is not signed"),
    }
}
