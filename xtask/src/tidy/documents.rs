//! The documents that must stand, and the shape of a model's page.

use crate::finding::Finding;
use crate::tree::{TextFile, Tree};

const REQUIRED: &[&str] = &["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md"];

/// A model's page has these headings of the second level, in this order; others may stand between them.
const MODEL_HEADINGS: &[&str] =
    &["Description", "Scope and limits", "Parameters", "Example", "Validation", "References"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let missing = REQUIRED.iter().filter(|path| !tree.contains(path));
    let mut findings: Vec<Finding> =
        missing.map(|path| Finding::on_file(path, "the document is missing")).collect();
    findings.extend(tree.of_kind("md").filter(|file| is_model_page(&file.path)).filter_map(model_page));
    findings
}

fn is_model_page(path: &str) -> bool {
    path.starts_with("docs/models/") && !path.ends_with("/README.md")
}

fn model_page(file: &TextFile) -> Option<Finding> {
    let headings: Vec<&str> =
        headings(&file.text).filter(|(level, _)| *level == 2).map(|(_, text)| text).collect();
    let mut searched = headings.iter();
    let absent = MODEL_HEADINGS.iter().find(|wanted| !searched.any(|heading| heading == *wanted))?;
    let order = MODEL_HEADINGS.join(", ");
    Some(Finding::on_file(
        &file.path,
        format!("`## {absent}` is missing or out of place; the order is {order}"),
    ))
}

/// The headings of a Markdown text outside of its code blocks, each with its level.
pub(super) fn headings(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose_lines(text).filter_map(|(_, line)| {
        let level = line.chars().take_while(|c| *c == '#').count();
        let heading = line[level..].strip_prefix(' ')?;
        (level > 0).then(|| (level, heading.trim()))
    })
}

/// The numbered lines of a Markdown text that are in no fenced code block.
pub(super) fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            return None;
        }
        (!is_code).then_some((index + 1, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# RED\n\n## Description\n## Scope and limits\n## Parameters\n## Example\n\
                        ```\n# no heading\n```\n## Validation\n## References\n";

    fn findings_of_page(page: &str) -> Vec<String> {
        let required = REQUIRED.iter().map(|path| (*path, "")).chain([("docs/models/red.md", page)]);
        let files: Vec<(&str, &str)> = required.collect();
        check(&Tree::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_whole_page_passes_with_headings_of_its_own() {
        assert!(findings_of_page(PAGE).is_empty());
        assert!(findings_of_page(&PAGE.replace("## Example", "## State\n## Example")).is_empty());
    }

    #[test]
    fn a_page_without_validation_is_found() {
        let found = findings_of_page(&PAGE.replace("## Validation", "## Checks"));
        assert!(found[0].starts_with("docs/models/red.md: `## Validation` is missing"), "{found:?}");
    }

    #[test]
    fn a_page_out_of_order_is_found() {
        let page = PAGE.replace("## Example", "## X").replace("## References", "## References\n## Example");
        assert_eq!(findings_of_page(&page).len(), 1);
    }

    #[test]
    fn a_missing_document_is_found() {
        assert_eq!(check(&Tree::of(&[])).len(), REQUIRED.len());
    }
}
