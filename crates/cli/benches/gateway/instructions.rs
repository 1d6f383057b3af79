//! Instructions of a message in live programs, beside those of the same lab in a run: callgrind counts both.
//!
//! Each is run for a shorter and for a longer time, so that what starting and ending take cancels.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::lab::Lab;

/// Messages a second: as many as all programs carry under callgrind.
const RATE: f64 = 800.0;
/// Seconds until they are sent, for programs that start so slowly.
const LEAD_S: u64 = 25;
const SENDING_S: [u64; 2] = [3, 9];
const PROGRAMS: [&str; 4] = ["gateway", "far", "asp-1", "asp-2"];

/// Compares the two, in a line.
pub(crate) fn compare(program: &Path) -> Result<String, String> {
    let found = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        return Err("no valgrind".to_owned());
    }
    let directory = std::env::temp_dir().join(format!("slantpath-callgrind-{}", std::process::id()));
    fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let labs = SENDING_S.map(|sending_s| Lab::servers(120, RATE, 10).sending(LEAD_S, sending_s));
    let (mut all_live, mut runs) = (Vec::new(), Vec::new());
    for (lab, sending_s) in labs.iter().zip(SENDING_S) {
        all_live.push(live(program, lab, &directory)?);
        runs.push(in_a_run(program, lab, sending_s, &directory)?);
    }
    fs::remove_dir_all(&directory).map_err(|error| error.to_string())?;
    let [shorter, longer] = &all_live[..] else { unreachable!("one for each time") };
    let arrived = longer.1 - shorter.1;
    let gateway = (longer.0[0] - shorter.0[0]) / arrived;
    let all = (longer.0.iter().sum::<f64>() - shorter.0.iter().sum::<f64>()) / arrived;
    let simulated = (runs[1].0 - runs[0].0) / (runs[1].1 - runs[0].1);
    Ok(format!(
        "instructions: of {arrived:.0} messages one takes {all:.0} live in all four programs, {gateway:.0} of \
         them in the gateway, and {simulated:.0} in a run: {:.2} times (2.0 are asked)",
        all / simulated
    ))
}

/// Instructions of each program, and messages that arrived.
fn live(program: &Path, lab: &Lab, directory: &Path) -> Result<(Vec<f64>, f64), String> {
    let out = |name: &str| directory.join(name);
    let arrived = lab.under(program, &|name| callgrind(&out(name)))?;
    Ok((PROGRAMS.iter().map(|name| counted(&out(name))).collect(), arrived))
}

/// Instructions of a run, and messages that arrived in it.
fn in_a_run(program: &Path, lab: &Lab, sending_s: u64, directory: &Path) -> Result<(f64, f64), String> {
    let (file, count, out) = (directory.join("load.toml"), directory.join("run"), directory.join("results"));
    fs::write(&file, lab.file("33")).map_err(|error| error.to_string())?;
    let tool = callgrind(&count);
    let duration = format!("scenario.duration=\"{} s\"", LEAD_S + sending_s + 5);
    let done = Command::new(&tool[0])
        .args(&tool[1..])
        .arg(program)
        .arg("run")
        .arg(&file)
        .args(["--set", &duration, "--out"])
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !done.is_ok_and(|status| status.success()) {
        return Err("the run has failed".to_owned());
    }
    let table = fs::read_to_string(out.join("signalling_load.csv")).map_err(|error| error.to_string())?;
    let mut lines = table.lines();
    let heads: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = heads.iter().position(|head| *head == "delivered_messages").ok_or("no such column")?;
    let arrived = lines.filter_map(|line| line.split(',').nth(column)?.parse::<f64>().ok()).sum();
    Ok((counted(&count), arrived))
}

fn callgrind(out: &Path) -> Vec<String> {
    let file = format!("--callgrind-out-file={}", out.display());
    ["valgrind", "--tool=callgrind", "--quiet", &file].map(str::to_owned).to_vec()
}

/// Instructions that callgrind has counted.
fn counted(out: &PathBuf) -> f64 {
    let text = fs::read_to_string(out).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("totals: "));
    line.unwrap_or_else(|| panic!("{} has no totals", out.display())).trim().parse().unwrap()
}
