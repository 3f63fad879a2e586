"""What is kept on disk: run directories, arrays, metrics, provenance. JSON and safetensors only: loading runs no code."""
