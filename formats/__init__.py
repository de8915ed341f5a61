"""How do data sets and case files become promptfoo tests?"""
