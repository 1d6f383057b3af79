//! One suite of test purposes, as its TOML table says.

use toml::{Table, Value};

/// A suite and where its tests are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Suite {
    /// Of the table, relative to the project's root.
    pub(super) path: String,
    pub(super) name: String,
    pub(super) title: String,
    /// Author of the list, and the part of it that was published.
    pub(super) source: String,
    pub(super) package: String,
    /// The integration test that holds the purposes' tests.
    pub(super) target: String,
    pub(super) purposes: Vec<Purpose>,
}

/// One purpose under its identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Purpose {
    pub(super) id: String,
    pub(super) words: String,
    pub(super) fate: Fate,
}

/// Fate of a purpose: its test, or the reason for which it does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// A test, by its path inside the target.
    Test(String),
    /// Nothing, and why.
    NotApplicable(String),
}

impl Suite {
    pub(super) fn parse(path: &str, text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error| format!("the table is no TOML: {error}"))?;
        let known = ["suite", "title", "source", "package", "target", "purpose"];
        refuse_others(&table, &known)?;
        let purposes =
            table.get("purpose").and_then(Value::as_array).ok_or("the suite has no [[purpose]]")?;
        Ok(Self {
            path: path.to_owned(),
            name: word(&table, "suite")?,
            title: word(&table, "title")?,
            source: word(&table, "source")?,
            package: word(&table, "package")?,
            target: word(&table, "target")?,
            purposes: purposes.iter().map(Purpose::read).collect::<Result<_, _>>()?,
        })
    }

    /// The directory of the crate that the table lies in.
    pub(super) fn crate_directory(&self) -> String {
        self.path.split("/conformance/").next().unwrap_or_default().to_owned()
    }
}

impl Purpose {
    fn read(value: &Value) -> Result<Self, String> {
        let table = value.as_table().ok_or("a purpose is a table: write [[purpose]]")?;
        refuse_others(table, &["id", "purpose", "test", "not_applicable"])?;
        let id = word(table, "id")?;
        let fate = match (table.get("test"), table.get("not_applicable")) {
            (Some(_), None) => Fate::Test(word(table, "test")?),
            (None, Some(_)) => Fate::NotApplicable(word(table, "not_applicable")?),
            _ => return Err(format!("{id} has either `test` or `not_applicable`")),
        };
        Ok(Self { id, words: word(table, "purpose")?, fate })
    }
}

fn refuse_others(table: &Table, known: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("`{key}` is no key here: there are {}", known.join(", "))),
        None => Ok(()),
    }
}

/// A string that must be there and must say something.
fn word(table: &Table, key: &str) -> Result<String, String> {
    let text = table.get(key).and_then(Value::as_str).unwrap_or_default();
    if text.trim().is_empty() { Err(format!("`{key}` is missing or empty")) } else { Ok(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "suite = \"S\"\ntitle = \"T\"\nsource = \"W\"\npackage = \"p\"\ntarget = \"t\"\n[[purpose]]\n";

    fn parse(purpose: &str) -> Result<Suite, String> {
        Suite::parse("crates/a/conformance/s.toml", &format!("{HEAD}{purpose}"))
    }

    #[test]
    fn a_purpose_needs_a_test_or_a_reason_and_not_both() {
        let of = |rest: &str| parse(&format!("id = \"A\"\npurpose = \"does\"\n{rest}\n"));
        assert_eq!(of("test = \"a\"").unwrap().purposes[0].fate, Fate::Test("a".into()));
        assert!(of("").unwrap_err().contains("either"));
        assert!(of("test = \"a\"\nnot_applicable = \"b\"").unwrap_err().contains("either"));
        assert!(of("not_applicable = \" \"").unwrap_err().contains("empty"));
        assert!(of("tset = \"a\"").unwrap_err().contains("`tset`"));
    }

    #[test]
    fn the_crate_is_where_the_table_lies() {
        let suite = parse("id = \"A\"\npurpose = \"does\"\ntest = \"a\"\n").unwrap();
        assert_eq!(suite.crate_directory(), "crates/a");
    }
}
