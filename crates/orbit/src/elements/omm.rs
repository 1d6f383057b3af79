//! Orbit mean-elements messages (CCSDS 502.0-B) as the catalogues serve them: JSON and CSV with the same
//! keys.

use serde_json::{Map, Value};
use slantpath_base::Angle;

use super::{ElementError, ElementFault, ElementSet, ElementSource};

/// Reads a JSON array of messages, or a single one; the first fault ends it. Numbers may be written as strings.
pub fn read_json(text: &str, file: &str) -> Result<Vec<ElementSet>, ElementError> {
    read_json_each(text, file)?.into_iter().collect()
}

/// As [`read_json`], each message or what is wrong with it. An error is one of the whole file.
pub fn read_json_each(text: &str, file: &str) -> Result<Vec<Result<ElementSet, ElementError>>, ElementError> {
    let root: Value = serde_json::from_str(text).map_err(|error| ElementError {
        file: file.to_owned(),
        line: error.line(),
        object: "the file".to_owned(),
        fault: ElementFault::Syntax(format!("not JSON: {error}")),
    })?;
    let objects = match root {
        Value::Array(items) => items,
        single => vec![single],
    };
    let lines = lines_of_objects(text);
    let sets = objects
        .into_iter()
        .enumerate()
        .map(|(index, object)| {
            let line = lines.get(index).copied().unwrap_or(1);
            let Value::Object(map) = object else {
                return Err(ElementError {
                    file: file.to_owned(),
                    line,
                    object: format!("entry {}", index + 1),
                    fault: ElementFault::Syntax("an entry of the array is no message".to_owned()),
                });
            };
            from_keys(&|key| text_of(&map, key), &ElementSource { file: file.to_owned(), line })
        })
        .collect();
    Ok(sets)
}

/// Reads CSV whose first line names the columns; the first fault ends it.
pub fn read_csv(text: &str, file: &str) -> Result<Vec<ElementSet>, ElementError> {
    read_csv_each(text, file).into_iter().collect()
}

/// As [`read_csv`], each row or what is wrong with it.
pub fn read_csv_each(text: &str, file: &str) -> Vec<Result<ElementSet, ElementError>> {
    let mut rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((_, heading)) = rows.next() else { return Vec::new() };
    let columns: Vec<String> =
        split_row(heading).into_iter().map(|column| column.trim().to_ascii_uppercase()).collect();
    rows.map(|(index, row)| {
        let source = ElementSource { file: file.to_owned(), line: index + 1 };
        let cells = split_row(row);
        if cells.len() != columns.len() {
            return Err(ElementError {
                file: source.file,
                line: source.line,
                object: cells.first().cloned().unwrap_or_default(),
                fault: ElementFault::Syntax(format!(
                    "{} columns where the heading has {}: the row is cut or a quote is open",
                    cells.len(),
                    columns.len()
                )),
            });
        }
        let find = |key: &str| {
            let at = columns.iter().position(|column| column == key)?;
            let cell = cells[at].trim();
            (!cell.is_empty()).then(|| cell.to_owned())
        };
        from_keys(&find, &source)
    })
    .collect()
}

fn from_keys(
    find: &dyn Fn(&str) -> Option<String>,
    source: &ElementSource,
) -> Result<ElementSet, ElementError> {
    let object = find("OBJECT_NAME").or_else(|| find("NORAD_CAT_ID")).unwrap_or_else(|| "unnamed".to_owned());
    let fail =
        |fault| ElementError { file: source.file.clone(), line: source.line, object: object.clone(), fault };
    let required = |key: &'static str| find(key).ok_or_else(|| fail(ElementFault::Missing(key)));
    let number = |key: &'static str| {
        let text = required(key)?;
        let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| fail(ElementFault::Field { field: key, text, expected: "a number" }))
    };
    let is_known =
        |theory: &String| ["SGP4", "SGP/SGP4"].iter().any(|known| theory.eq_ignore_ascii_case(known));
    if let Some(theory) = find("MEAN_ELEMENT_THEORY").filter(|theory| !is_known(theory)) {
        return Err(fail(ElementFault::Theory(theory)));
    }
    let epoch_text = required("EPOCH")?;
    let epoch = epoch_text.parse().map_err(|_| {
        let expected = "a date such as 2025-01-31T12:00:00.123456 or 2025-031T12:00:00.123456";
        fail(ElementFault::Field { field: "EPOCH", text: epoch_text.clone(), expected })
    })?;
    let number_text = required("NORAD_CAT_ID")?;
    let catalogue_number = number_text.trim().parse().map_err(|_| {
        let expected = "a whole number";
        fail(ElementFault::Field { field: "NORAD_CAT_ID", text: number_text.clone(), expected })
    })?;
    let optional = |key: &'static str| if find(key).is_some() { number(key) } else { Ok(0.0) };
    let degrees = |key| number(key).map(Angle::from_degrees);
    let set = ElementSet {
        name: object.clone(),
        catalogue_number,
        designator: find("OBJECT_ID").unwrap_or_default(),
        epoch,
        inclination: degrees("INCLINATION")?,
        right_ascension: degrees("RA_OF_ASC_NODE")?,
        eccentricity: number("ECCENTRICITY")?,
        argument_of_perigee: degrees("ARG_OF_PERICENTER")?,
        mean_anomaly: degrees("MEAN_ANOMALY")?,
        mean_motion_rev_per_day: number("MEAN_MOTION")?,
        bstar: optional("BSTAR")?,
        mean_motion_dot: optional("MEAN_MOTION_DOT")?,
        source: source.clone(),
    };
    set.check()
}

fn text_of(map: &Map<String, Value>, key: &str) -> Option<String> {
    match map.get(key)? {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(_) | Value::Bool(_) | Value::Null | Value::Object(_) => None,
    }
}

/// The line on which each outermost object begins, so that an error can point at it.
fn lines_of_objects(text: &str) -> Vec<usize> {
    let (mut lines, mut line, mut depth) = (Vec::new(), 1, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            b'\n' => line += 1,
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => {
                if depth == 0 {
                    lines.push(line);
                }
                depth += 1;
            }
            b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    lines
}

fn split_row(row: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = row.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(core::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const JSON: &str = r#"[
 {"OBJECT_NAME":"IRIDIUM 106","OBJECT_ID":"2017-003A","EPOCH":"2025-01-23T18:50:50.134272",
  "MEAN_MOTION":14.34218886,"ECCENTRICITY":".0002378","INCLINATION":86.3984,"RA_OF_ASC_NODE":301.3967,
  "ARG_OF_PERICENTER":90.4613,"MEAN_ANOMALY":269.6855,"NORAD_CAT_ID":"41917",
  "BSTAR":6.5843e-5,"MEAN_MOTION_DOT":2.04e-6}
]"#;
    const CSV: &str = "OBJECT_NAME,OBJECT_ID,EPOCH,MEAN_MOTION,ECCENTRICITY,\
        INCLINATION,RA_OF_ASC_NODE,ARG_OF_PERICENTER,MEAN_ANOMALY,NORAD_CAT_ID,BSTAR,MEAN_MOTION_DOT\n\
        IRIDIUM 106,2017-003A,2025-01-23T18:50:50.134272,14.34218886,.0002378,\
        86.3984,301.3967,90.4613,269.6855,41917,6.5843e-5,2.04e-6\n";

    #[test]
    fn json_csv_and_two_lines_say_the_same() {
        let json = read_json(JSON, "a").unwrap().remove(0);
        let csv = read_csv(CSV, "a").unwrap().remove(0);
        assert_eq!(json.source.line, 2);
        assert_eq!(
            ElementSet { source: ElementSource::default(), ..json.clone() },
            ElementSet { source: ElementSource::default(), ..csv }
        );
        let lines = "IRIDIUM 106\n\
            1 41917U 17003A   25023.78530248  .00000204  00000+0  65843-4 0  9997\n\
            2 41917  86.3984 301.3967 0002378  90.4613 269.6855 14.34218886420196";
        let tle =
            crate::elements::tle::read(lines, "a", crate::elements::Checksums::Verify).unwrap().remove(0);
        assert!(tle.epoch.seconds_since(json.epoch).abs() < 1e-3);
        assert_eq!((tle.bstar, tle.eccentricity), (json.bstar, json.eccentricity));
    }

    #[test]
    fn a_message_without_a_needed_key_names_line_and_object() {
        let error = read_json(&JSON.replace("\"EPOCH\"", "\"EPOC\""), "iridium.json").unwrap_err();
        assert_eq!(
            error.to_string(),
            "iridium.json:2: IRIDIUM 106: EPOCH is missing: export the message with all mean elements"
        );
        assert!(read_json(&JSON.replace("14.34218886", "\"fast\""), "a").is_err());
        assert!(
            read_json(&JSON.replace("\"BSTAR\"", "\"MEAN_ELEMENT_THEORY\":\"DSST\",\"BSTAR\""), "a").is_err()
        );
        assert!(read_json("[1]", "a").is_err());
        assert!(read_csv(&CSV.replace(",41917", ""), "a").is_err());
    }

    proptest! {
        #[test]
        fn reading_any_text_is_total(text in "\\PC{0,200}") {
            let _ = read_json(&text, "x");
            let _ = read_csv(&text, "x");
        }

        #[test]
        fn a_damaged_message_never_panics(at in 0..300_usize, byte in 0x20..0x7f_u8) {
            let mut text = JSON.as_bytes().to_vec();
            text[at] = byte;
            let _ = read_json(&String::from_utf8(text).unwrap(), "x");
        }
    }
}
