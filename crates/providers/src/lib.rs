//! Outbound adapters: everything that speaks to a service outside, behind one guarded HTTP client.

