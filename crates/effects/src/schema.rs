//! A JSON Schema without references.

use serde_json::{Map, Value as Json};

/// Reads a schema and writes out each definition wherever something refers to it.
///
/// # Panics
/// If it is no JSON, if a reference leads nowhere or something stands beside it, or if a definition is not used.
pub fn expanded(schema: &str) -> Json {
    let mut schema: Json = serde_json::from_str(schema).expect("a schema is JSON");
    let definitions = schema.as_object_mut().and_then(|object| object.remove("$defs")).unwrap_or_default();
    let mut unused: Vec<&str> =
        definitions.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
    write_out(&mut schema, &definitions, &mut unused);
    assert!(unused.is_empty(), "nothing refers to {unused:?}");
    schema
}

fn write_out(schema: &mut Json, definitions: &Json, unused: &mut Vec<&str>) {
    while let Some(reference) = schema.get("$ref") {
        let name = reference.as_str().and_then(|text| text.strip_prefix("#/$defs/"));
        let definition = name.and_then(|name| definitions.get(name));
        let definition = definition.unwrap_or_else(|| panic!("{reference} leads nowhere"));
        assert_eq!(schema.as_object().map(Map::len), Some(1), "something stands beside {reference}");
        unused.retain(|other| Some(*other) != name);
        *schema = definition.clone();
    }
    match schema {
        Json::Object(object) => object.values_mut().for_each(|inner| write_out(inner, definitions, unused)),
        Json::Array(items) => items.iter_mut().for_each(|inner| write_out(inner, definitions, unused)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reference_becomes_what_it_refers_to_and_so_on() {
        let schema = json!({
            "$defs": { "a": { "items": { "$ref": "#/$defs/b" } }, "b": { "type": "integer" } },
            "properties": { "x": { "$ref": "#/$defs/a" }, "y": { "$ref": "#/$defs/b" } },
        });
        let integers = json!({ "items": { "type": "integer" } });
        let expected = json!({ "properties": { "x": integers, "y": { "type": "integer" } } });
        assert_eq!(expanded(&schema.to_string()), expected);
    }

    #[test]
    #[should_panic(expected = "leads nowhere")]
    fn a_reference_to_nothing_is_found() {
        expanded(r##"{ "items": { "$ref": "#/$defs/a" } }"##);
    }

    #[test]
    #[should_panic(expected = "nothing refers to [\"a\"]")]
    fn a_definition_without_a_use_is_found() {
        expanded(r#"{ "$defs": { "a": {} } }"#);
    }

    #[test]
    #[should_panic(expected = "something stands beside")]
    fn a_word_beside_a_reference_is_found() {
        expanded(r##"{ "$defs": { "a": {} }, "items": { "$ref": "#/$defs/a", "type": "object" } }"##);
    }
}
