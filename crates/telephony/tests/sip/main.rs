//! Our user agent against those of others: SIPp scenarios for every answer and race, baresip as a callee, and
//! two user agents of our own.

mod baresip;
mod callers;
mod calls;
mod codes;
mod incoming;
mod junk;
mod peers;
mod port;
mod races;
mod raw;
mod sipp;
mod sockets;
mod strangers;
mod support;
mod trunks;

/// RFC 3261 lets a lost message wait for 32 seconds: what depends on that runs side by side.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_for_half_a_minute() {
    tokio::join!(
        races::silence_is_uncertain(),
        trunks::a_registrar_that_says_nothing(),
        incoming::an_answer_that_is_never_acknowledged(),
        peers::a_carrier_that_loses_the_call(),
        junk::ten_thousand_datagrams_and_then_a_call(),
        strangers::a_forged_call_brings_no_sound_and_ends(),
        strangers::what_is_never_finished_is_given_up(),
    );
}
