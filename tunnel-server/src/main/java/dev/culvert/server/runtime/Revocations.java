package dev.culvert.server.runtime;

import dev.culvert.certs.ClientIdentity;

/** Explains refusals of certificates whose identity no runtime has any more. */
public final class Revocations {
    private Revocations() {}

    /** The reason why such a certificate is refused, for the client's operator. */
    public static String reason(RuntimeStore store, ClientIdentity identity) {
        String name = identity.account() + "/" + identity.runtime();
        boolean known;
        try {
            known = store.byName(new RuntimeName(identity.account(), identity.runtime())) != null;
        } catch (InvalidNameException e) {
            known = false;
        }
        return known
                ? "this certificate of " + name
                        + " was revoked, or is that of a deleted runtime of the same name"
                : "the runtime " + name + " of this certificate was deleted";
    }
}
