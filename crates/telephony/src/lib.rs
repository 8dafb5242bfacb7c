//! The SIP carrier: signalling, media and the sandbox phone network.
