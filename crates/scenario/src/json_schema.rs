//! The file format as JSON Schema, for editors.

use slantpath_reader::{Written, json_schema as json_schema_of, print_json};

use crate::schema::File;

/// JSON Schema (2020-12) of a scenario file, made from the declarations that read it.
pub fn json_schema() -> String {
    print_json(&json_schema_of::<File<Written>>("Slantpath scenario"))
}
