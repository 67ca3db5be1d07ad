package dev.culvert.platform.directory;

import dev.culvert.edge.spi.EdgeRequest;
import dev.culvert.edge.spi.HandlerException;
import dev.culvert.edge.spi.HandlerException.Reason;
import dev.culvert.edge.sqlite.StoreException;
import dev.culvert.platform.directory.Call.Who;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Who calls, by the key in {@code Authorization} (bare, or behind {@code Bearer}) or {@code x-access-token}, and what they may do here. */
final class KeyCheck {
    private static final String ACCOUNT = "account=";

    private final Directory directory;

    KeyCheck(Directory directory) {
        this.directory = directory;
    }

    /** Errors: HandlerException UNAUTHORIZED. Never empty. */
    Mono<Holder> holder(HttpHeaders headers) {
        String token = token(headers);
        Mono<Holder> found = token == null ? Mono.empty() : directory.holder(token);
        return found.onErrorMap(StoreException.class, DirectoryApi::told)
                .switchIfEmpty(Mono.error(() -> HandlerException.of(Reason.UNAUTHORIZED,
                        "an API key of this control plane is needed in Authorization")));
    }

    /** The account that the call is about. Errors: HandlerException FORBIDDEN, NOT_FOUND. */
    Mono<String> admit(Who who, Holder holder, EdgeRequest request) {
        boolean may = switch (who) {
            case HOLDER -> true;
            case ADMIN -> holder.isAdmin();
            case OPERATOR -> holder.isOperator();
            case RUNTIME -> holder.key().runtime() != null;
        };
        if (!may) {
            return Mono.error(HandlerException.of(Reason.FORBIDDEN, switch (who) {
                case RUNTIME -> "only a runtime's key may ask this";
                case OPERATOR -> "only the control plane's operators may do this";
                default -> "only administrators of the account may do this";
            }));
        }
        String query = request.query();
        if (who != Who.ADMIN || query == null || query.isEmpty()) {
            return Mono.just(holder.account());
        }
        String named = query.startsWith(ACCOUNT) ? query.substring(ACCOUNT.length()) : "";
        if (!Id.valid(named)) {
            return Mono.error(Bodies.invalid("the query has to be account=ID, or none"));
        }
        if (!named.equals(holder.account()) && !holder.isOperator()) {
            return Mono.error(HandlerException.of(Reason.NOT_FOUND, "there is no such account"));
        }
        return directory.account(named).map(Account::id);
    }

    private static @Nullable String token(HttpHeaders headers) {
        String field = headers.get(HttpHeaderNames.AUTHORIZATION);
        if (field == null) {
            return headers.get("x-access-token");
        }
        return field.regionMatches(true, 0, "Bearer ", 0, 7) ? field.substring(7).strip() : field.strip();
    }
}
