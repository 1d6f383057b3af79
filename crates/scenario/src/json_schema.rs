//! The file formats as JSON Schema, for editors.

use serde_json::{Value as Json, json};

use crate::schema::File;
use crate::section::Section;
use crate::sky::schema::SkyFile;
use crate::sweep::SweepFile;

/// JSON Schema (2020-12) of a scenario file, made from the declarations that read it.
pub fn json_schema() -> String {
    printed(&schema_of::<File>("Slantpath scenario"))
}

/// JSON Schema (2020-12) of a topology file, made from the declarations that read it.
pub fn topology_schema() -> String {
    printed(&schema_of::<SkyFile>("Slantpath topology"))
}

/// JSON Schema (2020-12) of a sweep file. Its axes have paths of the scenario for keys, and so no declaration.
pub fn sweep_schema() -> String {
    let mut schema = schema_of::<SweepFile>("Slantpath sweep");
    let values = json!({
        "type": "array",
        "minItems": 1,
        "description": "The values that the path takes in turn, each as the scenario has it.",
    });
    let axis = json!({
        "type": "object",
        "minProperties": 1,
        "propertyNames": { "pattern": "^[^.\\s]+(\\.[^.\\s]+)+$" },
        "additionalProperties": values,
        "description": "Paths that change together, such as links.satellite.loss or script.0.at, each with its values.",
    });
    let axes = json!({ "type": "array", "items": axis, "description": "What is varied; axes are crossed." });
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.insert("axis".to_owned(), axes);
    }
    printed(&schema)
}

fn schema_of<S: Section>(title: &str) -> Json {
    let mut schema = S::schema();
    if let Some(object) = schema.as_object_mut() {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".to_owned(), json!(title));
    }
    schema
}

fn printed(schema: &Json) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("a tree of texts and numbers is JSON");
    text.push('\n');
    text
}
