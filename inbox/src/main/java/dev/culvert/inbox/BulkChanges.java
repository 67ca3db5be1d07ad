package dev.culvert.inbox;

import dev.culvert.inbox.model.BulkResult;
import dev.culvert.inbox.model.WebhookFilter;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.store.BulkCursor;
import dev.culvert.inbox.store.BulkSelection;
import dev.culvert.inbox.store.BulkSelection.Page;
import dev.culvert.inbox.store.BulkStep.Done;
import dev.culvert.inbox.store.InboxReads;
import dev.culvert.store.StoreException;
import java.time.Clock;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Changes many webhooks page by page: each page is read on the operators' connection and changed in a
 * transaction of its own, so that other work goes on in between. Keeps only one page in memory. Safe for use
 * by any thread.
 */
final class BulkChanges {
    private final InboxReads reads;
    private final Clock clock;

    BulkChanges(InboxReads reads, Clock clock) {
        this.reads = reads;
        this.clock = clock;
    }

    /**
     * One kind of change.
     *
     * @param states the states of the webhooks, if the filter names none
     * @param pageSize the number of webhooks in one transaction
     * @param step changes a page
     * @param told receives the changed webhooks after the commit
     */
    record Change<T>(List<WebhookState> states, int pageSize,
            BiFunction<BulkSelection, Page, Mono<Done<T>>> step, Consumer<List<T>> told) {}

    /**
     * The changes so far.
     *
     * @param read the number of webhooks that were read
     * @param more whether there may be further ones
     * @param stopped whether no further page can be changed now
     */
    private record Progress(BulkCursor position, long read, long changed, long skipped, boolean more,
            boolean stopped) {
        static Progress first(BulkCursor position, long skipped) {
            return new Progress(position, 0, 0, skipped, true, false);
        }

        Progress stop() {
            return new Progress(position, read, changed, skipped, more, true);
        }

        boolean goesOn(int limit) {
            return more && !stopped && read < limit;
        }

        BulkResult result() {
            return new BulkResult(changed, skipped, more ? position.toString() : null);
        }
    }

    /**
     * Changes the webhooks of a filter, at most about {@code limit}. If a page fails after others are done,
     * the result tells of those, and the next call fails. Errors: {@link StoreException};
     * IllegalArgumentException for an invalid {@code after}.
     *
     * @param after where to go on; null: the beginning
     */
    <T> Mono<BulkResult> run(WebhookFilter filter, @Nullable String after, int limit, Change<T> change) {
        var selection = new BulkSelection(filter, change.states);
        return begin(selection, filter, after)
                .expand(progress -> progress.goesOn(limit)
                        ? next(selection, progress, limit, change)
                        : Mono.empty())
                .last()
                .map(Progress::result);
    }

    /** Counts the webhooks of a filter, a million at most. */
    Mono<Long> count(WebhookFilter filter, List<WebhookState> states) {
        var selection = new BulkSelection(filter, states);
        return reads.start(selection, clock.millis()).flatMap(start -> reads.count(selection, start));
    }

    private Mono<Progress> begin(BulkSelection selection, WebhookFilter filter, @Nullable String after) {
        if (after != null) {
            return Mono.fromCallable(() -> Progress.first(BulkCursor.parse(after), 0));
        }
        Mono<BulkCursor> start = reads.start(selection, clock.millis());
        return filter.ids().isEmpty()
                ? start.map(first -> Progress.first(first, 0))
                : start.flatMap(first -> reads.count(selection, first)
                        .map(found -> Progress.first(first, filter.ids().size() - found)));
    }

    private <T> Mono<Progress> next(BulkSelection selection, Progress before, int limit, Change<T> change) {
        int size = (int) Math.min(change.pageSize, limit - before.read);
        return reads.page(selection, before.position, size)
                .flatMap(page -> page.seqs().isEmpty()
                        ? Mono.just(new Progress(page.from(), before.read, before.changed, before.skipped,
                                false, false))
                        : change.step.apply(selection, page)
                                .flatMap(done -> after(before, page.seqs().size(), done, change)))
                .onErrorResume(StoreException.class,
                        failed -> before.changed > 0 ? Mono.just(before.stop()) : Mono.error(failed));
    }

    private static <T> Mono<Progress> after(Progress before, int read, Done<T> done, Change<T> change) {
        change.told.accept(done.changed());
        String full = done.full();
        var now = new Progress(done.position(), before.read + read,
                before.changed + done.changed().size(), before.skipped + done.skipped(), true, full != null);
        return full != null && now.changed == 0
                ? Mono.error(new StoreException.Busy(full + "; go on when some are delivered"))
                : Mono.just(now);
    }
}
