//! The use cases of the messaging channel: connections, templates, messages, conversations, campaigns.
