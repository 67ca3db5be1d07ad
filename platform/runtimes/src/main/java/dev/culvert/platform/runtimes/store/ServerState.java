package dev.culvert.platform.runtimes.store;

/** What the tunnel server knows of a runtime. */
public enum ServerState {
    /** Nothing, and it needs not: the runtime is reached through its ingress. */
    NONE,
    /** A message to it waits. */
    PENDING,
    /** It has the runtime. */
    READY,
    /** It has refused the runtime. */
    REFUSED
}
