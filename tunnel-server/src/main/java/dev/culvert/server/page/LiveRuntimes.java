package dev.culvert.server.page;

import dev.culvert.admin.AdminRole;
import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.tunnel.ServerEvent;
import dev.culvert.web.LiveFeed;
import dev.culvert.web.Templates;
import gg.jte.Content;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/**
 * Publishes changes of runtimes to their viewers: at once what an event tells, and once a second what is
 * measured. Only what somebody sees is measured.
 */
final class LiveRuntimes {
    private static final Logger log = LoggerFactory.getLogger(LiveRuntimes.class);
    private static final Duration SAMPLE = Duration.ofSeconds(1);
    private static final int HISTORY_TICKS = 5;

    private final Templates templates;
    private final RuntimeRows rows;
    private final FleetHistory history;
    private final OverviewPage overview;
    private final LiveFeed feed;
    private final Clock clock;
    /** What was published last of each runtime that somebody sees. Used by one thread at a time. */
    private final Map<RuntimeName, RuntimeRow> published = new HashMap<>();
    /** Whether an event has changed the overview. It looks at every runtime: once a second is enough. */
    private volatile boolean overviewIsOld;
    /** The number of runtimes at the last sample. Used by the same thread. */
    private int count;

    LiveRuntimes(Templates templates, RuntimeRows rows, FleetHistory history, OverviewPage overview,
            LiveFeed feed, Clock clock) {
        this.templates = templates;
        this.rows = rows;
        this.history = history;
        this.overview = overview;
        this.feed = feed;
        this.clock = clock;
    }

    /** Measures until it is disposed. */
    Disposable start() {
        return Flux.interval(SAMPLE, Schedulers.parallel())
                .onBackpressureDrop()
                .publishOn(Schedulers.boundedElastic(), 1)
                .subscribe(tick -> {
                    try {
                        sample(tick);
                    } catch (RuntimeException e) {
                        log.atError().setCause(e).log("runtimes can't be measured for their pages");
                    }
                });
    }

    /** Publishes what an event tells. Called on any thread; does not block. */
    void on(ServerEvent event) {
        if (event instanceof ServerEvent.OfTunnel tunnel) {
            changed(tunnel.runtime());
            overviewIsOld = true;
        }
    }

    /**
     * Of what few people see, nothing is kept while nobody sees it: a viewer that comes back receives its
     * state with the next measurement.
     */
    private void changed(RuntimeName name) {
        feed.changed(RuntimeRow.topic(name), () -> row(name));
        String detail = RuntimeDetail.topic(name);
        if (feed.isWatched(detail)) {
            feed.changed(detail, () -> detail(name));
        }
        String enrolled = Enrolment.topic(name.toString());
        if (feed.isWatched(enrolled)) {
            feed.changed(enrolled, () -> enrolled(name));
        }
    }

    private void overviewChanged() {
        feed.changed(Overview.TOPIC, () -> templates.content("overviewLive.jte", overview.now("")));
    }

    private void sample(long tick) {
        if (tick % HISTORY_TICKS == 0) {
            history.sample();
            if (overview.watch()) {
                overviewIsOld = true;
            }
        }
        Collection<String> watched = feed.watched();
        boolean isDue = watched.contains(Overview.TOPIC) && tick % HISTORY_TICKS == 0;
        if (isDue) {
            overview.look().subscribe();
        }
        if (overviewIsOld || isDue) {
            overviewIsOld = false;
            overviewChanged();
        }
        listChanged(watched.contains(RuntimeList.TOPIC));
        Map<RuntimeName, RegisteredRuntime> seen = seen(watched);
        Set<String> ids = new HashSet<>();
        seen.values().forEach(runtime -> ids.add(runtime.id()));
        rows.sample(ids);
        published.keySet().retainAll(seen.keySet());
        seen.forEach((name, runtime) -> {
            RuntimeRow row = rows.of(runtime);
            if (!row.equals(published.put(name, row))) {
                changed(name);
            }
        });
    }

    /** Viewers of the list load it again: which page a new runtime is on depends on their search. */
    private void listChanged(boolean isWatched) {
        int before = count;
        count = rows.store().runtimes().size();
        if (isWatched && count != before) {
            feed.changed(RuntimeList.TOPIC, () -> output -> output.writeContent("-"));
        }
    }

    private Map<RuntimeName, RegisteredRuntime> seen(Collection<String> topics) {
        Map<RuntimeName, RegisteredRuntime> seen = new HashMap<>();
        for (String topic : topics) {
            RegisteredRuntime runtime = runtime(rows.store(), topic.substring(topic.indexOf(':') + 1));
            if (runtime != null) {
                seen.put(runtime.name(), runtime);
            }
        }
        return seen;
    }

    private static @Nullable RegisteredRuntime runtime(RuntimeStore store, String name) {
        int slash = name.indexOf('/');
        if (slash < 0) {
            return null;
        }
        try {
            return store.byName(new RuntimeName(name.substring(0, slash), name.substring(slash + 1)));
        } catch (InvalidNameException e) {
            return null; // viewers may name any topic
        }
    }

    private Content row(RuntimeName name) {
        RegisteredRuntime runtime = rows.store().byName(name);
        return runtime == null
                ? templates.content("runtimeGone.jte", name.toString())
                : templates.content("runtimeRow.jte", rows.of(runtime));
    }

    private Content enrolled(RuntimeName name) {
        RegisteredRuntime runtime = rows.store().byName(name);
        return templates.content("enrolled.jte", new EnrolmentState(name.toString(),
                runtime == null ? RuntimeState.NEW : rows.state(runtime)));
    }

    private Content detail(RuntimeName name) {
        RegisteredRuntime runtime = rows.store().byName(name);
        return runtime == null
                ? templates.content("runtimeDeleted.jte", name.toString())
                : templates.content("runtimeLive.jte",
                        RuntimeDetail.of(runtime, rows, clock.instant(), AdminRole.READ, feed.position()));
    }
}
