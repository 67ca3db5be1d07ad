package dev.culvert.handlers.graphql;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.body.BodyIntake;
import dev.culvert.handlers.body.HeldBody;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import graphql.ExecutionInput;
import graphql.ExecutionResult;
import graphql.GraphQL;
import graphql.GraphQLError;
import graphql.ParseAndValidate;
import graphql.ParseAndValidateResult;
import graphql.execution.preparsed.PreparsedDocumentEntry;
import graphql.language.Document;
import graphql.parser.ParserOptions;
import graphql.schema.GraphQLSchema;
import graphql.schema.idl.SchemaPrinter;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * GraphQL over HTTP: {@code POST} of {@code {query, operationName, variables}}. The root fields of a query
 * are called concurrently, those of a mutation one after the other; a subscription is an event stream, which
 * ends when the caller's credentials do. All are cancelled when the caller disconnects. The status is 200 if
 * any root field returned data, else that of the first error. Safe for use by any thread.
 */
public final class GraphQlHandler implements EdgeHandler {
    private static final String JSON_TYPE = "application/json";
    private static final String GRAPHQL_TYPE = "application/graphql-response+json";
    private static final JsonMapper JSON = new JsonMapper();

    private final GraphQlLimits limits;
    private final Scheduler reading;
    private final GraphQLSchema schema;
    private final GraphQL engine;
    private final ParserOptions parsing;
    private final Quota<Object> memory;
    private final BodyIntake intake;
    private final Function<EdgeRequest, ? extends Mono<?>> accounts;
    private final CallerWatch watch;
    /** Counts; each caller has a bound of its own. */
    private final Quota<Object> rootFields = new Quota<>(Long.MAX_VALUE);
    private final Quota<Object> streams = new Quota<>(Long.MAX_VALUE);

    /**
     * Creates the handler. Throws IllegalArgumentException if the functions' schemas conflict or a root field
     * has no resolver.
     */
    public GraphQlHandler(Collection<? extends GraphQlFunction> functions, GraphQlLimits limits) {
        this(functions, limits, Schedulers.immediate());
    }

    /**
     * Creates the handler for requests that arrive on event loops.
     *
     * @param reading the scheduler on which documents are parsed and checked, which takes up to tens of
     *     milliseconds; the caller disposes it
     */
    public GraphQlHandler(Collection<? extends GraphQlFunction> functions, GraphQlLimits limits,
            Scheduler reading) {
        this(functions, limits, reading, GraphQlHandler::source);
    }

    /**
     * Creates the handler for callers that are identified.
     *
     * @param accounts determines the caller's account before the body is read; accounts are compared by
     *     equals. If it fails with a HandlerException, the body counts for the request's source address and
     *     must be small; a larger body is answered with that failure
     */
    public GraphQlHandler(Collection<? extends GraphQlFunction> functions, GraphQlLimits limits,
            Scheduler reading, Function<EdgeRequest, ? extends Mono<?>> accounts) {
        this.limits = limits;
        this.reading = reading;
        this.accounts = accounts;
        this.watch = new CallerWatch(accounts, CallerWatch.PAUSE);
        this.memory = new Quota<>(limits.maxBufferedBytes());
        this.intake = new BodyIntake(memory, Schedulers.parallel());
        this.schema = GraphQlSchema.of(functions);
        this.engine = GraphQL.newGraphQL(schema)
                .defaultDataFetcherExceptionHandler(new GraphQlErrors())
                .instrumentation(new FieldWeights())
                .preparsedDocumentProvider((input, _) -> CompletableFuture.completedFuture(
                        Objects.requireNonNull(input.getGraphQLContext().get(PreparsedDocumentEntry.class))))
                .build();
        this.parsing = ParserOptions.newParserOptions()
                .captureIgnoredChars(false)
                .captureLineComments(false)
                .maxCharacters(limits.maxDocumentChars())
                .build();
    }

    /** The schema in GraphQL's schema language. */
    public String schemaText() {
        return new SchemaPrinter(SchemaPrinter.Options.defaultOptions().includeDirectiveDefinitions(false))
                .print(schema);
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        if (!request.method().equals(HttpMethod.POST)) {
            return Mono.error(HandlerException.methodNotAllowed(HttpMethod.POST));
        }
        if (!isJson(request) && !carriesToken(request)) {
            return Mono.error(bad("the body's content-type must be " + JSON_TYPE));
        }
        return asking(request).flatMap(asker -> {
            var budget = new AnswerBudget(memory, rootFields, asker.account(), limits);
            return Mono
                    .usingWhen(read(request, asker),
                            body -> Mono.just(body)
                                    .publishOn(reading)
                                    .flatMap(held -> answer(request, held, budget)),
                            body -> Mono.fromRunnable(body::close))
                    .doOnError(error -> budget.close())
                    .doOnCancel(budget::left);
        });
    }

    /** The bytes that requests and answers hold. */
    long memoryInUse() {
        return memory.used();
    }

    /**
     * The identity of the caller.
     *
     * @param stranger why the caller could not be identified; null if it was
     */
    private record Asker(Object account, int maxBytes, @Nullable HandlerException stranger) {}

    private Mono<Asker> asking(EdgeRequest request) {
        return accounts.apply(request)
                .map(account -> new Asker(account, limits.maxBodyBytes(), null))
                .onErrorResume(HandlerException.class,
                        refusal -> source(request)
                                .map(source -> new Asker(source, limits.strangerBodyBytes(), refusal)));
    }

    private static Mono<SourceAddress> source(EdgeRequest request) {
        return Mono.fromSupplier(() -> SourceAddress.of(request.context().source()));
    }

    private Mono<HeldBody> read(EdgeRequest request, Asker asker) {
        HandlerException stranger = asker.stranger();
        Mono<HeldBody> body = announced(request) > asker.maxBytes()
                ? Mono.error(() -> HandlerException.of(Reason.BODY_TOO_LARGE,
                        "the body is larger than " + asker.maxBytes() + " bytes"))
                : intake.read(request.body(), asker.account(), asker.maxBytes());
        return stranger == null
                ? body
                : body.onErrorMap(HandlerException.class,
                        refusal -> refusal.reason() == Reason.BODY_TOO_LARGE ? stranger : refusal);
    }

    private static long announced(EdgeRequest request) {
        try {
            return Long.parseLong(request.headers().get(HttpHeaderNames.CONTENT_LENGTH, "0"));
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }

    private static boolean isJson(EdgeRequest request) {
        String type = request.headers().get(HttpHeaderNames.CONTENT_TYPE, "");
        return type.split(";", 2)[0].strip().equalsIgnoreCase(JSON_TYPE);
    }

    /**
     * Whether the request has a token in a field. Browsers send some other content types across origins
     * without a preflight, but never with such a token. Therefore a request with a token may have the content
     * type of {@code curl -d}.
     */
    private static boolean carriesToken(EdgeRequest request) {
        return request.headers().contains(HttpHeaderNames.AUTHORIZATION)
                || request.headers().contains("x-access-token");
    }

    private Mono<EdgeResponse> answer(EdgeRequest request, HeldBody body, AnswerBudget budget) {
        GraphQlRequest asked;
        try {
            asked = GraphQlRequest.of(body);
        } catch (HandlerException e) {
            return Mono.just(refused(request, e.detail(), budget));
        }
        var run = new GraphQlRun(request, budget);
        var context = new LinkedHashMap<Object, Object>();
        context.put(GraphQlRun.class, run);
        context.put(ParserOptions.class, parsing);
        ExecutionInput input = ExecutionInput.newExecutionInput(asked.query())
                .operationName(asked.operationName())
                .variables(asked.variables())
                .locale(Locale.ROOT)
                .graphQLContext(context)
                .build();
        ParseAndValidateResult parsed = ParseAndValidate.parse(input);
        if (parsed.isFailure()) {
            return Mono.just(refused(request, parsed.getErrors(), budget));
        }
        Document document = Objects.requireNonNull(parsed.getDocument());
        String broken = DocumentBounds.broken(document, limits);
        if (broken != null) {
            return Mono.just(refused(request, broken, budget));
        }
        List<? extends GraphQLError> invalid = ParseAndValidate.validate(schema, document, Locale.ROOT);
        if (!invalid.isEmpty()) {
            return Mono.just(refused(request, invalid, budget));
        }
        input.getGraphQLContext()
                .put(PreparsedDocumentEntry.class, new PreparsedDocumentEntry(document));
        budget.begin(DocumentBounds.rootFields(document, limits));
        Mono<EdgeResponse> executed = Mono.fromFuture(() -> engine.executeAsync(input), true)
                .doOnCancel(run::cancel)
                .map(result -> result.getData() instanceof Publisher<?>
                        ? subscribed(request, result.getData(), budget)
                        : answered(request, result, budget));
        return Mono.firstWithSignal(budget.refused(), executed);
    }

    private EdgeResponse subscribed(EdgeRequest request, Publisher<ExecutionResult> results,
            AnswerBudget budget) {
        if (!SubscriptionAnswer.isAccepted(request)) {
            return refused(request, "a subscription is answered as " + SubscriptionAnswer.MEDIA_TYPE
                    + " (expected: that in the field accept)", budget);
        }
        Quota<Object>.Claim place = streams.open(budget.account(), null);
        place.take(1);
        if (place.heldByAccount() > limits.maxCallerStreams()) {
            place.close();
            throw HandlerException.of(Reason.OVERLOADED, "you have " + limits.maxCallerStreams()
                    + " subscriptions, as many as one caller may");
        }
        budget.keepPlace(place);
        return new SubscriptionAnswer(request, budget)
                .response(watch.during(request, results));
    }

    private static EdgeResponse answered(EdgeRequest request, ExecutionResult result, AnswerBudget budget) {
        Map<String, Object> members = new LinkedHashMap<>();
        Map<String, Object> data = result.getData();
        if (result.isDataPresent()) {
            members.put("data", data);
        }
        List<Map<String, Object>> errors = rendered(request, result.getErrors());
        if (!errors.isEmpty()) {
            members.put("errors", errors);
        }
        boolean gave = data != null && data.values().stream().anyMatch(Objects::nonNull);
        return response(request, errors.isEmpty() || gave ? 200 : status(errors.getFirst()), members,
                budget);
    }

    private static EdgeResponse refused(EdgeRequest request, List<? extends GraphQLError> errors,
            AnswerBudget budget) {
        return response(request, 400, Map.of("errors", rendered(request, errors)), budget);
    }

    private static EdgeResponse refused(EdgeRequest request, String detail, AnswerBudget budget) {
        return response(request, 400,
                Map.of("errors", List.of(GraphQlErrors.refused(detail, request.context().requestId()))),
                budget);
    }

    private static List<Map<String, Object>> rendered(EdgeRequest request,
            List<? extends GraphQLError> errors) {
        return errors.stream()
                .map(error -> GraphQlErrors.rendered(error, request.context().requestId()))
                .toList();
    }

    private static int status(Map<String, Object> error) {
        return error.get("extensions") instanceof Map<?, ?> more
                && more.get("status") instanceof Integer status
                        ? status
                        : 500;
    }

    private static EdgeResponse response(EdgeRequest request, int status, Map<String, Object> members,
            AnswerBudget budget) {
        String accept = request.headers().get(HttpHeaderNames.ACCEPT, "");
        var json = new AnswerBytes(budget);
        try {
            JSON.writeValue(json, members);
        } catch (IOException e) {
            if (e.getCause() instanceof HandlerException refusal) {
                throw refusal;
            }
            throw new UncheckedIOException("what the schema coerced always renders", e);
        }
        budget.rendered(json.held());
        HttpHeaders headers = new DefaultHttpHeaders()
                .set(HttpHeaderNames.CONTENT_TYPE,
                        (accept.contains(GRAPHQL_TYPE) ? GRAPHQL_TYPE : JSON_TYPE) + "; charset=utf-8")
                .set(HttpHeaderNames.CONTENT_LENGTH, json.size())
                .set(HttpHeaderNames.CACHE_CONTROL, "no-store");
        return EdgeResponse.Http.streaming(HttpResponseStatus.valueOf(status), headers, json.parts())
                .holding(budget.hold());
    }

    private static HandlerException bad(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }
}
