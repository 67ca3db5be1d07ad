package dev.culvert.relay.tls;

import dev.culvert.config.Setting;

/**
 * The settings of TLS that hold for all listeners of a part, or for its tunnel.
 *
 * @param postQuantum whether the key exchange must be safe from quantum computers
 */
public record TlsConfig(
        @Setting(value = PostQuantum.TEXT, byDefault = "prefer") PostQuantum postQuantum) {
    public TlsConfig {
        postQuantum = postQuantum.checked();
    }

    public static TlsConfig usual() {
        return new TlsConfig(PostQuantum.PREFER);
    }
}
