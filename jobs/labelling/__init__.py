"""Items whose hand labels say most of a run's predicted labels: which ones, and the page to label them in."""
