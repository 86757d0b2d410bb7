"""The house rules, one module each; see check_rules.py."""
