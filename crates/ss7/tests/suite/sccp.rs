//! The procedures of Q.714 between nodes that exchange real messages over a transfer that keeps order.
mod connectionless;
mod connections;
mod machines;
mod management;
mod net;
mod random;
mod succession;
mod tshark;
