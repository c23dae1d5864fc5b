"""One transcript from a session's sidecar and the agent's own log of it.

The sidecar knows what a person saw, but in files of the Go program not what they had asked, and
not what happened before it began. The log knows both, be it a list of messages or another. They
are joined by what they contain, never by counting from the end, so that the result depends on the
contents of the two files alone, whatever the order in which they grew.
"""
