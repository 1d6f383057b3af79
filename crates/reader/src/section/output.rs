//! The merged form and the JSON Schema of a table in the making.

use serde_json::{Map, Value as Json, json};

use super::{AtMost, Origin, Setting, UpperBound, join};
use crate::value::KeyValue;

/// The merged form of a table, to be printed.
#[derive(Debug, Default)]
pub struct MergedOutput {
    values: Vec<(String, String, Origin)>,
    tables: Vec<(String, MergedOutput)>,
    items: Vec<(String, MergedOutput)>,
}

/// Value that a file has, as JSON. Most are written alike in both; a table on one line is not.
fn json_of(text: &str) -> Json {
    let as_toml = || {
        let mut table: Map<String, Json> = toml::from_str(&format!("value = {text}")).ok()?;
        table.remove("value")
    };
    text.parse().ok().or_else(as_toml).unwrap_or_else(|| Json::String(text.to_owned()))
}

impl MergedOutput {
    /// Writes a key with its value.
    pub fn value<T: KeyValue>(&mut self, name: &str, setting: &Setting<T>) {
        self.values.push((name.to_owned(), setting.value.write(), setting.origin));
    }

    /// Writes a key with a value that is no setting.
    pub fn plain<T: KeyValue>(&mut self, name: &str, value: &T) {
        self.values.push((name.to_owned(), value.write(), Origin::Given));
    }

    /// Writes a key with a value that is TOML already.
    pub fn written(&mut self, name: &str, value: String) {
        self.values.push((name.to_owned(), value, Origin::Given));
    }

    /// Writes a table: returns where its keys go.
    pub fn table(&mut self, name: &str) -> &mut Self {
        self.tables.push((name.to_owned(), Self::default()));
        &mut self.tables.last_mut().expect("one was pushed").1
    }

    pub(super) fn item(&mut self, name: &str) -> &mut Self {
        self.items.push((name.to_owned(), Self::default()));
        &mut self.items.last_mut().expect("one was pushed").1
    }

    /// The values of the table itself as JSON, by their names: quantities are the texts that a file has.
    pub fn json(&self) -> Map<String, Json> {
        self.values.iter().map(|(name, text, _)| (name.clone(), json_of(text))).collect()
    }

    /// TOML text; with a comment after each value that nobody wrote, if `with_origins`.
    pub fn print(&self, with_origins: bool) -> String {
        let mut text = String::new();
        self.print_into("", with_origins, &mut text);
        text
    }

    fn print_into(&self, path: &str, with_origins: bool, text: &mut String) {
        for (name, value, origin) in &self.values {
            text.extend([name, " = ", value]);
            match origin {
                Origin::Default if with_origins => text.push_str("  # default"),
                Origin::Derived(how) if with_origins => text.extend(["  # ", how]),
                _ => {}
            }
            text.push('\n');
        }
        let parts = self.tables.iter().map(|part| (part, "[", "]"));
        for ((name, part), open, close) in parts.chain(self.items.iter().map(|part| (part, "[[", "]]"))) {
            let path = join(path, name);
            if !part.values.is_empty() || open == "[[" {
                let blank = if text.is_empty() { "" } else { "\n" };
                text.extend([blank, open, &path, close, "\n"]);
            }
            part.print_into(&path, with_origins, text);
        }
    }
}

/// The JSON Schema of a table in the making.
#[derive(Debug, Default)]
pub struct ObjectSchema {
    properties: Map<String, Json>,
    pub(super) required: Vec<&'static str>,
}

impl ObjectSchema {
    pub(super) fn property(&mut self, name: &str, mut schema: Json, doc: &str) {
        if let Some(object) = schema.as_object_mut() {
            object.insert("description".to_owned(), json!(doc));
        }
        self.properties.insert(name.to_owned(), schema);
    }

    /// Adds a key that has a default.
    pub fn property_with_default<T: KeyValue>(&mut self, name: &str, default: &T, doc: &str) {
        let mut schema = T::schema();
        if let (Some(object), Ok(value)) = (schema.as_object_mut(), default.write().parse::<Json>()) {
            object.insert("default".to_owned(), value);
        }
        self.property(name, schema, doc);
    }

    /// Bounds a property that is there already.
    pub fn at_most<L: UpperBound>(&mut self, name: &str, bound: &AtMost<L>) {
        if let Some(schema) = self.properties.get_mut(name) {
            super::bound::describe(schema, bound);
        }
    }

    /// Adds the key `kind` with the one value that this table has.
    pub fn tag(&mut self, kind: &str) {
        self.properties.insert("kind".to_owned(), json!({ "const": kind }));
        self.required.push("kind");
    }

    /// Gives the schema of the whole table, with `about` as its description.
    pub fn finish(self, about: &str) -> Json {
        json!({
            "type": "object",
            "description": about,
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": false,
        })
    }
}

/// The lines of a doc comment as one text.
pub fn joined(lines: &[&str]) -> String {
    lines
        .iter()
        .map(|line| line.trim())
        .collect::<Vec<_>>()
        .join(" ")
        .replace(['[', ']'], "")
        .trim()
        .to_owned()
}
