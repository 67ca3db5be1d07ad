package dev.culvert.platform.host.rest;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.rest.RestCall.Form;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What the query of a call says.
 *
 * @param account the named account; null: none
 * @param isForced whether a refusal is overridden
 * @param values those that the module has declared, and of pages, decoded
 */
record CallQuery(@Nullable String account, boolean isForced, Map<String, String> values) {
    private static final String ACCOUNT = "account";
    static final String FORCE = "force";
    static final String LIMIT = "limit";
    static final String NEXT = "next";
    private static final int MAX_PARAMETERS = 64;
    private static final CallQuery NONE = new CallQuery(null, false, Map.of());

    /** Throws HandlerException BAD_REQUEST for another query than the call knows. */
    static CallQuery of(RestCall call, @Nullable String query) {
        Set<String> known = known(call);
        if (query == null || query.isEmpty() || known.isEmpty()) {
            return NONE; // other calls read their own query, or none
        }
        Map<String, String> values = new HashMap<>();
        parameters(query).forEach((name, given) -> {
            if (!known.contains(name) || given.size() != 1) {
                throw wrong(call, known);
            }
            values.put(name, given.getFirst());
        });
        if (call.takes().canForce() && !"true".equals(values.getOrDefault(FORCE, "true"))) {
            throw wrong(call, known);
        }
        String account = call.isOfAccounts() ? values.remove(ACCOUNT) : null;
        boolean force = call.takes().canForce() && values.remove(FORCE) != null;
        return new CallQuery(account, force, Map.copyOf(values));
    }

    private static Map<String, List<String>> parameters(String query) {
        try {
            return new QueryStringDecoder(query, StandardCharsets.UTF_8, false, MAX_PARAMETERS, true)
                    .parameters();
        } catch (IllegalArgumentException e) {
            throw HandlerException.of(Reason.BAD_REQUEST, "the query has a broken escape");
        }
    }

    /** The names that it may have, in alphabetical order. */
    static Set<String> known(RestCall call) {
        Set<String> known = new TreeSet<>(call.takes().query());
        if (call.isOfAccounts()) {
            known.add(ACCOUNT);
        }
        if (call.takes().canForce()) {
            known.add(FORCE);
        }
        if (call.form() == Form.PAGES) {
            known.addAll(List.of(LIMIT, NEXT));
        }
        return known;
    }

    private static HandlerException wrong(RestCall call, Set<String> known) {
        String names = String.join(", ", known.stream()
                .map(name -> name.equals(ACCOUNT) && call.isOfAccounts()
                        ? "account=ID"
                        : name.equals(FORCE) && call.takes().canForce() ? "force=true" : name + "=…")
                .toList());
        return HandlerException.of(Reason.BAD_REQUEST, "the query has to be "
                + (known.size() == 1 ? names : "of " + names + ", each once, with & between them,")
                + " or none");
    }
}
