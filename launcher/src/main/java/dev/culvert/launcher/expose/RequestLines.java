package dev.culvert.launcher.expose;

import dev.culvert.client.link.EndedExchange;
import dev.culvert.launcher.output.RequestText;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Prints a line for each request, and notes between them, on a thread of its own. When the terminal is slower
 * than the requests, lines are dropped and counted; nothing waits for it. Callable from any thread.
 */
final class RequestLines implements AutoCloseable {
    /** The maximum number of lines that wait. */
    static final int MAX_WAITING = 1_000;
    /** How many lines are printed between two counts of those that are not. */
    private static final int SOON_PRINTED = 100;
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");
    private static final long LAST_LINES_SECONDS = 2;
    private static final String REFUSED = " refused the connection";
    private static final int MAX_METHOD = 20;
    private static final int MAX_TEXT = 200;
    private static final int MAX_NOTE = 600;

    private final PrintStream out;
    private final boolean coloured;
    private final Clock clock;
    private final BlockingQueue<Line> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
    private final LongAdder requests = new LongAdder();
    private final LongAdder dropped = new LongAdder();
    private final Thread printer = new Thread(this::print, "request-lines");
    private volatile boolean closed;

    /** A line that waits. */
    private sealed interface Line {
        record Request(Instant at, EndedExchange exchange) implements Line {}

        record Note(Instant at, String text) implements Line {}

        record End() implements Line {}
    }

    /** @param coloured whether a status has a colour */
    RequestLines(PrintStream out, boolean coloured, Clock clock) {
        this.out = out;
        this.coloured = coloured;
        this.clock = clock;
        printer.setDaemon(true);
    }

    RequestLines start() {
        printer.start();
        return this;
    }

    /** Prints a request, unless too many lines wait. */
    void request(EndedExchange exchange) {
        requests.increment();
        if (!waiting.offer(new Line.Request(clock.instant(), exchange))) {
            dropped.increment();
        }
    }

    /** Prints a sentence behind the lines that wait, unless too many do. */
    void note(String text) {
        if (!waiting.offer(new Line.Note(clock.instant(), text))) {
            dropped.increment();
        }
    }

    /** The number of requests, printed or not. */
    long requests() {
        return requests.sum();
    }

    /** Prints what waits, for two seconds at most, and ends. */
    @Override
    public void close() {
        closed = true;
        waiting.offer(new Line.End());
        try {
            printer.join(TimeUnit.SECONDS.toMillis(LAST_LINES_SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Says a last sentence, and closes. At a terminal that is far behind other lines are only counted. */
    void end(String note) {
        if (waiting.size() > SOON_PRINTED) {
            waiting.removeIf(line -> {
                boolean request = line instanceof Line.Request;
                dropped.add(request ? 1 : 0);
                return request;
            });
        }
        note(note);
        close();
    }

    private void print() {
        long told = 0;
        long lines = 0;
        try {
            while (!closed || !waiting.isEmpty()) {
                String text = text(waiting.take());
                if (!text.isEmpty()) {
                    out.println(text);
                    lines++;
                }
                long now = dropped.sum();
                if (now > told && (waiting.isEmpty() || lines >= SOON_PRINTED)) {
                    lines = 0;
                    out.println(
                            "          " + (now - told) + " more, not shown: they came faster than lines are"
                                    + " printed");
                    told = now;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String text(Line line) {
        return switch (line) {
            case Line.Request request -> time(request.at()) + "  " + text(request.exchange());
            case Line.Note note -> time(note.at()) + "  " + printable(note.text(), MAX_NOTE);
            case Line.End end -> "";
        };
    }

    private String time(Instant at) {
        return TIME.format(at.atZone(clock.getZone()));
    }

    private String text(EndedExchange exchange) {
        String target = printable(exchange.target(), MAX_TEXT);
        String reason = exchange.reason().isEmpty() ? "" : "  " + reason(exchange.reason());
        return printable(exchange.method(), MAX_METHOD) + " " + target + "  "
                + RequestText.status(exchange.status(), coloured) + "  "
                + RequestText.duration(exchange.nanos()) + reason;
    }

    private static String reason(String reason) {
        return printable(reason, MAX_TEXT) + (reason.endsWith(REFUSED) ? ": is it running?" : "");
    }

    /** Peers name what is shown in a terminal. */
    private static String printable(String text, int most) {
        String cut = text.length() > most ? text.substring(0, most) + "…" : text;
        return cut.replaceAll("\\p{C}", "?");
    }
}
