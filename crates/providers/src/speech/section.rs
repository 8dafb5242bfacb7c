//! What all providers read from their section of the settings.

use crate::http::Base;
use crate::settings;

/// Where the section's service is.
pub(super) fn address<'a>(section: &'a settings::Speech, usual: &'a str) -> &'a str {
    section.base_url.as_deref().unwrap_or(usual)
}

/// Whether what the section's service is given stays in India.
pub(super) fn resident(section: &settings::Speech, base: &Base) -> bool {
    section.resident.unwrap_or_else(|| base.is_resident())
}
