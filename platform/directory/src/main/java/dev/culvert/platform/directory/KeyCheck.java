package dev.culvert.platform.directory;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.platform.directory.store.Account;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.Id;
import dev.culvert.platform.directory.store.KeyOwner;
import dev.culvert.platform.host.rest.StoreRefusal;
import dev.culvert.platform.host.spi.Callers;
import dev.culvert.platform.host.spi.PlatformCaller;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Authenticates callers by the key in {@code Authorization} (bare, or after {@code Bearer}) or {@code
 * x-access-token}.
 */
final class KeyCheck implements Callers {
    /** The look-ups of API keys at the same time take at most this part of the database's queue. */
    private static final int PART_OF_QUEUE = 10;

    private static final Duration RETRY = Duration.ofSeconds(1);

    private final Quota<SourceAddress> lookUps;

    private final Function<String, Mono<KeyOwner>> holders;
    private final Function<String, Mono<Account>> accounts;

    /**
     * @param queue the number of operations that may wait for the database
     */
    KeyCheck(Directory directory, int queue) {
        this(directory::holder, directory::account, queue);
    }

    /**
     * @param holders of keys; empty for a key of nobody's
     * @param accounts by their ids
     * @param queue the number of operations that may wait for the database
     */
    KeyCheck(Function<String, Mono<KeyOwner>> holders, Function<String, Mono<Account>> accounts, int queue) {
        this.holders = holders;
        this.accounts = accounts;
        this.lookUps = new Quota<>(Math.max(1, queue / PART_OF_QUEUE));
    }

    @Override
    public Mono<PlatformCaller> caller(HttpHeaders headers, RequestContext context) {
        return context.caller() instanceof KeyOwner known
                ? Mono.just(known) // a filter has found it
                : found(headers, context).cast(PlatformCaller.class);
    }

    private Mono<KeyOwner> found(HttpHeaders headers, RequestContext context) {
        String token = token(headers);
        Mono<KeyOwner> found = token == null ? Mono.empty() : inTurn(holders.apply(token), context);
        return found.onErrorMap(StoreException.class, StoreRefusal::told)
                .switchIfEmpty(Mono.error(() -> HandlerException.of(Reason.UNAUTHORIZED,
                        "an API key of this control plane is needed in Authorization")));
    }

    /**
     * Takes a place for a look-up. When all are taken, the newest look-up of the source with the most places
     * gives way.
     */
    private Mono<KeyOwner> inTurn(Mono<KeyOwner> lookUp, RequestContext context) {
        return Mono.defer(() -> {
            Sinks.Empty<KeyOwner> gaveWay = Sinks.empty();
            var place = lookUps.tryOpen(SourceAddress.of(context.source()), 1,
                    () -> gaveWay.tryEmitError(tooMany()));
            return place == null
                    ? Mono.error(tooMany())
                    : Mono.firstWithSignal(lookUp, gaveWay.asMono()).doFinally(done -> place.close());
        });
    }

    private static HandlerException tooMany() {
        return HandlerException.of(Reason.OVERLOADED, "too many API keys are being looked up")
                .retryAfter(RETRY);
    }

    @Override
    public Mono<String> account(PlatformCaller caller, String id) {
        if (!Id.valid(id)) {
            return Mono.error(Bodies.invalid("the query has to be account=ID, or none"));
        }
        if (!id.equals(caller.account()) && !caller.isOperator()) {
            return Mono.error(HandlerException.of(Reason.NOT_FOUND, "there is no such account"));
        }
        return accounts.apply(id).map(Account::id);
    }

    private static @Nullable String token(HttpHeaders headers) {
        String field = headers.get(HttpHeaderNames.AUTHORIZATION);
        if (field == null) {
            return headers.get("x-access-token");
        }
        return field.regionMatches(true, 0, "Bearer ", 0, 7) ? field.substring(7).strip() : field.strip();
    }
}
