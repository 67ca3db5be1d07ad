package dev.culvert.platform.runtimes;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.runtimes.store.StoredRuntime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of {@code createRuntime}, checked.
 *
 * @param clusterUid the uid of the cluster's namespace {@code kube-system}; null: not given
 * @param version the runtime's version; null: not given
 * @param document the other arguments, as they were given
 */
record InstallationArgs(String name, @Nullable String clusterUid, boolean managed, String accessMode,
        @Nullable String version, Map<String, Object> document) {
    private static final int MAX_LABEL = 63;
    private static final int MAX_TEXT = 512;
    private static final int MAX_COMPONENTS = 100;
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9-]*[a-z0-9])?");
    private static final Pattern VERSION = Pattern.compile("v?(\\d{1,6})\\.(\\d{1,6})\\.(\\d{1,6})([-+].*)?");
    /** The first version with a router. */
    private static final long[] WITH_ROUTER = {0, 0, 543};

    /** Reads and checks the arguments. Throws HandlerException with {@code BAD_REQUEST}. */
    static InstallationArgs of(String account, Map<String, Object> given) {
        Map<String, Object> document = new LinkedHashMap<>(given);
        String name = String.valueOf(document.remove("runtimeName"));
        requireName(account, name);
        String uid = text(document.remove("clusterUid"));
        String mode = text(document.remove("accessMode"));
        boolean managed = Boolean.TRUE.equals(document.remove("managed"))
                || "HELM_HOSTED".equals(document.get("installationType"));
        document.values().forEach(InstallationArgs::requireShort);
        requireShort(uid);
        String version = text(document.get("runtimeVersion"));
        if (version != null && !VERSION.matcher(version).matches()) {
            throw wrong("runtimeVersion: not a version (expected: as 0.1.71)");
        }
        return new InstallationArgs(name, uid, managed, mode == null ? StoredRuntime.TUNNEL : mode, version,
                document);
    }

    /** Those of a runtime of which only the name is known. */
    static InstallationArgs named(String account, String name) {
        return of(account, Map.of("runtimeName", name));
    }

    private static void requireName(String account, String name) {
        int most = MAX_LABEL - 1 - account.length();
        if (name.isEmpty() || name.length() > most || !NAME.matcher(name).matches()) {
            throw wrong("runtimeName: not a name (expected: lower-case letters, digits and inner hyphens, at"
                    + " most " + most + ", because account, hyphen and name are one DNS label)");
        }
    }

    private static void requireShort(@Nullable Object value) {
        if (value instanceof String text
                && (text.length() > MAX_TEXT || text.chars().anyMatch(c -> c < ' '))) {
            throw wrong("installationArgs: a text of more than " + MAX_TEXT
                    + " characters, or with control characters");
        }
        if (value instanceof List<?> list) {
            if (list.size() > MAX_COMPONENTS) {
                throw wrong("installationArgs: a list of more than " + MAX_COMPONENTS + " items");
            }
            list.forEach(InstallationArgs::requireShort);
        }
    }

    /** Whether its version is from before the router. Without a version it is new. */
    boolean hasLegacyRoutes() {
        var parts = version == null ? null : VERSION.matcher(version);
        if (parts == null || !parts.matches()) {
            return false;
        }
        for (int i = 0; i < WITH_ROUTER.length; i++) {
            long part = Long.parseLong(parts.group(i + 1));
            if (part != WITH_ROUTER[i]) {
                return part < WITH_ROUTER[i];
            }
        }
        return false;
    }

    /** Whether requests reach it through a tunnel. */
    boolean hasTunnel() {
        return !managed && accessMode.equals(StoredRuntime.TUNNEL);
    }

    private static @Nullable String text(@Nullable Object value) {
        return value == null || value.toString().isEmpty() ? null : value.toString();
    }

    private static HandlerException wrong(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }
}
