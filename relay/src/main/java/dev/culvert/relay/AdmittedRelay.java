package dev.culvert.relay;

import java.time.Duration;

/**
 * A relay that an {@link Admission} stands in front of. Until that has decided, the request's body is held: as much as its
 * sender sends without being told that it was consumed. A decision that takes too long is a refusal.
 */
public final class AdmittedRelay implements Relay {
    /** Above the time-outs of what an admission asks, which know better what went wrong. */
    public static final Duration DEADLINE = Duration.ofSeconds(15);

    private final Admission admission;
    private final Caller caller;
    private final Relay target;
    private final Duration deadline;

    /**
     * @param caller who sends what is opened here
     * @param target where admitted requests go
     */
    public AdmittedRelay(Admission admission, Caller caller, Relay target) {
        this(admission, caller, target, DEADLINE);
    }

    AdmittedRelay(Admission admission, Caller caller, Relay target, Duration deadline) {
        this.admission = admission;
        this.caller = caller;
        this.target = target;
        this.deadline = deadline;
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        var admitted = new AdmittedRequest(request, response, target);
        admitted.begin(admission, caller, deadline);
        return admitted;
    }
}
