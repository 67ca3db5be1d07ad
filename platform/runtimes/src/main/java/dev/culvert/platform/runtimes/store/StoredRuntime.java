package dev.culvert.platform.runtimes.store;

import org.jspecify.annotations.Nullable;

/**
 * A runtime as stored.
 *
 * @param clusterUid the uid of its cluster's namespace {@code kube-system}; null: not given
 * @param managed whether it is hosted by the platform
 * @param accessMode {@code TUNNEL} or {@code INGRESS}
 * @param legacyRoutes whether its version is from before the router: its services have routes of their own
 * @param document the other installation arguments, as JSON
 * @param reported the errors that it reported last, as JSON
 * @param storeKey the key with which the cluster encrypts the Git tokens that it holds, as {@link
 *     RuntimeSecrets} wraps it
 * @param created seconds since 1970
 * @param serverState what the tunnel server knows of it
 * @param serverDetail why the tunnel server refused it; null otherwise
 * @param serverSince when the tunnel server's state was noted, in seconds since 1970
 */
public record StoredRuntime(String account, String name, @Nullable String clusterUid, boolean managed,
        String accessMode, boolean legacyRoutes, String document, String reported, String storeKey,
        long created, ServerState serverState, @Nullable String serverDetail,
        long serverSince) {
    /** The value of {@link #accessMode} with a tunnel. */
    public static final String TUNNEL = "TUNNEL";

    /** Without the key. */
    @Override
    public String toString() {
        return account + "/" + name;
    }
}
