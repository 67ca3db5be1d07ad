package dev.culvert.server.token;

import java.security.Principal;

/**
 * Who calls the admin API.
 *
 * @param name the token's name; {@code admin} for that of the token file
 * @param role what the token allows
 */
public record AdminCaller(String name, AdminRole role) implements Principal {
    /** The holder of the token file. No named token may be called so. */
    static final AdminCaller BOOTSTRAP = new AdminCaller("admin", AdminRole.ADMIN);

    @Override
    public String getName() {
        return name;
    }
}
