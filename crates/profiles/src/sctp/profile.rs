//! One of a file's SCTP profiles, or one of settings alone, for an endpoint on real sockets. What else the file has is
//! not looked at.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use slantpath_cc::OwnControllers;
use slantpath_reader::{
    Diagnostic, Diagnostics, Document, Entries, Faults, Json, LoadError, Section, Tables, ValueData,
    read_text, section,
};
use slantpath_sctp::{self as sctp, SctpConfig};

use super::check::check;
use super::schema::SctpProfile;
use super::settings::{Assignment, lay, lay_live};
use crate::default::DEFAULT_PROFILE;

section! {
    /// The profiles of a scenario.
    pub struct Profiles {
        /// Configurations of SCTP, by name.
        sctp: Tables<SctpProfile>;
    }
}

/// A profile that has been read and checked.
#[derive(Clone, Debug)]
pub struct Profile {
    profile: SctpProfile,
    warnings: Vec<Diagnostic>,
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(LoadError),
    /// Faults in the file's profiles.
    #[error("{0}")]
    Invalid(Diagnostics),
    /// The file has none.
    #[error("{file} has no profile of SCTP: write one as [sctp.NAME]")]
    None {
        /// Name of the file.
        file: String,
    },
    /// File with several profiles, of which none was named.
    #[error("{file} has several profiles of SCTP: name one of {profiles}, as {file}:NAME")]
    Several {
        /// Name of the file.
        file: String,
        /// Names of the profiles.
        profiles: String,
    },
    /// File without a profile of this name.
    #[error("{file} has no profile [sctp.{name}]; profiles: {profiles}")]
    NoSuch {
        /// Name of the file.
        file: String,
        /// Name that was asked for.
        name: String,
        /// The names that there are.
        profiles: String,
    },
}

impl Profile {
    /// The file and the name that `FILE[:NAME]` says. A file that is there is not cut at its colon.
    pub fn place(text: &str) -> (PathBuf, Option<&str>) {
        match text.rsplit_once(':') {
            Some((file, name)) if !Path::new(text).exists() => (file.into(), Some(name)),
            _ => (text.into(), None),
        }
    }

    /// The profile of RFC 9260's values and these settings, each read, bounded and checked as in a scenario. They may
    /// name `controllers`.
    pub fn from_settings(
        settings: &[Assignment],
        controllers: &OwnControllers,
    ) -> Result<Self, ProfileError> {
        Self::of_settings(controllers, |entries, profile, faults| lay(entries, profile, settings, faults))
    }

    /// The profile that [`SctpProfile::settings`] has written, which faults call `name`.
    pub fn from_json(
        name: &str,
        settings: &Json,
        controllers: &OwnControllers,
    ) -> Result<Self, ProfileError> {
        let all = settings.as_object().into_iter().flatten();
        let settings: Vec<Assignment> =
            all.map(|(key, value)| Assignment::new(format!("{name} {key}"), key, toml_of(value))).collect();
        Self::from_settings(&settings, controllers)
    }

    /// The profile of an endpoint on real sockets: that of `FILE[:NAME]`, or RFC 9260's, with these settings above it.
    /// A required extension is offered; without a file, `authentication` is that of DATA unless a setting says
    /// otherwise.
    pub fn live(
        place: Option<&str>,
        settings: &[Assignment],
        controllers: &OwnControllers,
    ) -> Result<Self, ProfileError> {
        let lay = |entries: &mut Entries, profile: &str, faults: &mut Faults| {
            lay_live(entries, profile, settings, place.is_some(), faults);
        };
        let Some(place) = place else { return Self::of_settings(controllers, lay) };
        let (path, name) = Self::place(place);
        let text = read_text(&path).map_err(ProfileError::Unreadable)?;
        Self::read(&path.display().to_string(), &text, name, controllers, lay)
    }

    /// Reads a profile of settings alone.
    fn of_settings(
        controllers: &OwnControllers,
        lay: impl FnOnce(&mut Entries, &str, &mut Faults),
    ) -> Result<Self, ProfileError> {
        let text = format!("[sctp.{DEFAULT_PROFILE}]\n");
        Self::read("SCTP's settings", &text, Some(DEFAULT_PROFILE), controllers, lay)
    }

    /// Reads a string, with what `lay` lays over the profile of this name, or over the only one.
    fn read(
        file: &str,
        text: &str,
        name: Option<&str>,
        controllers: &OwnControllers,
        lay: impl FnOnce(&mut Entries, &str, &mut Faults),
    ) -> Result<Self, ProfileError> {
        let (mut entries, mut faults) =
            Document::parse(file, text).entries().map_err(ProfileError::Invalid)?;
        entries.retain(|key, _| key == "sctp");
        if let Some(chosen) = chosen(&entries, name) {
            lay(&mut entries, &chosen, &mut faults);
        }
        let mut read = Profiles::read_root(&entries, "a scenario", &mut faults).map(|(read, _)| read);
        if let Some(read) = &mut read {
            check(&mut read.sctp, controllers, &mut faults);
        }
        let warnings = faults.warnings();
        let read = faults.whole(read).map_err(ProfileError::Invalid)?;
        let names: Vec<&str> = read.sctp.iter().map(|(name, _)| name).collect();
        let file = file.to_owned();
        let name = match (name, &names[..]) {
            (_, []) => return Err(ProfileError::None { file }),
            (Some(name), _) => name,
            (None, [only]) => only,
            (None, _) => return Err(ProfileError::Several { file, profiles: names.join(", ") }),
        };
        let Some(profile) = read.sctp.find(name) else {
            return Err(ProfileError::NoSuch { file, name: name.to_owned(), profiles: names.join(", ") });
        };
        Ok(Self { profile: profile.clone(), warnings })
    }

    /// Configuration of an endpoint whose associations ask for this many streams. Checksums are computed: real networks
    /// damage packets.
    pub fn config(&self, outbound_streams: u16) -> SctpConfig {
        SctpConfig { checksum: sctp::ChecksumPolicy::Compute, ..self.profile.config(outbound_streams) }
    }

    /// Gives what may be meant otherwise.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The preset, and the keys whose values are not those of the preset, a line each. Secrets are left out.
    pub fn differing_keys(&self) -> String {
        let settings = self.profile.settings();
        let preset = settings["preset"].to_string();
        let only = Assignment::new("preset", "preset", preset.as_str());
        let plain = Self::from_settings(&[only], &OwnControllers::default());
        let plain = plain.expect("a preset has no fault").profile.settings();
        let mut text = format!("preset = {preset}\n");
        for (key, value) in settings.as_object().into_iter().flatten() {
            if key != "preset" && plain.get(key) != Some(value) {
                writeln!(text, "{key} = {}", toml_of(value)).expect("a string takes everything");
            }
        }
        text
    }

    /// The table as it was read.
    pub const fn table(&self) -> &SctpProfile {
        &self.profile
    }
}

/// A value of the declaration as TOML: a table is of a controller of the program's own, with its parameters.
fn toml_of(value: &Json) -> String {
    let Some(table) = value.as_object() else { return value.to_string() };
    let keys: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", keys.join(", "))
}

/// The name of the profile that is meant, if the file has it.
fn chosen(entries: &Entries, name: Option<&str>) -> Option<String> {
    let ValueData::Table(profiles) = &entries.get("sctp")?.node.data else { return None };
    let mut names = profiles.keys();
    match name {
        Some(name) => names.find(|own| *own == name).cloned(),
        None if profiles.len() == 1 => names.next().cloned(),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use slantpath_sctp::{Algorithm, PotentiallyFailed};

    use super::*;

    const TWO: &str = "[scenario]\nname = 3\n[links.x]\nnonsense = true\n\
                       [sctp.leo]\ncongestion_control = \"bbr\"\nloss_detection = \"rack\"\n\
                       potentially_failed_max_retrans = 1\n[sctp.plain]\nrto_min = \"400 ms\"\n";

    fn read(file: &str, text: &str, name: Option<&str>) -> Result<Profile, ProfileError> {
        Profile::read(file, text, name, &OwnControllers::default(), |_, _, _| {})
    }

    fn parse(text: &str, name: Option<&str>) -> Result<SctpConfig, String> {
        let profile = read("a.toml", text, name).map_err(|error| error.to_string())?;
        Ok(profile.config(20))
    }

    #[test]
    fn a_profile_is_read_by_its_name_whatever_else_the_file_has() {
        let leo = parse(TWO, Some("leo")).unwrap();
        assert_eq!((leo.congestion_control, leo.loss_detection), (Algorithm::Bbr, sctp::LossDetection::Rack));
        assert_eq!(leo.potentially_failed, PotentiallyFailed::Above(1));
        assert_eq!((leo.outbound_streams, leo.checksum), (20, sctp::ChecksumPolicy::Compute));
        let plain = parse(TWO, Some("plain")).unwrap();
        assert_eq!((plain.rto_min.as_millis(), plain.congestion_control), (400, Algorithm::Standard));
    }

    #[test]
    fn a_name_may_be_left_out_where_there_is_one_profile_and_nowhere_else() {
        let one = "[sctp.only]\nsack_delay = \"20 ms\"\n";
        assert_eq!(parse(one, None).unwrap().sack_delay.as_millis(), 20);
        assert_eq!(parse(one, Some("only")), parse(one, None));
        let several = "a.toml has several profiles of SCTP: name one of leo, plain, as a.toml:NAME";
        assert_eq!(parse(TWO, None), Err(several.to_owned()));
        let no_such = "a.toml has no profile [sctp.loe]; profiles: leo, plain";
        assert_eq!(parse(TWO, Some("loe")), Err(no_such.to_owned()));
        let none = "a.toml has no profile of SCTP: write one as [sctp.NAME]";
        assert_eq!(parse("[scenario]\n", None), Err(none.to_owned()));
    }

    #[test]
    fn faults_of_profiles_are_told_with_their_places() {
        let faults = |text: &str| match read("a.toml", text, None) {
            Err(ProfileError::Invalid(faults)) => {
                faults.iter().map(|one| one.message.clone()).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(faults("[sctp.a]\nmax_burst = 0\n").len(), 1);
        assert_eq!(faults("[sctp.a]\nrto_mim = \"1 s\"\n").len(), 1);
        assert_eq!(faults("[sctp.a\n").len(), 1);
    }

    #[test]
    fn its_keys_that_differ_make_the_same_profile() {
        let profile = read("a.toml", TWO, Some("leo")).unwrap();
        let text = format!("[sctp.b]\n{}", profile.differing_keys());
        assert_eq!(text.lines().count(), 5, "{text}");
        assert_eq!(read("b.toml", &text, None).unwrap().config(1), profile.config(1));
    }

    #[test]
    fn a_file_may_have_a_colon() {
        assert_eq!(Profile::place("a.toml"), ("a.toml".into(), None));
        assert_eq!(Profile::place("no/such:dir/a.toml:leo"), ("no/such:dir/a.toml".into(), Some("leo")));
        let path = std::env::temp_dir().join(format!("slantpath-{}:profile", std::process::id()));
        std::fs::write(&path, "[sctp.a]\n").unwrap();
        let text = path.display().to_string();
        assert_eq!(Profile::place(&text), (path.clone(), None));
        assert_eq!(Profile::place(&format!("{text}:a")), (path.clone(), Some("a")));
        assert!(Profile::live(Some(&text), &[], &OwnControllers::default()).is_ok());
        std::fs::remove_file(&path).unwrap();
    }
}
