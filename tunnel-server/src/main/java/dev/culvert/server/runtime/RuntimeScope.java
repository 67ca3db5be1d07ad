package dev.culvert.server.runtime;

import org.jspecify.annotations.Nullable;

/**
 * The runtimes that a caller may change.
 *
 * @param registrar the registrar whose runtimes alone are in scope; null: all runtimes are
 */
public record RuntimeScope(@Nullable String registrar) {
    /** All runtimes. */
    public static final RuntimeScope ALL = new RuntimeScope(null);

    /** Whether the scope has this runtime. */
    public boolean covers(RegisteredRuntime runtime) {
        RuntimeOrigin origin = runtime.origin();
        return registrar == null || (origin != null && origin.registrar().equals(registrar));
    }
}
