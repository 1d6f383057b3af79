//! The file format as JSON Schema, for editors.

use slantpath_base::{Declaration, OwnParameter, ParameterValue};
use slantpath_reader::{Json, Section as _, Written, json, json_schema as json_schema_of, print_json};

use crate::own_kinds::OwnKinds;
use crate::schema::File;

/// JSON Schema (2020-12) of a scenario file, made from the declarations that read it.
pub fn json_schema() -> String {
    json_schema_with(&OwnKinds::none())
}

/// JSON Schema of a scenario file that may name the program's own kinds.
pub fn json_schema_with(own: &OwnKinds) -> String {
    let mut schema = json_schema_of::<File<Written>>("Slantpath scenario");
    let controllers: Vec<Json> =
        own.controllers().iter().map(|own| own_kind(own.declaration(), true)).collect();
    if !controllers.is_empty() {
        add_choices(&mut schema, "congestion_control", &controllers);
    }
    let queues: Vec<Json> = own.queues().map(|own| own_kind(own.declaration(), false)).collect();
    if !queues.is_empty() {
        add_choices(&mut schema, "discipline", &queues);
    }
    print_json(&schema)
}

/// Schema of a kind: its name, if that is enough, or a table of its parameters.
fn own_kind(declaration: &Declaration, is_named: bool) -> Json {
    let about = |parameter: &OwnParameter| {
        let (of_type, default) = match &parameter.default {
            ParameterValue::Flag(flag) => ("boolean", json!(flag)),
            ParameterValue::Number(number) => ("number", json!(number)),
            ParameterValue::Text(text) => ("string", json!(text)),
            ParameterValue::Whole(whole) => ("integer", json!(whole)),
        };
        let schema = json!({ "type": of_type, "default": default, "description": parameter.about });
        (parameter.name.clone(), schema)
    };
    let own = [
        ("kind".to_owned(), json!({ "const": declaration.name })),
        ("code".to_owned(), json!({ "type": "string", "description": "Version of its code." })),
    ];
    let keys: Vec<(String, Json)> = own.into_iter().chain(declaration.parameters.iter().map(about)).collect();
    let table = json!({
        "type": "object",
        "description": declaration.about,
        "properties": Json::Object(keys.into_iter().collect()),
        "required": ["kind"],
        "additionalProperties": false,
    });
    if !is_named {
        return table;
    }
    json!({ "anyOf": [{ "const": declaration.name, "description": declaration.about }, table] })
}

/// Adds choices to every key of this name that has a list of them.
fn add_choices(schema: &mut Json, key: &str, choices: &[Json]) {
    match schema {
        Json::Object(object) => {
            for (name, value) in object {
                // What stands in several places is defined once, under the path of the first.
                if (name == key || name.ends_with(&format!(".{key}")))
                    && let Some(Json::Array(all)) = value.get_mut("oneOf")
                {
                    all.extend(choices.iter().cloned());
                } else {
                    add_choices(value, key, choices);
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| add_choices(item, key, choices)),
        _ => {}
    }
}

/// Keys of a scenario file as a schema in which nothing is a reference, for whoever looks through all of them.
pub fn schema_tree() -> Json {
    File::<Written>::schema()
}
