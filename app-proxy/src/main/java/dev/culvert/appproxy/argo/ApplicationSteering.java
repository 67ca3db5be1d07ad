package dev.culvert.appproxy.argo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.access.Caller;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reads and changes applications. Errors of all: {@link ApiFailure}, HandlerException for what the state forbids. */
interface ApplicationSteering {
    Mono<JsonNode> application(ObjectKey key);

    /** Changes it as it was judged and emits what it is then. */
    Mono<JsonNode> change(ApplicationChange change, ObjectKey key, Judged judged, Caller caller);

    /** Lines of the logs of its pods. */
    Mono<Flux<PodLogs.Entry>> log(JsonNode application, ObjectKey key, LogQuery query);
}
