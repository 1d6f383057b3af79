//! Values of the file: how each is read, written and described to an editor.

mod signed;

use std::net::IpAddr;

use serde_json::{Value as Json, json};
use slantpath_base::{DataRate, DataSize, Duration, Probability};

use crate::diagnostic::Fault;
use crate::document::{ValueData, ValueNode};

/// A value that stands behind a key.
pub trait KeyValue: Clone + PartialEq {
    /// Type in which an upper bound of it is given; nothing where the type is bound enough.
    type Most;

    /// Gives the part of the value that exceeds the bound, as a string.
    fn beyond(&self, _most: &Self::Most) -> Option<String> {
        None
    }

    /// Reads it, or says what is wrong and what would be right.
    fn read(node: &ValueNode) -> Result<Self, Fault>;

    /// Writes its canonical TOML, which [`KeyValue::read`] reads as the same value.
    fn write(&self) -> String;

    /// JSON Schema of the type.
    fn schema() -> Json;
}

/// A quantity in text: `what` with its article, an example, and the pattern of an editor.
fn quantity<T>(node: &ValueNode, what: &str, example: &str) -> Result<T, Fault>
where
    T: core::str::FromStr,
    T::Err: core::fmt::Display,
{
    let like = || format!("write {what} as a string with its unit, like \"{example}\"");
    let text = match &node.data {
        ValueData::Text(text) => text,
        ValueData::Integer(number) if *number < 0 => {
            return Err(Fault::new(format!("`{number}` is negative")).help(like()));
        }
        ValueData::Integer(number) => return Err(Fault::new(format!("`{number}` has no unit")).help(like())),
        ValueData::Float(number) => return Err(Fault::new(format!("`{number}` has no unit")).help(like())),
        _ => return Err(Fault::new(format!("{what} is wanted here, not {}", node.kind())).help(like())),
    };
    if text.trim_start().starts_with('-') {
        return Err(Fault::new(format!("`{text}` is negative")).help(like()));
    }
    text.parse().map_err(|error: T::Err| fault_of(&error, &like()))
}

/// The vocabulary's messages end with the cure, set off by a colon; `help` is for those that have none.
pub fn fault_of(error: &impl core::fmt::Display, help: &str) -> Fault {
    let text = error.to_string();
    match text.split_once(": ") {
        Some((wrong, cure)) => Fault::new(wrong).help(cure),
        None => Fault::new(text).help(help),
    }
}

fn quoted(value: &impl ToString) -> String {
    Json::String(value.to_string()).to_string()
}

macro_rules! quantity_value {
    ($type:ty, $what:literal, $example:literal, $units:literal) => {
        impl KeyValue for $type {
            type Most = Self;

            fn beyond(&self, most: &Self) -> Option<String> {
                (self > most).then(|| self.to_string())
            }

            fn read(node: &ValueNode) -> Result<Self, Fault> {
                quantity(node, $what, $example)
            }

            fn write(&self) -> String {
                quoted(self)
            }

            fn schema() -> Json {
                let pattern = concat!("^\\s*[0-9][0-9_]*(\\.[0-9_]+)?\\s*(", $units, ")\\s*$");
                json!({ "type": "string", "pattern": pattern, "examples": [$example] })
            }
        }
    };
}

quantity_value!(Duration, "a time", "250 ms", "ns|us|[µμ]s|ms|s|min|h|d");
quantity_value!(DataRate, "a rate", "1.536 Mbit/s", "[kMGT]?bit/s|[kM]?byte/s|Kibyte/s|Mibyte/s");
quantity_value!(DataSize, "an amount of data", "64 KiB", "B|bytes?|[kMG]B|[KMG]iB");

impl KeyValue for Probability {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let number = |number: f64, text: &str| {
            Self::new(number).ok_or_else(|| {
                Fault::new(format!("`{text}` is out of range"))
                    .help("a probability lies between 0 and 1, written \"1 %\", 0.01 or \"1e-6\"")
            })
        };
        match &node.data {
            ValueData::Integer(value) => number(*value as f64, &value.to_string()),
            ValueData::Float(text) => number(text.replace('_', "").parse().unwrap_or(f64::NAN), text),
            _ => quantity(node, "a probability", "1 %"),
        }
    }

    fn write(&self) -> String {
        quoted(self)
    }

    fn schema() -> Json {
        // 0 to 100 %, 0 to 1, and whatever has a negative power of ten: how large that is no pattern says.
        let pattern = concat!(
            r"^\s*((100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)\s*%|1(\.0+)?|0(\.[0-9]+)?",
            r"|[0-9]+(\.[0-9]+)?[eE]-0*[1-9][0-9]*(\s*%)?)\s*$",
        );
        let text = json!({ "type": "string", "pattern": pattern });
        json!({ "anyOf": [text, { "type": "number", "minimum": 0, "maximum": 1 }], "examples": ["1 %", "1e-6"] })
    }
}

impl KeyValue for bool {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        match node.data {
            ValueData::Boolean(value) => Ok(value),
            _ => Err(Fault::new(format!("`true` or `false` is wanted here, not {}", node.kind()))),
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }

    fn schema() -> Json {
        json!({ "type": "boolean" })
    }
}

macro_rules! integer_value {
    ($($type:ty, $most:ty, $beyond:expr;)*) => {$(
        impl KeyValue for $type {
            type Most = $most;

            fn beyond(&self, most: &$most) -> Option<String> {
                let beyond: fn($type, &$most) -> bool = $beyond;
                beyond(*self, most).then(|| self.to_string())
            }

            fn read(node: &ValueNode) -> Result<Self, Fault> {
                let range = || format!("a whole number between 0 and {} is wanted here", Self::MAX);
                match node.data {
                    ValueData::Integer(value) => Self::try_from(value)
                        .map_err(|_| Fault::new(format!("`{value}` is out of range")).help(range())),
                    _ => Err(Fault::new(format!("a whole number is wanted here, not {}", node.number_or_kind()))
                        .help(range())),
                }
            }

            fn write(&self) -> String {
                self.to_string()
            }

            fn schema() -> Json {
                json!({ "type": "integer", "minimum": 0, "maximum": Self::MAX })
            }
        }
    )*};
}

integer_value!(u8, (), |_, ()| false; u16, (), |_, ()| false; u32, u32, |value, most| value > *most;);

/// A seed, of which any is as good.
impl KeyValue for u64 {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        match node.data {
            ValueData::Integer(value) => Self::try_from(value).map_err(|_| {
                Fault::new(format!("`{value}` is negative")).help("a whole number from 0 on is wanted here")
            }),
            _ => Err(Fault::new(format!("a whole number is wanted here, not {}", node.number_or_kind()))),
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }

    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX })
    }
}

impl KeyValue for String {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        match &node.data {
            ValueData::Text(text) => Ok(text.clone()),
            _ => Err(Fault::new(format!("a string is wanted here, not {}", node.kind()))
                .help("strings stand in quotes")),
        }
    }

    fn write(&self) -> String {
        // JSON's escapes are a part of TOML's, except DEL, which TOML wants escaped.
        Json::String(self.clone()).to_string().replace('\u{7f}', "\\u007f")
    }

    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

impl KeyValue for IpAddr {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let help = "an address is written \"10.0.0.1\" or \"fd00::1\", without a prefix length";
        let text = String::read(node)?;
        text.parse().map_err(|_| Fault::new(format!("`{text}` is no IP address")).help(help))
    }

    fn write(&self) -> String {
        quoted(self)
    }

    fn schema() -> Json {
        json!({ "type": "string", "anyOf": [{ "format": "ipv4" }, { "format": "ipv6" }] })
    }
}

/// The two ends of a link, first and second: a list of exactly two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair<T>(pub T, pub T);

impl<T: KeyValue> KeyValue for Pair<T> {
    type Most = T::Most;

    fn beyond(&self, most: &T::Most) -> Option<String> {
        self.0.beyond(most).or_else(|| self.1.beyond(most))
    }

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        match &node.data {
            ValueData::Array(items) => match items.as_slice() {
                [first, second] => Ok(Self(T::read(first)?, T::read(second)?)),
                _ => Err(Fault::new(format!("a list of two is wanted here, not of {}", items.len()))
                    .help("the first is the near end, the second the far end")),
            },
            _ => Err(Fault::new(format!("a list of two is wanted here, not {}", node.kind()))),
        }
    }

    fn write(&self) -> String {
        format!("[{}, {}]", self.0.write(), self.1.write())
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": T::schema(), "minItems": 2, "maxItems": 2 })
    }
}

impl<T: KeyValue> KeyValue for Vec<T> {
    type Most = T::Most;

    fn beyond(&self, most: &T::Most) -> Option<String> {
        self.iter().find_map(|item| item.beyond(most))
    }

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        match &node.data {
            ValueData::Array(items) => items.iter().map(T::read).collect(),
            _ => Err(Fault::new(format!("a list is wanted here, not {}", node.kind()))),
        }
    }

    fn write(&self) -> String {
        let items: Vec<String> = self.iter().map(T::write).collect();
        format!("[{}]", items.join(", "))
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": T::schema() })
    }
}

/// Declares an enum whose variants are written as texts.
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $about:literal])+
        pub enum $Name:ident {
            $( $(#[doc = $doc:literal])+ $Variant:ident = $text:literal, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name {
            $( $(#[doc = $doc])+ $Variant, )+
        }

        $crate::texts! { $Name { $( [$($doc),+] $text = (Self::$Variant) (Self::$Variant), )+ } }
    };
}

/// Declares how the values of an enum are written that a crate below has: a policy of a protocol, or of a model.
#[macro_export]
macro_rules! policy {
    (
        $(#[doc = $about:literal])+
        pub struct $Name:ident of $Policy:ty {
            $( $(#[doc = $doc:literal])+ $Variant:ident = $text:literal, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $Name($Policy);

        impl $Name {
            /// As a file has it.
            pub const fn of(policy: $Policy) -> Self {
                Self(policy)
            }

            /// The policy that it stands for.
            pub const fn policy(self) -> $Policy {
                self.0
            }
        }

        $crate::texts! {
            $Name { $( [$($doc),+] $text = (Self(<$Policy>::$Variant)) (Self(<$Policy>::$Variant)), )+ }
        }
    };
}

/// Common part of [`choice!`] and [`policy!`]: each value, as a pattern and as an expression, with its text.
#[doc(hidden)]
#[macro_export]
macro_rules! texts {
    ($Name:ident { $( [$($doc:literal),+] $text:literal = ($pattern:pat) ($value:expr), )+ }) => {
        impl $Name {
            const TEXTS: &'static [&'static str] = &[$($text),+];

            /// As it is written in a file.
            pub const fn as_str(self) -> &'static str {
                match self { $( $pattern => $text, )+ }
            }
        }

        impl core::fmt::Display for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::KeyValue for $Name {
            type Most = ();

            fn read(node: &$crate::ValueNode) -> Result<Self, $crate::Fault> {
                let text = <String as $crate::KeyValue>::read(node)?;
                match text.as_str() {
                    $( $text => Ok($value), )+
                    _ => Err($crate::Fault::new(format!("`{text}` is none of the choices"))
                        .help($crate::suggest(&text, "choices", Self::TEXTS))),
                }
            }

            fn write(&self) -> String {
                format!("\"{self}\"")
            }

            fn schema() -> $crate::Json {
                $crate::json!({ "oneOf": [
                    $( { "const": $text, "description": $crate::joined(&[$($doc),+]) }, )+
                ] })
            }
        }
    };
}

/// Declares an enum that is written as a word or as a quantity.
#[macro_export]
macro_rules! word_or {
    (
        $(#[doc = $about:literal])+
        pub enum $Name:ident {
            $(#[doc = $word_doc:literal])+ $Word:ident = $text:literal,
            $(#[doc = $doc:literal])+ $Quantity:ident($type:ty) like $example:literal,
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum $Name {
            $(#[doc = $word_doc])+ $Word,
            $(#[doc = $doc])+ $Quantity($type),
        }

        impl $Name {
            /// The quantity, if it is not the word.
            pub const fn quantity(self) -> Option<$type> {
                match self {
                    Self::$Word => None,
                    Self::$Quantity(quantity) => Some(quantity),
                }
            }
        }

        /// The quantity, or the word for none.
        impl From<Option<$type>> for $Name {
            fn from(quantity: Option<$type>) -> Self {
                quantity.map_or(Self::$Word, Self::$Quantity)
            }
        }

        impl core::fmt::Display for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    Self::$Word => f.write_str($text),
                    Self::$Quantity(quantity) => core::fmt::Display::fmt(quantity, f),
                }
            }
        }

        impl $crate::KeyValue for $Name {
            type Most = <$type as $crate::KeyValue>::Most;

            fn beyond(&self, most: &Self::Most) -> Option<String> {
                self.quantity().and_then(|quantity| $crate::KeyValue::beyond(&quantity, most))
            }

            fn read(node: &$crate::ValueNode) -> Result<Self, $crate::Fault> {
                match <String as $crate::KeyValue>::read(node).as_deref().map(str::trim) {
                    Ok($text) => Ok(Self::$Word),
                    _ => <$type as $crate::KeyValue>::read(node).map(Self::$Quantity).map_err(|fault| {
                        $crate::Fault::new(fault.message)
                            .help(concat!("write \"", $text, "\" or a quantity like \"", $example, "\""))
                    }),
                }
            }

            fn write(&self) -> String {
                format!("\"{self}\"")
            }

            fn schema() -> $crate::Json {
                let about = $crate::joined(&[$($word_doc),+]);
                let word = $crate::json!({ "const": $text, "description": about });
                $crate::json!({ "anyOf": [word, <$type as $crate::KeyValue>::schema()], "examples": [$text, $example] })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::diagnostic::Faults;
    use crate::document::{find, parse};

    fn read<T: KeyValue>(toml: &str) -> Result<T, String> {
        let mut faults = Faults::default();
        let tree = parse("t", &format!("v = {toml}"), &mut faults);
        faults.into_result().map_err(|e| e.to_string())?;
        T::read(find(&tree, &["v"]).unwrap())
            .map_err(|fault| format!("{} | {}", fault.message, fault.help.unwrap_or_default()))
    }

    #[test]
    fn a_number_without_its_unit_is_refused_with_an_example() {
        let text = "`250` has no unit | write a time as a string with its unit, like \"250 ms\"";
        assert_eq!(read::<Duration>("250"), Err(text.to_owned()));
        let text = "`-250 ms` is negative | write a time as a string with its unit, like \"250 ms\"";
        assert_eq!(read::<Duration>("\"-250 ms\""), Err(text.to_owned()));
    }

    #[test]
    fn a_number_that_will_not_do_is_quoted_and_what_is_none_is_called_by_its_kind() {
        let said = |kind: &str| format!("a number is wanted here, not {kind} | write it like 0.5");
        for (given, kind) in [("inf", "`inf`"), ("nan", "`nan`"), ("-inf", "`-inf`"), ("\"1\"", "a string")] {
            assert_eq!(read::<f64>(given), Err(said(kind)), "{given}");
        }
        for (given, kind) in [("1.5", "`1.5`"), ("2.0", "`2.0`"), ("[1]", "a list")] {
            let error = read::<u64>(given).unwrap_err();
            assert!(error.starts_with(&format!("a whole number is wanted here, not {kind} | ")), "{error}");
        }
    }

    #[test]
    fn a_unit_of_something_else_is_refused_with_the_right_ones() {
        let error = read::<DataRate>("\"10 ms\"").unwrap_err();
        assert!(error.starts_with("`ms` is no unit of a data rate | write one of `bit/s`"), "{error}");
    }

    #[test]
    fn a_probability_beyond_certainty_is_refused() {
        let error = read::<Probability>("\"120 %\"").unwrap_err();
        assert_eq!(error, "`120 %` is out of range | a probability lies between 0 % and 100 %");
        assert!(read::<Probability>("1.2").is_err() && read::<Probability>("-1").is_err());
        assert_eq!(read("0.01"), Ok(Probability::new(0.01).unwrap()));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(nanos: u64, bits: u64, bytes: u64, text: String, p in 0.0..=1.0_f64) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(read(&duration.write()), Ok(duration));
            let rate = DataRate::from_bits_per_sec(bits);
            prop_assert_eq!(read(&rate.write()), Ok(rate));
            let size = DataSize::from_bytes(bytes);
            prop_assert_eq!(read(&size.write()), Ok(size));
            let probability = Probability::new(p).unwrap();
            prop_assert_eq!(read(&probability.write()), Ok(probability));
            prop_assert_eq!(read(&text.write()), Ok(text.clone()));
            let pair = Pair(text.clone(), text);
            prop_assert_eq!(read(&pair.write()), Ok(pair));
        }
    }
}
