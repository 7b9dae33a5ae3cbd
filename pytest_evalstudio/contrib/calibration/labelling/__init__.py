"""Labels of people: answers drawn, the state of the labelling, sheets and agreement."""
