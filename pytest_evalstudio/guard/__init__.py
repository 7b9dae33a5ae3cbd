"""Guard: a service and clients that check answers against a guardrail configuration."""
