//! A whole file as JSON Schema, for editors.

use serde_json::{Value as Json, json};

use crate::section::Section;

/// JSON Schema (2020-12) of a file, made from the declarations that read it.
pub fn json_schema<S: Section>(title: &str) -> Json {
    let mut schema = S::schema();
    if let Some(object) = schema.as_object_mut() {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".to_owned(), json!(title));
    }
    schema
}

/// A schema as the text of a file.
pub fn print_json(schema: &Json) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("a tree of texts and numbers is JSON");
    text.push('\n');
    text
}
