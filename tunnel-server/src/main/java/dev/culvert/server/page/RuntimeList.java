package dev.culvert.server.page;

import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.web.FormFields;
import dev.culvert.web.Format;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A page of the list of runtimes.
 *
 * @param search the searched text
 * @param state the word of the wanted state, or empty
 * @param sort the column, with a hyphen before it for the reverse order
 * @param page the number of the page, from 1
 * @param matching the number of runtimes that match
 * @param total the number of all runtimes
 * @param rows the page's rows
 * @param now the time of the page
 * @param mayCreate whether the person may create runtimes
 * @param live the position of the live updates
 * @param csrf the token of the session
 */
public record RuntimeList(String search, String state, String sort, int page, int matching, int total,
        List<RuntimeRow> rows, Instant now, boolean mayCreate, String live, String csrf) {
    /** The topic that tells that there are other runtimes than before. */
    static final String TOPIC = "runtimes";

    static final int PAGE = 50;
    private static final int MAX_PAGE = 1_000_000;
    private static final int MAX_SEARCH = 100;
    private static final Map<String, Comparator<RuntimeRow>> ORDERS = Map.of("name",
            Comparator.comparing(RuntimeRow::name), "state",
            Comparator.comparing(RuntimeRow::state).reversed(), "rtt",
            Comparator.comparingDouble(row -> -orLeast(row.rttSeconds())), "streams",
            Comparator.comparingInt(row -> -row.streams()), "since",
            Comparator.comparing(RuntimeRow::since, Comparator.nullsLast(Comparator.reverseOrder())),
            "waiting", Comparator.comparingInt(row -> -row.waiting()), "certificate",
            Comparator.comparing(RuntimeRow::certificateUntil,
                    Comparator.nullsLast(Comparator.naturalOrder())));

    private static double orLeast(double value) {
        return Double.isFinite(value) ? value : -1;
    }

    /**
     * Reads the wanted page from a query. Looks at every runtime once, in memory; only rows of the page are
     * kept, unless they have to be sorted by what changes.
     */
    static RuntimeList of(FormFields query, RuntimeRows rows, Instant now, boolean mayCreate, String live,
            String csrf) {
        String text = query.text("q").strip();
        String search = text.length() > MAX_SEARCH ? text.substring(0, MAX_SEARCH) : text;
        String state = query.text("state");
        String sort = ORDERS.containsKey(column(query.text("sort"))) ? query.text("sort") : "name";
        List<RegisteredRuntime> all = rows.store().runtimes();
        String wanted = search.toLowerCase(Locale.ROOT);
        List<RegisteredRuntime> matching = all.stream()
                .filter(runtime -> matches(runtime, wanted)
                        && (state.isEmpty() || rows.state(runtime).word().equals(state)))
                .toList();
        int pages = Math.max(1, (matching.size() + PAGE - 1) / PAGE);
        int page = Math.min(query.number("page", 1, 1, MAX_PAGE), pages);
        return new RuntimeList(search, state, sort, page, matching.size(), all.size(),
                column(sort).equals("name")
                        ? byName(matching, sort, page, rows)
                        : sorted(matching, sort, page, rows),
                now, mayCreate, live, csrf);
    }

    /** The store's order is that of names, so that only the rows of the page are made. */
    private static List<RuntimeRow> byName(List<RegisteredRuntime> matching, String sort, int page,
            RuntimeRows rows) {
        List<RegisteredRuntime> ordered = sort.startsWith("-") ? matching.reversed() : matching;
        return cut(ordered, page).stream().map(rows::of).toList();
    }

    private static List<RuntimeRow> sorted(List<RegisteredRuntime> matching, String sort, int page,
            RuntimeRows rows) {
        Map<String, List<SessionView>> sessions = rows.tunnels()
                .sessions()
                .stream()
                .collect(Collectors.groupingBy(SessionView::runtimeId));
        Comparator<RuntimeRow> order = ORDERS.getOrDefault(column(sort),
                Comparator.comparing(RuntimeRow::name));
        List<RuntimeRow> found = matching.stream()
                .map(runtime -> rows.of(runtime, sessions.getOrDefault(runtime.id(), List.of())))
                .sorted((sort.startsWith("-") ? order.reversed() : order).thenComparing(RuntimeRow::name))
                .toList();
        return List.copyOf(cut(found, page));
    }

    private static <T> List<T> cut(List<T> all, int page) {
        return all.subList((page - 1) * PAGE, Math.min(page * PAGE, all.size()));
    }

    private static String column(String sort) {
        return sort.startsWith("-") ? sort.substring(1) : sort;
    }

    private static boolean matches(RegisteredRuntime runtime, String search) {
        return search.isEmpty() || runtime.name().toString().contains(search)
                || runtime.host().contains(search)
                || runtime.hosts().stream().anyMatch(host -> host.contains(search));
    }

    /** The value of {@code aria-sort} of a column; null: the list is sorted by another one. */
    public @Nullable String sorted(String column) {
        return !column(sort).equals(column) ? null : sort.startsWith("-") ? "descending" : "ascending";
    }

    /** The path of the list sorted by a column; the other way round when it is sorted by it already. */
    public String sortedBy(String column) {
        return path(sort.equals(column) ? "-" + column : column, 1);
    }

    /** The path of another page of the list. */
    public String onPage(int number) {
        return path(sort, number);
    }

    private String path(String order, int number) {
        return "/runtimes?q=" + encoded(search) + "&state=" + encoded(state) + "&sort=" + order
                + (number == 1 ? "" : "&page=" + number);
    }

    /** Whether there are more pages after this one. */
    public boolean hasNext() {
        return page * PAGE < matching;
    }

    /** The numbers of the rows on this page: {@code 51–100 of 1 200}. */
    public String range() {
        int first = (page - 1) * PAGE + 1;
        return first + "–" + (first + rows.size() - 1) + " of " + Format.count(matching);
    }

    /** The path of the live updates of the rows. */
    public String livePath() {
        return "/live?since=" + live + "&topic=" + TOPIC + rows.stream()
                .map(row -> "&topic=" + encoded(row.topic()))
                .collect(Collectors.joining());
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
