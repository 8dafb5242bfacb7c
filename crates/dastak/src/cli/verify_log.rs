//! `dastak verify-log FILE.csv`: checks an export of the decision log without a service, a store or a key.
//! The rules are those of `domain::decision_log`; what is added here is the signature of the file, and signed
//! heads that were kept elsewhere.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use domain::decision_log::Head;
use domain::decision_log::csv::{ExportVerifier, Report, Signing, Statement};
use serde_json::{Value, json};

use crate::runtime::crypto::witnessed;

/// Bytes read at a time.
const PIECE: usize = 64 * 1024;
/// Bytes at the end of the file in which its last line lies.
const TAIL: u64 = 8 * 1024;

pub fn command() -> Command {
    Command::new("verify-log")
        .about("Check an exported decision log offline and name the first record that does not fit")
        .arg(Arg::new("FILE").required(true).help("The CSV file of GET /v1/audit/export"))
        .arg(
            Arg::new("head").long("head").value_name("FILE").help(
                "Heads that were kept from earlier, answers of GET /v1/audit/head or lines of audit.head_file: their records must be in the file",
            ),
        )
        .arg(Arg::new("key").long("key").allow_hyphen_values(true).value_name("KEY").help("The public key that must have signed the file"))
        .arg(super::output::json_flag())
}

/// Heads of this workspace and chain that were kept elsewhere.
struct Kept {
    file: String,
    heads: Vec<Head>,
    /// The key that signed the newest of them.
    key: String,
    /// How many there are of other workspaces and chains.
    others: u64,
}

/// What is wrong with the file, and where.
struct FileCheck {
    report: Option<Report>,
    problem: Option<(Option<u64>, String)>,
}

/// What the file states at its end, for a look before it is read.
fn last_line(file: &str) -> Result<Option<Statement>, String> {
    let read = || {
        let mut input = std::fs::File::open(file)?;
        let length = input.metadata()?.len();
        input.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut tail = Vec::new();
        input.take(TAIL).read_to_end(&mut tail)?;
        Ok::<_, std::io::Error>(
            String::from_utf8_lossy(&tail)
                .lines()
                .rev()
                .find(|line| !line.trim().is_empty())
                .and_then(Statement::parse),
        )
    };
    read().map_err(|why| format!("{file}: {why}"))
}

/// What this check did not cover. The verdict "whole" alone would suggest that everything was checked.
fn not_checked(verdict: &FileCheck, kept: Option<&Kept>, key: Option<&str>) -> Vec<String> {
    let mut list = Vec::new();
    let Some(report) = &verdict.report else { return list };
    if key.is_none() && kept.is_none() {
        list.push(
            "who signed the file: anybody can write a log and sign it with a key of their own; give --key or --head, kept from an earlier time"
                .into(),
        );
    }
    match kept {
        None => list.push("whether the log was cut short or written anew before the export; give --head with a head that was kept elsewhere".into()),
        Some(_) if report.heads_outside > 0 => {
            list.push(format!("{} kept heads: their records are not in this part of the log", report.heads_outside))
        }
        Some(_) => {}
    }
    if let Some(others) = kept.map(|kept| kept.others).filter(|others| *others > 0) {
        list.push(format!("{others} kept heads: they are of other workspaces or chains"));
    }
    if report.is_slice {
        list.push("the records before the first one of this file".into());
    }
    list.push("the columns is_test, channel and agent_id: no hash covers them".into());
    list
}

/// Checks the file and says what it found; the exit code is 0 only for a whole log.
pub fn run(matches: &ArgMatches) -> Result<ExitCode, String> {
    let file = matches.get_one::<String>("FILE").map_or("", String::as_str);
    let key = matches.get_one::<String>("key").map(String::as_str);
    let signing = last_line(file)?.and_then(|statement| statement.signing);
    let kept =
        matches.get_one::<String>("head").map(|file| read_heads(file, signing.as_ref())).transpose()?;
    let verdict = check(file, kept.as_ref(), key)?;
    let unchecked = not_checked(&verdict, kept.as_ref(), key);
    if matches.get_flag("json") {
        println!("{}", as_json(&verdict, &unchecked));
    } else {
        print(&verdict, &unchecked);
    }
    Ok(if verdict.problem.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn check(file: &str, kept: Option<&Kept>, key: Option<&str>) -> Result<FileCheck, String> {
    let mut input = std::fs::File::open(file).map_err(|why| format!("{file}: {why}"))?;
    let mut verifier =
        kept.map_or_else(ExportVerifier::new, |kept| ExportVerifier::expecting(kept.heads.clone()));
    let mut piece = vec![0; PIECE];
    loop {
        let length = input.read(&mut piece).map_err(|why| format!("{file}: {why}"))?;
        let taken = piece.get(..length).unwrap_or_default();
        if let Err(why) = verifier.push(taken) {
            return Ok(FileCheck { report: None, problem: Some((None, why.to_string())) });
        }
        if length == 0 {
            break;
        }
    }
    match verifier.finish() {
        Err(why) => Ok(FileCheck { report: None, problem: Some((None, why.to_string())) }),
        Ok(report) => {
            let problem = match &report.broken {
                Some(broken) => Some((Some(broken.seq), broken.to_string())),
                None => statement_problem(&report, kept, key).map(|problem| (None, problem)),
            };
            Ok(FileCheck { report: Some(report), problem })
        }
    }
}

/// What is wrong with the last line of a file whose records are in order.
fn statement_problem(report: &Report, kept: Option<&Kept>, key: Option<&str>) -> Option<String> {
    let Some(statement) = &report.statement else {
        return Some(
            "the last line with the verification is missing: the end of the file was cut off".into(),
        );
    };
    if !statement.verified {
        return Some(
            "the service itself found the chain broken when it wrote the file; see GET /v1/audit/verify"
                .into(),
        );
    }
    let Some(signing) = &statement.signing else {
        return (key.is_some() || kept.is_some()).then(|| "the file is not signed".into());
    };
    if !witnessed(
        &signing.public_key,
        &statement.signed_text(&signing.workspace, &signing.chain, &signing.signed_at),
        &signing.signature,
    ) {
        return Some("the signature does not fit: the last line was altered".into());
    }
    if key
        .or(kept.map(|kept| kept.key.as_str()).filter(|key| !key.is_empty()))
        .is_some_and(|key| key != signing.public_key)
    {
        return Some("the file was signed with another key".into());
    }
    kept.filter(|kept| kept.heads.is_empty())
        .map(|kept| format!("{}: its heads belong to another workspace or chain", kept.file))
}

/// Reads heads, and keeps those of the workspace and chain that the file states.
fn read_heads(file: &str, stated: Option<&Signing>) -> Result<Kept, String> {
    let input = std::fs::File::open(file).map_err(|why| format!("{file}: {why}"))?;
    let mut kept = Kept { file: file.to_owned(), heads: Vec::new(), key: String::new(), others: 0 };
    for value in serde_json::Deserializer::from_reader(BufReader::new(input)).into_iter::<Value>() {
        let value = value.map_err(|why| format!("{file}: {why}"))?;
        let (head, workspace, chain, key) = read_head(file, &value)?;
        if stated.is_some_and(|stated| stated.workspace != workspace || stated.chain != chain) {
            kept.others += 1;
            continue;
        }
        if kept.heads.iter().all(|known| known.seq <= head.seq) {
            kept.key = key;
        }
        kept.heads.push(head);
    }
    if kept.heads.is_empty() && kept.others == 0 {
        return Err(format!("{file}: no head in it; save the answer of GET /v1/audit/head"));
    }
    Ok(kept)
}

/// A head as `GET /v1/audit/head` answers it, with its workspace, chain and key.
fn read_head(file: &str, value: &Value) -> Result<(Head, String, String, String), String> {
    let data = value.get("data").unwrap_or(value);
    let word = |name: &str| {
        data[name]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("{file}: no {name}; save the answer of GET /v1/audit/head"))
    };
    let seq = data["seq"]
        .as_u64()
        .ok_or_else(|| format!("{file}: no seq; save the answer of GET /v1/audit/head"))?;
    let (head, workspace, chain, key) =
        (Head { seq, hash: word("hash")? }, word("workspaceId")?, word("chain")?, word("publicKey")?);
    if !witnessed(&key, &head.signed_text(&workspace, &chain, &word("signedAt")?), &word("signature")?) {
        return Err(format!("{file}: the signature does not fit, this is not a head that a service signed"));
    }
    Ok((head, workspace, chain, key))
}

fn as_json(verdict: &FileCheck, unchecked: &[String]) -> Value {
    let statement = verdict.report.as_ref().and_then(|report| report.statement.as_ref());
    json!({
        "verified": verdict.problem.is_none(),
        "records": verdict.report.as_ref().map(|report| report.records),
        "slice": verdict.report.as_ref().map(|report| report.is_slice),
        "brokenAt": verdict.problem.as_ref().and_then(|(seq, _)| *seq),
        "problem": verdict.problem.as_ref().map(|(_, problem)| problem),
        "notChecked": unchecked,
        "head": statement.map(|statement| &statement.head),
        "workspaceId": statement.and_then(|statement| Some(&statement.signing.as_ref()?.workspace)),
        "chain": statement.and_then(|statement| Some(&statement.signing.as_ref()?.chain)),
        "publicKey": statement.and_then(|statement| Some(&statement.signing.as_ref()?.public_key)),
    })
}

fn print(verdict: &FileCheck, unchecked: &[String]) {
    say(verdict);
    for what in unchecked {
        println!("NOT CHECKED: {what}");
    }
}

fn say(verdict: &FileCheck) {
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
        Some(signing) => println!(
            "chain {} of {}, signed {} with key {}",
            signing.chain, signing.workspace, signing.signed_at, signing.public_key
        ),
        None => println!("the file is not signed"),
    }
}
