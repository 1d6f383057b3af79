//! The profile of whoever names none.

use slantpath_reader::{Entries, Faults, Place, Section, Setting, Tables};

/// Name of the profile that stands for none.
pub const DEFAULT_PROFILE: &str = "default";

/// Writes the default profile down, so that it is in the merged form, unless it is there. Its place is that of the
/// first who uses it.
pub fn add<S: Section>(tables: &mut Tables<S>, place: Place) {
    if tables.names().contains(&DEFAULT_PROFILE) {
        return;
    }
    let mut none = Faults::default();
    let profile = S::read(&Entries::new(), DEFAULT_PROFILE, place, &mut none);
    tables.add(DEFAULT_PROFILE, profile.expect("every key of a profile has a default"), place);
}

/// The name of a profile, or that of whoever names none.
pub fn name_of(profile: Option<&Setting<String>>) -> &str {
    profile.map_or(DEFAULT_PROFILE, |profile| profile.as_str())
}
