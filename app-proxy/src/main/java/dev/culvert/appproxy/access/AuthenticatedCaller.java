package dev.culvert.appproxy.access;

import java.security.Principal;

/**
 * A user of the control plane.
 *
 * @param account the account's id
 * @param id the user's id in the account
 * @param displayName the name that commits carry
 * @param email the address that commits carry
 * @param admin whether the user is an administrator of the account, with permission for all operations
 */
public record AuthenticatedCaller(String account, String id, String displayName, String email,
        boolean admin) implements Principal {
    @Override
    public String getName() {
        return id;
    }
}
