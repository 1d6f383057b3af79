//! The answer as a scenario that `slantpath run` takes.

use core::fmt::Write as _;

use slantpath_base::Duration;

use crate::answer::{Answer, FRAME_S, access_loop};
use crate::question::Question;

/// A frame of the access system, in milliseconds.
const FRAME_MS: u64 = 40;
/// Slots of a frame: a terminal's capacity comes in steps of a hundredth.
const SLOTS: u32 = 100;

/// Duration of the scenario, in seconds.
pub const DURATION_S: f64 = 130.0;

/// Start of its load, in seconds.
pub const STARTS_AT_S: f64 = 20.0;

/// Step of the load, in seconds.
pub const STEPS_AT_S: f64 = 60.0;

/// End of its load, in seconds: what was sent last has time to arrive.
pub const ENDS_AT_S: f64 = 120.0;

/// Two gateways and the satellite between them, with the settings of the answer; the load steps after 60 s. Whoever has
/// the time of an allocation from elsewhere gets a loop of that mean length here: looks and plans at equal intervals.
pub fn scenario(question: &Question, answer: &Answer) -> String {
    let part = "a question without fault is whole";
    let path = question.path.whole().expect(part);
    let band = question.band.whole().expect(part);
    let load = question.signalling.whole().expect(part);
    let is_on_demand = band.on_demand.as_bits_per_sec() > 0;
    let total = band.permanent.as_bits_per_sec() + band.on_demand.as_bits_per_sec();
    let mut text = String::new();
    let mut write =
        |arguments: core::fmt::Arguments<'_>| text.write_fmt(arguments).expect("a string takes everything");
    write(format_args!(
        "# Settings that `slantpath plan` worked out: case {}.\n[scenario]\nname = \"plan\"\n\
         duration = \"{DURATION_S} s\"\n\n\
         [nodes]\ngateway-a = {{ kind = \"host\" }}\ngateway-b = {{ kind = \"host\" }}\n\n",
        crate::print::case_name(answer.case)
    ));
    let mut one_way = path.round_trip.as_secs_f64() / 2.0;
    if is_on_demand {
        // Half a frame goes by until a slot comes.
        one_way = (one_way - FRAME_S / 2.0).max(0.001);
        let (hop, each) = access_loop(one_way, band.allocation_time.as_secs_f64());
        write(format_args!(
            "[access.satellite]\ncarriers = 2\ncarrier_rate = \"{} bit/s\"\nframe = \"{FRAME_MS} ms\"\nslots = \
             {SLOTS}\nhop = \"{}\"\n\
             ask_every = \"{}\"\nplan_every = \"{}\"\nprocessing = \"20 ms\"\n\n",
            carrier_rate(total),
            millis(hop),
            millis(each),
            millis(each),
        ));
    }
    write(format_args!(
        "[links.satellite]\nends = [\"gateway-a\", \"gateway-b\"]\ndelay = \"{}\"\nlink_overhead = \"18 \
         B\"\nqueue = \"unlimited\"\n",
        millis(one_way)
    ));
    if path.loss.as_f64() > 0.0 {
        write(format_args!("loss = \"{}\"\n", path.loss.as_f64()));
    }
    if is_on_demand {
        write(format_args!(
            "access = {{ system = \"satellite\", permanent = \"{} bit/s\", most = \"{total} bit/s\", ask = \
             \"rbdc\", release_after = \"10 s\", \
             interruption = \"{}\" }}\n",
            band.permanent.as_bits_per_sec(),
            *band.interruption,
        ));
    } else {
        write(format_args!("rate = \"{} bit/s\"\n", band.permanent.as_bits_per_sec()));
    }
    let second = answer
        .setting("sctp.pf_max_retrans")
        .map(|_| path.backup_round_trip.as_deref().unwrap_or(&path.round_trip));
    if let Some(round_trip) = second {
        write(format_args!(
            "\n[links.second]\nends = [\"gateway-a\", \"gateway-b\"]\ndelay = \"{}\"\nrate = \"{total} bit/s\"\n\
             link_overhead = \"18 B\"\nqueue = \"unlimited\"\n",
            millis(round_trip.as_secs_f64() / 2.0),
        ));
    }
    let ms = |name: &str| format!("{:.0} ms", answer.value(name) * 1e3);
    let cwnd = answer.value("sctp.cwnd");
    write(format_args!(
        "\n[sctp.gateway]\nfixed_cwnd = \"{cwnd:.0} B\"\nsend_buffer = \"{:.0} B\"\nreceive_buffer = \"{:.0} \
         B\"\nmax_burst = \"off\"\n\
         rto_initial = \"{}\"\nrto_min = \"{}\"\nrto_max = \"{}\"\nsack_delay = \"{}\"\npath_max_retrans = \
         {:.0}\nassociation_max_retrans = {:.0}\nbundling_delay = \"{}\"\n",
        2.0 * cwnd,
        (2.0 * cwnd).max(65_536.0),
        ms("sctp.rto_initial"),
        ms("sctp.rto_min"),
        ms("sctp.rto_max"),
        ms("sctp.sack_delay"),
        answer.value("sctp.path_max_retrans"),
        answer.value("sctp.association_max_retrans"),
        *load.bundling_delay,
    ));
    if let Some(potentially_failed) = answer.setting("sctp.pf_max_retrans") {
        write(format_args!("potentially_failed_max_retrans = {:.0}\n", potentially_failed.value));
    }
    for (name, code) in [("gateway-a", "2-1-1"), ("gateway-b", "2-1-2")] {
        write(format_args!(
            "\n[signalling.points.{name}]\npoint_code = \"{code}\"\nrestart = \"omitted\"\nt2 = \"{}\"\nt4 = \
             \"{}\"\nt5 = \"{}\"\nt12 = \"{}\"\nt13 = \"{}\"\n\
             t14 = \"{}\"\nprocessing = {{ delay = \"{}\" }}\n",
            ms("mtp3.t2"),
            ms("mtp3.t4"),
            ms("mtp3.t5"),
            ms("mtp3.t12"),
            ms("mtp3.t12"),
            ms("mtp3.t14"),
            *load.gateway_delay,
        ));
    }
    let queue = answer.value("gateway.transmission_queue");
    write(format_args!(
        "\n[signalling.links.trunk]\nbetween = [\"gateway-a\", \"gateway-b\"]\ncount = {}\ncarrier = {{ kind = \
         \"m2pa\", profile = \"gateway\", primary = \"satellite\", t3 = \"2 s\", \
         t4_emergency = \"2 s\", t7 = \"{}\", proving_interval = \"{}\", timer_ranges = \"free\", \
         t7_from = \"last-acknowledgement\", \
         window = 1000000, buffer = 1000000, \
         transmission_queue = {queue:.0}, congestion = [[{:.0}, {:.0}]] }}\n",
        *load.associations,
        ms("m2pa.t7"),
        ms("m2pa.proving_interval"),
        (0.75 * queue).ceil(),
        (0.5 * queue).floor(),
    ));
    // A generator has 256 links at most: the same load on fewer lines of a higher rate.
    let lines = (*load.links).min(256);
    let line_rate = load.line_rate.as_bits_per_sec() * u64::from(*load.links) / u64::from(lines);
    for (name, from, to) in [("there", "gateway-a", "gateway-b"), ("back", "gateway-b", "gateway-a")] {
        write(format_args!(
            "\n[signalling.load.{name}]\nfrom = \"{from}\"\nto = [\"{to}\"]\nlinks = {lines}\nerlang_per_link = \
             {}\nline_rate = \"{line_rate} bit/s\"\n\
             lengths = [{}]\nstart = \"{STARTS_AT_S} s\"\n",
            *load.erlang_per_link, *load.octets,
        ));
        if *load.step_erlang > 0.0 {
            let after = *load.erlang_per_link + *load.step_erlang;
            write(format_args!("steps = [{{ at = \"{STEPS_AT_S} s\", erlang_per_link = {after} }}]\n"));
        }
    }
    text.push_str("\n[probes]\nintervals = \"250 ms\"\n");
    text
}

/// The rate of a carrier whose slots are whole octets, and as many of which as a frame has are all of a band.
fn carrier_rate(total: u64) -> u64 {
    // Bits a second of one octet in one slot of each frame.
    let octet = 8_000 / FRAME_MS;
    total.div_ceil(octet * u64::from(SLOTS)) * octet * u64::from(SLOTS)
}

/// A time in whole milliseconds, as a scenario has it.
fn millis(seconds: f64) -> Duration {
    Duration::from_secs_f64((seconds * 1e3).round() / 1e3)
}
