"""One run of collected test cases, without pytest: project, plan, services, chunks, baseline and record."""
