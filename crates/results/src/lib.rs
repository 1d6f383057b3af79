//! Tables with units, statistics and the sinks that write them: CSV, JSON and Parquet.
