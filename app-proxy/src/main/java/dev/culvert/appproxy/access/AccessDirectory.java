package dev.culvert.appproxy.access;

import java.net.URI;
import reactor.core.publisher.Mono;

/** The control plane's questions, as far as an App-Proxy asks them. Errors: {@link ControlPlaneAway}. Never empty. */
interface AccessDirectory {
    Mono<Answers.Resolved> resolve(String token);

    Mono<Answers.Decision> decide(String user, Operation operation);

    /** What changed behind {@code since}; below 0: only where to begin. */
    Mono<Answers.Changes> changes(long since);

    /** Says where this App-Proxy can be reached; false: the control plane may not call there. */
    Mono<Boolean> reachableAt(URI url);
}
