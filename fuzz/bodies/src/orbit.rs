//! Element sets, outages, and tracks of sites.

use slantpath_orbit::elements::{Checksums, omm, tle};
use slantpath_orbit::outage;
use slantpath_orbit::site::Track;

const FILE: &str = "fuzz";

/// Checks that sets which are read are written as lines of 69 columns that are read again, of the same object.
pub fn two_line(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let strict = tle::read(text, FILE, Checksums::Verify);
    let Ok(sets) = tle::read(text, FILE, Checksums::Ignore) else {
        assert!(strict.is_err(), "what is wrong without checksums is wrong with them");
        return;
    };
    for set in sets {
        let [first, second] = tle::write(&set);
        assert_eq!((first.len(), second.len()), (69, 69), "{first}\n{second}");
        let again = tle::read(&format!("{first}\n{second}\n"), FILE, Checksums::Verify);
        let again = again.unwrap_or_else(|error| panic!("{error}\n{first}\n{second}"));
        assert_eq!(again[0].catalogue_number, set.catalogue_number);
    }
}

/// Any text gives sets or an error, in either form.
pub fn orbit_mean_elements(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    for sets in [omm::read_json(text, FILE), omm::read_csv(text, FILE)].into_iter().flatten() {
        for set in sets {
            let _lines = tle::write(&set);
        }
    }
}

/// Any text gives outages or an error that names its line.
pub fn outages(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    if let Ok(outages) = outage::read(text, FILE) {
        assert!(outages.len() <= text.lines().count());
    }
}

/// Any text gives a track whose waypoints are in order of time, or an error that names its line.
pub fn track(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    if let Ok(track) = Track::read(text, FILE) {
        assert!(track.waypoints().windows(2).all(|pair| pair[0].at < pair[1].at));
    }
}
