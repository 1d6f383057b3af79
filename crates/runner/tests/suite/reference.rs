//! `docs/scenario.md` and `docs/topology.md` list every key of their file formats, `docs/tables.md` every column of
//! a run's tables. They are made from the declarations that read the files and fill the tables; these tests make them
//! anew and compare.

use std::fmt::Write;

use serde_json::Value as Json;
use slantpath_effects::expanded;
use slantpath_runner::{TableKind, json_schema};
use slantpath_testkit::page;
use slantpath_topology::{ANSWER_TABLES, AnswerTable, json_schema as topology_schema};

const BEGIN: &str = "<!-- keys of ";
const END: &str = "<!-- end of keys -->";

/// The schema of a table, by the path that the document names it by: `scenario`, `links.<name>`.
fn schema_of(root: &Json, path: &str) -> Json {
    let pointer = match path {
        "links.<name>.access"
        | "links.<name>.arq"
        | "links.<name>.delay_trace"
        | "links.<name>.fade_trace"
        | "links.<name>.forward"
        | "links.<name>.gilbert_elliott"
        | "links.<name>.header_compression"
        | "links.<name>.shaper" => {
            let (_, key) = path.rsplit_once('.').expect("a key of links");
            format!("/properties/links/additionalProperties/properties/{key}")
        }
        "sessions.<name>.admission" | "sessions.<name>.requests" => {
            let (_, key) = path.rsplit_once('.').expect("a key of sessions");
            format!("/properties/sessions/additionalProperties/properties/{key}")
        }
        _ if path.starts_with("links.<name>.conditioners.<rule>") => {
            let pointer =
                "/properties/links/additionalProperties/properties/conditioners/additionalProperties";
            let schema = root.pointer(pointer).expect("rules").clone();
            let Some((_, kind)) = path.split_once(" kind ") else { return schema };
            let kinds = schema["properties"]["meter"]["oneOf"].as_array().expect("meters have kinds");
            let of_kind = |schema: &&Json| schema.pointer("/properties/kind/const") == Some(&kind.into());
            return kinds.iter().find(of_kind).expect("a kind of meter").clone();
        }
        "links.<name>.discipline.classes.<class>" => {
            let drr = schema_of(root, "links.<name>.discipline kind drr");
            return drr["properties"]["classes"]["additionalProperties"].clone();
        }
        "flows.<name>.application.classes.<class>" => {
            let mixed = schema_of(root, "flows.<name>.application kind mixed");
            return mixed["properties"]["classes"]["additionalProperties"].clone();
        }
        "flows.<name>.script[]" => {
            let pointer = "/properties/flows/additionalProperties/properties/script/items";
            return root.pointer(pointer).expect("events of an association").clone();
        }
        "links.<name>.discipline.low" => {
            return schema_of(root, "links.<name>.discipline kind wred")["properties"]["low"].clone();
        }
        "links.<name>.gilbert_elliott.bad" => {
            return schema_of(root, "links.<name>.gilbert_elliott")["properties"]["bad"].clone();
        }
        _ if path.starts_with("sky.") => {
            let (table, nested) =
                path.trim_start_matches("sky.").split_once(".<name>").expect("a table of it");
            let nested = nested.replace('.', "/properties/");
            format!("/properties/sky/properties/{table}/additionalProperties{nested}")
        }
        _ if path.starts_with("signalling.") => {
            let (table, kind) =
                path.split_once(" kind ").map_or((path, None), |(table, kind)| (table, Some(kind)));
            let name = table.trim_start_matches("signalling.");
            let part = name.split(['.', '[']).next().unwrap_or_default();
            let members = if name.ends_with("[]") { "items" } else { "additionalProperties" };
            let pointer = format!("/properties/signalling/properties/{part}/{members}");
            // A table of a member: `signalling.points.<name>.sccp`.
            let nested = name.split_once(">.").filter(|_| kind.is_none()).map(|(_, nested)| nested);
            let pointer = nested.map_or(pointer.clone(), |nested| format!("{pointer}/properties/{nested}"));
            let schema = root.pointer(&pointer).unwrap_or_else(|| panic!("{path}: {pointer}"));
            let Some(kind) = kind else { return schema.clone() };
            let kinds = schema["properties"]["carrier"]["oneOf"].as_array().expect("carriers have kinds");
            let of_kind = |schema: &&Json| schema.pointer("/properties/kind/const") == Some(&kind.into());
            return kinds.iter().find(of_kind).expect("a kind of carrier").clone();
        }
        _ => match path.split_once(['.', '[']) {
            None => format!("/properties/{path}"),
            Some((table, _)) if path.ends_with("[]") => format!("/properties/{table}/items"),
            Some((table, _)) => format!("/properties/{table}/additionalProperties"),
        },
    };
    match path.split_once(" kind ") {
        Some((table, kind)) => {
            let (part, key) = table.split_once(".<name>.").expect("a table of a member");
            let key = key.replace('.', "/properties/");
            let pointer = format!("/properties/{part}/additionalProperties/properties/{key}/oneOf");
            let kinds = root.pointer(&pointer).and_then(Json::as_array).expect("the table has kinds");
            let of_kind = |schema: &&Json| schema.pointer("/properties/kind/const") == Some(&kind.into());
            kinds.iter().find(of_kind).expect("a kind of it").clone()
        }
        None => root.pointer(&pointer).unwrap_or_else(|| panic!("{path}: {pointer}")).clone(),
    }
}

fn value(schema: &Json) -> String {
    let code = |json: &Json| format!("`{json}`");
    if let Some(choices) = schema["oneOf"].as_array().filter(|list| list[0].get("const").is_some()) {
        let choices: Vec<String> = choices.iter().map(|choice| code(&choice["const"])).collect();
        return choices.join(", ");
    }
    if let Some(examples) = schema["examples"].as_array() {
        return examples.iter().map(code).collect::<Vec<_>>().join(", ");
    }
    match schema["type"].as_str() {
        Some("array") => format!("a list of: {}", value(&schema["items"])),
        Some("boolean") => "`true`, `false`".to_owned(),
        Some("integer") => "a whole number".to_owned(),
        Some("object") => "a table".to_owned(),
        Some("string") if schema.get("anyOf").is_some() => "`\"10.0.0.1\"`, `\"fd00::1\"`".to_owned(),
        Some(_) => "a string".to_owned(),
        None if schema.get("anyOf").is_some() => "a whole number, or a list of: a table".to_owned(),
        None => "a table with a `kind`".to_owned(),
    }
}

fn table(schema: &Json) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let mut text = "| key | value | default | meaning |\n|---|---|---|---|\n".to_owned();
    for (key, property) in schema["properties"].as_object().expect("a table has keys") {
        if key == "kind" && property.get("const").is_some() {
            continue;
        }
        let default = match property.get("default") {
            Some(default) => format!("`{default}`"),
            None if required.contains(&key.as_str()) => "required".to_owned(),
            None => "–".to_owned(),
        };
        let mut meaning = property["description"].as_str().unwrap_or_default().to_owned();
        for choice in property["oneOf"].as_array().into_iter().flatten() {
            if let (Some(word), Some(about)) = (choice["const"].as_str(), choice["description"].as_str()) {
                let _ = write!(meaning, " `{word}`: {about}");
            }
        }
        let _ = writeln!(text, "| `{key}` | {} | {default} | {meaning} |", value(property));
    }
    text
}

/// The schema of a table of a topology, by the path that the document names it by.
fn sky_schema_of(root: &Json, path: &str) -> Json {
    let constellation = "/properties/constellations/additionalProperties/properties";
    if let Some((_, kind)) = path.split_once(" kind ") {
        let kinds = root.pointer(&format!("{constellation}/satellites/oneOf")).and_then(Json::as_array);
        let of_kind = |schema: &&Json| schema.pointer("/properties/kind/const") == Some(&kind.into());
        return kinds.and_then(|kinds| kinds.iter().find(of_kind)).expect("a kind of satellites").clone();
    }
    match path {
        "constellations.<name>.isl" => root.pointer(&format!("{constellation}/isl")).expect("links").clone(),
        _ => schema_of(root, path),
    }
}

type SchemaOf = fn(&Json, &str) -> Json;

/// The document with its tables made anew.
fn made_anew(document: &str, schema: &str, schema_of: SchemaOf) -> String {
    let root = expanded(schema);
    let mut text = String::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(text, "{line}");
        let Some(path) = line.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        let _ = writeln!(text, "{}{END}", table(&schema_of(&root, path)));
        lines.by_ref().find(|line| *line == END).expect("the keys end");
    }
    text
}

/// Compares a document with what it would be, or makes it anew. Every part of the file has its keys in it.
fn check(name: &str, schema: &str, schema_of: SchemaOf, parts: &[&str]) {
    let file = format!("docs/{name}");
    let document = std::fs::read_to_string(page::path(&file)).expect("the document is there");
    page::hold(&file, &made_anew(&document, schema, schema_of));
    for part in parts {
        assert!(document.contains(&format!("{BEGIN}{part} -->")), "{part} is missing");
    }
}

#[test]
fn the_reference_lists_every_key_as_the_code_reads_it() {
    let parts = [
        "scenario",
        "nodes.<name>",
        "links.<name>",
        "links.<name>.forward",
        "sctp.<profile>",
        "tcp.<profile>",
        "flows.<name>",
        "script[]",
        "probes",
    ];
    check("scenario.md", &json_schema(), schema_of, &parts);
}

#[test]
fn the_guide_of_topologies_lists_every_key_as_the_code_reads_it() {
    let parts = [
        "topology",
        "constellations.<name>",
        "constellations.<name>.satellites kind preset",
        "constellations.<name>.satellites kind shell",
        "constellations.<name>.satellites kind slots",
        "constellations.<name>.satellites kind elements",
        "constellations.<name>.isl",
        "sites.<name>",
        "ground",
        "paths.<name>",
        "cables[]",
        "outages[]",
        "validity",
        "map",
    ];
    check("topology.md", &topology_schema(), sky_schema_of, &parts);
}

/// Section of a table: its row, when it is there, and its columns.
fn columns_of(kind: TableKind) -> String {
    let mut row = kind.row().to_owned();
    row[..1].make_ascii_lowercase();
    let mut text = format!("\n## {}\n\nEach row is {row} Given {}.", kind.name(), kind.given());
    let keys: Vec<String> = kind.keys().iter().map(|key| format!("`{key}`")).collect();
    if !keys.is_empty() {
        let _ = write!(text, " Keys: {}.", keys.join(", "));
    }
    text.push_str("\n\n| column | cells | unit | meaning |\n|---|---|---|---|\n");
    for column in kind.columns() {
        let unit = match column.unit().symbol() {
            "" => "–",
            symbol => symbol,
        };
        let _ = writeln!(text, "| `{}` | {} | {unit} | {} |", column.name, column.cells, column.meaning);
    }
    text
}

#[test]
fn the_page_of_tables_lists_every_column_as_the_code_declares_it() {
    const BEGIN: &str = "<!-- columns -->\n";
    const END: &str = "<!-- end of columns -->\n";
    let file = "docs/tables.md";
    let page = std::fs::read_to_string(page::path(file)).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("columns begin");
    let (_, after) = rest.split_once(END).expect("columns end");
    let columns: String = TableKind::ALL.iter().map(|kind| columns_of(*kind)).collect();
    page::hold(file, &format!("{before}{BEGIN}{columns}\n{END}{after}"));
}

/// Section of a table of a topology's answer.
fn answer_columns_of(table: &AnswerTable) -> String {
    let mut text = format!(
        "\n### `{}`\n\n{}\n\n| column | cells | unit | meaning |\n|---|---|---|---|\n",
        table.name, table.row
    );
    for column in table.columns {
        let unit = match column.unit().symbol() {
            "" => "–",
            symbol => symbol,
        };
        let _ = writeln!(text, "| `{}` | {} | {unit} | {} |", column.name, column.cells(), column.meaning);
    }
    text
}

#[test]
fn the_guide_of_topologies_lists_every_column_as_the_code_declares_it() {
    const BEGIN: &str = "<!-- columns -->\n";
    const END: &str = "<!-- end of columns -->\n";
    let file = "docs/topology.md";
    let page = std::fs::read_to_string(page::path(file)).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("columns begin");
    let (_, after) = rest.split_once(END).expect("columns end");
    let columns: String = ANSWER_TABLES.iter().map(answer_columns_of).collect();
    page::hold(file, &format!("{before}{BEGIN}{columns}\n{END}{after}"));
}

#[test]
fn every_column_has_a_meaning_in_a_sentence() {
    for kind in TableKind::ALL {
        for column in kind.columns() {
            let (table, name, meaning) = (kind.name(), &column.name, &column.meaning);
            assert!(meaning.split(' ').count() >= 2, "{table}.{name}: {meaning:?}");
            assert!(meaning.ends_with('.'), "{table}.{name}: {meaning:?}");
            assert!(!meaning.contains("  "), "{table}.{name}: {meaning:?}");
        }
    }
}
