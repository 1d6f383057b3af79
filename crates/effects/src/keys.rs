//! Every key of a file, from its JSON Schema, and the key that a setting sets.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::schema::expanded;

/// The keys of a file: `links.*.discipline(codel).target`, `links.*.discipline.kind=codel` for each kind of a
/// table, and `links.*.family=ipv6` for each choice of a value that is one of several.
#[derive(Debug)]
pub struct Keys {
    schema: Json,
}

impl Keys {
    /// Takes the keys of a schema.
    ///
    /// # Panics
    /// If it is no JSON, or a definition is at fault.
    pub fn new(schema: &str) -> Self {
        Self { schema: expanded(schema) }
    }

    /// All of them.
    pub fn all(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        collect(&self.schema, "", &mut all);
        all
    }

    /// The key that `KEY = VALUE` sets, where `kind_at` says the kind of a table that has several.
    pub fn set_by(&self, assignment: &str, kind_at: &dyn Fn(&[&str]) -> Option<String>) -> Option<String> {
        Some(self.find(assignment, kind_at)?.key)
    }

    /// The choices that `KEY = VALUE` compares, as [`Keys::all`] has them: the value, and what stood there before; if
    /// nothing, the default.
    pub fn choices_compared(
        &self,
        assignment: &str,
        kind_at: &dyn Fn(&[&str]) -> Option<String>,
        before: Option<&str>,
    ) -> [Vec<String>; 2] {
        let Some(Found { key, node: Some(node), value }) = self.find(assignment, kind_at) else {
            return Default::default();
        };
        let default = node["default"].as_str();
        let named = |value: &str| -> Vec<String> {
            let words = value.trim_matches(['[', ']']).split(',').map(|word| word.trim().trim_matches('"'));
            let all = choices(node);
            words.filter(|word| all.contains(word)).map(|word| format!("{key}={word}")).collect()
        };
        [named(&value), before.or(default).map(named).unwrap_or_default()]
    }

    fn find(&self, assignment: &str, kind_at: &dyn Fn(&[&str]) -> Option<String>) -> Option<Found<'_>> {
        let (path, value) = assignment.split_once('=')?;
        let segments: Vec<&str> = path.trim().split('.').map(str::trim).collect();
        let (mut node, mut key) = (&self.schema, String::new());
        let kind_found = |key: String, kind: &str| {
            Some(Found { key: format!("{key}.kind={kind}"), node: None, value: String::new() })
        };
        for (depth, &segment) in segments.iter().enumerate() {
            let kind = || kind_at(&segments[..depth]);
            if kinds(node).is_some() && segment == "kind" {
                return kind_found(key, value.trim().trim_matches('"'));
            }
            node = step(node, segment, &kind, &mut key)?;
        }
        // A table with one value sets that value.
        let mut value = value.trim();
        loop {
            if kinds(node).is_some() {
                let (_, kind) = value.split_once("kind = \"")?;
                return kind_found(key, kind.split_once('"')?.0);
            }
            if let Some(inner) = value.strip_prefix('[')
                && node.get("items").is_some_and(is_table)
            {
                node = step(node, "0", &|| None, &mut key)?;
                value = inner.strip_suffix(']')?.trim();
                continue;
            }
            if !is_table(node) {
                return Some(Found { key, node: Some(node), value: value.to_owned() });
            }
            let inner = value.strip_prefix('{')?.strip_suffix('}')?.trim();
            let (name, rest) = inner.split_once('=')?;
            // A name in quotes is one, whatever it holds.
            let whole = name.trim().strip_prefix('"').and_then(|name| name.strip_suffix('"'));
            let segments = whole.map_or_else(|| name.trim().split('.').collect(), |whole| vec![whole]);
            for segment in segments {
                node = step(node, segment, &|| None, &mut key)?;
            }
            value = rest.trim();
        }
    }
}

/// Setting of a row: a key, where the schema has its value, and the value.
struct Found<'a> {
    key: String,
    /// Nothing for the kind of a table.
    node: Option<&'a Json>,
    value: String,
}

/// The words of which a value, or each of a list, is one. Some of the words may have numbers beside them.
fn choices(node: &Json) -> Vec<&str> {
    let own = node["enum"].as_array().into_iter().flatten().filter_map(Json::as_str);
    let several = ["oneOf", "anyOf"].into_iter().filter_map(|key| node[key].as_array()).flatten();
    let others = several.flat_map(|choice| match choice["const"].as_str() {
        Some(word) => vec![word],
        None => choices(choice),
    });
    let of_items = node.get("items").map(choices).unwrap_or_default();
    own.chain(others).chain(of_items).collect()
}

/// The tables of which one stands here, told apart by their `kind`.
fn kinds(node: &Json) -> Option<&Vec<Json>> {
    node["oneOf"].as_array().filter(|kinds| kinds.iter().all(|kind| kind.get("properties").is_some()))
}

fn kind_of(node: &Json) -> &str {
    node["properties"]["kind"]["const"].as_str().expect("a kind has a name")
}

/// The tables that may stand here in place of a plain value.
fn or_tables(node: &Json) -> Option<&Json> {
    node["anyOf"].as_array()?.iter().find(|choice| is_table(choice))
}

/// Tells whether keys stand below it.
fn is_table(node: &Json) -> bool {
    kinds(node).is_some()
        || node.get("properties").is_some()
        || node["additionalProperties"].is_object()
        || node.get("items").is_some_and(is_table)
}

fn step<'a>(
    node: &'a Json,
    segment: &str,
    kind: &dyn Fn() -> Option<String>,
    key: &mut String,
) -> Option<&'a Json> {
    let node = or_tables(node).unwrap_or(node);
    if let Some(kinds) = kinds(node) {
        let has_it = |node: &&Json| node["properties"].get(segment).is_some();
        let table = match kind() {
            Some(kind) => kinds.iter().find(|node| kind_of(node) == kind)?,
            None => kinds.iter().find(has_it)?,
        };
        for part in ["(", kind_of(table), ").", segment] {
            key.push_str(part);
        }
        return table["properties"].get(segment);
    }
    if let Some(properties) = node.get("properties") {
        if !key.is_empty() {
            key.push('.');
        }
        key.push_str(segment);
        return properties.get(segment);
    }
    if node.get("items").is_some() {
        key.push_str("[]");
        return node.get("items");
    }
    key.push_str(".*");
    node.get("additionalProperties").filter(|members| members.is_object())
}

fn collect(node: &Json, path: &str, all: &mut BTreeSet<String>) {
    if let Some(kinds) = kinds(node) {
        for table in kinds {
            all.insert(format!("{path}.kind={}", kind_of(table)));
            for (name, inner) in table["properties"].as_object().into_iter().flatten() {
                if name != "kind" {
                    collect(inner, &format!("{path}({}).{name}", kind_of(table)), all);
                }
            }
        }
    } else if let Some(properties) = node["properties"].as_object() {
        for (name, inner) in properties {
            let dot = if path.is_empty() { "" } else { "." };
            collect(inner, &format!("{path}{dot}{name}"), all);
        }
    } else if node["additionalProperties"].is_object() {
        collect(&node["additionalProperties"], &format!("{path}.*"), all);
    } else if node.get("items").is_some_and(is_table) {
        collect(&node["items"], &format!("{path}[]"), all);
    } else {
        all.insert(path.to_owned());
        all.extend(choices(node).into_iter().map(|choice| format!("{path}={choice}")));
        if let Some(tables) = or_tables(node) {
            collect(tables, path, all);
        }
    }
}
