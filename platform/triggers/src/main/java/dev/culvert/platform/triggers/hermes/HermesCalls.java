package dev.culvert.platform.triggers.hermes;

import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.rest.CallScope;
import dev.culvert.platform.host.rest.JsonBodies;
import dev.culvert.platform.host.rest.JsonBodies.Items;
import dev.culvert.platform.host.rest.Page;
import dev.culvert.platform.host.rest.RawBody;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import dev.culvert.platform.host.rest.Right;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.triggers.store.EventTable;
import dev.culvert.platform.triggers.store.RefusalTable;
import dev.culvert.platform.triggers.store.RunTable;
import dev.culvert.platform.triggers.store.StoredEvent;
import dev.culvert.platform.triggers.store.StoredRefusal;
import dev.culvert.platform.triggers.store.StoredRun;
import dev.culvert.platform.triggers.store.StoredTrigger;
import dev.culvert.platform.triggers.store.TriggerTable;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The REST calls of events, triggers and runs. */
public final class HermesCalls {
    /** What all calls are below. */
    public static final String ROOT = "/api/hermes";
    /** The largest body of what happened. */
    public static final int MAX_BYTES = 1 << 20;
    private static final String ENTITY = "pipelines";
    private static final Right VIEW = Right.of(ENTITY, "VIEW");
    private static final Right UPDATE = Right.of(ENTITY, "UPDATE");
    private static final Set<String> HAPPENED = Set.of("secret", "original", "variables");
    private static final Set<String> QUESTION = Set.of("event", "name", "original", "fields");
    private static final Set<String> LINK = Set.of("filters");
    /** The fields that name a delivery, the first one that is there. */
    private static final List<String> DELIVERIES = List.of("culvert-webhook-id", "idempotency-key");

    private final EventBook book;
    private final Hermes hermes;
    private final Store store;

    private HermesCalls(EventBook book, Hermes hermes, Store store) {
        this.book = book;
        this.hermes = hermes;
        this.store = store;
    }

    public static List<RestCall> of(EventBook book, Hermes hermes, Store store) {
        var calls = new HermesCalls(book, hermes, store);
        return List.of(
                get("/types", "The kinds of events", scope -> calls.types()).lists(Views.Type.class),
                get("/types/{type}/{kind}", "A kind of event", calls::type).gives(Views.Type.class),
                get("/events", "The events of the account", calls::events).pages(Views.Event.class),
                RestCall.of(HttpMethod.POST, ROOT + "/events", UPDATE,
                        "Creates an event; the answer alone shows its secret", calls::create)
                        .takes(Views.NewEvent.class)
                        .creates(Views.Created.class),
                get("/events/{event}", "An event", calls::event).gives(Views.Event.class),
                RestCall.of(HttpMethod.DELETE, ROOT + "/events/{event}", UPDATE,
                        "Deletes an event that starts no pipeline", calls::delete),
                RestCall.of(HttpMethod.DELETE, ROOT + "/events/{event}/{context}", UPDATE,
                        "As without a context, which the public platform takes", calls::delete),
                get("/triggers", "The triggers of the account", calls::triggers).pages(Views.Trigger.class),
                get("/triggers/event/{event}", "The triggers of an event", calls::ofEvent)
                        .lists(Views.Trigger.class),
                RestCall.of(HttpMethod.GET, ROOT + "/triggers/pipeline/{pipeline}",
                        VIEW.by("name", "pipeline"), "The triggers of a pipeline", calls::ofPipeline)
                        .pages(Views.Trigger.class),
                RestCall.of(HttpMethod.POST, ROOT + "/triggers/{event}/{pipeline}",
                        UPDATE.by("name", "pipeline"),
                        "Links a pipeline to an event, or replaces the filters of the link", calls::link)
                        .takes(Views.Link.class)
                        .gives(Views.Trigger.class),
                RestCall.of(HttpMethod.DELETE, ROOT + "/triggers/{event}/{pipeline}",
                        UPDATE.by("name", "pipeline"), "Ends a link", calls::unlink),
                RestCall.of(HttpMethod.POST, ROOT + "/run/{event}", Who.ANYONE,
                        "Says that an event happened: the secret is the event's, or its HMAC of the original",
                        calls::happened).takes(new RawBody(Set.of(), MAX_BYTES)).gives(Views.Started.class),
                get("/runs", "What events have started, the newest first", calls::runs)
                        .asks("event", "pipeline")
                        .pages(Views.Run.class),
                get("/runs/{id}", "A run", calls::run).gives(Views.Run.class),
                RestCall.of(HttpMethod.POST, ROOT + "/runs/{id}/replay", UPDATE, "Starts a run once more",
                        calls::replay).gives(Views.Run.class),
                get("/refusals", "What happened and started nothing, the newest first", calls::refusals)
                        .pages(Views.Refusal.class),
                RestCall.of(HttpMethod.POST, ROOT + "/explain", VIEW,
                        "Which pipelines an event with these fields, or this body of a provider, would start, and why not the others",
                        calls::explain)
                        .takes(new RawBody(Set.of(), 2 * MAX_BYTES))
                        .lists(Views.Answer.class));
    }

    private static RestCall get(String path, String summary, RestCall.Work work) {
        return RestCall.of(HttpMethod.GET, ROOT + path, VIEW, summary, work);
    }

    /** Reads, and goes on in a thread of its own: that of the database is for all. */
    private <T> Mono<T> read(Store.Work<T> work) {
        return store.read(work).publishOn(Schedulers.boundedElastic());
    }

    private static EdgeResponse ok(Object view) {
        return JsonBodies.answer(HttpResponseStatus.OK, view);
    }

    private Mono<EdgeResponse> types() {
        return Mono.fromSupplier(() -> ok(Items.of(book.kinds().stream().map(Views.Type::of).toList())));
    }

    private Mono<EdgeResponse> type(CallScope scope) {
        return Mono.fromSupplier(
                () -> ok(Views.Type.of(book.kind(scope.segment("type"), scope.segment("kind")))));
    }

    private Mono<EdgeResponse> events(CallScope scope) {
        Page page = scope.page();
        return read(connection -> EventTable.page(connection, scope.account(), page.after(), page.read()))
                .map(found -> ok(views(page.of(found, StoredEvent::uri), this::view)));
    }

    private static <T, V> Items<V> views(Items<T> items, Function<T, V> view) {
        return new Items<>(items.items().stream().map(view).toList(), items.next());
    }

    private Views.Event view(StoredEvent event) {
        return Views.Event.of(event, help(event));
    }

    private String help(StoredEvent event) {
        return book.kinds()
                .stream()
                .filter(kind -> kind.type().equals(event.type()) && kind.kind().equals(event.kind()))
                .findFirst()
                .map(kind -> kind.help(event.account()))
                .orElse("");
    }

    private Mono<EdgeResponse> create(CallScope scope) {
        return JsonBodies.read(scope.request(), Views.NewEvent.class,
                fields -> new Views.NewEvent(fields.text("type"), fields.text("kind"),
                        fields.optionalText("secret"), fields.textByName("values")))
                .flatMap(wanted -> book
                        .create(scope.account(), wanted.type(), wanted.kind(), wanted.secret(),
                                values(wanted))
                        .onErrorMap(IllegalArgumentException.class, HermesCalls::invalid))
                .map(made -> JsonBodies
                        .answer(HttpResponseStatus.CREATED, Views.Created.of(made, help(made.event())))
                        .with("location", ROOT + "/events/" + encoded(made.event().uri())));
    }

    private static Map<String, String> values(Views.NewEvent wanted) {
        Map<String, String> values = wanted.values();
        return values == null ? Map.of() : values;
    }

    private static String encoded(String segment) {
        return URLEncoder.encode(segment, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static HandlerException invalid(IllegalArgumentException wrong) {
        return HandlerException.of(Reason.BAD_REQUEST, String.valueOf(wrong.getMessage()));
    }

    private Mono<EdgeResponse> event(CallScope scope) {
        return read(connection -> EventBook.require(connection, scope.account(), scope.segment("event")))
                .map(event -> ok(view(event)));
    }

    private Mono<EdgeResponse> delete(CallScope scope) {
        return book.delete(scope.account(), scope.segment("event"))
                .map(done -> EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT));
    }

    private Mono<EdgeResponse> triggers(CallScope scope) {
        Page page = scope.page();
        return read(connection -> TriggerTable.page(connection, scope.account(), page.after(), page.read()))
                .map(found -> ok(views(page.of(found, TriggerTable::position), Views.Trigger::of)));
    }

    private Mono<EdgeResponse> ofEvent(CallScope scope) {
        return read(connection -> {
            EventBook.require(connection, scope.account(), scope.segment("event"));
            return TriggerTable.of(connection, scope.account(), scope.segment("event"));
        }).map(found -> ok(Items.of(found.stream().map(Views.Trigger::of).toList())));
    }

    private Mono<EdgeResponse> ofPipeline(CallScope scope) {
        Page page = scope.page();
        return read(connection -> TriggerTable.ofPipeline(connection, scope.account(),
                scope.segment("pipeline"), page.after(), page.read()))
                .map(found -> ok(views(page.of(found, TriggerTable::position), Views.Trigger::of)));
    }

    private Mono<EdgeResponse> link(CallScope scope) {
        return scope.request()
                .aggregate(MAX_BYTES >> 4)
                .map(body -> body.length == 0
                        ? Map.<String, String>of()
                        : JsonFields.read(body, LINK, fields -> fields.textByName("filters")))
                .flatMap(filters -> book
                        .link(scope.account(), scope.segment("event"), scope.segment("pipeline"), filters)
                        .onErrorMap(IllegalArgumentException.class, HermesCalls::invalid))
                .map(trigger -> ok(Views.Trigger.of(trigger)));
    }

    private Mono<EdgeResponse> unlink(CallScope scope) {
        return book.unlink(scope.account(), scope.segment("event"), scope.segment("pipeline"))
                .map(done -> EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT));
    }

    private Mono<EdgeResponse> happened(CallScope scope) {
        return scope.bytes()
                .map(body -> JsonFields.read(body, HAPPENED,
                        fields -> new Views.Happened(fields.text("secret"), fields.optionalText("original"),
                                fields.textByName("variables"))))
                .flatMap(body -> {
                    String original = body.original() == null ? "" : body.original();
                    Map<String, String> fields = lower(body.variables());
                    Map<String, String> variables = Variables.of(fields, original);
                    try {
                        Variables.require(variables);
                    } catch (IllegalArgumentException wrong) {
                        return Mono.error(invalid(wrong));
                    }
                    var happening = new Happening(scope.segment("event"),
                            delivery(scope.request().headers()), fields, variables, null);
                    return scope.judging(happening.event(), hermes.accept(happening,
                            Proof.equalOrHmac(body.secret(), original.getBytes(StandardCharsets.UTF_8))));
                })
                .map(HermesCalls::answer);
    }

    private static Map<String, String> lower(@Nullable Map<String, String> variables) {
        Map<String, String> fields = new TreeMap<>();
        if (variables != null) {
            variables.forEach((name, value) -> fields.put(name.toLowerCase(Locale.ROOT), value));
        }
        return fields;
    }

    /** What names a delivery, whoever sends it; null: nothing does. */
    public static @Nullable String delivery(HttpHeaders headers) {
        return DELIVERIES.stream()
                .map(headers::get)
                .filter(value -> value != null && !value.isBlank())
                .findFirst()
                .orElse(null);
    }

    /** The answer to whoever said that something happened. */
    public static EdgeResponse answer(Outcome outcome) {
        return outcome.runs().isEmpty()
                ? EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT)
                : ok(outcome.runs()
                        .stream()
                        .map(run -> new Views.Started(run.id(), run.pipeline(), null))
                        .toList());
    }

    private Mono<EdgeResponse> runs(CallScope scope) {
        Page page = scope.page();
        var which = new RunTable.Which(scope.query("event"), scope.query("pipeline"));
        return read(
                connection -> RunTable.page(connection, scope.account(), which, page.after(), page.read()))
                .map(found -> ok(views(page.of(found, StoredRun::id), Views.Run::listed)));
    }

    private Mono<EdgeResponse> run(CallScope scope) {
        return read(connection -> {
            StoredRun run = RunTable.find(connection, scope.account(), scope.segment("id"));
            if (run == null) {
                throw new StoreException.Absent("no run has this id");
            }
            return run;
        }).map(run -> ok(Views.Run.of(run)));
    }

    private Mono<EdgeResponse> replay(CallScope scope) {
        return hermes.replay(scope.account(), scope.segment("id")).map(run -> ok(Views.Run.of(run)));
    }

    private Mono<EdgeResponse> refusals(CallScope scope) {
        Page page = scope.page();
        return read(connection -> RefusalTable.page(connection, scope.account(), page.after(), page.read()))
                .map(found -> ok(views(page.of(found, StoredRefusal::id), Views.Refusal::of)));
    }

    private Mono<EdgeResponse> explain(CallScope scope) {
        return scope.bytes()
                .map(body -> JsonFields.read(body, QUESTION,
                        fields -> new Views.Question(fields.text("event"), fields.optionalText("name"),
                                fields.optionalText("original"), fields.textByName("fields"))))
                .flatMap(asked -> read(connection -> {
                    StoredEvent event = EventBook.require(connection, scope.account(), asked.event());
                    return new Asked(event, TriggerTable.of(connection, scope.account(), asked.event()));
                }).map(found -> Items.of(answers(asked, found))))
                .map(HermesCalls::ok)
                .onErrorMap(IllegalArgumentException.class, HermesCalls::invalid);
    }

    /** An event, and what it starts. */
    private record Asked(StoredEvent event, List<StoredTrigger> triggers) {}

    private List<Views.Answer> answers(Views.Question asked, Asked found) {
        StoredEvent event = found.event;
        String original = asked.original();
        if (original == null) {
            var given = new Happening(event.uri(), null, lower(asked.fields()), Map.of(), null);
            return answers(given, found);
        }
        String name = asked.name() == null ? "" : asked.name();
        List<Happening> told = book.kind(event.type(), event.kind()).read(event.account(), name, original);
        List<Happening> own = told.stream().filter(each -> each.event().equals(event.uri())).toList();
        if (own.isEmpty()) {
            throw new IllegalArgumentException("original: " + (told.isEmpty()
                    ? "it tells of nothing that starts something"
                    : "it is of " + told.getFirst().event()) + " (expected: a body of " + event.uri() + ")");
        }
        return own.stream().flatMap(each -> answers(each, found).stream()).toList();
    }

    private static List<Views.Answer> answers(Happening happened, Asked found) {
        return found.triggers.stream().map(trigger -> {
            String whyNot = happened.whyNot();
            String why = whyNot == null
                    ? Filters.parse(trigger.filters()).refusal(happened.fields())
                    : whyNot;
            return new Views.Answer(trigger.pipeline(), why == null, why);
        }).toList();
    }
}
