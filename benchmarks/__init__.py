"""What a request costs: the service, and its peers beside it in the same run, on this machine alone."""
