//! `make counts`: instructions and allocations of every case, held to `benches/counts.toml`. It fails if one has grown
//! by more than 5 %. Names of cases choose some; `--write` puts the counts into the ledger.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks through its streams")]

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use slantpath_benches::count::{self, Case, Counts, Ledger, Row, Table, Verdict};
use slantpath_benches::rounds::Failure;

const LEDGER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/counts.toml");

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match &arguments[..] {
        // How this program calls itself: one case, alone in a process.
        [option, name] if option == "--case" => run_case(name),
        _ => run(&arguments),
    };
    done.unwrap_or_else(|failure| {
        eprintln!("count: {failure}");
        ExitCode::FAILURE
    })
}

fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let writes = arguments.iter().any(|argument| argument == "--write");
    let names: Vec<&String> = arguments.iter().filter(|argument| *argument != "--write").collect();
    if let Some(unknown) = names.iter().find(|name| Case::named(name).is_none()) {
        let known: Vec<_> = Case::ALL.iter().map(|case| case.name).collect();
        return Err(format!("there is no case {unknown}; cases: {}", known.join(", ")).into());
    }
    let mut ledger = match fs::read_to_string(LEDGER) {
        Ok(text) => Ledger::parse(&text).map_err(|error| format!("{LEDGER}: {error}"))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ledger::default(),
        Err(error) => return Err(format!("{LEDGER}: {error}").into()),
    };
    let mut table = Table::default();
    let mut worse = Vec::new();
    for case in
        Case::ALL.iter().filter(|case| names.is_empty() || names.iter().any(|name| *name == case.name))
    {
        eprintln!("{} …", case.name);
        let counts = counts(case)?;
        match ledger.judge(case.name, counts) {
            Verdict::Worse => worse.push(case.name),
            Verdict::Better => {
                eprintln!("{}: better by more than 5 %: make counts COUNTS=--write", case.name);
            }
            Verdict::AsBefore | Verdict::New => {}
        }
        table.0.push(Row { name: case.name, unit: case.unit, counts, before: ledger.get(case.name) });
        if writes {
            ledger.set(case.name, counts);
        }
    }
    println!("{table}");
    if writes {
        fs::write(LEDGER, ledger.text()).map_err(|error| format!("{LEDGER}: {error}"))?;
    } else if !worse.is_empty() {
        return Err(format!("more than 5 % above {LEDGER}: {}", worse.join(", ")).into());
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a case twice: once for its allocations, once under callgrind for its instructions.
fn counts(case: &Case) -> Result<Counts, Failure> {
    let program = std::env::current_exe()?;
    let (units, allocations) = units_and_allocations(&program, case)?;
    let instructions = count::instructions(&program, &["--case", case.name])?;
    Ok(Counts {
        instructions: instructions as f64 / units as f64,
        allocations: allocations as f64 / units as f64,
    })
}

fn units_and_allocations(program: &Path, case: &Case) -> Result<(u64, u64), Failure> {
    let output = Command::new(program).args(["--case", case.name]).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mut numbers = said.split_whitespace().map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(units)), Some(Ok(allocations))) if units > 0 => Ok((units, allocations)),
        _ => Err(format!("{}: {said}{}", case.name, String::from_utf8_lossy(&output.stderr)).into()),
    }
}

fn run_case(name: &str) -> Result<ExitCode, Failure> {
    let mut work = Case::named(name).ok_or_else(|| format!("there is no case {name}"))?.prepare()?;
    let mut units = 0;
    let allocated = allocation_counter::measure(|| units = count::measured(&mut *work));
    println!("{units} {}", allocated.count_total);
    Ok(ExitCode::SUCCESS)
}
