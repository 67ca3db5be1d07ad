package dev.culvert.relay.observe;

import dev.culvert.http.problem.Problem;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Selects requests. Each part that is null selects all.
 *
 * @param runtime {@code account/name}, or an account alone
 * @param path the beginning of the path if it begins with a slash; else any part of it
 * @param status a status (0: the caller left before a response), or 1 to 5 for a class
 * @param cause the cause of the problem
 * @param hop the hop of the problem
 * @param slowerThan the time that the request exceeded
 * @param problems whether to select problems only
 */
public record RequestFilter(@Nullable String runtime, @Nullable String path, @Nullable Integer status,
        Problem.@Nullable Cause cause, Problem.@Nullable Hop hop, @Nullable Duration slowerThan,
        boolean problems) {
    /** Selects all requests. */
    public static final RequestFilter ALL = new RequestFilter(null, null, null, null, null, null, false);

    /** Selects the problems of a runtime. */
    public static RequestFilter problemsOf(String runtime) {
        return new RequestFilter(runtime, null, null, null, null, null, true);
    }

    boolean matches(EndedRequest request) {
        Problem problem = request.problem();
        return (!problems || problem != null) && matchesProblem(problem)
                && (runtime == null || matchesRuntime(runtime, request.runtime()))
                && (status == null || matchesStatus(status, request.status()))
                && (slowerThan == null || request.totalMicros() > slowerThan.toNanos() / 1000)
                && (path == null || matchesPath(path, request.path().toString()));
    }

    private boolean matchesProblem(@Nullable Problem problem) {
        return (cause == null || (problem != null && problem.cause() == cause))
                && (hop == null || (problem != null && problem.hop() == hop));
    }

    private static boolean matchesRuntime(String wanted, String runtime) {
        return runtime.equals(wanted) || (runtime.length() > wanted.length() && wanted.indexOf('/') < 0
                && runtime.startsWith(wanted) && runtime.charAt(wanted.length()) == '/');
    }

    private static boolean matchesStatus(int wanted, int status) {
        return wanted == status || (wanted >= 1 && wanted <= 5 && status / 100 == wanted);
    }

    private static boolean matchesPath(String wanted, String path) {
        return wanted.startsWith("/") ? path.startsWith(wanted) : path.contains(wanted);
    }
}
