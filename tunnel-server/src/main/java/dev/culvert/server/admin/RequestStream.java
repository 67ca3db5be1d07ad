package dev.culvert.server.admin;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.relay.observe.RequestFeed;
import dev.culvert.relay.observe.RequestFeed.Batch;
import dev.culvert.relay.observe.RequestFeed.Item;
import dev.culvert.relay.observe.RequestFilter;
import dev.culvert.relay.observe.RequestLog;
import dev.culvert.store.StoreException;
import reactor.core.publisher.Flux;

/** The requests in the stream of events: {@code GET /api/v1/events?requests=true}. */
final class RequestStream {
    private static final String LAST_EVENT_ID = "last-event-id";

    private final RequestFeed<String> feed;

    RequestStream(RequestLog requests) {
        this.feed = requests.feed(
                request -> "id: " + request.id() + "\n" + EventCalls.event("request", request));
    }

    /**
     * The requests that end from now on and match a query, as the text of events. Throws {@link
     * StoreException.Busy} when too many watch.
     */
    Flux<String> watch(EdgeRequest request, RequestQuery query) {
        RequestFilter filter = query.filter();
        if (feed.isFull()) {
            throw new StoreException.Busy(
                    RequestFeed.MAX_VIEWERS + " callers watch the requests already, no more can");
        }
        return feed.watch(filter, request.headers().get(LAST_EVENT_ID)).map(RequestStream::text);
    }

    private static String text(Batch<String> batch) {
        var text = new StringBuilder();
        if (batch.leftOut() > 0) {
            text.append(EventCalls.event("requests-missed", new AdminJson.MissedView(batch.leftOut())));
        }
        for (Item<String> each : batch.items()) {
            text.append(each.rendered());
        }
        return text.toString();
    }
}
