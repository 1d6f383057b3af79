//! The file formats as JSON Schema, for editors.

use serde_json::json;

use crate::schema::File;
use crate::section::Section;
use crate::sky::schema::SkyFile;

/// JSON Schema (2020-12) of a scenario file, made from the declarations that read it.
pub fn json_schema() -> String {
    schema_of::<File>("Slantpath scenario")
}

/// JSON Schema (2020-12) of a topology file, made from the declarations that read it.
pub fn topology_schema() -> String {
    schema_of::<SkyFile>("Slantpath topology")
}

fn schema_of<S: Section>(title: &str) -> String {
    let mut schema = S::schema();
    if let Some(object) = schema.as_object_mut() {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".to_owned(), json!(title));
    }
    let mut text = serde_json::to_string_pretty(&schema).expect("a tree of texts and numbers is JSON");
    text.push('\n');
    text
}
