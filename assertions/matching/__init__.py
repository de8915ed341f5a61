"""How are a call and its arguments compared with what a case expects? Shared by all assertions that look at calls."""
