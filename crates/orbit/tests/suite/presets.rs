//! Presets against what flies: plane count by node, plane spacing, seam, altitude, spacing in the plane.

use slantpath_base::Duration;
use slantpath_orbit::constellation::planes::{PlaneSet, semi_major_axis_m};
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::constellation::{Arrangement, Constellation, shell::Shell};
use slantpath_orbit::elements::{Checksums, ElementSet, read, require_one_epoch};
use slantpath_orbit::{ContactNetwork, Utc};
use slantpath_testkit::shared;

fn sets(name: &str) -> Option<Vec<ElementSet>> {
    let text = shared::text(&format!("tle/{name}"))?;
    Some(read(&text, name, Checksums::Verify).unwrap())
}

fn altitude_km(set: &ElementSet) -> f64 {
    (semi_major_axis_m(set) - 6_378_137.0) / 1e3
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn median_epoch(sets: &[ElementSet]) -> Utc {
    let mut epochs: Vec<Utc> = sets.iter().map(|set| set.epoch).collect();
    epochs.sort_unstable();
    epochs[epochs.len() / 2]
}

/// Satellites on station: within some kilometres of the altitude and a tenth of a degree of the inclination.
fn on_station(sets: &[ElementSet], shell: &Shell, (kilometres, degrees): (f64, f64)) -> Vec<ElementSet> {
    let inclination = shell.inclination.as_degrees();
    let near = |set: &&ElementSet| {
        (altitude_km(set) - shell.altitude_m / 1e3).abs() < kilometres
            && (set.inclination.as_degrees() - inclination).abs() < degrees
    };
    sets.iter().filter(near).cloned().collect()
}

/// The gaps between neighbours of a plane, degrees.
fn gaps_in(set: &PlaneSet, plane: usize) -> Vec<f64> {
    let members = &set.planes[plane].members;
    let angle = |index: usize| members[index % members.len()].latitude_argument.to_degrees();
    (0..members.len()).map(|index| (angle(index + 1) - angle(index)).rem_euclid(360.0)).collect()
}

#[test]
fn iridium_flies_as_published() {
    for file in ["iridium_next_2025-218.tle", "celestrak_iridium-next_2025-01.tle"] {
        let Some(all) = sets(file) else { return };
        let shell = Preset::Iridium.shells().remove(0);
        let flying = on_station(&all, &shell, (6.0, 0.2));
        let found = PlaneSet::of(&flying, median_epoch(&flying));
        assert_eq!(found.planes.len(), shell.planes, "{file}");
        assert_eq!(found.arrangement(), Arrangement::Star);
        assert!(found.planes.iter().all(|plane| plane.members.len() >= shell.per_plane), "{file}");
        let gaps: Vec<f64> = found.node_gaps().iter().map(|gap| gap.to_degrees()).collect();
        for gap in &gaps[..5] {
            assert!((gap - shell.separation_deg()).abs() < 0.25, "{file}: {gaps:?}");
        }
        let seam = gaps[5] - 180.0;
        assert!((seam - shell.seam_separation.unwrap().as_degrees()).abs() < 0.5, "{file}: {seam}");
        let altitude = median(flying.iter().map(altitude_km).collect());
        assert!((altitude - shell.altitude_m / 1e3).abs() < 3.0, "{file}: {altitude}");
        // Spares fly close to others: the spacing is that of the eleven widest gaps.
        for plane in 0..6 {
            let mut gaps = gaps_in(&found, plane);
            gaps.sort_by(|a, b| b.total_cmp(a));
            let spacing = median(gaps[..11.min(gaps.len())].to_vec());
            assert!((spacing - 360.0 / 11.0).abs() < 0.8, "{file}, plane {plane}: {gaps:?}");
        }
    }
}

#[test]
fn oneweb_flies_as_filed() {
    let Some(all) = sets("celestrak_oneweb_2025-01.tle") else { return };
    let shell = Preset::OneWeb.shells().remove(0);
    let flying = on_station(&all, &shell, (25.0, 0.15));
    let found = PlaneSet::of(&flying, median_epoch(&flying));
    let full: Vec<usize> =
        (0..found.planes.len()).filter(|&plane| found.planes[plane].members.len() >= 40).collect();
    assert_eq!(
        full.len(),
        shell.planes,
        "{:?}",
        found.planes.iter().map(|p| (p.node.to_degrees(), p.members.len())).collect::<Vec<_>>()
    );
    let nodes: Vec<f64> = full.iter().map(|&plane| found.planes[plane].node.to_degrees()).collect();
    for pair in nodes.windows(2) {
        let gap = (pair[1] - pair[0]).rem_euclid(360.0);
        assert!((gap - shell.separation_deg()).abs() < 0.4, "{nodes:?}");
    }
    let spacing: Vec<f64> = full.iter().map(|&plane| median(gaps_in(&found, plane))).collect();
    assert!((median(spacing.clone()) - 360.0 / 49.0).abs() < 0.4, "{spacing:?}");
    let altitude = median(flying.iter().map(altitude_km).collect());
    assert!((altitude - 1_200.0).abs() < 20.0, "{altitude}");
}

#[test]
fn starlinks_first_shell_has_the_filed_planes_and_fewer_places() {
    let Some(all) = sets("starlink_2022-257.tle") else { return };
    let shell = Preset::StarlinkShell1.shells().remove(0);
    let flying = on_station(&all, &shell, (4.0, 0.08));
    let found = PlaneSet::of(&flying, median_epoch(&flying));
    assert_eq!((found.planes.len(), found.arrangement()), (shell.planes, Arrangement::Delta));
    for gap in found.node_gaps() {
        assert!((gap.to_degrees() - shell.separation_deg()).abs() < 0.4, "{}", gap.to_degrees());
    }
    let altitude = median(flying.iter().map(altitude_km).collect());
    assert!((altitude - shell.altitude_m / 1e3).abs() < 3.0, "{altitude}");
    // 22 places were filed; what flew in 2022 kept 20° apart, 18 places, some of them doubly used.
    let spacing = median((0..72).map(|plane| median(gaps_in(&found, plane))).collect());
    assert!((spacing - 20.0).abs() < 1.0 || (spacing - 360.0 / 22.0).abs() < 1.0, "{spacing}");
    // Of the fourth shell two planes flew by then: at nodes of the filing's six, 60° apart.
    let polar = on_station(&all, &Preset::Starlink.shells()[3], (6.0, 0.15));
    let found = PlaneSet::of(&polar, median_epoch(&polar));
    let nodes: Vec<f64> = found
        .planes
        .iter()
        .filter(|plane| plane.members.len() > 30)
        .map(|plane| plane.node.to_degrees())
        .collect();
    let [first, second] = nodes[..] else { panic!("{:?}", found.planes) };
    let apart = (second - first) / 60.0;
    assert!((apart - apart.round()).abs() < 0.02, "{nodes:?}");
}

/// A shell in a word: its satellites, its planes, and from which altitude to which it flies, km.
fn shells(file: &str) -> Option<Vec<(usize, usize, u32, u32)>> {
    let all = sets(file)?;
    let epoch = median_epoch(&all);
    let count = all.len();
    let shells = Constellation::shells_from_elements("all", all.clone(), epoch).unwrap();
    assert_eq!(shells.iter().map(|shell| shell.satellites.len()).sum::<usize>(), count, "{file}");
    let describe = |shell: &Constellation| {
        let own = |name: &String| all.iter().find(|set| set.name == *name).unwrap();
        let mut heights: Vec<f64> = shell.satellites.iter().map(|one| altitude_km(own(&one.name))).collect();
        heights.sort_by(f64::total_cmp);
        let planes = if shell.arrangement == Arrangement::Loose { 0 } else { shell.plane_count() };
        let kilometres = |height: f64| height.round().to_string().parse().unwrap();
        (shell.satellites.len(), planes, kilometres(heights[0]), kilometres(heights[heights.len() - 1]))
    };
    Some(shells.iter().map(describe).collect())
}

/// All of Starlink in one file, as it flew in September 2022.
#[test]
fn shells_are_told_apart_by_inclination_and_altitude() {
    let Some(found) = shells("starlink_2022-257.tle") else { return };
    // Filed: 1,584 at 550 km and 53.0°, 1,584 at 540 km and 53.2°, 720 at 570 km and 70°, 348 and 172 at 560 km and
    // 97.6°; and launches that wait at 350 km until their planes have turned, or climb.
    let expected = [
        (1_470, 72, 537, 550),
        (194, 6, 349, 351),
        (886, 45, 530, 545),
        (51, 3, 570, 577),
        (46, 1, 358, 359),
        (46, 1, 467, 483),
        (92, 2, 557, 566),
        (238, 0, 159, 572),
    ];
    assert_eq!(found, expected);
}

#[test]
fn spares_and_strangers_stand_outside_the_planes() {
    let Some(found) = shells("iridium_next_2025-218.tle") else { return };
    // 66 in six planes, one spare that was raised to their height, and 13 that wait below.
    assert_eq!(found, [(67, 6, 778, 778), (13, 0, 629, 763)]);
}

#[test]
fn planes_of_one_shell_may_fly_at_heights_of_their_own_and_drift_apart() {
    let Some(found) = shells("celestrak_oneweb_2025-01.tle") else { return };
    let Some(gps) = shells("celestrak_gps-ops_2019-068.tle") else { return };
    assert_eq!(found, [(626, 12, 1_178, 1_222), (25, 0, 589, 1_225)]);
    // Six planes, whose nodes have drifted apart by more than tells planes apart.
    assert_eq!(gps, [(31, 18, 20_181, 20_183)]);
}

#[test]
fn element_sets_become_a_constellation_with_planes_and_links() {
    use slantpath_orbit::constellation::{IslConfig, IslPattern};
    use slantpath_orbit::contact::Planner;
    let Some(all) = sets("iridium_next_2025-218.tle") else { return };
    let flying = on_station(&all, &Preset::Iridium.shells()[0], (2.5, 0.2));
    require_one_epoch(&flying, Duration::from_secs(3 * 86_400)).unwrap();
    let epoch = median_epoch(&flying);
    let count = flying.len();
    let constellation = Constellation::from_elements("iridium", flying, epoch).unwrap();
    assert_eq!((constellation.satellites.len(), constellation.plane_count()), (count, 6));
    let isl = IslConfig { pattern: IslPattern::Grid, ..IslConfig::default() };
    let network = ContactNetwork::new(epoch, vec![constellation.with_isl(isl)]);
    let plan = Planner::new(&network, Duration::from_secs(600)).unwrap().plan(&mut |_, _| {}).unwrap();
    assert!(plan.contacts().len() >= count + 5 * 10, "{}", plan.contacts().len());
}

#[test]
fn sets_of_other_times_are_warned_about_and_then_refused() {
    use slantpath_orbit::contact::Planner;
    let Some(all) = sets("iridium_next_2025-218.tle") else { return };
    let epoch = median_epoch(&all);
    let network = |days: u64| {
        let constellation = Constellation::from_elements("iridium", all.clone(), epoch).unwrap();
        ContactNetwork::new(epoch.after(Duration::from_secs(days * 86_400)), vec![constellation])
    };
    let (fresh, old, stale) = (network(1), network(12), network(40));
    let span = Duration::from_secs(60);
    assert!(Planner::new(&fresh, span).unwrap().warnings().is_empty());
    assert!(Planner::new(&old, span).unwrap().warnings().len() > 60);
    let error = Planner::new(&stale, span).err().unwrap().to_string();
    assert!(
        error.contains("iridium_next_2025-218.tle:") && error.contains("30 days are the limit"),
        "{error}"
    );
    let mut mixed = all.clone();
    mixed[7].epoch = mixed[7].epoch.after(Duration::from_secs(20 * 86_400));
    let error = require_one_epoch(&mixed, Duration::from_secs(5 * 86_400)).unwrap_err().to_string();
    assert!(error.contains(&mixed[7].name) && error.contains("take sets of one day"), "{error}");
}

#[test]
fn geostationary_satellites_fly_at_the_radius_of_a_slot() {
    let Some(all) = sets("celestrak_geo_2019-068.tle") else { return };
    let radius = slantpath_orbit::orbit::geostationary_radius();
    let near = all.iter().filter(|set| (semi_major_axis_m(set) - radius).abs() < 40e3).count();
    assert!(near * 10 > all.len() * 9, "{near} of {}", all.len());
    for set in &all {
        slantpath_orbit::sgp4::Sgp4::new(set).unwrap().at(set.epoch).unwrap();
    }
}
