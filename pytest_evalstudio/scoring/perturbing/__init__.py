"""Perturbed suites: specifications of perturbations, changed texts, and the categories that record them."""
