package dev.culvert.server.access;

/** Whether a runtime without rules may be called. */
public enum AccessDefault {
    OPEN, DENY
}
