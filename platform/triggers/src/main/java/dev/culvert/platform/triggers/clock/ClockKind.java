package dev.culvert.platform.triggers.clock;

import dev.culvert.platform.triggers.hermes.EventKind;
import dev.culvert.platform.triggers.store.ClockTable;
import dev.culvert.platform.triggers.store.ClockTable.Tick;
import dev.culvert.platform.triggers.store.StoredEvent;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Times of a clock: {@code cron:codefresh:<expression>:<message>}. */
public final class ClockKind implements EventKind {
    private static final String PREFIX = "cron:codefresh:";

    /**
     * What a URI says.
     *
     * @param message what pipelines get, and tells events of one expression apart
     */
    record Parts(String expression, String message) {
        /** Of a URI that this kind made. */
        static Parts of(String uri) {
            String rest = uri.substring(PREFIX.length(), uri.lastIndexOf(':'));
            int colon = rest.lastIndexOf(':');
            return new Parts(rest.substring(0, colon), rest.substring(colon + 1));
        }
    }

    @Override
    public String type() {
        return "cron";
    }

    @Override
    public String kind() {
        return "codefresh";
    }

    @Override
    public String summary() {
        return "Times of a clock";
    }

    @Override
    public List<Value> values() {
        return List.of(
                new Value("expression", "[^:\\p{Cntrl}]{1,200}",
                        "six fields, @daily or @every 1h30m, with TZ=Europe/Berlin in front or without"),
                new Value("message", "[^:\\p{Cntrl}]{1,200}", "1 to 200 characters without a colon"));
    }

    @Override
    public String uri(Map<String, String> given, Instant now) {
        String expression = given.getOrDefault("expression", "").strip().replaceAll("\\s+", " ");
        CronExpression.parse(expression).requireSlow(now);
        return PREFIX + expression + ":" + given.getOrDefault("message", "");
    }

    @Override
    public String help(String account) {
        return "";
    }

    @Override
    public boolean hasSecret() {
        return false;
    }

    @Override
    public void added(Connection change, StoredEvent event, Instant now) throws SQLException {
        Instant first = CronExpression.parse(Parts.of(event.uri()).expression())
                .next(now)
                .orElseThrow(() -> new IllegalStateException("judged before"));
        ClockTable.add(change, new Tick(event.uri(), event.account(), first.toEpochMilli()));
    }

    @Override
    public void removed(Connection change, StoredEvent event) throws SQLException {
        ClockTable.remove(change, event.uri());
    }
}
