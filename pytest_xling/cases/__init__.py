"""Cases: samples × languages × conditions, planned, asked and judged."""
