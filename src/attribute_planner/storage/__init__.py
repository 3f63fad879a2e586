"""Files: run directories, arrays, metrics, provenance. All JSON and safetensors, so that loading runs no code."""
