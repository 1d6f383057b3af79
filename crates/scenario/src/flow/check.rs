//! Flows: ends that can talk to each other, and applications that can send.

use std::collections::BTreeMap;

use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_profiles::default::{self, DEFAULT_PROFILE};
use slantpath_profiles::fault::positive;
use slantpath_reader::{Fault, Faults, Files, Place, Setting, Tables, Written};
use slantpath_sctp::Extension;
use slantpath_simulation::SIGNALLING_LINK_SELECTIONS;

use crate::flow::application::{Application, Content, Mixed, Total};
use crate::flow::size::{LEAST_MESSAGE, message_size};
use crate::flow::trace::{behind_the_end, check_digest, load};
use crate::flow::{datagrams, script, send_buffer};
use crate::link::wiring::Wiring;
use crate::scene::Scene;
use crate::schema::{Adaptation, Node, NodeKind, SctpProfile, TcpProfile, Transport};
use crate::written::{Flow, Sessions};
use slantpath_profiles::default::name_of;
use slantpath_reader::resolve;

/// Ports of one host that flows may take.
const MOST_FLOWS: u32 = 10_000;

pub(crate) fn check(flows: &mut Tables<Flow>, scene: Scene<'_>, files: &Files, faults: &mut Faults) {
    let places: BTreeMap<String, Place> =
        flows.iter().map(|(name, flow)| (name.to_owned(), flow.place())).collect();
    let first_links = scene.wiring.first_links();
    for (name, flow) in flows.iter() {
        ends(scene.wiring.nodes, name, flow, faults);
        if let Some(profile) = &flow.profile {
            scene.has_profile(*flow.transport, profile, faults);
        }
        times(flow, scene, faults);
        handover(flow, scene, faults);
        counts(flow, faults);
        streams_fit(flow, scene, faults);
        read_rate(flow, faults);
        given_up(flow, faults);
        asked_for(flow, scene.wiring, faults);
        script::check(flow, scene, faults);
        application(flow, places[name], faults);
        datagrams::check(flow, places[name], faults);
        send_buffer::check(flow, scene, faults);
        if let Application::Mixed(mixed) = &flow.application.0 {
            classes(mixed, flow, places[name], faults);
        }
        if let Some(primary) = &*flow.primary {
            scene.wiring.must_end_at(primary, &flow.to, faults);
        }
    }
    let count: u64 = flows.iter().map(|(_, flow)| u64::from(*flow.count)).sum();
    if let Some((_, flow)) = flows.iter().last().filter(|_| count > u64::from(MOST_FLOWS)) {
        let fault = Fault::new(format!("{count} flows are more than ports can be told apart"));
        faults.report(flow.place(), fault.help(format!("let all `count` sum to {MOST_FLOWS} at most")));
    }
    let mut next = 0_u16;
    for (name, flow) in flows.iter_mut() {
        let place = places[name];
        let numbers = u16::try_from(*flow.count).ok().and_then(|count| Some(next..next.checked_add(count)?));
        next = numbers.as_ref().map_or(next, |numbers| numbers.end);
        flow.numbers.resolve(numbers);
        flow.hosts.resolve(scene.hosts(&flow.from, &flow.to));
        flow.settings.resolve(scene.settings(*flow.transport, flow.profile.as_ref()));
        let first = first_links.get(flow.to.as_str()).cloned();
        let first = first.map(|first| Setting::derived(first, "first link of the receiver", place));
        flow.primary = flow.primary.take().or(first).into();
        let start = *flow.start;
        flow.connect.get_or_insert_with(|| Setting::derived(start, "at the start", place));
        if !flow.transport.is_of_datagrams() {
            flow.profile.get_or_insert_with(|| Setting::default(DEFAULT_PROFILE.to_owned(), place));
        }
        if let Application::Trace(trace) = &mut flow.application.0
            && let Some((messages, digest)) = load(&trace.file, trace.file.place(), files, faults)
        {
            check_digest(&trace.file, trace.file.place(), &mut trace.digest, digest, faults);
            trace.messages.resolve(Some(messages.into()));
        }
    }
    for (_, flow) in flows.iter() {
        if let Application::Trace(trace) = &flow.application.0
            && let Some(messages) = &*trace.messages
            && let Some(longest) = messages.iter().map(|(_, size)| *size).max()
        {
            send_buffer::holds(scene, *flow.transport, flow.profile.as_ref(), longest, faults);
            let sizes = messages.iter().map(|(_, size)| *size);
            let shortest = sizes.min().unwrap_or(longest);
            datagrams::fits(flow, [shortest, longest], trace.file.place(), faults);
            let times = messages.iter().map(|(at, _)| at.saturating_add(*flow.start));
            let duration = scene.duration.unwrap_or(Duration::MAX);
            let end = flow.end.map_or(duration, |end| *end).min(duration);
            behind_the_end(["messages", "sent"], times, end, trace.file.place(), faults);
        }
    }
}

/// Writes the default configurations down that flows and sessions use, so that they are in the merged form.
pub(crate) fn add_default_profiles(
    sctp: &mut Tables<SctpProfile>,
    tcp: &mut Tables<TcpProfile>,
    nodes: &Tables<Node>,
    flows: &Tables<Flow>,
    sessions: &Tables<Sessions>,
) {
    let serving = nodes.iter().find_map(|(_, node)| Some(node.serve.as_ref()?.place()));
    let uses_default = |transport: Transport| {
        let flows = flows.iter().map(|(_, flow)| (*flow.transport, flow.profile.is_none(), flow.place()));
        let sessions = sessions.iter().map(|(_, own)| (*own.transport, own.profile.is_none(), own.place()));
        let mut users = flows.chain(sessions);
        users
            .find(|(own, names_none, _)| *own == transport && *names_none)
            .map(|(.., place)| place)
            .or(serving)
    };
    if let Some(place) = uses_default(Transport::Sctp) {
        default::add(sctp, place);
    }
    if let Some(place) = uses_default(Transport::Tcp) {
        default::add(tcp, place);
    }
}

fn ends(nodes: &Tables<Node>, name: &str, flow: &Flow, faults: &mut Faults) {
    let from = resolve(nodes, &flow.from, "node", flow.from.place(), faults);
    let to = resolve(nodes, &flow.to, "node", flow.to.place(), faults);
    for (end, node, verb) in [(&flow.from, from, "sends"), (&flow.to, to, "listens")] {
        if node.is_some_and(|node| *node.kind == NodeKind::Router) {
            let message = format!("`{}` is a router: nothing on it {verb}", **end);
            faults.report(end.place(), Fault::new(message).help("let the flow end at a host"));
        }
    }
    if *flow.from == *flow.to {
        let message = format!("flow `{name}` goes from `{}` to itself", *flow.from);
        faults.report(flow.to.place(), Fault::new(message).help("let it go to another host"));
    }
}

/// A receiver that reads at all reads at some rate.
fn read_rate(flow: &Flow, faults: &mut Faults) {
    if let Some(rate) = &flow.read_rate
        && rate.as_bits_per_sec() == 0
    {
        let help = "let it be larger, or leave it out: the receiver then takes everything at once";
        faults.report(rate.place(), Fault::new("a receiver of rate zero never reads").help(help));
    }
}

fn times(flow: &Flow, scene: Scene<'_>, faults: &mut Faults) {
    scene.before_the_end(&flow.start, "the start of this flow", faults);
    if !flow.latest_delay().is_zero() {
        let latest = flow.start.saturating_add(flow.latest_delay());
        let place = flow.stagger.as_ref().map_or(flow.start_jitter.place(), Setting::place);
        let latest = Setting::derived(latest, "start, start_jitter and stagger", place);
        scene.before_the_end(&latest, "the latest start of this flow", faults);
    }
    if let Some(connect) = flow.connect.filter(|connect| **connect > *flow.start) {
        let message = format!("the flow connects at {}, after it starts at {}", *connect, *flow.start);
        faults.report(connect.place(), Fault::new(message).help("let `connect` be at most `start`"));
    }
    if let (Some(end), Some(duration)) = (flow.end, scene.duration.filter(|duration| !duration.is_zero()))
        && *end > duration
    {
        let message = format!("the flow ends at {}, after the end of the run at {duration}", *end);
        let help = "let it end earlier, or leave `end` out";
        faults.report(end.place(), Fault::new(message).help(help));
    }
    if let Some(end) = flow.end.filter(|end| **end <= *flow.start) {
        let message = format!("the flow ends at {}, before it starts at {}", *end, *flow.start);
        faults.report(end.place(), Fault::new(message).help("let `end` be later than `start`"));
    }
}

fn handover(flow: &Flow, scene: Scene<'_>, faults: &mut Faults) {
    let (at, to) = match (&flow.handover_at, &flow.handover_to) {
        (None, None) => return,
        (Some(at), Some(to)) => (at, to),
        (Some(lone), None) => {
            let fault = Fault::new("`handover_at` is set without `handover_to`");
            return faults.report(lone.place(), fault.help("say to which link of the sender"));
        }
        (None, Some(lone)) => {
            let fault = Fault::new("`handover_to` is set without `handover_at`");
            return faults.report(lone.place(), fault.help("say when"));
        }
    };
    scene.before_the_end(at, "the handover of this flow", faults);
    scene.wiring.must_end_at(to, &flow.from, faults);
    let moves = scene.sctp_profile(flow.profile.as_ref()).is_some_and(|profile| {
        let extensions = profile.extensions();
        extensions.contain(Extension::DynamicAddresses)
            && (extensions.contain(Extension::Authentication) || profile.allows_unauthenticated_addresses())
    });
    if *flow.transport != Transport::Sctp || !moves {
        let fault = Fault::new("this flow's addresses cannot change while it lives");
        let help = "let it use SCTP, with a profile whose `extensions` list \"dynamic-addresses\" and \
                    \"authentication\", or that has `unauthenticated_addresses = true`";
        faults.report(at.place(), fault.help(help));
    }
}

/// An association has as many streams as the receiver takes.
fn streams_fit(flow: &Flow, scene: Scene<'_>, faults: &mut Faults) {
    let name = name_of(flow.profile.as_ref());
    let Some(profile) = scene.sctp.find(name).filter(|_| *flow.transport == Transport::Sctp) else { return };
    let (streams, most) = (*flow.streams, *profile.inbound_streams);
    if streams > most && most > 0 {
        let message =
            format!("a flow with {streams} streams needs a receiver that takes as many, and not {most}");
        let help = format!("write `inbound_streams = {streams}` in `[sctp.{name}]`, or fewer `streams`");
        faults.report(flow.streams.place(), Fault::new(message).help(help));
    }
}

fn counts(flow: &Flow, faults: &mut Faults) {
    if *flow.count == 0 || *flow.count > MOST_FLOWS {
        let help = format!("let it lie between 1 and {MOST_FLOWS}");
        faults.report(flow.count.place(), Fault::new(format!("{} flows cannot be", *flow.count)).help(help));
    }
    if let Some(stagger) = flow.stagger.filter(|_| *flow.count == 1) {
        let fault = Fault::new("`stagger` is about flows of which there are several");
        faults.report(stagger.place(), fault.help("write `count = 2`, or more, or leave `stagger` out"));
    }
    if *flow.streams == 0 {
        let fault = Fault::new("an association has one stream at least").help("write `streams = 1`");
        faults.report(flow.streams.place(), fault);
    }
    if *flow.adaptation == Adaptation::M3ua {
        if *flow.streams > SIGNALLING_LINK_SELECTIONS {
            let message =
                format!("{} streams are more than there are signalling link selections", *flow.streams);
            let help = format!("M3UA: let it be at most {SIGNALLING_LINK_SELECTIONS}");
            faults.report(flow.streams.place(), Fault::new(message).help(help));
        }
        if *flow.transport == Transport::Tcp || *flow.unordered {
            let fault = Fault::new("M3UA needs SCTP with messages in order");
            faults.report(
                flow.adaptation.place(),
                fault.help("write `transport = \"sctp\"`, `unordered = false`"),
            );
        }
    }
    if *flow.transport == Transport::Tcp {
        if *flow.streams > 1 {
            let fault = Fault::new("TCP has one stream").help("remove `streams`, or use SCTP");
            faults.report(flow.streams.place(), fault);
        }
        if *flow.unordered {
            let fault = Fault::new("TCP delivers in order").help("remove `unordered`, or use SCTP");
            faults.report(flow.unordered.place(), fault);
        }
    }
}

/// Reports faults in what is said of abandoned messages, and of streams.
fn given_up(flow: &Flow, faults: &mut Faults) {
    let limit = flow.max_retransmissions.as_ref().map(Setting::place);
    if let (Some(_), Some(limit)) = (&flow.lifetime, limit) {
        one_of_them(limit, faults);
    }
    let values = flow.stream_values.as_ref();
    let of_sctp = [flow.lifetime.as_ref().map(Setting::place), limit, values.map(Setting::place)];
    if *flow.transport == Transport::Tcp
        && let Some(place) = of_sctp.into_iter().flatten().next()
    {
        let fault = Fault::new("TCP delivers everything, over one stream");
        faults.report(place, fault.help("remove the key, or use SCTP"));
    }
    if let Some(values) = values.filter(|values| values.len() > usize::from(*flow.streams)) {
        let message = format!("{} values are more than {} streams", values.len(), *flow.streams);
        faults.report(values.place(), Fault::new(message).help("write more `streams`, or fewer values"));
    }
}

/// Reports what messages ask for that only SCTP has.
fn asked_for(flow: &Flow, wiring: Wiring<'_, Written>, faults: &mut Faults) {
    let place = flow.sack_immediately.as_ref().map(Setting::place);
    let of_sctp = place.or_else(|| flow.destination.as_ref().map(Setting::place));
    if *flow.transport == Transport::Tcp
        && let Some(place) = of_sctp
    {
        let fault = Fault::new("messages over TCP have one way, and ask for no acknowledgement");
        return faults.report(place, fault.help("remove the key, or use SCTP"));
    }
    let of_kinds = match &flow.application.0 {
        Application::Mixed(mixed) => Some(mixed.classes.iter()),
        _ => None,
    };
    let of_kinds = of_kinds.into_iter().flatten().filter_map(|(_, class)| class.destination.as_ref());
    for link in flow.destination.iter().chain(of_kinds) {
        wiring.must_end_at(link, &flow.to, faults);
    }
}

fn one_of_them(place: Place, faults: &mut Faults) {
    let fault = Fault::new("a message is given up for one reason");
    faults.report(place, fault.help("write one of `lifetime`, `max_retransmissions` and `priority`"));
}

/// Kinds of messages that a flow's streams carry.
fn classes(mixed: &Mixed, flow: &Flow, place: Place, faults: &mut Faults) {
    if *flow.transport == Transport::Tcp || *flow.adaptation == Adaptation::M3ua {
        let fault = Fault::new("messages of several kinds go over streams of SCTP");
        faults.report(place, fault.help("write `transport = \"sctp\"`, without `adaptation`"));
    }
    if mixed.classes.iter().next().is_none() {
        let help = "write `classes.telemetry = { stream = 0, message_size = \"200 B\", interval = \"1 s\" }`";
        faults.report(place, Fault::new("nothing is sent").help(help));
    }
    for (_, class) in mixed.classes.iter() {
        if *class.stream >= *flow.streams {
            let message = format!("stream {} is not one of {}", *class.stream, *flow.streams);
            let help = format!("write `streams = {}` in the flow", class.stream.saturating_add(1));
            faults.report(class.stream.place(), Fault::new(message).help(help));
        }
        if let Err(fault) = message_size(*class.message_size) {
            faults.report(class.message_size.place(), fault);
        }
        positive(&class.interval, "an interval", faults);
        if *class.messages == 0 {
            let fault = Fault::new("nothing is sent").help("write `messages = 1`, or more");
            faults.report(class.messages.place(), fault);
        }
        let limits = [
            class.lifetime.as_ref().map(Setting::place),
            class.max_retransmissions.as_ref().map(Setting::place),
            class.priority.as_ref().map(Setting::place),
        ];
        if let Some(second) = limits.into_iter().flatten().nth(1) {
            one_of_them(second, faults);
        }
    }
}

/// Reports a transfer whose last message has no room for the number that names it.
fn last_message(total: DataSize, message: DataSize, place: Place, faults: &mut Faults) {
    let left = total.as_bytes().checked_rem(message.as_bytes()).unwrap_or(0);
    if left == 0 || left >= LEAST_MESSAGE.as_bytes() {
        return;
    }
    let text = format!("the last message of {total} in messages of {message} has {left} B");
    let whole = total.as_bytes().saturating_sub(left);
    let help =
        format!("the first {LEAST_MESSAGE} name a message: write \"{whole} B\", or `content = \"pattern\"`");
    faults.report(place, Fault::new(text).help(help));
}

fn application(flow: &Flow, place: Place, faults: &mut Faults) {
    let application = &flow.application.0;
    if let Some(size) = application.message_size()
        && let Err(fault) = message_size(**size)
    {
        faults.report(size.place(), fault);
    }
    match application {
        Application::Bulk(bulk) => {
            if let Total::Bytes(total) = *bulk.total {
                if total < LEAST_MESSAGE {
                    let help = "write an amount of 8 bytes at least, or \"unlimited\"";
                    faults.report(bulk.total.place(), Fault::new("nothing is sent").help(help));
                } else if *flow.content == Content::Stamped {
                    last_message(total, *bulk.message_size, bulk.total.place(), faults);
                }
            }
        }
        Application::Bursts(bursts) => {
            positive(&bursts.interval, "an interval", faults);
            if *bursts.jitter > *bursts.interval {
                let message =
                    format!("intervals of {} cannot be {} shorter", *bursts.interval, *bursts.jitter);
                faults.report(
                    bursts.jitter.place(),
                    Fault::new(message).help("let `jitter` be at most `interval`"),
                );
            }
            let (burst, message) = (bursts.burst_size.as_bytes(), bursts.message_size.as_bytes());
            if message > 0 && (burst == 0 || burst % message != 0) {
                let whole = DataSize::from_bytes(burst.div_ceil(message) * message.max(1));
                let text = format!(
                    "a burst of {} is not made of messages of {}",
                    *bursts.burst_size, *bursts.message_size
                );
                let help =
                    format!("let it be a multiple, for example \"{} B\"", whole.as_bytes().max(message));
                faults.report(bursts.burst_size.place(), Fault::new(text).help(help));
            }
        }
        Application::ConstantRate(source) => {
            spacing(source.interval.as_ref(), "interval", source.rate.as_ref(), place, faults);
        }
        Application::Poisson(source) => {
            spacing(source.mean_interval.as_ref(), "mean_interval", source.rate.as_ref(), place, faults);
        }
        Application::Ping(ping) => {
            positive(&ping.interval, "an interval", faults);
            if let Some(count) = ping.count.filter(|count| **count == 0) {
                let fault = Fault::new("nothing is sent").help("write `count = 1`, or more");
                faults.report(count.place(), fault);
            }
        }
        Application::Voice(voice) => {
            positive(&voice.interval, "an interval", faults);
            positive(&voice.mean_talk, "a talkspurt", faults);
            positive(&voice.mean_silence, "a silence", faults);
        }
        Application::Mixed(_) | Application::Trace(_) => {}
    }
}

/// A source says how often it sends either by an interval or by a rate.
fn spacing(
    interval: Option<&Setting<Duration>>,
    key: &str,
    rate: Option<&Setting<DataRate>>,
    place: Place,
    faults: &mut Faults,
) {
    match (interval, rate) {
        (None, None) => {
            let help = format!("write `{key} = \"30 ms\"` or `rate = \"200 kbit/s\"`");
            faults.report(place, Fault::new("nothing says how often this flow sends").help(help));
        }
        (Some(_), Some(rate)) => {
            let help = format!("keep one of `{key}` and `rate`");
            faults.report(rate.place(), Fault::new(format!("`{key}` says it already")).help(help));
        }
        (Some(interval), None) => positive(interval, "an interval", faults),
        (None, Some(rate)) if rate.as_bits_per_sec() == 0 => {
            let help = "let it be larger, or remove the flow";
            faults.report(rate.place(), Fault::new("a source of rate zero never sends").help(help));
        }
        (None, Some(_)) => {}
    }
}
