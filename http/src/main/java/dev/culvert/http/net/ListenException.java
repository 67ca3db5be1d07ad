package dev.culvert.http.net;

import dev.culvert.config.HostPort;

/**
 * Reports that a listener cannot bind its address: it is in use, not local, or not permitted. Carries no
 * stack trace.
 */
public final class ListenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient HostPort address;

    public ListenException(HostPort address, String reason) {
        super("can't listen on " + address + ": " + reason, null, false, false);
        this.address = address;
    }

    /** The address that was requested. */
    public HostPort address() {
        return address;
    }
}
