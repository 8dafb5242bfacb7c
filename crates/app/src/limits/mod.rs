//! Limits: requests in a minute, and resources in use by clients.

pub mod answers;
pub mod pages;
pub mod rates;
pub mod shares;
