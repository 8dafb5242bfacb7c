//! Load and ratio runs against the release binary. Every figure is shown next to a yardstick of the same run:
//! a bare axum handler that answers a constant JSON, under the same generator on the same machine. Nothing
//! here asserts; `docs/performance.md` names the machine.

// Load needs real time.
#![allow(clippy::disallowed_methods)]

mod callee;
mod calls;
mod campaigns;
mod channel;
mod chats;
mod compare;
mod console;
mod dialling;
mod extract;
mod growth;
mod knowledge;
mod lines;
mod live;
mod load;
mod loopback;
mod nodes;
mod nudges;
mod phone;
mod server;
mod sipp;
mod skeleton;
mod soak;
mod sound;
mod streams;
mod webhooks;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = match arguments.first().map(String::as_str) {
        Some("yardstick") => runtime.block_on(server::yardstick()),
        Some("skeleton") | None => runtime.block_on(skeleton::run()),
        Some("webhooks") => runtime.block_on(webhooks::run()),
        Some("campaigns") => runtime.block_on(campaigns::run()),
        Some("channel") => runtime.block_on(channel::run(&arguments[1..])),
        Some("chats") => runtime.block_on(chats::run(&arguments[1..])),
        Some("dialling") => runtime.block_on(dialling::run()),
        Some("extract") => extract::run(),
        Some("growth") => runtime.block_on(growth::run(&arguments[1..])),
        Some("calls") => runtime.block_on(calls::run()),
        Some("nudges") => {
            // `bench nudges 0 100000` runs only these.
            let asked: Vec<u64> = arguments.iter().skip(1).filter_map(|text| text.parse().ok()).collect();
            runtime.block_on(nudges::run(if asked.is_empty() {
                &[0, 10_000, 100_000, 1_000_000]
            } else {
                &asked
            }))
        }
        Some("nodes") => runtime.block_on(nodes::run(&arguments[1..])),
        Some("compare") => runtime.block_on(compare::run(&arguments[1..])),
        Some("console") => runtime.block_on(console::run(&arguments[1..])),
        Some("lines") => lines::run(&arguments[1..]),
        Some("soak") => runtime.block_on(soak::run(&arguments[1..])),
        Some("streams") => runtime.block_on(streams::run()),
        Some("knowledge") => runtime.block_on(knowledge::run(&arguments[1..])),
        Some("phone") => runtime.block_on(phone::run(&arguments[1..])),
        Some(other) => Err(format!(
            "{other}: no such run; there are: skeleton, calls, dialling, campaigns, channel, chats, webhooks, nodes, nudges, lines, streams, knowledge, extract, growth, phone, soak, compare, console"
        )),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bench: {why}");
            ExitCode::FAILURE
        }
    }
}
