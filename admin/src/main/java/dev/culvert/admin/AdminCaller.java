package dev.culvert.admin;

import java.security.Principal;

/**
 * An authenticated caller of the admin API.
 *
 * @param name the token's name; {@code admin} for that of the token file
 * @param role the token's role
 */
public record AdminCaller(String name, AdminRole role) implements Principal {
    /** The holder of the token file. No named token may have this name. */
    public static final AdminCaller BOOTSTRAP = new AdminCaller("admin", AdminRole.ADMIN);

    @Override
    public String getName() {
        return name;
    }
}
