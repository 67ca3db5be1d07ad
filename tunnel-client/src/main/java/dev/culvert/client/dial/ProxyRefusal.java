package dev.culvert.client.dial;

import dev.culvert.config.HostPort;
import dev.culvert.config.Reason;
import io.netty.handler.proxy.ProxyConnectException;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Describes why a proxy did not open a connection to the server. Contains the proxy's address, never its
 * password.
 */
final class ProxyRefusal {
    /** Netty's messages end with the proxy's answer: {@code …, status: 407 Proxy Authentication Required}. */
    private static final Pattern HTTP_STATUS = Pattern.compile("status: (\\d{3})\\b(.*)");
    private static final Pattern SOCKS_STATUS = Pattern.compile("\\bstatus: ([A-Z_]+)");
    /** The statuses of proxies that cannot reach the server. */
    private static final Set<String> GATEWAY_FAILED = Set.of("502", "503", "504");
    private static final int MAX_TEXT = 80;

    private ProxyRefusal() {}

    /** Converts a proxy's error to the failure of the dial. */
    static DialFailure of(OutboundProxy proxy, HostPort server, Throwable cause) {
        String text = cause instanceof ProxyConnectException ? Objects.toString(cause.getMessage(), "") : "";
        Matcher http = HTTP_STATUS.matcher(text);
        if (http.find()) {
            String told = "the proxy " + proxy + " " + status(proxy, server, http);
            return GATEWAY_FAILED.contains(http.group(1))
                    ? DialFailure.absent(told)
                    : DialFailure.unreachable(told);
        }
        Matcher socks = SOCKS_STATUS.matcher(text);
        if (socks.find()) {
            return DialFailure.unreachable("the proxy " + proxy + " can't open " + server + ": "
                    + socks.group(1).toLowerCase(Locale.ROOT).replace('_', ' '));
        }
        if (text.contains("authStatus") || text.contains("authMethod")) {
            return DialFailure.unreachable("the proxy " + proxy + " " + credentials(proxy));
        }
        if (text.contains("timeout")) {
            return DialFailure.unreachable("the proxy " + proxy + " did not open " + server + " in time");
        }
        Throwable told = cause.getCause() == null ? cause : cause.getCause();
        return DialFailure.unreachable("the proxy " + proxy + " closed the connection before " + server
                + " was open" + (text.isEmpty() ? ": " + Reason.of(told) : ""));
    }

    private static String status(OutboundProxy proxy, HostPort server, Matcher http) {
        return switch (http.group(1)) {
            case "407" -> credentials(proxy) + " (407)";
            case "403" -> "does not let this client to " + server + " (403): its operator must allow that";
            default -> "answered " + http.group(1) + printable(http.group(2)) + " to CONNECT " + server;
        };
    }

    private static String credentials(OutboundProxy proxy) {
        return proxy.user() == null
                ? "wants a user and a password: name the user in " + proxy.setBy()
                        + ", the password in proxy.passwordFile"
                : "refuses the user or the password that " + proxy.setBy() + " names";
    }

    private static String printable(String text) {
        String cut = text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "…" : text;
        return cut.replaceAll("\\p{C}", "?");
    }
}
