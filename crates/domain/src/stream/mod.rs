//! Data streams: incoming records become people to be called (docs/contract/streams.md).

pub mod body;
pub mod config;
pub mod fields;
pub mod reading;
pub mod transliteration;

pub use config::Config;
pub use fields::{Arrival, OwnId, flatten};
pub use reading::{FieldMap, Reading, read};

use crate::integration::Provider;
use crate::time::DAY;
use closed_sets::words;

/// Most records of one request (docs/contract/streams.md#sending-records).
pub const MAX_RECORDS: usize = 500;
/// Most fields of a record that are kept (docs/contract/streams.md#fields).
pub const MAX_FIELDS: usize = 100;
/// Nesting levels of a record that become fields, including the record itself; deeper values are kept as JSON text.
pub const MAX_LEVELS: usize = 8;
/// Most bytes of names and values of a record that are kept.
pub const MAX_BYTES: usize = 64 * 1024;
/// Longest name of a field that is kept, characters; also of a name in a mapping.
pub const MAX_FIELD_NAME: usize = 200;
/// Longest name of a person that is kept, characters.
pub const MAX_NAME: usize = 120;
/// Characters of a record's own id that are stored; the rest still counts for its identity.
pub const MAX_EXTERNAL_ID: usize = 200;
/// Most days that attaching looks back (docs/contract/streams.md#attaching).
pub const MAX_BACKFILL_DAYS: i64 = 90;
/// Retention of the content of a record (docs/contract/streams.md#retention): as long as attaching can look back.
pub const KEPT: i64 = MAX_BACKFILL_DAYS * DAY;

words! {
    /// How records arrive (docs/contract/streams.md#kinds).
    pub enum Kind {
        /// At the stream's own address, with its token.
        Webhook = "webhook",
        /// With an API key.
        Api = "api",
        /// Rows of an online spreadsheet.
        Spreadsheet = "spreadsheet",
        /// Contacts of the first CRM.
        Crm1 = "crm_1",
        /// Leads or contacts of the second CRM.
        Crm2 = "crm_2",
        /// Leads or contacts of the third CRM.
        Crm3 = "crm_3",
        /// Customers of an online store.
        Storefront = "storefront",
    }
}

impl Kind {
    /// The provider whose account the stream reads through; `None` for one that is pushed to.
    pub fn provider(self) -> Option<Provider> {
        match self {
            Kind::Webhook | Kind::Api => None,
            Kind::Spreadsheet => Some(Provider::GoogleSheets),
            Kind::Crm1 => Some(Provider::HubSpot),
            Kind::Crm2 => Some(Provider::Salesforce),
            Kind::Crm3 => Some(Provider::Zoho),
            Kind::Storefront => Some(Provider::Shopify),
        }
    }

    /// Whether the workspace's plan must include CRM integrations.
    pub fn needs_crm(self) -> bool {
        self.provider().is_some_and(Provider::is_crm)
    }

    /// Whether records may be pushed with an API key.
    pub fn takes_pushes(self) -> bool {
        self.provider().is_none()
    }
}

words! {
    /// Where a stream is.
    pub enum Status {
        Active = "active",
        /// Takes none until it is made active again.
        Paused = "paused",
        /// Stopped by failures of the other side; `lastError` says why.
        Error = "error",
    }
}

words! {
    /// The status of a record.
    pub enum RecordStatus {
        /// Its number can be called.
        Accepted = "accepted",
        /// It cannot be called; `reason` says why.
        Invalid = "invalid",
    }
}

words! {
    /// The result of a record that was sent.
    pub enum Outcome {
        /// It is new and its number can be called.
        Accepted = "accepted",
        /// It is new and cannot be called.
        Invalid = "invalid",
        /// It was there already; nothing was changed.
        Duplicate = "duplicate",
    }
}

words! {
    /// Why a record cannot be called.
    pub enum Reason {
        /// It has no number.
        NoPhone = "no_phone",
        /// Its number is not a phone number.
        InvalidPhone = "invalid_phone",
        /// Its number is of another country.
        NotIndian = "not_indian",
        /// None of the kept fields is a number, and others were left out.
        TooManyFields = "too_many_fields",
    }
}
