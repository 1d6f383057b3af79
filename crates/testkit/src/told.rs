//! Files of TOML that each hold what their author is told of them: comments at the end, behind a line `# told:`.

use std::fs;
use std::path::PathBuf;

use crate::page;

/// Line that parts a string from what is told of it.
const MARK: &str = "# told:";

/// A string with what is told of it.
#[derive(Debug)]
pub struct Told {
    /// Path of its file in the checkout.
    file: String,
    /// Text in front of the mark, as far as it is read.
    pub text: String,
}

impl Told {
    /// All TOML files of a directory of the checkout, by name.
    ///
    /// # Panics
    /// If the directory or a file cannot be read.
    pub fn files_in(directory: &str) -> Vec<Self> {
        let entries =
            fs::read_dir(page::path(directory)).unwrap_or_else(|error| panic!("{directory}: {error}"));
        let mut names: Vec<PathBuf> =
            entries.map(|entry| entry.expect("readable").file_name().into()).collect();
        names.retain(|name| name.extension().is_some_and(|extension| extension == "toml"));
        names.sort();
        names.iter().map(|name| Self::read(format!("{directory}/{}", name.display()))).collect()
    }

    fn read(file: String) -> Self {
        let whole = fs::read_to_string(page::path(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        Self { file, text: text_of(&whole).to_owned() }
    }

    /// Name of the file, without its directory.
    pub fn name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or_default()
    }

    /// Holds what stands behind the mark to what is told now, or writes it: see [`page::hold`].
    #[track_caller]
    pub fn hold(&self, told: &str) {
        page::hold(&self.file, &with_told(&self.text, told));
    }
}

fn text_of(whole: &str) -> &str {
    let parting = format!("\n{MARK}\n");
    whole.split_once(&parting).map_or(whole, |(text, _)| text)
}

fn with_told(text: &str, told: &str) -> String {
    let lines = told.lines().map(|line| format!("# {line}\n"));
    format!("{text}\n{MARK}\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_without_what_is_told_of_it() {
        let whole = with_told("a = 1\n", "t.toml:1:1: no\n  help: yes");
        assert_eq!(whole, "a = 1\n\n# told:\n# t.toml:1:1: no\n#   help: yes\n");
        assert_eq!(text_of(&whole), "a = 1\n");
        assert_eq!(text_of("a = 1\n"), "a = 1\n");
    }
}
