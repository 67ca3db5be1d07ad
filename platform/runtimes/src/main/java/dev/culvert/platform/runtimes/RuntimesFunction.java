package dev.culvert.platform.runtimes;

import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.platform.host.rest.StoreRefusal;
import dev.culvert.platform.host.spi.Callers;
import dev.culvert.platform.host.spi.PlatformCaller;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The module's fields of GraphQL. Changes are audited. */
final class RuntimesFunction implements GraphQlFunction {
    private static final int DEFAULT_PAGE = 50;
    private static final int MAX_PAGE = 200;
    private static final int MAX_ERRORS = 20;
    private static final int MAX_ERROR_CHARS = 1000;
    private static final String NAME = "name";
    private static final String SETTINGS = "settings";

    private final Runtimes runtimes;
    private final GitSettingsFunction settings;
    private final RuntimeView view;
    private final Callers callers;
    private final AuditTrail audit;

    RuntimesFunction(Runtimes runtimes, GitSettingsFunction settings, RuntimeView view, Callers callers,
            AuditTrail audit) {
        this.runtimes = runtimes;
        this.settings = settings;
        this.view = view;
        this.callers = callers;
        this.audit = audit;
    }

    @Override
    public String schema() {
        try (InputStream stream = RuntimesFunction.class.getResourceAsStream("runtimes.graphqls")) {
            if (stream == null) {
                throw new IllegalStateException("runtimes.graphqls is not in the jar");
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Map<String, GraphQlField> fields() {
        Map<String, GraphQlField> fields = new LinkedHashMap<>();
        queries(fields);
        mutations(fields);
        return fields;
    }

    private void queries(Map<String, GraphQlField> fields) {
        fields.put("Query.runtime", call -> read(call, caller -> runtimes
                .found(caller.account(), text(call, NAME))
                .map(found -> view.runtime(found.runtime(), found.account()))));
        fields.put("Query.runtimes", call -> read(call, caller -> page(call, caller)));
        fields.put("Query.components", call -> read(call, caller -> runtimes
                .runtime(caller.account(), text(call, "runtime"))
                .map(view::components)));
        fields.put("Query.shouldBeImplicitConfigurationRuntime", call -> read(call, this::isImplicit));
    }

    private void mutations(Map<String, GraphQlField> fields) {
        fields.put("Mutation.createRuntime", call -> change(call, "createRuntime",
                String.valueOf(arguments(call, "installationArgs").get("runtimeName")),
                caller -> create(call, caller)));
        fields.put("Mutation.deleteRuntime", call -> change(call, "deleteRuntime", text(call, NAME),
                caller -> runtimes
                        .delete(caller.account(), text(call, NAME), false,
                                Boolean.TRUE.equals(call.arguments().get("force")))
                        .thenReturn(1)));
        fields.put("Mutation.deleteManagedRuntime",
                call -> change(call, "deleteManagedRuntime", text(call, NAME),
                        caller -> runtimes.delete(caller.account(), text(call, NAME), true, true)
                                .thenReturn(1)));
        fields.put("Mutation.designateConfigurationRuntime",
                call -> change(call, "designateConfigurationRuntime", text(call, NAME),
                        caller -> runtimes.designate(caller.account(), text(call, NAME))
                                .map(found -> view.runtime(found.runtime(), found.account()))));
        fields.put("Mutation.reportRuntimeErrors", call -> read(call, caller -> report(call, caller)));
        fields.put("Mutation.updateCsdpSettings", call -> change(call, "updateCsdpSettings", SETTINGS,
                caller -> told(settings.update(call, caller))));
        fields.put("Mutation.suggestIscRepo", call -> change(call, "suggestIscRepo", SETTINGS,
                caller -> told(settings.suggest(call, caller))));
    }

    private static <T> Mono<T> told(Mono<T> change) {
        return change.onErrorMap(StoreException.class, StoreRefusal::told);
    }

    private Mono<Map<String, String>> create(GraphQlCall call, PlatformCaller caller) {
        return runtimes
                .create(caller.account(),
                        InstallationArgs.of(caller.account(), arguments(call, "installationArgs")))
                .map(made -> Map.of(NAME, made.name(), "newAccessToken", made.token()));
    }

    private Mono<Boolean> isImplicit(PlatformCaller caller) {
        return runtimes.account(caller.account())
                .map(account -> caller.runtime() == null
                        ? account.configuration() == null
                        : caller.runtime().equals(account.configuration()) && !account.designated());
    }

    private Mono<Map<String, Object>> page(GraphQlCall call, PlatformCaller caller) {
        Map<String, Object> asked = arguments(call, "pagination");
        boolean backwards = asked.containsKey("before") || asked.containsKey("last");
        if (backwards && (asked.containsKey("after") || asked.containsKey("first"))) {
            throw wrong("pagination: both ways (expected: first and after, or last and before)");
        }
        Object size = asked.getOrDefault(backwards ? "last" : "first", DEFAULT_PAGE);
        int limit = size instanceof Integer number ? number : 0;
        if (limit < 1 || limit > MAX_PAGE) {
            throw wrong("pagination: " + size + " runtimes (expected: 1.." + MAX_PAGE + ")");
        }
        String from = String.valueOf(asked.getOrDefault(backwards ? "before" : "after", ""));
        if (from.indexOf('\0') >= 0) {
            throw wrong("pagination: not a cursor (expected: one of an edge)");
        }
        boolean isWithin = !from.isEmpty();
        return runtimes.page(caller.account(), from, backwards, limit)
                .map(page -> view.slice(page, backwards ? page.more() : isWithin,
                        backwards ? isWithin : page.more()));
    }

    private Mono<Integer> report(GraphQlCall call, PlatformCaller caller) {
        Map<String, Object> asked = arguments(call, "reportErrorsArgs");
        String runtime = String.valueOf(asked.get("runtime"));
        if (!caller.isAdmin() && !runtime.equals(caller.runtime())) {
            throw HandlerException.of(Reason.FORBIDDEN,
                    "only the runtime itself and administrators of the account may do this");
        }
        List<Map<String, Object>> errors = errors(asked.get("errors"));
        return runtimes.report(caller.account(), runtime, errors).thenReturn(errors.size());
    }

    private static List<Map<String, Object>> errors(@Nullable Object given) {
        if (!(given instanceof List<?> list) || list.size() > MAX_ERRORS) {
            throw wrong("errors: too many (expected: at most " + MAX_ERRORS + ")");
        }
        return list.stream().map(member -> {
            Map<?, ?> error = (Map<?, ?>) member;
            String message = String.valueOf(error.get("message"));
            if (message.length() > MAX_ERROR_CHARS) {
                throw wrong("errors: a message of more than " + MAX_ERROR_CHARS + " characters");
            }
            // In one order, as the same errors are no change.
            Map<String, Object> item = new LinkedHashMap<>();
            item.put("level", String.valueOf(error.get("level")));
            item.put("message", message);
            return item;
        }).toList();
    }

    private <T> Mono<T> read(GraphQlCall call, Function<PlatformCaller, Mono<T>> work) {
        return callers.caller(call.headers(), call.context()).flatMap(work);
    }

    /** A change, for administrators of the account alone. Whatever comes of it is one audit record. */
    private <T> Mono<T> change(GraphQlCall call, String action, String object,
            Function<PlatformCaller, Mono<T>> work) {
        return callers.caller(call.headers(), call.context())
                .flatMap(
                        caller -> AuditedChange.of(audit, call.context(), caller, action, object,
                                Mono.defer(() -> {
                                    if (!caller.isAdmin()) {
                                        return Mono.error(HandlerException.of(Reason.FORBIDDEN,
                                                "only administrators of the account may do this"));
                                    }
                                    return work.apply(caller);
                                })));
    }

    private static String text(GraphQlCall call, String argument) {
        return String.valueOf(call.arguments().get(argument));
    }

    /** The members of an argument that are given. */
    private static Map<String, Object> arguments(GraphQlCall call, String argument) {
        Map<String, Object> given = new LinkedHashMap<>();
        if (call.arguments().get(argument) instanceof Map<?, ?> members) {
            members.forEach((key, value) -> {
                if (value != null) {
                    given.put(String.valueOf(key), value);
                }
            });
        }
        return given;
    }

    private static HandlerException wrong(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }
}
