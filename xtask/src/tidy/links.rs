//! Relative links of the Markdown pages lead to a file, and to a heading where they name one.

use super::documents::{headings, prose_lines};
use crate::finding::Finding;
use crate::tree::{TextFile, Tree};

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.of_kind("md").flat_map(|page| check_page(tree, page)).collect()
}

fn check_page(tree: &Tree, page: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in prose_lines(&page.text) {
        for target in link_targets(&without_code_spans(line)) {
            if let Err(message) = resolve(tree, page, &target) {
                findings.push(Finding::on_line(&page.path, number, message));
            }
        }
    }
    findings
}

fn resolve(tree: &Tree, page: &TextFile, target: &str) -> Result<(), String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() {
        page.path.clone()
    } else {
        relative_to(&page.path, file).ok_or_else(|| format!("the link {target} leaves the project"))?
    };
    if !tree.contains(&path) {
        return Err(format!("the link {target} leads nowhere"));
    }
    let has_anchor = |page: &TextFile| headings(&page.text).any(|(_, heading)| slug(heading) == anchor);
    match tree.text(&path) {
        Some(page) if !anchor.is_empty() && !has_anchor(page) => {
            Err(format!("{path} has no heading #{anchor}"))
        }
        _ => Ok(()),
    }
}

/// `target` as seen from the page, as a path from the root.
fn relative_to(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Targets of links: the text between `](` and `)`, without a title, and after `src="` or `href="`.
fn link_targets(line: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for (opening, closing) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
        for (at, _) in line.match_indices(opening) {
            let inside = &line[at + opening.len()..];
            if let Some(end) = inside.find(closing) {
                targets.push(inside[..end].split(' ').next().unwrap_or_default().to_owned());
            }
        }
    }
    targets
}

/// Removes the text between backticks, which is code and not a link.
fn without_code_spans(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The anchor that a heading gets: lower case, blanks to hyphens, other punctuation gone.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("docs/a.md", text), ("docs/b.md", "# One & two\n"), ("README.md", "# R\n")]);
        check(&tree).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let text = "# Own\n[b](b.md) [r](../README.md \"title\") [s](b.md#one--two) [o](#own) [d](../docs/)\n\
                    [w](https://example.org/x) <img src=\"b.md\">\n`[x](y)`\n```\n[x](y)\n```\n";
        assert_eq!(messages(text), Vec::<String>::new());
    }

    #[test]
    fn a_link_to_a_missing_file_is_found() {
        assert_eq!(messages("[c](c.md)\n"), ["the link c.md leads nowhere"]);
        assert_eq!(messages("<img src=\"c.svg\">\n"), ["the link c.svg leads nowhere"]);
    }

    #[test]
    fn a_link_to_a_missing_heading_is_found() {
        assert_eq!(messages("[b](b.md#three)\n"), ["docs/b.md has no heading #three"]);
    }

    #[test]
    fn a_link_out_of_the_project_is_found() {
        assert_eq!(messages("[x](../../shared/x)\n"), ["the link ../../shared/x leaves the project"]);
    }
}
