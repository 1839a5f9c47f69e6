"""An evidence pack: the questions of a run with their proof, as one HTML file to hand over."""
