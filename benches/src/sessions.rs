//! FTP sessions over LEO and GEO: the heaviest cell of the study of FTP sessions, beside ns-2.35 on the same arrivals
//! and sizes.
//!
//! The case is read as `peers/ns2/README.md` says. Ours writes down what the study reads; ns-2 writes nothing.

use core::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use slantpath_results::CellValue;
use slantpath_runner::{RunOptions, RunOutput, Scenario, run};

use crate::dumbbell::ns2;
use crate::rounds::{Contestant, Failure, Work, medians};
use crate::table::{Row, Table};

/// Simulated seconds: an hour takes ns-2 up to a minute and a half.
const SECONDS: u32 = 900;
const MILLISECONDS: f64 = 1e3 * SECONDS as f64;
const BIT_ERROR_RATE: &str = "1e-7";
const ROUNDS: usize = 3;

/// Over which satellites, and whether a server and a DiffServ edge stand before the terminal.
#[derive(Clone, Copy, Debug)]
struct Case {
    sky: &'static str,
    constellation: &'static str,
    has_edge: bool,
}

impl Case {
    const ALL: [Self; 4] = [
        Self { sky: "leo", constellation: "iridium", has_edge: false },
        Self { sky: "leo", constellation: "iridium", has_edge: true },
        Self { sky: "geo", constellation: "euroskyway", has_edge: false },
        Self { sky: "geo", constellation: "euroskyway", has_edge: true },
    ];

    fn title(self) -> String {
        let edge = if self.has_edge { "with" } else { "no" };
        format!("sessions over {}, {edge} edge", self.sky.to_uppercase())
    }

    fn scenario(self) -> Result<Scenario, Failure> {
        let path: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "..", "studies", "ftp-qos", &format!("{}.toml", self.sky)]
                .iter()
                .collect();
        let mut values = vec![
            format!("scenario.duration={SECONDS} s"),
            format!("sky.access.{}.downlink.bit_error_rate={BIT_ERROR_RATE}", self.constellation),
        ];
        if !self.has_edge {
            // Ours has two routers in any case; so they take no time, and neither meter nor drop.
            let link = |name: &str, ends: &str| {
                format!("links.{name}={{ ends = [{ends}], rate = \"1000 Gbit/s\", delay = \"0 s\" }}")
            };
            values.push(link("server", "\"server\", \"edge\""));
            values.push(link("edge", "\"edge\", \"terminal\""));
        }
        Ok(Scenario::load(&path, &values)?)
    }

    fn peer(self, sessions: &Path) -> Result<(), Failure> {
        let script: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "..", "peers", "ns2", "ftp-qos.tcl"].iter().collect();
        let mut command = Command::new("ns");
        command.arg(script).arg(self.sky).arg(sessions).arg(BIT_ERROR_RATE);
        command.args([u32::from(self.has_edge), SECONDS, 1, 0].map(|number| number.to_string()));
        let status = command.stderr(Stdio::null()).status()?;
        if status.success() { Ok(()) } else { Err(format!("ns ended with {status}").into()) }
    }
}

/// Compares all cases.
///
/// # Errors
/// If a run fails, ours or ns-2's.
pub fn sessions() -> Result<Table, Failure> {
    let mut rows = Vec::new();
    let file = std::env::temp_dir().join(format!("slantpath-sessions-{}", std::process::id()));
    for case in Case::ALL {
        let scenario = case.scenario()?;
        std::fs::write(&file, listed(&run(&scenario, &RunOptions::default())?)?)?;
        let ours = || {
            run(&scenario, &RunOptions::default())?;
            Ok(Work::Here { units: MILLISECONDS })
        };
        let mut contestants = vec![Contestant { name: "slantpath", work: Box::new(ours) }];
        if ns2::is_installed() {
            let theirs = || case.peer(&file).map(|()| Work::ByChild { units: MILLISECONDS });
            contestants.push(Contestant { name: "ns-2.35", work: Box::new(theirs) });
        }
        let speeds = medians(&mut contestants, ROUNDS)?;
        let peer = speeds.get(1).map(|speed| ("ns-2.35".to_owned(), *speed));
        rows.push(Row { case: case.title(), ours: speeds[0], peer });
    }
    std::fs::remove_file(&file)?;
    Ok(Table { unit: "simulated milliseconds".into(), rows })
}

/// The beginnings and sizes of a run's sessions, a line each.
fn listed(output: &RunOutput) -> Result<String, Failure> {
    let table = output.table("sessions").ok_or("a run with sessions has their table")?;
    let column = |name: &str| table.column(name).ok_or_else(|| format!("sessions have no {name}"));
    let (begun, size) = (column("begun_s")?, column("size_bytes")?);
    let mut text = String::new();
    for row in 0..table.rows() {
        let (CellValue::F64(begun), CellValue::U64(size)) = (begun.at(row), size.at(row)) else {
            return Err("every session begins and has a size".into());
        };
        writeln!(text, "{begun:.9} {size}")?;
    }
    Ok(text)
}
