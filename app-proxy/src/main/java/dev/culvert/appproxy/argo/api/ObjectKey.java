package dev.culvert.appproxy.argo.api;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.regex.Pattern;

/** Names one object of a cluster. Both names are safe to put into a path. */
public record ObjectKey(String namespace, String name) {
    /** A DNS subdomain (RFC 1123), as Kubernetes names its objects. */
    private static final Pattern NAME = Pattern
            .compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
    private static final int MAX_NAME = 253;
    private static final int MAX_NAMESPACE = 63;

    public ObjectKey {
        checkNamespace(namespace);
        if (name.length() > MAX_NAME || !NAME.matcher(name).matches()) {
            throw HandlerException.of(Reason.BAD_REQUEST, "this is not a name of an object in Kubernetes");
        }
    }

    /** Refuses an invalid namespace. */
    public static void checkNamespace(String namespace) {
        if (namespace.length() > MAX_NAMESPACE || namespace.contains(".")
                || !NAME.matcher(namespace).matches()) {
            throw HandlerException.of(Reason.BAD_REQUEST, "this is not a name of a namespace");
        }
    }

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
