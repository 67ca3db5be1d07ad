package dev.culvert.appproxy.access;

import java.security.Principal;

/**
 * A user that the control plane knows.
 *
 * @param account the account's id
 * @param id the user's id in it
 * @param displayName the name that commits carry
 * @param email the address that commits carry
 * @param admin whether the user administers the account: may all
 */
public record AuthenticatedCaller(String account, String id, String displayName, String email,
        boolean admin) implements Principal {
    @Override
    public String getName() {
        return id;
    }
}
