package dev.culvert.relay.tls;

import io.netty.handler.ssl.OpenSslSession;
import java.util.Locale;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The TLS version of a connection and the group (RFC 8446 §4.2.7) that its keys were agreed with. The values
 * are few, so they can be labels of a metric, and a connection keeps a reference only.
 */
public enum KeyExchange {
    /** X25519 together with ML-KEM-768: who records the bytes now can't read them with a quantum computer. */
    X25519MLKEM768("TLSv1.3", "X25519MLKEM768"), X25519("TLSv1.3", "X25519"), P256("TLSv1.3",
            "P-256"), P384("TLSv1.3", "P-384"), P521("TLSv1.3", "P-521"),
    /** A group that is none of these. */
    OTHER("TLSv1.3", "other"),
    /** Java's engine does not tell the group, and has classical ones only. */
    UNTOLD("TLSv1.3", "unknown"),
    /** TLS 1.2 has classical groups only, and no exchange when it resumes a session. */
    TLS12("TLSv1.2", "-");

    private final String version;
    private final String group;
    private final String text;

    KeyExchange(String version, String group) {
        this.version = version;
        this.group = group;
        text = version + "/" + group;
    }

    /** Returns what the engine, whose handshake is complete, agreed on with its peer. */
    static KeyExchange of(SSLEngine engine) {
        SSLSession session = engine.getSession();
        if (!X25519MLKEM768.version.equals(session.getProtocol())) {
            return TLS12;
        }
        return session instanceof OpenSslSession openSsl ? named(openSsl.getNamedGroup()) : UNTOLD;
    }

    static KeyExchange named(@Nullable String group) {
        return switch (group == null ? "" : group.toLowerCase(Locale.ROOT)) {
            case "x25519mlkem768" -> X25519MLKEM768;
            case "x25519" -> X25519;
            case "p-256" -> P256;
            case "p-384" -> P384;
            case "p-521" -> P521;
            default -> OTHER;
        };
    }

    /** As {@code TLSv1.3}. */
    public String version() {
        return version;
    }

    /** As {@code X25519MLKEM768}. */
    public String group() {
        return group;
    }

    /** As {@code TLSv1.3/X25519MLKEM768}, for the access log. */
    @Override
    public String toString() {
        return text;
    }
}
