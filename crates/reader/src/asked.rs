//! Kinds of a program's own that a file asks for: by a name, or by a table with `kind` and parameters. Which there are,
//! the program knows, and not the reader.

use slantpath_base::{Declaration, OwnParameters, ParameterFault, ParameterValue};

use crate::diagnostic::{Fault, suggest};
use crate::document::{Entries, ValueData, ValueNode};
use crate::value::KeyValue;

/// A kind of a program's own, as a file asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Name of the kind.
    pub kind: String,
    /// Version of the code, if the file has one: a merged form does.
    pub code: Option<String>,
    /// Parameters that are given.
    pub parameters: Vec<(String, ParameterValue)>,
}

impl Asked {
    /// A kind without parameters.
    pub fn plain(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), code: None, parameters: Vec::new() }
    }

    /// Reads a name, or a table with `kind` and parameters.
    pub fn read(node: &ValueNode) -> Result<Self, Fault> {
        let ValueData::Table(entries) = &node.data else { return String::read(node).map(Self::plain) };
        let Some(kind) = entries.get("kind") else {
            let help = "write `kind = …` with its name among the parameters";
            return Err(Fault::new("the table lacks `kind`").help(help));
        };
        Self::of_table(&String::read(&kind.node)?, entries)
    }

    /// Reads the table of a kind, whose other keys are parameters.
    pub fn of_table(kind: &str, entries: &Entries) -> Result<Self, Fault> {
        let code = entries.get("code").map(|entry| String::read(&entry.node)).transpose()?;
        let given = entries.iter().filter(|(key, _)| !Declaration::RESERVED_KEYS.contains(&key.as_str()));
        let parameters = given.map(|(key, entry)| Ok((key.clone(), value(key, &entry.node)?)));
        Ok(Self { kind: kind.to_owned(), code, parameters: parameters.collect::<Result<_, Fault>>()? })
    }

    /// The table without its braces: `kind`, `code` if there is one, and all parameters.
    pub fn keys(declaration: &Declaration, parameters: &OwnParameters) -> Vec<(String, String)> {
        let mut keys = vec![("kind".to_owned(), declaration.name.write())];
        if !declaration.code.is_empty() {
            keys.push(("code".to_owned(), declaration.code.write()));
        }
        keys.extend(parameters.iter().map(|(name, value)| (name.to_owned(), written(value))));
        keys
    }

    /// Canonical TOML of a kind with its parameters, on one line: a name where that says everything.
    pub fn write(declaration: &Declaration, parameters: &OwnParameters) -> String {
        let keys = Self::keys(declaration, parameters);
        if let [(_, kind)] = &keys[..] {
            return kind.clone();
        }
        let keys: Vec<String> = keys.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        format!("{{ {} }}", keys.join(", "))
    }

    /// Says that the code of a kind is another than the one that is asked for, if it is.
    pub fn check_code(&self, declaration: &Declaration) -> Result<(), Fault> {
        match &self.code {
            Some(code) if *code != declaration.code => {
                let message = format!("the code of `{}` is another by now than `{code}`", self.kind);
                let help = "take `code` away to have it as it is now, or bring that code along";
                Err(Fault::new(message).help(help))
            }
            _ => Ok(()),
        }
    }

    /// Fault of parameters that its declaration does not have so.
    pub fn parameter_fault(declaration: &Declaration, fault: &ParameterFault) -> Fault {
        let message = format!("`{}`: {fault}", declaration.name);
        match fault {
            ParameterFault::Unknown { name } => {
                let names: Vec<&str> =
                    declaration.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
                Fault::new(message).help(suggest(name, "its parameters", &names))
            }
            ParameterFault::OfOtherType { name, .. } => {
                let known = declaration.parameters.iter().find(|parameter| parameter.name == *name);
                let like = known.map_or_else(String::new, |parameter| written(&parameter.default));
                Fault::new(message).help(format!("write `{name} = {like}`, with the value you mean"))
            }
        }
    }
}

/// Value of a parameter as TOML.
fn written(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Flag(flag) => flag.to_string(),
        // With a fraction, so that it is read as a number again.
        ParameterValue::Number(number) => format!("{number:?}"),
        ParameterValue::Text(text) => text.write(),
        ParameterValue::Whole(whole) => whole.to_string(),
    }
}

fn value(key: &str, node: &ValueNode) -> Result<ParameterValue, Fault> {
    let wrong = |what: &str| {
        let help = "a parameter is a boolean, a number or a string";
        Err(Fault::new(format!("`{key}` is {what}")).help(help))
    };
    match &node.data {
        ValueData::Boolean(flag) => Ok(ParameterValue::Flag(*flag)),
        ValueData::Float(text) => match text.replace('_', "").parse() {
            Ok(number) if f64::is_finite(number) => Ok(ParameterValue::Number(number)),
            _ => wrong(&format!("`{text}`, which is no finite number")),
        },
        ValueData::Integer(whole) => Ok(ParameterValue::Whole(*whole)),
        ValueData::Text(text) => Ok(ParameterValue::Text(text.clone())),
        ValueData::Array(_) | ValueData::Datetime(_) | ValueData::Table(_) => wrong(node.kind()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    fn asked(text: &str) -> Result<Asked, Fault> {
        let (entries, _) = Document::parse("a.toml", text).entries().unwrap();
        Asked::read(&entries["own"].node)
    }

    fn declaration() -> Declaration {
        let mine = Declaration::new("mine", "").with_code("1f");
        mine.with_parameter("gain", 2.0, "").with_parameter("target", "5 ms", "")
    }

    #[test]
    fn a_kind_is_written_as_it_is_read() {
        let given = asked("own = { kind = \"mine\", target = \"9 \\\" ms\" }").unwrap();
        let parameters = declaration().completed(&given.parameters).unwrap();
        let text = Asked::write(&declaration(), &parameters);
        assert_eq!(text, "{ kind = \"mine\", code = \"1f\", gain = 2.0, target = \"9 \\\" ms\" }");
        let again = asked(&format!("own = {text}")).unwrap();
        assert_eq!(declaration().completed(&again.parameters).unwrap(), parameters);
        assert!(again.check_code(&declaration()).is_ok());
        let plain = Declaration::new("mine", "");
        assert_eq!(Asked::write(&plain, &plain.completed(&[]).unwrap()), "\"mine\"");
        assert!(again.check_code(&plain).is_err(), "its code is another by now");
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        for text in ["[1]", "2026-01-01", "{ a = 1 }", "nan", "inf"] {
            assert!(asked(&format!("own = {{ kind = \"mine\", gain = {text} }}")).is_err(), "{text}");
        }
        assert!(asked("own = { gain = 1 }").is_err());
        assert!(asked("own = 5").is_err());
    }
}
