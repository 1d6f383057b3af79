//! `[constellations.<name>]`: satellites, their payload and the links between them.

use slantpath_base::{Angle, Duration, Length};
use slantpath_orbit::constellation::{Arrangement, IslPattern, Payload, Seam};
use slantpath_orbit::elements::Checksums;
use slantpath_orbit::orbit::Perturbation;
use slantpath_reader::{Flat, Later, Nested, OneOf, Setting, choice, policy, section, tagged, word_or};

use crate::bounds::{AGE, ANGLE, BEAMS, CATALOGUE, HANDOVER, LENGTH, PHASING, RUN, SATELLITES, TURNS};
use crate::values::{CutOff, PhasingText, PresetName};

section! {
    /// A set of satellites that work together.
    pub struct ConstellationTable<S> {
        /// Source of the satellites.
        satellites: OneOf<SatelliteSource<S>>;
        /// Payload of a satellite: its treatment of what it receives. The preset's if absent, `bent-pipe` for slots,
        /// and `regenerative` for all others.
        payload: Later<S, Setting<PayloadName>>;
        /// Number of antennas on the ground that one satellite serves at a time, those of gateways included. Any number
        /// if absent.
        beams: Option<Setting<u32>>, at most BEAMS;
        /// The links between the satellites. The preset's where absent, otherwise none.
        isl: Nested<IslTable<S>>;
    }
}

tagged! {
    /// Source of the satellites of a constellation.
    pub enum SatelliteSource<S> {
        /// A constellation that is known by name.
        PresetShell = "preset",
        /// Equal circles in equal planes: a Walker star or delta.
        Shell = "shell",
        /// Satellites in geostationary slots.
        Slots = "slots",
        /// A file of element sets: TLE, or OMM as JSON or CSV.
        Elements<S> = "elements",
    }
}

section! {
    /// A constellation that is known by name. If it has one shell, any number of it may be replaced, and all
    /// must agree.
    pub struct PresetShell {
        /// Name of the preset.
        preset: Setting<PresetName>;
        /// Star or delta.
        arrangement: Option<Setting<ArrangementName>>;
        /// Number of planes.
        planes: Option<Setting<u32>>, at most SATELLITES;
        /// Satellites in each plane.
        per_plane: Option<Setting<u32>>, at most SATELLITES;
        /// Height over the equatorial radius.
        altitude: Option<Setting<Length>>, at most LENGTH;
        /// Inclination of the planes.
        inclination: Option<Setting<Angle>>, at most ANGLE;
        /// Details that a shell may leave out.
        details: Flat<ShellDetails>;
    }
}

section! {
    /// Equal circles in equal planes. Satellites are called `NAME-plane-slot`, both counted from 1.
    pub struct Shell {
        /// Star or delta.
        arrangement: Setting<ArrangementName>;
        /// Number of planes.
        planes: Setting<u32>, at most SATELLITES;
        /// Satellites in each plane.
        per_plane: Setting<u32>, at most SATELLITES;
        /// Height over the equatorial radius.
        altitude: Setting<Length>, at most LENGTH;
        /// Inclination of the planes.
        inclination: Setting<Angle>, at most ANGLE;
        /// Details that a shell may leave out.
        details: Flat<ShellDetails>;
    }
}

section! {
    /// Details of a shell that are redundant, or have a usual value. Redundant ones are checked against the rest.
    pub struct ShellDetails {
        /// All satellites; planes times satellites in each.
        total: Option<Setting<u32>>, at most SATELLITES;
        /// Time of one turn, checked against the altitude.
        period: Option<Setting<Duration>>, at most RUN;
        /// Turns in a day, checked against the altitude.
        turns_per_day: Option<Setting<f64>>, at most TURNS;
        /// Angle between neighbouring planes. The spread divided by the planes if absent.
        plane_separation: Option<Setting<Angle>>, at most ANGLE;
        /// Angle of a star between the last plane and the other side of the first.
        seam_separation: Option<Setting<Angle>>, at most ANGLE;
        /// Angle over which the planes are spread. 360 deg in a delta and 180 deg in a star if absent.
        spread: Option<Setting<Angle>>, at most ANGLE;
        /// Phase by which neighbouring planes are out of step. `walker 0` if absent.
        phasing: Option<Setting<PhasingText>>, at most PHASING;
        /// Right ascension of the first plane's ascending node at the epoch. 0 deg if absent.
        first_right_ascension: Option<Setting<Angle>>, at most ANGLE;
        /// East longitude of the first plane's ascending node at the epoch, in place of its right ascension.
        first_longitude: Option<Setting<Angle>>, at most ANGLE;
        /// Angle from the ascending node to the first satellite at the epoch. 0 deg if absent.
        first_phase: Option<Setting<Angle>>, at most ANGLE;
        /// Forces beside the pull of a round Earth. `j2` if absent.
        perturbation: Option<Setting<Perturbing>>;
    }
}

section! {
    /// Geostationary slots, called `NAME-1` and so on as they are listed. Neighbours are those along the equator.
    pub struct Slots {
        /// East longitudes of the satellites.
        longitudes: Setting<Vec<Angle>>, at most ANGLE;
    }
}

section! {
    /// Element sets, propagated by SGP4 and sorted into planes by their nodes.
    pub struct Elements<S> {
        /// The file, relative to the topology: two-line sets, or OMM as JSON or CSV.
        file: Setting<String>;
        /// BLAKE3 of the file, written by `--show`. If it is given, the file must still have it.
        digest: Later<S, Setting<String>>;
        /// Names of the satellites that are taken; `*` stands for any letters. All if absent.
        names: Option<Setting<Vec<String>>>;
        /// Catalogue numbers of the satellites that are taken, besides those of `names`. All if both are absent.
        catalogue_numbers: Option<Setting<Vec<u32>>>, at most CATALOGUE;
        /// Names or catalogue numbers of satellites that are left out; `*` stands for any letters.
        exclude: Option<Setting<Vec<String>>>;
        /// Treatment of sets that cannot be used: altered or cut, decayed within the span, too old, of another time
        /// than the others, or too high.
        on_invalid: Setting<InvalidSets> = InvalidSets::Refuse;
        /// Treatment of the check digits of two-line sets.
        checksums: Setting<ChecksumPolicy> = ChecksumPolicy::Verify;
        /// Longest time from the median epoch of the taken sets at which each may lie: sets further apart are not one
        /// constellation at one time.
        epoch_spread: Setting<Duration> = Duration::from_secs(7 * 86_400), at most AGE;
    }
}

section! {
    /// Links between the satellites of a constellation.
    pub struct IslTable<S> {
        /// Pattern of the links. `none` if absent.
        pattern: Later<S, Setting<Pattern>>;
        /// Links between the first and the last plane of a star. `open` if absent.
        seam: Later<S, Setting<SeamName>>;
        /// Links between planes are off while either end is beyond this latitude. `none` if absent.
        cut_off_latitude: Later<S, Setting<CutOff>>, at most ANGLE;
        /// A line of sight keeps above the ellipsoid by this much. 80 km if absent.
        grazing_altitude: Later<S, Setting<Length>>, at most LENGTH;
        /// The longest link that the terminals reach. `none` if absent.
        longest: Later<S, Setting<LongestRange>>, at most LENGTH;
        /// Time that pointing and acquisition take before a link that has become possible carries anything. 0 s if
        /// absent.
        acquisition: Later<S, Setting<Duration>>, at most HANDOVER;
    }
}

word_or! {
    /// The longest link that terminals reach.
    pub enum LongestRange {
        /// No limit on the length.
        Off = "none",
        /// Length that is given.
        Range(Length) like "5000 km",
    }
}

policy! {
    /// Arrangement of the planes around the Earth.
    pub struct ArrangementName of Arrangement {
        /// Planes over the full circle: the last is the neighbour of the first.
        Delta = "delta",
        /// Satellites that form no planes: no shell has that, but a file of elements may have such.
        Loose = "loose",
        /// One ring over the equator.
        Ring = "ring",
        /// Planes over half the circle: the last and the first fly against each other, with a seam between them.
        Star = "star",
    }
}

policy! {
    /// Payload of a satellite: its treatment of what it receives.
    pub struct PayloadName of Payload {
        /// Repeats the signal at once; it cannot be linked to another satellite.
        BentPipe = "bent-pipe",
        /// Receives packets and sends them on, to the ground or to another satellite.
        Regenerative = "regenerative",
    }
}

policy! {
    /// Pattern of the links between satellites.
    pub struct Pattern of IslPattern {
        /// The next and the previous in the plane, and always the same one in each neighbouring plane.
        Grid = "grid",
        /// The next and the previous in the plane only.
        IntraPlane = "intra-plane",
        /// As the grid, but in each neighbouring plane whichever is nearest, where both prefer each other.
        Nearest = "nearest",
        /// No links between satellites.
        None = "none",
    }
}

policy! {
    /// Links between the first and the last plane of a star.
    pub struct SeamName of Seam {
        /// Linked like any other two planes, to the same satellites as long as they see each other.
        Closed = "closed",
        /// Linked to whichever satellite of the other plane is nearest at the time.
        Dynamic = "dynamic",
        /// No links between these planes.
        Open = "open",
    }
}

policy! {
    /// Forces beside the pull of a round Earth.
    pub struct Perturbing of Perturbation {
        /// The flattening of the Earth turns the planes.
        J2 = "j2",
        /// None: planes keep their place among the stars, as in ns-2.
        None = "none",
    }
}

choice! {
    /// Treatment of element sets that cannot be used.
    pub enum InvalidSets {
        /// They are left out, with one warning that counts them.
        LeaveOut = "leave-out",
        /// The first is an error.
        Refuse = "refuse",
    }
}

choice! {
    /// Treatment of the check digits of two-line sets.
    pub enum ChecksumPolicy {
        /// Nobody looks at them.
        Ignore = "ignore",
        /// A wrong one is an error.
        Verify = "verify",
    }
}

impl ChecksumPolicy {
    /// The policy that it stands for.
    pub const fn policy(self) -> Checksums {
        match self {
            Self::Ignore => Checksums::Ignore,
            Self::Verify => Checksums::Verify,
        }
    }
}
