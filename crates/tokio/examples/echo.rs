//! An echo server and a client of it over SCTP in UDP on the loopback: no privilege is needed.
//!
//! ```text
//! cargo run -p slantpath-tokio --example echo
//! ```

#[cfg(target_os = "linux")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    echo::run().await
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
#[allow(clippy::print_stdout, reason = "an example shows what it does")]
mod echo {
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;

    use slantpath_tokio::{
        Association, AssociationError, Carriage, Endpoint, EndpointConfig, MessageOptions, Peer,
    };

    const PORT: u16 = 7;
    const MESSAGES: u32 = 10_000;

    pub(crate) async fn run() -> Result<(), Box<dyn std::error::Error>> {
        let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
        let carriage = |remote_port| Carriage::Udp { local_port: 0, remote_port };

        let config = EndpointConfig { port: PORT, ..EndpointConfig::new(vec![loopback], carriage(9_899)) };
        let server = Endpoint::bind(config).await?;
        let udp_port = server.addresses()?[0].port();
        println!("an echo server at SCTP port {PORT}, behind UDP port {udp_port}");
        let serving = tokio::spawn(async move {
            while let Ok(association) = server.accept().await {
                tokio::spawn(async move {
                    if let Err(error) = serve(&association).await {
                        println!("server: {error}");
                    }
                });
            }
        });

        let client = Endpoint::bind(EndpointConfig::new(vec![loopback], carriage(udp_port))).await?;
        let call = Arc::new(client.connect(&Peer { addresses: vec![loopback], port: PORT }).await?);
        println!("connected, with {} streams", call.outbound_streams());
        let sending = tokio::spawn({
            let call = Arc::clone(&call);
            async move {
                for number in 0..MESSAGES {
                    // Waits whenever the send buffer is full.
                    let stream = u16::try_from(number % u32::from(call.outbound_streams()))?;
                    call.send(stream, number.to_be_bytes().repeat(50), MessageOptions::default()).await?;
                }
                Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
            }
        });
        let mut bytes = 0;
        for _ in 0..MESSAGES {
            let message = call.receive().await?.ok_or("the server has ended the association")?;
            bytes += message.payload.len();
        }
        sending.await?.map_err(|error| error.to_string())?;
        println!("{MESSAGES} messages of {bytes} bytes in all have come back");
        for path in call.paths() {
            println!("path to {}: SRTT {:?}, cwnd {} bytes", path.destination, path.srtt, path.cwnd);
        }
        call.shutdown().await?;
        serving.abort();
        Ok(())
    }

    /// Sends everything back until the peer shuts down.
    async fn serve(association: &Association) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        loop {
            match association.receive().await {
                Ok(Some(message)) => {
                    let options = MessageOptions {
                        payload_protocol: message.payload_protocol,
                        is_unordered: message.is_unordered,
                        ..MessageOptions::default()
                    };
                    association.send(message.stream, message.payload, options).await?;
                }
                Ok(None) => return Ok(()),
                Err(AssociationError::Lost(lost)) => return Err(lost.into()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
