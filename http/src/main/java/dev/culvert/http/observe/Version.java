package dev.culvert.http.observe;

import org.jspecify.annotations.Nullable;

/** The version of this build. */
public final class Version {
    private Version() {}

    /** As in the jar's manifest ({@code 0.1.0}); {@code dev} when run from compiled classes. */
    public static String current() {
        @Nullable
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "dev" : version;
    }
}
