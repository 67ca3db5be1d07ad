package dev.culvert.web;

import java.security.Principal;
import reactor.core.publisher.Mono;

/**
 * A person who has logged in.
 *
 * @param principal the caller of the requests that the pages make for this person; its name is the account
 *     that bounds the number of sessions
 * @param role the role, as the page shows it
 * @param valid whether the credentials of the log-in are valid now, with the same role. Always emits. An
 *     error means that nobody knows now: it refuses the request and leaves the session
 */
public record WebUser(Principal principal, String role, Mono<Boolean> valid) {
    /** The name of the person or token. */
    public String name() {
        return principal.getName();
    }
}
