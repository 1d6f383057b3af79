//! Reports of a time without a path: an error if there is never one, a warning if it may be the end.

use slantpath_base::{Duration, Instant};
use slantpath_orbit::shells::ShellsApart;
use slantpath_reader::{Fault, Faults};
use slantpath_scenario::schema::{File, Transport};
use slantpath_scenario::sky_links::{Begins, Subject};

use super::life::{Established, Life, SetUp};
use super::{Ends, Gap};

/// Reports what never meets; warns of the longest gap if it may end what stands, and of the longest that a set-up meets
/// if that may not outlast it. Of ends that shells of one constellation keep `apart` it is said, however long they do.
pub(super) fn report(
    file: &File,
    ends: &Ends<'_>,
    apart: Option<&ShellsApart>,
    end: Instant,
    faults: &mut Faults,
) {
    let subject = &ends.subject;
    if !ends.has_met {
        let (from, to) = (&subject.from, &subject.to);
        let message = format!("no path over the sky ever joins `{from}` and `{to}` in this run");
        let fault = match (apart, bound_to(ends)) {
            (Some(apart), _) => Fault::new(format!("{message}: {apart}")).help(apart.cure()),
            (None, Some(link)) => Fault::new(format!("{message} over `{link}`"))
                .help(format!("name another link of `{to}` as `primary`, or leave it out")),
            (None, None) => Fault::new(message).help(
                "give the constellation links between its satellites, or a gateway both of whose satellites see it; \
                 or lower the minimum elevation of the sites",
            ),
        };
        faults.report(subject.place, fault);
        return;
    }
    if let Some(apart) = apart {
        let message =
            format!("no path joins the ends of {} for {} in all, as {apart}", subject.name, apart.time);
        faults.warn_of_kind("shells apart", subject.place, Fault::new(message).help(apart.cure()));
    }
    let Some([set_up, established]) = limits(file, subject) else { return };
    if let Begins::Once { from, until } = subject.begins {
        let met = ends
            .gaps
            .iter()
            .filter(|gap| gap.since <= until.saturating_add(set_up.takes) && gap.until > from);
        let met = met.map(|gap| Met {
            gap: Gap { since: gap.since.max(from), ..*gap },
            begun: if gap.since <= from.saturating_add(set_up.takes) { from } else { gap.since },
        });
        warn(ends, met, &set_up, apart, end, faults);
    }
    let begun = match subject.begins {
        Begins::Once { from, .. } => from,
        Begins::Again => Instant::START,
    };
    let lives = |gap: &&Gap| gap.since > begun && subject.ends.is_none_or(|ends| gap.since < ends);
    let met = ends.gaps.iter().filter(lives).map(|gap| Met { gap: *gap, begun: gap.since });
    warn(ends, met, &established, apart, end, faults);
}

/// The cable by which alone TCP reaches its receiver, if there are others.
fn bound_to<'a>(ends: &Ends<'a>) -> Option<&'a str> {
    ends.bound.as_ref().map(|_| ends.subject.primary)
}

/// A gap that something meets.
#[derive(Clone, Copy)]
struct Met {
    gap: Gap,
    /// Since when nothing is answered: a set-up that the gap breaks has begun before it.
    begun: Instant,
}

impl Met {
    fn length(self) -> Duration {
        self.gap.until - self.begun
    }

    /// Tells whether a try comes after the gap; or, where the run ends first, whether what meets it lives until then.
    fn is_outlasted(self, life: Life, end: Instant) -> bool {
        if self.gap.until >= end { life.end > self.length() } else { life.last_try > self.length() }
    }
}

/// Warns of the longest gap, if it may be the end.
fn warn(
    ends: &Ends<'_>,
    met: impl Iterator<Item = Met>,
    limit: &Limit,
    apart: Option<&ShellsApart>,
    end: Instant,
    faults: &mut Faults,
) {
    // Of two that are as long the first: that is the end.
    let longest = met.reduce(|one, other| if other.length() > one.length() { other } else { one });
    let Some(met) = longest else { return };
    let outlasts = |count: u32| met.is_outlasted(limit.life(count), end);
    if outlasts(limit.count) {
        return;
    }
    let Life { last_try, end: death } = limit.life(limit.count);
    let subject = &ends.subject;
    let over = bound_to(ends).map_or_else(String::new, |link| format!(" over `{link}`"));
    let message = format!(
        "no path joins the ends of {}{over} for {} from {} on; without an answer its {} may end after {death}, having \
         sent for the last time after {last_try}",
        subject.name,
        met.gap.until - met.gap.since,
        met.gap.since.since_start(),
        limit.of
    );
    let help = match (apart, least(limit.count, outlasts)) {
        (Some(apart), _) => apart.cure(),
        (None, _) if bound_to(ends).is_some() => format!(
            "let a router stand where `{}` does, and join the two by a link: what is behind a router is reached by any \
             cable",
            subject.to
        ),
        (None, Some(count)) => {
            let table = format!("{}.{}", limit.table, subject.profile);
            format!("write `{} = {count}` in `[{table}]` to carry it over", limit.key)
        }
        (None, None) => "let it begin behind the gap, or give the sky more satellites".to_owned(),
    };
    faults.warn(subject.place, Fault::new(message).help(help));
}

/// More repetitions are not proposed.
const REPETITIONS_TRIED: u32 = 1_000;

/// The least count above one that does not suffice which does: lives grow with the count.
fn least(count: u32, suffices: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut low, mut high) = (count, REPETITIONS_TRIED);
    if low >= high || !suffices(high) {
        return None;
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if suffices(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// Number of times that something is repeated without an answer.
struct Limit {
    /// Name of the thing that ends beyond it.
    of: &'static str,
    /// The kind of table that has the key.
    table: &'static str,
    key: &'static str,
    count: u32,
    kind: Kind,
    /// Longest time that it takes while answers come: two round trips for a handshake, nothing for what stands.
    takes: Duration,
}

#[derive(Clone, Copy)]
enum Kind {
    Established(Established),
    SetUp(SetUp),
}

impl Limit {
    fn life(&self, count: u32) -> Life {
        match self.kind {
            Kind::Established(established) => established.life(count),
            Kind::SetUp(set_up) => set_up.life(count),
        }
    }
}

/// The limits of a transport: while it is set up, and from then on.
fn limits(file: &File, subject: &Subject<'_>) -> Option<[Limit; 2]> {
    let limit = |of, table, key, count, kind| {
        let takes = match kind {
            Kind::Established(_) => Duration::ZERO,
            Kind::SetUp(SetUp { rto, .. }) => rto.initial * 2,
        };
        Limit { of, table, key, count, kind, takes }
    };
    match subject.transport {
        // Nothing ends if none arrives.
        Transport::Icmp | Transport::Udp => None,
        Transport::Sctp => {
            let profile = file.sctp.find(subject.profile)?;
            let (rto, addresses) = (profile.config(1).rto(), addresses(file, &subject.to));
            let set_up = Kind::SetUp(SetUp { rto, addresses });
            let heartbeats = profile.hb_interval.quantity();
            let established = Kind::Established(Established { rto, heartbeats, paths: addresses });
            let (repeated, borne) = (*profile.max_init_retransmits, *profile.association_max_retrans);
            Some([
                limit("set-up", "sctp", "max_init_retransmits", repeated, set_up),
                limit("association", "sctp", "association_max_retrans", borne, established),
            ])
        }
        Transport::Tcp => {
            let profile = file.tcp.find(subject.profile)?;
            let rto = profile.config().rto;
            let set_up = Kind::SetUp(SetUp { rto, addresses: 1 });
            let established = Kind::Established(Established { rto, heartbeats: None, paths: 1 });
            let (repeated, borne) = (*profile.syn_retransmission_limit, *profile.data_retransmission_limit);
            Some([
                limit("set-up", "tcp", "syn_retransmission_limit", repeated, set_up),
                limit("connection", "tcp", "data_retransmission_limit", borne, established),
            ])
        }
    }
}

/// Number of addresses that a host has: one for each antenna and each link.
fn addresses(file: &File, host: &str) -> u32 {
    let antennas = file.nodes.find(host).and_then(|node| node.antennas.as_ref()).map_or(0, |own| own.len());
    let links = file.links.iter().filter(|(_, link)| link.ends.0 == host || link.ends.1 == host);
    u32::try_from(antennas + links.count()).unwrap_or(u32::MAX)
}
