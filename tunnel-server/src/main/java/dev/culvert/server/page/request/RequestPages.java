package dev.culvert.server.page.request;

import dev.culvert.admin.AdminHandler;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.relay.observe.RequestFeed;
import dev.culvert.relay.observe.RequestFeed.Batch;
import dev.culvert.relay.observe.RequestFilter;
import dev.culvert.relay.observe.RequestLog;
import dev.culvert.relay.observe.RequestRecord;
import dev.culvert.server.admin.RequestQuery;
import dev.culvert.store.StoreException;
import dev.culvert.web.FormFields;
import dev.culvert.web.Format;
import dev.culvert.web.PageAnswer;
import dev.culvert.web.PageRequest;
import dev.culvert.web.PageRoute;
import dev.culvert.web.Templates;
import dev.culvert.web.WebSession;
import gg.jte.Content;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** The list of requests with its live updates, the page of one request, and that of all problems. */
public final class RequestPages {
    /** The path of the list. */
    public static final String LIST = RequestListing.PATH;
    /** The time between two signs of life, by which a page notices that the server is gone. */
    private static final Duration BEAT = Duration.ofSeconds(5);
    /** One person leaves places to others. */
    private static final int MAX_OF_SESSION = 8;
    private static final int PROBLEMS = 10;
    private static final String BEATS = event("beat", "-");
    private static final String ENDED = event("ended", "-");
    private static final String MISSED = event("missed", "-");

    private final Templates templates;
    private final RequestLog requests;
    private final RequestFeed<String> feed;
    private final ProblemGuide guide = ProblemGuide.load();
    private final Map<WebSession, Integer> viewers = new ConcurrentHashMap<>();
    private final Function<PageRequest, Mono<Boolean>> goesOn;

    /**
     * Reads a file of the jar: blocks.
     *
     * @param goesOn whether the session of a request goes on
     */
    public RequestPages(Templates templates, RequestLog requests,
            Function<PageRequest, Mono<Boolean>> goesOn) {
        this.templates = templates;
        this.requests = requests;
        this.goesOn = goesOn;
        this.feed = requests.feed(this::row);
    }

    public List<PageRoute> routes() {
        return List.of(PageRoute.get(RequestListing.PATH, this::list),
                PageRoute.get(RequestListing.LIVE, this::live),
                PageRoute.get(RequestListing.PATH + "/{id}", this::one),
                PageRoute.get("/problems", request -> Mono.just(PageAnswer.View.of("Problems",
                        RequestListing.PATH, templates.content("problems.jte", guide)))));
    }

    /** The part of a runtime's page with its recent problems. */
    public Content problemsOf(String runtime) {
        return templates.content("requestProblems.jte", new RuntimeProblems(runtime,
                requests.problems(runtime, PROBLEMS).stream().map(RequestLine::new).toList()));
    }

    /** Runs off the event loop, because it looks at every request that is kept. */
    private Mono<PageAnswer> list(PageRequest request) {
        return Mono.<PageAnswer>fromSupplier(() -> PageAnswer.View.of("Requests", RequestListing.PATH,
                templates.content("requests.jte", listing(request.query()))))
                .subscribeOn(Schedulers.boundedElastic());
    }

    private RequestListing listing(FormFields fields) {
        var query = new RequestQuery(fields.values());
        RequestFilter filter;
        try {
            filter = query.filter();
        } catch (HandlerException wrong) {
            return RequestListing.wrong(fields, wrong.detail());
        }
        String position = requests.position();
        return RequestListing.of(fields, requests.page(filter, query.text("next"), RequestListing.PAGE),
                position);
    }

    private Mono<PageAnswer> one(PageRequest request) {
        return Mono.<PageAnswer>fromSupplier(() -> {
            RequestRecord found = requests.find(request.segment("id"));
            if (found == null) {
                throw HandlerException.of(Reason.NOT_FOUND, "This request is not kept any more. Problems are"
                        + " kept for a while, other requests while somebody looks.");
            }
            return PageAnswer.View.of(found.method() + " " + found.path(), RequestListing.PATH,
                    templates.content("request.jte", RequestDetail.of(found, guide)));
        }).subscribeOn(Schedulers.boundedElastic());
    }

    /** The rows of requests that end from now on, as server-sent events, until the session ends. */
    private Mono<PageAnswer> live(PageRequest request) {
        return Mono.fromSupplier(() -> {
            RequestFilter filter = new RequestQuery(request.query().values()).filter();
            if (feed.isFull() || viewers.getOrDefault(request.session(), 0) >= MAX_OF_SESSION) {
                throw (RuntimeException) AdminHandler.refusal(
                        new StoreException.Busy("Too many pages with requests are open."));
            }
            String seen = request.http().headers().get("last-event-id", request.query().text("since"));
            var headers = new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream");
            return new PageAnswer.Raw(EdgeResponse.Http.streaming(HttpResponseStatus.OK, headers,
                    events(filter, seen, goesOn.apply(request))
                            .doOnSubscribe(any -> viewers.merge(request.session(), 1, Integer::sum))
                            .doFinally(signal -> viewers.computeIfPresent(request.session(),
                                    (any, open) -> open == 1 ? null : open - 1))));
        });
    }

    private Flux<ByteBuf> events(RequestFilter filter, String seen, Mono<Boolean> mayGoOn) {
        return Flux.defer(() -> {
            Sinks.Empty<Void> over = Sinks.empty();
            Flux<String> rows = feed.watch(filter, seen)
                    .map(RequestPages::text)
                    .doFinally(signal -> over.tryEmitEmpty());
            Flux<String> beats = Flux.interval(BEAT)
                    .onBackpressureDrop()
                    .concatMap(tick -> mayGoOn.onErrorReturn(true), 1)
                    .map(on -> on ? BEATS : ENDED)
                    .takeUntilOther(over.asMono());
            return Flux.merge(Flux.just(requests.reaches(seen) ? BEATS : MISSED), rows, beats)
                    .takeUntil(ENDED::equals)
                    .map(text -> Unpooled.copiedBuffer(text, StandardCharsets.UTF_8));
        });
    }

    private String row(RequestRecord request) {
        return new String(templates.bytes("requestRow.jte", new RequestLine(request)),
                StandardCharsets.UTF_8);
    }

    /** The newest row first, as the list has them. */
    private static String text(Batch<String> batch) {
        var rows = new StringBuilder();
        batch.items().reversed().forEach(item -> rows.append(item.rendered()).append('\n'));
        String events = batch.items().isEmpty() ? "" : event("requests", rows.toString());
        if (batch.leftOut() > 0) {
            events += event("left-out", Format.count(batch.leftOut()));
        }
        return batch.items().isEmpty() ? events : "id: " + batch.items().getLast().id() + "\n" + events;
    }

    private static String event(String kind, String text) {
        var event = new StringBuilder("event: ").append(kind).append('\n');
        text.lines().forEach(line -> event.append("data: ").append(line).append('\n'));
        return event.append('\n').toString();
    }
}
