//! The last line of an export: the result of the verification, and its signature.

use std::fmt;

/// The last line of an export: what the service verified when it wrote the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Whether the chain was valid.
    pub verified: bool,
    /// Number of valid rows in the file.
    pub records: u64,
    /// `seq` of the last of them.
    pub last_seq: u64,
    /// Hash before the first row. It is 64 zeros when the file starts at the beginning of the chain;
    /// otherwise the file is a slice.
    pub before: String,
    /// Hash of the last row.
    pub head: String,
    /// The signature, if there is one.
    pub signing: Option<Signing>,
}

/// The signature of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signing {
    pub workspace: String,
    pub chain: String,
    /// When it was signed, ISO 8601.
    pub signed_at: String,
    /// Ed25519 public key, URL-safe base64.
    pub public_key: String,
    /// Ed25519 signature of [`Statement::signed_text`], URL-safe base64.
    pub signature: String,
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statement { verified, records, last_seq, before, head, signing } = self;
        write!(
            f,
            "# verified={verified} records={records} last_seq={last_seq} before={before} head={head} algorithm=sha256"
        )?;
        if let Some(Signing { workspace, chain, signed_at, public_key, signature }) = signing {
            write!(
                f,
                " workspace={workspace} chain={chain} signed_at={signed_at} public_key={public_key} signature={signature}"
            )?;
        }
        Ok(())
    }
}

impl Statement {
    /// The text that is signed.
    pub fn signed_text(&self, workspace: &str, chain: &str, signed_at: &str) -> String {
        let Statement { verified, records, last_seq, before, head, .. } = self;
        format!(
            "decision-log-export/1\n{workspace}\n{chain}\n{verified}\n{records}\n{last_seq}\n{before}\n{head}\n{signed_at}"
        )
    }

    /// Reads the last line; `None` when it does not have this form. Unknown words are ignored.
    pub fn parse(line: &str) -> Option<Self> {
        let words: Vec<(&str, &str)> =
            line.strip_prefix('#')?.split_whitespace().filter_map(|word| word.split_once('=')).collect();
        let word = |name: &str| words.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let owned = |name: &str| word(name).map(str::to_owned);
        let signing = || {
            Some(Signing {
                workspace: owned("workspace")?,
                chain: owned("chain")?,
                signed_at: owned("signed_at")?,
                public_key: owned("public_key")?,
                signature: owned("signature")?,
            })
        };
        Some(Self {
            signing: signing(),
            verified: word("verified")?.parse().ok()?,
            records: word("records")?.parse().ok()?,
            last_seq: word("last_seq")?.parse().ok()?,
            before: word("before")?.to_owned(),
            head: word("head")?.to_owned(),
        })
    }
}
