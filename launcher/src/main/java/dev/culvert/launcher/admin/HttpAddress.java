package dev.culvert.launcher.admin;

import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.net.URI;

/**
 * The address of an HTTP service, as a user names it. A scheme that is neither {@code http} nor {@code https}
 * is refused, because a request to it would carry a token in clear.
 */
public final class HttpAddress {
    private static final int MAX_PORT = 65_535;

    private HttpAddress() {}

    /**
     * Returns the address.
     *
     * @param origin the option or variable that names it
     * @throws CommandException with the code of a wrong usage, if a request can't be sent there
     */
    public static URI checked(String origin, URI address) {
        if (isValid(address)) {
            return address;
        }
        throw wrong(origin, address.toString());
    }

    /** The exception for a text that is no such address. */
    public static CommandException wrong(String origin, String text) {
        return new CommandException(ExitCode.USAGE,
                origin + ": " + text + " (expected: http://host:port or https://host:port, port 1 to 65535)");
    }

    static boolean isValid(URI address) {
        int port = address.getPort();
        return address.getHost() != null && port != 0 && port <= MAX_PORT
                && (isSecure(address) || "http".equalsIgnoreCase(address.getScheme()));
    }

    static boolean isSecure(URI address) {
        return "https".equalsIgnoreCase(address.getScheme());
    }
}
