//! The answer as a scenario that `slantpath run` takes.

use core::fmt::Write as _;

use slantpath_base::Duration;

use crate::answer::{Answer, FRAME_S, access_loop};
use crate::question::{MessageCarrier, Question};

/// A frame of the access system, in milliseconds.
const FRAME_MS: u64 = 40;
/// Slots of a frame: a terminal's capacity comes in steps of a hundredth.
const SLOTS: u32 = 100;

/// Messages that a queue of M3UA is simulated with at most.
const QUEUE_MOST: f64 = 1_000_000.0;

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
    match *load.carrier {
        MessageCarrier::M2pa => m2pa(question, answer, &mut text),
        MessageCarrier::M3ua => m3ua(question, answer, &mut text),
        MessageCarrier::Sctp => flows(question, &mut text),
    }
    text.push_str("\n[probes]\nintervals = \"250 ms\"\n");
    if *load.carrier == MessageCarrier::Sctp {
        let late = crate::answer::late_after(path.round_trip.as_secs_f64());
        writeln!(text, "deadline = \"{}\"", millis(late)).expect("a string takes everything");
    }
    text
}

/// Links of M2PA between two signalling points, with messages both ways.
fn m2pa(question: &Question, answer: &Answer, text: &mut String) {
    let load = question.signalling.whole().expect("a question without fault is whole");
    let mut write =
        |arguments: core::fmt::Arguments<'_>| text.write_fmt(arguments).expect("a string takes everything");
    let ms = |name: &str| format!("{:.0} ms", answer.value(name) * 1e3);
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
    loads(question, ["gateway-a", "gateway-b"], "", text);
}

/// A gateway whose exchange sends to an application server behind the path, and gets messages from it.
fn m3ua(question: &Question, answer: &Answer, text: &mut String) {
    let part = "a question without fault is whole";
    let (path, load) = (question.path.whole().expect(part), question.signalling.whole().expect(part));
    let mut write =
        |arguments: core::fmt::Arguments<'_>| text.write_fmt(arguments).expect("a string takes everything");
    let ms = |name: &str| format!("{:.0} ms", answer.value(name) * 1e3);
    // The line to the exchange is short and fast: all that waits does so at the gateway.
    write(format_args!(
        "\n[signalling.points.exchange]\npoint_code = \"2-1-3\"\nrestart = \"omitted\"\n\
         \n[signalling.points.gateway-a]\npoint_code = \"2-1-1\"\nfunction = \"transfer-point\"\nrestart = \
         \"omitted\"\nprocessing = {{ delay = \"{}\" }}\n\
         \n[signalling.points.user]\npoint_code = \"2-1-2\"\n\
         \n[signalling.links.line]\nbetween = [\"exchange\", \"gateway-a\"]\ncarrier = {{ kind = \"mtp2\", delay = \
         \"0 s\", rate = \"100 Mbit/s\", transmit_buffer = 1000000, congestion = [999997, 999998, 999999] }}\n\
         \n[[signalling.routes]]\nfrom = \"exchange\"\nto = \"user\"\nvia = \"gateway-a\"\n\
         \n[signalling.gateways.gateway-a]\nt_r = \"{}\"\nqueue = {:.0}\n",
        *load.gateway_delay,
        ms("m3ua.t_r"),
        answer.value("m3ua.queue").min(QUEUE_MOST),
    ));
    let asps: Vec<String> = (1..=*load.associations).map(|number| format!("asp-{number}")).collect();
    for asp in &asps {
        write(format_args!(
            "\n[signalling.asps.{asp}]\nnode = \"gateway-b\"\nt_ack = \"{}\"\n\
             \n[signalling.associations.{asp}]\ngateway = \"gateway-a\"\nasp = \"{asp}\"\nprofile = \"gateway\"\n\
             primary = \"satellite\"\n",
            ms("m3ua.t_ack"),
        ));
    }
    write(format_args!(
        "\n[signalling.application_servers.user]\nrouting_context = 100\ndpc = \"user\"\nsi = [15]\ntraffic_mode = \
         \"loadshare\"\nasps = {asps:?}\n",
    ));
    let late = crate::answer::late_after(path.round_trip.as_secs_f64());
    loads(
        question,
        ["exchange", "user"],
        &format!("stop = \"{ENDS_AT_S} s\"\ngive_up_after = \"{}\"\n", millis(late)),
        text,
    );
}

/// Messages of signalling both ways between two points, each load with these further keys.
fn loads(question: &Question, [one, other]: [&str; 2], further: &str, text: &mut String) {
    let load = question.signalling.whole().expect("a question without fault is whole");
    let told = question.lines();
    // A generator has 256 links at most: the same load on fewer lines of a higher rate.
    let lines = told.count.min(256);
    let line_rate = told.rate * u64::from(told.count) / u64::from(lines);
    for (name, from, to) in [("there", one, other), ("back", other, one)] {
        write!(
            text,
            "\n[signalling.load.{name}]\nfrom = \"{from}\"\nto = [\"{to}\"]\nlinks = {lines}\nerlang_per_link = \
             {}\nline_rate = \"{line_rate} bit/s\"\n\
             lengths = [{}]\nstart = \"{STARTS_AT_S} s\"\n{further}",
            told.erlang, *load.octets,
        )
        .expect("a string takes everything");
        if told.step > 0.0 {
            let after = told.erlang + told.step;
            writeln!(text, "steps = [{{ at = \"{STEPS_AT_S} s\", erlang_per_link = {after} }}]")
                .expect("a string takes everything");
        }
    }
}

/// Gives the load of the scenario's lines before its step and after it, in Erlang, where the step is so many times
/// that of the question; `None` without a step.
pub fn stepped(question: &Question, factor: f64) -> Option<(f64, f64)> {
    let told = question.lines();
    (told.step > 0.0).then_some((told.erlang, told.erlang + factor * told.step))
}

/// The step of the load, in bits a second of its lines.
pub fn step_bits(question: &Question) -> f64 {
    let told = question.lines();
    told.step * told.rate as f64 * f64::from(told.count)
}

/// Messages of an application both ways, each direction over associations of its own.
fn flows(question: &Question, text: &mut String) {
    let load = question.signalling.whole().expect("a question without fault is whole");
    let per_second = load.messages_per_second.map_or(0.0, |messages| *messages);
    let associations = f64::from(*load.associations);
    let interval = Duration::from_secs_f64(associations / per_second);
    for (name, from, to) in [("there", "gateway-a", "gateway-b"), ("back", "gateway-b", "gateway-a")] {
        write!(
            text,
            "\n[flows.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"sctp\"\nprofile = \"gateway\"\nprimary \
             = \"satellite\"\ncount = {}\nwhen_blocked = \"queue\"\nconnect = \"1 s\"\nstart = \
             \"{STARTS_AT_S} s\"\nend = \"{ENDS_AT_S} s\"\n\
             application = {{ kind = \"poisson\", message_size = \"{} B\", mean_interval = \"{interval}\" }}\n",
            *load.associations,
            *load.octets,
        )
        .expect("a string takes everything");
    }
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
