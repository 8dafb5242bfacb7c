//! Text strings of a PDF.

/// A string of a PDF: UTF-16 or UTF-8 with a byte order mark, else Latin.
pub(super) fn string(bytes: &[u8]) -> String {
    match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, mark)) => encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned(),
        None => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
    }
}
