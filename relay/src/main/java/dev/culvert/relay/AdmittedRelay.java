package dev.culvert.relay;

import java.time.Duration;

/**
 * A relay that asks an {@link Admission} before it opens a request at its target. Until the admission has
 * decided, the relay holds the request's body. It reports nothing as consumed, so the sender's own high-water
 * mark bounds the body. A decision that exceeds the deadline counts as a refusal.
 */
public final class AdmittedRelay implements Relay {
    /**
     * Longer than the time-outs of the services that an admission asks, because their problems state the
     * cause.
     */
    public static final Duration DEADLINE = Duration.ofSeconds(15);

    private final Admission admission;
    private final Relay target;
    private final Duration deadline;

    /** @param target the relay that receives admitted requests */
    public AdmittedRelay(Admission admission, Relay target) {
        this(admission, target, DEADLINE);
    }

    AdmittedRelay(Admission admission, Relay target, Duration deadline) {
        this.admission = admission;
        this.target = target;
        this.deadline = deadline;
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        var admitted = new AdmittedRequest(request, response, target);
        admitted.begin(admission, deadline);
        return admitted;
    }
}
