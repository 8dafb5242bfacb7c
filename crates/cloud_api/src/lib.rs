//! The wire of the messaging channel's Cloud API: requests, answers, notifications, errors.
