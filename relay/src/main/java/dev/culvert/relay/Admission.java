package dev.culvert.relay;

/** Decides whether a request may go on, before anything behind is touched. See {@link AdmittedRelay}. */
@FunctionalInterface
public interface Admission {
    /** For decisions that nothing is to be given up of. */
    Runnable DECIDED = () -> {};

    /**
     * Decides, at once or later. Called on the request's loop; must not block and never throws. The request's fields may be
     * changed until this returns; later only through the verdict.
     *
     * @return gives the decision up; run on the request's loop, when nobody waits for it any more
     */
    Runnable admit(RelayRequest request, Caller caller, Verdict verdict);
}
