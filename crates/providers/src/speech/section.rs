//! What all providers read from their section of the settings.

use crate::http::Base;
use crate::settings;

/// The address of the section's service.
pub(super) fn address<'a>(section: &'a settings::Speech, usual: &'a str) -> &'a str {
    section.base_url.as_deref().unwrap_or(usual)
}

/// Whether data sent to the section's service stays in India.
pub(super) fn resident(section: &settings::Speech, base: &Base) -> bool {
    section.resident.unwrap_or_else(|| base.is_resident())
}
