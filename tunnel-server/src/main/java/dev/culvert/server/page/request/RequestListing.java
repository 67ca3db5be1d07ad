package dev.culvert.server.page.request;

import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.observe.RequestPage;
import dev.culvert.web.FormFields;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the list of requests shows.
 *
 * @param fields the filter as it was entered
 * @param wrong what is wrong with the filter; empty: nothing
 * @param lines the rows, newest first
 * @param next the id for the next page; null: this is the last one
 * @param allSince the moment from which all requests are kept
 * @param position the position of the live updates
 */
public record RequestListing(FormFields fields, String wrong, List<RequestLine> lines, @Nullable String next,
        String allSince, String position) {
    static final String PATH = "/requests";
    static final String LIVE = "/requests/live";
    static final int PAGE = 50;
    private static final List<String> FILTERS = List.of("runtime", "path", "status", "cause", "hop",
            "slowerThan", "problems");

    static RequestListing of(FormFields fields, RequestPage page, String position) {
        return new RequestListing(fields, "", page.items().stream().map(RequestLine::new).toList(),
                page.next(),
                page.allSince(), position);
    }

    static RequestListing wrong(FormFields fields, String wrong) {
        return new RequestListing(fields, wrong, List.of(), null, "", "");
    }

    /** The value of a field of the filter. */
    public String field(String name) {
        return fields.text(name);
    }

    public boolean isFiltered() {
        return FILTERS.stream().anyMatch(name -> !fields.text(name).isEmpty());
    }

    /** Whether this is the newest page, which goes on by itself. */
    public boolean isLive() {
        return wrong.isEmpty() && fields.text("next").isEmpty();
    }

    /** The path of the live updates; null: this page has none. */
    public @Nullable String livePath() {
        return isLive() ? LIVE + "?since=" + encoded(position) + query("&") : null;
    }

    /** The path of the newest page with this filter. */
    public String newestPath() {
        String query = query("");
        return query.isEmpty() ? PATH : PATH + "?" + query;
    }

    /** The path of the page after this one. */
    public String nextPath() {
        return PATH + "?next=" + encoded(next == null ? "" : next) + query("&");
    }

    /** The number of rows that the page keeps. */
    public String kept() {
        return Integer.toString(PAGE * 4);
    }

    public List<Cause> causes() {
        return Arrays.asList(Cause.values());
    }

    public List<Hop> hops() {
        return Arrays.asList(Hop.values());
    }

    private String query(String before) {
        String query = FILTERS.stream()
                .filter(name -> !fields.text(name).isEmpty())
                .map(name -> name + "=" + encoded(fields.text(name)))
                .collect(Collectors.joining("&"));
        return query.isEmpty() ? "" : before + query;
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
