//! Sections of one key: what stands behind the key is read, written and described as its kind asks.

use serde_json::json;

use super::*;
use crate::document::Document;
use crate::{Resolved, section};

section! {
    /// A lamp with a colour.
    struct Lamp {
        /// Colour of its light.
        colour: Setting<String> = "white".to_owned();
    }
}

section! {
    /// A house with lamps that have names.
    struct House {
        /// Lamps of the house.
        lamps: Tables<Lamp>;
    }
}

section! {
    /// A mast with lamps that are counted.
    struct Mast {
        /// Lamps of the mast.
        lamps: Counted<Lamp>;
    }
}

section! {
    /// A post with one lamp.
    struct Post {
        /// Lamp of the post.
        lamp: Part<Lamp>;
    }
}

section! {
    /// A torch that once had a cord.
    struct Torch {
        /// Colour of its light.
        colour: Setting<String> = "white".to_owned();
    }
    refuses "concerns cords, which no torch has": plug, cord_length;
}

section! {
    /// A bulb whose power may be left to the lantern.
    struct Bulb<S> {
        /// Power that it takes.
        watts: Later<S, Setting<u8>>;
        /// Colour of its light.
        colour: Option<Setting<String>>;
        /// Position in the lantern, from above.
        position: Later<S, Resolved<usize>>;
    }
}

section! {
    /// A lantern of several bulbs.
    struct Lantern<S> {
        /// Power of each bulb that does not say its own.
        watts: Spent<S, Option<Setting<u8>>>;
        /// Bulbs by their names.
        bulbs: Tables<Bulb<S>>;
    }
}

/// Reads a section from a string, or gives its faults.
fn read<S: Section>(text: &str) -> Result<S, String> {
    let (entries, mut faults) = Document::parse("f.toml", text).entries().unwrap();
    let read = S::read_root(&entries, "a file", &mut faults);
    faults.into_result().map_err(|faults| faults.to_string())?;
    Ok(read.expect("nothing is at fault").0)
}

fn merged(section: &impl WriteFields) -> String {
    let mut output = MergedOutput::default();
    section.write_fields(&mut output);
    output.print(false)
}

fn colours(lamps: &[Named<Lamp>]) -> Vec<&str> {
    lamps.iter().map(|lamp| lamp.colour.as_str()).collect()
}

#[test]
fn tables_are_read_by_name_and_written_back_in_alphabetical_order() {
    let house: House = read("[lamps.porch]\ncolour = \"red\"\n[lamps.hall]\n").unwrap();
    let found: Vec<(&str, &str)> =
        house.lamps.iter().map(|(name, lamp)| (name, lamp.colour.as_str())).collect();
    assert_eq!(found, [("hall", "white"), ("porch", "red")]);
    assert_eq!(merged(&house), "[lamps.hall]\ncolour = \"white\"\n\n[lamps.porch]\ncolour = \"red\"\n");
}

#[test]
fn tables_that_are_absent_are_none_and_those_that_are_no_table_are_not_known() {
    let house: House = read("").unwrap();
    assert!(house.lamps.is_empty() && house.lamps.all_whole());
    let (entries, mut faults) = Document::parse("f.toml", "lamps = 3\n").entries().unwrap();
    let (house, _) = House::read_root(&entries, "a file", &mut faults).unwrap();
    assert!(!house.lamps.is_empty() && !house.lamps.all_whole());
    assert!(matches!(house.lamps.lookup("hall"), Lookup::Broken));
    let text = faults.into_result().unwrap_err().to_string();
    assert_eq!(text, "f.toml:1:9: `lamps` is a number\n  help: it is a table: begin it with `[lamps]`");
}

#[test]
fn a_table_whose_name_is_none_is_at_fault_however_right_it_is() {
    let (entries, mut faults) =
        Document::parse("f.toml", "[lamps.\"a b\"]\n[lamps.hall]\n").entries().unwrap();
    let (house, _) = House::read_root(&entries, "a file", &mut faults).unwrap();
    assert!(matches!(house.lamps.lookup("a b"), Lookup::Broken));
    assert!(matches!(house.lamps.lookup("hall"), Lookup::Found(_)));
    let text = faults.into_result().unwrap_err().to_string();
    let help = "names are made of the letters a-z and A-Z, digits, `-` and `_`";
    assert_eq!(text, format!("f.toml:1:8: `a b` is no name\n  help: {help}"));
}

#[test]
fn a_number_in_place_of_a_list_counts_tables_in_which_nothing_is_said() {
    let mast: Mast = read("lamps = 2\n").unwrap();
    assert_eq!(colours(&mast.lamps), ["white", "white"]);
    let text = "[[lamps]]\ncolour = \"white\"\n\n[[lamps]]\ncolour = \"white\"\n";
    assert_eq!(merged(&mast), text);
    assert_eq!(read::<Mast>(text).unwrap().lamps.len(), 2);
    assert_eq!(colours(&read::<Mast>("[[lamps]]\ncolour = \"red\"\n").unwrap().lamps), ["red"]);
    assert_eq!(read::<Mast>("").unwrap().lamps.len(), 0);
}

#[test]
fn tables_are_counted_from_one_to_a_thousand() {
    assert_eq!(read::<Mast>("lamps = 1\n").unwrap().lamps.len(), 1);
    assert_eq!(read::<Mast>("lamps = 1000\n").unwrap().lamps.len(), 1_000);
    for count in [-1, 0, 1_001] {
        let fault = format!(
            "f.toml:1:9: `lamps` is {count}\n  help: give a number from 1 to 1000, or tables `[[lamps]]`"
        );
        assert_eq!(read::<Mast>(&format!("lamps = {count}\n")), Err(fault));
    }
}

#[test]
fn a_list_of_no_tables_is_refused_where_tables_are_counted() {
    let fault = "f.toml:1:9: `lamps` is empty\n  help: give a number from 1 to 1000, or tables `[[lamps]]`";
    assert_eq!(read::<Mast>("lamps = []\n"), Err(fault.to_owned()));
}

#[test]
fn an_editor_is_told_that_tables_may_be_counted() {
    let count = json!({ "type": "integer", "minimum": 1, "maximum": 1_000 });
    let list = json!({ "type": "array", "items": Lamp::schema(), "minItems": 1 });
    let schema = Mast::schema();
    assert_eq!(schema["properties"]["lamps"]["anyOf"], json!([count, list]));
    assert_eq!(schema["required"], json!([]));
}

#[test]
fn a_part_is_taken_out_whole_or_not_at_all() {
    let post: Post = read("[lamp]\ncolour = \"red\"\n").unwrap();
    assert_eq!(post.lamp.into_whole().map(|lamp| lamp.colour.as_str().to_owned()), Some("red".to_owned()));
    let (entries, mut faults) = Document::parse("f.toml", "[lamp]\ncolor = \"red\"\n").entries().unwrap();
    let (post, _) = Post::read_root(&entries, "a file", &mut faults).unwrap();
    assert_eq!(post.lamp.into_whole(), None);
}

#[test]
fn a_key_that_is_refused_says_why_and_is_no_key_of_the_schema() {
    let refused = |key| format!("`{key}` concerns cords, which no torch has\n  help: take the key away");
    assert_eq!(read::<Torch>("plug = 1\n").map(|_| ()), Err(format!("f.toml:1:1: {}", refused("plug"))));
    let both = read::<Torch>("colour = \"red\"\n[cord_length]\n").map(|_| ());
    assert_eq!(both, Err(format!("f.toml:2:2: {}", refused("cord_length"))));
    // Nor is it what a wrong key may have meant.
    let near = read::<Torch>("plugg = 1\n").map(|_| ()).unwrap_err();
    assert_eq!(near, "f.toml:1:1: a file has no key `plugg`\n  help: its tables: `colour`");
    assert_eq!(Torch::schema()["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["colour"]);
}

#[test]
fn what_a_check_has_given_a_value_is_plain_in_the_complete_file() {
    let mut lantern: Lantern<Written> = read("watts = 5\n[bulbs.low]\n[bulbs.top]\nwatts = 9\n").unwrap();
    let watts = lantern.watts.map(|watts| Setting::derived(*watts, "of the lantern", watts.place()));
    for (_, bulb) in lantern.bulbs.iter_mut().filter(|(_, bulb)| bulb.watts.is_none()) {
        bulb.watts = watts.into();
    }
    let unplaced = lantern.clone().finish().map(|_: Lantern| ()).unwrap_err();
    assert_eq!(unplaced.to_string(), "`bulbs.low.position` is left without a value");
    for (position, (_, bulb)) in lantern.bulbs.iter_mut().enumerate() {
        bulb.position.resolve(Some(position));
    }
    let lantern: Lantern = lantern.finish().unwrap();
    let watts: Vec<u8> = lantern.bulbs.iter().map(|(_, bulb)| *bulb.watts).collect();
    assert_eq!(watts, [5, 9]);
    let positions: Vec<usize> = lantern.bulbs.iter().map(|(_, bulb)| *bulb.position).collect();
    assert_eq!(positions, [0, 1]);
    assert_eq!(merged(&lantern), "[bulbs.low]\nwatts = 5\n\n[bulbs.top]\nwatts = 9\n");
}

#[test]
fn a_value_that_no_check_has_given_is_named_by_its_path() {
    let mut lantern: Lantern<Written> = read("[bulbs.low]\nwatts = 5\n[bulbs.top]\n").unwrap();
    lantern.bulbs.iter_mut().for_each(|(_, bulb)| bulb.position.resolve(Some(0)));
    let open = lantern.finish().map(|_| ()).unwrap_err();
    assert_eq!(open.to_string(), "`bulbs.top.watts` is left without a value");
}

#[test]
fn what_no_file_tells_is_refused_in_one_and_never_written() {
    let refused = read::<Bulb<Written>>("position = 2\nwatts = 1\n").map(|_| ()).unwrap_err();
    assert!(refused.contains("a file has no key `position`"), "{refused}");
    let mut bulb: Bulb<Written> = read("watts = 1\n").unwrap();
    bulb.position.resolve(Some(2));
    assert_eq!(merged(&bulb), "watts = 1\n");
}

#[test]
fn an_editor_is_told_of_a_value_that_may_be_open_as_of_any_that_may_be_absent() {
    let schema = <Bulb<Written>>::schema();
    assert_eq!(schema["properties"].as_object().map(serde_json::Map::len), Some(2), "no file has a position");
    assert_eq!(<Bulb<Written>>::names(), ["watts", "colour"]);
    assert_eq!(schema["required"], json!([]));
    assert_eq!(schema["properties"]["watts"]["type"], "integer");
    assert_eq!(<Lantern<Written>>::names(), ["watts", "bulbs"]);
}
