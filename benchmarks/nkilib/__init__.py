"""Run the tests of aws-neuron/nki-library on nkijit, and time the steps of each kernel's calls."""
