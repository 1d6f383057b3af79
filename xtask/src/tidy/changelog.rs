//! CHANGELOG.md keeps one shape: `## Unreleased` first, then `## x.y.z - YYYY-MM-DD`, newest first; under
//! each the six kinds of change, in their order, each with a list.

use crate::finding::Finding;
use crate::tree::Tree;

const PATH: &str = "CHANGELOG.md";
const KINDS: &[&str] = &["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.text(PATH) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut state = State::Title;
    for (number, line) in file.numbered_lines() {
        if let Err(message) = state.read(line) {
            findings.push(Finding::on_line(PATH, number, message));
        }
    }
    findings
}

/// State of reading the page.
#[derive(Debug)]
enum State {
    /// Nothing but blank lines yet.
    Title,
    /// Between the title and the first release.
    Preamble,
    /// Inside a release: the version (`None` while unreleased) and the rank of the last kind of change.
    Release { version: Option<[u64; 3]>, kind: Option<usize> },
}

impl State {
    fn read(&mut self, line: &str) -> Result<(), String> {
        if let Some(kind) = line.strip_prefix("### ") {
            return self.read_kind(kind);
        }
        if let Some(release) = line.strip_prefix("## ") {
            return self.read_release(release);
        }
        match self {
            Self::Title if line == "# Changelog" => *self = Self::Preamble,
            Self::Title if !line.is_empty() => return Err("the page opens with `# Changelog`".into()),
            Self::Release { kind: None, .. } if line.starts_with("- ") => {
                return Err(format!("a change belongs under one of {}", KINDS.join(", ")));
            }
            _ => {}
        }
        Ok(())
    }

    fn read_release(&mut self, heading: &str) -> Result<(), String> {
        let version = match heading.split_once(" - ") {
            None if heading == "Unreleased" => None,
            Some((version, date)) if is_date(date) => Some(parse_version(version)?),
            _ => return Err("a release reads `## Unreleased` or `## x.y.z - YYYY-MM-DD`".into()),
        };
        let previous = core::mem::replace(self, Self::Release { version, kind: None });
        match (previous, version) {
            (Self::Release { .. }, None) => Err("`## Unreleased` stands first".into()),
            (Self::Release { version: Some(newer), .. }, Some(older)) if older >= newer => {
                Err("releases run from the newest to the oldest".into())
            }
            _ => Ok(()),
        }
    }

    fn read_kind(&mut self, heading: &str) -> Result<(), String> {
        let Some(rank) = KINDS.iter().position(|kind| *kind == heading) else {
            return Err(format!("`{heading}` is none of {}", KINDS.join(", ")));
        };
        let Self::Release { kind, .. } = self else {
            return Err("a kind of change stands under a release".into());
        };
        let is_in_order = kind.is_none_or(|previous| previous < rank);
        *kind = Some(rank);
        if is_in_order { Ok(()) } else { Err(format!("the order is {}", KINDS.join(", "))) }
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, b)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() })
}

fn parse_version(text: &str) -> Result<[u64; 3], String> {
    let parts: Result<Vec<u64>, _> = text.split('.').map(str::parse).collect();
    parts.ok().and_then(|parts| parts.try_into().ok()).ok_or_else(|| format!("`{text}` is no version x.y.z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        check(&Tree::of(&[(PATH, text)])).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn the_right_shape_passes() {
        let text = "# Changelog\n\nProse.\n\n## Unreleased\n\n### Added\n- SCTP.\n\n### Fixed\n- A bug.\n\n\
                    ## 0.2.0 - 2026-12-01\n\n### Changed\n- X.\n\n## 0.1.0 - 2026-11-21\n\n### Added\n- Y.\n";
        assert_eq!(messages(text), Vec::<String>::new());
    }

    #[test]
    fn wrong_headings_are_found() {
        assert_eq!(messages("# History\n").len(), 1);
        assert_eq!(messages("# Changelog\n## v1\n").len(), 1);
        assert_eq!(messages("# Changelog\n## 0.1 - 2026-11-21\n"), ["`0.1` is no version x.y.z"]);
        assert_eq!(messages("# Changelog\n## Unreleased\n### New\n").len(), 1);
        assert_eq!(messages("# Changelog\n### Added\n").len(), 1);
    }

    #[test]
    fn wrong_orders_are_found() {
        assert_eq!(messages("# Changelog\n## 0.1.0 - 2026-11-21\n## 0.2.0 - 2026-12-01\n").len(), 1);
        assert_eq!(messages("# Changelog\n## 0.1.0 - 2026-11-21\n## Unreleased\n").len(), 1);
        assert_eq!(messages("# Changelog\n## Unreleased\n### Fixed\n### Added\n").len(), 1);
    }

    #[test]
    fn a_change_without_a_kind_is_found() {
        assert_eq!(messages("# Changelog\n## Unreleased\n- SCTP.\n").len(), 1);
    }
}
