"""What tests of several suites share."""
