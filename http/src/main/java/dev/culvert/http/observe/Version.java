package dev.culvert.http.observe;

import org.jspecify.annotations.Nullable;

/** The version of this build. */
public final class Version {
    private Version() {}

    /** The version in the jar's manifest ({@code 0.1.0}), or {@code dev} when run from compiled classes. */
    public static String current() {
        @Nullable
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "dev" : version;
    }
}
