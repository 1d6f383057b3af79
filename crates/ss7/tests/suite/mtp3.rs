//! MTP3 nodes joined by links that fail: what is accepted arrives once and in order.
mod configuration;
mod machines;
mod network;
mod over_mtp2;
mod periodic_test;
mod reserve;
mod sequence;
mod served;
mod succession;
mod unexpected;
mod wishes;
