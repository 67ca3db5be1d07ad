package dev.culvert.platform.directory;

import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.directory.store.SigningKeys;
import dev.culvert.platform.directory.wrapping.WrappingException;
import dev.culvert.platform.host.rest.CallScope;
import dev.culvert.platform.host.rest.JsonBodies;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** The calls of operators on the keys that sign runtime tokens. */
final class TokenKeyCalls {
    static final String PATH = "/api/token-keys";

    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final Logger log = LoggerFactory.getLogger(TokenKeyCalls.class);

    private final SigningKeys keys;

    private TokenKeyCalls(SigningKeys keys) {
        this.keys = keys;
    }

    /**
     * The body of a rotation.
     *
     * @param endOthers whether the present keys end at once, with all tokens
     * @param newWrappingKey whether a new key is put into the file of the keys that wrap
     */
    record Rotation(boolean endOthers, boolean newWrappingKey) {
        static Rotation of(JsonFields fields) {
            return new Rotation(fields.flag("endOthers"), fields.flag("newWrappingKey"));
        }
    }

    static List<RestCall> of(SigningKeys keys) {
        var calls = new TokenKeyCalls(keys);
        return List.of(
                RestCall.of(HttpMethod.GET, PATH, Who.OPERATOR,
                        "The keys that sign runtime tokens, without their secrets",
                        scope -> keys.list()
                                .map(all -> JsonBodies.answer(HttpResponseStatus.OK,
                                        JsonBodies.Items.of(all))))
                        .lists(SigningKeys.View.class),
                RestCall.of(HttpMethod.POST, PATH, Who.OPERATOR,
                        "Makes a new key that signs runtime tokens", calls::rotate)
                        .takes(Rotation.class)
                        .creates(SigningKeys.View.class));
    }

    private Mono<EdgeResponse.Http> rotate(CallScope scope) {
        return JsonBodies.read(scope.request(), Rotation.class, Rotation::of)
                .flatMap(wanted -> keys.rotate(wanted.endOthers(), wanted.newWrappingKey()))
                .onErrorMap(WrappingException.class, TokenKeyCalls::told)
                .map(made -> JsonBodies.answer(HttpResponseStatus.CREATED, made)
                        .with("location", PATH + "/" + made.kid()));
    }

    /** The failure for the caller; the reason names files, so it is for the log alone. */
    static HandlerException told(WrappingException failed) {
        log.atError().addKeyValue("reason", failed.getMessage()).log("keys of runtime tokens can't be used");
        return HandlerException
                .of(Reason.UNAVAILABLE, "the keys of runtime tokens can't be used; the log says why")
                .retryAfter(RETRY);
    }
}
