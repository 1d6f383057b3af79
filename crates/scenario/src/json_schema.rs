//! The file format as JSON Schema, for editors.

use serde_json::json;

use crate::schema::File;
use crate::section::Section;

/// JSON Schema (2020-12) of a scenario file, made from the declarations that read it.
pub fn json_schema() -> String {
    let mut schema = File::schema();
    if let Some(object) = schema.as_object_mut() {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".to_owned(), json!("Slantpath scenario"));
    }
    let mut text = serde_json::to_string_pretty(&schema).expect("a tree of texts and numbers is JSON");
    text.push('\n');
    text
}
