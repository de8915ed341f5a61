"""Does the cleanup hold when everything breaks? Runs with seeded faults and kills, then one sweep, then the count."""
