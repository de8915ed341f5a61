"""What is left behind, and who cleans up?"""
