package dev.culvert.platform.directory;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.platform.directory.rules.AccessDecisions;
import dev.culvert.platform.directory.store.AccessQuery;
import dev.culvert.platform.host.rest.StoreRefusal;
import dev.culvert.platform.host.spi.Decisions;
import dev.culvert.platform.host.spi.PlatformCaller;
import dev.culvert.store.StoreException;
import java.util.Map;
import reactor.core.publisher.Mono;

/** Decides by the rules of the directory. Rules are for users: a runtime may do nothing. */
record RuleDecisions(AccessDecisions rules) implements Decisions {
    @Override
    public Mono<Void> require(PlatformCaller caller, String entity, String action,
            Map<String, String> attributes) {
        return Mono.defer(() -> {
            String user = caller.userId();
            return user == null
                    ? Mono.<Void>error(HandlerException.of(HandlerException.Reason.FORBIDDEN,
                            "a runtime's key is nobody's"))
                    : rules.decide(caller.account(), new AccessQuery(user, entity, action, attributes))
                            .onErrorMap(StoreException.class, StoreRefusal::told)
                            .flatMap(decision -> decision.isValid()
                                    ? Mono.<Void>empty()
                                    : Mono.error(HandlerException.of(HandlerException.Reason.FORBIDDEN,
                                            decision.message())));
        });
    }
}
