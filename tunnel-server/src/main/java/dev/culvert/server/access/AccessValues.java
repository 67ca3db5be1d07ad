package dev.culvert.server.access;

import dev.culvert.config.Durations;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.util.NetUtil;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Parses single values of access rules. An invalid value throws HandlerException with {@code BAD_REQUEST}.
 */
final class AccessValues {
    private static final int MAX_CHARS = 1024;
    private static final Pattern FIELD_NAME = Pattern.compile("[a-z0-9!#$%&'*+.^_`|~-]{1,64}");
    /** Fields that frame a message or describe its route. A service can't set them. */
    private static final Set<String> FRAMING = Set.of("host", "connection", "content-length",
            "transfer-encoding", "te", "trailer", "upgrade", "expect", "keep-alive", "proxy-connection",
            "http2-settings", "via", "forwarded", "content-encoding", "content-type");
    private static final String JWKS = "an https URL, an http URL of this machine, or the path of a file";

    private AccessValues() {}

    static HandlerException invalid(String key, String value, String expected) {
        String shown = value.length() > 80 ? value.substring(0, 80) + "…" : value;
        return HandlerException.of(Reason.BAD_REQUEST, key + ": " + shown + " (expected: " + expected + ")");
    }

    static String text(String key, String text) {
        if (text.isEmpty() || text.length() > MAX_CHARS) {
            throw invalid(key, text, "1.." + MAX_CHARS + " characters");
        }
        return text;
    }

    static List<String> some(String key, List<String> texts, int most) {
        if (texts.isEmpty() || texts.size() > most) {
            throw invalid(key, texts.size() + " of them", "1.." + most);
        }
        texts.forEach(text -> text(key, text));
        return texts;
    }

    static Duration duration(JsonFields fields, String field, Duration usual, Duration least,
            Duration most) {
        String text = fields.optionalText(field);
        if (text == null) {
            return usual;
        }
        Duration value = Durations.parse(text, 6, ChronoUnit.MILLIS, ChronoUnit.MINUTES);
        if (value == null || value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw invalid(fields.key(field), text,
                    least.toMillis() + "ms.." + most.toSeconds() + "s, as 500ms or 2s");
        }
        return value;
    }

    /**
     * Whether calls of a service can't be changed on the network: an attacker who changes its responses could
     * admit any caller.
     */
    static boolean isSecured(URI service) {
        return service.getScheme().equals("https") || isLoopback(service.getHost());
    }

    static URI url(String key, String text) {
        String expected = "a URL as https://auth.example/verify, without a password";
        try {
            URI url = URI.create(text(key, text));
            boolean http = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
            if (http && url.getHost() != null && url.getUserInfo() == null && url.getFragment() == null) {
                return url;
            }
        } catch (IllegalArgumentException e) {
            // reported below: the parser's message is not for users
        }
        throw invalid(key, withoutPassword(text), expected);
    }

    private static String withoutPassword(String url) {
        return url.replaceAll("//[^/@]*@", "//***@");
    }

    /**
     * Parses the location of keys. It must be secured: an attacker who changes keys on the network could
     * admit any caller.
     */
    static URI jwks(String key, String text) {
        if (text.startsWith("/")) {
            return Path.of(text(key, text)).toUri();
        }
        if (text.startsWith("file:///")) {
            return Path.of(URI.create(text(key, text)).getPath()).toUri();
        }
        URI url = url(key, text);
        if (!isSecured(url)) {
            throw invalid(key, text, JWKS);
        }
        return url;
    }

    private static boolean isLoopback(String host) {
        String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        return bare.equals("localhost") || bare.equals("::1")
                || (NetUtil.isValidIpV4Address(bare) && bare.startsWith("127."));
    }

    static List<String> fieldNames(String key, List<String> names, int most) {
        List<String> lower = new ArrayList<>();
        for (String name : names) {
            String low = name.toLowerCase(Locale.ROOT);
            if (!FIELD_NAME.matcher(low).matches() || FRAMING.contains(low)
                    || low.startsWith("x-forwarded-")) {
                throw invalid(key, name,
                        "names of header fields, but none that frames a message or tells its way");
            }
            lower.add(low);
        }
        if (lower.size() > most) {
            throw invalid(key, lower.size() + " of them", "at most " + most);
        }
        return lower;
    }
}
