package dev.culvert.platform.directory.rules;

import dev.culvert.platform.directory.store.AccessQuery;
import dev.culvert.platform.directory.store.Decision;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.KnownActions;
import dev.culvert.platform.directory.store.Membership;
import dev.culvert.platform.host.spi.Event;
import dev.culvert.platform.host.spi.Events;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Decides what users may do. The rules of an account are kept parsed, and so are the teams of those who ask,
 * until one changes: a decision reads no database then and parses nothing. A change of this process is in
 * force for the next decision, one of another process when the feed tells it. While the feed could not be
 * read for a minute, each decision reads the database. Callable from any thread.
 */
public final class AccessDecisions {
    private static final Duration PAUSE = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
    /** The part of the heap for rules; a quarter of that more is for memberships. */
    private static final int HEAP_PART = 16;
    private static final int OBJECT_BYTES = 64;

    private final Directory directory;
    private final String module;
    private final KeptValues<String, RuleIndex> rules;
    private final KeptValues<Member, Optional<Membership>> members;
    private final Disposable.Swap following = Disposables.swap();
    /** Whether the changes of other processes arrived until a minute ago. Null: nothing is cached. */
    private volatile @Nullable BooleanSupplier isCurrent;
    /** Written by the feed's thread alone. */
    private volatile long lastSeq = -1;

    /** A user in an account, who may not exist. */
    private record Member(String account, String user) {}

    /** @param module the module whose events change decisions */
    public AccessDecisions(Directory directory, String module) {
        this(directory, module, Runtime.getRuntime().maxMemory() / HEAP_PART);
    }

    AccessDecisions(Directory directory, String module, long maxBytes) {
        this.directory = directory;
        this.module = module;
        this.rules = new KeptValues<>(maxBytes,
                (account, index) -> index.bytes() + OBJECT_BYTES,
                account -> directory.rules(account).map(RuleIndex::of));
        this.members = new KeptValues<>(maxBytes / 4, AccessDecisions::weight,
                member -> directory.membership(member.account(), member.user()));
        directory.onChange(this::changed);
    }

    private static int weight(Member member, Optional<Membership> found) {
        int teams = found.map(known -> known.teams().size()).orElse(0);
        return 4 * OBJECT_BYTES + member.user().length() + 2 * OBJECT_BYTES * teams;
    }

    /** Begins to follow the changes of other processes. Until then each decision reads the database. */
    public void follow(Events events) {
        following.update(events.follow(this::begin)
                .doOnError(failed -> isCurrent = null)
                .retryWhen(Retry.backoff(Long.MAX_VALUE, PAUSE).maxBackoff(LONGEST_PAUSE))
                .subscribe(this::changed));
    }

    public void stop() {
        isCurrent = null;
        following.dispose();
    }

    private void begin(BooleanSupplier current) {
        lastSeq = -1;
        dropAll();
        isCurrent = current;
    }

    /**
     * Decides a query. Administrators may do anything; other users need a rule. Errors: {@link
     * dev.culvert.store.StoreException} when the rules must be read and can't.
     */
    public Mono<Decision> decide(String account, AccessQuery query) {
        return Mono.defer(() -> {
            var member = new Member(account, query.user());
            BooleanSupplier current = isCurrent;
            if (current == null || !current.getAsBoolean()) {
                return Mono.zip(directory.membership(account, query.user()), directory.rules(account),
                        (theirs, all) -> decide(theirs.orElse(null), RuleIndex.of(all), query));
            }
            Optional<Membership> theirs = members.present(member);
            RuleIndex all = rules.present(account);
            return theirs != null && all != null
                    ? Mono.just(decide(theirs.orElse(null), all, query))
                    : Mono.zip(members.get(member), rules.get(account),
                            (read, index) -> decide(read.orElse(null), index, query));
        });
    }

    private static Decision decide(@Nullable Membership user, RuleIndex rules, AccessQuery query) {
        if (user == null) {
            return new Decision(false, "there is no such user in the account");
        }
        if (user.admin()) {
            return new Decision(true, "administrators may do everything");
        }
        if (!KnownActions.ACTIONS.contains(query.action())
                || !KnownActions.ENTITIES.contains(query.entity())) {
            return new Decision(false, "no rule can allow an unknown action or entity");
        }
        String rule = rules.allowing(query, user.teams());
        return rule == null
                ? new Decision(false, "no rule allows " + query.action() + " on " + query.entity()
                        + " here")
                : new Decision(true, "rule " + rule + " allows it");
    }

    private void changed(Event event) {
        if (lastSeq >= 0 && event.seq() != lastSeq + 1) {
            dropAll(); // events were deleted unread
        } else if (event.module().equals(module)) {
            changed(event.account(), event.kind(), event.subject());
        }
        lastSeq = event.seq();
    }

    private void changed(String account, String what, @Nullable String user) {
        switch (what) {
            case "rule" -> rules.drop(account);
            case "user", "team" -> {
                if (user == null) {
                    members.dropIf(member -> member.account().equals(account));
                } else {
                    members.drop(new Member(account, user));
                }
            }
            case "account" -> {
                rules.drop(account);
                members.dropIf(member -> member.account().equals(account));
            }
            default -> {
                // keys decide nothing
            }
        }
    }

    private void dropAll() {
        rules.dropIf(account -> true);
        members.dropIf(member -> true);
    }

    /** The number of the last event that decisions follow; negative before the first. */
    public long lastSeen() {
        return lastSeq;
    }
}
