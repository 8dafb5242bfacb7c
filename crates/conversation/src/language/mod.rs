//! What the words of the languages mean, from the tables in `languages/<code>/` (docs/language.md).

pub mod fold;
pub mod folders;
pub mod numbers;
pub mod table;

#[cfg(test)]
mod number_tests;
