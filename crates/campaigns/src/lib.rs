//! The use cases of campaigns (docs/contract/campaigns.md), above those of calls: a published agent calls the
//! people of a list, within the hours of its settings.

pub mod list;
