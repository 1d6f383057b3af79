//! The numbers of presets that no key of their tables stands for: of several shells, and of slots. A merged form tells
//! them in comments, as tables of constellations that could be written in their place.

use slantpath_base::Angle;
use slantpath_orbit::constellation::presets::Preset;
use slantpath_reader::{Flat, MergedOutput, Place, Setting, Tables, WriteFields};

use super::check::complete_preset;
use super::schema::{ConstellationTable, PresetShell, SatelliteSource, ShellDetails, Slots};
use crate::values::PresetName;

/// The comments, `# ` before each line, under tables called `prefix` and their names; nothing if every number stands in
/// the tables.
pub fn numbers_of_presets(tables: &Tables<ConstellationTable>, prefix: &str) -> String {
    let mut lines = Vec::new();
    for (name, table) in tables.iter() {
        let SatelliteSource::PresetShell(table) = &table.satellites.0 else { continue };
        let preset = table.preset.0;
        let (shells, longitudes) = (preset.shells(), preset.longitudes());
        if shells.len() == 1 {
            continue;
        }
        lines.extend([String::new(), format!("# `{prefix}{name}` is, by the preset `{preset}`:")]);
        for shell in &shells {
            let mut numbers = empty(preset);
            complete_preset(&mut numbers, shell, Place::default());
            let own = shell.name.strip_prefix(preset.name()).unwrap_or(&shell.name);
            push(&mut lines, &format!("{prefix}{name}{own}"), "shell", &numbers);
        }
        if !longitudes.is_empty() {
            let longitudes = longitudes.iter().map(|&longitude| Angle::from_degrees(longitude)).collect();
            let slots = Slots { longitudes: Setting::default(longitudes, Place::default()) };
            push(&mut lines, &format!("{prefix}{name}"), "slots", &slots);
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// A table of a preset in which nothing is written.
fn empty(preset: Preset) -> PresetShell {
    PresetShell {
        preset: Setting::default(PresetName(preset), Place::default()),
        arrangement: None,
        planes: None,
        per_plane: None,
        altitude: None,
        inclination: None,
        details: Flat(ShellDetails {
            total: None,
            period: None,
            turns_per_day: None,
            plane_separation: None,
            seam_separation: None,
            spread: None,
            phasing: None,
            first_right_ascension: None,
            first_longitude: None,
            first_phase: None,
            perturbation: None,
        }),
    }
}

fn push(lines: &mut Vec<String>, name: &str, kind: &str, numbers: &impl WriteFields) {
    let mut output = MergedOutput::default();
    numbers.write_fields(&mut output);
    let head = ["#".to_owned(), format!("# [{name}.satellites]"), format!("# kind = \"{kind}\"")];
    lines.extend(head);
    let written = output.print(false);
    let keys = written.lines().filter(|line| !line.is_empty() && !line.starts_with("preset "));
    lines.extend(keys.map(|line| format!("# {line}")));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use slantpath_orbit::orbit::Orbit;

    use crate::Topology;

    fn parse(constellation: &str) -> Topology {
        let text = format!(
            "[topology]\nname = \"t\"\nepoch = \"2026-03-01T00:00:00Z\"\nspan = \"1 min\"\n[ground]\n\
             min_elevation = \"5 deg\"\n{constellation}\n[sites.a]\nlatitude = \"20 deg\"\nlongitude = \"30 deg\"\n"
        );
        let files = Arc::new(|name: &str| panic!("{name} is not asked for"));
        Topology::parse("t.toml", &text, &[], files).unwrap_or_else(|error| panic!("{error}"))
    }

    fn preset(name: &str) -> Topology {
        parse(&format!("[constellations.c]\nsatellites = {{ kind = \"preset\", preset = \"{name}\" }}"))
    }

    #[test]
    fn presets_of_several_shells_and_of_slots_tell_numbers_that_make_the_same_satellites() {
        let names = ["clarke", "euroskyway", "kuiper", "starlink", "telesat"];
        for (name, tables) in names.into_iter().zip([1, 1, 3, 5, 2]) {
            let topology = preset(name);
            let merged = topology.merged();
            let (_, told) = merged.split_once("is, by the preset").expect(name);
            let told: String = told.lines().skip(1).map(|line| line[1..].trim().to_owned() + "\n").collect();
            assert_eq!(told.matches(".satellites]").count(), tables, "{told}");
            let written = parse(&told);
            // To a millionth.
            let number =
                |text: &str| text.parse::<f64>().map(|number| format!(" {number:.6}")).unwrap_or_default();
            let orbit = |orbit: &Orbit| -> String {
                format!("{orbit:?}").split([' ', '(', ')', ',']).map(number).collect()
            };
            let places = |topology: &Topology| {
                let all = topology.network().constellations.iter().flat_map(|one| &one.satellites);
                all.map(|satellite| (satellite.name.clone(), orbit(&satellite.orbit)))
                    .collect::<BTreeMap<_, _>>()
            };
            assert!(places(&written) == places(&topology), "{name}");
            // Comments change nothing.
            let again = Arc::new(|name: &str| panic!("{name} is not asked for"));
            let again =
                Topology::parse("t.toml", &merged, &[], again).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again.hash(), topology.hash());
        }
        let merged = preset("kuiper").merged();
        let second = "# [constellations.c-2.satellites]\n# kind = \"shell\"\n# arrangement = \"delta\"\n# planes = 36\n\
                      # per_plane = 36\n# altitude = \"610 km\"\n# inclination = \"42 deg\"\n# total = 1296\n";
        assert!(merged.contains(second), "{merged}");
        // A preset of one shell has its numbers in its own table.
        assert!(!preset("iridium").merged().contains("by the preset `"));
    }
}
