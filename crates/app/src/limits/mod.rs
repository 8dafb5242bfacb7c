//! What is bounded: requests in a minute, and what those who are connected have in work.

pub mod answers;
pub mod pages;
pub mod rates;
pub mod shares;
