package dev.culvert.client;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.client.dial.OpenSessions;
import dev.culvert.http.observe.Version;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The status of a client, as {@code /status} of its health listener reports it. Contains no secret.
 *
 * @param state {@code enrolling}, {@code connecting}, {@code connected}, {@code waiting}, {@code paused} or
 *     {@code draining}
 * @param runtime {@code account/name}; null before there is an identity
 * @param host the runtime host; null before the first connection
 * @param certificateEnds the expiry of the certificate; null before there is an identity
 * @param proxy the proxy to the first server; null for none
 * @param waitingSince when the client began to wait because another one serves; null: it does not wait
 * @param priority the priority with which it waits
 */
record ClientStatus(String state, @Nullable String runtime, @Nullable String host,
        @Nullable Instant certificateEnds,
        @Nullable String proxy, List<OpenSessions.View> sessions,
        OpenSessions.@Nullable Failure lastFailure, @Nullable Instant waitingSince, int priority) {
    private static final JsonMapper JSON = new JsonMapper();

    /** The JSON document of {@code /status}. */
    byte[] json() {
        ObjectNode document = JSON.createObjectNode();
        document.put("state", state)
                .put("runtime", runtime)
                .put("host", host)
                .put("version", Version.current())
                .put("certificateEnds", certificateEnds == null ? null : certificateEnds.toString())
                .put("proxy", proxy)
                .put("waitingSince", waitingSince == null ? null : waitingSince.toString())
                .put("priority", priority);
        var items = document.putArray("sessions");
        for (OpenSessions.View session : sessions) {
            items.addObject()
                    .put("server", session.server().toString())
                    .put("remote", session.remote())
                    .put("proxy", session.proxy())
                    .put("since", session.since().toString())
                    .put("rttSeconds", session.rttSeconds())
                    .put("streams", session.streams());
        }
        OpenSessions.Failure failure = lastFailure;
        if (failure == null) {
            document.putNull("lastFailure");
        } else {
            document.putObject("lastFailure")
                    .put("at", failure.at().toString())
                    .put("reason", failure.reason());
        }
        return document.toString().getBytes(StandardCharsets.UTF_8);
    }
}
