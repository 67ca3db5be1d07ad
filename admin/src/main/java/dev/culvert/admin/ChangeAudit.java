package dev.culvert.admin;

import dev.culvert.handlers.spi.RequestContext;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/** Records the changes that operators make: who, what and when. Safe for use by any thread. */
public interface ChangeAudit {
    /**
     * Makes a change and records it. A failed change leaves no record. A change whose caller disconnects
     * meanwhile is made and recorded all the same.
     *
     * @param what the kind of change, fixed text: {@code webhook replayed}
     * @param thing names what was changed, from the change's result
     */
    <T> Mono<T> changed(RequestContext who, String what, Function<T, String> thing, Mono<T> change);

    /** The address of a caller, without the leading slash that Java writes if it has no name. */
    static String address(RequestContext who) {
        String remote = who.remote().toString();
        return remote.startsWith("/") ? remote.substring(1) : remote;
    }

    /** The name of a caller. */
    static String user(RequestContext who) {
        var caller = who.caller();
        return caller == null ? "unknown" : caller.getName();
    }
}
