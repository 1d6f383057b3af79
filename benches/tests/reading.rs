//! Work of reading a file of many links and titles, as its allocations: twice the file is twice the work.

#![allow(clippy::expect_used, clippy::format_push_string, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use slantpath_runner::{Files, Scenario};

/// A gateway with so many link sets of ten links, of which a load has a route to each, and so many titles.
fn file(link_sets: usize, titles: usize) -> String {
    let mut text = "[scenario]\nname = \"many\"\nduration = \"1 h\"\n[nodes]\nhub = { kind = \"router\" }\n\
                    gateway = { kind = \"host\" }\n[links.gateway]\nends = [\"gateway\", \"hub\"]\n\
                    rate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n[signalling.points.gateway]\npoint_code = \"1\"\n\
                    function = \"transfer-point\"\nrestart = \"omitted\"\n"
        .to_owned();
    for set in 1..=link_sets {
        text += &format!(
            "[nodes.far-{set}]\nkind = \"host\"\n[links.far-{set}]\nends = [\"far-{set}\", \"hub\"]\n\
             rate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n[signalling.points.far-{set}]\npoint_code = \"{}\"\n\
             restart = \"omitted\"\nsubsystems = [6]\n[signalling.links.far-{set}]\n\
             between = [\"far-{set}\", \"gateway\"]\ncount = 10\ncarrier = {{ kind = \"m2pa\" }}\n",
            set + 1,
        );
    }
    for title in 0..titles {
        text += &format!(
            "[[signalling.translations]]\nat = \"gateway\"\ndigits = \"33{title:06}?*\"\nto = [\"far-{}\"]\n\
             to_subsystem = 6\n",
            1 + title % link_sets,
        );
    }
    let others: Vec<String> = (2..=link_sets).map(|set| format!("far-{set}")).collect();
    for other in &others {
        text += &format!("[[signalling.routes]]\nfrom = \"far-1\"\nto = \"{other}\"\nvia = \"gateway\"\n");
    }
    text + &format!(
        "[signalling.load.all]\nfrom = \"far-1\"\nto = {others:?}\nlinks = 1\nerlang_per_link = 0.01\n\
         lengths = [60]\n"
    )
}

/// Allocations in which such a file is read, checked and planned.
fn work(link_sets: usize, titles: usize) -> u64 {
    let text = file(link_sets, titles);
    let counted = allocation_counter::measure(|| {
        let no_files: Files = Arc::new(|_: &str| Err(std::io::ErrorKind::NotFound.into()));
        let scenario = Scenario::parse("many.toml", &text, &[], no_files);
        scenario.expect("the file is right");
    });
    counted.count_total
}

#[test]
fn twice_the_links_and_titles_of_a_file_are_twice_the_work() {
    let (once, twice) = (work(15, 300), work(30, 600));
    assert!(twice < once * 23 / 10, "{once} allocations, and {twice} for twice the file");
}
