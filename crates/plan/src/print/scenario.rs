//! The answer as a scenario that `slantpath run` takes.

use core::fmt::Write as _;

use slantpath_base::Duration;

use crate::answer::Answer;
use crate::question::Question;

/// A frame of the access system.
const FRAME_S: f64 = 0.04;
/// Its slots: a terminal's capacity comes in steps of a hundredth.
const SLOTS: u32 = 100;
/// From the request to the plan, beside hops and waiting.
const PROCESSING_S: f64 = 0.02;

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
        |arguments: core::fmt::Arguments<'_>| text.write_fmt(arguments).expect("a text takes everything");
    write(format_args!(
        "# Settings that `slantpath plan` worked out: case {}.\n[scenario]\nname = \"plan\"\nduration = \"130 s\"\n\n\
         [nodes]\ngateway-a = {{ kind = \"host\" }}\ngateway-b = {{ kind = \"host\" }}\n\n",
        crate::print::case_name(answer.case)
    ));
    let mut one_way = path.round_trip.as_secs_f64() / 2.0;
    if is_on_demand {
        // Half a frame goes by until a slot comes.
        one_way = (one_way - FRAME_S / 2.0).max(0.001);
        let allocation = band.allocation_time.as_secs_f64();
        let hop = one_way.min(allocation / 4.0);
        let each = (allocation - 2.0 * hop - PROCESSING_S - FRAME_S).max(2.0 * FRAME_S);
        write(format_args!(
            "[access.satellite]\ncarriers = 2\ncarrier_rate = \"{} bit/s\"\nframe = \"40 ms\"\nslots = \
             {SLOTS}\nhop = \"{}\"\n\
             ask_every = \"{}\"\nplan_every = \"{}\"\nprocessing = \"20 ms\"\n\n",
            // What a terminal has is whole slots, rounded up.
            total + total / 20,
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
         \"m2pa\", profile = \"gateway\", t3 = \"2 s\", \
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
             lengths = [{}]\nstart = \"20 s\"\n",
            *load.erlang_per_link, *load.octets,
        ));
        if *load.step_erlang > 0.0 {
            let after = *load.erlang_per_link + *load.step_erlang;
            write(format_args!("steps = [{{ at = \"60 s\", erlang_per_link = {after} }}]\n"));
        }
    }
    text.push_str("\n[probes]\nintervals = \"500 ms\"\n");
    text
}

/// A time in whole milliseconds, as a scenario has it.
fn millis(seconds: f64) -> Duration {
    Duration::from_secs_f64((seconds * 1e3).round() / 1e3)
}
