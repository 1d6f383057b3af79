//! Circles of files: in each crate, the files that reach each other by the names that they use.
//!
//! A file points at the file that defines each name that it uses. Re-exports are followed. `lib.rs`, `main.rs` and
//! tests are left out, and so are the methods of a type, which no path names.

mod names;
mod scopes;

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::tree::Tree;

/// Largest circle of files that a crate may have.
const LARGEST: usize = 20;
/// Crates that are not there yet, with the circle that they have. The list only shrinks.
const NOT_YET: &[(&str, usize)] = &[];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut told = Vec::new();
    for (name, files) in crates(tree) {
        let arrows = scopes::Crate::read(&files).arrows();
        let circle = largest_circle(&arrows);
        told.push((circle.len(), name));
        let manifest = format!("crates/{name}/Cargo.toml");
        let exception = NOT_YET.iter().find(|(each, _)| *each == name).map(|(_, most)| *most);
        let most = exception.unwrap_or(LARGEST);
        if circle.len() > most {
            let listed: Vec<&str> = circle.iter().map(|index| files[*index].0).collect();
            let message = format!(
                "{} files reach each other by the names that they use, and at most {most} may: {}",
                circle.len(),
                listed.join(", ")
            );
            findings.push(Finding::on_file(&manifest, message));
        } else if exception.is_some_and(|most| circle.len() < most) {
            let message =
                format!("the largest circle has {} files: lower its number in circles.rs", circle.len());
            findings.push(Finding::on_file(&manifest, message));
        }
    }
    told.sort_by(|a, b| b.cmp(a));
    let told: Vec<String> = told.iter().map(|(len, name)| format!("{name} {len}")).collect();
    println!("tidy: largest circles of files: {}", told.join(", "));
    findings
}

/// Sources of each crate, by its name: path below `src` without the suffix, and text.
fn crates(tree: &Tree) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for file in tree.of_kind("rs") {
        let Some((name, inside)) =
            file.path.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/"))
        else {
            continue;
        };
        let inside = inside.strip_suffix(".rs").unwrap_or(inside);
        if inside.split('/').all(|part| part != "tests") && !inside.starts_with("bin/") {
            crates.entry(name).or_default().push((inside, &file.text));
        }
    }
    crates
}

/// Members of the largest set in which each file reaches each other (Tarjan, without recursion).
fn largest_circle(arrows: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let count = arrows.len();
    let (mut order, mut low) = (vec![UNSEEN; count], vec![0; count]);
    let mut is_open = vec![false; count];
    let (mut open, mut next, mut largest) = (Vec::new(), 0, Vec::new());
    for root in 0..count {
        if order[root] != UNSEEN {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((at, place)) = calls.pop() {
            if place == 0 {
                order[at] = next;
                low[at] = next;
                next += 1;
                open.push(at);
                is_open[at] = true;
            }
            if let Some(&to) = arrows[at].get(place) {
                calls.push((at, place + 1));
                if order[to] == UNSEEN {
                    calls.push((to, 0));
                } else if is_open[to] {
                    low[at] = low[at].min(order[to]);
                }
                continue;
            }
            if low[at] == order[at] {
                let begin = open.iter().position(|each| *each == at).unwrap_or(0);
                let mut circle = open.split_off(begin);
                for each in &circle {
                    is_open[*each] = false;
                }
                if circle.len() > largest.len() {
                    circle.sort_unstable();
                    largest = circle;
                }
            }
            if let Some(&(caller, _)) = calls.last() {
                low[caller] = low[caller].min(low[at]);
            }
        }
    }
    if largest.len() > 1 { largest } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_circle_is_found_among_others() {
        // 0 → 1 → 2 → 0, 3 ↔ 4, 5 alone; 2 → 3 closes nothing.
        let arrows = [vec![1], vec![2], vec![0, 3], vec![4], vec![3], vec![0, 4]];
        assert_eq!(largest_circle(&arrows), [0, 1, 2]);
        assert!(largest_circle(&[vec![1], vec![], vec![0, 1]]).is_empty());
        assert!(largest_circle(&[]).is_empty());
    }

    #[test]
    fn a_circle_that_is_too_large_is_told_with_its_files() {
        let mut texts = Vec::new();
        for number in 0..=LARGEST {
            let next = (number + 1) % (LARGEST + 1);
            texts.push((
                format!("crates/x/src/f{number}.rs"),
                format!("use crate::f{next}::T{next}; pub struct T{number};"),
            ));
        }
        let root: Vec<String> = (0..=LARGEST).map(|number| format!("mod f{number};")).collect();
        texts.push(("crates/x/src/lib.rs".into(), root.concat()));
        let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (&**path, &**text)).collect();
        let findings = check(&Tree::of(&files));
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.starts_with("21 files reach each other"), "{}", findings[0].message);
        // Any arrow less opens it.
        let opened: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (*path, if *path == "crates/x/src/f3.rs" { "pub struct T3;" } else { *text }))
            .collect();
        assert_eq!(check(&Tree::of(&opened)), []);
    }
}
