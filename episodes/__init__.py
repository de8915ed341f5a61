"""What happened? The record of one conversation, the ledger of side effects, the pull-request hosts."""
