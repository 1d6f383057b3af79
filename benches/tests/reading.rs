//! Work of reading a file of many links and titles, as its allocations: twice the file is twice the work.

#![allow(clippy::expect_used, clippy::format_push_string, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use slantpath_runner::{Files, Scenario};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::Slc;
use slantpath_ss7::mtp3::node::{self, Function, LinkSetConfig, SequenceNumbers};

/// File of a gateway with so many link sets of ten links.
#[derive(Clone, Copy)]
struct Many {
    link_sets: usize,
    titles: usize,
    /// Links of a load that goes to each link set: their selections are asked for their ways.
    links: usize,
}

impl Many {
    fn twice(self) -> Self {
        let Self { link_sets, titles, links } = self;
        Self { link_sets: 2 * link_sets, titles: 2 * titles, links }
    }

    fn file(self) -> String {
        let Self { link_sets, titles, links } = self;
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
            text +=
                &format!("[[signalling.routes]]\nfrom = \"far-1\"\nto = \"{other}\"\nvia = \"gateway\"\n");
        }
        text + &format!(
            "[signalling.load.all]\nfrom = \"far-1\"\nto = {others:?}\nlinks = {links}\nerlang_per_link = 0.01\n\
             lengths = [60]\n"
        )
    }

    /// Allocations in which such a file is read, checked and planned.
    fn work(self) -> u64 {
        let text = self.file();
        let counted = allocation_counter::measure(|| {
            let no_files: Files = Arc::new(|_: &str| Err(std::io::ErrorKind::NotFound.into()));
            let scenario = Scenario::parse("many.toml", &text, &[], no_files);
            scenario.expect("the file is right");
        });
        counted.count_total
    }
}

fn twice_is_twice_the_work(once: u64, twice: u64) {
    assert!(twice < once * 23 / 10, "{once} allocations, and {twice} for twice as much");
}

#[test]
fn twice_the_links_and_titles_of_a_file_are_twice_the_work() {
    let many = Many { link_sets: 15, titles: 300, links: 1 };
    twice_is_twice_the_work(many.work(), many.twice().work());
}

#[test]
fn twice_the_destinations_of_a_load_are_twice_the_work() {
    let many = Many { link_sets: 40, titles: 0, links: 16 };
    twice_is_twice_the_work(many.work(), many.twice().work());
}

/// Allocations in which a transfer point with so many link sets and so many points behind it is checked.
fn work_of_check(count: u32) -> u64 {
    let mut config = node::Config::new("gateway", PointCode(1));
    config.function = Function::TransferPoint;
    config.link_sets = (2..2 + count)
        .map(|code| LinkSetConfig {
            name: format!("to-{code}"),
            adjacent: PointCode(code),
            links: vec![node::LinkConfig {
                name: format!("link-{code}"),
                slc: Slc(0),
                sequence: SequenceNumbers::Bits24,
            }],
        })
        .collect();
    config.served = (5_000..5_000 + count).map(PointCode).collect();
    allocation_counter::measure(|| assert_eq!(config.faults(), [])).count_total
}

#[test]
fn twice_the_points_behind_a_gateway_are_twice_the_work() {
    twice_is_twice_the_work(work_of_check(100), work_of_check(200));
}
