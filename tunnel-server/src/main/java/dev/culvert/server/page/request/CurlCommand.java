package dev.culvert.server.page.request;

import dev.culvert.relay.observe.RequestRecord;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The command that sends a request again, as far as it is known. Made for a POSIX shell: every text of the
 * caller is within single quotes, and what is no plain method, host or path makes no command.
 */
final class CurlCommand {
    private static final Pattern METHOD = Pattern.compile("[A-Za-z]{1,32}");
    private static final Pattern HOST = Pattern
            .compile("([A-Za-z0-9][A-Za-z0-9._-]{0,252}|\\[[0-9A-Fa-f:.]{2,45}])(:[0-9]{1,5})?");
    private static final Pattern ESCAPE = Pattern.compile("\\\\x([0-9a-f]{2})");
    private static final int MAX_PATH = 2048;

    private CurlCommand() {}

    /** Returns the command; null if the request can't be sent again as it was. */
    static @Nullable String of(RequestRecord request) {
        String path = path(request.path());
        if (path == null || !METHOD.matcher(request.method()).matches()
                || !HOST.matcher(request.host()).matches()) {
            return null;
        }
        var command = new StringBuilder("curl");
        if (request.method().equals("HEAD")) {
            command.append(" --head");
        } else if (!request.method().equals("GET")) {
            command.append(" --request ").append(request.method());
        }
        if (request.protocol().equals("HTTP/1.1")) {
            command.append(" --http1.1");
        }
        String scheme = request.tls().equals("-") ? "http" : "https";
        return command.append(" --path-as-is --globoff ")
                .append(quoted(scheme + "://" + request.host() + path))
                .toString();
    }

    /** The path for a URL; null if it was cut, or is none. */
    private static @Nullable String path(String logged) {
        if (!logged.startsWith("/") || logged.length() > MAX_PATH && logged.endsWith("...")) {
            return null;
        }
        String path = ESCAPE.matcher(logged)
                .replaceAll(escape -> Matcher.quoteReplacement("%" + escape.group(1)));
        return path.indexOf('\\') >= 0 ? null : path.replace(" ", "%20");
    }

    /** Within single quotes a shell reads every character as it is. */
    private static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
