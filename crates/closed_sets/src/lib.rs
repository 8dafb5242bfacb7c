//! Closed sets: enums whose variants are words of the API and of the store.

#[doc(hidden)]
pub use {schemars, serde};

/// An enum whose variants are words of the API: `ALL`, `as_str`, `parse` and `Display`.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Every variant, in the order of the API.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word of the API.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.as_str() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

/// Enums whose variants are words of the API (`ALL`, `as_str`, `parse`), each with its name in the OpenAPI
/// document.
#[macro_export]
macro_rules! wire {
    ($($type:ty = $name:literal, $doc:literal;)*) => {$(
        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as $crate::serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| <D::Error as $crate::serde::de::Error>::custom(concat!("is no ", $name)))
            }
        }

        impl $crate::schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($name)
            }

            fn json_schema(_: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                let words: Vec<&str> = Self::ALL.iter().map(|word| word.as_str()).collect();
                $crate::schemars::json_schema!({"type": "string", "enum": words, "description": $doc})
            }
        }
    )*};
}
