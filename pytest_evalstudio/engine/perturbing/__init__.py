"""From suites to perturbed suites: what is asked for, what is made of it, and what categories tell of it
later.
"""
