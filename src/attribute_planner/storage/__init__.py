"""What is kept on disk: run directories, arrays, metrics, provenance. JSON and safetensors: loading runs no code."""
