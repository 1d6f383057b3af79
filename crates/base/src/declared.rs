//! Declarations of what a program brings along itself, such as a congestion controller or a queue of one's own: its
//! name in files, and its parameters with their defaults.

use core::fmt;

/// Value of a parameter in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// True or false.
    Flag(bool),
    /// Number with a fraction.
    Number(f64),
    /// String, such as a quantity with its unit.
    Text(String),
    /// Whole number, which a fraction is not.
    Whole(i64),
}

impl ParameterValue {
    /// Name of its type, with the article.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Flag(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::Whole(_) => "a whole number",
        }
    }

    /// The value in the type of a parameter's default, if it has that type. A whole number is a number, too.
    fn like(&self, default: &Self) -> Option<Self> {
        match (self, default) {
            (Self::Flag(_), Self::Flag(_))
            | (Self::Number(_), Self::Number(_))
            | (Self::Text(_), Self::Text(_))
            | (Self::Whole(_), Self::Whole(_)) => Some(self.clone()),
            (Self::Whole(whole), Self::Number(_)) => Some(Self::Number(*whole as f64)),
            _ => None,
        }
    }
}

impl From<bool> for ParameterValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<f64> for ParameterValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<i64> for ParameterValue {
    fn from(whole: i64) -> Self {
        Self::Whole(whole)
    }
}

impl From<&str> for ParameterValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Name, words and parameters by which a file chooses something.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Name in files.
    pub name: String,
    /// Sentence that explains it there.
    pub about: String,
    /// Version of its code, such as a hash of its source: what was kept of one is not used for another. It stands in
    /// the merged form of a file, unless it is empty.
    pub code: String,
    /// Parameters that a file may give, in the order of the merged form.
    pub parameters: Vec<OwnParameter>,
}

/// A parameter that a file may give.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnParameter {
    /// Key of it.
    pub name: String,
    /// Sentence that explains it.
    pub about: String,
    /// Value that it has if the file gives none, which also says its type.
    pub default: ParameterValue,
}

/// Why the parameters that a file gives are none of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterFault {
    /// No parameter has this name.
    Unknown {
        /// Name that was given.
        name: String,
    },
    /// The value is of another type.
    OfOtherType {
        /// Name of the parameter.
        name: String,
        /// Type that is given.
        given: &'static str,
        /// Type that is wanted.
        wanted: &'static str,
    },
}

impl Declaration {
    /// Keys of every kind, which no parameter has.
    pub const RESERVED_KEYS: [&str; 2] = ["kind", "code"];

    /// A declaration without parameters.
    pub fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        Self { name: name.into(), about: about.into(), code: String::new(), parameters: Vec::new() }
    }

    /// Has files give a parameter, whose default says its type.
    ///
    /// # Panics
    /// If it [cannot be declared](Self::refusal).
    #[must_use]
    pub fn with_parameter(
        mut self,
        name: impl Into<String>,
        default: impl Into<ParameterValue>,
        about: impl Into<String>,
    ) -> Self {
        let (name, about, default) = (name.into(), about.into(), default.into());
        if let Some(refusal) = self.refusal(&name, &default) {
            panic!("`{}`: {refusal}", self.name);
        }
        self.parameters.push(OwnParameter { name, about, default });
        self
    }

    /// Names the version of the code, which stands in merged files: results of another are not used for this one.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = code.into();
        self
    }

    /// Reason for which a parameter cannot be declared: a merged file would not be read as it is written.
    pub fn refusal(&self, name: &str, default: &ParameterValue) -> Option<String> {
        let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if name.is_empty() || !name.bytes().all(is_bare) {
            return Some(format!("`{name}` is no name of a parameter: write letters, digits, `-` and `_`"));
        }
        if Self::RESERVED_KEYS.contains(&name) {
            return Some(format!("a parameter cannot be called `{name}`, as every kind has that key"));
        }
        if self.parameters.iter().any(|known| known.name == name) {
            return Some(format!("there is a parameter `{name}` already"));
        }
        match default {
            ParameterValue::Number(number) if !number.is_finite() => {
                Some(format!("parameter `{name}` is {number}; write a finite number"))
            }
            _ => None,
        }
    }

    /// All parameters, those that are not given by their defaults.
    pub fn completed(&self, given: &[(String, ParameterValue)]) -> Result<OwnParameters, ParameterFault> {
        if let Some((name, _)) =
            given.iter().find(|(name, _)| !self.parameters.iter().any(|known| known.name == *name))
        {
            return Err(ParameterFault::Unknown { name: name.clone() });
        }
        let value = |parameter: &OwnParameter| {
            let OwnParameter { name, default, .. } = parameter;
            let Some((_, value)) = given.iter().find(|(given, _)| given == name) else {
                return Ok((name.clone(), default.clone()));
            };
            let value = value.like(default).ok_or_else(|| ParameterFault::OfOtherType {
                name: name.clone(),
                given: value.kind(),
                wanted: default.kind(),
            })?;
            Ok((name.clone(), value))
        };
        self.parameters.iter().map(value).collect::<Result<_, _>>().map(OwnParameters)
    }
}

/// Values of all parameters of a declaration, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnParameters(Vec<(String, ParameterValue)>);

impl OwnParameters {
    /// Every name with its value.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &ParameterValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The value of a parameter that is declared with a boolean.
    ///
    /// # Panics
    /// If none is.
    pub fn flag(&self, name: &str) -> bool {
        match self.value(name) {
            ParameterValue::Flag(flag) => *flag,
            other => panic!("`{name}` is declared as {}", other.kind()),
        }
    }

    /// The value of a parameter that is declared with a number, whole or not.
    ///
    /// # Panics
    /// If none is.
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            ParameterValue::Number(number) => *number,
            ParameterValue::Whole(whole) => *whole as f64,
            other => panic!("`{name}` is declared as {}", other.kind()),
        }
    }

    /// The value of a parameter that is declared with a whole number.
    ///
    /// # Panics
    /// If none is.
    pub fn whole(&self, name: &str) -> i64 {
        match self.value(name) {
            ParameterValue::Whole(whole) => *whole,
            other => panic!("`{name}` is declared as {}", other.kind()),
        }
    }

    /// The value of a parameter that is declared with a string.
    ///
    /// # Panics
    /// If none is.
    pub fn text(&self, name: &str) -> &str {
        match self.value(name) {
            ParameterValue::Text(text) => text,
            other => panic!("`{name}` is declared as {}", other.kind()),
        }
    }

    fn value(&self, name: &str) -> &ParameterValue {
        let found = self.0.iter().find(|(known, _)| known == name);
        &found.unwrap_or_else(|| panic!("no parameter `{name}` is declared")).1
    }
}

impl fmt::Display for ParameterFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => write!(f, "there is no parameter `{name}`"),
            Self::OfOtherType { name, given, wanted } => write!(f, "`{name}` is {wanted}, not {given}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declaration() -> Declaration {
        Declaration::new("mine", "Of mine.")
            .with_parameter("gain", 0.5, "")
            .with_parameter("rounds", 3, "")
            .with_parameter("probes", true, "")
            .with_parameter("target", "5 ms", "")
    }

    #[test]
    fn a_parameter_that_no_merged_file_could_have_is_refused() {
        let refusal = |name: &str, default: f64| declaration().refusal(name, &default.into());
        assert_eq!(refusal("max-gain_2", 1.0), None);
        for (name, default, reason) in [
            ("", 1.0, "is no name"),
            ("a b", 1.0, "is no name"),
            ("größe", 1.0, "is no name"),
            ("kind", 1.0, "every kind has"),
            ("code", 1.0, "every kind has"),
            ("gain", 1.0, "already"),
            ("most", f64::INFINITY, "finite"),
            ("most", f64::NAN, "finite"),
        ] {
            let refused = refusal(name, default).unwrap_or_default();
            assert!(refused.contains(reason), "{name}: {refused}");
        }
    }

    #[test]
    #[should_panic(expected = "`mine`: there is a parameter `gain` already")]
    fn a_parameter_is_declared_once() {
        let _ = declaration().with_parameter("gain", 1.0, "");
    }

    #[test]
    fn parameters_that_are_not_given_have_their_defaults() {
        let all = declaration().completed(&[("gain".into(), 2.into()), ("target".into(), "9 ms".into())]);
        let all = all.unwrap();
        assert_eq!((all.number("gain"), all.whole("rounds"), all.number("rounds")), (2.0, 3, 3.0));
        assert_eq!((all.flag("probes"), all.text("target")), (true, "9 ms"));
        assert!(all.iter().map(|(name, _)| name).eq(["gain", "rounds", "probes", "target"]));
    }

    #[test]
    fn parameters_of_other_names_or_types_are_refused() {
        let fault =
            |name: &str, value| declaration().completed(&[(name.into(), value)]).unwrap_err().to_string();
        assert_eq!(fault("gian", 1.into()), "there is no parameter `gian`");
        assert_eq!(fault("rounds", 1.5.into()), "`rounds` is a whole number, not a number");
        assert_eq!(fault("probes", "yes".into()), "`probes` is a boolean, not a string");
    }
}
