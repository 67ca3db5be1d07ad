package dev.culvert.relay.tls;

import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.ConfigException;

/** Whether the key exchange of TLS must be safe from quantum computers. */
public enum PostQuantum {
    /** With every peer that offers it; peers without it are served with a classical exchange. */
    PREFER,
    /** With every peer: others are refused in the handshake. TLS 1.3 only. */
    REQUIRE;

    /** The description of a listener's or a tunnel's setting. */
    public static final String TEXT = "Whether X25519MLKEM768 is preferred, or required: then TLS is 1.3 only, and peers without it are refused in the handshake";

    /**
     * Returns this value, which can be kept here. Throws ConfigException for the key {@code postQuantum} if
     * it can't: only BoringSSL has the group.
     */
    public PostQuantum checked() {
        return checked(TlsContexts.engine(), this == REQUIRE && !TlsContexts.offersHybrid());
    }

    PostQuantum checked(String engine, boolean lacking) {
        if (lacking) {
            throw new ConfigException("postQuantum", "prefer: the TLS engine of this process is " + engine
                    + ", which has no X25519MLKEM768; run on a platform with Netty's BoringSSL"
                    + " (Linux with glibc on x86_64 or aarch64), and do not switch it off");
        }
        return this;
    }
}
