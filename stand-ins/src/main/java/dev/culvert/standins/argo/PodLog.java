package dev.culvert.standins.argo;

import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/** The log of one container, which can grow while it is read. Safe for use by any thread. */
public final class PodLog {
    private final List<String> lines = new ArrayList<>();
    private final List<FluxSink<String>> followers = new ArrayList<>();
    private boolean ended;

    PodLog() {}

    /** Appends a line of the container. */
    public synchronized PodLog write(String line) {
        lines.add(line);
        List.copyOf(followers).forEach(follower -> follower.next(line));
        return this;
    }

    /** Ends the container and the streams of all followers. */
    public synchronized void end() {
        ended = true;
        var all = List.copyOf(followers);
        followers.clear();
        all.forEach(FluxSink::complete);
    }

    /** The number of present followers. */
    public synchronized int followers() {
        return followers.size();
    }

    Flux<String> read(boolean follow, int tailLines) {
        return Flux.create(sink -> {
            synchronized (this) {
                lines.stream().skip(Math.max(0, lines.size() - tailLines)).forEach(sink::next);
                if (ended || !follow) {
                    sink.complete();
                    return;
                }
                followers.add(sink);
                sink.onDispose(() -> {
                    synchronized (this) {
                        followers.remove(sink);
                    }
                });
            }
        });
    }
}
