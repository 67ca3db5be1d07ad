package dev.culvert.http.net;

import dev.culvert.config.HostPort;

/** An address that can't be listened on: in use, not ours, or not permitted. Carries no stack trace. */
public final class ListenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient HostPort address;

    public ListenException(HostPort address, String reason) {
        super("can't listen on " + address + ": " + reason, null, false, false);
        this.address = address;
    }

    /** What was asked for. */
    public HostPort address() {
        return address;
    }
}
