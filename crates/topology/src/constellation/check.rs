//! Satellites and their links, from presets, shells, slots and element sets.

use std::collections::BTreeMap;

use slantpath_base::{Angle, Length};
use slantpath_orbit::Utc;
use slantpath_orbit::constellation::shell::{self, FirstNode, Phasing};
use slantpath_orbit::constellation::{Constellation, Contradiction, IslConfig};
use slantpath_orbit::orbit::Perturbation;
use slantpath_reader::{Fault, Faults, Files, Place, Setting, Stage};

use super::elements::{self, Use};
use crate::check::{MOST_SATELLITES, complete};
use crate::schema::{
    self, ArrangementName, CutOff, LongestRange, Pattern, PayloadName, Perturbing, PhasingText, PresetShell,
    SatelliteSource, SeamName, Shell, ShellDetails, Slots,
};
use crate::written::{ConstellationTable, IslTable, TopologyFile};

const OF_PRESET: &str = "of the preset";

/// The constellations in order of their names, each of one or several shells.
pub(crate) fn check(
    file: &mut TopologyFile,
    use_of_sets: Option<Use>,
    files: &Files,
    faults: &mut Faults,
) -> Option<Vec<Constellation>> {
    let places: BTreeMap<String, Place> =
        file.constellations.iter().map(|(name, table)| (name.to_owned(), table.place())).collect();
    let mut found = Vec::new();
    let mut whole = file.constellations.all_whole();
    for (name, table) in file.constellations.iter_mut() {
        let place = places[name];
        if name == "any" {
            let help = "an antenna that follows `any` takes every constellation: choose another name";
            faults.report(place, Fault::new("a constellation cannot be called `any`").help(help));
        }
        let work = use_of_sets.map(|use_of_sets| {
            let epoch = use_of_sets.from;
            Work { name, place, epoch, use_of_sets, files }
        });
        match work.and_then(|work| work.build(table, faults)) {
            Some(shells) => found.extend(shells),
            None => whole = false,
        }
    }
    whole.then_some(found)
}

struct Work<'a> {
    name: &'a str,
    place: Place,
    epoch: Utc,
    use_of_sets: Use,
    files: &'a Files,
}

impl Work<'_> {
    fn build(&self, table: &mut ConstellationTable, faults: &mut Faults) -> Option<Vec<Constellation>> {
        let (mut shells, how) = match &mut table.satellites.0 {
            SatelliteSource::PresetShell(preset) => (self.preset(preset, faults)?, OF_PRESET),
            SatelliteSource::Shell(shell) => (vec![self.shell(shell, faults)?], "default"),
            SatelliteSource::Slots(slots) => (vec![self.slots(slots, faults)?], "default"),
            SatelliteSource::Elements(table) => {
                let shells = elements::shells(self.name, table, self.use_of_sets, self.files, faults)?;
                (shells, "default")
            }
        };
        let model = shells.first()?;
        let payload = complete(&mut table.payload, PayloadName::of(model.payload), how, self.place).policy();
        let isl = self.links(&mut table.isl.0, &model.isl, how, faults)?;
        let beams = table.beams.as_ref().map(|beams| (**beams, beams.place()));
        if let Some((0, place)) = beams {
            let help = "give how many antennas a satellite serves at a time, or leave `beams` out";
            faults.report(place, Fault::new("a satellite without a beam serves nobody").help(help));
            return None;
        }
        for shell in &mut shells {
            (shell.payload, shell.isl) = (payload, isl);
            shell.beams = beams.map(|(beams, _)| beams);
            // What an antenna follows is the whole, whatever its shells are called.
            self.name.clone_into(&mut shell.name);
            self.consistent(shell.check(), faults)?;
        }
        Some(shells)
    }

    fn preset(&self, table: &mut PresetShell, faults: &mut Faults) -> Option<Vec<Constellation>> {
        let preset = table.preset.0;
        let mut shells = preset.shells();
        let only = shells.len() == 1;
        if !only && let Some(place) = first_number(table) {
            let kind = if shells.is_empty() { "slots" } else { "several shells" };
            let help =
                "leave its numbers as they are, or describe each shell by a constellation of kind `shell`";
            let fault = Fault::new(format!("`{preset}` has {kind}: no single number can be replaced"));
            faults.report(place, fault.help(help));
            return None;
        }
        if shells.is_empty() {
            let mut built = self.consistent(preset.build(self.epoch), faults)?;
            for satellite in built.iter_mut().flat_map(|ring| &mut ring.satellites) {
                satellite.name = self.renamed(&satellite.name, preset.name());
            }
            return Some(built);
        }
        if let ([shell], true) = (shells.as_mut_slice(), only) {
            self.name.clone_into(&mut shell.name);
            complete_preset(table, shell, self.place);
            apply(table, shell, faults)?;
        } else {
            for shell in &mut shells {
                shell.name = self.renamed(&shell.name, preset.name());
            }
        }
        shells.iter().map(|shell| self.consistent(shell.build(self.epoch), faults)).collect()
    }

    /// The name of a shell or satellite of a preset under the name of this table.
    fn renamed(&self, name: &str, preset: &str) -> String {
        format!("{}{}", self.name, name.strip_prefix(preset).unwrap_or(name))
    }

    fn shell(&self, table: &mut Shell, faults: &mut Faults) -> Option<Constellation> {
        let counts = counts(&table.planes, &table.per_plane, faults)?;
        let arrangement = table.arrangement.policy();
        let mut shell = shell::Shell::new(self.name, arrangement, counts, 0.0, 0.0);
        complete_details(&mut table.details.0, Phasing::Walker(0), "default", self.place);
        shell.altitude_m = table.altitude.as_metres();
        shell.inclination = *table.inclination;
        apply_details(&table.details, &mut shell, faults)?;
        self.consistent(shell.build(self.epoch), faults)
    }

    fn slots(&self, table: &Slots, faults: &mut Faults) -> Option<Constellation> {
        let longitudes: Vec<f64> = table.longitudes.iter().map(|longitude| longitude.as_degrees()).collect();
        let place = table.longitudes.place();
        if let Some(wrong) = longitudes.iter().find(|degrees| !(-180.0..=360.0).contains(*degrees)) {
            let help = "give east longitudes between -180 deg and 360 deg";
            faults.report(place, Fault::new(format!("there is no longitude {wrong} deg")).help(help));
            return None;
        }
        if longitudes.len() > MOST_SATELLITES {
            let help = format!("a constellation has at most {MOST_SATELLITES}");
            faults.report(place, Fault::new("these are too many slots").help(help));
            return None;
        }
        let ring = Constellation::geostationary(self.name, &longitudes);
        self.consistent(ring.check(), faults).map(|()| ring)
    }

    /// Completes what is said of links between satellites, and gives what it comes to.
    fn links(
        &self,
        table: &mut IslTable,
        model: &IslConfig,
        how: &'static str,
        faults: &mut Faults,
    ) -> Option<IslConfig> {
        let place = self.place;
        let pattern = complete(&mut table.pattern, Pattern::of(model.pattern), how, place);
        let seam = complete(&mut table.seam, SeamName::of(model.seam), how, place);
        let cut_off = CutOff::from(model.cut_off_latitude);
        let cut_off = complete(&mut table.cut_off_latitude, cut_off, how, place);
        let grazing = Length::from_metres(model.grazing_altitude_m);
        let grazing = complete(&mut table.grazing_altitude, grazing, how, place);
        let longest = LongestRange::from(model.range_max_m.map(Length::from_metres));
        let longest = complete(&mut table.longest, longest, how, place);
        let acquisition = complete(&mut table.acquisition, model.acquisition, how, place);
        links_can_be(cut_off, longest, grazing, faults)?;
        Some(IslConfig {
            pattern: pattern.policy(),
            seam: seam.policy(),
            cut_off_latitude: cut_off.quantity(),
            grazing_altitude_m: grazing.as_metres(),
            range_max_m: longest.quantity().map(Length::as_metres),
            acquisition: **acquisition,
        })
    }

    fn consistent<T>(&self, built: Result<T, Contradiction>, faults: &mut Faults) -> Option<T> {
        let contradiction = match built {
            Ok(built) => return Some(built),
            Err(contradiction) => contradiction,
        };
        let message = format!("{}, but {}", contradiction.claim, contradiction.implied);
        faults.report(self.place, Fault::new(message).help(contradiction.cure));
        None
    }
}

/// Writes the numbers of a shell of a preset down.
pub(super) fn complete_preset(table: &mut PresetShell, shell: &shell::Shell, place: Place) {
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    complete(&mut table.arrangement, ArrangementName::of(shell.arrangement), OF_PRESET, place);
    complete(&mut table.planes, narrow(shell.planes), OF_PRESET, place);
    complete(&mut table.per_plane, narrow(shell.per_plane), OF_PRESET, place);
    complete(&mut table.altitude, Length::from_metres(shell.altitude_m), OF_PRESET, place);
    complete(&mut table.inclination, shell.inclination, OF_PRESET, place);
    let details = &mut table.details.0;
    if let Some(total) = shell.total {
        complete(&mut details.total, narrow(total), OF_PRESET, place);
    }
    if let Some(period) = shell.period {
        complete(&mut details.period, period, OF_PRESET, place);
    }
    for (setting, angle) in [
        (&mut details.plane_separation, shell.plane_separation),
        (&mut details.seam_separation, shell.seam_separation),
        (&mut details.spread, shell.spread),
    ] {
        if let Some(angle) = angle {
            complete(setting, angle, OF_PRESET, place);
        }
    }
    complete_details(details, shell.phasing, OF_PRESET, place);
}

fn complete_details(details: &mut ShellDetails, phasing: Phasing, how: &'static str, place: Place) {
    complete(&mut details.phasing, PhasingText(phasing), how, place);
    if details.first_longitude.is_none() {
        complete(&mut details.first_right_ascension, Angle::ZERO, "default", place);
    }
    complete(&mut details.first_phase, Angle::ZERO, "default", place);
    complete(&mut details.perturbation, Perturbing::of(Perturbation::J2), "default", place);
}

fn apply_details(details: &ShellDetails, shell: &mut shell::Shell, faults: &mut Faults) -> Option<()> {
    shell.total = details.total.as_deref().map(|&total| total as usize);
    shell.period = details.period.as_deref().copied();
    shell.mean_motion_rev_per_day = details.turns_per_day.as_deref().copied();
    shell.plane_separation = details.plane_separation.as_deref().copied();
    shell.seam_separation = details.seam_separation.as_deref().copied();
    shell.spread = details.spread.as_deref().copied();
    shell.phasing = details.phasing.map_or(shell.phasing, |phasing| phasing.0);
    shell.first_node = match (&details.first_longitude, &details.first_right_ascension) {
        (Some(longitude), Some(_)) => {
            let fault = Fault::new("the first node has a longitude and a right ascension");
            faults.report(longitude.place(), fault.help("leave one of the two out"));
            return None;
        }
        (Some(longitude), None) => FirstNode::Longitude(**longitude),
        (None, right_ascension) => {
            FirstNode::RightAscension(right_ascension.as_deref().copied().unwrap_or_default())
        }
    };
    shell.first_phase = details.first_phase.map_or(shell.first_phase, |phase| *phase);
    shell.perturbation = details.perturbation.map_or(shell.perturbation, |forces| forces.policy());
    Some(())
}

/// Planes and satellites in each, if they are not too many.
fn counts(planes: &Setting<u32>, per_plane: &Setting<u32>, faults: &mut Faults) -> Option<(usize, usize)> {
    let (planes_count, per_plane) = (**planes as usize, **per_plane as usize);
    if planes_count.saturating_mul(per_plane) > MOST_SATELLITES {
        let message = format!("{planes_count} planes of {per_plane} are too many satellites");
        let help = format!("a constellation has at most {MOST_SATELLITES}");
        faults.report(planes.place(), Fault::new(message).help(help));
        return None;
    }
    Some((planes_count, per_plane))
}

/// Refuses latitudes, lengths and heights of links between satellites that cannot be.
fn links_can_be(
    cut_off: &Setting<CutOff>,
    longest: &Setting<LongestRange>,
    grazing: &Setting<Length>,
    faults: &mut Faults,
) -> Option<()> {
    if let Some(latitude) = cut_off.quantity()
        && !(0.0..=90.0).contains(&latitude.as_degrees())
    {
        let help = "give a latitude between 0 deg and 90 deg, or \"none\"";
        faults.report(cut_off.place(), Fault::new(format!("{latitude} is no latitude")).help(help));
        return None;
    }
    if let Some(range) = longest.quantity()
        && range.as_metres() <= 0.0
    {
        let help = "give the reach of a terminal like \"5000 km\", or \"none\"";
        faults.report(longest.place(), Fault::new(format!("no link is at most {range} long")).help(help));
        return None;
    }
    if !(-100e3..=1e6).contains(&grazing.as_metres()) {
        let help = "give the height over the ellipsoid that a line of sight keeps, like \"80 km\"";
        let fault = Fault::new(format!("no line of sight grazes the Earth at {}", **grazing));
        faults.report(grazing.place(), fault.help(help));
        return None;
    }
    Some(())
}

/// Lays the numbers of a preset's table over its shell.
fn apply(table: &PresetShell, shell: &mut shell::Shell, faults: &mut Faults) -> Option<()> {
    shell.arrangement = table.arrangement.map_or(shell.arrangement, |arrangement| arrangement.policy());
    if let (Some(planes), Some(per_plane)) = (&table.planes, &table.per_plane) {
        (shell.planes, shell.per_plane) = counts(planes, per_plane, faults)?;
    }
    shell.altitude_m = table.altitude.map_or(shell.altitude_m, |altitude| altitude.as_metres());
    shell.inclination = table.inclination.map_or(shell.inclination, |inclination| *inclination);
    apply_details(&table.details, shell, faults)
}

/// Place of the first number that replaces one of the preset's.
fn first_number(table: &PresetShell) -> Option<Place> {
    fn place<T>(setting: Option<&Setting<T>>) -> Option<Place> {
        setting.map(Setting::place)
    }
    let details = &table.details;
    place(table.arrangement.as_ref())
        .or(place(table.planes.as_ref()))
        .or(place(table.per_plane.as_ref()))
        .or(place(table.altitude.as_ref()))
        .or(place(table.inclination.as_ref()))
        .or(place(details.total.as_ref()))
        .or(place(details.period.as_ref()))
        .or(place(details.turns_per_day.as_ref()))
        .or(place(details.plane_separation.as_ref()))
        .or(place(details.seam_separation.as_ref()))
        .or(place(details.spread.as_ref()))
        .or(place(details.phasing.as_ref()))
        .or(place(details.first_right_ascension.as_ref()))
        .or(place(details.first_longitude.as_ref()))
        .or(place(details.first_phase.as_ref()))
        .or(place(details.perturbation.as_ref()))
}

/// The least elevation that the preset of a constellation comes with.
pub(crate) fn preset_elevation<S: Stage>(table: &schema::ConstellationTable<S>) -> Option<Angle> {
    match &table.satellites.0 {
        SatelliteSource::PresetShell(preset) => Some(preset.preset.0.min_elevation()),
        SatelliteSource::Shell(_) | SatelliteSource::Slots(_) | SatelliteSource::Elements(_) => None,
    }
}
