//! The file of a sweep as JSON Schema, for editors.

use slantpath_reader::{json, json_schema as json_schema_of, print_json};

use super::grid::File;

/// JSON Schema (2020-12) of a sweep file. Its axes have paths of the scenario for keys, and so no declaration.
pub fn sweep_schema() -> String {
    let mut schema = json_schema_of::<File>("Slantpath sweep");
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
    print_json(&schema)
}
