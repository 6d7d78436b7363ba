"""Models and encoders: protocols, transports, the embedded encoder, scripted fakes."""
