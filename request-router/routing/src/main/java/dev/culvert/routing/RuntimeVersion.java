package dev.culvert.routing;

import dev.culvert.config.ConfigException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Versions of the GitOps runtime. Before it had a router, its ingress routed to each service directly. */
public final class RuntimeVersion {
    public static final String ACCEPTS = "a version as 0.0.542";
    /** The first one with a router: 0.0.543. */
    private static final int[] WITH_ROUTER = {0, 0, 543};
    private static final Pattern VERSION = Pattern
            .compile("v?(\\d{1,9})\\.(\\d{1,9})\\.(\\d{1,9})([-+][0-9A-Za-z.+-]{1,64})?");

    private RuntimeVersion() {}

    /** Throws ConfigException for the key {@code runtimeVersion} unless the version is valid or null. */
    static void require(@Nullable String version) {
        if (version != null && !VERSION.matcher(version).matches()) {
            throw new ConfigException("runtimeVersion", ACCEPTS);
        }
    }

    /**
     * Whether a runtime of this version has its own router; true for null. A suffix after a hyphen is
     * ignored.
     */
    static boolean hasRouter(@Nullable String version) {
        if (version == null) {
            return true;
        }
        Matcher matcher = VERSION.matcher(version);
        for (int i = 0; matcher.matches() && i < WITH_ROUTER.length; i++) {
            int difference = Integer.compare(Integer.parseInt(matcher.group(i + 1)), WITH_ROUTER[i]);
            if (difference != 0) {
                return difference > 0;
            }
        }
        return true;
    }
}
