//! Sites, their antennas, and how these choose their satellites.

use std::collections::BTreeMap;

use slantpath_base::{Angle, Duration, Length};
use slantpath_orbit::earth::horizon_dip;
use slantpath_orbit::ground::{Antenna, Criterion, GroundPolicy, Handover, Reselect};
use slantpath_orbit::site::{Horizon, Relay, SitePosition, Track};
use slantpath_orbit::{Geodetic, Site};
use slantpath_reader::{Awaited, Fault, Faults, Files, Flat, Named, Place, Setting, fault_of, suggest};

use crate::check::complete;
use crate::constellation::check::preset_elevation;
use crate::files as named_files;
use crate::schema::{HandoverKind, MeasuredBy, ReselectWhen};
use crate::written::{AntennaTable, GroundTable, SiteTable, TopologyFile};

const AS_GROUND: &str = "as [ground] says";

/// The sites in order of their names.
///
/// `doubtful` says that a constellation is at fault, so that nothing is said about what it may lack.
pub(crate) fn check(
    file: &mut TopologyFile,
    doubtful: bool,
    files: &Files,
    faults: &mut Faults,
) -> Option<Vec<Site>> {
    let shared = file.ground.whole()?.0.clone();
    let elevations: BTreeMap<String, Option<Angle>> =
        file.constellations.iter().map(|(name, table)| (name.to_owned(), preset_elevation(table))).collect();
    let known: Vec<String> = file.constellations.names().into_iter().map(str::to_owned).collect();
    let places: BTreeMap<String, Place> =
        file.sites.iter().map(|(name, table)| (name.to_owned(), table.place())).collect();
    let cabled = file.cables.iter().flat_map(|cable| [cable.ends.0.clone(), cable.ends.1.clone()]).collect();
    let surroundings = Surroundings { shared, elevations, known, cabled, doubtful };
    let mut sites = Vec::new();
    let mut whole = file.sites.all_whole();
    for (name, table) in file.sites.iter_mut() {
        match site(name, places[name], table, &surroundings, files, faults) {
            Some(site) => sites.push(site),
            None => whole = false,
        }
    }
    whole.then_some(sites)
}

/// Settings of the rest of the file that concern an antenna.
struct Surroundings {
    shared: GroundTable,
    /// The least elevation of each constellation, where it comes with one.
    elevations: BTreeMap<String, Option<Angle>>,
    known: Vec<String>,
    /// The ends of cables.
    cabled: Vec<String>,
    /// True if a constellation is at fault, so that nothing is said about those that are missing.
    doubtful: bool,
}

fn site(
    name: &str,
    place: Place,
    table: &mut SiteTable,
    surroundings: &Surroundings,
    files: &Files,
    faults: &mut Faults,
) -> Option<Site> {
    let standing = standing(name, place, table, files, faults);
    let points: Vec<(Angle, Angle)> = table.horizon.iter().map(|pair| (pair.0, pair.1)).collect();
    let horizon = Horizon::new(&points).map_err(|error| {
        let help =
            "write pairs of azimuth and elevation like [[\"0 deg\", \"5 deg\"], [\"90 deg\", \"10 deg\"]]";
        faults.report(table.horizon.place(), fault_of(&error, help));
    });
    let is_gateway = table.relay.policy() == Relay::Gateway;
    if table.antennas.is_empty() && (is_gateway || !surroundings.cabled.iter().any(|end| end == name)) {
        let any = Setting::derived("any".to_owned(), "default", place);
        let none = GroundTable {
            min_elevation: Awaited::open(),
            criterion: Awaited::open(),
            reselect: Awaited::open(),
            grid_period: None,
            grid_offset: None,
            handover: Awaited::open(),
            handover_time: Awaited::open(),
        };
        table.antennas.0.push(Named::new(AntennaTable { constellation: any, ground: Flat(none) }, place));
    }
    let antennas: Option<Vec<Antenna>> = table
        .antennas
        .0
        .iter_mut()
        .map(|named| {
            let place = named.place();
            antenna(named.section_mut(), place, surroundings, faults)
        })
        .collect();
    let relay = table.relay.policy();
    let site =
        Site { name: name.to_owned(), place: standing?, antennas: antennas?, horizon: horizon.ok()?, relay };
    for (antenna, named) in site.antennas.iter().zip(&*table.antennas) {
        above_ground(&site, antenna, named, faults)?;
    }
    Some(site)
}

/// Refuses an antenna that would look through the Earth.
fn above_ground(
    site: &Site,
    antenna: &Antenna,
    named: &Named<AntennaTable>,
    faults: &mut Faults,
) -> Option<()> {
    let height = match &site.place {
        SitePosition::Fixed(point) => point.height_m,
        SitePosition::Track(track) => {
            track.waypoints().iter().map(|waypoint| waypoint.point.height_m).fold(0.0, f64::max)
        }
    };
    let ground = horizon_dip(height).as_degrees();
    let lowest = antenna.min_elevation.as_degrees().max(site.horizon.range().0.to_degrees());
    if lowest >= -ground - AIR_DEG {
        return Some(());
    }
    let place = named.ground.0.min_elevation.as_ref().map_or(named.place(), Setting::place);
    let fault = Fault::new(format!(
        "from a height of {height} m the Earth hides what is more than {ground:.1} deg below the horizontal"
    ));
    faults.report(place, fault.help("raise the minimum elevation, or give the height of the site"));
    None
}

/// Angle below the geometric horizon at which a satellite may still be seen, degrees, and a margin.
const AIR_DEG: f64 = 1.0;

fn standing(
    name: &str,
    place: Place,
    table: &mut SiteTable,
    files: &Files,
    faults: &mut Faults,
) -> Option<SitePosition> {
    if let Some(track) = &table.track {
        if table.latitude.is_some() || table.longitude.is_some() || table.altitude.is_some() {
            let help = "leave latitude, longitude and altitude out, or the track";
            let fault = Fault::new(format!("site `{name}` stands still and has a track"));
            faults.report(track.place(), fault.help(help));
            return None;
        }
        let text = named_files::read(track, &mut table.track_digest, files, faults)?;
        return match Track::read(&text, track) {
            Ok(track) => Some(SitePosition::Track(track)),
            Err(error) => {
                let message = error.to_string();
                let place = named_files::place_of(track, &text, &message, faults);
                faults.report(place, named_files::without_place(track, &message));
                None
            }
        };
    }
    let (Some(latitude), Some(longitude)) = (&table.latitude, &table.longitude) else {
        let help =
            "write `latitude = \"51.5 deg\"` and `longitude = \"-0.1 deg\"`, or `track = \"file.csv\"`";
        faults.report(place, Fault::new(format!("site `{name}` has no place")).help(help));
        return None;
    };
    let mut outside = |setting: &Setting<Angle>, limits: core::ops::RangeInclusive<f64>, what: &str| {
        let degrees = setting.as_degrees();
        if limits.contains(&degrees) {
            return false;
        }
        let help = format!("give a {what} between {} deg and {} deg", limits.start(), limits.end());
        faults.report(setting.place(), Fault::new(format!("there is no {what} {}", **setting)).help(help));
        true
    };
    if outside(latitude, -90.0..=90.0, "latitude") | outside(longitude, -180.0..=360.0, "longitude") {
        return None;
    }
    let (latitude, longitude) = (**latitude, **longitude);
    let altitude = complete(&mut table.altitude, Length::ZERO, "default", place);
    // Sights are worked out for sites below 50 km (orbit's `visibility`).
    if !(-1e3..=50e3).contains(&altitude.as_metres()) {
        let help = "give the height above the ellipsoid, up to 50 km";
        faults.report(altitude.place(), Fault::new(format!("no site is at {}", **altitude)).help(help));
        return None;
    }
    Some(SitePosition::Fixed(Geodetic { latitude, longitude, height_m: altitude.as_metres() }))
}

fn antenna(
    table: &mut AntennaTable,
    place: Place,
    surroundings: &Surroundings,
    faults: &mut Faults,
) -> Option<Antenna> {
    let wanted = &table.constellation;
    let constellation = match wanted.as_str() {
        "any" => None,
        name if surroundings.known.iter().any(|known| known == name) => Some(name.to_owned()),
        name => {
            if !surroundings.doubtful {
                let known: Vec<&str> = surroundings.known.iter().map(String::as_str).chain(["any"]).collect();
                let fault = Fault::new(format!("there is no constellation `{name}`"));
                faults.report(wanted.place(), fault.help(suggest(name, "constellations", &known)));
            }
            return None;
        }
    };
    let ground = &mut table.ground.0;
    take_shared(ground, &surroundings.shared);
    let min_elevation = match (*ground.min_elevation, surroundings.elevation(constellation.as_deref())) {
        (Some(given), _) => given,
        (None, Some(preset)) => *complete(&mut ground.min_elevation, preset, "of the preset", place),
        (None, None) if surroundings.doubtful => return None,
        (None, None) => {
            let help = "write `min_elevation = \"10 deg\"` here or in `[ground]`, with the value you mean";
            faults.report(place, Fault::new("the antenna has no minimum elevation").help(help));
            return None;
        }
    };
    if !(-90.0..90.0).contains(&min_elevation.as_degrees()) {
        let fault = Fault::new(format!("no satellite is above {}", *min_elevation));
        faults.report(min_elevation.place(), fault.help("give an elevation below 90 deg"));
        return None;
    }
    let policy = GroundPolicy {
        criterion: complete(&mut ground.criterion, MeasuredBy::of(Criterion::Nearest), "default", place)
            .policy(),
        reselect: reselect(ground, place, faults)?,
        handover: handover(ground, place, faults)?,
    };
    Some(Antenna { constellation, min_elevation: *min_elevation, policy })
}

impl Surroundings {
    /// The least elevation of a constellation's preset; for any constellation, that on which all agree.
    fn elevation(&self, constellation: Option<&str>) -> Option<Angle> {
        if let Some(name) = constellation {
            return self.elevations.get(name).copied().flatten();
        }
        let mut all = self.elevations.values();
        let first = (*all.next()?)?;
        all.all(|other| *other == Some(first)).then_some(first)
    }
}

/// Takes what an antenna does not say from what all share.
fn take_shared(ground: &mut GroundTable, shared: &GroundTable) {
    fn take<T: Clone>(setting: &mut Option<Setting<T>>, shared: Option<&Setting<T>>) {
        if let (None, Some(shared)) = (&setting, shared) {
            *setting = Some(Setting::derived((**shared).clone(), AS_GROUND, shared.place()));
        }
    }
    take(&mut ground.min_elevation, shared.min_elevation.as_ref());
    take(&mut ground.criterion, shared.criterion.as_ref());
    // The keys of a grid belong to whoever says that there is one.
    if ground.reselect.is_none() {
        take(&mut ground.grid_period, shared.grid_period.as_ref());
        take(&mut ground.grid_offset, shared.grid_offset.as_ref());
    }
    take(&mut ground.reselect, shared.reselect.as_ref());
    if ground.handover.is_none() {
        take(&mut ground.handover_time, shared.handover_time.as_ref());
    }
    take(&mut ground.handover, shared.handover.as_ref());
}

/// Completes when an antenna chooses, and gives it.
fn reselect(ground: &mut GroundTable, place: Place, faults: &mut Faults) -> Option<Reselect> {
    let when = *complete(&mut ground.reselect, ReselectWhen::OnLoss, "default", place);
    match *when {
        ReselectWhen::Grid | ReselectWhen::Periodic => {
            let offset = **complete(&mut ground.grid_offset, Duration::ZERO, "default", place);
            let Some(period) = ground.grid_period.as_ref() else {
                let help = "write `grid_period = \"15 s\"`, with the value you mean";
                faults.report(when.place(), Fault::new("the grid has no period").help(help));
                return None;
            };
            // Less would be more choices than any satellite system makes, and a plan of any size.
            if **period < Duration::from_millis(100) {
                let fault = Fault::new(format!("a grid of {} is too fine", **period));
                faults.report(period.place(), fault.help("let it be at least 100 ms, or choose `always`"));
                return None;
            }
            let period = **period;
            Some(match *when {
                ReselectWhen::Periodic => Reselect::Periodic { interval: period, offset },
                _ => Reselect::Grid { period, offset },
            })
        }
        ReselectWhen::Always | ReselectWhen::OnLoss => {
            if ground.grid_period.is_some() || ground.grid_offset.is_some() {
                let help = "write `reselect = \"grid\"`, or leave the grid's keys out";
                faults.report(place, Fault::new(format!("`{}` has no grid", *when)).help(help));
                return None;
            }
            Some(if *when == ReselectWhen::Always { Reselect::Always } else { Reselect::OnLoss })
        }
    }
}

/// Completes how an antenna changes its satellite, and gives it.
fn handover(ground: &mut GroundTable, place: Place, faults: &mut Faults) -> Option<Handover> {
    let kind = *complete(&mut ground.handover, HandoverKind::BreakBeforeMake, "default", place);
    let time = **complete(&mut ground.handover_time, Duration::ZERO, "default", place);
    Some(match *kind {
        HandoverKind::BreakBeforeMake => Handover::BreakBeforeMake { gap: time },
        HandoverKind::MakeBeforeBreak if time.is_zero() => {
            let fault = Fault::new("nothing is made before it breaks: the two links overlap for no time");
            faults.report(
                kind.place(),
                fault.help("write `handover_time = \"1 s\"`, with the overlap you mean"),
            );
            return None;
        }
        HandoverKind::MakeBeforeBreak => Handover::MakeBeforeBreak { overlap: time },
    })
}
