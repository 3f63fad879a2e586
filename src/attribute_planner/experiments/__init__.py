"""The experiments of the paper: run specifications, records, tables and the report."""
