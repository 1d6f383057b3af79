//! The directory of `--out`: found fit before the work begins, it holds the results of one command at a time.
//!
//! A command holds a lock on it from beginning to end, so that another one is refused at once.
//!
//! The manifest lists what the program wrote. What it lists and the new results do not have is removed; what it does
//! not list belongs to someone else and is neither removed nor overwritten.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value as Json, json};
use slantpath_results::{
    DirectoryLock, Format, LockError, LongTable, Table, write_file, write_long_table, write_table,
};
use slantpath_runner::{RunRecords, TEXT_MAX, read_bounded};

use crate::failure::Failure;

const MANIFEST: &str = "manifest.json";

/// A directory that results may be written into.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    /// Names of the files that an earlier command wrote here, by its manifest.
    earlier: BTreeSet<String>,
    /// Held until all is done, unless whoever writes holds it.
    _lock: Option<DirectoryLock>,
}

/// Files to be written: their names and contents.
#[derive(Default)]
pub(crate) struct Contents<'a> {
    files: Vec<(String, Content<'a>)>,
}

/// A table, wherever its rows are.
#[derive(Clone, Copy)]
pub(crate) enum AnyTable<'a> {
    /// Table in memory.
    Held(&'a Table),
    /// On the disk.
    Long(&'a LongTable),
}

enum Content<'a> {
    Bytes(&'a [u8]),
    /// The packets of a link.
    Capture(&'a RunRecords, &'a str),
    Table(AnyTable<'a>, Format),
}

/// A file that is given up when the command is to stop.
struct UntilStopped<'a, W> {
    out: W,
    stop: &'a AtomicBool,
}

impl<W: Write> Write for UntilStopped<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Content<'_> {
    fn write(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => out.write_all(bytes),
            Self::Capture(records, link) => records.write_capture(link, out),
            Self::Table(AnyTable::Held(table), format) => write_table(table, *format, out),
            Self::Table(AnyTable::Long(table), format) => write_long_table(table, *format, out),
        }
    }
}

impl AnyTable<'_> {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Held(table) => table.name(),
            Self::Long(table) => table.header().name(),
        }
    }
}

impl<'a> Contents<'a> {
    /// Tables as Parquet and as CSV.
    pub(crate) fn tables(&mut self, tables: &'a [Table]) {
        for table in tables {
            self.table(AnyTable::Held(table));
        }
    }

    /// A table as Parquet and as CSV.
    pub(crate) fn table(&mut self, table: AnyTable<'a>) {
        for (name, format) in files_of_table(table.name()).into_iter().zip(FORMATS) {
            self.files.push((name, Content::Table(table, format)));
        }
    }

    /// The packets of a link that a run captured.
    pub(crate) fn capture(&mut self, name: String, records: &'a RunRecords, link: &'a str) {
        self.files.push((name, Content::Capture(records, link)));
    }

    pub(crate) fn bytes(&mut self, name: impl Into<String>, bytes: &'a [u8]) {
        self.files.push((name.into(), Content::Bytes(bytes)));
    }

    fn names(&self) -> Vec<String> {
        self.files.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// The formats of every table.
const FORMATS: [Format; 2] = [Format::Parquet, Format::Csv];

/// The files of a table of that name.
pub(crate) fn files_of_table(name: &str) -> [String; 2] {
    FORMATS.map(|format| format!("{name}.{}", format.extension()))
}

/// Directories below that of results in which finished work waits for the rest.
const STORES: [&str; 2] = ["runs", "unfinished"];

/// Makes a directory that an option names if it is not there, and locks it for this command.
pub(crate) fn lock(option: &str, path: &Path) -> Result<DirectoryLock, Failure> {
    DirectoryLock::take(path, &STORES).map_err(|error| match error {
        LockError::Held(_) => {
            Failure::Misused(format!("{option}: {error}: wait for it, or name another directory"))
        }
        LockError::Unwritable { .. } if path.is_file() => {
            let path = path.display();
            Failure::Failed(format!("{option}: `{path}` is a file, not a directory; name another directory"))
        }
        LockError::Unwritable { .. } => Failure::Failed(format!("{option}: {error}")),
    })
}

impl Directory {
    /// Makes the directory if it is not there. It is refused if nothing can be written into it, if another command
    /// writes into it, or if it holds files of someone else that results may be called like.
    pub(crate) fn open(
        path: &Path,
        may_be_written: impl IntoIterator<Item = String>,
    ) -> Result<Self, Failure> {
        let lock = lock("--out", path)?;
        Ok(Self { _lock: Some(lock), ..Self::of_holder(path, may_be_written)? })
    }

    /// Variant of [`Directory::open`] that refuses the results of every earlier command: what it held would be lost.
    pub(crate) fn fresh(path: &Path, may_be_written: &[&str]) -> Result<Self, Failure> {
        let directory = Self::open(path, may_be_written.iter().map(|&name| name.to_owned()))?;
        if directory.earlier.is_empty() {
            return Ok(directory);
        }
        Err(Failure::Misused(format!(
            "--out: {} holds results of an earlier command; name another directory, or remove this one",
            path.display()
        )))
    }

    /// Variant of [`Directory::open`] for a caller who holds the lock.
    pub(crate) fn of_holder(
        path: &Path,
        may_be_written: impl IntoIterator<Item = String>,
    ) -> Result<Self, Failure> {
        let directory = Self { path: path.to_owned(), earlier: files_of_manifest(path)?, _lock: None };
        directory.refuse_files_of_others(may_be_written)?;
        Ok(directory)
    }

    fn refuse_files_of_others(&self, names: impl IntoIterator<Item = String>) -> Result<(), Failure> {
        for name in names.into_iter().filter(|name| !self.earlier.contains(name)) {
            let path = self.path.join(&name);
            match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(Failure::Misused(format!(
                        "--out: no file can be called {}: {error}",
                        path.display()
                    )));
                }
                Ok(_) => {
                    return Err(Failure::Misused(format!(
                        "--out: {} is there, no {MANIFEST} says that this program wrote it, and results may \
                         overwrite it; name another directory, or move the file away",
                        path.display()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Writes results in place of those of an earlier command, each file whole or not at all, with a manifest that
    /// lists them. Whatever moment it is interrupted at, the manifest lists every file that was written. `stop`
    /// ends it at once: what the results are made of is kept until they are written.
    pub(crate) fn replace(
        &mut self,
        contents: &Contents<'_>,
        manifest: &mut Json,
        stop: &AtomicBool,
    ) -> Result<Vec<String>, Failure> {
        let names = contents.names();
        self.refuse_files_of_others(names.iter().cloned())?;
        let all: BTreeSet<String> = self.earlier.iter().chain(&names).cloned().collect();
        self.write_manifest(&json!({
            "program": manifest["program"],
            "version": manifest["version"],
            "state": "being written",
            "files": all,
        }))?;
        for stale in self.earlier.iter().filter(|name| !names.contains(name)) {
            let path = self.path.join(stale);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Failure::of_file(path)(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        for (name, content) in &contents.files {
            let written = write_file(&self.path.join(name), |file| {
                content.write(&mut UntilStopped { out: file, stop })
            });
            if stop.load(Ordering::Relaxed) {
                return Err(self.interrupted());
            }
            written.map_err(|error| unwritable(&error))?;
        }
        self.list(names, manifest)
    }

    /// Writes a manifest that lists these files. Gives their names, and that of the manifest.
    pub(crate) fn list(
        &mut self,
        mut names: Vec<String>,
        manifest: &mut Json,
    ) -> Result<Vec<String>, Failure> {
        manifest["files"] = json!(names);
        self.write_manifest(manifest)?;
        self.earlier = names.iter().cloned().collect();
        names.push(MANIFEST.to_owned());
        Ok(names)
    }

    fn write_manifest(&self, manifest: &Json) -> Result<(), Failure> {
        let path = self.path.join(MANIFEST);
        write_file(&path, |file| writeln!(file, "{manifest:#}")).map_err(|error| unwritable(&error))
    }

    /// Says that it was ended while results were written.
    pub(crate) fn interrupted(&self) -> Failure {
        let place = self.path.display();
        Failure::Interrupted(format!(
            "interrupted: not all is written into {place}; the same command goes on"
        ))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The error names the file.
fn unwritable(error: &io::Error) -> Failure {
    Failure::Failed(error.to_string())
}

/// Names of the files that an earlier command wrote into a directory.
fn files_of_manifest(directory: &Path) -> Result<BTreeSet<String>, Failure> {
    let path = directory.join(MANIFEST);
    let text = match read_bounded(&path, TEXT_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        text => text.map_err(Failure::of_file(path.clone()))?,
    };
    let manifest: Json = serde_json::from_slice(&text).unwrap_or_default();
    if manifest["program"] != "slantpath" {
        return Err(Failure::Misused(format!(
            "--out: {} is not of this program; name another directory",
            path.display()
        )));
    }
    let files = manifest["files"].as_array().into_iter().flatten().filter_map(Json::as_str);
    // A list that was tampered with leads to no file elsewhere.
    let is_within = |name: &&str| {
        let mut components = Path::new(name).components();
        components.next().is_some()
            && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
    };
    Ok(files.filter(is_within).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(test: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("slantpath-out-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        directory
    }

    fn manifest() -> Json {
        json!({ "program": "slantpath", "version": "1", "digest": "ab" })
    }

    fn replace(path: &Path, names: &[&str]) -> Result<Vec<String>, Failure> {
        let mut contents = Contents::default();
        for name in names {
            contents.bytes(*name, b"new");
        }
        Directory::open(path, [])?.replace(&contents, &mut manifest(), &AtomicBool::new(false))
    }

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_the_manifest_lists_and_is_not_written_again_is_removed_and_nothing_else() {
        let path = place("stale");
        assert_eq!(replace(&path, &["a", "b"]).unwrap(), ["a", "b", MANIFEST]);
        fs::write(path.join("notes"), "mine").unwrap();
        fs::remove_file(path.join("b")).unwrap();
        replace(&path, &["c"]).unwrap();
        assert_eq!(names(&path), ["c", MANIFEST, "notes"]);
        let kept: Json = serde_json::from_slice(&fs::read(path.join(MANIFEST)).unwrap()).unwrap();
        assert_eq!(kept, json!({ "program": "slantpath", "version": "1", "digest": "ab", "files": ["c"] }));
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_file_of_someone_else_is_not_overwritten() {
        let path = place("others");
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("b"), "mine").unwrap();
        let before = Directory::open(&path, ["a", "b"].map(str::to_owned));
        assert!(matches!(&before, Err(Failure::Misused(text)) if text.contains("/b is there")), "{before:?}");
        let after = replace(&path, &["a", "b"]);
        assert!(matches!(after, Err(Failure::Misused(_))), "{after:?}");
        assert_eq!(
            (names(&path), fs::read(path.join("b")).unwrap()),
            (vec!["b".to_owned()], b"mine".to_vec())
        );
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn results_that_nothing_makes_anew_are_not_overwritten() {
        let path = place("fresh");
        drop(Directory::fresh(&path, &["a"]).unwrap());
        replace(&path, &["a"]).unwrap();
        let second = Directory::fresh(&path, &["a"]);
        let held = |text: &str| text.contains("holds results of an earlier command");
        assert!(matches!(&second, Err(Failure::Misused(text)) if held(text)), "{second:?}");
        fs::remove_dir_all(&path).unwrap();
        // Nor is a file that no manifest lists.
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("a"), "mine").unwrap();
        assert!(Directory::fresh(&path, &["a"]).is_err());
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_manifest_of_someone_else_or_one_that_leads_elsewhere_removes_nothing() {
        let path = place("manifest");
        fs::create_dir_all(path.join("out")).unwrap();
        fs::write(path.join("precious"), "mine").unwrap();
        for text in ["{}", "[]", "no JSON", "{\"program\": \"other\", \"files\": []}"] {
            fs::write(path.join("out").join(MANIFEST), text).unwrap();
            let opened = Directory::open(&path.join("out"), []);
            assert!(matches!(&opened, Err(Failure::Misused(text)) if text.contains("not of this program")));
        }
        let precious = path.join("precious");
        let list = json!({ "program": "slantpath", "files": ["../precious", precious, "", 5] });
        fs::write(path.join("out").join(MANIFEST), list.to_string()).unwrap();
        replace(&path.join("out"), &["a"]).unwrap();
        assert_eq!(fs::read(precious).unwrap(), b"mine");
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_directory_that_another_command_writes_into_is_refused_until_that_one_ends() {
        let path = place("locked");
        let first = Directory::open(&path, []).unwrap();
        let second = Directory::open(&path, []);
        let Err(Failure::Misused(text)) = &second else { panic!("{second:?}") };
        let wanted = "another command writes into it: wait for it, or name another directory";
        assert_eq!(*text, format!("--out: {}: {wanted}", path.display()));
        drop(first);
        replace(&path, &["a"]).unwrap();
        assert_eq!(names(&path), ["a", MANIFEST]);
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_name_that_no_file_can_have_is_refused_before_the_work() {
        let path = place("long");
        let most = format!("{}.pcapng", "n".repeat(248));
        Directory::open(&path, [most.clone()]).unwrap();
        let longer = Directory::open(&path, [format!("n{most}")]);
        assert!(
            matches!(&longer, Err(Failure::Misused(text)) if text.starts_with("--out: no file can be called ")),
            "{longer:?}"
        );
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn whoever_stops_it_while_it_writes_finds_no_half_file_and_may_go_on() {
        let path = place("stopped");
        let mut contents = Contents::default();
        contents.bytes("a", b"new");
        let stopped =
            Directory::open(&path, []).unwrap().replace(&contents, &mut manifest(), &AtomicBool::new(true));
        let Err(Failure::Interrupted(text)) = &stopped else { panic!("{stopped:?}") };
        let wanted =
            format!("interrupted: not all is written into {}; the same command goes on", path.display());
        assert_eq!(*text, wanted);
        assert_eq!(names(&path), [MANIFEST]);
        replace(&path, &["a"]).unwrap();
        assert_eq!(names(&path), ["a", MANIFEST]);
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_command_that_dies_while_it_writes_leaves_a_list_of_all_that_may_be_there() {
        let path = place("dies");
        replace(&path, &["a", "b"]).unwrap();
        // A directory where a file is to be: writing fails in the middle.
        fs::create_dir_all(path.join("d")).unwrap();
        let mut directory = Directory::open(&path, []).unwrap();
        directory.earlier.insert("d".to_owned());
        let mut contents = Contents::default();
        contents.bytes("c", b"new");
        contents.bytes("d", b"new");
        assert!(directory.replace(&contents, &mut manifest(), &AtomicBool::new(false)).is_err());
        drop(directory);
        let kept: Json = serde_json::from_slice(&fs::read(path.join(MANIFEST)).unwrap()).unwrap();
        assert_eq!(kept["files"], json!(["a", "b", "c", "d"]));
        assert_eq!(kept["state"], "being written");
        fs::remove_dir_all(path).unwrap();
    }
}
