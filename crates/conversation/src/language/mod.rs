//! What the words of the languages mean, from the tables in `languages/<code>/` (docs/language.md).

pub mod calendar;
pub mod contact;
pub mod date;
pub mod date_words;
pub mod fold;
pub mod folders;
pub mod numbers;
pub mod readings;
pub mod spoken;
pub mod table;
pub mod time;

#[cfg(test)]
mod number_tests;
#[cfg(test)]
mod value_tests;
