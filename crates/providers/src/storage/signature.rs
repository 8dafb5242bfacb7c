//! AWS Signature Version 4 in the `Authorization` header, with a signed payload.

use std::fmt;

use ring::digest::{SHA256, digest};
use ring::hmac::{self, HMAC_SHA256};

use crate::http::encode;

/// Who signs, and for what.
#[derive(Clone)]
pub(super) struct Signer {
    pub(super) access_key: String,
    pub(super) secret_key: String,
    pub(super) region: String,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("region", &self.region).finish_non_exhaustive()
    }
}

/// What is signed.
pub(super) struct Signed<'a> {
    pub(super) method: &'a str,
    /// As it is sent: each part percent-encoded once.
    pub(super) path: &'a str,
    /// Sorted by name.
    pub(super) query: &'a [(&'a str, &'a str)],
    /// Lower-case names with their values, sorted by name; `host`, `x-amz-content-sha256` and `x-amz-date`
    /// among them.
    pub(super) headers: &'a [(&'a str, &'a str)],
    /// Hash of the body, as in `x-amz-content-sha256`.
    pub(super) payload: &'a str,
    /// `20130524T000000Z`
    pub(super) at: &'a str,
}

/// Lower-case hex SHA-256.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn mac(key: &[u8], text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(HMAC_SHA256, key), text.as_bytes())
}

/// Seconds since 1970 as `20130524T000000Z`.
pub(super) fn basic_time(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 1 March of the year 0, in eras of 400 years (the proleptic Gregorian calendar).
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (month, carried) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + carried;
    format!("{year:04}{month:02}{date:02}T{:02}{:02}{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

impl Signer {
    /// The value of the `Authorization` header.
    pub(super) fn authorization(&self, signed: &Signed<'_>) -> String {
        let mut query = String::new();
        for (at, (name, value)) in signed.query.iter().enumerate() {
            if at > 0 {
                query.push('&');
            }
            encode(name, false, &mut query);
            query.push('=');
            encode(value, false, &mut query);
        }
        let headers: String =
            signed.headers.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
        let names = signed.headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
        let canonical =
            format!("{}\n{}\n{query}\n{headers}\n{names}\n{}", signed.method, signed.path, signed.payload);
        let date = signed.at.get(..8).unwrap_or_default();
        let scope = format!("{date}/{}/s3/aws4_request", self.region);
        let to_sign = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{}", signed.at, sha256(canonical.as_bytes()));
        let mut key = mac(format!("AWS4{}", self.secret_key).as_bytes(), date);
        for part in [self.region.as_str(), "s3", "aws4_request"] {
            key = mac(key.as_ref(), part);
        }
        let signature = hex(mac(key.as_ref(), &to_sign).as_ref());
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={names},Signature={signature}",
            self.access_key
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const AT: &str = "20130524T000000Z";
    const HOST: (&str, &str) = ("host", "examplebucket.s3.amazonaws.com");

    fn signature(
        method: &str,
        path: &str,
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
        payload: &str,
    ) -> String {
        let signer = Signer {
            access_key: "AKIAIOSFODNN7EXAMPLE".into(),
            secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            region: "us-east-1".into(),
        };
        let line = signer.authorization(&Signed { method, path, query, headers, payload, at: AT });
        line.rsplit_once("Signature=").unwrap().1.to_owned()
    }

    /// The four examples of the S3 documentation, «Signature Calculations for the Authorization Header».
    #[test]
    fn the_documented_examples_come_out() {
        let plain = [HOST, ("x-amz-content-sha256", EMPTY), ("x-amz-date", AT)];
        let ranged = [HOST, ("range", "bytes=0-9"), ("x-amz-content-sha256", EMPTY), ("x-amz-date", AT)];
        assert_eq!(
            signature("GET", "/test.txt", &[], &ranged, EMPTY),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        assert_eq!(
            signature("GET", "/", &[("lifecycle", "")], &plain, EMPTY),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        );
        assert_eq!(
            signature("GET", "/", &[("max-keys", "2"), ("prefix", "J")], &plain, EMPTY),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        );
        let payload = sha256(b"Welcome to Amazon S3.");
        let put = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            HOST,
            ("x-amz-content-sha256", payload.as_str()),
            ("x-amz-date", AT),
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        assert_eq!(
            signature("PUT", "/test%24file.text", &[], &put, &payload),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        );
    }

    #[test]
    fn times_are_written_as_dates() {
        for (seconds, text) in [
            (0, "19700101T000000Z"),
            (951_782_399, "20000228T235959Z"),
            (951_782_400, "20000229T000000Z"),
            (1_369_353_600, AT),
            (1_704_067_199, "20231231T235959Z"),
            (1_795_219_200, "20261121T000000Z"),
            (4_107_542_400, "21000301T000000Z"),
        ] {
            assert_eq!(basic_time(seconds), text);
        }
    }
}
