"""Files: run directories, arrays, metrics, provenance. All are JSON or safetensors, so that loading executes no
code."""
