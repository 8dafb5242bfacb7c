//! Our user agent against other people's: SIPp scenarios for every answer and race, baresip as a callee, and two phones of our own.

mod baresip;
mod calls;
mod codes;
mod incoming;
mod junk;
mod peers;
mod races;
mod sipp;
mod support;
mod trunks;
