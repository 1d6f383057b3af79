//! Command `slantpath new`: a commented file to begin with.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use slantpath_runner::{Document, FileKind, suggest};

use crate::arguments::NewArguments;
use crate::failure::Failure;
use crate::table::TextTable;

/// A file to begin with.
struct Template {
    name: &'static str,
    text: &'static str,
    /// Name of the template that it names as a file beside it.
    beside: Option<&'static str>,
}

macro_rules! template {
    ($name:literal) => {
        template!($name, None)
    };
    ($name:literal, $beside:expr) => {
        Template { name: $name, text: include_str!(concat!("templates/", $name, ".toml")), beside: $beside }
    };
}

const TEMPLATES: [Template; 10] = [
    template!("diffserv"),
    template!("emulate"),
    template!("gateway"),
    template!("geo-backup"),
    template!("m2pa"),
    template!("m3ua"),
    template!("on-demand"),
    template!("starlink"),
    template!("sweep", Some("geo-backup")),
    template!("topology"),
];

impl Template {
    fn of_name(name: &str) -> Option<&'static Self> {
        TEMPLATES.iter().find(|template| template.name == name)
    }

    /// Description of the template: its first line, a comment.
    fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    fn kind(&self) -> FileKind {
        let read = Document::parse(self.name, self.text).entries().ok();
        read.and_then(|(entries, _)| FileKind::of(&entries)).unwrap_or(FileKind::Scenario)
    }
}

pub(crate) fn main(arguments: &NewArguments, out: &mut impl Write) -> Result<(), Failure> {
    let Some(name) = &arguments.template else {
        let mut table = TextTable::default();
        for template in &TEMPLATES {
            table.row([template.name, template.about()].map(str::to_owned));
        }
        return Ok(table.print(2, out)?);
    };
    let Some(template) = Template::of_name(name) else {
        let names = TEMPLATES.map(|template| template.name);
        let message = format!("there is no template `{name}`; {}", suggest(name, "templates", &names));
        return Err(Failure::Misused(message));
    };
    let file = arguments.file.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    write(&file, template.text)?;
    writeln!(out, "{}: {}", file.display(), template.about())?;
    if let Some(beside) = template.beside.and_then(Template::of_name) {
        let path = file.with_file_name(format!("{}.toml", beside.name));
        if path.exists() {
            writeln!(out, "{}: is there already, and taken as its base", path.display())?;
        } else {
            write(&path, beside.text)?;
            writeln!(out, "{}: its base. {}", path.display(), beside.about())?;
        }
    }
    let name = file.display();
    writeln!(out, "\nnext:")?;
    writeln!(out, "  slantpath check {name}")?;
    match template.kind() {
        FileKind::Sweep => writeln!(out, "  slantpath sweep {name} --out results")?,
        FileKind::Scenario if template.text.contains("\n[live]\n") => {
            writeln!(out, "  slantpath run {name} --out results")?;
            for point in ["london", "boston"] {
                writeln!(out, "  slantpath gateway {name} --point {point} &")?;
            }
            writeln!(out, "  slantpath traffic {name} --like results")?;
        }
        kind => {
            let command = kind.command();
            writeln!(out, "  slantpath {command} {name}")?;
            writeln!(out, "  slantpath {command} {name} --out results")?;
        }
    }
    Ok(())
}

/// Writes a new file. One that exists is left as it is.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    match created.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Failure::Misused(format!(
            "`{}` exists, and nothing is overwritten; name another file behind the template, or remove it",
            path.display()
        ))),
        Err(error) => Err(Failure::of_file(path.to_owned())(error)),
    }
}

#[cfg(test)]
mod tests {
    use slantpath_runner::{RunOptions, Scenario, Sweep, files_in, run};
    use slantpath_topology::Topology;

    use super::*;

    #[test]
    fn every_template_says_in_its_first_line_what_it_is_and_is_short() {
        for template in &TEMPLATES {
            let lines = template.text.lines().count();
            assert!((20..=70).contains(&lines), "{}: {lines} lines", template.name);
            assert!(template.text.starts_with("# ") && template.about().ends_with('.'), "{}", template.name);
            assert!(template.text.lines().all(|line| line.chars().count() <= 120), "{}", template.name);
        }
        let names = TEMPLATES.map(|template| template.name);
        assert!(names.is_sorted(), "{names:?}");
    }

    #[test]
    fn every_template_is_without_a_warning_and_runs_and_its_merged_form_is_valid() {
        for template in &TEMPLATES {
            let name = template.name;
            let parse = |text: &str, set: &[String]| {
                let read = Scenario::parse(name, text, set, files_in("".as_ref()));
                read.unwrap_or_else(|error| panic!("{name}: {error}"))
            };
            match template.kind() {
                FileKind::Scenario => {
                    let whole = parse(template.text, &[]);
                    assert_eq!(whole.warnings(), []);
                    assert_eq!(parse(&whole.merged(), &[]), whole, "{name}");
                    assert_eq!(parse(&whole.merged(), &[]).warnings(), [], "{name}");
                    let output = run(&whole, &RunOptions::default()).unwrap();
                    assert!(output.failures.is_empty(), "{name}: {:?}", output.failures);
                    assert!(output.packet_hops > 100, "{name}");
                }
                FileKind::Topology => {
                    let read = |text: &str| Topology::parse(name, text, &[], files_in("".as_ref())).unwrap();
                    let topology = read(template.text);
                    assert_eq!(topology.warnings(), []);
                    assert_eq!(read(&topology.merged()), topology);
                }
                FileKind::Sweep => {
                    let directory =
                        std::env::temp_dir().join(format!("slantpath-template-{}", std::process::id()));
                    std::fs::create_dir_all(&directory).unwrap();
                    for template in
                        [Some(template), template.beside.and_then(Template::of_name)].iter().flatten()
                    {
                        std::fs::write(directory.join(format!("{}.toml", template.name)), template.text)
                            .unwrap();
                    }
                    let sweep = Sweep::load(&directory.join(format!("{name}.toml")), &[]).unwrap();
                    assert_eq!((sweep.warnings(), sweep.points()), (&[][..], 6));
                    std::fs::remove_dir_all(&directory).unwrap();
                }
                FileKind::Plan => panic!("no template is a plan"),
            }
        }
    }
}
