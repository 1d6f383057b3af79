//! Rules about lines and files of source: length, forbidden words, paths of one machine, blanks.

use crate::finding::Finding;
use crate::rust_text::code_only;
use crate::tree::{TextFile, Tree};

/// A file past this has a second concern.
const MOST_LINES: usize = 700;
/// rustfmt keeps code to 110 and leaves comments and literals alone: they get a little more.
const MOST_COLUMNS: usize = 120;

/// Longer files, each with the reason that it stays whole.
const LONG_FILES: &[(&str, &str)] = &[];

/// Files that may name a directory of the machine, each with the reason.
const MACHINE_PATH_FILES: &[(&str, &str)] = &[("xtask/src/tidy/sources.rs", "the rule itself")];

const MACHINE_PATHS: &[&str] = &["/work/", "/root/", "/tmp/", "/home/"];

/// Code that is forbidden, and what is right instead.
const FORBIDDEN_IN_RUST: &[(&str, &str)] = &[
    ("todo!", "finish it, or leave it out"),
    ("unimplemented!", "finish it, or leave it out"),
    ("dbg!", "take it out"),
    ("#[ignore", "a test runs or goes: make it fast, or delete it"),
    ("thread::sleep", "wait in virtual time"),
];

const FORBIDDEN_IN_PYTHON: &[(&str, &str)] = &[
    ("time.sleep(", "wait for the thing itself"),
    ("mark.skip(", "a test runs or goes; `skipif` a missing program, with the reason"),
    ("mark.xfail", "a test passes or the code is mended"),
    ("breakpoint()", "take it out"),
];

/// The one place that sees a whole scenario as it is written.
const WHOLE_CHECK: &str = "crates/scenario/src/check.rs";

/// A whole scenario among the arguments of a check.
const FORBIDDEN_IN_CHECKS: &[(&str, &str)] = &[
    ("&File,", OWN_TABLES),
    ("&File)", OWN_TABLES),
    (" File,", OWN_TABLES),
    (" File)", OWN_TABLES),
    ("File<", OWN_TABLES),
];

const OWN_TABLES: &str = "a check takes its own tables, and of the others what it has to know";

/// Kinds of file that people write and read.
const WRITTEN: &[&str] = &["Makefile", "gitignore", "md", "py", "pyi", "rs", "run", "sh", "tcl", "toml"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts
        .iter()
        .filter(|file| WRITTEN.contains(&file.kind()) && !file.path.starts_with("fuzz/corpus/"))
        .flat_map(check_file)
        .collect()
}

fn check_file(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    blanks(file, &mut findings);
    machine_paths(file, &mut findings);
    match file.kind() {
        "rs" => {
            shape(file, &mut findings);
            forbidden(file, &code_only(&file.text), FORBIDDEN_IN_RUST, &mut findings);
            let is_check = file.path.starts_with("crates/scenario/") && file.path.ends_with("/check.rs");
            if is_check && file.path != WHOLE_CHECK {
                forbidden(file, &code_only(&file.text), FORBIDDEN_IN_CHECKS, &mut findings);
            }
            if file.path.ends_with("/mod.rs") {
                findings.push(Finding::on_file(&file.path, "write foo.rs beside foo/ instead of foo/mod.rs"));
            }
        }
        "py" | "pyi" => {
            shape(file, &mut findings);
            forbidden(file, &file.text, FORBIDDEN_IN_PYTHON, &mut findings);
        }
        "run" | "sh" | "tcl" => shape(file, &mut findings),
        _ => {}
    }
    findings
}

fn shape(file: &TextFile, findings: &mut Vec<Finding>) {
    let lines = file.text.lines().count();
    if lines > MOST_LINES && !LONG_FILES.iter().any(|(path, _)| *path == file.path) {
        let message = format!("{lines} lines, more than {MOST_LINES}: look for the second concern");
        findings.push(Finding::on_file(&file.path, message));
    }
    for (number, line) in file.numbered_lines() {
        let columns = line.chars().count();
        // An address cannot be broken, and a quotation of an RFC is found by its whole line.
        let is_unbreakable = line.contains("://") || line.trim_start().starts_with("//#");
        if columns > MOST_COLUMNS && !is_unbreakable {
            let message = format!("{columns} columns, more than {MOST_COLUMNS}");
            findings.push(Finding::on_line(&file.path, number, message));
        }
    }
}

fn blanks(file: &TextFile, findings: &mut Vec<Finding>) {
    for (number, line) in file.numbered_lines() {
        if line.ends_with([' ', '\t', '\r']) {
            findings.push(Finding::on_line(&file.path, number, "blanks at the end of the line"));
        }
        if line.contains('\t') && file.kind() != "Makefile" {
            findings.push(Finding::on_line(&file.path, number, "a tab: write blanks"));
        }
    }
    if !file.text.is_empty() && (!file.text.ends_with('\n') || file.text.ends_with("\n\n")) {
        findings.push(Finding::on_file(&file.path, "a file ends with one line break"));
    }
}

fn machine_paths(file: &TextFile, findings: &mut Vec<Finding>) {
    if MACHINE_PATH_FILES.iter().any(|(path, _)| *path == file.path) {
        return;
    }
    for (number, line) in file.numbered_lines() {
        for machine_path in MACHINE_PATHS {
            let is_named = line.match_indices(machine_path).any(|(at, _)| {
                !line[..at].ends_with(|c: char| {
                    c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '}' | ')')
                })
            });
            if is_named {
                let message = format!("{machine_path} is a directory of one machine");
                findings.push(Finding::on_line(&file.path, number, message));
            }
        }
    }
}

fn forbidden(file: &TextFile, code: &str, words: &[(&str, &str)], findings: &mut Vec<Finding>) {
    for (index, line) in code.lines().enumerate() {
        for (word, cure) in words {
            if line.contains(word) {
                let message = format!("`{}` is forbidden: {cure}", word.trim_end_matches('('));
                findings.push(Finding::on_line(&file.path, index + 1, message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn plain_source_passes() {
        assert!(
            messages("a/src/lib.rs", "//! Says why; `todo!` in prose is no code.\n\nfn f() {}\n").is_empty()
        );
    }

    #[test]
    fn forbidden_words_are_found_in_code_and_not_in_literals() {
        assert_eq!(
            messages("a.rs", "fn f() {\n    todo!()\n}\n"),
            ["a.rs:2: `todo!` is forbidden: finish it, or leave it out"]
        );
        assert_eq!(
            messages("a.rs", "#[ignore = \"slow\"]\nfn f() { dbg!(1); std::thread::sleep(d) }\n").len(),
            3
        );
        assert!(messages("a.rs", "const A: &str = \"#[ignore\";\n").is_empty());
    }

    #[test]
    fn a_check_of_a_scenario_that_takes_the_whole_file_is_found() {
        let check = "crates/scenario/src/flow/check.rs";
        for taken in [
            "file: &File, n: u8",
            "file: &File",
            "file: &mut File",
            "file: &'a File, n: u8",
            "file: File<Written>",
        ] {
            let text = format!("fn check({taken}) {{}}\n");
            assert_eq!(messages(check, &text).len(), 1, "{taken}");
            assert!(messages("crates/scenario/src/flow/build.rs", &text).is_empty(), "{taken}");
            assert!(messages(WHOLE_CHECK, &text).is_empty(), "{taken}");
        }
        assert!(messages(check, "fn check(flows: &Tables<Flow>, files: &Files) {}\n").is_empty());
    }

    #[test]
    fn python_neither_sleeps_nor_skips_for_good() {
        assert_eq!(messages("a.py", "time.sleep(1)\n@pytest.mark.skip(reason=\"\")\n").len(), 2);
        assert!(messages("a.py", "@pytest.mark.skipif(TSHARK is None, reason=\"no tshark\")\n").is_empty());
    }

    #[test]
    fn a_file_past_the_limit_is_found() {
        assert!(messages("a.rs", &"fn f() {}\n".repeat(MOST_LINES)).is_empty());
        assert_eq!(messages("a.rs", &"fn f() {}\n".repeat(MOST_LINES + 1)).len(), 1);
    }

    #[test]
    fn a_long_line_is_found_unless_it_cannot_be_broken() {
        assert_eq!(messages("a.rs", &format!("// {}\n", "x".repeat(MOST_COLUMNS))).len(), 1);
        assert!(messages("a.rs", &format!("//# {}\n", "x".repeat(MOST_COLUMNS))).is_empty());
        assert!(messages("a.rs", &format!("// https://{}\n", "x".repeat(MOST_COLUMNS))).is_empty());
        assert!(messages("a.md", &format!("{}\n", "x".repeat(MOST_COLUMNS + 1))).is_empty());
    }

    #[test]
    fn blanks_at_the_end_are_found() {
        assert_eq!(messages("a.toml", "a = 1 \n"), ["a.toml:1: blanks at the end of the line"]);
        assert_eq!(messages("a.md", "text").len(), 1);
        assert_eq!(messages("a.md", "text\n\n").len(), 1);
        assert_eq!(messages("a.rs", "fn f() {\n\tg();\n}\n").len(), 1);
        assert!(messages("Makefile", "test:\n\tcargo test\n").is_empty());
    }

    #[test]
    fn directories_of_one_machine_are_found() {
        assert_eq!(messages("a.md", "see /root/x\n"), ["a.md:1: /root/ is a directory of one machine"]);
        assert!(
            messages("a.md", "see https://host.org/home/x and out/tmp/x and \"$HOME/work/x\"\n").is_empty()
        );
    }

    #[test]
    fn modules_are_files_beside_their_directory() {
        assert_eq!(messages("a/src/b/mod.rs", "fn f() {}\n").len(), 1);
    }

    #[test]
    fn data_and_corpora_are_left_alone() {
        assert!(messages("fuzz/corpus/toml/a.toml", "a = 1 \n\n").is_empty());
        assert!(messages("tests/golden.snap", "text \n\n").is_empty());
    }
}
