//! Whole runs under a sky: what each takes of CPU time and memory, beside the most that it may take.

use core::fmt::{self, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use slantpath_base::{Duration, Seed};
use slantpath_runner::{Files, RunOptions, Scenario, run};

use crate::cpu_time::CpuTime;
use crate::rounds::Failure;
use crate::sky::{self, Load, Sky};

/// The word with which the program calls itself: one run, alone in a process, whose memory is that of the run.
pub const WORD: &str = "sky-run";

/// Run over a sky.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    /// TCP between a hundred cities for 200 s.
    Cities(Sky),
    /// Ten messages a second over Iridium for a day.
    Day,
    /// The most that the study of SCTP over satellites has, for an hour: 40 associations at a bit error rate of 1e-9.
    Study(Antennas),
}

/// Antennas of the terminals of the study, by the systems that they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Antennas {
    Iridium,
    IridiumAndGeo,
    TwoForIridium,
}

const CASES: [(&str, Case); 6] = [
    ("kuiper", Case::Cities(Sky::Kuiper)),
    ("starlink", Case::Cities(Sky::Starlink)),
    ("day", Case::Day),
    ("iridium", Case::Study(Antennas::Iridium)),
    ("iridium-and-geo", Case::Study(Antennas::IridiumAndGeo)),
    ("two-antennas", Case::Study(Antennas::TwoForIridium)),
];

impl Case {
    fn title(self) -> String {
        match self {
            Self::Cities(sky) => format!("100 cities over {}, 200 s", sky.name()),
            Self::Day => "10 messages/s over Iridium, a day".to_owned(),
            Self::Study(antennas) => {
                let over = match antennas {
                    Antennas::Iridium => "Iridium",
                    Antennas::IridiumAndGeo => "Iridium and GEO",
                    Antennas::TwoForIridium => "Iridium twice",
                };
                format!("{STUDY_PAIRS} associations over {over}, an hour")
            }
        }
    }

    /// The most that it may take, in seconds of CPU time.
    const fn most_seconds(self) -> f64 {
        match self {
            Self::Cities(_) => 120.0,
            Self::Day => 10.0,
            Self::Study(_) => 60.0,
        }
    }

    fn scenario(self) -> Result<Scenario, Failure> {
        let (name, text, sky, set) = match self {
            Self::Cities(sky) => {
                let text = sky::scenario(Duration::from_secs(200), Load::Unlimited);
                ("cities.toml", text, sky.topology(), Vec::new())
            }
            Self::Day => {
                let text = include_str!("../../scenarios/sctp-over-iridium.toml");
                let text = text.replace("intervals = \"10 s\"\n", "");
                let sky = include_str!("../../scenarios/iridium-london-boston.toml").to_owned();
                ("sctp-over-iridium.toml", text, sky, DAY_VALUES.map(str::to_owned).to_vec())
            }
            Self::Study(antennas) => {
                let set = STUDY_VALUES.map(str::to_owned).to_vec();
                ("scenario.toml", study_scenario(antennas), study_sky(antennas), set)
            }
        };
        let files: Files = Arc::new(move |_| Ok(sky.clone()));
        Scenario::parse(name, &text, &set, files).map_err(|faults| faults.to_string().into())
    }
}

const DAY_VALUES: [&str; 2] = ["scenario.duration=86400 s", "flows.telemetry.application.interval=100 ms"];
const STUDY_PAIRS: usize = 40;
const STUDY_VALUES: [&str; 2] =
    ["scenario.duration=3600 s", "sky.access.iridium.downlink.bit_error_rate=1e-9"];

/// The study's scenario with one association as it is in its file, and 39 more like it.
fn study_scenario(antennas: Antennas) -> String {
    let mut text = include_str!("../../studies/sctp-over-satellites/scenario.toml").to_owned();
    let primary = if antennas == Antennas::Iridium { "" } else { ".1" };
    for number in 1..STUDY_PAIRS {
        let _ = writeln!(
            text,
            "[nodes.source-{number:02}]\nkind = \"host\"\nsite = \"source-{number:02}\"\n\
             [nodes.sink-{number:02}]\nkind = \"host\"\nsite = \"sink-{number:02}\"\n\
             [flows.pair-{number:02}]\nfrom = \"source-{number:02}\"\nto = \"sink-{number:02}\"\n\
             transport = \"sctp\"\nprofile = \"paper\"\nprimary = \"sky.sink-{number:02}{primary}\"\n\
             start = \"500 ms\"\nstart_jitter = \"1 s\"\ncontent = \"pattern\"\n\
             application = {{ kind = \"bulk\", message_size = \"512 B\", total = \"unlimited\" }}"
        );
    }
    text
}

/// The study's sky over terminals at random places.
fn study_sky(antennas: Antennas) -> String {
    const SLOTS: [(&str, f64); 3] = [("geo-west", -90.0), ("geo-middle", 30.0), ("geo-east", 150.0)];
    let text = include_str!("../../studies/sctp-over-satellites/sky.toml");
    let (base, _) = text.split_once("[sites.source-00]").expect("the first terminal is behind the gateways");
    let mut text = base.to_owned();
    let mut stream = Seed::new(1, 0).stream("places");
    // In hundredths of a degree, as the study has it.
    let mut within = |least: f64, span: u64| (least + stream.below(span) as f64) / 100.0;
    for terminal in
        (0..STUDY_PAIRS).flat_map(|number| ["source", "sink"].map(|end| format!("{end}-{number:02}")))
    {
        let (latitude, longitude) = (within(-4_000.0, 11_000), within(-18_000.0, 36_000));
        let apart = |slot: f64| ((longitude - slot + 180.0).rem_euclid(360.0) - 180.0).abs();
        let nearest = SLOTS.into_iter().min_by(|one, other| apart(one.1).total_cmp(&apart(other.1)));
        let nearest = nearest.expect("there are three").0;
        let iridium = "{ constellation = \"iridium\" }".to_owned();
        let second = match antennas {
            Antennas::Iridium => String::new(),
            Antennas::IridiumAndGeo => {
                format!(", {{ constellation = \"{nearest}\", min_elevation = \"0 deg\" }}")
            }
            Antennas::TwoForIridium => format!(", {iridium}"),
        };
        let _ = writeln!(
            text,
            "[sites.{terminal}]\nlatitude = \"{latitude} deg\"\nlongitude = \"{longitude} deg\"\n\
             antennas = [{iridium}{second}]"
        );
    }
    text
}

/// CPU time and memory that a run took, and its packet-hops.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Taken {
    cpu_seconds: f64,
    most_bytes: f64,
    packet_hops: f64,
}

/// Does one run and prints what it took, for the process that has started this one.
///
/// # Errors
/// If there is no such run, or it fails.
pub fn run_alone(name: &str) -> Result<String, Failure> {
    let (_, case) = CASES.into_iter().find(|(known, _)| *known == name).ok_or("no such run")?;
    let output = run(&case.scenario()?, &RunOptions::default())?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kib: f64 = peak.trim().trim_end_matches(" kB").parse()?;
    Ok(format!("{} {} {}", CpuTime::read()?.own, kib * 1_024.0, output.packet_hops))
}

fn run_in_a_child(name: &str) -> Result<Taken, Failure> {
    let program = std::env::current_exe()?;
    let output = Command::new(program).args([WORD, name]).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{name}: {}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [cpu_seconds, most_bytes, packet_hops] = numbers[..] else {
        return Err(format!("{name}: three numbers, not {text}").into());
    };
    Ok(Taken { cpu_seconds, most_bytes, packet_hops })
}

/// Results of all runs.
#[derive(Clone, Debug)]
pub struct Runs(Vec<(Case, Taken)>);

impl fmt::Display for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<44} {:>8} {:>8} {:>8} {:>14}",
            "whole runs under a sky", "CPU s", "at most", "MB", "million hops"
        )?;
        for (case, Taken { cpu_seconds, most_bytes, packet_hops }) in &self.0 {
            writeln!(
                f,
                "{:<44} {cpu_seconds:>8.1} {:>8.0} {:>8.0} {:>14.1}",
                case.title(),
                case.most_seconds(),
                most_bytes / 1e6,
                packet_hops / 1e6
            )?;
        }
        Ok(())
    }
}

/// Runs all of them, one after the other; `begin` is told of each before it begins.
///
/// # Errors
/// If one cannot be started, or fails.
pub fn runs(begin: impl Fn(&str)) -> Result<Runs, Failure> {
    let mut runs = Vec::new();
    for (name, case) in CASES {
        begin(name);
        runs.push((case, run_in_a_child(name)?));
    }
    Ok(Runs(runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_can_be_read() {
        for (name, case) in CASES {
            let scenario = case.scenario().unwrap_or_else(|failure| panic!("{name}: {failure}"));
            let merged = scenario.merged();
            if let Case::Study(_) = case {
                assert_eq!(merged.matches("\ntransport = \"sctp\"").count(), STUDY_PAIRS, "{name}");
            }
        }
    }
}
