package dev.culvert.client.dial;

import java.net.InetAddress;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Selects the outbound proxy of a connection by the configuration, else by {@code HTTPS_PROXY} and {@code
 * NO_PROXY}.
 */
public final class Outbound {
    private static final String[] PROXY_VARIABLES = {"https_proxy", "HTTPS_PROXY"};
    private static final String[] EXCEPTION_VARIABLES = {"no_proxy", "NO_PROXY"};

    private final @Nullable OutboundProxy proxy;
    private final NoProxy exceptions;
    /**
     * Whether loopback addresses are reached directly. A proxy of the environment is for external servers and
     * could not reach them.
     */
    private final boolean sparesLoopback;

    private Outbound(@Nullable OutboundProxy proxy, NoProxy exceptions, boolean sparesLoopback) {
        this.proxy = proxy;
        this.exceptions = exceptions;
        this.sparesLoopback = sparesLoopback;
    }

    /**
     * Creates the selection from the configuration, else from the environment of this process. Throws
     * ConfigException for invalid variables.
     */
    public static Outbound of(ClientConfig config) {
        return of(config.proxy(), System.getenv());
    }

    static Outbound of(@Nullable ProxyConfig config, Map<String, String> environment) {
        if (config != null) {
            return new Outbound(OutboundProxy.of(config), NoProxy.of("proxy.noProxy", config.noProxy()),
                    false);
        }
        NoProxy exceptions = NoProxy
                .lenient(environment.getOrDefault(set(EXCEPTION_VARIABLES, environment), ""));
        String variable = set(PROXY_VARIABLES, environment);
        String value = environment.getOrDefault(variable, "").strip();
        return new Outbound(value.isEmpty() ? null : OutboundProxy.of(variable, value), exceptions, true);
    }

    /** The first variable that is set and not empty, else the last. */
    private static String set(String[] variables, Map<String, String> environment) {
        for (String variable : variables) {
            if (!environment.getOrDefault(variable, "").isBlank()) {
                return variable;
            }
        }
        return variables[variables.length - 1];
    }

    /**
     * The proxy for a server; null if it is reached directly.
     *
     * @param host a name or an address, IPv6 without brackets
     */
    @Nullable
    OutboundProxy proxyFor(String host, int port) {
        return exceptions.covers(host, port) || (sparesLoopback && isLoopback(host)) ? null : proxy;
    }

    private static boolean isLoopback(String host) {
        String name = host.toLowerCase(Locale.ROOT);
        InetAddress literal = NoProxy.literal(name);
        return literal != null
                ? literal.isLoopbackAddress()
                : name.equals("localhost") || name.endsWith(".localhost");
    }
}
