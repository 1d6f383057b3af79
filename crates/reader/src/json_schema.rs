//! A whole file as JSON Schema, for editors.
//!
//! A part that stands in several places, word for word, is written once: below `$defs`, under the path of the first of
//! them. Nothing stands beside a reference to it. JSON Schema would allow a description there; but Taplo, which serves
//! TOML to editors, leaves out all that stands beside a `$ref`.

use core::mem;
use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::section::Section;

/// Length from which on a repeated part is written once, in bytes of JSON without blanks. A reference to it and its
/// name take half as many.
const WORTH_A_REFERENCE: usize = 200;

/// JSON Schema (2020-12) of a file, made from the declarations that read it.
pub fn json_schema<S: Section>(title: &str) -> Json {
    let mut schema = S::schema();
    let mut parts = BTreeMap::new();
    find_parts(&mut schema, "", &mut parts);
    let mut definitions = Map::new();
    refer(&mut schema, &parts, &mut definitions);
    if let Some(object) = schema.as_object_mut() {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".to_owned(), json!(title));
        if !definitions.is_empty() {
            object.insert("$defs".to_owned(), Json::Object(definitions));
        }
    }
    schema
}

/// A schema as the text of a file.
pub fn print_json(schema: &Json) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("a tree of texts and numbers is JSON");
    text.push('\n');
    text
}

/// A part of a schema that is long enough to be referred to.
struct Part {
    /// Path of its first place, as in `links.*.discipline(red).max`.
    path: String,
    is_repeated: bool,
}

/// Notes every long part below a schema by its text. What stands inside a repeated part is noted at its first place
/// alone.
fn find_parts(schema: &mut Json, path: &str, parts: &mut BTreeMap<String, Part>) {
    for (step, inner) in schemas_within(schema) {
        let text = inner.to_string();
        if text.len() < WORTH_A_REFERENCE {
            continue;
        }
        if let Some(part) = parts.get_mut(&text) {
            part.is_repeated = true;
            continue;
        }
        let path = format!("{path}{step}").trim_start_matches('.').to_owned();
        find_parts(inner, &path, parts);
        parts.insert(text, Part { path, is_repeated: false });
    }
}

/// Puts a reference in the place of every repeated part, and the part itself among the definitions.
fn refer(schema: &mut Json, parts: &BTreeMap<String, Part>, definitions: &mut Map<String, Json>) {
    for (_, inner) in schemas_within(schema) {
        let Some(part) = parts.get(&inner.to_string()).filter(|part| part.is_repeated) else {
            refer(inner, parts, definitions);
            continue;
        };
        let mut whole = mem::replace(inner, json!({ "$ref": format!("#/$defs/{}", part.path) }));
        if !definitions.contains_key(&part.path) {
            refer(&mut whole, parts, definitions);
            definitions.insert(part.path.clone(), whole);
        }
    }
}

/// The schemas that a schema is made of, each with the step of the path that leads there.
fn schemas_within(schema: &mut Json) -> Vec<(String, &mut Json)> {
    let mut within = Vec::new();
    for (word, value) in schema.as_object_mut().into_iter().flatten() {
        match (word.as_str(), value) {
            ("properties", Json::Object(keys)) => {
                within.extend(keys.iter_mut().map(|(key, inner)| (format!(".{key}"), inner)));
            }
            ("additionalProperties" | "items", inner @ Json::Object(_)) => {
                within.push((".*".to_owned(), inner));
            }
            ("anyOf" | "oneOf", Json::Array(choices)) => {
                for (index, choice) in choices.iter_mut().enumerate() {
                    let kind = choice.pointer("/properties/kind/const").and_then(Json::as_str);
                    let name = kind.map_or_else(|| index.to_string(), str::to_owned);
                    within.push((format!("({name})"), choice));
                }
            }
            _ => {}
        }
    }
    within
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section;
    use crate::section::{Nested, Setting, Tables};

    section! {
        /// A bulb that shines in one colour, in words that are long enough to be worth a reference.
        struct Bulb {
            /// Colour of its light, such as white.
            colour: Setting<String>;
        }
    }

    section! {
        /// A lamp of a house.
        struct Lamp {
            /// Bulbs of the lamp.
            bulbs: Tables<Bulb>;
        }
    }

    section! {
        /// A house, with a lamp and a spare bulb, and bulbs in a drawer.
        struct House {
            /// Bulbs in the drawer.
            drawer: Tables<Bulb>;
            /// Lamp of the house.
            lamp: Nested<Lamp>;
            /// Bulb that is kept for the lamp.
            spare: Nested<Bulb>;
        }
    }

    #[test]
    fn a_part_that_is_repeated_is_written_once_under_the_path_of_its_first_place() {
        let schema = json_schema::<House>("a house");
        let reference = json!({ "$ref": "#/$defs/drawer.*" });
        assert_eq!(schema["$defs"]["drawer.*"], Bulb::schema());
        assert_eq!(schema["$defs"].as_object().map(Map::len), Some(1));
        assert_eq!(schema["properties"]["drawer"]["additionalProperties"], reference);
        let lamp = &schema["properties"]["lamp"]["properties"];
        assert_eq!(lamp["bulbs"]["additionalProperties"], reference);
    }

    #[test]
    fn a_part_with_a_description_of_its_own_stands_where_it_is() {
        let schema = json_schema::<House>("a house");
        let spare = &schema["properties"]["spare"];
        assert_eq!(spare["description"], "Bulb that is kept for the lamp.");
        assert_eq!(spare["properties"], Bulb::schema()["properties"]);
    }

    #[test]
    fn a_file_that_repeats_nothing_has_no_definitions() {
        assert_eq!(json_schema::<Lamp>("a lamp").get("$defs"), None);
    }
}
