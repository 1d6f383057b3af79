//! Satellites that only repeat a signal: what tables of links say of them, and what has no meaning there.

use std::collections::BTreeSet;

use slantpath_base::{DataRate, Duration};
use slantpath_net::{DirectionConfig, QueueConfig, QueueLimit};
use slantpath_orbit::ContactNetwork;
use slantpath_orbit::constellation::Payload;
use slantpath_reader::{Fault, Faults, Flat, Place, Tables, Written};

use super::port::SkyPort;
use super::schema::{AccessTable, SkyDirection, SkyTable};
use super::tables::access_table;
use crate::link::channel::Channel;
use crate::link::conditioner::Conditioner;
use crate::link::conditioning;
use crate::link::port::Port;
use crate::schema::File;

/// The rate of what has no transmitter: nothing waits for it.
const NO_TRANSMITTER: DataRate = DataRate::from_bits_per_sec(u64::MAX);

/// The tables, by their place, whose antennas follow satellites that repeat, and no others.
pub(super) fn tables(sky: &SkyTable<Written>, network: &ContactNetwork) -> BTreeSet<usize> {
    let (mut repeat, mut others) = (BTreeSet::new(), BTreeSet::new());
    for site in &network.sites {
        for antenna in &site.antennas {
            let own = antenna.constellation.as_deref();
            let Some(table) = access_table(sky, &site.name, own) else { continue };
            let followed =
                network.constellations.iter().filter(|known| own.is_none_or(|own| own == known.name));
            for constellation in followed {
                let is_repeater = constellation.payload == Payload::BentPipe;
                let tables = if is_repeater { &mut repeat } else { &mut others };
                tables.insert(table);
            }
        }
    }
    &repeat - &others
}

/// Reports what the downlink of a satellite that repeats says of a transmitter.
pub(super) fn no_transmitter(downlink: &SkyDirection<Written>, table: Place, faults: &mut Faults) {
    let Some(Port { link_overhead, queue, discipline, .. }) = downlink.port.transmitter() else { return };
    let rate = downlink.rate.map(|rate| ("rate", rate.place()));
    let overhead = link_overhead.map(|overhead| ("link_overhead", overhead.place()));
    let queue = queue.map(|queue| ("queue", queue.place()));
    let discipline = discipline.as_ref().map(|_| ("discipline", table));
    for (key, place) in [rate, overhead, queue, discipline].into_iter().flatten() {
        let message = format!("a satellite that only repeats has no transmitter with a `{key}` of its own");
        let help = format!(
            "remove it: what goes up comes down at once. `{key}` of the table, or of its `uplink`, is that of the \
             antennas that send"
        );
        faults.report(place, Fault::new(message).help(help));
    }
}

/// The downlink of a satellite that repeats, without what a transmitter has.
pub(super) fn without_transmitter(downlink: &mut SkyDirection<Written>) {
    downlink.rate = None;
    downlink.port = Flat(SkyPort::Repeats(downlink.port.conditioners().clone()));
}

/// The direction of such a downlink.
pub(super) fn direction(
    file: &File,
    channel: &Channel,
    conditioners: &Tables<Conditioner>,
    mtu_bytes: u32,
) -> DirectionConfig {
    let queue = QueueConfig::DropTail(QueueLimit::Unlimited);
    let mut config = DirectionConfig::new(NO_TRANSMITTER, Duration::ZERO, queue);
    config.mtu_bytes = mtu_bytes;
    config.conditioner = conditioning::rules(file, conditioners);
    channel.configure(&mut config);
    config
}

/// Reports keys that a satellite which only repeats a signal cannot have: it reads no packet, asks for none again, and
/// has no context of a flow.
pub(super) fn check(sky: &SkyTable<Written>, network: &ContactNetwork, faults: &mut Faults) {
    let repeats = |table: &AccessTable<Written>| {
        let served = network
            .constellations
            .iter()
            .filter(|known| table.constellation.as_ref().is_none_or(|named| **named == known.name));
        served.into_iter().any(|constellation| constellation.payload == Payload::BentPipe)
    };
    for (_, table) in sky.access.iter().filter(|(_, table)| repeats(table)) {
        for arq in [&table.uplink.channel.arq, &table.downlink.channel.arq].into_iter().flatten() {
            let fault = Fault::new("a satellite that only repeats the signal asks for no packet again");
            let help = "write `arq` into a table whose `constellation` has the payload `regenerative`";
            faults.report(arq.0.tries.place(), fault.help(help));
        }
        for compression in
            [&table.uplink.channel.header_compression, &table.downlink.channel.header_compression]
        {
            let Some(compression) = compression else { continue };
            let fault = Fault::new("a satellite that only repeats the signal reads no compressed header");
            let help = "write `header_compression` into a table whose `constellation` has the payload `regenerative`";
            faults.report(compression.0.compressed.place(), fault.help(help));
        }
    }
}
