package dev.culvert.config;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * A listen address or upstream address: {@code 127.0.0.1:8443}, {@code [::1]:8443}, {@code localhost:0}.
 *
 * @param host a host name or an address literal, IPv6 without brackets
 * @param port 0..65535; a listener on port 0 picks a free port
 */
public record HostPort(String host, int port) {
    private static final int MAX_PORT_TEXT = 9;

    public HostPort {
        if (host.isEmpty() || port < 0 || port > 65535) {
            throw new IllegalArgumentException(
                    host + ":" + port + " (expected: host:port, a port of 1..65535, or 0 for a free one)");
        }
    }

    /**
     * Parses {@code host:port}. Throws IllegalArgumentException that names the text and the expected form.
     */
    public static HostPort parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            host = "";
        }
        String port = text.substring(colon + 1);
        if (host.isEmpty() || port.isEmpty() || port.length() > MAX_PORT_TEXT
                || !port.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw new IllegalArgumentException(
                    text + " (expected: host:port, as 127.0.0.1:8443 or [::1]:8443; port 1 to 65535, 0 for a free one)");
        }
        return new HostPort(host, Integer.parseInt(port)); // judges the number
    }

    /** The address of an open socket. */
    public static HostPort of(InetSocketAddress address) {
        InetAddress ip = address.getAddress();
        String host = address.getHostString();
        // without a name, the JDK writes the address out
        boolean written = ip != null && host.indexOf(':') >= 0;
        return new HostPort(written ? IpText.of(ip) : host, address.getPort());
    }

    /** Whether only this machine can reach a listener here: a loopback address, or {@code localhost}. */
    public boolean isLoopback() {
        InetAddress literal = NetUtil.createInetAddressFromIpAddressString(host);
        return literal == null ? host.equalsIgnoreCase("localhost") : literal.isLoopbackAddress();
    }

    /** The unresolved address, for binding and connecting. The user of the address resolves it. */
    public InetSocketAddress unresolved() {
        return InetSocketAddress.createUnresolved(host, port);
    }

    @Override
    public String toString() {
        return host.indexOf(':') >= 0 ? "[" + host + "]:" + port : host + ":" + port;
    }
}
