//! Constellations by name: the published numbers, and where they come from.
//!
//! Altitudes, planes and inclinations are those of the operators' filings and of the papers that this project
//! reproduces; `tests/presets.rs` holds them against element sets of what flies. Filings give no phasing
//! between planes: where flight does not tell either, [`Phasing`] is a choice, and says so.

use core::fmt;
use core::str::FromStr;

use slantpath_base::{Angle, Duration};

use super::shell::{Phasing, Shell};
use super::{Arrangement, Constellation, Contradiction, IslConfig, IslPattern, Payload, Seam};
use crate::utc::Utc;

/// A constellation known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preset {
    /// Three geostationary satellites at 90° W, 30° E and 150° E, bent pipes.
    Clarke,
    /// EuroSkyWay as the studies use it: five geostationary satellites 72° apart, linked in a ring, one at
    /// 30° W.
    EuroSkyWay,
    /// Iridium: 6 planes of 11, 780 km, 86.4°, 31.6° apart with a seam of 22°, four links each.
    Iridium,
    /// Kuiper: three shells of 34 × 34, 36 × 36 and 28 × 28 at 630, 610 and 590 km (FCC filing of 2019).
    Kuiper,
    /// O3b: 20 satellites over the equator at 8,062 km, bent pipes.
    O3b,
    /// OneWeb's first phase: 12 planes of 49 at 1,200 km, 87.9°, 15.2° apart; bent pipes without links.
    OneWeb,
    /// Starlink's first generation, all five shells (FCC modification of 2021).
    Starlink,
    /// Starlink's first shell alone: 72 planes of 22 at 550 km, 53°.
    StarlinkShell1,
    /// Telesat Lightspeed: 6 × 13 polar and 20 × 11 inclined (FCC modification of 2020).
    Telesat,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Clarke,
        Self::EuroSkyWay,
        Self::Iridium,
        Self::Kuiper,
        Self::O3b,
        Self::OneWeb,
        Self::Starlink,
        Self::StarlinkShell1,
        Self::Telesat,
    ];

    /// The name by which a scenario asks for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clarke => "clarke",
            Self::EuroSkyWay => "euroskyway",
            Self::Iridium => "iridium",
            Self::Kuiper => "kuiper",
            Self::O3b => "o3b",
            Self::OneWeb => "oneweb",
            Self::Starlink => "starlink",
            Self::StarlinkShell1 => "starlink-shell-1",
            Self::Telesat => "telesat",
        }
    }

    /// The minimum elevation that its operator or the paper uses.
    pub const fn min_elevation(self) -> Angle {
        Angle::from_degrees(match self {
            Self::Clarke | Self::EuroSkyWay | Self::Iridium => 8.2,
            Self::Kuiper => 35.0,
            Self::O3b | Self::Telesat => 10.0,
            Self::OneWeb | Self::Starlink | Self::StarlinkShell1 => 25.0,
        })
    }

    /// The east longitudes of its geostationary satellites, degrees; none where it has shells.
    pub const fn longitudes(self) -> &'static [f64] {
        match self {
            Self::Clarke => &[-90.0, 30.0, 150.0],
            Self::EuroSkyWay => &[-30.0, 42.0, 114.0, -174.0, -102.0],
            _ => &[],
        }
    }

    /// Shells of the preset, as numbers; none where it is geostationary.
    pub fn shells(self) -> Vec<Shell> {
        match self {
            Self::Clarke | Self::EuroSkyWay => Vec::new(),
            Self::Iridium => vec![iridium()],
            Self::Kuiper => {
                [("kuiper-1", 34, 630.0, 51.9), ("kuiper-2", 36, 610.0, 42.0), ("kuiper-3", 28, 590.0, 33.0)]
                    .map(|(name, count, altitude, inclination)| Shell {
                        total: Some(count * count),
                        isl: grid(),
                        ..Shell::new(name, Arrangement::Delta, (count, count), altitude, inclination)
                    })
                    .into()
            }
            Self::O3b => vec![Shell {
                payload: Payload::BentPipe,
                total: Some(20),
                ..Shell::new("o3b", Arrangement::Ring, (1, 20), 8_062.0, 0.0)
            }],
            Self::OneWeb => vec![Shell {
                payload: Payload::BentPipe,
                total: Some(588),
                plane_separation: Some(Angle::from_degrees(15.2)),
                phasing: Phasing::Alternate,
                ..Shell::new("oneweb", Arrangement::Star, (12, 49), 1_200.0, 87.9)
            }],
            Self::Starlink => STARLINK.iter().map(starlink).collect(),
            Self::StarlinkShell1 => vec![starlink(&STARLINK[0])],
            Self::Telesat => vec![
                Shell {
                    total: Some(78),
                    isl: grid(),
                    ..Shell::new("telesat-polar", Arrangement::Star, (6, 13), 1_015.0, 98.98)
                },
                Shell {
                    total: Some(220),
                    isl: grid(),
                    ..Shell::new("telesat-inclined", Arrangement::Delta, (20, 11), 1_325.0, 50.88)
                },
            ],
        }
    }

    /// The constellations, checked and placed at an epoch: one for each shell.
    pub fn build(self, epoch: Utc) -> Result<Vec<Constellation>, Contradiction> {
        match self {
            Self::Clarke => Ok(vec![Constellation::geostationary(self.name(), self.longitudes())]),
            Self::EuroSkyWay => {
                let ring = Constellation::geostationary(self.name(), self.longitudes());
                let isl = IslConfig { pattern: IslPattern::IntraPlane, ..IslConfig::default() };
                Ok(vec![ring.with_payload(Payload::Regenerative).with_isl(isl)])
            }
            Self::Iridium
            | Self::Kuiper
            | Self::O3b
            | Self::OneWeb
            | Self::Starlink
            | Self::StarlinkShell1
            | Self::Telesat => self.shells().iter().map(|shell| shell.build(epoch)).collect(),
        }
    }
}

fn grid() -> IslConfig {
    IslConfig { pattern: IslPattern::Grid, ..IslConfig::default() }
}

/// Published: 31.6° and 22°, 780 km, 100.4 minutes, alternate planes staggered by half a spacing, links
/// between planes off near the poles. What flies (August 2025) is staggered by 15.1° instead of 16.4°.
fn iridium() -> Shell {
    Shell {
        total: Some(66),
        period: Some(Duration::from_secs(6_024)),
        plane_separation: Some(Angle::from_degrees(31.6)),
        seam_separation: Some(Angle::from_degrees(22.0)),
        phasing: Phasing::Alternate,
        isl: IslConfig { cut_off_latitude: Some(Angle::from_degrees(60.0)), seam: Seam::Open, ..grid() },
        ..Shell::new("iridium", Arrangement::Star, (6, 11), 780.0, 86.4)
    }
}

/// Name, planes, satellites in each, altitude, inclination, Walker's F (0 where planes are far apart).
type StarlinkShell = (&'static str, usize, usize, f64, f64, u32);

const STARLINK: [StarlinkShell; 5] = [
    ("starlink-1", 72, 22, 550.0, 53.0, 39),
    ("starlink-2", 72, 22, 540.0, 53.2, 39),
    ("starlink-3", 36, 20, 570.0, 70.0, 11),
    ("starlink-4", 6, 58, 560.0, 97.6, 0),
    ("starlink-5", 4, 43, 560.0, 97.6, 0),
];

/// The filing gives no phasing. F = 39 keeps satellites of crossing planes apart and is what studies of the
/// 72 × 22 shell commonly take; what flies has 18 places in a plane and another phase.
fn starlink(&(name, planes, per_plane, altitude, inclination, f): &StarlinkShell) -> Shell {
    Shell {
        total: Some(planes * per_plane),
        phasing: Phasing::Walker(f),
        isl: grid(),
        ..Shell::new(name, Arrangement::Delta, (planes, per_plane), altitude, inclination)
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no preset has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no constellation is called `{name}`; known are {known}")]
pub struct UnknownPreset {
    /// Name that was asked for.
    pub name: String,
    /// Names of all presets.
    pub known: String,
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        let wanted = name.to_ascii_lowercase();
        Self::ALL.into_iter().find(|preset| preset.name() == wanted).ok_or_else(|| UnknownPreset {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_consistent_and_found_by_its_name() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
            let built = preset.build(Utc::J2000).unwrap();
            assert!(built.iter().all(|constellation| constellation.check().is_ok()), "{preset}");
        }
        assert!("teledesic".parse::<Preset>().is_err());
        let count = |preset: Preset| -> usize {
            preset.build(Utc::J2000).unwrap().iter().map(|shell| shell.satellites.len()).sum()
        };
        assert_eq!(count(Preset::Starlink), 4_408);
        assert_eq!(count(Preset::Kuiper), 3_236);
        assert_eq!(count(Preset::Telesat), 298);
    }
}
