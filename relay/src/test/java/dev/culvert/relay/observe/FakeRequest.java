package dev.culvert.relay.observe;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import org.jspecify.annotations.Nullable;

/** A request that ended, for tests. */
record FakeRequest(String runtime, String caller, CharSequence path, int status, @Nullable Problem problem,
        long totalMicros) implements EndedRequest {
    static FakeRequest ok(String path) {
        return new FakeRequest("acme/prod", "192.0.2.7", path, 200, null, 1000);
    }

    static FakeRequest problem(String runtime, String caller, String path) {
        return new FakeRequest(runtime, caller, path, 503,
                Problem.of(Cause.NO_TUNNEL, Hop.TUNNEL, "not there"),
                1000);
    }

    @Override
    public CharSequence requestId() {
        return "id of " + path;
    }

    @Override
    public int textLength() {
        return runtime.length() + caller.length() + path.length();
    }

    @Override
    public RequestRecord toRecord(String id) {
        return new RequestRecord(id, "2027-01-01T00:00:00Z", requestId().toString(), runtime, caller, "GET",
                "a.example", path.toString(), "HTTP/1.1", "-", "-", status, null, null, null, "complete", 0,
                0, "",
                0, 0, 0, 0, 0, 0, totalMicros);
    }
}
