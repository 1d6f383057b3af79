//! Delays through the gateway, by its own figures.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// Messages by the bound of the bucket that they fall into, in microseconds; what is longer than every bound at the
/// last place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays(BTreeMap<u64, u64>);

/// Reads the figures of a gateway.
pub(crate) fn scrape(port: u16) -> Delays {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    Delays::read(&text)
}

impl Delays {
    /// Sums of all pairs. Each bucket has what is in those below it, too.
    fn read(text: &str) -> Self {
        let mut up_to: BTreeMap<u64, u64> = BTreeMap::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("slantpath_delay_seconds_bucket{")) {
            let (labels, count) = line.rsplit_once("} ").unwrap();
            let bound = labels.rsplit_once("le=\"").unwrap().1.trim_end_matches('"');
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
            let bound_us = (bound.parse::<f64>().unwrap_or(f64::INFINITY) * 1e6).round() as u64;
            *up_to.entry(bound_us).or_default() += count.parse::<u64>().unwrap();
        }
        let mut below = 0;
        let of =
            up_to.into_iter().map(|(bound, count)| (bound, count - std::mem::replace(&mut below, count)));
        Self(of.collect())
    }

    /// Figures of what came since.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let was = |bound: &u64| before.0.get(bound).copied().unwrap_or_default();
        Self(self.0.iter().map(|(bound, count)| (*bound, count - was(bound))).collect())
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The bound of the bucket within which this share of the messages is.
    pub(crate) fn bound_of(&self, share: f64) -> String {
        let wanted = share * self.count() as f64;
        let mut so_far = 0;
        for (bound_us, count) in &self.0 {
            so_far += count;
            if so_far as f64 >= wanted {
                return if *bound_us == u64::MAX {
                    "no bound".to_owned()
                } else {
                    format!("{} ms", *bound_us as f64 / 1e3)
                };
            }
        }
        "no bound".to_owned()
    }
}
