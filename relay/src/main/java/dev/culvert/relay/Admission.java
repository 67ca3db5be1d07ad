package dev.culvert.relay;

/**
 * Decides whether a request is admitted, before the gateway contacts anything behind it. See
 * {@link AdmittedRelay}.
 */
@FunctionalInterface
public interface Admission {
    /** The cancel action of an admission that has decided already. */
    Runnable DECIDED = () -> {};

    /**
     * Decides, at once or later. Called on the request's loop; must not block and never throws. The admission
     * may change the request's fields until this method returns, and later only through the verdict.
     *
     * @return cancels the decision; run on the request's loop when the request no longer waits for it
     */
    Runnable admit(RelayRequest request, Verdict verdict);
}
