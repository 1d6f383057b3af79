//! A copy of the project whose drawn mutants are all built in, each behind a number: the environment says which one is
//! on, so that one build serves all of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use super::draw::{Field, Place};
use super::site::SWITCH;

/// Names the mutant that is on.
pub(super) const MUTANT: &str = "SLANTPATH_MUTANT";

/// Names a file to which a program writes which mutants it passes, and in which thread.
pub(super) const REACHED: &str = "SLANTPATH_MUTANTS_REACHED";

/// Module that each crate with mutants gets at the end of its root.
const MODULE: &str = r#"
/// The mutant that the environment names.
#[doc(hidden)]
#[allow(warnings, clippy::all, clippy::pedantic)]
mod switched_mutant {
    use std::cell::RefCell;
    use std::io::Write as _;
    use std::sync::OnceLock;

    static ACTIVE: OnceLock<u32> = OnceLock::new();
    static REACHED: OnceLock<Option<std::path::PathBuf>> = OnceLock::new();
    const RECORDS: u32 = u32::MAX - 1;
    std::thread_local! { static PASSED: RefCell<Vec<bool>> = const { RefCell::new(Vec::new()) }; }

    fn active() -> u32 {
        if let Ok(text) = std::env::var("SLANTPATH_MUTANT") {
            return text.parse().unwrap_or(u32::MAX);
        }
        match REACHED.get_or_init(|| std::env::var_os("SLANTPATH_MUTANTS_REACHED").map(Into::into)) {
            Some(_) => RECORDS,
            None => u32::MAX,
        }
    }

    #[inline]
    pub(crate) fn on(number: u32) -> bool {
        let active = *ACTIVE.get_or_init(active);
        if active == RECORDS {
            record(number);
        }
        active == number
    }

    #[cold]
    fn record(number: u32) {
        let is_new = PASSED.try_with(|passed| {
            let mut passed = passed.borrow_mut();
            let at = number as usize;
            if passed.len() <= at {
                passed.resize(at + 1, false);
            }
            !core::mem::replace(&mut passed[at], true)
        });
        if is_new.unwrap_or(true) {
            let name = std::thread::current().name().unwrap_or("").to_owned();
            let line = format!("{number}\t{name}\n");
            let path = REACHED.get().and_then(Option::as_ref).unwrap();
            let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
            file.and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
        }
    }
}
"#;

/// The copy, below a directory of its own.
#[derive(Debug)]
pub(super) struct Copy {
    root: PathBuf,
}

impl Copy {
    /// Makes the copy equal to the project, but for the files with mutants, which `switch` writes. What is equal
    /// already is not written, so that cargo builds what has changed alone.
    pub(super) fn make(
        project: &Path,
        root: &Path,
        field: &Field,
        crates: &[String],
    ) -> Result<Self, String> {
        let failed = |error: io::Error| format!("{}: {error}", root.display());
        fs::create_dir_all(root).map_err(failed)?;
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(project)
            .output()
            .map_err(|error| format!("cannot start git: {error}"))?;
        let listed = String::from_utf8_lossy(&output.stdout).into_owned();
        let files: BTreeSet<&str> = listed.split_terminator('\0').collect();
        let manifest = root.with_extension("files");
        for stale in fs::read_to_string(&manifest).unwrap_or_default().split_terminator('\0') {
            if !files.contains(stale) {
                let _gone_already = fs::remove_file(root.join(stale));
            }
        }
        let roots: Vec<String> = crates.iter().map(|name| root_of(name)).collect();
        let mut switched: BTreeSet<&str> = roots.iter().map(String::as_str).collect();
        switched.extend(field.files.iter().map(|(path, _)| path.as_str()));
        for path in files.difference(&switched) {
            match fs::read(project.join(path)) {
                Ok(bytes) => {
                    write_if_new(&root.join(path), &bytes).map_err(failed)?;
                    // Scripts stay programs.
                    let permissions = fs::metadata(project.join(path)).map_err(failed)?.permissions();
                    fs::set_permissions(root.join(path), permissions).map_err(failed)?;
                }
                // Listed, and taken away since.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(format!("{path}: {error}")),
            }
        }
        fs::write(&manifest, &listed).map_err(failed)?;
        link_shared(project, root).map_err(failed)?;
        Ok(Self { root: root.to_owned() })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes each file of the field with its mutants, by their numbers, and gives each crate the switch.
    pub(super) fn switch(
        &self,
        project: &Path,
        field: &Field,
        mutants: &[(u32, Place)],
        crates: &[String],
    ) -> Result<(), String> {
        for (file, (path, _)) in field.files.iter().enumerate() {
            let here: Vec<(u32, Place)> =
                mutants.iter().filter(|(_, place)| place.file == file).copied().collect();
            let text = fs::read_to_string(project.join(path)).map_err(|error| format!("{path}: {error}"))?;
            let text = switched(&text, field, &here);
            self.write(path, &with_module(path, text))?;
        }
        // A root that is nothing but declarations is no file of the field's draws, and needs the module all the same.
        for name in crates {
            let path = root_of(name);
            if field.files.iter().all(|(other, _)| *other != path) {
                let text =
                    fs::read_to_string(project.join(&path)).map_err(|error| format!("{path}: {error}"))?;
                self.write(&path, &with_module(&path, text))?;
            }
        }
        Ok(())
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        write_if_new(&self.root.join(path), text.as_bytes()).map_err(|error| format!("{path}: {error}"))
    }
}

/// The file that is the root of a crate.
fn root_of(name: &str) -> String {
    format!("crates/{name}/src/lib.rs")
}

fn with_module(path: &str, text: String) -> String {
    if path.ends_with("/src/lib.rs") { text + MODULE } else { text }
}

/// The text with these mutants behind their numbers.
fn switched(text: &str, field: &Field, mutants: &[(u32, Place)]) -> String {
    let mut sorted: Vec<_> = mutants.iter().map(|(number, place)| (field.site(*place), *number)).collect();
    sorted.sort_by_key(|(site, _)| site.range.start);
    let mut switched = String::with_capacity(text.len());
    let mut done = 0;
    for (site, number) in sorted {
        switched.push_str(&text[done..site.range.start]);
        switched
            .push_str(&site.replacement.replace(SWITCH, &format!("crate::switched_mutant::on({number})")));
        done = site.range.end;
    }
    switched + &text[done..]
}

/// The lines that each of these mutants of one file takes there, counted from 1, last one included.
pub(super) fn lines(field: &Field, mutants: &[(u32, Place)], file: usize) -> Vec<(Place, usize, usize)> {
    let mut here: Vec<Place> =
        mutants.iter().map(|(_, place)| *place).filter(|place| place.file == file).collect();
    here.sort_by_key(|place| field.site(*place).range.start);
    let mut added = 0;
    let mut lines = Vec::new();
    for place in here {
        let site = field.site(place);
        let first = site.line + added;
        let taken = site.replacement.matches('\n').count();
        lines.push((place, first, first + taken));
        added += taken - site.lines_taken_out;
    }
    lines
}

fn write_if_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, bytes)
}

/// Data beside the checkout stands beside the copy, too.
fn link_shared(project: &Path, root: &Path) -> io::Result<()> {
    let (shared, link) = (project.join("../shared"), root.join("../shared"));
    if !shared.exists() || link.exists() {
        return Ok(());
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(shared.canonicalize()?, link)?;
    Ok(())
}
