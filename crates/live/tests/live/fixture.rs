//! A server and a client in one thread, each on sockets of its own.

use std::net::{IpAddr, UdpSocket};

use slantpath_base::{DataSize, Duration, Instant, Stream};
use slantpath_instruments::{
    Echo, EchoConfig, EchoMode, LoadClient, LoadClientConfig, LoadReport, WhenBlocked, Workload,
};
use slantpath_live::record::Recorder;
use slantpath_live::{
    Binding, Carriage, Live, LiveConfig, OpenError, Peer, Program, ProgramConfig, SctpConfig,
    SctpSendOptions, Station, host_of,
};

pub(crate) const PORT: u16 = 5_000;
/// Far more than any of these tests takes: nothing depends on it unless it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

pub(crate) fn ips(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| ip(text)).collect()
}

/// A UDP port that is free at an address now.
pub(crate) fn free_udp_port(address: IpAddr) -> u16 {
    UdpSocket::bind((address, 0)).unwrap().local_addr().unwrap().port()
}

/// RFC 9260's, with an RTO that suits a link without delay, and HEARTBEATs by which an address that has come back is
/// found within seconds.
pub(crate) fn sctp(carriage: Carriage) -> SctpConfig {
    let overhead = u16::try_from(carriage.overhead_bytes()).unwrap();
    SctpConfig {
        initial_path_mtu: 1_500 - overhead,
        rto_initial: Duration::from_millis(200),
        rto_min: Duration::from_millis(100),
        rto_max: Duration::from_secs(1),
        heartbeat_interval: Some(Duration::from_millis(500)),
        ..SctpConfig::default()
    }
}

pub(crate) fn live_config(addresses: &[IpAddr], carriage: Carriage, ports: &[u16]) -> LiveConfig {
    LiveConfig {
        addresses: addresses.to_vec(),
        binding: Binding::Listed,
        carriage,
        ports: ports.to_vec(),
        socket_buffer_bytes: LiveConfig::SOCKET_BUFFER_BYTES,
    }
}

pub(crate) fn echo_station(addresses: &[IpAddr], carriage: Carriage, key: [u8; 32]) -> Station<Echo> {
    echo_station_with(sctp(carriage), addresses, key)
}

/// Variant of [`echo_station`] with other settings of SCTP.
pub(crate) fn echo_station_with(sctp: SctpConfig, addresses: &[IpAddr], key: [u8; 32]) -> Station<Echo> {
    let mut host = host_of(addresses);
    let config = EchoConfig {
        port: ProgramConfig {
            sctp: Box::new(sctp),
            local_addresses: addresses.to_vec(),
            local_port: PORT,
            peer: None,
        },
        mode: EchoMode::Echo,
        associations: None,
        patience: Duration::from_secs(30),
    };
    let program = Echo::open(config, &mut host, Stream::secret(key));
    Station { host, program }
}

pub(crate) fn server(addresses: &[IpAddr], carriage: Carriage) -> Result<Live<Station<Echo>>, OpenError> {
    server_with(addresses, carriage, LiveConfig::SOCKET_BUFFER_BYTES)
}

/// Variant of [`server`] with sockets that hold so many bytes.
pub(crate) fn server_with(
    addresses: &[IpAddr],
    carriage: Carriage,
    socket_buffer_bytes: usize,
) -> Result<Live<Station<Echo>>, OpenError> {
    let key = slantpath_live::secret().unwrap();
    let config = LiveConfig { socket_buffer_bytes, ..live_config(addresses, carriage, &[PORT]) };
    let mut live = Live::open(&config, echo_station(addresses, carriage, key))?;
    live.record(Recorder::new(key));
    Ok(live)
}

/// A load of so many messages at once.
pub(crate) fn load(messages: u64, message_bytes: u64) -> LoadClientConfig {
    LoadClientConfig {
        port: ProgramConfig {
            sctp: Box::default(),
            local_addresses: Vec::new(),
            local_port: 20_000,
            peer: None,
        },
        associations: 1,
        workload: Workload::Bulk { message: DataSize::from_bytes(message_bytes), total: None },
        draws: Vec::new(),
        when_blocked: WhenBlocked::Queue,
        streams: 4,
        is_unordered: false,
        options: SctpSendOptions::default(),
        messages: Some(messages),
        duration: None,
        is_echoed: true,
        waits_for_all: false,
        patience: Duration::from_secs(60),
    }
}

/// A message of so many bytes at each interval.
pub(crate) const fn every(interval: Duration, message_bytes: u64) -> Workload {
    Workload::ConstantRate { message: DataSize::from_bytes(message_bytes), interval }
}

pub(crate) fn load_station(
    own: &[IpAddr],
    peer: &[IpAddr],
    carriage: Carriage,
    config: &LoadClientConfig,
    key: [u8; 32],
) -> Station<LoadClient> {
    load_station_with(sctp(carriage), own, peer, config, key)
}

/// Variant of [`load_station`] with other settings of SCTP.
pub(crate) fn load_station_with(
    sctp: SctpConfig,
    own: &[IpAddr],
    peer: &[IpAddr],
    config: &LoadClientConfig,
    key: [u8; 32],
) -> Station<LoadClient> {
    let mut host = host_of(own);
    let peer = config.port.peer.clone().unwrap_or(Peer { addresses: peer.to_vec(), port: PORT });
    let port = ProgramConfig {
        sctp: Box::new(sctp),
        local_addresses: own.to_vec(),
        peer: Some(peer),
        ..config.port.clone()
    };
    let program =
        LoadClient::open(LoadClientConfig { port, ..config.clone() }, &mut host, Stream::secret(key));
    Station { host, program }
}

pub(crate) fn client(
    own: &[IpAddr],
    peer: &[IpAddr],
    carriage: Carriage,
    config: &LoadClientConfig,
) -> Result<Live<Station<LoadClient>>, OpenError> {
    client_with(sctp(carriage), own, peer, carriage, config)
}

/// Variant of [`client`] with other settings of SCTP.
pub(crate) fn client_with(
    sctp: SctpConfig,
    own: &[IpAddr],
    peer: &[IpAddr],
    carriage: Carriage,
    config: &LoadClientConfig,
) -> Result<Live<Station<LoadClient>>, OpenError> {
    let key = slantpath_live::secret().unwrap();
    let ports: Vec<u16> = (0..config.associations).map(|number| config.port.local_port + number).collect();
    let station = load_station_with(sctp, own, peer, config, key);
    let mut live = Live::open(&live_config(own, carriage, &ports), station)?;
    live.record(Recorder::new(key));
    Ok(live)
}

/// Runs both until the client has come to its end, and gives its report. `watch` is called after each turn.
pub(crate) fn run(
    server: &mut Live<Station<Echo>>,
    client: &mut Live<Station<LoadClient>>,
    mut watch: impl FnMut(&mut Live<Station<Echo>>, &mut Live<Station<LoadClient>>),
) -> LoadReport {
    let last = client.now().saturating_add(PATIENCE);
    while !client.host().program.is_over() {
        assert!(client.now() < last, "no end: {:#?}", client.host().program);
        turn(server);
        let until = client.now().saturating_add(Duration::from_micros(200));
        client.step(until).unwrap();
        watch(server, client);
    }
    // What the client's last packets bring.
    while server.host().program.open_associations() > 0 && server.now() < last {
        turn(server);
    }
    let now = client.now();
    let Station { host, program } = client.host_mut();
    program.report(host, now)
}

/// Has the server do what there is to do, without a wait.
pub(crate) fn turn(server: &mut Live<Station<Echo>>) {
    server.step(Instant::START).unwrap();
}
