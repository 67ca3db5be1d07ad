package dev.culvert.appproxy.access;

import java.net.URI;
import reactor.core.publisher.Mono;

/** The calls of an App-Proxy to the control plane. Errors: {@link ControlPlaneAway}. Always emits a value. */
interface AccessDirectory {
    Mono<Answers.Resolved> resolve(String token);

    Mono<Answers.Decision> decide(String user, Operation operation);

    /** The changes after {@code since}. If negative, emits only the present position. */
    Mono<Answers.Changes> changes(long since);

    /** Registers the URL of this App-Proxy. Emits false if the control plane is not allowed to call it. */
    Mono<Boolean> reachableAt(URI url);
}
