//! The file format as JSON Schema, for editors.

use slantpath_reader::{Json, Section as _, Written, json_schema as json_schema_of, print_json};

use crate::schema::File;

/// JSON Schema (2020-12) of a scenario file, made from the declarations that read it.
pub fn json_schema() -> String {
    print_json(&json_schema_of::<File<Written>>("Slantpath scenario"))
}

/// Keys of a scenario file as a schema in which nothing is a reference, for whoever looks through all of them.
pub fn schema_tree() -> Json {
    File::<Written>::schema()
}
