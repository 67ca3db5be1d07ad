package dev.culvert.appproxy.argo.application;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.argo.api.ApiFailure;
import dev.culvert.appproxy.argo.api.Judged;
import dev.culvert.appproxy.argo.api.LogQuery;
import dev.culvert.appproxy.argo.api.ObjectKey;
import dev.culvert.appproxy.argo.api.PodLogs;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads and changes applications. Errors: {@link ApiFailure}, HandlerException when the state forbids the
 * change.
 */
interface ApplicationSteering {
    Mono<JsonNode> application(ObjectKey key);

    /** Changes the judged application and emits the changed one. */
    Mono<JsonNode> change(ApplicationChange change, ObjectKey key, Judged judged, AuthenticatedCaller caller);

    /** Lines of the logs of its pods. */
    Mono<Flux<PodLogs.Entry>> log(JsonNode application, ObjectKey key, LogQuery query);
}
