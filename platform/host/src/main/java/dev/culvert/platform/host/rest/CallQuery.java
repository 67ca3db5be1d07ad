package dev.culvert.platform.host.rest;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * What the query of a call says beside the module's own: calls of administrators may name an account, and
 * some may be forced.
 *
 * @param account the named account; null: none
 */
record CallQuery(@Nullable String account, boolean isForced) {
    private static final String ACCOUNT = "account=";
    private static final String FORCE = "force=true";
    private static final CallQuery NONE = new CallQuery(null, false);

    /** Throws HandlerException BAD_REQUEST for another query than the call knows. */
    static CallQuery of(RestCall call, @Nullable String query) {
        boolean isAdmins = call.who() == RestCall.Who.ADMIN;
        if (query == null || query.isEmpty() || (!isAdmins && !call.canForce())) {
            return NONE; // other calls read their own query, or none
        }
        String account = null;
        boolean force = false;
        for (String part : query.split("&", -1)) {
            if (isAdmins && account == null && part.startsWith(ACCOUNT)) {
                account = part.substring(ACCOUNT.length());
            } else if (call.canForce() && !force && part.equals(FORCE)) {
                force = true;
            } else {
                throw HandlerException.of(Reason.BAD_REQUEST, "the query has to be "
                        + (call.canForce() ? "account=ID, force=true, both with &," : "account=ID,")
                        + " or none");
            }
        }
        return new CallQuery(account, force);
    }
}
